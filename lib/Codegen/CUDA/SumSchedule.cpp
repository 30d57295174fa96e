// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/SumSchedule.h"

#include <algorithm>

using namespace netc;

/// The units that a multiprocessor should have at once, so that some compute
/// while others wait for memory.
static int64_t unitsAtOnce(SumKind kind) {
  return kind == SumKind::Product ? 1 : kind == SumKind::Row ? 16 : 512;
}

/// The fewest values that a part reduces: with fewer, partial results cost more
/// than splitting saves.
static int64_t leastDepth(SumKind kind) {
  return kind == SumKind::Product ? kLeastProducts
         : kind == SumKind::Row   ? 1024
                                  : 32;
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
