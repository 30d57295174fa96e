// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of products: C[m, n] += A[m, k] B[k, n], where m, n and k stand for any
// number of loops each, and batches may be around them. A tile of C is held in
// registers while k runs: rows are elements of A, broadcast, columns are
// vectors of B. What a convolution, a matrix product or their gradients are
// differs by strides only.

#include "lib/Codegen/ContractionBlock.h"

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
/// The same of a panel that the second level holds, since it is read in the
/// order of memory.
static constexpr int64_t kLongPanelElements = 160 << 10;
/// Up to how many elements of a panel the next one fits beside it, and rows; of
/// larger ones, how many turns ahead comes what memory brings in time.
static constexpr int64_t kSmallPanel = 64 << 10, kTurnsAhead = 64;
/// From how many elements on the rows of B count as scattered, and for how many
/// tiles of rows a copy of them pays: anywhere else, and where both operands
/// are asked for turn by turn.
static constexpr int64_t kScattered = 64, kPackTiles = 2, kPackScattered = 8;
/// Elements of a copy: a thread's stack holds a few MB.
static constexpr int64_t kMostOnStack = 256 << 10;
/// For how many tiles of columns a copy of a block of A pays.
static constexpr int64_t kPackColumns = 16;
/// Elements of A that a block of rows may touch, so that they stay in the
/// second level: one of many blocks, of which threads take their own, or one
/// that all of them read, each for its own columns.
static constexpr int64_t kBlockElements = 96 << 10;
static constexpr int64_t kSharedElements = 192 << 10;
/// From how many tiles of columns on threads take these, so that each copies
/// its own part of B only; where there are but few tiles of rows; and where
/// rows are scattered.
static constexpr int64_t kSharedColumns = 16, kFewColumns = 4, kFewRows = 32,
                         kManyColumns = 64;
/// From how many panels of B on threads take these, if all of A stays near
/// each; otherwise, how many rows should pass by a panel.
static constexpr int64_t kPanels = 8, kRowsOfPanel = 192;
/// Up to how many elements of A may pass by each panel of B that is copied:
/// blocks of rows would copy it anew each.
static constexpr int64_t kPassingElements = 512 << 10;
/// How many rows' time a tile takes besides that of its rows.
static constexpr double kTileRows = 1.5;
/// How many tiles of rows are so few that one more or less for a thread tells.
static constexpr int64_t kFewTiles = 16;
/// From how many tiles on a block may end with a part of one.
static constexpr int64_t kCutTiles = 4;
/// Of B that is read once, how many of its rows side by side, and from how many
/// columns of a thread on that pays.
static constexpr int64_t kStreamTurns = 8, kStreamColumns = 256;
/// Rows of A whose distance is a multiple of so many elements meet in few
/// sets of the first level of the cache. From how many tiles of rows on threads
/// take these, since what another has copied is far.
static constexpr int64_t kColliding = 512, kManyRows = 64;
/// Into how many parts a sum is cut, at most and at least, however many threads
/// there are, so that it is the same for each; how long these are at least, and
/// how many elements all their results have at most.
static constexpr int64_t kParts = 8, kFewParts = 4, kPartLength = 256;
static constexpr int64_t kMostParts = 512 << 10;
/// Up to how long a sum moves more of the result than of its operands.
static constexpr int64_t kShortSum = 32;

using Loop = LoopNest::Loop;

namespace {
class Emitter : BlockEmitter {
public:
  Emitter(linalg::LinalgOp op, const LoopNest &nest, Roles roles,
          const VectorIsa &isa)
      : BlockEmitter(op, std::move(roles), isa), op(op), starts(nest.starts) {
    if (this->roles.isSwapped)
      std::swap(starts[A], starts[B]);
    registers = isa.registers;
    isParallel = nest.points() * 2 >= kParallelFlop;
  }

