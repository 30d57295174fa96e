// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_MAPKERNELS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

static SmallVector<Operation *> workOf(func::FuncOp kernel) {
  SmallVector<Operation *> work;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (isa<linalg::LinalgOp>(op) || !isMemoryEffectFree(&op))
      work.push_back(&op);
  return work;
}

std::pair<linalg::LinalgOp, Fills> netc::onlyOpOf(func::FuncOp kernel) {
  SmallVector<Operation *> work = workOf(kernel);
  auto op = dyn_cast<linalg::LinalgOp>(work.pop_back_val());
  if (!op || work.empty())
    return {op, {}};
  Fills fills(op.getNumDpsInits());
  for (Operation *before : work) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    auto init = fill ? llvm::find(op.getDpsInits(), fill.getDpsInits()[0])
                     : op.getDpsInits().end();
    if (init == op.getDpsInits().end())
      return {};
    fills[init - op.getDpsInits().begin()] = fill;
  }
  if (llvm::is_contained(fills, nullptr))
    return {};
  return {op, fills};
}

std::pair<linalg::LinalgOp, Fills>
netc::productWithEpilogueOf(func::FuncOp kernel) {
  SmallVector<Operation *> work = workOf(kernel);
  auto region = dyn_cast<scf::ExecuteRegionOp>(work.front());
  if (work.size() != 1 || !region)
    return {};
  for (auto product : region.getRegion().getOps<linalg::LinalgOp>())
    if (epilogueOf(product))
      return {product, {cast<linalg::FillOp>(product->getPrevNode())}};
  return {};
}

SmallVector<unsigned> netc::loopsOfElements(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<unsigned> alone;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (!llvm::is_contained(alone, dim.getPosition()))
          alone.push_back(dim.getPosition());
    if (init.getOperandNumber() == op.getNumDpsInputs())
      loops = alone;
    else
      llvm::erase_if(loops, [&](unsigned loop) {
        return !llvm::is_contained(alone, loop);
      });
  }
  return loops;
}

SmallVector<Value> PointBuilder::placeOf(OpOperand &operand) {
  SmallVector<Value> place;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (AffineExpr expr : map.getResults())
    place.push_back(
        affine::expandAffineExpr(b, b.getLoc(), expr, ivs, ValueRange()));
  return place;
}

Value PointBuilder::load(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType()))
    return operand.get();
  return b.create<memref::LoadOp>(operand.get(), placeOf(operand));
}

void PointBuilder::store(Value value, OpOperand &operand) {
  b.create<memref::StoreOp>(value, operand.get(), placeOf(operand));
}

SmallVector<Value> PointBuilder::payload(ValueRange elements) {
  Block &body = op->getRegion(0).front();
  IRMapping values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    unsigned number = operand.getOperandNumber();
    Value element = number < op.getNumDpsInputs()
                        ? known.lookup(number)
                        : elements[number - op.getNumDpsInputs()];
    values.map(argument, element ? element : load(operand));
  }
  for (Operation &payload : body.without_terminator()) {
    if (auto iv = dyn_cast<linalg::IndexOp>(payload))
      values.map(iv.getResult(), ivs[iv.getDim()]);
    else
      b.clone(payload, values);
  }
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(values.lookupOrDefault(result));
  return results;
}

void PointBuilder::setIvs(ArrayRef<unsigned> loops, Value number) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned loop : llvm::reverse(loops)) {
    if (loop == loops.front()) {
      ivs[loop] = number;
      break;
    }
    Value extent = b.create<arith::ConstantIndexOp>(extents[loop]);
    ivs[loop] = b.create<arith::RemUIOp>(number, extent);
    number = b.create<arith::DivUIOp>(number, extent);
  }
}

namespace {
/// Replaces a linalg op by the code of one thread.
class ThreadCode {
public:
  ThreadCode(linalg::LinalgOp op, Fills fills)
      : op(op), fills(std::move(fills)), b(op.getLoc(), op), at(op, b),
        loops(loopsOfElements(op)), extents(op.getStaticLoopRanges()) {}

