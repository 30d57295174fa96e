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
      storeOfRow(Maximum, half, state[sums + half]);
      storeOfRow(Sum, half, total);
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
  /// What the elements of a row have in common.
  struct Row {
    Value offset;             ///< of exponential()
    SmallVector<Known> known; ///< what dS is computed from, such as D
  };
  Row rowAt(ArrayRef<Value> ivs) {
    auto load = [&](Role role, unsigned number) {
      PointBuilder at(attention.op(role), b);
      llvm::copy(ivs, at.ivs.begin());
      return at.load(attention.op(role)->getOpOperand(number));
    };
    Row row{offsetOf(load(Role::Exponentials, 1), load(Role::Weights, 1)), {}};
    AffineMap ofRows = attention.op(Role::Weights).getIndexingMapsArray()[1];
    linalg::GenericOp gradients = attention.op(Role::ScoreGradients);
    for (OpOperand *input : gradients.getDpsInputOperands())
      if (gradients.getMatchingIndexingMap(input) == ofRows)
        row.known.push_back({input->get(), load(Role::ScoreGradients,
                                                input->getOperandNumber())});
    return row;
  }

  /// An element of P.
  Value weightOf(Value score, const Place &place, const Row &row) {
    return exponential(elementOf(score, place), row.offset);
  }
  /// An element of dS, from those of P and dP.
  Value gradientOf(Value weight, Value gradient, const Place &place,
                   const Row &row) {
    Value rounded =
        compute(Role::RoundedGradients, place,
                {{attention.resultOf(Role::WeightGradients), gradient}});
    SmallVector<Known> known(row.known);
    known.push_back({attention.resultOf(Role::Weights), weight});
    known.push_back({attention.resultOf(Role::RoundedGradients), rounded});
    Value element = wide(compute(Role::ScoreGradients, place, known));
    return place.isInside
               ? b.create<arith::SelectOp>(place.isInside, element, number(0))
               : element;
  }
};

/// dQ = dS K.
class QueryGradientEmitter : GradientBuilder {
public:
  using GradientBuilder::GradientBuilder;

  void emit() {
    Fragments queries = loadSide(Q), gradients = loadSide(DO);
    std::array<Row, 2> ofHalves = {rowAt(ivs[0]), rowAt(ivs[1])};
    SmallVector<Value> sums = zeros(DQ);
    forTiles(K, V, sums,
             [&](Value tile, Value k, Value v, MutableArrayRef<Value> sums) {
               SmallVector<Value> elements = productOf(queries, k, K),
                                  more = productOf(gradients, v, V);
               forElements(tile, elements, [&](const Place &place) {
                 Value &element = elements[place.number];
                 const Row &row = ofHalves[place.half];
                 Value weight = weightOf(element, place, row);
                 element = gradientOf(weight, more[place.number], place, row);
               });
               addProduct(sums, elements, k, K);
             });
    store(DQ, sums);
  }
};

/// dV = P' dO and dK = dS' Q. The scores are transposed: a block has keys, and
/// goes through the rows.
class KeyGradientEmitter : GradientBuilder {
public:
  using GradientBuilder::GradientBuilder;

  void emit() {
    Fragments keys = loadSide(K), values = loadSide(V);
    SmallVector<Value> sums = zeros(DK);
    const size_t ofKeys = sums.size();
    llvm::append_range(sums, zeros(DV));
    forTiles(
        Q, DO, sums,
        [&](Value tile, Value q, Value gradient, MutableArrayRef<Value> sums) {
          SmallVector<Row> rows = rowsOf(tile);
          SmallVector<Value> elements = productOf(keys, q, Q);
          llvm::append_range(elements, productOf(values, gradient, DO));
          auto all = MutableArrayRef(elements),
               weights = all.take_front(elementsOfTile()),
               gradients = all.drop_front(elementsOfTile());
          forElements(tile, elements, [&](const Place &place) {
            size_t i = place.number;
            weights[i] = weightOf(weights[i], place, rows[i]);
            gradients[i] = gradientOf(weights[i], gradients[i], place, rows[i]);
          });
          addProduct(sums.take_front(ofKeys), gradients, q, Q);
          addProduct(sums.drop_front(ofKeys), weights, gradient, DO);
        });
    store(DK, ArrayRef(sums).take_front(ofKeys));
    store(DV, ArrayRef(sums).drop_front(ofKeys));
  }

private:
  /// The rows of the elements of a tile.
  SmallVector<Row> rowsOf(Value tile) {
    SmallVector<Row> rows;
    for (size_t number = 0; number < elementsOfTile(); ++number)
      // Both halves have the same rows.
      rows.push_back(isOfHalf(number, 0) ? rowAt(placeOf(tile, number).ivs)
                                         : rows[number - 2]);
    return rows;
  }
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

void netc::eraseWithBuffers(ArrayRef<Operation *> ops) {
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
  eraseWithBuffers(opsOfAttention(kernel));
  keepWide(kernel);
  return KernelShape{schedule->blocks() * schedule->threads(),
                     schedule->threads()};
}