  /// `fill` gives the result its start, if it is not null.
  void emit(linalg::FillOp fill) {
    chooseTile();
    if (fill)
      takeStart(fill);
    std::array<Value, 3> at;
    for (unsigned operand : {A, B, C})
      at[operand] = b.index(starts[operand]);
    emitBatches(0, at);
  }

private:
  /// Where each sum is done at once, it starts from what the memory was filled
  /// with, which need not be read.
  void takeStart(linalg::FillOp fill) {
    cutSums();
    if (sharedSum() || !outerSums.empty() || takesStretches())
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
        return double(llvm::divideCeil(extent, size)) * (size + kTileRows);
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
    int64_t panel =
        streams()             ? kStreamTurns * width
        : readsOnce()         ? roles.sums.back().extent * width
        : threadsTakePanels() ? kLongPanelElements
        : isPaneled() ? std::min(kLongPanelElements, turnsOfManyRows() * width)
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

  /// Turns of the sums for which many rows, as a panel of B should serve, stay
  /// near.
  int64_t turnsOfManyRows() const {
    int64_t ofRow = sizeOf(A) / pointsOf(roles.rows);
    return pointsOf(roles.sums) * (kSharedElements / kRowsOfPanel) /
           std::max<int64_t>(ofRow, 1);
  }

  /// Into how many parts a sum is cut.
  int64_t parts() const { return std::min(kParts, kMostParts / sizeOf(C)); }
  static int64_t pointsOf(ArrayRef<Loop> loops) {
    int64_t points = 1;
    for (const Loop &loop : loops)
      points *= loop.extent;
    return points;
  }

  /// The loop of the sums of which threads take parts, each with a result of
  /// its own: where the result is small and the sums are long.
  Loop *sharedSum() {
    if (!isParallel || roles.isDot || roles.isElementwise || readsOnce() ||
        !roles.batches.empty() || threadsTakePanels() ||
        pointsOf(roles.sums) < kParts * kPartLength || parts() < kFewParts)
      return nullptr;
    auto sum = llvm::find_if(
        roles.sums, [&](const Loop &loop) { return loop.extent >= parts(); });
    return sum == roles.sums.end() ? nullptr : sum;
  }

  void emitParts(Offsets at, Loop &sum) {
    Loop whole = sum;
    int64_t length = llvm::divideCeil(whole.extent, parts());
    int64_t count = llvm::divideCeil(whole.extent, length);
    int64_t size = sizeOf(C);
    Value result = memory[C];
    Value results = b.create<memref::AllocaOp>(
        MemRefType::get({count * size}, element), b.getI64IntegerAttr(64));
    Value zeros = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    memory[C] = results;
    isParallel = false;
    b.forBlocks(whole.extent, length, true, [&](Value turn, int64_t extent) {
      Value number = b.create<arith::DivUIOp>(turn, b.index(length));
      Value first = b.scaled(number, size);
      b.forBlocks(size, lanes, false, [&](Value at, int64_t rest) {
        b.storeVector(zeros, results, b.add(first, at), b.maskOf(vector, rest));
      });
      Offsets start = move(at, whole, turn);
      start[C] = b.add(start[C], first);
      sum.extent = extent;
      emitRows(start);
      sum.extent = whole.extent;
    });
    memory[C] = result;
    b.forBlocks(size, lanes, false, [&](Value at, int64_t rest) {
      Value mask = b.maskOf(vector, rest);
      Value all = b.loadVector(vector, result, at, mask);
      for (int64_t part = 0; part < count; ++part) {
        Value from = b.add(at, part * size);
        all = b.create<arith::AddFOp>(
            all, b.loadVector(vector, results, from, mask));
      }
      b.storeVector(all, result, at, mask);
    });
  }

  void emitRows(Offsets at) {
    if (Loop *sum = sharedSum())
      return emitParts(at, *sum);
    cutSums();
    asksForB = readsOnce() && !streams();
    aheadOfB = 0;
    if (isPaneled() && roles.columns.size() == 2 && sizeOf(B) > kNearElements) {
      int64_t panel = roles.columns.front().strides[B];
      aheadOfB = panel <= kSmallPanel
                     ? panel
                     : kTurnsAhead * roles.sums.back().strides[B];
    }
    if (streams())
      return emitColumnBlocks(roles.columns.back(), columnsOfThread(),
                              isParallel, at,
                              [&](Offsets at) { emitSumBlocks(at, {}); });
    if (threadsTakePanels())
      return emitPanels(at);
    if (threadsTakeColumns())
      return emitColumnChunks(at);
    bool copies = copyPays(), byRows = threadsTakeRows();
    columnsInParallel = isParallel && !byRows;
    rowsInParallel = isParallel && byRows;
    if (takesStretches())
      return emitStretches(at);
    if ((rowsInParallel || copies) && !roles.rows.empty())
      return emitRowBlocks(at);
    packsColumns = roles.isTransposed;
    makeColumnPanel();
    emitSumBlocks(at, {});
  }

  /// Whether threads take rows, or columns where there are more of these.
  bool threadsTakeRows() const {
    int64_t rowTiles = this->rowTiles(), columnTiles = 1;
    int64_t columns = roles.columns.empty() ? 1 : roles.columns.back().extent;
    if (!roles.isDot)
      columnTiles = llvm::divideCeil(columns, tileVectors * lanes);
    // A copy of A serves all columns; one of B all rows.
    if (copyPays() && !rowsAreScattered() &&
        !(rowsCollide() && rowTiles >= kManyRows) &&
        columnTiles >= (rowTiles < kFewRows ? kFewColumns : kSharedColumns))
      return false;
    return rowTiles >= columnTiles || rowTiles >= 16;
  }

  /// Whether threads take rows, and would read all of B again for each block of
  /// them: then sums go in stretches of which B stays near, each for all rows.
  bool takesStretches() {
    return isParallel && rowsAreScattered() && threadsTakeRows() &&
           !streams() && !threadsTakePanels() && !threadsTakeColumns() &&
           pointsOf(roles.columns) * pointsOf(roles.sums) > kSharedElements;
  }
  void emitStretches(Offsets at) {
    SmallVector<Loop> sums = roles.sums;
    int64_t length = pointsOf(roles.columns);
    size_t cut = sums.size();
    while (length * sums[cut - 1].extent <= kSharedElements)
      length *= sums[--cut].extent;
    int64_t extent = sums[cut - 1].extent;
    int64_t turns = std::max<int64_t>(kSharedElements / length, 1);
    turns = llvm::divideCeil(extent, llvm::divideCeil(extent, turns));
    roles.sums.erase(roles.sums.begin(), roles.sums.begin() + (cut - 1));
    emitStretches(ArrayRef(sums).take_front(cut), turns, at);
  }
  void emitStretches(ArrayRef<Loop> outer, int64_t turns, Offsets at) {
    bool isCut = outer.size() == 1;
    b.forBlocks(outer.front().extent, isCut ? turns : 1, false,
                [&](Value turn, int64_t extent) {
                  Offsets start = move(at, outer.front(), turn);
                  if (!isCut)
                    return emitStretches(outer.drop_front(), turns, start);
                  roles.sums.front().extent = extent;
                  cutSums();
                  emitRowBlocks(start);
                });
  }

  /// Whether all rows pass by a copy of B often enough.
  bool copyPays() const {
    return isScattered() &&
           rowTiles() >= (rowsAreScattered() ? kPackScattered : kPackTiles);
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

  /// Whether threads take panels of B, copied if they are not, since all of A
  /// stays near each.
  bool threadsTakePanels() const {
    if (!isParallel || !roles.batches.empty() || rowTiles() < kPackTiles ||
        rowsAreScattered() ||
        sizeOf(A) > (isPaneled() ? kNearElements : kPassingElements))
      return false;
    if (isPaneled())
      return roles.columns.size() == 2 &&
             roles.columns.front().extent >= kPanels;
    return isScattered() && roles.columns.size() == 1 &&
           columnTiles() >= kPanels;
  }
  void emitPanels(Offsets at) {
    packsColumns = !isPaneled();
    Loop &panels = roles.columns.front();
    emitColumnBlocks(panels, stepOf(panels), true, at, [&](Offsets at) {
      makeColumnPanel();
      emitSumBlocks(at, {});
    });
  }

  /// Whether threads take columns, each with copies of its own of B.
  bool threadsTakeColumns() {
    return isParallel && rowsAreScattered() && isScattered() &&
           columnTiles() >= kManyColumns && columnChunk() > 0;
  }
  /// How many turns of a loop of columns a tile takes.
  int64_t stepOf(const Loop &loop) const {
    return &loop == &roles.columns.back() ? tileVectors * lanes : 1;
  }
  /// The loop of columns that threads share, and how many turns each takes.
  Loop &sharedColumns() {
    return *llvm::max_element(roles.columns, [&](const Loop &a, const Loop &b) {
      return a.extent / stepOf(a) < b.extent / stepOf(b);
    });
  }
  int64_t columnChunk() {
    Loop &loop = sharedColumns();
    int64_t step = stepOf(loop);
    return loop.extent / step / 8 * step;
  }
  void emitColumnChunks(Offsets at) {
    isParallel = false;
    emitColumnBlocks(sharedColumns(), columnChunk(), true, at,
                     [&](Offsets at) { emitRowBlocks(at); });
    isParallel = true;
  }

  /// Calls `body` where each block of a loop of columns starts.
  void emitColumnBlocks(Loop &columns, int64_t block, bool parallel, Offsets at,
                        function_ref<void(Offsets)> body) {
    Loop whole = columns;
    b.forBlocks(whole.extent, block, parallel, [&](Value turn, int64_t extent) {
      columns.extent = extent;
      body(move(at, whole, turn));
      columns.extent = whole.extent;
    });
  }

  /// Whether B is panels of columns, which lie next to each other turn by turn.
  bool isPaneled() const {
    return !roles.isDot && !roles.isElementwise && !roles.sums.empty() &&
           roles.columns.back().extent < kScattered &&
           roles.sums.back().strides[B] == roles.columns.back().extent;
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

  /// Makes room for copies; to be called where a thread's work begins.
  void makePanels() {
    makeColumnPanel();
    makeRowPanel();
  }

  /// The same for the rows of a block, if they collide.
  void makeRowPanel() {
    packsRows = false;
    if (columnsInParallel || isPaneled() || !rowsCollide() ||
        columnTiles() < kPackColumns)
      return;
    int64_t elements = pointsOf(roles.rows) * blockLength();
    if (elements > kMostOnStack)
      return;
    packsRows = true;
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
  void emitRowBlocks(Offsets at) {
    SmallVector<Loop> rows = roles.rows;
    Tiling tiling = rowTile;
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
    // Unless one turn is too much: then parts of the next loop, for each turn.
    SmallVector<Loop> outer;
    while (elementsOfTurn(longest) > kSharedElements &&
           rowTile.sizes[longest] == 1 && longest + 1 < roles.rows.size() &&
           roles.rows[longest + 1].extent >= 8) {
      outer.push_back(roles.rows[longest]);
      roles.rows.erase(roles.rows.begin() + longest);
      rowTile.sizes.erase(rowTile.sizes.begin() + longest);
    }
    Loop whole = roles.rows[longest];
    int64_t &tileSize = rowTile.sizes[longest];
    int64_t elements =
        rowsInParallel && !isPaneled() ? kBlockElements : kSharedElements;
    int64_t block = std::max<int64_t>(elements / elementsOfTurn(longest), 1);
    block = rowsInParallel && outer.empty()
                ? shareRows(whole.extent, block, tileSize)
                : llvm::alignTo(block, tileSize);
    // Rows that are finished one after the other are written in the order of
    // memory.
    if (outerSums.empty() && blockLength() <= kShortSum && columnsAreLong())
      block = tileSize;
    // All panels of B pass by each tile, if they stay near.
    if (outerSums.empty() && isPaneled() && sizeOf(B) <= kNearElements)
      block = tileSize;
    block = std::min<int64_t>(block, llvm::alignTo(whole.extent, tileSize));
    roles.rows[longest].extent = std::min(block, whole.extent);
    packsColumns = roles.isTransposed || copyPays();
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
    roles.rows = rows;
    rowTile = tiling;
  }

  /// The elements of A that a turn of a row loop adds to what a block touches.
  /// Windows that overlap share them.
  int64_t elementsOfTurn(size_t turn) const {
    SmallVector<Loop> sums = innerSums;
    if (!outerSums.empty()) {
      sums.push_back(outerSums.back());
      sums.back().extent = blockTurns;
    }
    int64_t elements = 1;
    for (auto [i, row] : llvm::enumerate(roles.rows)) {
      int64_t stride = row.strides[A];
      auto overlaps = [&](const Loop &sum) {
        int64_t tap = std::abs(sum.strides[A]);
        return tap > 0 && stride % tap == 0 && stride / tap <= sum.extent;
      };
      auto *taps = llvm::find_if(sums, overlaps);
      if (taps == sums.end()) {
        elements *= i == turn ? 1 : row.extent;
        continue;
      }
      int64_t step = stride / std::abs(taps->strides[A]);
      elements *= i == turn ? step : step * (row.extent - 1) + taps->extent;
      sums.erase(taps);
    }
    return elements * pointsOf(sums);
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
  /// about as much to do each. Of few tiles there are an even number; a block
  /// of many may end with a part of one.
  static int64_t shareRows(int64_t extent, int64_t most, int64_t &tileSize) {
    int64_t tiles = llvm::divideCeil(extent, tileSize);
    if (tiles > 1 && tiles < kFewTiles && tiles % 2 != 0)
      tileSize = llvm::divideCeil(extent, ++tiles);
    most = std::min(most, std::max<int64_t>(extent / 8, 1));
    int64_t largest = llvm::alignTo(most, tileSize), best = largest;
    auto slowest = [&](int64_t rows) {
      double block = llvm::divideCeil(rows, tileSize) * kTileRows + rows;
      int64_t blocks = llvm::divideCeil(extent, rows);
      double sum = 0;
      for (int64_t threads : {2, 4, 8})
        sum += llvm::divideCeil(blocks, threads) * threads * block;
      return sum;
    };
    // What each block copies counts for more where it has few tiles.
    bool isCut = largest >= kCutTiles * tileSize;
    int64_t smallest = largest / tileSize / 2 * tileSize;
    for (int64_t rows = largest; rows > 0 && rows >= smallest;
         rows -= isCut ? 1 : tileSize)
      if (slowest(rows) * (isCut ? 1.01 : 1.05) < slowest(best))
        best = rows;
    return best;
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

  linalg::LinalgOp op;
  SmallVector<int64_t, 4> starts;
  int64_t registers;
  bool isParallel, rowsInParallel = false;
};
} // namespace

bool netc::emitContraction(linalg::LinalgOp op, const VectorIsa &isa) {
  if (!isContraction(op))
    return false;
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest || nest->scatters(op.getNumDpsInputs()))
    return false;
  nest->collapse();
  // Sums walk their operands in the order of memory.
  llvm::stable_sort(nest->loops, [](const Loop &a, const Loop &b) {
    if (a.isParallel != b.isParallel)
      return a.isParallel;
    if (a.isParallel)
      return a.strides[C] > b.strides[C];
    auto step = [](const Loop &sum) {
      return std::abs(sum.strides[A]) + std::abs(sum.strides[B]);
    };
    return step(a) > step(b);
  });
  std::optional<Roles> roles = Roles::of(*nest);
  if (!roles)
    return false;
  auto fill = dyn_cast_or_null<linalg::FillOp>(op->getPrevNode());
  if (fill && fill.getDpsInits()[0] != op.getDpsInits()[0])
    fill = nullptr;
  Emitter(op, *nest, std::move(*roles), isa).emit(fill);
  op->erase();
  return true;
}
