// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Conversion/LinalgBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_SORTROWS
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// With fewer places, threads for the columns are enough.
static constexpr int64_t kLeastPlaces = 64;
/// Ranks take the square of the places. Beyond so many, they take longer than
/// to go through the places one by one.
static constexpr int64_t kMostPlaces = 1 << 20;

namespace {
/// A perfect nest that reads and writes an element of a table in each
/// iteration: in a row that follows from the place, the induction variables of
/// some of its loops, and in a column of the other ones.
class RowUpdates {
public:
  static std::optional<RowUpdates> of(scf::ForOp outermost);

  /// Lets iterations of the same row follow each other, in their order.
  void sort();

private:
  explicit RowUpdates(scf::ForOp outermost) : outermost(outermost) {}
  bool findLoops();
  bool findRow();

  Block &body() { return *loops.back().getBody(); }
  /// The rows of all places.
  Value rowsOfPlaces(ImplicitLocOpBuilder &b);
  /// The place of each number in the order of rows.
  Value orderOf(ImplicitLocOpBuilder &b, Value rows);
  Value inOrder(ImplicitLocOpBuilder &b, Value rows, Value order);
  void mapPlace(ImplicitLocOpBuilder &b, Value place, IRMapping &values);

  scf::ForOp outermost;
  SmallVector<scf::ForOp> loops, placeLoops, columnLoops;
  tensor::InsertOp insert;
  Value row;
  SetVector<Operation *> rowSlice; ///< what computes the row
  int64_t places = 1;
};
} // namespace

bool RowUpdates::findLoops() {
  getPerfectlyNestedLoops(loops, outermost);
  for (auto [number, loop] : llvm::enumerate(loops)) {
    bool isPlain = loop.getNumResults() == 1 &&
                   getConstantIntValue(loop.getLowerBound()) == 0 &&
                   getConstantIntValue(loop.getStep()) == 1 &&
                   getConstantIntValue(loop.getUpperBound());
    if (!isPlain)
      return false;
    if (number == 0)
      continue;
    scf::ForOp around = loops[number - 1];
    if (loop.getInitArgs()[0] != around.getRegionIterArg(0) ||
        around.getYieldedValues()[0] != loop.getResult(0))
      return false;
  }
  return true;
}

bool RowUpdates::findRow() {
  scf::ForOp innermost = loops.back();
  Value table = innermost.getRegionIterArg(0);
  insert = innermost.getYieldedValues()[0].getDefiningOp<tensor::InsertOp>();
  if (!insert || insert.getDest() != table)
    return false;
  for (Operation *user : table.getUsers()) {
    auto read = dyn_cast<tensor::ExtractOp>(user);
    if (user != insert && (!read || read.getIndices() != insert.getIndices()))
      return false;
  }
  SmallVector<Value> computed;
  for (Value index : insert.getIndices()) {
    auto loop = llvm::find_if(loops, [&](scf::ForOp loop) {
      return loop.getInductionVar() == index;
    });
    if (loop == loops.end())
      computed.push_back(index);
    else
      columnLoops.push_back(*loop);
  }
  if (computed.size() != 1)
    return false;
  row = computed.front();
  for (scf::ForOp loop : loops)
    if (!llvm::is_contained(columnLoops, loop)) {
      placeLoops.push_back(loop);
      places *= *getConstantIntValue(loop.getUpperBound());
    }
  BackwardSliceOptions inBody;
  inBody.inclusive = true;
  inBody.omitBlockArguments = true;
  inBody.filter = [&](Operation *op) { return op->getBlock() == &body(); };
  getBackwardSlice(row, &rowSlice, inBody);
  return !rowSlice.empty() && llvm::all_of(rowSlice, [&](Operation *op) {
    return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
           llvm::none_of(op->getOperands(), [&](Value operand) {
             return operand == table ||
                    llvm::any_of(columnLoops, [&](scf::ForOp loop) {
                      return loop.getInductionVar() == operand;
                    });
           });
  });
}

std::optional<RowUpdates> RowUpdates::of(scf::ForOp outermost) {
  RowUpdates updates(outermost);
  if (!updates.findLoops() || !updates.findRow() ||
      updates.places < kLeastPlaces || updates.places > kMostPlaces)
    return std::nullopt;
  return updates;
}

static Value integer(ImplicitLocOpBuilder &b, Value index) {
  return b.create<arith::IndexCastOp>(b.getI64Type(), index);
}
static Value index(ImplicitLocOpBuilder &b, Value integer) {
  return b.create<arith::IndexCastOp>(b.getIndexType(), integer);
}

void RowUpdates::mapPlace(ImplicitLocOpBuilder &b, Value place,
                          IRMapping &values) {
  for (scf::ForOp loop : llvm::reverse(placeLoops)) {
    Value extent = b.create<arith::ConstantIndexOp>(
        *getConstantIntValue(loop.getUpperBound()));
    values.map(loop.getInductionVar(), b.create<arith::RemUIOp>(place, extent));
    place = b.create<arith::DivUIOp>(place, extent);
  }
}

/// A tensor of i64 with a number for each place.
static Value numbers(ImplicitLocOpBuilder &b, int64_t places,
                     function_ref<Value(ImplicitLocOpBuilder &, Value)> of) {
  auto type = RankedTensorType::get({places}, b.getI64Type());
  Value none = b.create<tensor::EmptyOp>(type.getShape(), b.getI64Type());
  auto generic = b.create<linalg::GenericOp>(
      type, ValueRange(), none, b.getMultiDimIdentityMap(1),
      utils::IteratorType::parallel,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value number = of(inner, inner.create<linalg::IndexOp>(0));
        inner.create<linalg::YieldOp>(number);
      });
  return generic.getResult(0);
}

