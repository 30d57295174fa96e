// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of products: C[m, n] += A[m, k] B[k, n], where m, n and k stand for any
// number of loops each, and batches may be around them. A tile of C is held in
// registers while k runs: rows are elements of A, broadcast, columns are
// vectors of B. What a convolution, a matrix product or their gradients are
// differs by strides only.

#include "lib/Codegen/ContractionRoles.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace netc;
using namespace mlir;

/// FLOP that are worth waking other threads for.
static constexpr int64_t kParallelFlop = 1 << 17;
/// Elements of B that a block of k may touch for the columns of one tile, so
/// that they stay in the first level of the cache, with room for what passes.
static constexpr int64_t kPanelElements = 8 << 10;
/// From how many elements on the rows of B count as scattered, and for how many
/// tiles of rows a copy of them pays.
static constexpr int64_t kScattered = 256, kPackTiles = 2;
/// Elements of a copy: a thread's stack holds a few MB.
static constexpr int64_t kMostOnStack = 256 << 10;
/// For how many tiles of columns a copy of a block of A pays: of rows that lie
/// next to each other, and of others.
static constexpr int64_t kPackColumns = 8, kPackRowColumns = 16;
/// Elements of A that a block of rows may touch, so that they stay in the
/// second level: one of many blocks, of which threads take their own, or one
/// that all of them read, each for its own columns.
static constexpr int64_t kBlockElements = 96 << 10;
static constexpr int64_t kSharedElements = 192 << 10;
/// From how many tiles of columns on threads take these, so that each copies
/// its own part of B only; and where there are but few tiles of rows.
static constexpr int64_t kSharedColumns = 16, kFewColumns = 4, kFewRows = 32;
/// How many tiles of rows are so few that one more or less for a thread tells.
static constexpr int64_t kFewTiles = 16;
/// Of B that is read once, how many of its rows side by side, and from how many
/// columns of a thread on that pays.
static constexpr int64_t kStreamTurns = 8, kStreamColumns = 256;
/// How many turns of the sum before its use B is fetched, where it is read once
/// and its rows are too far apart for the processor to foresee.
static constexpr int64_t kPrefetchTurns = 12;
/// Rows of A whose distance is a multiple of so many elements meet in few
/// sets of the first level of the cache. From how many tiles of rows on threads
/// take these, since what another has copied is far.
static constexpr int64_t kColliding = 512, kManyRows = 64;
/// From how long a sum on the result is asked for before it, and added after.
static constexpr int64_t kLongSum = 64;
/// Up to how long a sum moves more of the result than of its operands.
static constexpr int64_t kShortSum = 32;

using Loop = LoopNest::Loop;

namespace {
/// A part of the rows or columns of a tile: for each, where it starts in the
/// operands, from the start of the tile.
struct Place {
  int64_t inA = 0, inB = 0, inC = 0;
};

/// How the loops of the rows, or columns, are cut into tiles.
struct Tiling {
  SmallVector<int64_t> sizes; ///< by loop
  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }
};
} // namespace

namespace {
class Emitter {
public:
  Emitter(linalg::LinalgOp op, const LoopNest &nest, Roles roles,
          const VectorIsa &isa)
      : op(op), b(op), roles(std::move(roles)), starts(nest.starts) {
    for (unsigned operand : {A, B, C})
      memory[operand] = b.flat(operand);
    if (this->roles.isSwapped) {
      std::swap(memory[A], memory[B]);
      std::swap(starts[A], starts[B]);
    }
    element = cast<MemRefType>(memory[C].getType()).getElementType();
    lanes = isa.bits / element.getIntOrFloatBitWidth();
    vector = VectorType::get({lanes}, element);
    registers = isa.registers;
    isParallel = nest.points() * 2 >= kParallelFlop;
  }

  void emit() {
    chooseTile();
    takeStart();
    std::array<Value, 3> at;
    for (unsigned operand : {A, B, C})
      at[operand] = b.index(starts[operand]);
    emitBatches(0, at);
  }

private:
  using Offsets = std::array<Value, 3>;

  Offsets move(Offsets at, const Loop &loop, Value turn) {
    for (unsigned operand : {A, B, C})
      if (loop.strides[operand] != 0)
        at[operand] = b.add(at[operand], b.scaled(turn, loop.strides[operand]));
    return at;
  }

  /// Where each sum is done at once, it starts from what the memory was filled
  /// with, which need not be read.
  void takeStart() {
    auto fill = dyn_cast_or_null<linalg::FillOp>(op->getPrevNode());
    if (!fill || fill.getDpsInits()[0] != op.getDpsInits()[0])
      return;
    cutSums();
    if (!outerSums.empty())
      return;
    start = fill.value();
    fill.erase();
  }

