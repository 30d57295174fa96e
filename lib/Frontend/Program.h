// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_PROGRAM_H
#define NETC_FRONTEND_PROGRAM_H

#include "lib/Frontend/CommandLine.h"

namespace netc {

class Evaluator;

/// One `expect` or `require` of the top level or of a run.
struct Expectation {
  NetParser::ExpectContext *tree;
  FileScope *file;
};

/// An input of a net, as its signature declares it.
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

/// A file's items in text order: its nets become net.networks, its runs
/// net.steps; sections are checked, and expects kept.
class Program {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Program(Evaluator &e) : e(e) {}

  /// Reads the file and elaborates all of it. False after errors.
  bool load(llvm::StringRef path);
  /// The entries of a section; one that is wrong is reported, and unknown.
  /// With `areMiddle`, its arguments depend on the middle of a `between`.
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
  /// Whether the options ask for some of the networks and runs only.
  bool leavesOut() const;
  std::shared_ptr<Instance> netInstance(Tree *at, const Value &value);
  std::optional<std::vector<NetInput>> inputsOf(Instance &instance);
  Value applyNet(Tree *at, Instance &instance, llvm::ArrayRef<NetInput> inputs,
                 llvm::ArrayRef<mlir::Value> values);
  /// The size that an axis is given; none after an error.
  std::optional<Moments> sizeOfAxis(Tree *at, llvm::StringRef name,
                                    const Value &value);

  std::vector<std::string> networks, runs; ///< those left out, too
  llvm::StringSet<> leftOut;
  std::vector<Expectation> expectations;

private:
  /// What is wrong with one, if anything.
  std::optional<Message> mistakeIn(const SectionEntry &entry, bool isDataset);
  /// Reports what is wrong with a section, whether or not a run uses it.
  void checkSection(const Section &section);
  bool elaborateFile(FileScope &file);
  /// Notes the name, and says whether the options ask for what has it.
  bool isWanted(const std::string &name, std::vector<std::string> &all,
                llvm::ArrayRef<std::string> only);
  /// A block that nothing uses is checked for its names only, with a warning.
  void checkUnused(const BlockDecl &block);
  /// Warns of settings and variables that nothing reads, but of tensors: what
  /// these cost and no result depends on is said elsewhere.
  void warnOfUnread(const BlockDecl &block);
  void elaborateItem(FileScope &file, NetParser::StmtContext *stmt);
  /// The network of the top-level name `symbol`; null after an error.
  mlir::Operation *elaborateNetwork(Tree *at, llvm::StringRef symbol,
                                    FileScope &file, mlir::ModuleOp into);
  void elaborateRun(FileScope &file, NetParser::JobContext *job,
                    mlir::ModuleOp into);
  /// The `expect`s in a job, and in those that stand in it.
  void collectExpectations(FileScope &file, NetParser::JobContext *job);
  /// A network is reported at the sizes that its first run's dataset gives.
  void giveAxes(NetworkOp network, mlir::DictionaryAttr axesOfRun);

  Evaluator &e;
  llvm::StringMap<NetParser::JobContext *> jobs;
  llvm::StringMap<mlir::Operation *> operations;
};

} // namespace netc

#endif // NETC_FRONTEND_PROGRAM_H
