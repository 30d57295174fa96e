// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention by matrix instructions: its results in one kernel, its gradients in
// two. Scores are in registers.

#include "lib/Codegen/CUDA/AttentionBuilder.h"
#include "lib/Codegen/CUDA/Kernels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace netc;
using namespace mlir;

using Role = AttentionRole;

namespace {
/// O = softmax(X) V, with running maxima and sums of the rows (Dao 2023,
/// arXiv:2307.08691).
class ResultEmitter : AttentionBuilder {
public:
  using AttentionBuilder::AttentionBuilder;

  void emit() {
    queries = loadSide(Q);
    SmallVector<Value> state = zeros(O);
    const size_t sums = state.size();
    state.append(2, number(-INFINITY));
    state.append(2, number(0));
    forTiles(K, V, state,
             [&](Value tile, Value k, Value v, MutableArrayRef<Value> state) {
               addTile(state, tile, k, v);
             });
    for (int64_t half : {0, 1}) {
      Value total = overRow<arith::AddFOp>(state[sums + 2 + half]);
      for (size_t i = 0; i < sums; ++i)
        if (isOfHalf(i, half))
          state[i] = b.create<arith::DivFOp>(state[i], total);
    }
    store(O, ArrayRef(state).take_front(sums));
  }

private:
  /// `state` has the sums, and by half the largest element of the row and the
  /// sum of exponentials so far.
  void addTile(MutableArrayRef<Value> state, Value tile, Value k, Value v) {
    MutableArrayRef<Value> sums = state.drop_back(4),
                           largest = state.take_back(4).take_front(2),
                           totals = state.take_back(2);
    SmallVector<Value> elements = productOf(queries, k, K);
    forElements(tile, elements, [&](const Place &place) {
      Value &element = elements[place.number];
      element = elementOf(element, place);
    });
    for (int64_t half : {0, 1}) {
      Largest now = largestOf(largest[half], elements, half);
      Value total = b.create<arith::MulFOp>(totals[half], now.scale);
      for (auto [i, element] : llvm::enumerate(elements))
        if (isOfHalf(i, half)) {
          element = exponential(element, now.offset);
          total = b.create<arith::AddFOp>(total, element);
        }
      for (auto [i, sum] : llvm::enumerate(sums))
        if (isOfHalf(i, half))
          sum = b.create<arith::MulFOp>(sum, now.scale);
      largest[half] = now.value;
      totals[half] = total;
    }
    addProduct(sums, elements, v, V);
  }

  Fragments queries;
};

/// What both kernels of gradients do.
class GradientBuilder : protected AttentionBuilder {
public:
  using AttentionBuilder::AttentionBuilder;

protected:
  /// An element of dP, rounded.
  Value rounded(Value gradient, const Place &place) {
    return compute(Role::RoundedGradients, place,
                   {{attention.resultOf(Role::WeightGradients), gradient}});
  }
  /// An element of dS, from those of P and dP, and others that are known.
  Value gradientOf(Value weight, Value gradient, const Place &place,
                   ArrayRef<Known> others = {}) {
    SmallVector<Known> known(others);
    known.push_back({attention.resultOf(Role::Weights), weight});
    known.push_back({attention.resultOf(Role::RoundedGradients), gradient});
    Value element = wide(compute(Role::ScoreGradients, place, known));
    return place.isInside
               ? b.create<arith::SelectOp>(place.isInside, element, number(0))
               : element;
  }
};

/// dQ = dS K. The maxima and sums of the rows, and the sums D, come first, by
/// a pass of their own. They are stored for the other kernel.
class QueryGradientEmitter : GradientBuilder {
public:
  using GradientBuilder::GradientBuilder;

