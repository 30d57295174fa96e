// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/SumSchedule.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace netc;

/// The units that a multiprocessor should have at once, so that some compute
/// while others wait for memory.
static int64_t unitsAtOnce(SumKind kind) {
  switch (kind) {
  case SumKind::Product:
    return 1;
  case SumKind::Row:
    return 16;
  case SumKind::Columns:
    return 3;
  case SumKind::Column:
    return 512;
  }
  llvm_unreachable("unknown kind of sum");
}

/// The fewest values that a part reduces: with fewer, partial results cost more
/// than splitting saves.
static int64_t leastDepth(SumKind kind) {
  switch (kind) {
  case SumKind::Product:
    return kLeastProducts;
  case SumKind::Row:
    return 1024;
  case SumKind::Columns:
    return 256;
  case SumKind::Column:
    return 32;
  }
  llvm_unreachable("unknown kind of sum");
}

int64_t netc::partsOf(const SumDims &dims, const DeviceInfo &device) {
  if (dims.units == 0)
    return 1;
  int64_t wanted = device.multiprocessors * unitsAtOnce(dims.kind) / dims.units;
  return std::max<int64_t>(std::min(wanted, dims.depth / leastDepth(dims.kind)),
                           1);
}

int64_t netc::equalParts(int64_t extent, int64_t wanted) {
  int64_t parts = std::min(wanted, extent);
  while (extent % parts != 0)
    --parts;
  return parts;
}

int64_t ColumnSchedule::blocksOf(const ColumnDims &dims) const {
  return dims.units * llvm::divideCeil(dims.extent, columns());
}

/// The threads of a block, if there is work for as many.
static constexpr int64_t kMostThreads = 256;
/// The threads in a row that read a run of 512 and of 64 bytes.
static constexpr int64_t kLanesOfLongRun = 32, kLanesOfShortRun = 4;
/// The fewest rows that a thread reduces.
static constexpr int64_t kRowsOfThread = 4;

/// The most rows that threads can share.
static int64_t mostRows(const ColumnDims &dims) {
  uint64_t rows = std::max<int64_t>(dims.depth / kRowsOfThread, 1);
  return std::min<int64_t>(llvm::bit_floor(rows), kMostThreads);
}

static ColumnSchedule withLanes(const ColumnDims &dims, int64_t width,
                                int64_t lanes) {
  return {width, lanes, std::min(kMostThreads / lanes, mostRows(dims))};
}

ColumnSchedule netc::longestRuns(const ColumnDims &dims, int64_t width) {
  int64_t needed = llvm::PowerOf2Ceil(llvm::divideCeil(dims.extent, width));
  int64_t lanes = std::max(kLanesOfLongRun, kMostThreads / mostRows(dims));
  return withLanes(dims, width, std::min(needed, lanes));
}

ColumnSchedule netc::scheduleColumns(const ColumnDims &dims, int64_t width,
                                     const DeviceInfo &device) {
  ColumnSchedule schedule = longestRuns(dims, width);
  while (schedule.lanes > kLanesOfShortRun &&
         schedule.blocksOf(dims) < device.multiprocessors)
    schedule = withLanes(dims, width, schedule.lanes / 2);
  return schedule;
}
