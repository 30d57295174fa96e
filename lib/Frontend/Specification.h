// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_SPECIFICATION_H
#define NETC_LIB_FRONTEND_SPECIFICATION_H

#include "lib/Frontend/Limits.h"
#include "lib/Frontend/Results.h"
#include "lib/Frontend/Verdict.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace netc {

/// The paths of `repeat`s with copies that were left out, and whether these
/// copies are needed.
struct RolledCopies {
  std::set<std::string> repeats;
  bool areNeeded = false;
};

struct FrontendOptions {
  Limits limits;
  /// Folders in which imports are searched, besides the folder of the importing
  /// file.
  std::vector<std::string> includeFolders;
  /// `-D name=value`: replaces top-level constants.
  std::vector<std::pair<std::string, std::string>> definitions;
  /// `--set run.batch=64,128`: keys and axes of runs, and settings of nets.
  /// Names that the file does not have are ignored.
  std::vector<std::string> settings;
  /// Whether the points of sweeps are elaborated. If not, a setting has one
  /// value.
  bool makesTables = true;
  /// If not null, a `repeat` of equal copies becomes three: the first, one for
  /// all between, and the last; see kRolled. The IR is then for counting only.
  /// If `areNeeded` is set, it cannot be used at all.
  RolledCopies *rolled = nullptr;
  /// The names of the networks and runs to elaborate. Only expects about these
  /// are kept. All, if both lists are empty.
  std::vector<std::string> onlyNetworks, onlyRuns;
  /// Called with each file that is read, including imports and the standard
  /// library, so that diagnostics can show its lines. May be empty.
  std::function<void(llvm::StringRef path, llvm::StringRef text)> onRead;
  /// The text of a file in an editor, which replaces the one on disk; none for
  /// other files. May be empty.
  std::function<std::optional<std::string>(llvm::StringRef path)> bufferOf;
  /// Called with the position of each name that is bound to a tensor, and the
  /// tensor's type: `f32[N, 64]`. A block binds its names in each application.
  /// May be empty.
  std::function<void(mlir::Location name, const std::string &type)> onTensor;
  /// Called with the place of the name of a block or op that makes a part of a
  /// network, and the network's name and the part's path: `Small.conv.linear`.
  /// A name makes a part each time that the text around it is applied. May be
  /// empty.
  std::function<void(mlir::Location name, const std::string &path)> onPart;
  /// Called before each point of a sweep is elaborated. May be empty.
  std::function<void(llvm::StringRef run, size_t index, size_t points)> onPoint;
};

/// A point of a run's `sweep`, or an end of the ranges that the run depends on:
/// the values there, and the run elaborated for them.
struct SweepPoint {
  std::vector<std::pair<std::string, std::string>> values;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< holds only this run
  /// Whether the steps have only the facts of the specification and no ops. The
  /// ops are those of the file as written.
  bool isFacts;
  /// The run with each of its `between`s at the lower or upper end, in all
  /// combinations. The steps have only facts. Empty if the run depends on no
  /// `between`.
  std::vector<SweepPoint> corners;
};

/// A `.net` file, read and elaborated.
class Specification {
public:
  /// Reads the file and elaborates its networks and runs into a module, in text
  /// order. Null after errors, which go to the context's diagnostic engine.
  static std::unique_ptr<Specification> load(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             const FrontendOptions &options);
  virtual ~Specification() = default;

  /// The module of `net.network` and `net.step` ops, with forward pass and loss
  /// only.
  virtual mlir::ModuleOp module() = 0;

  /// The names of the file's networks and runs, including those that the
  /// options leave out.
  virtual llvm::ArrayRef<std::string> networks() = 0;
  virtual llvm::ArrayRef<std::string> runs() = 0;
  /// The names that may precede the dot in a setting.
  virtual std::vector<std::string> settable() = 0;

  /// The points of the sweep of a run, each elaborated; empty without a sweep.
  /// None after an error.
  virtual std::optional<std::vector<SweepPoint>> sweep(llvm::StringRef run) = 0;

  /// The points of the sweep of a run that differ in their steps, with all ops,
  /// to be executed. What changes no step is not varied, with a warning, nor
  /// are batches unless `variesBatch` is set. Empty if nothing is varied. None
  /// after an error.
  virtual std::optional<std::vector<SweepPoint>>
  sweptSteps(llvm::StringRef run, bool variesBatch) = 0;

  /// The corners of a run as written; see SweepPoint. None after an error.
  virtual std::optional<std::vector<SweepPoint>>
  corners(llvm::StringRef run) = 0;

  /// Decides the expects in text order. An expect that fails is an error at its
  /// line. Expects about something that a setting changes are left out, with a
  /// warning.
  virtual std::vector<Verdict> check(const Results &results) = 0;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_SPECIFICATION_H