  //===-- Tiles -----------------------------------------------------------===//

  /// Sizes of tiles over `loops`, from the last one on, of at most `most`
  /// points. The one with the least waste.
  static Tiling tile(ArrayRef<Loop> loops, int64_t most) {
    Tiling tiling;
    tiling.sizes.assign(loops.size(), 1);
    for (size_t i = loops.size(); i-- > 0 && most > 1;) {
      int64_t extent = loops[i].extent, best = 1;
      auto waste = [&](int64_t size) {
        // Tiles of unequal size run at the pace of their own.
        return double(llvm::divideCeil(extent, size)) * (size + 1.5);
      };
      for (int64_t size = 1; size <= std::min(most, extent); ++size)
        if (waste(size) < waste(best))
          best = size;
      tiling.sizes[i] = best;
      if (best < extent)
        break;
      most /= best;
    }
    return tiling;
  }

  void chooseTile() {
    if (roles.isDot) {
      // Each pair of a row and a column has a vector of its own.
      columnTile = tile(roles.columns, registers >= 32 ? 3 : 2);
      rowTile = tile(roles.rows, registers >= 32 ? 8 : 4);
      return;
    }
    int64_t columns = roles.columns.back().extent;
    int64_t vectors = llvm::divideCeil(columns, lanes);
    double best = 0;
    for (int64_t width = 1; width <= std::min<int64_t>(vectors, 4); ++width) {
      int64_t most = (registers - 2 - width) / width;
      if (roles.isElementwise)
        most = std::min<int64_t>(most, 8);
      Tiling rows = tile(roles.rows, most);
      int64_t height = rows.count();
      // Of the vectors that are loaded, the share that is of use; and loads
      // against products: a row costs one, a vector of a column one.
      double useful =
          double(columns) / (llvm::divideCeil(vectors, width) * width * lanes);
      double products = double(height) * width;
      double cycles = std::max({products / 2, double(height + width) / 2, 4.0});
      double pace = useful * products / cycles;
      if (pace > best * 1.02) {
        best = pace;
        rowTile = rows;
        tileVectors = width;
      }
    }
  }

  /// The loops of a tile's inside as places, its sizes cut to `sizes`.
  SmallVector<Place> placesOf(ArrayRef<Loop> loops, ArrayRef<int64_t> sizes) {
    SmallVector<Place> places(1);
    for (auto [loop, size] : llvm::zip_equal(loops, sizes)) {
      SmallVector<Place> next;
      for (const Place &place : places)
        for (int64_t i = 0; i < size; ++i)
          next.push_back({place.inA + i * loop.strides[A],
                          place.inB + i * loop.strides[B],
                          place.inC + i * loop.strides[C]});
      places = std::move(next);
    }
    return places;
  }

  //===-- Loops -----------------------------------------------------------===//

  void emitBatches(unsigned depth, Offsets at) {
    if (depth == roles.batches.size())
      return emitRows(at);
    const Loop &loop = roles.batches[depth];
    bool here = isParallel && loop.extent >= 4;
    isParallel &= !here;
    b.forEach(loop.extent, 1, here, [&](Value turn) {
      emitBatches(depth + 1, move(at, loop, turn));
    });
    isParallel |= here;
  }

  /// Sums are cut into blocks, so that what a tile reads of B stays near.
  void cutSums() {
    int64_t width = roles.isDot ? columnTile.count() : tileVectors * lanes;
    int64_t panel = streams()     ? kStreamTurns * width
                    : readsOnce() ? roles.sums.back().extent * width
                                  : kPanelElements;
    int64_t inner = 1;
    size_t cut = roles.sums.size();
    while (cut > 0 && inner * roles.sums[cut - 1].extent * width <= panel)
      inner *= roles.sums[--cut].extent;
    outerSums.assign(roles.sums.begin(), roles.sums.begin() + cut);
    innerSums.assign(roles.sums.begin() + cut, roles.sums.end());
    blockTurns = 1;
    if (cut > 0) {
      // Part of the loop at the cut still fits.
      Loop &last = outerSums.back();
      int64_t fits = std::max<int64_t>(panel / (inner * width), 1);
      int64_t parts = llvm::divideCeil(last.extent, fits);
      blockTurns = llvm::divideCeil(last.extent, parts);
      if ((roles.isDot || roles.isTransposed) && cut == roles.sums.size())
        blockTurns = llvm::alignTo(blockTurns, lanes);
    }
  }

