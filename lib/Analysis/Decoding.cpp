// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Decoding.h"

#include "lib/Analysis/Causal.h"
#include "lib/Analysis/Views.h"

#include "llvm/ADT/MapVector.h"

using namespace netc;
using namespace mlir;

std::optional<Decoding> Decoding::of(Operation *graph) {
  if (auto step = dyn_cast<StepOp>(graph))
    if (const RunFacts &run = step.getRun().getFacts(); !run.decodeAxis.empty())
      return Decoding(run.decodeAxis, run.decodeTogether);
  return std::nullopt;
}

unsigned Decoding::degree(Value value) const {
  return shapeOf(value).elements().degree(axis);
}

bool Decoding::isPerPosition(Operation *op) const {
  auto hasAxis = [&](Value value) { return degree(value) != 0; };
  return llvm::any_of(op->getOperands(), hasAxis) ||
         llvm::any_of(op->getResults(), hasAxis);
}

std::optional<int64_t> Decoding::givenIn(const Polynomial &size) const {
  return (size - Polynomial::symbol(axis)).toInt64();
}

Polynomial Decoding::pairs(int64_t given) const {
  return Polynomial::symbol(kPairs) + Polynomial::symbol(axis) * given +
         given * (given + 1) / 2;
}

std::optional<Decoding::Pairs> Decoding::pairsOf(Operation *op) const {
  auto product = dyn_cast<EinsumOp>(op);
  if (!product || !product.isContraction())
    return std::nullopt;
  auto isOfPositions = [&](const Polynomial &size) {
    return givenIn(size).has_value();
  };
  SmallVector<AffineMap> maps = product.getIndexingMaps();
  SmallVector<Value> tensors(op->getOperands());
  tensors.push_back(product.getY());
  for (auto [tensor, map] : llvm::zip_equal(tensors, maps)) {
    Shape shape = shapeOf(tensor);
    if (llvm::count_if(shape.sizes, isOfPositions) != 2 ||
        !isOfPositions(shape.sizes.back()))
      continue;
    AffineExpr last = map.getResults().back();
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      if (op->getOperand(operand) != tensor &&
          llvm::is_contained(maps[operand].getResults(), last))
        return Pairs{operand, *llvm::find_if(shape.sizes, isOfPositions),
                     shape.sizes.back()};
  }
  return std::nullopt;
}

Operation *Decoding::findUnmasked(Operation *graph) const {
  auto masked = findCausalProducts(graph);
  Operation *unmasked = nullptr;
  graph->walk([&](EinsumOp op) {
    if (!pairsOf(op) || masked.contains(op))
      return WalkResult::advance();
    unmasked = op;
    return WalkResult::interrupt();
  });
  return unmasked;
}

namespace {
/// How many positions besides its own a convolution reads for one, and how many
/// of these come after it. 0 if it does not run along positions.
struct Reach {
  int64_t all = 0, ahead = 0;

  Reach(ConvOp conv, const Polynomial &positions) {
    Shape input = shapeOf(conv.getX());
    ArrayRef<int64_t> kernel = conv.getW().getType().getShape().drop_front(2);
    for (auto [axis, size, dilation, low] : llvm::zip_equal(
             conv.getOver(), kernel, conv.getDilation(), conv.getLow())) {
      if (input[axis] != positions)
        continue;
      all += (size - 1) * dilation;
      ahead = std::max(ahead, (size - 1) * dilation - low);
    }
  }
};

/// A sum or product of all that stands on an axis so far.
struct Running {
  Value x;
  uint64_t over;
  bool isReversed;
};
} // namespace

static std::optional<Running> runningOf(Operation *op) {
  auto of = [](auto op) {
    return Running{op.getX(), op.getOver(), op.getReverse()};
  };
  if (auto sum = dyn_cast<CumsumOp>(op))
    return of(sum);
  if (auto product = dyn_cast<CumprodOp>(op))
    return of(product);
  return std::nullopt;
}

