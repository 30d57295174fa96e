// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_APPLIER_H
#define NETC_FRONTEND_APPLIER_H

#include "lib/Frontend/Value.h"

namespace netc {

class Evaluator;

/// Pipes, compositions and repetitions, and what applying them, blocks and ops
/// does.
class Applier {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Applier(Evaluator &e) : e(e) {}

  Value pipe(Tree *at, Value value, const Value &into);
  Value applyIfComplete(Tree *at, std::shared_ptr<Instance> instance);
  Value apply(Tree *at, Instance &instance);
  Value applyBlock(Tree *at, Instance &instance);
  void enter(Identity &identity, llvm::StringRef fallback, Tree *at);
  std::string unique(Identity &parent, llvm::StringRef name);
  /// The value of what has a name, or is in a `repeat` or a list. If it is a
  /// block, the blocks that it is handed there are a part of it.
  Value evalOwner(Expr *expr);
  Value resultsOf(ResultList results);

private:
  /// Whether all tensors of a block are numbers, or it has none: then it
  /// computes with them what they are, wherever it stands.
  bool isOfNumbers(const Instance &instance);
  Value compose(Tree *at, std::vector<Value> parts);
  /// An optimizer inside another gets the number of the step.
  void giveStep(Instance &instance);
  /// Marks what `application` adds to the graph as a part that is run again.
  Value applyRecomputed(Tree *at, llvm::function_ref<Value()> application);
  /// One of several of a kind, which are called by numbers; the outermost.
  Value applyCopy(const Identity &copy,
                  llvm::function_ref<Value()> application);
  /// Applies a part of a `repeat` that stands for several copies.
  Value applyRolled(Tree *at, const Value &value, const Value &part,
                    const Identity &copy);
  /// Sets an attribute of what the application adds to the graph.
  Value applyMarking(llvm::StringRef name,
                     llvm::function_ref<mlir::Attribute()> mark,
                     llvm::function_ref<Value()> application);
  Value applyComposition(Tree *at, Instance &instance, Value value);
  Value applyParts(Tree *at, Instance &instance, Value value);

  Evaluator &e;
  unsigned applications = 0; ///< of blocks, so far
};

} // namespace netc

#endif // NETC_FRONTEND_APPLIER_H