  void emitRows(Offsets at) {
    cutSums();
    if (streams())
      return emitColumnBlocks(at);
    // Threads take rows, or columns where there are more of these.
    int64_t rowTiles = this->rowTiles(), columnTiles = 1;
    int64_t columns = roles.columns.empty() ? 1 : roles.columns.back().extent;
    if (!roles.isDot)
      columnTiles = llvm::divideCeil(columns, tileVectors * lanes);
    bool copies = isScattered() && rowTiles >= kPackTiles;
    bool byRows = rowTiles >= columnTiles || rowTiles >= 16;
    // A copy of A serves all columns; one of B all rows.
    if (copies && !rowsAreScattered() &&
        !(rowsCollide() && rowTiles >= kManyRows) &&
        columnTiles >= (rowTiles < kFewRows ? kFewColumns : kSharedColumns))
      byRows = false;
    columnsInParallel = isParallel && !byRows;
    rowsInParallel = isParallel && byRows;
    if ((rowsInParallel || copies) && !roles.rows.empty())
      return emitRowBlocks(at, copies);
    packsColumns = roles.isTransposed;
    makeColumnPanel();
    emitSumBlocks(at, {});
  }

  int64_t rowTiles() const {
    int64_t tiles = 1;
    for (auto [loop, size] : llvm::zip_equal(roles.rows, rowTile.sizes))
      tiles *= llvm::divideCeil(loop.extent, size);
    return tiles;
  }

  /// Whether no row of C reads again what another has read of B, whose rows lie
  /// far apart.
  bool readsOnce() const {
    return isScattered() && !roles.isTransposed && rowTiles() == 1 &&
           roles.sums.size() == 1;
  }
  /// Whether B is then best read in the order of memory, a few of its long rows
  /// side by side.
  bool streams() const {
    return readsOnce() && roles.columns.size() == 1 &&
           roles.sums.back().extent > kPanelElements / (tileVectors * lanes) &&
           columnsOfThread() >= kStreamColumns;
  }
  int64_t columnsOfThread() const {
    return llvm::alignTo(roles.columns.back().extent / 8, tileVectors * lanes);
  }

  /// Threads take columns, for all sums.
  void emitColumnBlocks(Offsets at) {
    Loop whole = roles.columns.back();
    int64_t block = columnsOfThread();
    auto run = [&](Value turn, int64_t extent) {
      roles.columns.back().extent = extent;
      emitSumBlocks(move(at, whole, turn), {});
      roles.columns.back().extent = whole.extent;
    };
    b.forBlocks(whole.extent, block, isParallel, run);
  }

  /// Whether the rows of B are so far apart that a panel of it meets itself in
  /// the cache, and touches a page a row.
  bool isScattered() const {
    return roles.isTransposed ||
           (!roles.isDot && !roles.isElementwise && !roles.sums.empty() &&
            roles.sums.back().strides[B] >= kScattered);
  }
  /// Whether rows lie next to each other in A, and a turn of the sum leaves
  /// them far behind.
  bool rowsAreScattered() const {
    return !roles.isDot && !roles.isElementwise && !roles.sums.empty() &&
           !roles.rows.empty() && roles.rows.back().strides[A] == 1 &&
           roles.sums.back().strides[A] >= kScattered;
  }

  /// Whether rows that a sum walks along push each other out of the cache.
  bool rowsCollide() const {
    return !roles.isDot && !roles.isElementwise && !roles.sums.empty() &&
           !roles.rows.empty() && roles.sums.back().strides[A] == 1 &&
           roles.rows.back().strides[A] % kColliding == 0;
  }

  /// Points of a block of the sums, at most.
  int64_t blockLength() const {
    int64_t length = blockTurns;
    for (const Loop &loop : innerSums)
      length *= loop.extent;
    return length;
  }

  /// Makes room for copies; to be called where a thread's work begins.
  void makePanels() {
    makeColumnPanel();
    makeRowPanel();
  }
  void makeColumnPanel() {
    if (!packsColumns)
      return;
    int64_t elements = tileVectors * lanes * blockLength();
    columnPanel = b.create<memref::AllocaOp>(
        MemRefType::get({elements}, element), b.getI64IntegerAttr(64));
  }