  /// Returns the number of threads.
  int64_t emit() {
    int64_t threads = 1;
    for (unsigned loop : loops)
      threads *= extents[loop];
    Value thread = threadIndex(b);
    Value isOne = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, thread,
                                          index(threads));
    auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    at.setIvs(loops, thread);
    for (auto [fill, init] : llvm::zip(fills, op.getDpsInitsMutable()))
      start(init, fill.getInputs()[0]);
    SmallVector<unsigned> others;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (!at.ivs[loop])
        others.push_back(loop);
    nest(others, [&] { point(); });
    for (linalg::FillOp fill : fills)
      fill.erase();
    op.erase();
    return threads;
  }

private:
  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }

  /// Emits `body` inside of these loops of the op.
  void nest(ArrayRef<unsigned> inner, function_ref<void()> body) {
    if (inner.empty())
      return body();
    forEach(extents[inner.front()], [&](Value iv) {
      at.ivs[inner.front()] = iv;
      nest(inner.drop_front(), body);
    });
  }

  void forEach(int64_t extent, function_ref<void(Value)> body) {
    auto loop = b.create<scf::ForOp>(index(0), index(extent), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// Initializes the elements of a result that the thread accumulates into.
  /// Along an axis that none of the thread's loops indexes alone, these are all
  /// elements.
  void start(OpOperand &init, Value value) {
    auto type = cast<MemRefType>(init.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&init);
    SmallVector<Value> place(type.getRank());
    SmallVector<bool> isTold(extents.size());
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (!std::exchange(isTold[dim.getPosition()], true))
          place[axis] = at.ivs[dim.getPosition()];
    startFrom(0, place, init.get(), value);
  }

  void startFrom(size_t axis, SmallVectorImpl<Value> &place, Value memory,
                 Value value) {
    if (axis == place.size()) {
      b.create<memref::StoreOp>(value, memory, place);
      return;
    }
    if (place[axis])
      return startFrom(axis + 1, place, memory, value);
    forEach(cast<MemRefType>(memory.getType()).getDimSize(axis), [&](Value iv) {
      place[axis] = iv;
      startFrom(axis + 1, place, memory, value);
      place[axis] = Value();
    });
  }

  void point() {
    SmallVector<Value> none(op.getNumDpsInits());
    for (auto [init, result] :
         llvm::zip_equal(op.getDpsInitsMutable(), at.payload(none)))
      at.store(result, init);
  }

  linalg::LinalgOp op;
  Fills fills;
  ImplicitLocOpBuilder b;
  PointBuilder at;
  SmallVector<unsigned> loops;
  SmallVector<int64_t> extents;
};
} // namespace

Value netc::threadIndex(ImplicitLocOpBuilder &b) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto wide = [&](Value number) -> Value {
    return b.create<arith::ExtUIOp>(i64, number);
  };
  Value block = wide(b.create<NVVM::BlockIdXOp>(i32));
  Value thread = wide(b.create<NVVM::ThreadIdXOp>(i32));
  Value size = b.create<arith::ConstantOp>(b.getI64IntegerAttr(kBlockThreads));
  Value before = b.create<arith::MulIOp>(block, size);
  return b.create<arith::IndexCastUIOp>(
      b.getIndexType(), b.create<arith::AddIOp>(before, thread));
}

//===----------------------------------------------------------------------===//
// Loops of scf
//===----------------------------------------------------------------------===//

/// The accesses of a loop nest to the memory that it writes, by memory. None if
/// the nest has another effect. Atomic counters are no such effect: their order
/// does not matter.
static std::optional<DenseMap<Value, SmallVector<ValueRange>>>
accessesToResults(scf::ForOp nest) {
  DenseMap<Value, SmallVector<ValueRange>> accesses;
  SetVector<Value> written;
  WalkResult walk = nest.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      accesses[load.getMemRef()].push_back(load.getIndices());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      accesses[store.getMemRef()].push_back(store.getIndices());
      written.insert(store.getMemRef());
    } else if (!isa<memref::AtomicRMWOp>(op) &&
               !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
               !isMemoryEffectFree(op)) {
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  DenseMap<Value, SmallVector<ValueRange>> ofResults;
  for (Value memory : written)
    ofResults[memory] = accesses[memory];
  return ofResults;
}

/// Whether `iv` is the index along one axis of every access. Iterations of its
/// loop then access different elements.
static bool indexesAnAxis(Value iv, ArrayRef<ValueRange> accesses) {
  return llvm::any_of(llvm::seq<size_t>(0, accesses.front().size()),
                      [&](size_t axis) {
                        return llvm::all_of(accesses, [&](ValueRange place) {
                          return place[axis] == iv;
                        });
                      });
}

/// The loops of a perfect nest, outermost first, whose iterations are
/// independent and whose bounds are known.
static SmallVector<scf::ForOp> independentLoops(scf::ForOp outermost) {
  SmallVector<scf::ForOp> nest;
  getPerfectlyNestedLoops(nest, outermost);
  auto results = accessesToResults(outermost);
  auto isIndependent = [&](scf::ForOp loop) {
    if (loop->hasAttr(kIndependent))
      return true;
    return results && llvm::all_of(*results, [&](auto &memory) {
             return indexesAnAxis(loop.getInductionVar(), memory.second);
           });
  };
  llvm::erase_if(nest, [&](scf::ForOp loop) {
    return loop.getNumResults() != 0 ||
           getConstantIntValue(loop.getLowerBound()) != 0 ||
           !getConstantIntValue(loop.getUpperBound()) ||
           getConstantIntValue(loop.getStep()) != 1 || !isIndependent(loop);
  });
  return nest;
}

/// Replaces a loop by its body for this value of the induction variable.
static void inlineIteration(scf::ForOp loop, Value iv) {
  loop.getInductionVar().replaceAllUsesWith(iv);
  Block *body = loop.getBody();
  loop->getBlock()->getOperations().splice(loop->getIterator(),
                                           body->getOperations(), body->begin(),
                                           std::prev(body->end()));
  loop.erase();
}

