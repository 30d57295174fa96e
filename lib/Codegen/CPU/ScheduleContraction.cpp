// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chooses how to compute a contraction. The choice depends only on the extents
// and strides of its loops and on the target.

#include "lib/Codegen/CPU/ContractionSchedule.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Least FLOP that are worth starting other threads for.
static constexpr int64_t kMinParallelFlop = 1 << 17;
/// Least extent of a batch loop that is made parallel.
static constexpr int64_t kMinParallelBatch = 4;
/// Least number of blocks that a parallel loop is cut into.
static constexpr int64_t kThreadBlocks = 8;

// Strides are in elements of A or B. The same bytes for bf16 as for f32, so
// twice as many elements, made the products of a convolution's weights 10 %
// slower.
/// Least stride of rows that count as far apart.
static constexpr int64_t kFarStride = 64;
/// Rows whose distance is a multiple of this map to few sets of L1: two of f32
/// (2 KB), four of bf16.
static constexpr int64_t kConflictStride = 512;

/// Least number of row tiles for packing B to pay, in general and where rows of
/// A are far apart.
static constexpr int64_t kMinTilesToPackB = 2, kMinTilesToPackBForFarA = 8;
/// Least number of column tiles for packing A to pay: in general, and where
/// what a tile reads of A maps to few sets of the cache.
static constexpr int64_t kMinTilesToPackA = 16, kMinTilesToPackFarA = 4;
/// With this many vector registers or more, a tile has enough rows for A and B
/// to be read from L2.
static constexpr unsigned kManyRegisters = 32;
/// Largest packed copy, in elements: a thread's stack holds a few MB.
static constexpr int64_t kMaxPackedElements = 256 << 10;

/// Number of rows that should use a panel of B while it is in the cache.
static constexpr int64_t kRowsPerPanel = 192;
/// Least number of panels of B for threads to share them.
static constexpr int64_t kMinPanels = 8;
/// Least number of column tiles for threads to share columns, so that each
/// packs only its part of B: in general, and with fewer row tiles than
/// kFewRowTiles.
static constexpr int64_t kMinColumnTiles = 16, kMinColumnTilesForFewRows = 4,
                         kFewRowTiles = 32;
/// Least number of row tiles for threads to share rows: if rows of A conflict
/// in L1, since data that another core packed is slow to read; and in general.
static constexpr int64_t kMinConflictingRowTiles = 64, kMinRowTiles = 16;
/// Least number of column tiles for threads to share blocks of columns, where
/// rows of both operands are far apart.
static constexpr int64_t kMinTilesForColumnBlocks = 64;

/// Number of consecutive rows of B that a streaming kernel reads per iteration,
/// and the least number of columns of a thread for it to pay.
static constexpr int64_t kStreamRows = 8, kMinStreamColumns = 256;
/// With this many columns or more, products with a short k are written row by
/// row.
static constexpr int64_t kLongRow = 8 * kMinStreamColumns;

/// Least extent of the last loop of k for bf16 to be multiplied in pairs.
static constexpr int64_t kMinPairedK = 3;

/// Split-K. The number of parts does not depend on the number of threads, so
/// that results do not, either: the most and the fewest parts, the least length
/// of a part, and the most elements of all partial results.
static constexpr int64_t kMaxSplits = 8, kMinSplits = 4, kMinSplitLength = 256;
static constexpr int64_t kMaxSplitElements = 512 << 10;
/// With k up to this length, C moves more data than A and B.
static constexpr int64_t kShortK = 32;
/// With k from this length on, there is time to prefetch C.
static constexpr int64_t kLongK = 64;

/// Iterations of k between a prefetch and its use: for B that is read once, for
/// rows that are far apart but in L2, and for a large panel of B.
static constexpr int64_t kPrefetchIterations = 12;
static constexpr int64_t kPrefetchIterationsL2 = 8;
static constexpr int64_t kPrefetchIterationsOfPanel = 64;

/// The cost of a tile in addition to that of its rows, in rows.
static constexpr double kTileOverhead = 1.5;
/// With fewer row tiles, threads are balanced tile by tile.
static constexpr int64_t kFewTiles = 16;
/// Least number of tiles of a block whose last tile may be partial.
static constexpr int64_t kMinTilesToCut = 4;
/// The largest NR, in vectors, and the largest MR of an element-wise product.
static constexpr int64_t kMaxNrVectors = 4, kMaxElementwiseMr = 8;

