// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CPU/ContractionSchedule.h"
#include "lib/Codegen/LinalgQueries.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// Whether an epilogue can read the result of a product tile by tile, in
/// vectors of columns.
static bool takesEpilogue(const ContractionSchedule &schedule,
                          linalg::GenericOp epilogue) {
  const VectorizedDims &dims = schedule.dims;
  if (dims.isDot || schedule.partition == Partition::SplitK ||
      schedule.partition == Partition::BlockK)
    return false;
  ArrayRef<int64_t> inputs = ArrayRef(dims.n.back().strides).drop_front(C + 1);
  ArrayRef<int64_t> results = inputs.take_back(epilogue.getNumDpsInits());
  return llvm::all_of(results, [](int64_t stride) { return stride == 1; }) &&
         llvm::all_of(
             inputs, [](int64_t stride) { return stride == 0 || stride == 1; });
}

static std::optional<ContractionSchedule>
scheduleWith(linalg::GenericOp epilogue, linalg::LinalgOp op,
             const TargetInfo &target) {
  std::optional<LoopNest> nest = LoopNest::of(op, epilogue);
  if (!nest || nest->scatters(op.getNumDpsInputs()))
    return std::nullopt;
  std::optional<VectorizedDims> dims = VectorizedDims::of(*nest);
  if (!dims)
    return std::nullopt;
  Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  bool areBfloats = llvm::all_of(op.getDpsInputs(), [](Value input) {
    return getElementTypeOrSelf(input.getType()).isBF16();
  });
  return schedule(*dims, element.getIntOrFloatBitWidth(), target,
                  areBfloats && element.isF32());
}

std::optional<ContractionSchedule> netc::scheduleOf(linalg::LinalgOp op,
                                                    const TargetInfo &target) {
  if (!isContraction(op))
    return std::nullopt;
  std::optional<ContractionSchedule> alone = scheduleWith(nullptr, op, target);
  linalg::GenericOp epilogue = epilogueOf(op);
  if (!alone || !epilogue)
    return alone;
  // The schedule without the epilogue is better if the epilogue's strides keep
  // loops from being collapsed.
  std::optional<ContractionSchedule> whole = scheduleWith(epilogue, op, target);
  if (!whole || whole->dims.numLoops() != alone->dims.numLoops() ||
      !takesEpilogue(*whole, epilogue))
    return alone;
  whole->hasEpilogue = true;
  return whole;
}

/// What a partition cuts a contraction into, and what its threads share.
static StringRef nameOf(Partition partition) {
  static constexpr StringRef names[] = {"whole",   "rows",          "columns",
                                        "panels",  "column blocks", "stream",
                                        "split k", "block k"};
  return names[unsigned(partition)];
}
static StringRef sharedBy(Partition partition) {
  static constexpr StringRef names[] = {
      "nothing",       "rows",          "columns", "panels",
      "column blocks", "column blocks", "k",       "rows"};
  return names[unsigned(partition)];
}

static void printSizes(raw_ostream &os, ArrayRef<int64_t> sizes) {
  os << '[';
  llvm::interleaveComma(sizes, os);
  os << ']';
}

/// Prints `4`, or `[2, 4]` for several loops.
static void printTile(raw_ostream &os, ArrayRef<int64_t> sizes) {
  if (sizes.size() < 2)
    os << (sizes.empty() ? 1 : sizes.front());
  else
    printSizes(os, sizes);
}

static SmallVector<int64_t> extentsOf(ArrayRef<Loop> loops) {
  return llvm::map_to_vector(loops,
                             [](const Loop &loop) { return loop.extent; });
}

/// The rows of a block of MC, by loop of m; 1 for a loop outside of the block.
static SmallVector<int64_t> rowsOf(const BlockSchedule &block) {
  SmallVector<int64_t> rows = extentsOf(block.m);
  int64_t &cut = rows[*block.mcLoop];
  cut = std::min(cut, block.mc);
  rows.insert(rows.begin() + *block.mcLoop, block.outerM.size(), 1);
  return rows;
}

static void printPrefetch(raw_ostream &os, const Prefetch &prefetch) {
  using What = Prefetch::What;
  os << (prefetch.what == What::Vectors ? "B" : "A");
  if (prefetch.what == What::FollowingTile)
    os << " next tile";
  else
    os << (prefetch.what == What::FirstRow ? " first row +" : " +")
       << prefetch.distance;
  os << " L" << int(prefetch.level);
}

static void printPrefetches(raw_ostream &os, const BlockSchedule &block) {
  if (block.wholeK.prefetches.empty() && !block.prefetchesC)
    return;
  os << " | prefetch ";
  llvm::ListSeparator comma;
  for (const Prefetch &prefetch : block.wholeK.prefetches)
    printPrefetch(os << comma, prefetch);
  if (block.prefetchesC)
    os << comma << "C L1";
}

static void printPacking(raw_ostream &os, const BlockSchedule &block,
                         bool isTransposed) {
  if (!block.packsA && !block.packsB)
    return;
  os << " | pack ";
  llvm::ListSeparator comma;
  if (block.packsA)
    os << comma << "A";
  if (block.packsB)
    os << comma << (isTransposed ? "B transposed" : "B");
}

void ContractionSchedule::print(raw_ostream &os) const {
  const BlockSchedule &block = blocks.front();
  os << "contraction";
  if (!dims.batch.empty())
    printSizes(os << " batch=", extentsOf(dims.batch));
  printSizes(os << " m=", extentsOf(dims.m));
  printSizes(os << " n=", extentsOf(dims.n));
  printSizes(os << " k=", extentsOf(dims.k));
  printTile(os << " | micro-kernel ", block.mr);
  os << " x ";
  if (dims.isDot)
    printTile(os, nr);
  else
    os << nrVectors;
  os << (dims.isDot           ? " dot products"
         : dims.isElementwise ? " element-wise vectors"
                              : " vectors");
  if (kPack > 1)
    os << " of pairs";
  if (cut)
    os << " | " << nameOf(partition) << ' ' << cut->size;
  if (block.mcLoop)
    printTile(os << " | mc ", rowsOf(block));
  os << " | kc " << block.kLength;
  printPacking(os, block, dims.isTransposed);
  if (parallelBatch)
    os << " | threads over batch";
  else if (isParallel())
    os << " | threads over " << sharedBy(partition);
  else
    os << " | one thread";
  printPrefetches(os, block);
  if (foldsFill)
    os << " | fold fill";
  if (hasEpilogue)
    os << " | epilogue";
}

raw_ostream &netc::operator<<(raw_ostream &os,
                              const ContractionSchedule &schedule) {
  schedule.print(os);
  return os;
}
