// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
#include "dialect/Repetition.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_RECOMPUTE
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

namespace {
/// Ops of the forward pass that are recomputed together, before the part of the
/// backward pass that reads their results.
using Segment = SetVector<Operation *>;

/// The forward pass of a network or a step: its top-level ops of that phase.
class ForwardPass {
public:
  explicit ForwardPass(Block &block) : block(block) {}

  static bool contains(Operation *op) {
    return phaseOf(op) == Phase::Forward && !isa<ReturnOp>(op);
  }
  /// Copies of the outermost `repeat`s: `together` of them are a segment, and
  /// every `every`-th segment of a `repeat` is recomputed.
  std::vector<Segment> copies(int64_t every, int64_t together) const;
  /// The ops between two consecutive products of activations: the scores and
  /// weights of attention.
  std::vector<Segment> attentions() const;
  /// The instances that the network marks with `recompute`.
  std::vector<Segment> marked() const;

private:
  Block &block;
};

/// Recomputes segments.
class Recomputation {
public:
  explicit Recomputation(Block &block) : block(block) {
    // A mask that is drawn again must be the same.
    int64_t draws = 0;
    block.walk([&](DropoutOp op) {
      op->setAttr(kDraw, Builder(op.getContext()).getI64IntegerAttr(draws++));
    });
  }
  /// Recomputes the whole segment, or only what the backward pass needs.
  void repeat(const Segment &segment, bool isWhole);

private:
  /// The op in the step's own block that is, or contains, `op`.
  Operation *topLevel(Operation *op) {
    return block.findAncestorOpInBlock(*op);
  }

  Block &block;
};
} // namespace

//===----------------------------------------------------------------------===//
// Recomputed segments
//===----------------------------------------------------------------------===//

/// The `repeat` that an op is in, and the number of its copy: `layer` and `3`
/// for `layer.3`. If copies share weights, each application is a copy: `0`,
/// `0@2`.
static std::optional<std::pair<StringRef, StringRef>> copyOf(Operation *op) {
  auto path = op->getAttrOfType<StringAttr>(kCopy);
  if (!path)
    return std::nullopt;
  auto [kind, copy] = path.getValue().rsplit('.');
  return copy.empty() ? std::pair(copy, kind) : std::pair(kind, copy);
}

template <typename Key>
static std::vector<Segment> listOf(llvm::MapVector<Key, Segment> &segments) {
  std::vector<Segment> list;
  for (auto &[key, segment] : segments)
    list.push_back(std::move(segment));
  return list;
}

std::vector<Segment> ForwardPass::copies(int64_t every,
                                         int64_t together) const {
  llvm::MapVector<std::pair<StringRef, int64_t>, Segment> segments;
  llvm::StringMap<llvm::StringMap<int64_t>> places; // in each `repeat`
  for (Operation &op : block)
    if (auto copy = copyOf(&op); copy && contains(&op)) {
      llvm::StringMap<int64_t> &known = places[copy->first];
      int64_t number =
          known.try_emplace(copy->second, known.size()).first->second;
      int64_t place = number / together;
      if (place % every == every - 1)
        segments[{copy->first, place}].insert(&op);
    }
  return listOf(segments);
}