//===----------------------------------------------------------------------===//
// Scheduler
//===----------------------------------------------------------------------===//

static int64_t pointsOf(ArrayRef<Loop> loops) {
  return ContractionDims::pointsOf(loops);
}

/// Tile sizes by loop, with at most `most` points, that waste the least. The
/// last loop is tiled first.
static SmallVector<int64_t> tile(ArrayRef<Loop> loops, int64_t most) {
  SmallVector<int64_t> sizes(loops.size(), 1);
  for (size_t i = loops.size(); i-- > 0 && most > 1;) {
    int64_t extent = loops[i].extent, best = 1;
    // A remainder counts as a full tile.
    auto cost = [&](int64_t size) {
      return double(llvm::divideCeil(extent, size)) * (size + kTileOverhead);
    };
    for (int64_t size = 1; size <= std::min(most, extent); ++size)
      if (cost(size) < cost(best))
        best = size;
    sizes[i] = best;
    if (best < extent)
      break;
    most /= best;
  }
  return sizes;
}

static int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

/// The rows of a block, at most `most` rounded up to whole tiles, such that any
/// number of threads is balanced. The number of tiles is made even if there are
/// few; `mr` may change for this. The last tile of a large block may be
/// partial.
static int64_t shareRows(int64_t extent, int64_t most, int64_t &mr) {
  int64_t tiles = llvm::divideCeil(extent, mr);
  if (tiles > 1 && tiles < kFewTiles && tiles % 2 != 0)
    mr = llvm::divideCeil(extent, ++tiles);
  most = std::min(most, std::max<int64_t>(extent / kThreadBlocks, 1));
  int64_t largest = llvm::alignTo(most, mr), best = largest;
  auto slowest = [&](int64_t rows) {
    double block = llvm::divideCeil(rows, mr) * kTileOverhead + rows;
    int64_t blocks = llvm::divideCeil(extent, rows);
    double sum = 0;
    for (int64_t threads : {2, 4, 8})
      sum += llvm::divideCeil(blocks, threads) * threads * block;
    return sum;
  };
  // Each block is packed by itself, so smaller blocks must gain enough.
  bool isCut = largest >= kMinTilesToCut * mr;
  int64_t smallest = largest / mr / 2 * mr;
  for (int64_t rows = largest; rows > 0 && rows >= smallest;
       rows -= isCut ? 1 : mr)
    if (slowest(rows) * (isCut ? 1.01 : 1.05) < slowest(best))
      best = rows;
  return best;
}

namespace {
/// How k is cut into blocks, so that the part of B that a tile reads stays in
/// the cache.
struct KCut {
  /// Loops outside of a block, the last of which is cut, and loops within it.
  SmallVector<Loop> outer, inner;
  int64_t kc = 1;

  int64_t length() const { return kc * pointsOf(inner); }
  /// The loops of a block with `iterations` of the loop that is cut.
  SmallVector<Loop> loopsOf(int64_t iterations) const {
    SmallVector<Loop> loops = inner;
    if (!outer.empty()) {
      loops.insert(loops.begin(), outer.back());
      loops.front().extent = iterations;
    }
    return loops;
  }
};

/// Schedules a contraction, or a block of one; then `dims` are those of the
/// block.
class Scheduler {
public:
  Scheduler(const VectorizedDims &dims, unsigned elementBits,
            const TargetInfo &target, bool areBfloats)
      : dims(dims), target(target), lanes(target.lanes(elementBits)),
        kPack(areBfloats && target.dotsPairs && takesPairs(dims) ? 2 : 1),
        factorBits(elementBits / kPack), line(target.lineElements(factorBits)),
        isParallel(dims.points() * 2 >= kMinParallelFlop) {
    chooseMicroKernel();
    choosePrefetchesOfB();
  }

