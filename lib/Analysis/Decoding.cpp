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

std::optional<unsigned> Decoding::keysOrValues(Operation *op) const {
  auto product = dyn_cast<EinsumOp>(op);
  if (!product || !product.isContraction())
    return std::nullopt;
  Polynomial length = Polynomial::symbol(axis);
  SmallVector<AffineMap> maps = product.getIndexingMaps();
  SmallVector<Value> tensors(op->getOperands());
  tensors.push_back(product.getY());
  for (auto [tensor, map] : llvm::zip_equal(tensors, maps)) {
    Shape shape = shapeOf(tensor);
    if (llvm::count(shape.sizes, length) != 2 || shape.sizes.back() != length)
      continue;
    AffineExpr last = map.getResults().back();
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      if (op->getOperand(operand) != tensor &&
          llvm::is_contained(maps[operand].getResults(), last))
        return operand;
  }
  return std::nullopt;
}

Operation *Decoding::findUnmasked(Operation *graph) const {
  auto masked = findCausalProducts(graph);
  Operation *unmasked = nullptr;
  graph->walk([&](EinsumOp op) {
    if (!keysOrValues(op) || masked.contains(op))
      return WalkResult::advance();
    unmasked = op;
    return WalkResult::interrupt();
  });
  return unmasked;
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
  if (keysOrValues(op) != operand)
    return 0;
  return bytes / length * (Polynomial::symbol(kPositionsRead) - length);
}

/// How many earlier positions the window of a convolution reads. 0 if the
/// convolution does not run along positions.
static int64_t reachOf(ConvOp conv, const Polynomial &positions) {
  int64_t reach = 0;
  Shape input = shapeOf(conv.getX());
  ArrayRef<int64_t> kernel = conv.getW().getType().getShape().drop_front(2);
  for (auto [axis, size, dilation] :
       llvm::zip_equal(conv.getOver(), kernel, conv.getDilation()))
    if (input[axis] == positions)
      reach += (size - 1) * dilation;
  return reach;
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
    if (auto scan = dyn_cast<ScanOp>(op);
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
      if (int64_t reach = reachOf(conv, positions))
        forEachKept(conv.getX(), [&](Value base) {
          auto &[longest, iterations] = windows[base];
          longest = std::max(longest, reach);
          iterations = iterationsOf(conv);
        });
    } else if (auto product = dyn_cast<EinsumOp>(op);
               product && product.isContraction() && isPerPosition(product)) {
      std::optional<unsigned> keys = keysOrValues(product);
      for (OpOperand &operand : product->getOpOperands())
        if (std::optional<int64_t> window = windowOf(operand.get()))
          forEachKept(operand.get(), [&](Value base) {
            if (seen.insert(base).second)
              addPositions(base, Polynomial::minimum(*window, positions),
                           iterationsOf(product));
          });
        else if (operand.getOperandNumber() == keys ||
                 degree(operand.get()) == 0)
          keep(operand.get());
    }
  });
  for (auto &[base, window] : windows)
    addPositions(base, window.first, window.second);
  return kept;
}
