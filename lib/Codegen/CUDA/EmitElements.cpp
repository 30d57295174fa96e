// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element-wise ops. A thread computes as many elements as 16 bytes of the
// widest large operand hold. An operand that is contiguous along another loop
// than the result goes through shared memory, so that accesses to both are
// coalesced.

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Codegen/CostBounds.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// Rows of a thread whose columns share operands, such as a mean per channel:
/// what is computed from these alone is computed once.
static constexpr int64_t kRowsAtOnce = 4;
/// Elements of a thread, if they lie apart.
static constexpr int64_t kElementsApart = 8;
/// Threads that a device can execute at once.
static constexpr int64_t kThreadsOfDevice = 132 * 2048;
/// The side and the elements of a tile in shared memory, and the threads of its
/// block.
static constexpr int64_t kTileSide = 32, kTileElements = 1024,
                         kTileThreads = 256;
/// Least extent of the loop along which an operand is contiguous for a tile to
/// pay.
static constexpr int64_t kMinTileSide = 4;

static int64_t bitsOf(Value operand) {
  Type element = getElementTypeOrSelf(operand.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

/// Whether an operand, such as a mean per channel, stays in a cache.
static bool isSmall(const LoopNest &nest, unsigned operand) {
  return nest.sizes[operand] * kCachedRatio <= nest.points();
}

namespace {
/// The loops of an element-wise op in the order of its first result, which is
/// contiguous along the last one.
struct ElementLoops {
  static std::optional<ElementLoops> of(linalg::LinalgOp op);

  const Loop &last() const { return nest.loops.back(); }
  /// The number of elements of a row, along the last loop, that a thread
  /// computes, and the number of rows.
  int64_t width() const;
  int64_t rows() const;
  /// Whether a thread computes several elements of a long row that do not
  /// start at multiples of 16 bytes: those with the same thread in consecutive
  /// blocks. So indices and what a row has in common are computed once.
  bool areApart() const;
  /// The loop along which an operand is contiguous, in either direction; none
  /// if it is along the last loop, or does not depend on that, or if the loop
  /// is too short for a tile.
  std::optional<unsigned> otherOrderOf(unsigned operand) const;

  linalg::LinalgOp op;
  LoopNest nest;
  unsigned inputs;
};

/// Emits the payload of an op in given iterations of its loops.
class ElementBuilder {
public:
  ElementBuilder(const ElementLoops &loops)
      : loops(loops), op(loops.op), b(op) {}

  /// The offset of an operand in these iterations of the loops, in elements.
  Value offsetOf(unsigned operand, ArrayRef<Value> ivs) {
    return netc::offsetOf(b, loops.nest, operand, ivs);
  }
  bool isMemory(unsigned operand) {
    return isa<MemRefType>(b.flat(operand).getType());
  }
  Value load(unsigned operand, Value place) {
    return b.create<memref::LoadOp>(b.flat(operand), place);
  }

  /// The results of the payload for these elements of the operands; null ones
  /// are not read.
  SmallVector<Value> payload(ArrayRef<Value> elements, ArrayRef<Value> ivs);
  bool isRead(unsigned operand) {
    return !op.getMatchingBlockArgument(&op->getOpOperand(operand)).use_empty();
  }

  const ElementLoops &loops;
  linalg::LinalgOp op;
  NestBuilder b;
};
} // namespace

std::optional<ElementLoops> ElementLoops::of(linalg::LinalgOp op) {
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest || op.getNumReductionLoops() != 0 || nest->points() == 0)
    return std::nullopt;
  if (!op.hasIndexSemantics())
    nest->collapse();
  unsigned inputs = op.getNumDpsInputs();
  for (unsigned operand = inputs; operand < nest->numOperands; ++operand) {
    // No two threads may write the same element.
    bool isOwn = llvm::all_of(nest->loops, [&](const Loop &loop) {
      return loop.extent == 1 || loop.strides[operand] != 0;
    });
    if (!isOwn || !isa<MemRefType>(op->getOperand(operand).getType()))
      return std::nullopt;
  }
  llvm::stable_sort(nest->loops, [=](const Loop &a, const Loop &b) {
    bool isAPoint = a.extent == 1, isBPoint = b.extent == 1;
    if (isAPoint != isBPoint)
      return isAPoint;
    return std::abs(a.strides[inputs]) > std::abs(b.strides[inputs]);
  });
  if (nest->loops.empty() || nest->loops.back().strides[inputs] != 1)
    return std::nullopt;
  return ElementLoops{op, std::move(*nest), inputs};
}

int64_t ElementLoops::width() const {
  bool isOneLoop =
      llvm::all_of(ArrayRef(nest.loops).drop_back(),
                   [](const Loop &loop) { return loop.extent == 1; });
  // If an operand were accessed element by element, its accesses would not be
  // coalesced.
  int64_t width = widthOf(op, nest, nest.numOperands, nest.loops.size() - 1,
                          /*isWhole=*/!isOneLoop);
  // Two accesses to adjacent 16 bytes each half fill sectors. That pays only if
  // small operands are not most of what a thread reads.
  int64_t small = 0, large = 0, widest = 0;
  for (unsigned operand = 0; operand < nest.numOperands; ++operand) {
    if (last().strides[operand] != 1)
      continue;
    int64_t bits = bitsOf(op->getOperand(operand));
    if (!isSmall(nest, operand)) {
      large += bits;
      continue;
    }
    small += bits;
    widest = std::max(widest, bits);
  }
  return small > large ? std::min(width, kAccessBytes * 8 / widest) : width;
}

int64_t ElementLoops::rows() const {
  if (nest.loops.size() < 2)
    return 1;
  const Loop &outer = nest.loops.end()[-2];
  bool sharesColumns =
      llvm::any_of(llvm::seq<unsigned>(0, inputs), [&](unsigned operand) {
        return last().strides[operand] != 0 && outer.strides[operand] == 0;
      });
  // Fewer threads would not hide the latency of memory.
  bool isLarge = nest.points() / width() / kRowsAtOnce >= kThreadsOfDevice;
  return sharesColumns && isLarge && outer.extent % kRowsAtOnce == 0
             ? kRowsAtOnce
             : 1;
}

bool ElementLoops::areApart() const {
  return width() == 1 && last().extent >= kElementsApart * kBlockThreads &&
         llvm::all_of(last().strides, [](int64_t stride) {
           return stride == 0 || stride == 1;
         });
}

std::optional<unsigned> ElementLoops::otherOrderOf(unsigned operand) const {
  if (std::abs(last().strides[operand]) <= 1)
    return std::nullopt;
  for (auto [number, loop] : llvm::enumerate(nest.loops))
    if (std::abs(loop.strides[operand]) == 1 && loop.extent >= kMinTileSide)
      return unsigned(number);
  return std::nullopt;
}

SmallVector<Value> ElementBuilder::payload(ArrayRef<Value> elements,
                                           ArrayRef<Value> ivs) {
  Block &body = op->getRegion(0).front();
  IRMapping values;
  for (OpOperand &operand : op->getOpOperands())
    if (Value element = elements[operand.getOperandNumber()])
      values.map(op.getMatchingBlockArgument(&operand), element);
  for (Operation &payload : body.without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(payload);
    if (!index) {
      b.clone(payload, values);
      continue;
    }
    // An op with linalg.index has loops that are not collapsed.
    for (auto [loop, iv] : llvm::zip_equal(loops.nest.loops, ivs))
      if (loop.dims.front().first == index.getDim())
        values.map(index.getResult(), iv);
  }
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value result) { return values.lookupOrDefault(result); });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {
class VectorCode : ElementBuilder {
  using Elements = SmallVector<SmallVector<Value>>; ///< by element and operand

public:
  VectorCode(const ElementLoops &loops)
      : ElementBuilder(loops), width(loops.width()), rows(loops.rows()) {}

  KernelShape emit() {
    if (loops.areApart())
      return emitApart();
    int64_t extent = loops.last().extent,
            groups = llvm::divideCeil(extent, width);
    Value thread = threadIndex(b);
    int64_t threads = groups;
    for (size_t loop = 0; loop + 1 < loops.nest.loops.size(); ++loop)
      threads *= stepsOf(loop);
    enter(thread, threads);
    Value group = findRow(thread, groups);
    ivs.back() = b.scaled(group, width);
    if (extent % width == 0) {
      elements(width);
    } else {
      // The last thread has fewer elements.
      Value isWhole = b.create<arith::CmpIOp>(
          arith::CmpIPredicate::ule, ivs.back(), b.index(extent - width));
      auto branch = b.create<scf::IfOp>(isWhole, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
      elements(width);
      b.setInsertionPointToStart(branch.elseBlock());
      for (int64_t rest = extent % width; rest > 0; --rest) {
        elements(1);
        ivs.back() = b.add(ivs.back(), 1);
      }
    }
    op.erase();
    return {threads};
  }

private:
  /// The threads along a loop other than the last one.
  int64_t stepsOf(size_t loop) const {
    bool isOfRows = loop + 2 == loops.nest.loops.size();
    return loops.nest.loops[loop].extent / (isOfRows ? rows : 1);
  }

  /// Sets the induction variables of all loops but the last from the number of
  /// a group of elements, and returns its number in its row of `groups`.
  Value findRow(Value number, int64_t groups) {
    ivs.resize(loops.nest.loops.size());
    Value group = b.rem(number, groups), rest = b.div(number, groups);
    for (size_t loop = ivs.size() - 1; loop-- > 0;) {
      ivs[loop] = b.rem(rest, stepsOf(loop));
      rest = b.div(rest, stepsOf(loop));
    }
    if (rows > 1)
      ivs.end()[-2] = b.scaled(ivs.end()[-2], rows);
    return group;
  }

  /// A block has kElementsApart * kBlockThreads elements of a row.
  KernelShape emitApart() {
    rows = 1;
    distance = kBlockThreads;
    int64_t extent = loops.last().extent;
    int64_t ofBlock = kElementsApart * kBlockThreads;
    int64_t ofRow = llvm::divideCeil(extent, ofBlock);
    Value group = findRow(indexIn<NVVM::BlockIdXOp>(b), ofRow);
    Value first =
        b.add(b.scaled(group, ofBlock), indexIn<NVVM::ThreadIdXOp>(b));
    ivs.back() = first;
    if (extent % ofBlock == 0) {
      elements(kElementsApart);
    } else {
      Value isWhole = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, group,
                                              b.index(extent / ofBlock));
      auto branch = b.create<scf::IfOp>(isWhole, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
      elements(kElementsApart);
      b.setInsertionPointToStart(branch.elseBlock());
      auto rest =
          b.create<scf::ForOp>(first, b.index(extent), b.index(kBlockThreads));
      b.setInsertionPointToStart(rest.getBody());
      ivs.back() = rest.getInductionVar();
      elements(1);
    }
    op.erase();
    int64_t blocks = ofRow;
    for (const Loop &loop : ArrayRef(loops.nest.loops).drop_back())
      blocks *= loop.extent;
    return {blocks * kBlockThreads};
  }

  void enter(Value thread, int64_t threads) {
    if (threads % kBlockThreads == 0)
      return;
    Value isOne = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, thread,
                                          b.index(threads));
    auto guard = b.create<scf::IfOp>(isOne, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }

  /// Computes `count` elements of each row, `distance` apart, starting with
  /// that of `ivs`. All rows are loaded first.
  void elements(int64_t count) {
    unsigned operands = loops.nest.numOperands;
    SmallVector<SmallVector<Value>> starts(rows, ivs);
    for (int64_t row = 1; row < rows; ++row)
      starts[row].end()[-2] = b.add(ivs.end()[-2], row);
    SmallVector<Elements> inputs(rows,
                                 Elements(count, SmallVector<Value>(operands)));
    for (int64_t row = 0; row < rows; ++row)
      for (unsigned operand = 0; operand < operands; ++operand)
        if (isRead(operand))
          read(operand, starts[row], inputs[row]);
    for (int64_t row = 0; row < rows; ++row) {
      Elements results;
      for (int64_t i = 0; i < count; ++i) {
        SmallVector<Value> at = starts[row];
        at.back() = b.add(at.back(), i * distance);
        results.push_back(payload(inputs[row][i], at));
      }
      for (unsigned operand = loops.inputs; operand < operands; ++operand)
        write(operand, starts[row], results);
    }
  }

  void read(unsigned operand, ArrayRef<Value> start, Elements &inputs) {
    size_t last = loops.nest.loops.size() - 1;
    Value place = isMemory(operand) ? offsetOf(operand, start) : Value();
    if (distance > 1 && loops.last().strides[operand] != 0) {
      for (auto [i, elements] : llvm::enumerate(inputs))
        elements[operand] = load(operand, b.add(place, int64_t(i) * distance));
      return;
    }
    for (auto [elements, element] :
         llvm::zip_equal(inputs, loadElements(b, op, loops.nest, operand, last,
                                              int64_t(inputs.size()), place)))
      elements[operand] = element;
  }

  void write(unsigned operand, ArrayRef<Value> start, const Elements &results) {
    SmallVector<Value> elements;
    for (ArrayRef<Value> result : results)
      elements.push_back(result[operand - loops.inputs]);
    Value place = offsetOf(operand, start);
    if (distance == 1)
      return storeElements(b, op, loops.nest, operand,
                           loops.nest.loops.size() - 1, place, elements);
    int64_t stride = loops.last().strides[operand] * distance;
    for (auto [i, element] : llvm::enumerate(elements))
      b.create<memref::StoreOp>(element, b.flat(operand),
                                b.add(place, int64_t(i) * stride));
  }

  int64_t width, rows, distance = 1;
  SmallVector<Value> ivs; ///< of the first element
};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A block computes a tile: `rows` iterations of the loop `rowLoop` by
/// `columns` iterations of the last loop. Operands that are contiguous along
/// `rowLoop` are copied to shared memory first.
class TileCode : ElementBuilder {
public:
  TileCode(const ElementLoops &loops, unsigned rowLoop)
      : ElementBuilder(loops), rowLoop(rowLoop) {
    int64_t rowExtent = loops.nest.loops[rowLoop].extent;
    int64_t columnExtent = loops.last().extent;
    // If one loop is short, the tile is longer along the other one.
    rows = columnExtent < kTileSide ? kTileElements / columnExtent : kTileSide;
    columns = rowExtent < kTileSide ? kTileElements / rowExtent : kTileSide;
    rows = std::min(rows, rowExtent);
    columns = std::min(columns, columnExtent);
  }

  KernelShape emit() {
    int64_t tilesOfRows = llvm::divideCeil(extentOfRows(), rows);
    int64_t tilesOfColumns = llvm::divideCeil(loops.last().extent, columns);
    int64_t blocks = tilesOfRows * tilesOfColumns;
    Value block = indexIn<NVVM::BlockIdXOp>(b);
    thread = indexIn<NVVM::ThreadIdXOp>(b);
    ivs.resize(loops.nest.loops.size());
    firstColumn = b.scaled(b.rem(block, tilesOfColumns), columns);
    Value rest = b.div(block, tilesOfColumns);
    firstRow = b.scaled(b.rem(rest, tilesOfRows), rows);
    rest = b.div(rest, tilesOfRows);
    for (size_t loop = ivs.size() - 1; loop-- > 0;) {
      if (loop == rowLoop)
        continue;
      int64_t extent = loops.nest.loops[loop].extent;
      ivs[loop] = b.rem(rest, extent);
      rest = b.div(rest, extent);
      blocks *= extent;
    }
    SmallVector<Value> tiles(loops.nest.numOperands);
    for (unsigned operand = 0; operand < loops.inputs; ++operand)
      if (isRead(operand) && loops.otherOrderOf(operand) == rowLoop)
        tiles[operand] = buffer(operand);
    forPoints(/*isAlongRows=*/true, [&](Value inShared) {
      for (auto [operand, tile] : llvm::enumerate(tiles))
        if (tile)
          b.create<memref::StoreOp>(load(operand, offsetOf(operand, ivs)), tile,
                                    inShared);
    });
    b.create<NVVM::Barrier0Op>();
    forPoints(/*isAlongRows=*/false, [&](Value inShared) {
      SmallVector<Value> elements(loops.nest.numOperands);
      for (unsigned operand = 0; operand < elements.size(); ++operand) {
        if (!isRead(operand))
          continue;
        if (tiles[operand])
          elements[operand] =
              b.create<memref::LoadOp>(tiles[operand], inShared);
        else
          elements[operand] = isMemory(operand)
                                  ? load(operand, offsetOf(operand, ivs))
                                  : b.flat(operand);
      }
      for (auto [number, result] : llvm::enumerate(payload(elements, ivs))) {
        unsigned operand = loops.inputs + number;
        b.create<memref::StoreOp>(result, b.flat(operand),
                                  offsetOf(operand, ivs));
      }
    });
    op.erase();
    return {blocks * kTileThreads, kTileThreads};
  }

private:
  int64_t extentOfRows() const { return loops.nest.loops[rowLoop].extent; }

  /// A tile in shared memory, contiguous along the rows. One element of padding
  /// puts consecutive columns into different banks.
  Value buffer(unsigned operand) {
    Type element = getElementTypeOrSelf(op->getOperand(operand).getType());
    return sharedBuffer(b, "square_" + std::to_string(operand), element,
                        columns * (rows + 1));
  }

  /// Calls `body` for each element of the tile that the thread handles, with
  /// `ivs` set, and with the offset of the element in shared memory.
  void forPoints(bool isAlongRows, function_ref<void(Value)> body) {
    int64_t inner = isAlongRows ? rows : columns;
    for (int64_t i = 0; i < rows * columns; i += kTileThreads) {
      Value point = b.add(thread, i);
      Value first = b.rem(point, inner), second = b.div(point, inner);
      Value row = isAlongRows ? first : second,
            column = isAlongRows ? second : first;
      ivs[rowLoop] = b.add(firstRow, row);
      ivs.back() = b.add(firstColumn, column);
      Value condition;
      auto require = [&](bool isNeeded, Value at, int64_t end) {
        if (!isNeeded)
          return;
        Value here = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, at,
                                             b.index(end));
        condition = condition ? b.create<arith::AndIOp>(condition, here) : here;
      };
      require(i + kTileThreads > rows * columns, point, rows * columns);
      require(extentOfRows() % rows != 0, ivs[rowLoop], extentOfRows());
      require(loops.last().extent % columns != 0, ivs.back(),
              loops.last().extent);
      OpBuilder::InsertionGuard guard(b);
      if (condition) {
        auto branch = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      body(b.add(b.scaled(column, rows + 1), row));
    }
  }

  unsigned rowLoop;
  int64_t rows, columns;
  Value thread, firstRow, firstColumn;
  SmallVector<Value> ivs;
};
} // namespace

int64_t netc::alignmentOf(Value memory) {
  // A kernel's argument is the first field of the descriptor that
  // OutlineKernels builds.
  if (auto cast = memory.getDefiningOp<UnrealizedConversionCastOp>())
    memory = cast.getInputs()[0];
  while (auto field = memory.getDefiningOp<LLVM::InsertValueOp>())
    memory = field.getPosition() == ArrayRef<int64_t>{0} ? field.getValue()
                                                         : field.getContainer();
  auto argument = dyn_cast<BlockArgument>(memory);
  auto kernel = argument
                    ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                    : func::FuncOp();
  auto known = kernel ? kernel.getArgAttrOfType<IntegerAttr>(
                            argument.getArgNumber(),
                            LLVM::LLVMDialect::getAlignAttrName())
                      : IntegerAttr();
  return known ? known.getInt() : 1;
}

bool netc::isAligned(Value memory, unsigned operand, int64_t start,
                     ArrayRef<ArrayRef<Loop>> loops, const Loop &along,
                     int64_t elements) {
  int64_t bits = bitsOf(memory);
  int64_t bytes = std::min(elements * bits / 8, kAccessBytes);
  auto isMultiple = [=](int64_t offset) {
    return offset * bits / 8 % bytes == 0;
  };
  return bits % 8 == 0 && along.strides[operand] == 1 &&
         alignmentOf(memory) % bytes == 0 && isMultiple(start) &&
         llvm::all_of(loops, [&](ArrayRef<Loop> some) {
           return llvm::all_of(some, [&](const Loop &loop) {
             return &loop == &along || loop.extent == 1 ||
                    isMultiple(loop.strides[operand]);
           });
         });
}

bool netc::isVectorAccess(linalg::LinalgOp op, const LoopNest &nest,
                          unsigned operand, size_t along, int64_t width) {
  Value memory = op->getOperand(operand);
  return width > 1 && isAligned(memory, operand, nest.starts[operand],
                                {nest.loops}, nest.loops[along], width);
}

int64_t netc::widthOf(linalg::LinalgOp op, const LoopNest &nest,
                      unsigned operands, size_t along, bool isWhole) {
  const Loop &loop = nest.loops[along];
  // At most 8 elements, even if all operands have elements of a byte. Buffers
  // of the kernel stay in registers.
  auto isKept = [&](unsigned operand) {
    return loop.strides[operand] == 0 ||
           op->getOperand(operand).getDefiningOp<memref::AllocOp>();
  };
  int64_t widest = 16;
  for (unsigned operand = 0; operand < operands; ++operand)
    if (!isKept(operand) && loop.strides[operand] == 1 &&
        !isSmall(nest, operand))
      widest = std::max(widest, bitsOf(op->getOperand(operand)));
  for (int64_t width = kAccessBytes * 8 / widest; width > 1; width /= 2) {
    bool isDivided = isWhole ? loop.extent % width == 0 : loop.extent >= width;
    if (isDivided &&
        llvm::all_of(llvm::seq<unsigned>(0, operands), [&](unsigned operand) {
          return isKept(operand) ||
                 isVectorAccess(op, nest, operand, along, width);
        }))
      return width;
  }
  return 1;
}

SmallVector<Value> netc::loadVector(ImplicitLocOpBuilder &b, Value memory,
                                    Value at, int64_t count) {
  if (count == 1)
    return {b.create<memref::LoadOp>(memory, at)};
  auto type = VectorType::get({count}, getElementTypeOrSelf(memory));
  Value vector = b.create<vector::LoadOp>(type, memory, at);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(b.create<vector::ExtractOp>(vector, i));
  return elements;
}

void netc::storeVector(ImplicitLocOpBuilder &b, ArrayRef<Value> elements,
                       Value memory, Value at) {
  if (elements.size() == 1) {
    b.create<memref::StoreOp>(elements[0], memory, at);
    return;
  }
  auto type =
      VectorType::get({int64_t(elements.size())}, elements[0].getType());
  Value vector = b.create<vector::FromElementsOp>(type, elements);
  b.create<vector::StoreOp>(vector, memory, at);
}

SmallVector<Value> netc::loadElements(NestBuilder &b, linalg::LinalgOp op,
                                      const LoopNest &nest, unsigned operand,
                                      size_t along, int64_t width,
                                      Value place) {
  Value memory = b.flat(operand);
  if (!isa<MemRefType>(memory.getType()))
    return SmallVector<Value>(width, memory);
  int64_t stride = nest.loops[along].strides[operand];
  if (isVectorAccess(op, nest, operand, along, width))
    return loadVector(b, memory, place, width);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(
        i > 0 && stride == 0
            ? elements.front()
            : b.create<memref::LoadOp>(memory, b.add(place, i * stride)));
  return elements;
}

void netc::storeElements(NestBuilder &b, linalg::LinalgOp op,
                         const LoopNest &nest, unsigned operand, size_t along,
                         Value place, ArrayRef<Value> elements) {
  Value memory = b.flat(operand);
  if (isVectorAccess(op, nest, operand, along, elements.size()))
    return storeVector(b, elements, memory, place);
  int64_t stride = nest.loops[along].strides[operand];
  for (auto [i, element] : llvm::enumerate(elements))
    b.create<memref::StoreOp>(element, memory,
                              b.add(place, int64_t(i) * stride));
}

Value netc::offsetOf(NestBuilder &b, const LoopNest &nest, unsigned operand,
                     ArrayRef<Value> ivs) {
  Value place = b.index(nest.starts[operand]);
  for (auto [loop, iv] : llvm::zip_equal(nest.loops, ivs))
    if (loop.strides[operand] != 0)
      place = b.add(place, b.scaled(iv, loop.strides[operand]));
  return place;
}

Value netc::sharedBuffer(ImplicitLocOpBuilder &b, const Twine &name,
                         Type element, int64_t size, int64_t alignment) {
  auto kernel = b.getBlock()->getParent()->getParentOfType<func::FuncOp>();
  auto memory = MemRefType::get({size}, element, AffineMap(),
                                b.getI64IntegerAttr(kSharedSpace));
  OpBuilder top(kernel);
  std::string unique = (kernel.getName() + "_" + name).str();
  int64_t bytes = size * element.getIntOrFloatBitWidth() / 8;
  bool isDynamic = bytes > DeviceInfo::kStaticSharedBytes;
  // Dynamic shared memory is an external variable without a size.
  MemRefType variable = memory;
  if (isDynamic)
    variable = MemRefType::Builder(memory).setShape({0});
  top.create<memref::GlobalOp>(
      b.getLoc(), unique, top.getStringAttr(isDynamic ? "public" : "private"),
      variable, isDynamic ? Attribute() : top.getUnitAttr(),
      /*constant=*/false, top.getI64IntegerAttr(alignment));
  Value buffer = b.create<memref::GetGlobalOp>(variable, unique);
  if (!isDynamic)
    return buffer;
  kernel->setAttr(kSharedBytes, top.getI64IntegerAttr(bytes));
  return b.create<memref::ReinterpretCastOp>(
      memory, buffer, /*offset=*/int64_t(0), ArrayRef<int64_t>(size),
      ArrayRef<int64_t>(1));
}

std::optional<KernelShape> netc::emitElements(linalg::LinalgOp op) {
  std::optional<ElementLoops> loops = ElementLoops::of(op);
  if (!loops)
    return std::nullopt;
  // If several operands are contiguous along other loops, the largest one
  // decides.
  std::optional<unsigned> rows;
  int64_t most = 0;
  for (unsigned operand = 0; operand < loops->inputs; ++operand)
    if (auto other = loops->otherOrderOf(operand);
        other && loops->nest.sizes[operand] > most) {
      rows = other;
      most = loops->nest.sizes[operand];
    }
  if (rows && loops->last().extent > 1)
    return TileCode(*loops, *rows).emit();
  return VectorCode(*loops).emit();
}
