// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// Adds the coefficients of a linear expression, times `factor`, to `factors`
/// by dimension, and its constant term to `constant`. False if the expression
/// is not linear.
static bool linearize(AffineExpr expr, int64_t factor,
                      MutableArrayRef<int64_t> factors, int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    factors[dim.getPosition()] += factor;
    return true;
  }
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * value.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return linearize(binary.getLHS(), factor, factors, constant) &&
           linearize(binary.getRHS(), factor, factors, constant);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && scale &&
         linearize(binary.getLHS(), factor * scale.getValue(), factors,
                   constant);
}

/// The number of elements from the first to the last of a static layout, both
/// included.
static int64_t spanOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, span = 1;
  (void)getStridesAndOffset(type, strides, offset);
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    span += (size - 1) * stride;
  return span;
}

bool LoopNest::addOperand(Value operand, AffineMap map) {
  unsigned number = numOperands++;
  starts.push_back(0);
  sizes.push_back(1);
  for (Loop &loop : loops)
    loop.strides.push_back(0);
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type)
    return true; // a scalar
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getStridesAndOffset(type, strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return false;
  starts[number] = offset;
  sizes[number] = spanOf(type);
  SmallVector<int64_t> factors(loops.size());
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides)) {
    int64_t constant = 0;
    if (!linearize(expr, stride, factors, constant))
      return false;
    starts[number] += constant;
  }
  for (auto [loop, factor] : llvm::zip_equal(loops, factors))
    loop.strides[number] = factor;
  return true;
}

std::optional<LoopNest> LoopNest::of(linalg::LinalgOp op,
                                     linalg::LinalgOp epilogue) {
  LoopNest nest;
  auto iterators = op.getIteratorTypesArray();
  for (auto [i, extent] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    nest.loops.push_back({extent,
                          iterators[i] == utils::IteratorType::parallel,
                          {},
                          {{i, extent}}});
  }
  for (OpOperand &operand : op->getOpOperands())
    if (!nest.addOperand(operand.get(), op.getMatchingIndexingMap(&operand)))
      return std::nullopt;
  if (!epilogue)
    return nest;
  OpOperand &result = op->getOpOperands().back();
  auto *read = llvm::find_if(epilogue->getOpOperands(), [&](OpOperand &use) {
    return use.get() == result.get();
  });
  // Maps the loops of the op to those of the epilogue.
  AffineMap loops = inversePermutation(epilogue.getMatchingIndexingMap(read))
                        .compose(op.getMatchingIndexingMap(&result));
  for (OpOperand &operand : epilogue->getOpOperands())
    if (!nest.addOperand(
            operand.get(),
            epilogue.getMatchingIndexingMap(&operand).compose(loops)))
      return std::nullopt;
  return nest;
}

void LoopNest::collapse() {
  llvm::erase_if(loops, [](const Loop &loop) { return loop.extent == 1; });
  // Loops that can be merged need not be adjacent.
  for (size_t outer = 0; outer < loops.size(); ++outer)
    for (size_t inner = 0; inner < loops.size(); ++inner) {
      Loop &a = loops[outer], &b = loops[inner];
      if (outer == inner || a.isParallel != b.isParallel)
        continue;
      bool follows = true;
      for (auto [outerStride, innerStride] : llvm::zip(a.strides, b.strides))
        follows &= outerStride == innerStride * b.extent;
      if (!follows)
        continue;
      b.extent *= a.extent;
      b.dims.insert(b.dims.begin(), a.dims.begin(), a.dims.end());
      loops.erase(loops.begin() + outer);
      outer = -1;
      break;
    }
}

bool LoopNest::scatters(unsigned numInputs) const {
  return llvm::any_of(loops, [&](const Loop &loop) {
    return !loop.isParallel &&
           llvm::any_of(ArrayRef(loop.strides).drop_front(numInputs),
                        [](int64_t stride) { return stride != 0; });
  });
}

int64_t LoopNest::points() const {
  int64_t points = 1;
  for (const Loop &loop : loops)
    points *= loop.extent;
  return points;
}

//===----------------------------------------------------------------------===//
// NestBuilder
//===----------------------------------------------------------------------===//

NestBuilder::NestBuilder(linalg::LinalgOp op)
    : ImplicitLocOpBuilder(op.getLoc(), op) {
  addOperandsOf(op);
}

void NestBuilder::addOperandsOf(linalg::LinalgOp op) {
  for (Value operand : op->getOperands())
    memory.push_back(isa<MemRefType>(operand.getType()) ? flatten(operand)
                                                        : operand);
}

Value NestBuilder::flatten(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t span = spanOf(type);
  auto flat = MemRefType::get({span}, type.getElementType());
  return create<memref::ReinterpretCastOp>(flat, memref, /*offset=*/0,
                                           /*sizes=*/ArrayRef<int64_t>{span},
                                           /*strides=*/ArrayRef<int64_t>{1});
}

Value NestBuilder::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return create<arith::AddIOp>(a, b);
}
Value NestBuilder::add(Value a, int64_t b) {
  if (b == 0)
    return a;
  return add(a, index(b));
}
Value NestBuilder::scaled(Value a, int64_t factor) {
  if (factor == 1)
    return a;
  return create<arith::MulIOp>(a, index(factor));
}
Value NestBuilder::div(Value a, int64_t by) {
  return create<arith::DivUIOp>(a, index(by));
}
Value NestBuilder::rem(Value a, int64_t by) {
  return create<arith::RemUIOp>(a, index(by));
}