  ContractionSchedule run() {
    ContractionSchedule schedule;
    schedule.dims = dims;
    schedule.lanes = lanes;
    schedule.kPack = kPack;
    schedule.nrVectors = nrVectors;
    schedule.nr = nr;
    schedule.foldsFill = !splitLoop() && cutSums().outer.empty() && !blocksK();
    for (unsigned i = 0; i < dims.batch.size() && isParallel; ++i)
      if (dims.batch[i].extent >= kMinParallelBatch) {
        schedule.parallelBatch = i;
        isParallel = false;
      }
    partition(schedule);
    return schedule;
  }

private:
  //===-- Micro-kernel ----------------------------------------------------===//

  void chooseMicroKernel() {
    int64_t registers = target.vectorRegisters;
    if (dims.isDot) {
      // Each pair of a row and a column has its own accumulator.
      bool hasMany = registers >= kManyRegisters;
      nr = tile(dims.n, hasMany ? 3 : 2);
      mr = tile(dims.m, hasMany ? 8 : 4);
      return;
    }
    int64_t columns = dims.n.back().extent;
    int64_t vectors = llvm::divideCeil(columns, lanes);
    double best = 0;
    for (int64_t width = 1; width <= std::min(vectors, kMaxNrVectors);
         ++width) {
      int64_t most = (registers - 2 - width) / width;
      if (dims.isElementwise)
        most = std::min(most, kMaxElementwiseMr);
      SmallVector<int64_t> rows = tile(dims.m, most);
      int64_t height = productOf(rows);
      // Prefer few unused lanes, and few loads per product: a row takes one
      // broadcast, a vector of columns one load.
      double useful =
          double(columns) / (llvm::divideCeil(vectors, width) * width * lanes);
      double products = double(height) * width;
      double cycles = std::max({products / 2, double(height + width) / 2, 4.0});
      double pace = useful * products / cycles;
      if (pace > best * 1.02) {
        best = pace;
        mr = rows;
        nrVectors = width;
      }
    }
  }

  int64_t nrElements() const { return nrVectors * lanes; }
  /// The iterations of a loop of n in a tile.
  int64_t stepOf(const Loop &loop) const {
    return &loop == &dims.n.back() ? nrElements() : 1;
  }
  int64_t tilesM() const {
    int64_t tiles = 1;
    for (auto [loop, size] : llvm::zip_equal(dims.m, mr))
      tiles *= llvm::divideCeil(loop.extent, size);
    return tiles;
  }
  int64_t tilesN() const { return pointsOf(dims.n) / nrElements(); }

  //===-- Layouts of the operands -----------------------------------------===//

  /// Whether bf16 are multiplied in pairs: not if k is so short that pairs
  /// would often be padded.
  static bool takesPairs(const VectorizedDims &dims) {
    return !dims.isElementwise && !dims.k.empty() &&
           dims.k.back().extent >= kMinPairedK;
  }
  /// Whether A must be packed to be read in pairs, since it is contiguous along
  /// m instead of k.
  bool pairsA() const {
    return kPack > 1 && !dims.isDot && dims.k.back().strides[A] != 1 &&
           !dims.m.empty() && dims.m.back().strides[A] == 1;
  }

