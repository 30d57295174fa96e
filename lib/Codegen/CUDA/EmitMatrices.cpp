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

/// The rows of which a thread may load operands before it stores the first.
static constexpr int64_t kRowsInFlight = 8;

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
    memory = sharedBuffer(b, "stages", b.getI8Type(), matrix.sharedBytes(),
                          /*alignment=*/matrix.isByWarpgroups() ? 1024 : 16);
    shared = sharedAs(type);
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
    storeResults(sums);
    finish();
  }

private:
  /// The fragments of a warp.
  int64_t rows() const { return matrix.rows() / Matrix::kFragmentM; }
  int64_t columns() const { return matrix.columns() / Matrix::kFragmentN; }

  /// The shared memory as elements of a type.
  Value sharedAs(Type element) {
    int64_t count = matrix.sharedBytes() * 8 / element.getIntOrFloatBitWidth();
    MemRefType elements =
        MemRefType::Builder(cast<MemRefType>(memory.getType()))
            .setElementType(element)
            .setShape(count);
    return b.create<memref::ViewOp>(elements, memory, b.index(0), ValueRange());
  }

  //===-- Stages ----------------------------------------------------------===//

  int64_t steps() const { return matrix.steps(); }
  /// How many stages are copied before they are computed with: all, if none is
  /// refilled. Warpgroups may still read the stage before the last one.
  int64_t ahead() const {
    if (!matrix.isByWarpgroups())
      return matrix.stages - 1;
    return matrix.stages < MatrixSchedule::kFewestRefilled ? steps()
                                                           : matrix.stages - 2;
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
  /// of them. Both addresses follow from places, but LLVM does not move
  /// them out of the loop over steps: a tenth of its instructions.
  struct Copy {
    Value place;     ///< in the operand, without that along k
    Value address;   ///< of that place
    Value inK;       ///< from the first k of the stage, of 32 bits
    Value inSide;    ///< its first m or n
    Value inStage;   ///< in the stage, in elements
    Value to;        ///< the address of that in the first stage
    Value condition; ///< whether it is in bounds; null if always
  };

  /// The elements of a row that a warp reads together: those of a row of
  /// ldmatrix, or of the eight columns of a fragment.
  int64_t swizzledElements(ContractionOperand operand) const {
    return dims.isAlongK(operand) ? matrix.chunk() : 8;
  }

  /// The place of a chunk in its row. `numbers` computes with numbers of the
  /// type of both.
  template <typename Numbers>
  Value swizzled(Numbers &numbers, Swizzle swizzle, Value row, Value chunk) {
    Value by = numbers.rem(numbers.div(row, int64_t(1) << swizzle.shift),
                           swizzle.mask + 1);
    return b.create<arith::XOrIOp>(chunk, by);
  }

  /// The place of the chunk of a row that holds `column`.
  template <typename Numbers>
  Value placeOfChunk(Numbers &numbers, ContractionOperand operand, Value row,
                     Value column) {
    int64_t elements = swizzledElements(operand);
    Swizzle swizzle = Swizzle::of(panelElements(operand) / elements,
                                  elements * matrix.elementBytes);
    return swizzled(numbers, swizzle, row, numbers.div(column, elements));
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
      copy.inK = ptx.i32(isAlongK ? column : row);
      copy.place = b.add(bases[operand],
                         placeIn(operand, dims.sideOf(operand), copy.inSide));
      copy.address = ptx.globalAddressOf(b.flat(dims.operands[operand]),
                                         copy.place, matrix.elementBytes);
      copy.condition =
          isInBounds(copy.inSide, dims.extentOf(operand), sideOfTile(operand));
      copy.inStage = placeInStage(operand, row, column);
      copy.to = ptx.addressOf(start, copy.inStage, matrix.elementBytes);
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

  /// Begins to copy to a stage what a step sums up. What follows from k is
  /// computed with 32 bits, which divide in a few instructions: a warp may take
  /// longer to find its chunks than the products take.
  void beginStage(Value step, Value stage) {
    Value k = ptx.mul(ptx.i32(step), matrix.bk);
    Value first = mul(stage, matrix.stageElements());
    Value firstByte =
        ptx.mul(ptx.i32(stage), matrix.stageElements() * matrix.elementBytes);
    for (ContractionOperand operand : {A, B})
      for (const Copy &copy : copies[operand]) {
        Value atK = ptx.add(k, copy.inK);
        Value condition =
            both(copy.condition,
                 isInBounds(ptx.index(atK), matrix.dims.k, matrix.bk));
        Value memory = b.flat(dims.operands[operand]);
        Value alongK = placeIn(ptx, operand, dims.k, atK);
        // An address out of bounds is replaced by the first one, not skipped by
        // a branch: diverging lanes would have to reconverge before the next
        // product.
        if (isCopied(operand)) {
          Value from =
              ptx.globalAddressOf(copy.address, alongK, matrix.elementBytes);
          Value bytes = dims.isAlongK(operand)
                            ? bytesOfChunk(ptx.index(atK), matrix.dims.k)
                            : bytesOfChunk(copy.inSide, dims.extentOf(operand));
          if (condition) {
            Value none =
                ptx.globalAddressOf(memory, b.index(0), matrix.elementBytes);
            from = b.create<arith::SelectOp>(condition, from, none);
            bytes = b.create<arith::SelectOp>(condition, bytes, ptx.i32(0));
          }
          ptx.beginCopy(ptx.add(copy.to, firstByte), from, bytes);
          continue;
        }
        Value from = b.add(copy.place, alongK);
        if (condition)
          from = b.create<arith::SelectOp>(condition, from, b.index(0));
        Value to = b.add(first, copy.inStage);
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

  void storeResults(ArrayRef<Value> sums) {
    if (!isStaged())
      return storeFragments(sums);
    staged = sharedAs(b.getF32Type());
    for (int64_t from = 0; from < matrix.rows(); from += matrix.stagedRows()) {
      // No warp reads what lies there any more.
      b.create<NVVM::Barrier0Op>();
      stage(sums, from);
      b.create<NVVM::Barrier0Op>();
      storeStaged(from);
    }
  }

  /// A lane has two adjacent columns of a fragment from this row and column on,
  /// and those of the row 8 rows behind.
  Value rowOfLane() { return b.div(ptx.index(lane), 4); }
  Value columnOfLane() { return mul(b.rem(ptx.index(lane), 4), 2); }
  /// The sums of this lane in the fragment that is so many rows and columns
  /// behind the warp's first one.
  ArrayRef<Value> pairOf(ArrayRef<Value> sums, int64_t row, int64_t column) {
    int64_t fragment =
        row / Matrix::kFragmentM * columns() + column / Matrix::kFragmentN;
    return sums.slice(fragment * 4 + row % Matrix::kFragmentM / 8 * 2, 2);
  }

  /// Calls `body` with the places of row `m`, if there is one.
  void inRow(Value m, function_ref<void(ArrayRef<Value>)> body) {
    OpBuilder::InsertionGuard guard(b);
    enterWhere(isInBounds(m, matrix.dims.m, matrix.bm));
    body(placesOfRow(m));
  }
  void storeInRow(ArrayRef<Value> places, Value n, ArrayRef<Value> sums) {
    OpBuilder::InsertionGuard guard(b);
    enterWhere(isInBounds(n, matrix.dims.n, matrix.bn));
    store(places, n, sums);
  }

  void storeFragments(ArrayRef<Value> sums) {
    Value warpRow = b.add(firstM, ptx.index(warpM)),
          warpColumn = b.add(firstN, ptx.index(warpN));
    for (int64_t row = 0; row < matrix.rows(); row += 8) {
      Value m = b.add(b.add(warpRow, row), rowOfLane());
      inRow(m, [&](ArrayRef<Value> places) {
        for (int64_t column = 0; column < matrix.columns();
             column += Matrix::kFragmentN)
          storeInRow(places, b.add(b.add(warpColumn, column), columnOfLane()),
                     pairOf(sums, row, column));
      });
    }
  }

  /// The place in shared memory of the sum that is `rows` rows and `columns`
  /// columns behind another one. Chunks of eight sums are swizzled, so that the
  /// lanes of a warp write pairs to different banks; the halves of every second
  /// 128 bytes change places, so that they read the first half of each chunk
  /// from different banks.
  Value placeOfSum(Value row, int64_t rows, Value column, int64_t columns) {
    constexpr int64_t chunk = Matrix::kFragmentN, half = chunk / 2,
                      chunksOfBanks = 128 / 4 / chunk;
    // From there on, the same again.
    constexpr int64_t sameRows = 8, sameColumns = 64;
    row = b.add(row, rows % sameRows);
    column = b.add(column, columns % sameColumns);
    Value number = swizzled(b, Swizzle::of(matrix.bn / chunk, chunk * 4), row,
                            b.div(column, chunk));
    number = b.add(mul(row, matrix.bn / chunk), number);
    Value inChunk = b.create<arith::XOrIOp>(
        b.rem(b.div(column, half), 2), b.rem(b.div(number, chunksOfBanks), 2));
    Value place = b.add(b.add(mul(number, chunk), mul(inChunk, half)),
                        b.rem(column, half));
    return b.add(place, (rows - rows % sameRows) * matrix.bn + columns -
                            columns % sameColumns);
  }

  /// Stages rows of each warp, from row `from` of its part on.
  void stage(ArrayRef<Value> sums, int64_t from) {
    Value warp = b.div(ptx.index(warpM), matrix.rows());
    Value firstRow = b.add(mul(warp, matrix.stagedRows()), rowOfLane());
    Value firstColumn = b.add(ptx.index(warpN), columnOfLane());
    for (int64_t row = 0; row < matrix.stagedRows(); row += 8)
      for (int64_t column = 0; column < matrix.columns();
           column += Matrix::kFragmentN)
        storeVector(b, pairOf(sums, from + row, column), staged,
                    placeOfSum(firstRow, row, firstColumn, column));
  }

  /// Stores these rows. Consecutive lanes store consecutive vectors.
  void storeStaged(int64_t from) {
    const int64_t width = storeWidth(), ofWarp = matrix.stagedRows(),
                  half = Matrix::kFragmentN / 2;
    const int64_t lanes = std::min<int64_t>(
        kWarpLanes, 1 << llvm::countr_zero(uint64_t(matrix.bn / width)));
    const int64_t rows = matrix.threads() / lanes, all = matrix.warpsM * ofWarp,
                  atOnce = std::min(kRowsInFlight * rows, all);
    Value firstRow = b.div(thread, lanes),
          firstColumn = mul(b.rem(thread, lanes), width);
    // Without a loop, too many rows would be in registers.
    b.forEach(all, atOnce, /*isParallel=*/false, [&](Value before) {
      for (int64_t i = 0; i < atOnce; i += rows) {
        Value row = b.add(b.add(firstRow, i), before);
        Value inPart = b.add(b.rem(row, ofWarp), from);
        Value m = b.add(mul(b.div(row, ofWarp), matrix.rows()), inPart);
        inRow(b.add(firstM, m), [&](ArrayRef<Value> places) {
          for (int64_t j = 0; j < matrix.bn; j += lanes * width) {
            SmallVector<Value> sums;
            for (int64_t e = 0; e < width; e += half) {
              Value place = b.add(placeOfSum(firstRow, i, firstColumn, j + e),
                                  mul(before, matrix.bn));
              llvm::append_range(
                  sums, loadVector(b, staged, place, std::min(width, half)));
            }
            storeInRow(places, b.add(b.add(firstN, j), firstColumn), sums);
          }
        });
      }
    });
  }

  MatrixSchedule matrix;
  Type type;        ///< of the operands
  FloatType format; ///< in which they are multiplied
  PtxBuilder ptx;
  Value thread, lane, warpM, warpN;
  Value memory;        ///< of the stages, then of the sums that are stored
  Value shared, start; ///< the stages, and their address
  Value staged;        ///< the sums
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