/// Whether `value` is a weight or a view of one.
static bool isViewOfWeight(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->getNumOperands() == 1 && isMemoryEffectFree(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ParameterOp>(op);
}

static bool isAttentionProduct(Operation *op) {
  return isa<EinsumOp>(op) &&
         !cast<CostOpInterface>(op).getCost().matmul.isZero() &&
         llvm::none_of(op->getOperands(), isViewOfWeight);
}

std::vector<Segment> ForwardPass::attentions() const {
  /// The product that a value is computed from, through ops that are no
  /// products.
  DenseMap<Value, Operation *> scores;
  llvm::MapVector<Operation *, Segment> segments;
  auto scoresOf = [&](Operation *op) -> Operation * {
    for (Value operand : op->getOperands())
      if (Operation *product = scores.lookup(operand))
        return product;
    return nullptr;
  };
  for (Operation &op : block) {
    if (!contains(&op) || op.getNumRegions() != 0)
      continue;
    Operation *product = scoresOf(&op);
    if (isAttentionProduct(&op)) {
      if (!product) {
        scores[op.getResult(0)] = &op;
        continue;
      }
      // The segment has all ops from the first product to this one.
      SmallVector<Operation *> work{&op};
      Segment &segment = segments[product];
      while (!work.empty()) {
        Operation *next = work.pop_back_val();
        if (!segment.insert(next) || next == product)
          continue;
        for (Value operand : next->getOperands())
          if (scores.lookup(operand) == product)
            work.push_back(operand.getDefiningOp());
      }
    } else if (product && cast<CostOpInterface>(op).getCost().matmul.isZero()) {
      for (Value result : op.getResults())
        scores[result] = product;
    }
  }
  return listOf(segments);
}

std::vector<Segment> ForwardPass::marked() const {
  llvm::MapVector<Attribute, Segment> segments;
  for (Operation &op : block)
    if (Attribute number = op.getAttr(kRecomputed); number && contains(&op))
      segments[number].insert(&op);
  return listOf(segments);
}

//===----------------------------------------------------------------------===//
// Running it again
//===----------------------------------------------------------------------===//

static SmallVector<Operation *> inOrder(const Segment &segment) {
  SmallVector<Operation *> ops(segment.getArrayRef());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

void Recomputation::repeat(const Segment &segment, bool isWhole) {
  // A value that another part of the forward pass reads is kept in any case.
  auto isInner = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      Operation *top = topLevel(user);
      return segment.contains(top) ||
             !(ForwardPass::contains(top) || isa<ReturnOp>(top));
    });
  };
  SmallVector<Value> inner;
  Operation *first = nullptr; // the first reader after the forward pass
  auto noteReaders = [&](Value value) {
    for (Operation *user : value.getUsers()) {
      Operation *top = topLevel(user);
      if (!segment.contains(top) && !ForwardPass::contains(top) &&
          (!first || top->isBeforeInBlock(first)))
        first = top;
    }
  };
  for (Operation *op : segment)
    for (Value value : op->getResults())
      if (isInner(value)) {
        inner.push_back(value);
        noteReaders(value);
      }
  // A whole segment is recomputed before any gradient that needs it.
  if (!first && isWhole)
    for (Operation *op : segment)
      for (Value operand : op->getOperands())
        if (isViewOfWeight(operand))
          noteReaders(operand);
  if (!first)
    return; // nothing in the segment is trained

  OpBuilder builder(first);
  auto writes = [](Operation *op) {
    return op->getNumResults() == 0 && hasEffect<MemoryEffects::Write>(op);
  };
  IRMapping copies;
  SetVector<Operation *> made;
  for (Operation *op : inOrder(segment)) {
    // The state of a step is updated only once.
    bool isHeld = op->getNumOperands() == 0 && op->getNumRegions() == 0;
    if (writes(op) || isHeld)
      continue;
    Operation *copy = builder.clone(*op, copies);
    setPhase(copy, Phase::Recompute);
    made.insert(copy);
    copy->walk([&](Operation *inBody) {
      if (writes(inBody))
        inBody->erase();
    });
  }
  for (Value value : inner)
    value.replaceUsesWithIf(copies.lookupOrDefault(value), [&](OpOperand &use) {
      Operation *top = topLevel(use.getOwner());
      return !ForwardPass::contains(top) && !made.contains(top);
    });
  for (Operation *op : segment)
    if (auto scan = dyn_cast<ScanOp>(op))
      dropUnusedOutputs(scan);
  for (Operation *op : llvm::reverse(made.getArrayRef()))
    if (!isWhole && op->use_empty())
      op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Recompute : netc::impl::RecomputeBase<Recompute> {
  void runOnOperation() override {
    for (Operation &graph : *getOperation().getBody()) {
      if (!isa<NetworkOp, StepOp>(graph))
        continue;
      Block &block = graph.getRegion(0).front();
      std::vector<Segment> marked = ForwardPass(block).marked();
      auto step = dyn_cast<StepOp>(graph);
      bool isAsked = step && step.getRun().getFacts().recompute;
      if (marked.empty() && !isAsked)
        continue;
      Recomputation again(block);
      // Marked parts come before the segments that contain them. Then the
      // recomputed parts read their inputs from the recomputed segment.
      for (const Segment &segment : marked)
        again.repeat(segment, /*isWhole=*/false);
      if (isAsked && failed(recompute(step, again)))
        signalPassFailure();
      graph.walk([](Operation *op) { op->removeAttr(kCopy); });
    }
  }

  static LogicalResult recompute(StepOp step, Recomputation &again) {
    const RunFacts &run = step.getRun().getFacts();
    auto count = [](const RunFacts::Number &number) {
      return number.value_or(1).toInt64().value_or(1);
    };
    ForwardPass forward(step.getBlock());
    bool isSelective = run.recompute == Recomputed::Selective;
    std::vector<Segment> segments =
        isSelective ? forward.attentions()
                    : forward.copies(count(run.recomputeEvery),
                                     count(run.recomputeTogether));
    if (segments.empty()) {
      size_t copies = forward.copies(1, 1).size();
      std::string found =
          isSelective   ? "no attention, which is two products of activations"
          : copies == 0 ? "no copies of a block in a `repeat` or a list; "
                          "`recomputed(B)` marks one block"
                        : std::to_string(copies) +
                              " copies in its `repeat`s, too few for this";
      return emitError(placeOf(step, "recompute"), error::NothingToRecompute,
                       step.getNetwork(), found);
    }
    for (const Segment &segment : segments)
      again.repeat(segment, /*isWhole=*/true);
    return success();
  }
};
} // namespace