  /// Whether the micro-kernel multiplies broadcast elements of A by vectors of
  /// B.
  bool isOuterProduct() const {
    return !dims.isDot && !dims.isElementwise && !dims.k.empty();
  }
  /// Whether B is already stored in panels.
  bool isBPaneled() const {
    return isOuterProduct() && dims.n.back().extent < kFarStride &&
           dims.k.back().strides[B] == dims.n.back().extent;
  }
  /// Whether consecutive rows of B are far apart: on different cache lines,
  /// often on different pages, where they may conflict in the cache.
  bool isBFar() const {
    return dims.isTransposed ||
           (isOuterProduct() && dims.k.back().strides[B] >= kFarStride);
  }
  /// Whether A is contiguous along m, and k has a large stride.
  bool isAFar() const {
    return isOuterProduct() && !dims.m.empty() &&
           dims.m.back().strides[A] == 1 &&
           dims.k.back().strides[A] >= kFarStride;
  }
  /// Whether rows of A evict each other from L1.
  bool rowsOfAConflict() const {
    return isOuterProduct() && !dims.m.empty() &&
           dims.k.back().strides[A] == 1 &&
           dims.m.back().strides[A] % kConflictStride == 0;
  }
  /// Whether tiles have so few rows that what the micro-kernel reads must be in
  /// L1, without conflicts.
  bool hasLowTiles() const { return target.vectorRegisters < kManyRegisters; }
  /// Whether packing A by rows pays.
  bool packsRowsOfA() const {
    return rowsOfAConflict() && tilesN() >= kMinTilesToPackA &&
           (!isBPaneled() || hasLowTiles());
  }
  /// Whether packing A pays where it is contiguous along m, since what a tile
  /// reads of it maps to few sets of the cache.
  bool packsSumsOfA() const {
    return hasLowTiles() && isAFar() &&
           dims.k.back().strides[A] % kConflictStride == 0 &&
           tilesN() >= kMinTilesToPackFarA;
  }
  /// Whether there is only one tile of rows, so that each element of B is read
  /// once, and rows of B are far apart.
  bool readsBOnce() const {
    return isBFar() && !dims.isTransposed && tilesM() == 1 &&
           dims.k.size() == 1;
  }
  /// Whether packing B pays: enough row tiles use the copy. A tile that
  /// interleaves pairs as it loads them has too few registers for its sums.
  bool packingBPays() const {
    if (kPack > 1)
      return isOuterProduct() && tilesM() >= kMinTilesToPackB;
    return isBFar() &&
           tilesM() >= (isAFar() ? kMinTilesToPackBForFarA : kMinTilesToPackB);
  }

  using Threads = BlockSchedule::Threads;

  //===-- Partitions ------------------------------------------------------===//

  /// Capacities in elements of A or B; see TargetInfo.
  int64_t l1() const { return target.l1Elements(factorBits); }
  int64_t l2() const { return target.l2Elements(factorBits); }
  int64_t resident() const { return target.residentElements(factorBits); }
  /// The most elements of A that a block of rows may read, so that they stay in
  /// L2: of a block that all threads read, each for its own columns, and of a
  /// block that one thread reads.
  int64_t sharedElements() const { return l2() * 3 / 8; }
  int64_t ownElements() const { return l2() * 3 / 16; }
  /// The most elements of a panel of B. It is read in the order of memory, so
  /// it need only stay in L2.
  int64_t longPanelElements() const { return l2() * 5 / 16; }

  /// Columns of a block of the streaming kernel.
  int64_t streamColumns() const {
    return llvm::alignTo(dims.n.back().extent / kThreadBlocks, nrElements());
  }
  bool streams() const {
    return readsBOnce() && dims.n.size() == 1 &&
           dims.k.back().extent > l1() / nrElements() &&
           streamColumns() >= kMinStreamColumns;
  }

  /// Whether all of A stays in the cache while a panel of B is used, and there
  /// are enough panels for threads to share them.
  bool takesPanels() const {
    if (!isParallel || !dims.batch.empty() || tilesM() < kMinTilesToPackB ||
        isAFar() || dims.sizes[A] > (isBPaneled() ? resident() : l2()))
      return false;
    if (isBPaneled())
      return dims.n.size() == 2 && dims.n.front().extent >= kMinPanels;
    return isBFar() && dims.n.size() == 1 && tilesN() >= kMinPanels;
  }

  /// The loop of n with the most tiles, and the iterations of a block of that
  /// loop.
  unsigned columnBlockLoop() const {
    auto *most = llvm::max_element(dims.n, [&](const Loop &a, const Loop &b) {
      return a.extent / stepOf(a) < b.extent / stepOf(b);
    });
    return most - dims.n.begin();
  }
  int64_t columnBlock() const {
    const Loop &loop = dims.n[columnBlockLoop()];
    return loop.extent / stepOf(loop) / kThreadBlocks * stepOf(loop);
  }
  bool takesColumnBlocks() const {
    return isParallel && isAFar() && isBFar() &&
           tilesN() >= kMinTilesForColumnBlocks && columnBlock() > 0;
  }