void NestBuilder::advance(MutableArrayRef<Value> offsets,
                          const LoopNest::Loop &loop, Value iteration) {
  for (auto [offset, stride] : llvm::zip_equal(offsets, loop.strides))
    if (stride != 0)
      offset = add(offset, scaled(iteration, stride));
}

void NestBuilder::prefetch(Value memory, Value at, bool isWrite,
                           CacheLevel level) {
  create<memref::PrefetchOp>(memory, at, isWrite,
                             /*localityHint=*/level == CacheLevel::L1 ? 3 : 2,
                             /*isDataCache=*/true);
}

Value NestBuilder::maskOf(VectorType vector, int64_t count) {
  if (count % vector.getNumElements() == 0)
    return {};
  return create<vector::CreateMaskOp>(vector.clone(getI1Type()), index(count));
}
Value NestBuilder::widened(Value value, Type type) {
  return value.getType() == type ? value : create<arith::ExtFOp>(type, value);
}
Value NestBuilder::loadScalar(Type type, Value memory, Value at) {
  return widened(create<memref::LoadOp>(memory, at), type);
}
Value NestBuilder::loadVector(VectorType vector, Value memory, Value at,
                              Value mask) {
  VectorType stored = vector.clone(getElementTypeOrSelf(memory.getType()));
  if (!mask)
    return widened(create<vector::LoadOp>(stored, memory, at), vector);
  Value zeros = create<arith::ConstantOp>(getZeroAttr(stored));
  return widened(create<vector::MaskedLoadOp>(stored, memory, at, mask, zeros),
                 vector);
}
void NestBuilder::storeVector(Value value, Value memory, Value at, Value mask) {
  if (mask)
    create<vector::MaskedStoreOp>(memory, at, mask, value);
  else
    create<vector::StoreOp>(value, memory, at);
}

std::pair<Value, Value> NestBuilder::exchange(Value a, Value b, int64_t width) {
  int64_t lanes = cast<VectorType>(a.getType()).getNumElements();
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    bool isOdd = lane & width;
    even.push_back(isOdd ? lanes + lane - width : lane);
    odd.push_back(isOdd ? lanes + lane : lane + width);
  }
  return {create<vector::ShuffleOp>(a, b, even),
          create<vector::ShuffleOp>(a, b, odd)};
}

SmallVector<Value> NestBuilder::transpose(ValueRange vectors) {
  SmallVector<Value> rows(vectors);
  for (size_t width = rows.size() / 2; width > 0; width /= 2)
    for (size_t i = 0; i < rows.size(); ++i)
      if (!(i & width))
        std::tie(rows[i], rows[i | width]) =
            exchange(rows[i], rows[i | width], width);
  return rows;
}

SmallVector<Value> NestBuilder::sumsOf(ValueRange vectors) {
  auto type = cast<VectorType>(vectors.front().getType());
  size_t lanes = type.getNumElements();
  SmallVector<Value> sums;
  for (; !vectors.empty();
       vectors = vectors.drop_front(std::min(lanes, vectors.size()))) {
    SmallVector<Value> rows(
        vectors.take_front(std::min(lanes, vectors.size())));
    size_t count = rows.size();
    rows.resize(lanes);
    // Each iteration merges pairs of vectors: it adds the halves of each, and
    // puts the sums into one vector.
    for (size_t width = lanes / 2; width > 0; width /= 2)
      for (size_t i = 0; i < width; ++i) {
        Value a = rows[i], b = rows[i + width];
        if (!a)
          continue;
        auto [even, odd] = exchange(a, b ? b : a, width);
        rows[i] = create<arith::AddFOp>(even, odd);
      }
    for (size_t i = 0; i < count; ++i)
      sums.push_back(create<vector::ExtractOp>(rows.front(), int64_t(i)));
  }
  return sums;
}

SmallVector<Value>
NestBuilder::loop(int64_t extent, int64_t step, ValueRange carried,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (extent == 0)
    return carried;
  if (extent <= step)
    return body(index(0), carried);
  Value zero = index(0);
  auto loop = create<scf::ForOp>(zero, index(extent), index(step), carried);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop without results already has its terminator.
  if (!carried.empty())
    create<scf::YieldOp>(next);
  return loop.getResults();
}

void NestBuilder::forEach(int64_t extent, int64_t step, bool isParallel,
                          function_ref<void(Value)> body) {
  if (!isParallel || extent <= step) {
    loop(extent, step, {}, [&](Value at, ValueRange) {
      body(at);
      return SmallVector<Value>();
    });
    return;
  }
  Value zero = index(0);
  auto loop = create<scf::ParallelOp>(zero, index(extent), index(step));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars().front());
}

void NestBuilder::forBlocks(int64_t extent, int64_t block, bool isParallel,
                            function_ref<void(Value, int64_t)> body) {
  int64_t whole = extent / block * block, rest = extent - whole;
  if (!isParallel || whole == 0 || rest == 0) {
    forEach(whole, block, isParallel, [&](Value at) { body(at, block); });
    if (rest > 0)
      body(index(whole), rest);
    return;
  }
  forEach(extent, block, true, [&](Value at) {
    Value isWhole =
        create<arith::CmpIOp>(arith::CmpIPredicate::ult, at, index(whole));
    auto branch = create<scf::IfOp>(isWhole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPoint(branch.thenYield());
    body(at, block);
    setInsertionPoint(branch.elseYield());
    body(at, rest);
  });
}