Value RowUpdates::rowsOfPlaces(ImplicitLocOpBuilder &b) {
  return numbers(b, places, [&](ImplicitLocOpBuilder &inner, Value place) {
    IRMapping values;
    mapPlace(inner, place, values);
    for (Operation *op : rowSlice)
      inner.clone(*op, values);
    return integer(inner, values.lookup(row));
  });
}

Value RowUpdates::orderOf(ImplicitLocOpBuilder &b, Value rows) {
  // The rank of a place: how many have a lower row, or the same and come first.
  auto type = cast<RankedTensorType>(rows.getType());
  Value empty = b.create<tensor::EmptyOp>(type.getShape(), b.getI64Type());
  Value zero = b.create<arith::ConstantIntOp>(0, 64);
  Value none = b.create<linalg::FillOp>(zero, empty).getResult(0);
  AffineMap place = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  AffineMap other = AffineMap::get(2, 0, b.getAffineDimExpr(1));
  auto ranks = b.create<linalg::GenericOp>(
      type, ValueRange{rows, rows}, none, ArrayRef{place, other, place},
      ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        ImplicitLocOpBuilder inner(loc, nested);
        using Predicate = arith::CmpIPredicate;
        auto compare = [&](Predicate how, Value x, Value y) -> Value {
          return inner.create<arith::CmpIOp>(how, x, y);
        };
        Value isFirst =
            compare(Predicate::slt, inner.create<linalg::IndexOp>(1),
                    inner.create<linalg::IndexOp>(0));
        Value isBefore = inner.create<arith::OrIOp>(
            compare(Predicate::slt, elements[1], elements[0]),
            inner.create<arith::AndIOp>(
                compare(Predicate::eq, elements[1], elements[0]), isFirst));
        Value one = inner.create<arith::ExtUIOp>(b.getI64Type(), isBefore);
        inner.create<linalg::YieldOp>(ValueRange(
            inner.create<arith::AddIOp>(elements[2], one).getResult()));
      });
  Value from = b.create<arith::ConstantIndexOp>(0);
  auto loop = b.create<scf::ForOp>(
      from, b.create<arith::ConstantIndexOp>(places),
      b.create<arith::ConstantIndexOp>(1), empty,
      [&](OpBuilder &nested, Location loc, Value place, ValueRange order) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value rank = inner.create<tensor::ExtractOp>(ranks.getResult(0), place);
        Value next = inner.create<tensor::InsertOp>(
            integer(inner, place), order[0], index(inner, rank));
        inner.create<scf::YieldOp>(next);
      });
  loop->setDiscardableAttr(kIndependent, b.getUnitAttr());
  return loop.getResult(0);
}

Value RowUpdates::inOrder(ImplicitLocOpBuilder &b, Value rows, Value order) {
  return numbers(b, places, [&](ImplicitLocOpBuilder &inner, Value number) {
    Value place = inner.create<tensor::ExtractOp>(order, number);
    return inner.create<tensor::ExtractOp>(rows, index(inner, place))
        .getResult();
  });
}

void RowUpdates::sort() {
  ImplicitLocOpBuilder b(outermost.getLoc(), outermost);
  Value rows = rowsOfPlaces(b), order = orderOf(b, rows);
  Value sorted = inOrder(b, rows, order);
  Value zero = b.create<arith::ConstantIndexOp>(0),
        one = b.create<arith::ConstantIndexOp>(1);
  SmallVector<Value> bounds{b.create<arith::ConstantIndexOp>(places)};
  for (scf::ForOp loop : columnLoops)
    bounds.push_back(loop.getUpperBound());
  SmallVector<Value> zeros(bounds.size(), zero), ones(bounds.size(), one);
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), zeros, bounds, ones, outermost.getInitArgs(),
      [&](OpBuilder &nested, Location loc, ValueRange ivs, ValueRange table) {
        ImplicitLocOpBuilder inner(loc, nested);
        IRMapping values;
        Value place = inner.create<tensor::ExtractOp>(order, ivs[0]);
        mapPlace(inner, index(inner, place), values);
        for (auto [loop, iv] : llvm::zip_equal(columnLoops, ivs.drop_front()))
          values.map(loop.getInductionVar(), iv);
        values.map(loops.back().getRegionIterArg(0), table[0]);
        Value rowOf = inner.create<tensor::ExtractOp>(sorted, ivs[0]);
        values.map(row, index(inner, rowOf));
        for (Operation &op : body().without_terminator())
          if (&op != row.getDefiningOp())
            inner.clone(op, values);
        return SmallVector<Value>{values.lookup(insert.getResult())};
      });
  nest.loops.front()->setDiscardableAttr(kSegments, b.getUnitAttr());
  outermost.getResult(0).replaceAllUsesWith(nest.results[0]);
  outermost.erase();
}

namespace {
struct SortRows : netc::impl::SortRowsBase<SortRows> {
  void runOnOperation() override {
    std::vector<RowUpdates> found;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      auto updates = RowUpdates::of(loop);
      if (!updates)
        return WalkResult::advance();
      found.push_back(std::move(*updates));
      return WalkResult::skip();
    });
    for (RowUpdates &updates : found)
      updates.sort();
  }
};
} // namespace