  /// Whether threads share rows rather than columns.
  bool takesRows() const {
    int64_t rows = tilesM(), columns = 1;
    if (!dims.isDot)
      columns = llvm::divideCeil(dims.n.back().extent, nrElements());
    // A packed block of A is used by all columns, a packed block of B by all
    // rows.
    if (packingBPays() && !isAFar() &&
        !(rowsOfAConflict() && rows >= kMinConflictingRowTiles) &&
        columns >=
            (rows < kFewRowTiles ? kMinColumnTilesForFewRows : kMinColumnTiles))
      return false;
    return rows >= columns || rows >= kMinRowTiles;
  }

  /// Whether threads that share rows would each read all of B for each block of
  /// rows. Then blocks of k are the outermost loop.
  bool blocksK() const {
    return isParallel && isAFar() && takesRows() && !streams() &&
           !takesPanels() && !takesColumnBlocks() &&
           pointsOf(dims.n) * pointsOf(dims.k) > sharedElements();
  }

  int64_t splits() const {
    return std::min(kMaxSplits, kMaxSplitElements / dims.sizes[C]);
  }
  /// The loop of k that is split: C is small, and k is long. None if there is
  /// none.
  std::optional<unsigned> splitLoop() const {
    if (!isParallel || dims.isDot || dims.isElementwise || readsBOnce() ||
        !dims.batch.empty() || takesPanels() ||
        pointsOf(dims.k) < kMaxSplits * kMinSplitLength ||
        splits() < kMinSplits)
      return std::nullopt;
    auto *loop = llvm::find_if(
        dims.k, [&](const Loop &loop) { return loop.extent >= splits(); });
    if (loop == dims.k.end())
      return std::nullopt;
    return loop - dims.k.begin();
  }

  void partition(ContractionSchedule &schedule) const {
    if (std::optional<unsigned> loop = splitLoop()) {
      schedule.partition = Partition::SplitK;
      cut(schedule, dims.k[*loop],
          llvm::divideCeil(dims.k[*loop].extent, splits()), true,
          [&](int64_t extent) {
            Scheduler part = *this;
            part.dims.k[*loop].extent = extent;
            part.isParallel = false;
            return part.block();
          });
    } else if (streams()) {
      schedule.partition = Partition::Stream;
      cut(schedule, dims.n.back(), streamColumns(), isParallel,
          [&](int64_t extent) {
            return withColumns(dims.n.size() - 1, extent)
                .allRows(cutSums(), false);
          });
    } else if (takesPanels()) {
      schedule.partition = Partition::Panels;
      cut(schedule, dims.n.front(), stepOf(dims.n.front()), true,
          [&](int64_t extent) {
            return withColumns(0, extent).allRows(cutSums(),
                                                  kPack > 1 || !isBPaneled());
          });
    } else if (takesColumnBlocks()) {
      schedule.partition = Partition::ColumnBlocks;
      unsigned loop = columnBlockLoop();
      cut(schedule, dims.n[loop], columnBlock(), true, [&](int64_t extent) {
        return withColumns(loop, extent).rowBlocks(cutSums(), Threads::None);
      });
    } else if (blocksK()) {
      schedule.partition = Partition::BlockK;
      blockK(schedule);
    } else {
      BlockSchedule whole = block();
      schedule.partition = whole.threads == Threads::TakeColumns
                               ? Partition::Columns
                           : whole.mcLoop ? Partition::Rows
                                          : Partition::Whole;
      schedule.blocks = {whole};
    }
  }

  /// Cuts `loop` into blocks of `size` iterations; parallel if `isParallel`.
  static void cut(ContractionSchedule &schedule, const Loop &loop, int64_t size,
                  bool isParallel,
                  function_ref<BlockSchedule(int64_t)> blockOf) {
    schedule.cut = ContractionSchedule::Cut{loop, size, isParallel, {}};
    if (loop.extent >= size)
      schedule.blocks.push_back(blockOf(size));
    if (int64_t rest = loop.extent % size)
      schedule.blocks.push_back(blockOf(rest));
  }

  Scheduler withColumns(unsigned loop, int64_t extent) const {
    Scheduler part = *this;
    part.dims.n[loop].extent = extent;
    return part;
  }