  void emit() {
    queries = loadSide(Q);
    gradients = loadSide(DO);
    findRows();
    storeRows();
    SmallVector<Value> sums = zeros(DQ);
    forTiles(K, V, sums,
             [&](Value tile, Value k, Value v, MutableArrayRef<Value> sums) {
               addProduct(sums, gradientsOf(tile, k, v), k, K);
             });
    store(DQ, sums);
  }

private:
  void findRows() {
    SmallVector<Value> state(2, number(-INFINITY));
    state.append(4, number(0));
    forTiles(K, V, state,
             [&](Value tile, Value k, Value v, MutableArrayRef<Value> state) {
               addToRows(state, tile, k, v);
             });
    for (int64_t half : {0, 1}) {
      largest[half] = state[half];
      totals[half] = overRow<arith::AddFOp>(state[2 + half]);
      Value sum = overRow<arith::AddFOp>(state[4 + half]);
      corrections[half] = b.create<arith::DivFOp>(sum, totals[half]);
    }
  }

  /// `state` has, by half, the largest element of the row so far, the sum of
  /// exponentials, and that of their products with dP.
  void addToRows(MutableArrayRef<Value> state, Value tile, Value k, Value v) {
    SmallVector<Value> elements = productOf(queries, k, K),
                       more = productOf(gradients, v, V);
    forElements(tile, elements, [&](const Place &place) {
      Value &element = elements[place.number];
      element = elementOf(element, place);
    });
    for (int64_t half : {0, 1}) {
      Largest now = largestOf(state[half], elements, half);
      Value total = b.create<arith::MulFOp>(state[2 + half], now.scale),
            sum = b.create<arith::MulFOp>(state[4 + half], now.scale);
      for (auto [i, element] : llvm::enumerate(elements))
        if (isOfHalf(i, half)) {
          Value weight = exponential(element, now.offset);
          total = b.create<arith::AddFOp>(total, weight);
          sum = b.create<arith::AddFOp>(
              sum, b.create<arith::MulFOp>(weight, more[i]));
        }
      state[half] = now.value;
      state[2 + half] = total;
      state[4 + half] = sum;
    }
  }

  void storeRows() {
    Value isFirst = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                            ptx.rem(lane, 4), ptx.i32(0));
    for (int64_t half : {0, 1}) {
      OpBuilder::InsertionGuard guard(b);
      enterWhere(both(isRow[half], isFirst));
      for (auto [operand, value] :
           {std::pair(Maximum, largest[half]), std::pair(Sum, totals[half]),
            std::pair(D, corrections[half])}) {
        Value place =
            b.add(bases[operand], placeIn(operand, attention.rows, rows[half]));
        b.create<memref::StoreOp>(value, flat(operand), place);
      }
    }
  }

  SmallVector<Value> gradientsOf(Value tile, Value k, Value v) {
    SmallVector<Value> elements = productOf(queries, k, K),
                       more = productOf(gradients, v, V);
    std::array<Value, 2> offsets;
    for (int64_t half : {0, 1})
      offsets[half] = offsetOf(largest[half], totals[half]);
    forElements(tile, elements, [&](const Place &place) {
      Value &element = elements[place.number];
      Value weight =
          exponential(elementOf(element, place), offsets[place.half]);
      element = gradientOf(
          weight, rounded(more[place.number], place), place,
          {{attention.resultOf(Role::Corrections), corrections[place.half]}});
    });
    return elements;
  }

  Fragments queries, gradients;
  std::array<Value, 2> largest, totals, corrections; ///< by half
};

/// dV = P' dO and dK = dS' Q. The scores are transposed: a block has keys, and
/// goes through the rows.
class KeyGradientEmitter : GradientBuilder {
public:
  using GradientBuilder::GradientBuilder;

