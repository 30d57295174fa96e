// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_PROGRAM_H
#define NETC_LIB_FRONTEND_PROGRAM_H

#include "lib/Frontend/CommandLine.h"

namespace netc {

class Evaluator;

/// An `expect` or `require` of the top level or of a run.
struct Expectation {
  NetParser::ExpectContext *tree;
  FileScope *file;
};

/// An input of a net, as the signature declares it.
struct NetInput {
  std::string name;
  mlir::Type element;
  Shape shape;
  Labels labels;
  NetParser::ParamContext *tree;
};

/// `name = value` of a dataset or hardware section.
struct SectionEntry {
  std::string name;
  Value value;
  antlr4::ParserRuleContext *at;
};

/// The items of a file in text order. Nets become net.networks and runs
/// net.steps. Sections are checked, and expects are kept for later.
class Program {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Program(Evaluator &e) : e(e) {}

  /// Reads and elaborates the file. False after errors.
  bool load(llvm::StringRef path);
  /// The entries of a section. An entry with an error is reported, and its
  /// value is unknown. With `areMiddle`, the arguments depend on the middle of
  /// a `between`.
  std::vector<SectionEntry> entriesOf(const Section &section,
                                      bool areMiddle = false);
  /// The run of the main file with this name; null if there is none.
  NetParser::JobContext *jobNamed(llvm::StringRef run) const {
    return jobs.lookup(run);
  }
  /// The network, step or job of the module with this name; null if there is
  /// none.
  mlir::Operation *operationNamed(llvm::StringRef symbol) const {
    return operations.lookup(symbol);
  }
  /// Whether the options select only some networks and runs.
  bool leavesOut() const;
  /// A copy of `value` as a net with complete settings. Null after an error.
  std::shared_ptr<Instance> netInstance(Tree *at, const Value &value);
  bool isGivenType(const Parameter &parameter);
  /// The inputs of a net by its signature. None after an error.
  std::optional<std::vector<NetInput>> inputsOf(Instance &instance);
  /// Applies a net to `values`, one for each of `inputs`.
  Value applyNet(Tree *at, Instance &instance, llvm::ArrayRef<NetInput> inputs,
                 llvm::ArrayRef<mlir::Value> values);
  /// The size of an axis; none after an error.
  std::optional<Moments> sizeOfAxis(Tree *at, llvm::StringRef name,
                                    const Value &value);

  /// Including those that are left out.
  std::vector<std::string> networks, runs;
  llvm::StringSet<> leftOut;
  std::vector<Expectation> expectations;

private:
  /// The error of an entry of a section, if it has one.
  std::optional<Message> mistakeInDataset(const SectionEntry &entry);
  std::optional<Message> mistakeInHardware(const SectionEntry &entry);
  /// Reports errors of a section, even if no run uses it.
  void checkSection(const Section &section);
  bool elaborateFile(FileScope &file);
  /// Records the name in `all`. Returns whether the options select it.
  bool isWanted(const std::string &name, std::vector<std::string> &all,
                llvm::ArrayRef<std::string> only);
  /// Checks only the names of a block that nothing uses, and warns of it.
  void checkUnused(const BlockDecl &block);
  /// Warns of settings and variables that nothing reads. Tensors are excepted:
  /// other warnings are about layers that no result depends on.
  void warnOfUnread(const BlockDecl &block);
  void elaborateItem(FileScope &file, NetParser::StmtContext *stmt);
  /// The network of the top-level name `symbol`; null after an error.
  mlir::Operation *elaborateNetwork(Tree *at, llvm::StringRef symbol,
                                    FileScope &file, mlir::ModuleOp into);
  void elaborateRun(FileScope &file, NetParser::JobContext *job,
                    mlir::ModuleOp into);
  /// Collects the `expect`s of a job and of the jobs in it.
  void collectExpectations(FileScope &file, NetParser::JobContext *job);
  /// Gives a network the sizes of its first run's dataset, for reports.
  void giveAxes(NetworkOp network, mlir::DictionaryAttr axesOfRun);

  Evaluator &e;
  llvm::StringMap<NetParser::JobContext *> jobs;
  llvm::StringMap<mlir::Operation *> operations;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_PROGRAM_H