  /// The same for the rows of a block, if they are scattered or collide.
  void makeRowPanel() {
    packed = Packed::No;
    if (columnsInParallel)
      return;
    Packed how = Packed::No;
    if (rowsCollide() && columnTiles() >= kPackRowColumns)
      how = Packed::Rows;
    else if (rowsAreScattered() && columnTiles() >= kPackColumns)
      how = Packed::Tiles;
    if (how == Packed::No)
      return;
    int64_t elements = rowTile.count() * blockLength();
    for (auto [loop, size] : llvm::zip_equal(roles.rows, rowTile.sizes))
      elements *= llvm::divideCeil(loop.extent, std::min(size, loop.extent));
    if (elements > kMostOnStack)
      return;
    packed = how;
    rowPanel = b.create<memref::AllocaOp>(MemRefType::get({elements}, element),
                                          b.getI64IntegerAttr(64));
  }

  bool columnsAreLong() const {
    return !roles.isDot && !roles.isElementwise &&
           roles.columns.back().extent >= 8 * kStreamColumns;
  }
  int64_t columnTiles() const {
    int64_t tiles = 1;
    for (const Loop &loop : roles.columns)
      tiles *= loop.extent;
    return tiles / (tileVectors * lanes);
  }

  /// Blocks of rows, by threads unless these take columns.
  void emitRowBlocks(Offsets at, bool copies) {
    // The longest loop of rows is cut; a block is what stays in the cache.
    size_t longest = 0;
    for (size_t i = 0; i < roles.rows.size(); ++i)
      if (roles.rows[i].extent > roles.rows[longest].extent)
        longest = i;
    // Rather whole turns of an outer loop than parts of an inner one.
    for (size_t i = 0; i < roles.rows.size(); ++i)
      if (roles.rows[i].extent >= 8 &&
          roles.rows[i].strides[C] > roles.rows[longest].strides[C])
        longest = i;
    auto elementsOfTurn = [&] {
      int64_t elements = blockLength();
      for (size_t i = 0; i < roles.rows.size(); ++i)
        if (i != longest)
          elements *= roles.rows[i].extent;
      return elements;
    };
    // Unless one turn is too much: then parts of the next loop, for each turn.
    SmallVector<Loop> outer;
    while (elementsOfTurn() > kSharedElements && rowTile.sizes[longest] == 1 &&
           longest + 1 < roles.rows.size() &&
           roles.rows[longest + 1].extent >= 8) {
      outer.push_back(roles.rows[longest]);
      roles.rows.erase(roles.rows.begin() + longest);
      rowTile.sizes.erase(rowTile.sizes.begin() + longest);
    }
    Loop whole = roles.rows[longest];
    int64_t &tileSize = rowTile.sizes[longest];
    int64_t elements = rowsInParallel ? kBlockElements : kSharedElements;
    int64_t block = std::max<int64_t>(elements / elementsOfTurn(), 1);
    if (rowsInParallel && outer.empty())
      block = shareRows(whole.extent, block, tileSize);
    // Rows that are finished one after the other are written in the order of
    // memory.
    if (outerSums.empty() && blockLength() <= kShortSum && columnsAreLong())
      block = 1;
    block = std::min<int64_t>(llvm::alignTo(block, tileSize),
                              llvm::alignTo(whole.extent, tileSize));
    roles.rows[longest].extent = std::min(block, whole.extent);
    packsColumns = roles.isTransposed || (copies && rowTiles() >= kPackTiles);
    if (!rowsInParallel)
      makePanels();
    emitOuterRows(outer, at, rowsInParallel, [&](Offsets start, bool here) {
      b.forBlocks(whole.extent, block, here, [&](Value turn, int64_t extent) {
        if (here)
          makePanels();
        std::swap(roles.rows[longest].extent, extent);
        emitSumBlocks(move(start, whole, turn), {});
        std::swap(roles.rows[longest].extent, extent);
      });
    });
  }

  /// Loops of rows of which a block has one turn.
  void emitOuterRows(ArrayRef<Loop> loops, Offsets at, bool here,
                     function_ref<void(Offsets, bool)> body) {
    if (loops.empty())
      return body(at, here);
    b.forEach(loops.front().extent, 1, here, [&](Value turn) {
      if (here)
        makePanels();
      emitOuterRows(loops.drop_front(), move(at, loops.front(), turn), false,
                    body);
    });
  }