  /// Cuts k into blocks, of which the part of B stays in L2.
  void blockK(ContractionSchedule &schedule) const {
    int64_t elements = pointsOf(dims.n);
    size_t inner = dims.k.size();
    while (elements * dims.k[inner - 1].extent <= sharedElements())
      elements *= dims.k[--inner].extent;
    size_t at = inner - 1;
    int64_t extent = dims.k[at].extent;
    int64_t most = std::max<int64_t>(sharedElements() / elements, 1);
    cut(schedule, dims.k[at],
        llvm::divideCeil(extent, llvm::divideCeil(extent, most)), false,
        [&](int64_t extent) {
          Scheduler part = *this;
          part.dims.k.erase(part.dims.k.begin(), part.dims.k.begin() + at);
          part.dims.k.front().extent = extent;
          return part.rowBlocks(part.cutSums(), Threads::TakeRows);
        });
    schedule.cut->around.assign(dims.k.begin(), dims.k.begin() + at);
  }

  //===-- Blocks ----------------------------------------------------------===//

  /// The iterations of k in a block for which kRowsPerPanel rows of A stay in
  /// the cache.
  int64_t iterationsForPanel() const {
    int64_t ofRow = dims.sizes[A] / pointsOf(dims.m);
    return pointsOf(dims.k) * (sharedElements() / kRowsPerPanel) /
           std::max<int64_t>(ofRow, 1);
  }

  KCut cutSums() const {
    int64_t width = dims.isDot ? productOf(nr) : nrElements();
    int64_t panel = streams()       ? kStreamRows * width
                    : readsBOnce()  ? dims.k.back().extent * width
                    : takesPanels() ? longPanelElements()
                    : isBPaneled() && packsRowsOfA() ? l1() / 2
                    : isBPaneled() ? std::min(longPanelElements(),
                                              iterationsForPanel() * width)
                                   : l1();
    int64_t inner = 1;
    size_t at = dims.k.size();
    while (at > 0 && inner * dims.k[at - 1].extent * width <= panel)
      inner *= dims.k[--at].extent;
    KCut cut;
    cut.outer.assign(dims.k.begin(), dims.k.begin() + at);
    cut.inner.assign(dims.k.begin() + at, dims.k.end());
    if (at > 0) {
      // Cut the next loop into equal parts that still fit.
      int64_t extent = cut.outer.back().extent;
      int64_t fits = std::max<int64_t>(panel / (inner * width), 1);
      int64_t parts = llvm::divideCeil(extent, fits);
      cut.kc = llvm::divideCeil(extent, parts);
      if (at == dims.k.size())
        cut.kc = llvm::alignTo(
            cut.kc, dims.isDot || dims.isTransposed ? lanes * kPack : kPack);
    }
    return cut;
  }

  /// One block of everything that is left to compute.
  BlockSchedule block() const {
    Threads threads = !isParallel   ? Threads::None
                      : takesRows() ? Threads::TakeRows
                                    : Threads::TakeColumns;
    bool isCut = threads == Threads::TakeRows || packingBPays();
    return isCut && !dims.m.empty()
               ? rowBlocks(cutSums(), threads)
               : allRows(cutSums(), dims.isTransposed, threads);
  }

  /// A block of all rows, of which threads can only share the columns.
  BlockSchedule allRows(const KCut &cut, bool packsB,
                        Threads threads = Threads::None) const {
    BlockSchedule block;
    block.packsB = packsB;
    if (threads == Threads::TakeColumns)
      block.threads = threads;
    finish(block, cut);
    return block;
  }

  BlockSchedule rowBlocks(const KCut &cut, Threads threads) const {
    BlockSchedule block;
    block.threads = threads;
    Scheduler inside = *this;
    unsigned loop = inside.chooseMcLoop(block, cut);
    int64_t &extent = inside.dims.m[loop].extent, whole = extent;
    block.mcLoop = loop;
    block.mc = inside.chooseMc(block, cut);
    extent = std::min(block.mc, whole);
    block.packsB = dims.isTransposed || inside.packingBPays();
    block.packsPanelsOfA = pairsA() || inside.packsSumsOfA();
    block.packedRowOfA = packedLength(cut);
    if (!block.packsPanelsOfA && block.packedRowOfA % kConflictStride == 0)
      block.packedRowOfA += line;
    block.packedA = inside.packedRows(block) * block.packedRowOfA;
    block.packsA = threads != Threads::TakeColumns &&
                   (block.packsPanelsOfA || inside.packsRowsOfA()) &&
                   block.packedA <= kMaxPackedElements;
    block.packsPanelsOfA &= block.packsA;
    extent = whole;
    inside.finish(block, cut);
    return block;
  }