/// The sorted numbers that a loop over segments reads (kSegments): one of them
/// is an index of what it writes.
static Value numbersOfSegments(scf::ForOp loop) {
  Value numbers;
  loop.walk([&](memref::StoreOp store) {
    for (Value index : store.getIndices()) {
      auto cast = index.getDefiningOp<arith::IndexCastOp>();
      auto load = cast ? cast.getIn().getDefiningOp<memref::LoadOp>() : nullptr;
      if (load && load.getIndices() == ValueRange(loop.getInductionVar()))
        numbers = load.getMemRef();
    }
  });
  return numbers;
}

/// Replaces a loop over segments by the code of a thread: if `first` begins a
/// segment, the iterations of the segment, and nothing otherwise.
static void emitSegment(scf::ForOp loop, Value numbers, Value first) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value zero = b.create<arith::ConstantIndexOp>(0);
  Value one = b.create<arith::ConstantIndexOp>(1);
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return b.create<arith::CmpIOp>(how, x, y);
  };
  Value number = b.create<memref::LoadOp>(numbers, first);
  Value isZero = compare(arith::CmpIPredicate::eq, first, zero);
  Value before = b.create<arith::SelectOp>(isZero, zero,
                                           b.create<arith::SubIOp>(first, one));
  Value differs = compare(arith::CmpIPredicate::ne, number,
                          b.create<memref::LoadOp>(numbers, before));
  auto begins = b.create<scf::IfOp>(b.create<arith::OrIOp>(isZero, differs),
                                    /*withElseRegion=*/false);
  b.setInsertionPointToStart(begins.thenBlock());
  auto iterations = b.create<scf::WhileOp>(b.getIndexType(), first);
  Block *condition =
      b.createBlock(&iterations.getBefore(), {}, b.getIndexType(), b.getLoc());
  Value next = condition->getArgument(0);
  Value isInside =
      compare(arith::CmpIPredicate::ult, next, loop.getUpperBound());
  Value inside = b.create<arith::SelectOp>(isInside, next, first);
  Value isSame = compare(arith::CmpIPredicate::eq, number,
                         b.create<memref::LoadOp>(numbers, inside));
  b.create<scf::ConditionOp>(b.create<arith::AndIOp>(isInside, isSame), next);
  Block *body =
      b.createBlock(&iterations.getAfter(), {}, b.getIndexType(), b.getLoc());
  Value iv = body->getArgument(0);
  b.create<scf::YieldOp>(b.create<arith::AddIOp>(iv, one).getResult());
  loop->moveBefore(body, body->begin());
  inlineIteration(loop, iv);
}

/// Gives each iteration of a nest's independent loops a thread, which does the
/// iterations of the other loops in their order. Returns the number of threads.
static int64_t mapToThreads(scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops = independentLoops(outermost);
  Value numbers =
      outermost->hasAttr(kSegments) ? numbersOfSegments(outermost) : Value();
  if (numbers)
    loops.insert(loops.begin(), outermost);
  if (loops.empty())
    return 1;
  int64_t threads = 1;
  for (scf::ForOp loop : loops)
    threads *= *getConstantIntValue(loop.getUpperBound());
  ImplicitLocOpBuilder b(outermost.getLoc(), outermost);
  Value number = threadIndex(b);
  Value isOne =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, number,
                              b.create<arith::ConstantIndexOp>(threads));
  auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  SmallVector<Value> ivs;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    ivs.push_back(b.create<arith::RemUIOp>(number, loop.getUpperBound()));
    number = b.create<arith::DivUIOp>(number, loop.getUpperBound());
  }
  outermost->moveBefore(guard.thenBlock()->getTerminator());
  for (auto [loop, iv] : llvm::zip_equal(llvm::reverse(loops), ivs)) {
    if (numbers && loop == outermost)
      emitSegment(loop, numbers, iv);
    else
      inlineIteration(loop, iv);
  }
  return threads;
}

/// Turns a kernel into the code of one thread. Returns the number of threads.
static FailureOr<int64_t> map(func::FuncOp kernel) {
  auto [op, fills] = onlyOpOf(kernel);
  if (op)
    return ThreadCode(op, fills).emit();
  SmallVector<Operation *> work = workOf(kernel);
  if (isa<scf::ExecuteRegionOp>(work.front()))
    return kernel.emitError("the ops of a region have no threads");
  auto loop = dyn_cast<scf::ForOp>(work.front());
  return work.size() == 1 && loop ? mapToThreads(loop) : 1;
}

namespace {
struct MapKernels : netc::impl::MapKernelsBase<MapKernels> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && function.isPrivate() &&
          !function->hasAttr(kThreads)) {
        FailureOr<int64_t> threads = map(function);
        if (failed(threads))
          return signalPassFailure();
        function->setAttr(kThreads, builder.getI64IntegerAttr(*threads));
      }
  }
};
} // namespace
