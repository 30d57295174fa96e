// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Contractions of bf16, f16 and tf32 by matrix instructions. In shared memory,
// each operand has the order of its own memory: rows that are contiguous along
// k, or along m or n. They consist of chunks of 16 bytes, whose order is
// swizzled.

#include "lib/Codegen/CUDA/EmitWgmma.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/MatrixSchedule.h"
#include "lib/Codegen/CUDA/ProductBuilder.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;
using Matrix = MatrixSchedule;

/// Whether chunks along the contiguous loop of an operand start at multiples of
/// their size.
static bool isChunked(linalg::LinalgOp op, const TiledDims &dims,
                      ContractionOperand operand, int64_t elementBytes) {
  const int64_t chunk = Matrix::kChunkBytes / elementBytes;
  ArrayRef<Loop> along =
      dims.isAlongK(operand) ? ArrayRef<Loop>(dims.k) : dims.sideOf(operand);
  // The last chunk of a row may be shorter, but not reach into the next row.
  return !along.empty() &&
         (along.size() == 1 || along.back().extent % chunk == 0) &&
         isAligned(op->getOperand(dims.operands[operand]), operand,
                   dims.starts[operand],
                   {dims.batch, dims.k, dims.sideOf(operand)}, along.back(),
                   chunk);
}

/// The format in which matrix instructions multiply the elements of an op's
/// operands; null if there are no such instructions.
static FloatType formatOfMatrices(linalg::LinalgOp op) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0)));
  if (element && element.isF32())
    element = inputPrecisionOf(op);
  return element && (element.isBF16() || element.isF16() || element.isTF32())
             ? element
             : FloatType();
}

std::optional<int64_t> netc::matrixElementBytes(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2)
    return std::nullopt;
  Type left = getElementTypeOrSelf(op->getOperand(0)),
       right = getElementTypeOrSelf(op->getOperand(1)),
       sum = getElementTypeOrSelf(op.getDpsInits()[0]);
  if (left != right || !sum.isF32() || !formatOfMatrices(op))
    return std::nullopt;
  return left.getIntOrFloatBitWidth() / 8;
}

std::optional<MatrixSchedule> netc::matrixScheduleOf(linalg::LinalgOp op,
                                                     const DeviceInfo &device) {
  std::optional<TiledDims> dims = TiledDims::of(op);
  std::optional<int64_t> bytes = matrixElementBytes(op);
  if (!dims || !bytes)
    return std::nullopt;
  return scheduleMatrix(dims->tile, *bytes, isChunked(op, *dims, A, *bytes),
                        isChunked(op, *dims, B, *bytes), device);
}

namespace {
class MatrixEmitter : ProductBuilder {
public:
  MatrixEmitter(linalg::LinalgOp op, linalg::FillOp fill, MatrixSchedule matrix)
      : ProductBuilder(op, fill, epilogueOf(op)), matrix(std::move(matrix)),
        type(getElementTypeOrSelf(op->getOperand(0))),
        format(formatOfMatrices(op)), ptx(b) {}

  void emit() {
    placeTile(matrix.bm, matrix.bn);
    thread = indexIn<NVVM::ThreadIdXOp>(b);
    lane = ptx.lane();
    Value warp = ptx.div(ptx.thread(), 32);
    warpM = ptx.mul(ptx.div(warp, matrix.warpsN), matrix.rows());
    warpN = ptx.mul(ptx.rem(warp, matrix.warpsN), matrix.columns());
    shared =
        sharedBuffer(b, "stages", type, matrix.stages * matrix.stageElements(),
                     /*alignment=*/matrix.isByWarpgroups() ? 1024 : 16);
    start = ptx.addressOf(shared);
    for (ContractionOperand operand : {A, B})
      placeCopies(operand);

    for (int64_t stage = 0; stage < ahead(); ++stage) {
      if (stage < steps())
        beginStage(b.index(stage), b.index(stage));
      ptx.commitCopies();
    }
    SmallVector<Value> sums =
        matrix.isByWarpgroups() ? sumByWarpgroups() : sumByWarps();
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t half = 0; half < 2; ++half)
        storeRow(i, half, sums);
    finish();
  }

private:
  /// The fragments of a warp.
  int64_t rows() const { return matrix.rows() / Matrix::kFragmentM; }
  int64_t columns() const { return matrix.columns() / Matrix::kFragmentN; }

  //===-- Stages ----------------------------------------------------------===//

  int64_t steps() const { return llvm::divideCeil(matrix.dims.k, matrix.bk); }
  /// How many stages are copied before they are computed with. Warpgroups may
  /// still read the stage before the last one.
  int64_t ahead() const {
    return matrix.stages - (matrix.isByWarpgroups() ? 2 : 1);
  }
  /// The offset of the stage of a step.
  Value placeOfStage(Value step) {
    return mul(b.rem(step, matrix.stages), matrix.stageElements());
  }