  /// The rows of a block, at most `most`, so that threads, however many, have
  /// about as many rows each. Of few tiles there are an even number.
  static int64_t shareRows(int64_t extent, int64_t most, int64_t &tileSize) {
    int64_t tiles = llvm::divideCeil(extent, tileSize);
    if (tiles > 1 && tiles < kFewTiles && tiles % 2 != 0)
      tileSize = llvm::divideCeil(extent, ++tiles);
    most = std::min(most, std::max<int64_t>(extent / 8, 1));
    int64_t largest = llvm::divideCeil(most, tileSize), best = largest;
    auto slowest = [&](int64_t size) {
      int64_t blocks = llvm::divideCeil(tiles, size), sum = 0;
      for (int64_t threads : {2, 4, 8})
        sum += llvm::divideCeil(blocks, threads) * threads * size;
      return sum;
    };
    for (int64_t size = largest; size > 0 && size >= largest / 2; --size)
      if (slowest(size) * 1.05 < slowest(best))
        best = size;
    return best * tileSize;
  }

  /// The loops of sums outside of a block.
  void emitSumBlocks(Offsets at, unsigned depth) {
    if (depth == outerSums.size())
      return emitColumns(at, 1);
    const Loop &loop = outerSums[depth];
    bool isCut = depth + 1 == outerSums.size();
    int64_t step = isCut ? blockTurns : 1;
    // Turns of sums follow each other; threads work inside.
    b.forBlocks(loop.extent, step, false, [&](Value turn, int64_t turns) {
      if (isCut)
        emitColumns(move(at, loop, turn), turns);
      else
        emitSumBlocks(move(at, loop, turn), depth + 1);
    });
  }

  /// Columns in tiles; the last one may be narrower.
  void emitColumns(Offsets at, int64_t turns) {
    // First what is left of the loop that was cut, then whole loops.
    blockSums = innerSums;
    if (!outerSums.empty()) {
      blockSums.insert(blockSums.begin(), outerSums.back());
      blockSums.front().extent = turns;
    }
    if (packed == Packed::No)
      return emitOuterColumns(0, at);
    SmallVector<Loop> rows = roles.rows;
    if (packed == Packed::Rows)
      packRows(at);
    else
      packTiles(at);
    std::swap(memory[A], rowPanel);
    at[A] = b.index(0);
    emitOuterColumns(0, at);
    std::swap(memory[A], rowPanel);
    roles.rows = rows;
  }

  /// Copies what a block reads of A, a row after the other, and lets the loops
  /// walk over the copy.
  void packRows(Offsets at) {
    SmallVector<Loop> from = roles.rows, sums = blockSums;
    int64_t length = layBlock(A, 1);
    for (Loop &row : llvm::reverse(roles.rows)) {
      row.strides[A] = length;
      length *= row.extent;
    }
    SmallVector<Loop> to = roles.rows;
    llvm::append_range(from, ArrayRef(sums).drop_back());
    llvm::append_range(to, ArrayRef(blockSums).drop_back());
    auto copy = [&](Value at, Value to) {
      b.forBlocks(sums.back().extent, lanes, false,
                  [&](Value turn, int64_t turns) {
                    Value mask = b.maskOf(vector, turns);
                    Value part = loadVector(A, b.add(at, turn), 0, mask);
                    b.storeVector(part, rowPanel, b.add(to, turn), mask);
                  });
    };
    copyBlock(A, from, to, at[A], b.index(0), copy);
  }

  /// The same, a tile after the other: for each turn of the sums, its rows.
  void packTiles(Offsets at) {
    SmallVector<Loop> rows = roles.rows, sums = blockSums;
    int64_t length = layBlock(A, rowTile.count());
    for (size_t i = rows.size(); i-- > 0;) {
      int64_t size = std::min(rowTile.sizes[i], rows[i].extent);
      roles.rows[i].strides[A] = size < rows[i].extent ? length / size : 0;
      length *= llvm::divideCeil(rows[i].extent, size);
    }
    // Where the copy is stands in for where the result is.
    SmallVector<Loop> both = rows;
    for (auto [loop, packed] : llvm::zip_equal(both, roles.rows))
      loop.strides[C] = packed.strides[A];
    at[C] = b.index(0);
    emitTiles(both, rowTile.sizes, 0, {}, at, false,
              [&](Offsets start, ArrayRef<int64_t> sizes) {
                SmallVector<Place> places = placesOf(rows, sizes);
                copyBlock(
                    A, sums, blockSums, start[A], start[C],
                    [&](Value at, Value to) { copyRows(at, to, places); });
              });
  }

  /// Copies a tile's part of A for one turn of the sums; where rows are all
  /// next to each other, as vectors.
  void copyRows(Value at, Value to, ArrayRef<Place> places) {
    auto start = [&](size_t i) { return places[i].inA; };
    for (size_t i = 0; i < places.size();) {
      size_t end = i + 1;
      while (end < places.size() && start(end) == start(end - 1) + 1 &&
             end - i < size_t(lanes))
        ++end;
      Value mask = b.maskOf(vector, end - i);
      b.storeVector(loadVector(A, at, start(i), mask), rowPanel, b.add(to, i),
                    mask);
      i = end;
    }
  }