  /// Chooses the loop of m that is cut into blocks of MC. Loops of which a
  /// block has one iteration become loops around the block.
  unsigned chooseMcLoop(BlockSchedule &block, const KCut &cut) {
    SmallVector<Loop> &m = dims.m;
    unsigned longest = 0;
    for (unsigned i = 0; i < m.size(); ++i)
      if (m[i].extent > m[longest].extent)
        longest = i;
    // Prefer whole iterations of an outer loop to parts of an inner one.
    for (unsigned i = 0; i < m.size(); ++i)
      if (m[i].extent >= kThreadBlocks &&
          m[i].strides[C] > m[longest].strides[C])
        longest = i;
    // If one iteration is too large, cut the next loop.
    while (elementsOfIteration(longest, cut) > sharedElements() &&
           mr[longest] == 1 && longest + 1 < m.size() &&
           m[longest + 1].extent >= kThreadBlocks) {
      block.outerM.push_back(m[longest]);
      m.erase(m.begin() + longest);
      mr.erase(mr.begin() + longest);
    }
    return longest;
  }

  /// Chooses MC so that a block's part of A stays in the cache, or so that
  /// threads are balanced.
  int64_t chooseMc(const BlockSchedule &block, const KCut &cut) {
    int64_t extent = dims.m[*block.mcLoop].extent,
            &mr = this->mr[*block.mcLoop];
    bool threadsTakeRows = block.threads == Threads::TakeRows;
    int64_t elements =
        threadsTakeRows && !isBPaneled() ? ownElements() : sharedElements();
    int64_t mc = std::max<int64_t>(
        elements / elementsOfIteration(*block.mcLoop, cut), 1);
    mc = threadsTakeRows && block.outerM.empty() ? shareRows(extent, mc, mr)
                                                 : llvm::alignTo(mc, mr);
    // A block is one tile if k is short, so that long rows are written in the
    // order of memory; and if all panels of B stay in L2, from which each tile
    // reads them as they are.
    bool byTiles = (cut.length() <= kShortK && hasLongRows()) ||
                   (isBPaneled() && kPack == 1 && dims.sizes[B] <= resident());
    if (cut.outer.empty() && byTiles)
      mc = mr;
    return std::min<int64_t>(mc, llvm::alignTo(extent, mr));
  }
  bool hasLongRows() const {
    return !dims.isDot && !dims.isElementwise &&
           dims.n.back().extent >= kLongRow;
  }

  /// The elements of A that one more iteration of a loop of m adds to a block.
  /// Windows of a convolution overlap, and share elements.
  int64_t elementsOfIteration(size_t loop, const KCut &cut) const {
    SmallVector<Loop> sums = cut.inner;
    if (!cut.outer.empty()) {
      sums.push_back(cut.outer.back());
      sums.back().extent = cut.kc;
    }
    int64_t elements = 1;
    for (auto [i, row] : llvm::enumerate(dims.m)) {
      int64_t stride = row.strides[A];
      auto overlaps = [&](const Loop &sum) {
        int64_t tap = std::abs(sum.strides[A]);
        return tap > 0 && stride % tap == 0 && stride / tap <= sum.extent;
      };
      auto *taps = llvm::find_if(sums, overlaps);
      if (taps == sums.end()) {
        elements *= i == loop ? 1 : row.extent;
        continue;
      }
      int64_t step = stride / std::abs(taps->strides[A]);
      elements *= i == loop ? step : step * (row.extent - 1) + taps->extent;
      sums.erase(taps);
    }
    return elements * pointsOf(sums);
  }

  /// The rows of a block in its packed copy. Micro-panels hold whole tiles.
  int64_t packedRows(const BlockSchedule &block) const {
    int64_t last = dims.m.back().extent;
    return pointsOf(dims.m) / last *
           (block.packsPanelsOfA ? llvm::alignTo(last, mr.back()) : last);
  }
  /// The iterations of k in a block, padded to whole packs as in packed copies.
  int64_t packedLength(const KCut &cut) const {
    SmallVector<Loop> loops = cut.loopsOf(cut.kc);
    int64_t last = loops.empty() ? 1 : loops.back().extent;
    return cut.length() / last * llvm::alignTo(last, kPack);
  }

