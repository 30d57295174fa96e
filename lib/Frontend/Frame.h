// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_FRAME_H
#define NETC_FRONTEND_FRAME_H

#include "lib/Frontend/FileScope.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

namespace netc {

/// The names of one body. A scan's body reads those of the body around it.
struct Scope {
  Scope *outer = nullptr;
  llvm::StringMap<Value> names;
  llvm::StringSet<> fixed; ///< loop variables: they may not be bound again
  llvm::StringSet<>
      carried; ///< of a scan: what each iteration hands to the next
  llvm::StringMap<Value> next; ///< of a scan: the `h'` assigned so far
  bool isScan = false;
};

/// What names of networks and runs stand for where results are known.
class ResultScope {
public:
  virtual ~ResultScope() = default;
  virtual bool isResult(llvm::StringRef name) const = 0;
  /// The answer to a question; unknown after an error, or without one.
  virtual Value answer(antlr4::ParserRuleContext *at,
                       const Subject &subject) = 0;
};

/// A body that is being elaborated: of a block, a net, or a top-level value.
struct Frame {
  /// With the results that are known where `outer` is elaborated.
  explicit Frame(const Frame *outer = nullptr)
      : results(outer ? outer->results : nullptr) {}

  Frame *caller = nullptr;
  FileScope *file = nullptr;
  const BlockDecl *block = nullptr;
  Identity *self = nullptr;
  Scope *scope = nullptr;
  unsigned application = 0; ///< which one of a block this is, from 1
  std::vector<int64_t> iterations;
  bool frozen = false;
  std::string
      hint; ///< the variable being bound, which names a weight made for it
  mlir::LocationAttr calledFrom;
  std::optional<ResultList> returned;
  std::optional<std::vector<Value>> yielded;
  /// What follows in the body is not known: a requirement failed, or a
  /// condition is undecided.
  bool stopped = false;
  ResultScope *results; ///< in an `expect`, else null
};

/// `InFrame in(e.frame, &frame)`: while it lives, what is evaluated belongs to
/// another frame; or in a frame, to another scope.
using InFrame = llvm::SaveAndRestore<Frame *>;
using InScope = llvm::SaveAndRestore<Scope *>;

/// A loop over an axis whose weights get that axis in front: `each`.
struct EachLoop {
  Polynomial size;
  mlir::Block *body;
  std::vector<mlir::Value> sequences;
};

/// The network or step that ops are being added to.
struct Graph {
  unsigned id;
  mlir::Block *entry;
  mlir::Operation *lastWeight = nullptr; ///< weights stand first, in order
  std::shared_ptr<Identity> file;        ///< what the file's top level makes
  std::shared_ptr<Identity> root; ///< the net, at first the file's top level
  std::vector<EachLoop *> loops;
  /// The names of the top level that hold instances and weights of it.
  std::set<std::string> instances;
  mlir::Value step; ///< while an optimizer is elaborated: the step number
  std::optional<Rational> steps; ///< and how many there are, if that is known
  std::string parameterKind;     ///< and `matrix`, .., where it takes a matrix
  bool training = true;          ///< what an `infer` does goes only forward
  unsigned recomputed = 0;       ///< parts that are run again
  bool marksCopies = false;      ///< ops say which copy they are of
  bool isInCopy = false;
  /// The copies that what is added now stands for, as kRolled; null if only for
  /// itself.
  mlir::DictionaryAttr rolled;
  bool hasNestedRolls = false; ///< of a `repeat` in a `repeat`
};

} // namespace netc

#endif // NETC_FRONTEND_FRAME_H
