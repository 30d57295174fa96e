// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_APPLIER_H
#define NETC_LIB_FRONTEND_APPLIER_H

#include "lib/Frontend/Value.h"

namespace netc {

class Evaluator;
struct BlockDecl;
struct Frame;
struct Parameter;

/// Pipes, compositions and repetitions. Applies them, blocks and ops to values.
class Applier {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Applier(Evaluator &e) : e(e) {}

  /// Evaluates `value |> into`. Returns an unknown value after an error, as all
  /// of these methods do.
  Value pipe(Tree *at, Value value, const Value &into);
  /// Applies an instance if it has all required tensors, else returns the
  /// instance itself.
  Value applyIfComplete(Tree *at, std::shared_ptr<Instance> instance);
  /// Applies an instance of a block or an op, which must be complete.
  Value apply(Tree *at, Instance &instance);
  Value applyBlock(Tree *at, Instance &instance);
  /// Whether a block is applied within itself, which is an error.
  bool containsItself(Tree *at, const Instance &instance);
  /// The tensor for a parameter of a block, whose frame is the present one:
  /// what `outer` gives, or the default. Unknown after an error.
  Value argumentOf(Tree *at, const Instance &instance,
                   const Parameter &parameter, llvm::ArrayRef<Value> values,
                   Frame &outer);
  /// Runs a block in its frame, which is the present one. False, with an error,
  /// if it returns nothing.
  bool runBody(const BlockDecl &block, Frame &inner);
  void enter(Identity &identity, llvm::StringRef fallback, Tree *at);
  /// Calls `onPart` of the options with the places that make and apply a part
  /// of the network.
  void tellPart(llvm::StringRef path, llvm::ArrayRef<Tree *> places);
  /// `name`, with a number if another part of `parent` has this name.
  std::string unique(Identity &parent, llvm::StringRef name);
  /// Evaluates an expression whose value gets a name, or is in a `repeat` or a
  /// list. If the value is a block, unnamed blocks among its arguments become
  /// parts of it.
  Value evalOwner(Expr *expr);
  /// The first result of a call, which holds the others too; `none` without
  /// results.
  Value resultsOf(ResultList results);
  /// Records an instance that is made while evalOwner() evaluates.
  void noteMade(Identity &identity) {
    if (made)
      made->push_back(&identity);
  }

private:
  /// Whether the tensor arguments of a block are all numbers. Such a block
  /// computes a number, and may be applied outside of a net.
  bool isOfNumbers(const Instance &instance);
  Value compose(Tree *at, std::vector<Value> parts);
  /// Warns of a call that seems to be in the order of PyTorch.
  void warnOfOrder(Tree *at, const Instance &instance);
  /// Passes the number of the step to an optimizer inside another one.
  void giveStep(Instance &instance);
  /// Marks the ops that `application` adds as a part that is recomputed.
  Value applyRecomputed(Tree *at, llvm::function_ref<Value()> application);
  /// Marks the ops that `application` adds as those of one of several copies,
  /// if no copy is around it.
  Value applyCopy(const Identity &copy,
                  llvm::function_ref<Value()> application);
  /// Applies a part of a `repeat` that represents several copies.
  Value applyRolled(Tree *at, const Value &value, const Value &part,
                    const Identity &copy);
  /// Sets the attribute `name` of the ops that `application` adds.
  Value applyMarking(llvm::StringRef name,
                     llvm::function_ref<mlir::Attribute()> mark,
                     llvm::function_ref<Value()> application);
  Value applyComposition(Tree *at, Instance &instance, Value value);
  Value applyParts(Tree *at, Instance &instance, Value value);

  Evaluator &e;
  std::vector<Identity *> *made = nullptr; ///< of the innermost evalOwner()
  unsigned applications = 0;               ///< of blocks so far
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_APPLIER_H