  /// Lets the sums of the block walk over a copy of an operand that has
  /// `elements` next to each other for each turn. Returns its length.
  int64_t layBlock(ContractionOperand operand, int64_t elements) {
    for (Loop &loop : llvm::reverse(blockSums)) {
      loop.strides[operand] = elements;
      elements *= loop.extent;
    }
    return elements;
  }

  /// Calls `copy` for each turn of the loops `from`, with the place in the
  /// operand and that in its copy, over which `packed` walk.
  void copyBlock(ContractionOperand operand, ArrayRef<Loop> from,
                 ArrayRef<Loop> packed, Value at, Value to,
                 function_ref<void(Value, Value)> copy) {
    if (from.empty())
      return copy(at, to);
    const Loop &loop = from.front();
    b.forEach(loop.extent, 1, false, [&](Value turn) {
      copyBlock(operand, from.drop_front(), packed.drop_front(),
                b.add(at, b.scaled(turn, loop.strides[operand])),
                b.add(to, b.scaled(turn, packed.front().strides[operand])),
                copy);
    });
  }

  void emitOuterColumns(size_t depth, Offsets at) {
    if (roles.isDot) {
      emitTiles(roles.columns, columnTile.sizes, 0, {}, at, columnsInParallel,
                [&](Offsets start, ArrayRef<int64_t> sizes) {
                  SmallVector<Place> columns = placesOf(roles.columns, sizes);
                  emitRowTiles(start, columns, 0);
                });
      return;
    }
    if (depth + 1 < roles.columns.size()) {
      const Loop &loop = roles.columns[depth];
      b.forEach(loop.extent, 1, false, [&](Value turn) {
        emitOuterColumns(depth + 1, move(at, loop, turn));
      });
      return;
    }
    const Loop &loop = roles.columns.back();
    int64_t width = tileVectors * lanes;
    b.forBlocks(
        loop.extent, width, columnsInParallel, [&](Value turn, int64_t count) {
          if (columnsInParallel)
            makeColumnPanel();
          emitPanel(move(at, loop, turn),
                    vectorsOf(llvm::divideCeil(count, lanes)), count % lanes);
        });
  }

  /// The tiles of these columns, on a copy of what they read of B if its rows
  /// are scattered.
  void emitPanel(Offsets at, ArrayRef<Place> columns, int64_t lastLanes) {
    if (!packsColumns)
      return emitRowTiles(at, columns, lastLanes);
    SmallVector<Loop> scattered = blockSums;
    layBlock(B, columns.size() * lanes);
    if (roles.isTransposed)
      copyBlock(B, ArrayRef(scattered).drop_back(), blockSums, at[B],
                b.index(0), [&](Value at, Value to) {
                  copyTransposed(at, to, columns.size(), lastLanes);
                });
    else
      copyBlock(
          B, scattered, blockSums, at[B], b.index(0), [&](Value at, Value to) {
            for (auto [i, column] : llvm::enumerate(columns)) {
              bool isLast = i + 1 == columns.size();
              Value mask = isLast ? b.maskOf(vector, lastLanes) : Value();
              b.create<vector::StoreOp>(loadVector(B, at, column.inB, mask),
                                        columnPanel, b.add(to, column.inB));
            }
          });
    std::swap(memory[B], columnPanel);
    at[B] = b.index(0);
    emitRowTiles(at, columns, lastLanes);
    std::swap(memory[B], columnPanel);
    blockSums = scattered;
  }

  /// Copies a panel's part of B along the last sum, by squares of vectors.
  void copyTransposed(Value at, Value to, int64_t vectors, int64_t lastLanes) {
    const Loop &sum = blockSums.back();
    int64_t next = roles.columns.back().strides[B], width = vectors * lanes;
    Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    auto square = [&](Value turn, int64_t turns) {
      Value from = b.add(at, turn);
      Value onto = b.add(to, b.scaled(turn, width));
      Value mask = b.maskOf(vector, turns);
      for (int64_t i = 0; i < vectors; ++i) {
        bool isCut = i + 1 == vectors && lastLanes != 0;
        SmallVector<Value> rows(lanes, zeros);
        for (int64_t row = 0; row < (isCut ? lastLanes : lanes); ++row)
          rows[row] = loadVector(B, from, (i * lanes + row) * next, mask);
        rows = b.transpose(rows);
        for (int64_t row = 0; row < turns; ++row)
          b.create<vector::StoreOp>(rows[row], columnPanel,
                                    b.add(onto, row * width + i * lanes));
      }
    };
    b.forBlocks(sum.extent, lanes, false, square);
  }