  SmallVector<Value> sumByWarps() {
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(b.getF32Type()));
    SmallVector<Value> sums(rows() * columns() * 4, zero);
    return b.loop(steps(), 1, sums, [&](Value step, ValueRange sums) {
      ptx.waitForCopies(ahead() - 1);
      b.create<NVVM::Barrier0Op>();
      beginLater(step);
      return addProducts(placeOfStage(step), sums);
    });
  }

  SmallVector<Value> sumByWarpgroups() {
    WarpgroupBuilder group(b, matrix, type.isBF16());
    // The first products do not read the sums.
    Value none = b.create<LLVM::UndefOp>(b.getF32Type());
    SmallVector<Value> sums(rows() * columns() * 4, none);
    sums = b.loop(steps(), 1, sums, [&](Value step, ValueRange sums) {
      ptx.waitForCopies(ahead() - 1);
      ptx.fenceSharedWrites();
      b.create<NVVM::Barrier0Op>();
      Value isAdded =
          b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, step, b.index(0));
      Value stage =
          ptx.addressOf(start, placeOfStage(step), matrix.elementBytes);
      SmallVector<Value> more = group.beginProducts(stage, isAdded, sums);
      beginLater(step);
      // The products before these are complete: all warps then copy over what
      // those read.
      ptx.waitForProducts(/*open=*/1);
      return more;
    });
    return ptx.waitForProducts(sums);
  }

  //===-- Copies ----------------------------------------------------------===//

  int64_t sideOfTile(ContractionOperand operand) const {
    return operand == A ? matrix.bm : matrix.bn;
  }
  int64_t rowElements(ContractionOperand operand) const {
    return dims.isAlongK(operand) ? matrix.bk : sideOfTile(operand);
  }
  /// The elements of a row that lie side by side in a stage. Warpgroups read
  /// panels of such rows, one behind the other.
  int64_t panelElements(ContractionOperand operand) const {
    return matrix.isByWarpgroups() ? Matrix::kGroupElements
                                   : rowElements(operand);
  }
  bool isCopied(ContractionOperand operand) const {
    return operand == A ? matrix.copiesA : matrix.copiesB;
  }
  int64_t startInStage(ContractionOperand operand) const {
    return operand == A ? 0 : matrix.bm * matrix.bk;
  }

  /// What a thread copies of an operand to each stage: an element, or a chunk
  /// of them.
  struct Copy {
    Value place;     ///< in the operand, without that along k
    Value inK;       ///< from the first k of the stage
    Value inSide;    ///< its first m or n
    Value inStage;   ///< in the stage, in elements
    Value condition; ///< whether it is in bounds; null if always
  };

  /// The elements of a row that a warp reads together: those of a row of
  /// ldmatrix, or of the eight columns of a fragment.
  int64_t swizzledElements(ContractionOperand operand) const {
    return dims.isAlongK(operand) ? matrix.chunk() : 8;
  }

  /// The place of the chunk of a row that holds `column`. `numbers` computes
  /// with numbers of the type of both.
  template <typename Numbers>
  Value placeOfChunk(Numbers &numbers, ContractionOperand operand, Value row,
                     Value column) {
    int64_t elements = swizzledElements(operand);
    Swizzle swizzle = Swizzle::of(panelElements(operand) / elements,
                                  elements * matrix.elementBytes);
    Value chunk = numbers.div(column, elements);
    Value by = numbers.rem(numbers.div(row, int64_t(1) << swizzle.shift),
                           swizzle.mask + 1);
    return b.create<arith::XOrIOp>(chunk, by);
  }

  /// The offset of an element in a stage.
  Value placeInStage(ContractionOperand operand, Value row, Value column) {
    int64_t elements = panelElements(operand),
            swizzled = swizzledElements(operand);
    Value panel;
    if (elements < rowElements(operand)) {
      panel = mul(b.div(column, elements), elements * matrix.bk);
      column = b.rem(column, elements);
    }
    Value chunk = placeOfChunk(b, operand, row, column);
    Value place = b.add(mul(row, elements), mul(chunk, swizzled));
    place = b.add(b.add(place, b.rem(column, swizzled)), panel);
    return b.add(place, startInStage(operand));
  }

  void placeCopies(ContractionOperand operand) {
    int64_t width = isCopied(operand) ? matrix.chunk() : 1;
    int64_t count = sideOfTile(operand) * matrix.bk / width;
    int64_t inner = rowElements(operand) / width;
    for (int64_t i = 0; i < count; i += matrix.threads()) {
      Copy copy;
      Value number = b.add(thread, i);
      Value row = b.div(number, inner),
            column = mul(b.rem(number, inner), width);
      bool isAlongK = dims.isAlongK(operand);
      copy.inSide =
          b.add(operand == A ? firstM : firstN, isAlongK ? row : column);
      copy.inK = isAlongK ? column : row;
      copy.place = b.add(bases[operand],
                         placeIn(operand, dims.sideOf(operand), copy.inSide));
      copy.condition =
          isInBounds(copy.inSide, dims.extentOf(operand), sideOfTile(operand));
      copy.inStage = placeInStage(operand, row, column);
      copies[operand].push_back(copy);
    }
  }

  /// The bytes to read for a chunk from `at` on, of `extent` elements: the last
  /// one may have fewer.
  Value bytesOfChunk(Value at, int64_t extent) {
    if (extent % matrix.chunk() == 0)
      return ptx.i32(Matrix::kChunkBytes);
    Value left = b.create<arith::SubIOp>(b.index(extent), at);
    Value elements = b.create<arith::MinUIOp>(left, b.index(matrix.chunk()));
    return b.create<arith::IndexCastUIOp>(b.getI32Type(),
                                          mul(elements, matrix.elementBytes));
  }

  /// Begins to copy to a stage what a step sums up.
  void beginStage(Value step, Value stage) {
    Value k = mul(step, matrix.bk);
    Value first = mul(stage, matrix.stageElements());
    for (ContractionOperand operand : {A, B})
      for (const Copy &copy : copies[operand]) {
        Value atK = b.add(k, copy.inK);
        Value condition =
            both(copy.condition, isInBounds(atK, matrix.dims.k, matrix.bk));
        Value to = b.add(first, copy.inStage);
        Value memory = b.flat(dims.operands[operand]);
        // An address out of bounds is replaced by 0, not skipped by a branch:
        // diverging lanes would have to reconverge before the next product.
        Value from = b.add(copy.place, placeIn(operand, dims.k, atK));
        if (condition)
          from = b.create<arith::SelectOp>(condition, from, b.index(0));
        if (isCopied(operand)) {
          Value bytes = dims.isAlongK(operand)
                            ? bytesOfChunk(atK, matrix.dims.k)
                            : bytesOfChunk(copy.inSide, dims.extentOf(operand));
          if (condition)
            bytes = b.create<arith::SelectOp>(condition, bytes, ptx.i32(0));
          ptx.beginCopy(ptx.addressOf(start, to, matrix.elementBytes),
                        ptx.globalAddressOf(memory, from, matrix.elementBytes),
                        bytes);
          continue;
        }
        Value element = b.create<memref::LoadOp>(memory, from);
        if (condition) {
          Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(type));
          element = b.create<arith::SelectOp>(condition, element, zero);
        }
        b.create<memref::StoreOp>(element, shared, to);
      }
  }

  /// Begins to refill a stage that no warp reads any more, as a group.
  void beginLater(Value step) {
    Value later = b.add(step, ahead());
    Value isOne = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, later,
                                          b.index(steps()));
    {
      OpBuilder::InsertionGuard guard(b);
      enterWhere(isOne);
      beginStage(later, b.rem(later, matrix.stages));
    }
    ptx.commitCopies();
  }

  //===-- Products --------------------------------------------------------===//

  /// Loads the registers of 16 elements of m or n of an operand, from `side`
  /// on, by fragmentK() elements of k, in four parts of 8 by half of k. The
  /// first two differ in m or n if `isSideFirst`, else in k.
  SmallVector<Value> loadFour(ContractionOperand operand, Value stage,
                              Value side, int64_t k, bool isSideFirst) {
    if (!type.isF32())
      return loadMatrices(operand, stage, side, k, isSideFirst);
    if (!dims.isAlongK(operand))
      return loadElements(operand, stage, side, k, isSideFirst);
    SmallVector<Value> rounded;
    for (Value bits : loadMatrices(operand, stage, side, k, isSideFirst))
      rounded.push_back(
          ptx.roundToTF32(b.create<arith::BitcastOp>(type, bits)));
    return rounded;
  }

  SmallVector<Value> loadMatrices(ContractionOperand operand, Value stage,
                                  Value side, int64_t k, bool isSideFirst) {
    // A lane has the address of row lane % 8 of matrix lane / 8.
    Value inEight = ptx.rem(lane, 8), first = ptx.rem(ptx.div(lane, 8), 2),
          second = ptx.div(lane, 16);
    if (!isSideFirst)
      std::swap(first, second);
    bool isAlongK = dims.isAlongK(operand);
    Value s = ptx.add(side, ptx.mul(first, 8)),
          d = ptx.mul(second, matrix.fragmentK() / 2);
    d = ptx.add(d, ptx.i32(k));
    (isAlongK ? s : d) = ptx.add(isAlongK ? s : d, inEight);
    Value row = isAlongK ? s : d, column = isAlongK ? d : s;
    int64_t bytes = matrix.elementBytes;
    Value chunk = placeOfChunk(ptx, operand, row, column);
    Value place = ptx.add(ptx.mul(row, bytes * rowElements(operand)),
                          ptx.mul(chunk, bytes * swizzledElements(operand)));
    place = ptx.add(place, ptx.i32(bytes * startInStage(operand)));
    Value address = ptx.addressOf(start, stage, bytes);
    return ptx.loadMatrices(ptx.add(address, place),
                            /*isTransposed=*/!isAlongK);
  }

  /// Loads f32 elements whose rows lie along m or n, which ldmatrix cannot
  /// transpose, and rounds them.
  SmallVector<Value> loadElements(ContractionOperand operand, Value stage,
                                  Value side, int64_t k, bool isSideFirst) {
    Value wideLane = ptx.index(lane);
    SmallVector<Value> rounded;
    for (int64_t part = 0; part < 4; ++part) {
      int64_t inSide = part % 2, inK = part / 2;
      if (!isSideFirst)
        std::swap(inSide, inK);
      Value row = b.add(b.rem(wideLane, 4), k + inK * matrix.fragmentK() / 2);
      Value column =
          b.add(b.add(ptx.index(side), b.div(wideLane, 4)), inSide * 8);
      Value place = b.add(stage, placeInStage(operand, row, column));
      rounded.push_back(
          ptx.roundToTF32(b.create<memref::LoadOp>(shared, place)));
    }
    return rounded;
  }

  SmallVector<Value> addProducts(Value stage, ValueRange before) {
    SmallVector<Value> sums(before);
    for (int64_t k = 0; k < matrix.bk; k += matrix.fragmentK()) {
      SmallVector<SmallVector<Value>> left, right;
      for (int64_t i = 0; i < rows(); ++i)
        left.push_back(loadFour(
            A, stage, ptx.add(warpM, ptx.i32(i * Matrix::kFragmentM)), k,
            /*isSideFirst=*/true));
      for (int64_t j = 0; j < columns(); j += 2) {
        SmallVector<Value> two = loadFour(
            B, stage, ptx.add(warpN, ptx.i32(j * Matrix::kFragmentN)), k,
            /*isSideFirst=*/false);
        right.push_back({two[0], two[1]});
        right.push_back({two[2], two[3]});
      }
      for (int64_t i = 0; i < rows(); ++i)
        for (int64_t j = 0; j < columns(); ++j) {
          auto *sum = sums.begin() + (i * columns() + j) * 4;
          SmallVector<Value> more = ptx.addProduct(
              format, left[i], right[j], ValueRange(ArrayRef(sum, 4)));
          std::copy(more.begin(), more.end(), sum);
        }
    }
    return sums;
  }

  //===-- Results ---------------------------------------------------------===//

  /// Stores row lane / 4, or lane / 4 + 8 if `half` is 1, of the fragments in
  /// row `i` of the warp's fragments.
  void storeRow(int64_t i, int64_t half, ArrayRef<Value> sums) {
    Value wideLane = ptx.index(lane);
    Value inTile = b.add(ptx.index(warpM), i * Matrix::kFragmentM + half * 8);
    Value m = b.add(b.add(firstM, inTile), b.div(wideLane, 4));
    OpBuilder::InsertionGuard guard(b);
    enterWhere(isInBounds(m, matrix.dims.m, matrix.bm));
    SmallVector<Value> places = placesOfRow(m);
    int64_t width = storesPairs() ? 2 : 1;
    for (int64_t j = 0; j < columns(); ++j) {
      Value n = b.add(b.add(firstN, ptx.index(warpN)), j * Matrix::kFragmentN);
      n = b.add(n, mul(b.rem(wideLane, 4), 2));
      auto pair = sums.slice((i * columns() + j) * 4 + half * 2, 2);
      for (int64_t e = 0; e < 2; e += width) {
        OpBuilder::InsertionGuard guard(b);
        Value at = b.add(n, e);
        enterWhere(isInBounds(at, matrix.dims.n, matrix.bn));
        store(places, at, pair.slice(e, width));
      }
    }
  }

  MatrixSchedule matrix;
  Type type;        ///< of the operands
  FloatType format; ///< in which they are multiplied
  PtxBuilder ptx;
  Value thread, lane, warpM, warpN;
  Value shared, start; ///< the stages, and their address
  std::array<SmallVector<Copy>, 2> copies;
};
} // namespace

std::optional<KernelShape> netc::emitMatrices(linalg::LinalgOp op,
                                              linalg::FillOp fill,
                                              const DeviceInfo &device) {
  std::optional<MatrixSchedule> matrix = matrixScheduleOf(op, device);
  if (!matrix)
    return std::nullopt;
  KernelShape shape{matrix->blocks() * matrix->threads(), matrix->threads()};
  MatrixEmitter(op, fill, *matrix).emit();
  return shape;
}