  void emit() {
    keys = loadSide(K);
    values = loadSide(V);
    SmallVector<Value> sums = zeros(DK);
    const size_t ofKeys = sums.size();
    llvm::append_range(sums, zeros(DV));
    forTiles(
        Q, DO, sums,
        [&](Value tile, Value q, Value gradient, MutableArrayRef<Value> sums) {
          SmallVector<Value> offsets = offsetsOf(tile);
          SmallVector<Value> elements = productOf(keys, q, Q);
          llvm::append_range(elements, productOf(values, gradient, DO));
          auto weights = MutableArrayRef(elements).take_front(elementsOfTile()),
               gradients =
                   MutableArrayRef(elements).drop_front(elementsOfTile());
          forElements(tile, elements, [&](const Place &place) {
            size_t i = place.number;
            weights[i] = exponential(elementOf(weights[i], place), offsets[i]);
            gradients[i] =
                gradientOf(weights[i], rounded(gradients[i], place), place);
          });
          addProduct(sums.take_front(ofKeys), gradients, q, Q);
          addProduct(sums.drop_front(ofKeys), weights, gradient, DO);
        });
    store(DK, ArrayRef(sums).take_front(ofKeys));
    store(DV, ArrayRef(sums).drop_front(ofKeys));
  }

private:
  /// By element of a tile: the offset of its row.
  SmallVector<Value> offsetsOf(Value tile) {
    SmallVector<Value> offsets;
    for (size_t number = 0; number < elementsOfTile(); ++number) {
      if (isOfHalf(number, 1)) { // the same rows as of the other half
        offsets.push_back(offsets[number - 2]);
        continue;
      }
      Value row = placeOf(tile, number).across;
      auto load = [&](AttentionOperand operand) -> Value {
        Value at = b.add(bases[operand], placeIn(operand, attention.rows, row));
        return b.create<memref::LoadOp>(flat(operand), at);
      };
      offsets.push_back(offsetOf(load(Maximum), load(Sum)));
    }
    return offsets;
  }

  Fragments keys, values;
};
} // namespace

static SmallVector<Operation *> opsOfAttention(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (op->hasAttr(kAttention))
      ops.push_back(op);
  });
  return ops;
}

std::optional<AttentionSchedule>
netc::attentionScheduleOf(func::FuncOp kernel, const DeviceInfo &device) {
  SmallVector<Operation *> ops = opsOfAttention(kernel);
  if (ops.empty() || !isa<scf::ExecuteRegionOp>(ops.front()->getParentOp()))
    return std::nullopt;
  auto attention = Attention::of(ops);
  return attention
             ? scheduleAttention(attention->sizes(), attention->work(), device)
             : std::nullopt;
}

/// Erases ops, and the buffers that only they accessed.
static void erase(ArrayRef<Operation *> ops) {
  SetVector<Operation *> buffers;
  for (Operation *op : llvm::reverse(ops)) {
    for (Value operand : op->getOperands())
      if (auto buffer = operand.getDefiningOp<memref::AllocOp>())
        buffers.insert(buffer);
    op->erase();
  }
  for (Operation *buffer : buffers) {
    for (Operation *view : llvm::make_early_inc_range(buffer->getUsers()))
      view->erase();
    buffer->erase();
  }
}

/// Leaves out roundings of elements between products: a kernel rounds what
/// matrix instructions read.
static void keepWide(func::FuncOp kernel) {
  kernel.walk([](arith::ExtFOp wide) {
    auto rounded = wide.getIn().getDefiningOp<arith::TruncFOp>();
    if (rounded && rounded.getIn().getType() == wide.getType())
      wide.replaceAllUsesWith(rounded.getIn());
  });
}

std::optional<KernelShape> netc::emitAttention(func::FuncOp kernel,
                                               const DeviceInfo &device) {
  auto schedule = attentionScheduleOf(kernel, device);
  if (!schedule)
    return std::nullopt;
  Attention attention = *Attention::of(opsOfAttention(kernel));
  if (attention.op(Role::Results))
    ResultEmitter(attention, *schedule).emit();
  else if (attention.op(Role::QueryGradients))
    QueryGradientEmitter(attention, *schedule).emit();
  else
    KeyGradientEmitter(attention, *schedule).emit();
  erase(opsOfAttention(kernel));
  keepWide(kernel);
  return KernelShape{schedule->blocks() * schedule->threads(),
                     schedule->threads()};
}