  SmallVector<Place> vectorsOf(int64_t count) {
    SmallVector<Place> vectors;
    for (int64_t i = 0; i < count; ++i)
      vectors.push_back(
          {roles.isElementwise ? i * lanes : 0, i * lanes, i * lanes});
    return vectors;
  }

  /// Calls `body` for each tile over `loops`, where it starts and its sizes.
  void emitTiles(ArrayRef<Loop> loops, ArrayRef<int64_t> sizes, size_t depth,
                 SmallVector<int64_t> chosen, Offsets at, bool parallel,
                 function_ref<void(Offsets, ArrayRef<int64_t>)> body) {
    if (depth == loops.size())
      return body(at, chosen);
    const Loop &loop = loops[depth];
    int64_t size = std::min(sizes[depth], loop.extent);
    b.forBlocks(loop.extent, size, parallel, [&](Value turn, int64_t taken) {
      SmallVector<int64_t> now = chosen;
      now.push_back(taken);
      emitTiles(loops, sizes, depth + 1, now, move(at, loop, turn), false,
                body);
    });
  }

  void emitRowTiles(Offsets at, ArrayRef<Place> columns, int64_t lastLanes) {
    emitTiles(roles.rows, rowTile.sizes, 0, {}, at, false,
              [&](Offsets start, ArrayRef<int64_t> sizes) {
                SmallVector<Place> rows = placesOf(roles.rows, sizes);
                for (auto [i, row] : llvm::enumerate(rows))
                  if (packed == Packed::Tiles)
                    row.inA = i;
                if (roles.isDot)
                  emitDots(start, rows, columns);
                else
                  emitTile(start, rows, columns, lastLanes);
              });
  }

  //===-- Inside a tile ---------------------------------------------------===//

  Value loadScalar(ContractionOperand operand, Value at, int64_t shift) {
    return b.create<memref::LoadOp>(memory[operand], b.add(at, shift));
  }
  /// Asks for what lies `shift` elements on.
  void prefetch(ContractionOperand operand, Value at, int64_t shift) {
    b.create<memref::PrefetchOp>(memory[operand], b.add(at, shift),
                                 /*isWrite=*/operand == C, /*localityHint=*/3,
                                 /*isDataCache=*/true);
  }
  /// `lanes` elements, or those of `mask`.
  Value loadVector(ContractionOperand operand, Value at, int64_t shift,
                   Value mask) {
    Value start = b.add(at, shift);
    return b.loadVector(vector, memory[operand], start, mask);
  }
  void storeVector(Value value, Value at, int64_t shift, Value mask) {
    b.storeVector(value, memory[C], b.add(at, shift), mask);
  }

  /// Runs the sums of a block, carrying the accumulators.
  SmallVector<Value> emitSums(
      size_t depth, Offsets at, ValueRange sums, int64_t step,
      function_ref<SmallVector<Value>(Offsets, ValueRange, int64_t)> body) {
    if (depth == blockSums.size())
      return body(at, sums, 0);
    const Loop &loop = blockSums[depth];
    int64_t extent = loop.extent;
    bool isLast = depth + 1 == blockSums.size();
    int64_t by = isLast ? step : 1;
    int64_t even = extent / by * by;
    SmallVector<Value> results(sums);
    if (even > 0)
      results = b.loop(even, by, sums, [&](Value turn, ValueRange carried) {
        return emitSums(depth + 1, move(at, loop, turn), carried, step, body);
      });
    if (even < extent)
      results = body(move(at, loop, b.index(even)), results, extent - even);
    return results;
  }

