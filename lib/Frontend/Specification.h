// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_SPECIFICATION_H
#define NETC_FRONTEND_SPECIFICATION_H

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

/// The `repeat`s of which copies were left out, by path, and whether something
/// needs the copies.
struct RolledCopies {
  std::set<std::string> repeats;
  bool areNeeded = false;
};

struct FrontendOptions {
  Limits limits;
  /// Folders, besides the importing file's own, in which imports are looked up.
  std::vector<std::string> includeFolders;
  /// `-D name=value`: replaces top-level constants.
  std::vector<std::pair<std::string, std::string>> definitions;
  /// `--set run.batch=64,128`: keys and axes of runs, and settings of nets.
  /// What the file does not have is passed over.
  std::vector<std::string> settings;
  /// Whether the points of sweeps are asked for; else a setting has one value.
  bool makesTables = true;
  /// If it is there, a `repeat` of equal copies becomes its first, one that
  /// stands for all between, and its last; see kRolled. The IR is for counting
  /// alone then, and if `areNeeded` is set, not even for that. May be null.
  RolledCopies *rolled = nullptr;
  /// Networks and runs to elaborate, by name, and the expects that ask about
  /// no others. All, if neither names any.
  std::vector<std::string> onlyNetworks, onlyRuns;
  /// Called with each file that is read, imported ones and the standard
  /// library's too, so that diagnostics can show its lines. May be empty.
  std::function<void(llvm::StringRef path, llvm::StringRef text)> onRead;
  /// The text of a file that an editor holds, which counts instead of the one
  /// on disk; none of others. May be empty.
  std::function<std::optional<std::string>(llvm::StringRef path)> bufferOf;
  /// Called with the place of a name that is bound to a tensor, and the
  /// tensor's type: `f32[N, 64]`. A block binds its names each time it is
  /// applied. May be empty.
  std::function<void(mlir::Location name, const std::string &type)> onTensor;
  /// Called before each point of a sweep is elaborated. May be empty.
  std::function<void(llvm::StringRef run, size_t index, size_t points)> onPoint;
};

/// One point of a run's `sweep`: what was varied, and the run elaborated for
/// it. Or an end of the ranges that the run depends on.
struct SweepPoint {
  std::vector<std::pair<std::string, std::string>> values;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< holds the one run
  /// The steps say what the specification says of them, and are empty: they do
  /// what they do in the file as written.
  bool isFacts;
  /// The point where each `between` that it depends on is at its lower or its
  /// upper end, in all combinations; empty if it depends on none. Facts alone.
  std::vector<SweepPoint> corners;
};

/// A `.net` file, read and elaborated.
class Specification {
public:
  /// Reads the file and elaborates its networks and runs into a module, in text
  /// order. Errors go to the context's diagnostic engine; null if there were
  /// any.
  static std::unique_ptr<Specification> load(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             const FrontendOptions &options);
  virtual ~Specification() = default;

  /// `net.network` and `net.step` ops, forward and loss only.
  virtual mlir::ModuleOp module() = 0;

  /// The names of the file's networks and runs, those too that the options
  /// leave out.
  virtual llvm::ArrayRef<std::string> networks() = 0;
  virtual llvm::ArrayRef<std::string> runs() = 0;
  /// The names before the dot of a setting.
  virtual std::vector<std::string> settable() = 0;

  /// The points of the sweep of run `name`, elaborated anew; empty without one.
  /// None after an error.
  virtual std::optional<std::vector<SweepPoint>> sweep(llvm::StringRef run) = 0;

  /// The corners of run `name` as written; see SweepPoint. None after an error.
  virtual std::optional<std::vector<SweepPoint>>
  corners(llvm::StringRef run) = 0;

  /// Decides the expects, in text order. One that fails is an error at its
  /// line. Those that ask about what a setting changes are left out, with a
  /// warning.
  virtual std::vector<Verdict> check(const Results &results) = 0;
};

} // namespace netc

#endif // NETC_FRONTEND_SPECIFICATION_H