Operation *Decoding::findLookingAhead(Operation *graph) const {
  Polynomial positions = Polynomial::symbol(axis);
  auto isAlong = [&](Value value, uint64_t over) {
    return isPositions(shapeOf(value)[over]);
  };
  Operation *found = nullptr;
  graph->walk([&](Operation *op) {
    auto scan = dyn_cast<ScanOp>(op);
    auto conv = dyn_cast<ConvOp>(op);
    auto turned = dyn_cast<ReverseOp>(op);
    std::optional<Running> running = runningOf(op);
    bool isAhead = (scan && scan.getReversed() &&
                    isPositions(scan.getTrip().getValue())) ||
                   (conv && Reach(conv, positions).ahead > 0) ||
                   (running && running->isReversed &&
                    isAlong(running->x, running->over)) ||
                   (turned && isAlong(turned.getX(), turned.getOver()));
    if (!isAhead)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

std::string Decoding::positionsRead(int64_t window) {
  return (kPositionsRead + "_" + Twine(window)).str();
}

std::string Decoding::pairsInWindows(int64_t window) {
  return (kPairs + "_" + Twine(window)).str();
}

void Decoding::forEachWindow(ArrayRef<std::string> symbols, StringRef base,
                             function_ref<void(StringRef, int64_t)> function) {
  for (StringRef symbol : symbols) {
    int64_t window;
    StringRef rest = symbol;
    if (rest.consume_front(base) && rest.consume_front("_") &&
        !rest.getAsInteger(10, window))
      function(symbol, window);
  }
}

std::optional<int64_t> Decoding::windowOf(Value value) const {
  UnfoldOp windows = unfoldOf(value);
  if (!windows || !isPositions(shapeOf(windows.getX())[windows.getOver()]))
    return std::nullopt;
  // A window is at most as long as the sequence.
  return windows.getSize()
      .getValue()
      .substitute([&](StringRef symbol) -> std::optional<Polynomial> {
        if (symbol == axis)
          return Polynomial(Shape::maxSize);
        return std::nullopt;
      })
      .toInt64();
}

Polynomial Decoding::shareRead(Value value) const {
  Polynomial share = 1;
  forEachSource(value, [&](Value base) {
    if (!sequenceOf(base))
      return;
    DispatchOp dispatch =
        dispatchOf(cast<ScanOp>(base.getParentBlock()->getParentOp()));
    if (!dispatch)
      return;
    Polynomial experts = int64_t(dispatch.getExperts());
    Polynomial choices = shapeOf(dispatch.getChoices()).elements();
    if (Polynomial ofPass = choices / Polynomial::symbol(axis) * together;
        ofPass.isValid())
      share = Polynomial::minimum(experts, ofPass) / experts;
  });
  return share;
}

Polynomial Decoding::inWindows(Operation *op, const Polynomial &flop) const {
  Polynomial length = Polynomial::symbol(axis);
  for (Value operand : op->getOperands())
    if (std::optional<int64_t> window = windowOf(operand)) {
      Polynomial seen = flop / length / Polynomial::minimum(*window, length) *
                        Polynomial::symbol(pairsInWindows(*window));
      return seen.isValid() ? seen : flop;
    }
  return flop;
}

Polynomial Decoding::inPasses(Operation *op, const Polynomial &flop) const {
  std::optional<Pairs> pairs = pairsOf(op);
  if (!pairs)
    return inWindows(op, flop);
  // The moments of the axis pair each position of the first pass with all of
  // that, and each later one with those before it. They leave given rows to
  // meet later columns.
  Polynomial extra = flop / pairs->rows / pairs->columns *
                     *givenIn(pairs->rows) * Polynomial::symbol(kDecoded);
  return extra.isValid() ? flop - extra : flop;
}

Polynomial Decoding::readAgain(Operation *op, unsigned operand,
                               const Polynomial &bytes) const {
  if (!isPerPosition(op))
    return 0;
  if (bytes.degree(axis) == 0)
    return bytes * shareRead(op->getOperand(operand)) *
           Polynomial::symbol(kFurtherPasses);
  Polynomial length = Polynomial::symbol(axis);
  if (std::optional<int64_t> window = windowOf(op->getOperand(operand)))
    return bytes / length *
           (Polynomial::symbol(positionsRead(*window)) - length);
  std::optional<Pairs> pairs = pairsOf(op);
  if (!pairs || pairs->operand != operand)
    return 0;
  Polynomial given = *givenIn(pairs->columns);
  return bytes / pairs->columns *
         (Polynomial::symbol(kPositionsRead) - length +
          given * Polynomial::symbol(kFurtherPasses));
}

Polynomial Decoding::iterationsOf(Operation *op) const {
  Polynomial iterations = 1;
  for (Operation *outer = op; outer; outer = outer->getParentOp())
    iterations = iterations * copiesOf(outer);
  for (auto scan = op->getParentOfType<ScanOp>(); scan;
       scan = scan->getParentOfType<ScanOp>())
    if (!isPositions(scan.getTrip().getValue()))
      iterations = iterations * scan.getTrip().getValue();
  return iterations;
}

/// Calls `function` for the values whose elements a cache of `value` keeps: as
/// forEachBase, but of a slice, as of keys that are a third of a product, only
/// these.
static void forEachKept(Value value, function_ref<void(Value)> function) {
  SmallVector<Value> work{value};
  llvm::SmallDenseSet<Value, 4> seen;
  forEachBase(work, seen, function, [](Operation *op) {
    return isView(op) && !isa<SliceOp, SplitOp>(op);
  });
}

BytesByType Decoding::bytesKept(Operation *graph) const {
  BytesByType kept;
  Polynomial positions = Polynomial::symbol(axis);
  // Some of the positions that the value has.
  auto addPositions = [&](Value value, const Polynomial &some,
                          const Polynomial &times) {
    kept.add(elementOf(value), bytesOf(value) / positions * some * times);
  };
  DenseSet<Value> seen;
  // For each tensor that windows slide over, the reach of the longest window.
  llvm::MapVector<Value, std::pair<int64_t, Polynomial>> windows;
  auto keep = [&](Value operand) {
    forEachKept(operand, [&](Value base) {
      bool isComputed = false;
      forEachBase(base, [&](Value whole) {
        Operation *source = whole.getDefiningOp();
        isComputed |=
            source && source->getNumOperands() != 0 && !isHeld(source);
      });
      if (isComputed && seen.insert(base).second)
        kept.add(base, iterationsOf(base.getDefiningOp()));
    });
  };
  graph->walk([&](Operation *op) {
    if (std::optional<Running> running = runningOf(op)) {
      if (Polynomial size = shapeOf(running->x)[running->over]; givenIn(size))
        kept.add(elementOf(running->x),
                 bytesOf(running->x) / size * iterationsOf(op));
    } else if (auto scan = dyn_cast<ScanOp>(op);
               scan && isPositions(scan.getTrip().getValue())) {
      // The state that a recurrence carries to its next iteration.
      for (Value init : scan.getInits())
        kept.add(init, iterationsOf(scan));
      scan.getBody().walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!scan.getBody().isAncestor(operand.getParentRegion()))
            keep(operand);
      });
    } else if (auto conv = dyn_cast<ConvOp>(op)) {
      if (int64_t reach = Reach(conv, positions).all)
        forEachKept(conv.getX(), [&](Value base) {
          auto &[longest, iterations] = windows[base];
          longest = std::max(longest, reach);
          iterations = iterationsOf(conv);
        });
    } else if (auto product = dyn_cast<EinsumOp>(op);
               product && product.isContraction() && isPerPosition(product)) {
      std::optional<Pairs> pairs = pairsOf(product);
      for (OpOperand &operand : product->getOpOperands())
        if (std::optional<int64_t> window = windowOf(operand.get()))
          forEachKept(operand.get(), [&](Value base) {
            if (seen.insert(base).second)
              addPositions(base, Polynomial::minimum(*window, positions),
                           iterationsOf(product));
          });
        else if ((pairs && operand.getOperandNumber() == pairs->operand) ||
                 degree(operand.get()) == 0)
          keep(operand.get());
    }
  });
  for (auto &[base, window] : windows)
    addPositions(base, window.first, window.second);
  return kept;
}