  void emitTile(Offsets at, ArrayRef<Place> rows, ArrayRef<Place> columns,
                int64_t lastLanes) {
    Value lastMask = b.maskOf(vector, lastLanes);
    auto mask = [&](size_t column) {
      return column + 1 == columns.size() ? lastMask : Value();
    };
    // A long sum leaves time to fetch what it is added to.
    bool isLong = blockLength() >= kLongSum, addsLast = isLong && !start;
    Value first;
    if (start)
      first = b.create<vector::BroadcastOp>(vector, start);
    else if (addsLast)
      first = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    SmallVector<Value> sums;
    for (const Place &row : rows)
      for (auto [i, column] : llvm::enumerate(columns)) {
        if (isLong)
          prefetch(C, at[C], row.inC + column.inC);
        sums.push_back(
            first ? first
                  : loadVector(C, at[C], row.inC + column.inC, mask(i)));
      }
    sums =
        emitSums(0, at, sums, 1, [&](Offsets now, ValueRange carried, int64_t) {
          SmallVector<Value> next, vectors;
          for (auto [i, column] : llvm::enumerate(columns))
            vectors.push_back(loadVector(B, now[B], column.inB, mask(i)));
          if (readsOnce() && !streams())
            for (const Place &column : columns)
              prefetch(B, now[B],
                       column.inB +
                           kPrefetchTurns * roles.sums.back().strides[B]);
          size_t place = 0;
          for (const Place &row : rows) {
            Value broadcast;
            if (!roles.isElementwise)
              broadcast = b.create<vector::BroadcastOp>(
                  vector, loadScalar(A, now[A], row.inA));
            for (auto [i, column] : llvm::enumerate(columns)) {
              Value factor =
                  broadcast
                      ? broadcast
                      : loadVector(A, now[A], row.inA + column.inA, mask(i));
              next.push_back(b.create<vector::FMAOp>(factor, vectors[i],
                                                     carried[place++]));
            }
          }
          return next;
        });
    size_t place = 0;
    for (const Place &row : rows)
      for (auto [i, column] : llvm::enumerate(columns)) {
        int64_t shift = row.inC + column.inC;
        Value sum = sums[place++];
        if (addsLast)
          sum = b.create<arith::AddFOp>(loadVector(C, at[C], shift, mask(i)),
                                        sum);
        storeVector(sum, at[C], shift, mask(i));
      }
  }

  /// Rows and columns are vectors along the last sum.
  void emitDots(Offsets at, ArrayRef<Place> rows, ArrayRef<Place> columns) {
    Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    SmallVector<Value> sums(rows.size() * columns.size(), zeros);
    sums = emitSums(
        0, at, sums, lanes, [&](Offsets now, ValueRange carried, int64_t rest) {
          Value mask = b.maskOf(vector, rest);
          SmallVector<Value> next, vectors;
          for (const Place &column : columns)
            vectors.push_back(loadVector(B, now[B], column.inB, mask));
          size_t place = 0;
          for (const Place &row : rows) {
            Value factor = loadVector(A, now[A], row.inA, mask);
            for (Value other : vectors)
              next.push_back(
                  b.create<vector::FMAOp>(factor, other, carried[place++]));
          }
          return next;
        });
    size_t place = 0;
    sums = b.sumsOf(sums);
    for (const Place &row : rows)
      for (const Place &column : columns) {
        Value old = start ? start : loadScalar(C, at[C], row.inC + column.inC);
        Value sum = b.create<arith::AddFOp>(old, sums[place++]);
        b.create<memref::StoreOp>(sum, memory[C],
                                  b.add(at[C], row.inC + column.inC));
      }
  }

  linalg::LinalgOp op;
  NestBuilder b;
  Roles roles;
  /// What sums start from, if it is not in memory.
  Value start;
  SmallVector<int64_t, 4> starts;
  Value memory[3];
  Type element;
  VectorType vector;
  int64_t lanes, registers;
  bool isParallel, rowsInParallel = false, columnsInParallel = false;
  Tiling rowTile, columnTile;
  int64_t tileVectors = 1;
  /// Loops of sums outside of a block; the last is cut into blocks of
  /// `blockTurns`. `blockSums` are the loops of the block at hand.
  SmallVector<Loop> outerSums, innerSums, blockSums;
  int64_t blockTurns = 1;
  /// A copy of a block of B, for the columns of a tile.
  bool packsColumns = false;
  Value columnPanel;
  /// The same of A, for the rows of a block.
  enum class Packed { No, Rows, Tiles } packed = Packed::No;
  Value rowPanel;
};
} // namespace

bool netc::emitContraction(linalg::LinalgOp op, const VectorIsa &isa) {
  if (!isContraction(op))
    return false;
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest)
    return false;
  nest->collapse();
  // Sums walk their operands in the order of memory.
  llvm::stable_sort(nest->loops, [](const Loop &a, const Loop &b) {
    if (a.isParallel != b.isParallel)
      return a.isParallel;
    if (a.isParallel)
      return a.strides[C] > b.strides[C];
    return a.strides[A] + a.strides[B] > b.strides[A] + b.strides[B];
  });
  std::optional<Roles> roles = Roles::of(*nest);
  if (!roles)
    return false;
  Emitter(op, *nest, std::move(*roles), isa).emit();
  op->erase();
  return true;
}
