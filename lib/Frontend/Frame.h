// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_FRAME_H
#define NETC_LIB_FRONTEND_FRAME_H

#include "lib/Frontend/FileScope.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

namespace netc {

/// The names of a body. The body of a scan also reads the names around it.
struct Scope {
  Scope *outer = nullptr;
  llvm::StringMap<Value> names;
  llvm::StringSet<> fixed; ///< loop variables, which may not be bound again
  /// The names of a scan whose values each iteration passes to the next.
  llvm::StringSet<> carried;
  /// The values assigned to `h'` in a scan so far.
  llvm::StringMap<Value> next;
  bool isScan = false;
};

/// The meaning of names of networks and runs where results are known.
class ResultScope {
public:
  virtual ~ResultScope() = default;
  virtual bool isResult(llvm::StringRef name) const = 0;
  /// The answer to a question. Unknown after an error, or if there is no
  /// answer.
  virtual Value answer(antlr4::ParserRuleContext *at,
                       const Subject &subject) = 0;
};

/// A body that is being elaborated: of a block, a net or a top-level value.
struct Frame {
  /// `outer` provides the results that are known.
  explicit Frame(const Frame *outer = nullptr)
      : results(outer ? outer->results : nullptr) {}

  Frame *caller = nullptr;
  FileScope *file = nullptr;
  const BlockDecl *block = nullptr;
  Identity *self = nullptr;
  Scope *scope = nullptr;
  /// The number of this application of a block, from 1.
  unsigned application = 0;
  std::vector<int64_t> iterations;
  bool frozen = false;
  /// The variable that is being bound, after which its weight is named.
  std::string hint;
  mlir::LocationAttr calledFrom;
  std::optional<ResultList> returned;
  std::optional<std::vector<Value>> yielded;
  /// Whether the rest of the body is unknown, since a requirement failed or a
  /// condition is undecided.
  bool stopped = false;
  ResultScope *results; ///< null outside of an `expect`
};

/// `InFrame in(e.frame, &frame)` evaluates in another frame while it lives, and
/// InScope in another scope of the frame.
using InFrame = llvm::SaveAndRestore<Frame *>;
using InScope = llvm::SaveAndRestore<Scope *>;

/// A loop of `each`. Its weights get the axis of the loop in front.
struct EachLoop {
  Polynomial size;
  mlir::Block *body;
  std::vector<mlir::Value> sequences;
};

/// The network or step to which ops are being added.
struct Graph {
  unsigned id;
  mlir::Block *entry;
  /// Weights are first, in the order of the text.
  mlir::Operation *lastWeight = nullptr;
  /// Owns the instances of the file's top level.
  std::shared_ptr<Identity> file;
  std::shared_ptr<Identity> root; ///< the net; at first the file's top level
  std::vector<EachLoop *> loops;
  /// The top-level names whose instances and weights it owns.
  std::set<std::string> instances;
  mlir::Value step;              ///< the number of the step, in an optimizer
  std::optional<Rational> steps; ///< the total number of steps, if it is known
  /// `matrix` or another kind, in an optimizer of matrices.
  std::string parameterKind;
  /// False for `infer`, which has no backward pass.
  bool training = true;
  unsigned recomputed = 0; ///< the number of recomputed parts so far
  /// Whether ops record the copy that they belong to.
  bool marksCopies = false;
  bool isInCopy = false;
  /// The copies that new ops represent, as kRolled; null if they represent only
  /// themselves.
  mlir::DictionaryAttr rolled;
  bool hasNestedRolls = false; ///< whether a rolled `repeat` is in another one
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_FRAME_H