  /// Sets what follows from the loops of a block.
  void finish(BlockSchedule &block, const KCut &cut) const {
    block.m = dims.m;
    block.n = dims.n;
    block.mr = mr;
    block.outerK = cut.outer;
    block.kc = cut.kc;
    block.kLength = cut.length();
    block.prefetchesC = !dims.isDot && block.kLength >= kLongK;
    block.packedB = nrElements() * packedLength(cut);
    block.wholeK = kBlock(block, cut, cut.kc);
    if (!cut.outer.empty())
      block.restK = kBlock(block, cut, cut.outer.back().extent % cut.kc);
  }

  //===-- Prefetches ------------------------------------------------------===//

  /// Prefetches B if it is read once. Of panels that exceed the cache,
  /// prefetches later rows of the panel, or the next panel.
  void choosePrefetchesOfB() {
    if (readsBOnce() && !streams())
      prefetchesOfB.push_back({Prefetch::What::Vectors,
                               kPrefetchIterations * dims.k.back().strides[B],
                               CacheLevel::L1});
    if (!isBPaneled() || dims.n.size() != 2 || dims.sizes[B] <= resident())
      return;
    int64_t panel = dims.n.front().strides[B];
    int64_t distance = panel <= l2() / 8 ? panel
                                         : kPrefetchIterationsOfPanel *
                                               dims.k.back().strides[B];
    if (distance != 0)
      prefetchesOfB.push_back(
          {Prefetch::What::Vectors, distance, CacheLevel::L2});
  }

  KBlock kBlock(const BlockSchedule &block, const KCut &cut,
                int64_t iterations) const {
    KBlock sums{cut.loopsOf(iterations), {}};
    if (dims.isDot)
      return sums;
    if (!block.packsB)
      sums.prefetches = prefetchesOfB;
    if (block.packsA || dims.isElementwise || dims.m.empty() ||
        sums.loops.empty())
      return sums;
    const Loop &row = dims.m.back(), &sum = sums.loops.back();
    bool rowsFollow = sums.loops.size() == 1 && dims.m.size() == 1 &&
                      sum.strides[A] == 1 && row.strides[A] == sum.extent;
    using What = Prefetch::What;
    if (rowsFollow && mr.back() * row.strides[A] < dims.sizes[A]) {
      // Prefetch all lines of the next tile, spread over the iterations.
      sums.prefetches.push_back({What::FollowingTile, line, CacheLevel::L2});
    } else if (row.strides[A] == 1 && sum.strides[A] >= line) {
      // Contiguous rows are in one or two lines, which a prefetch of each row
      // would fetch repeatedly.
      sums.prefetches.push_back(
          {What::Rows, kPrefetchIterationsL2 * sum.strides[A], CacheLevel::L1});
      if (!block.packsB && sum.strides[B] >= line)
        sums.prefetches.push_back({What::Vectors,
                                   kPrefetchIterationsL2 * sum.strides[B],
                                   CacheLevel::L1});
      // Prefetch the same rows of the next block of k.
      if (!cut.outer.empty())
        sums.prefetches.push_back({What::FirstRow,
                                   cut.kc * cut.outer.back().strides[A],
                                   CacheLevel::L2});
    }
    return sums;
  }

  VectorizedDims dims;
  const TargetInfo &target;
  int64_t lanes; ///< elements of C in a vector
  int64_t kPack;
  unsigned factorBits; ///< of an element of A or B
  int64_t line;        ///< such elements in a cache line
  SmallVector<int64_t> mr, nr;
  int64_t nrVectors = 1;
  SmallVector<Prefetch> prefetchesOfB;
  bool isParallel;
};
} // namespace

ContractionSchedule netc::schedule(const VectorizedDims &dims,
                                   unsigned elementBits,
                                   const TargetInfo &target, bool areBfloats) {
  return Scheduler(dims, elementBits, target, areBfloats).run();
}
