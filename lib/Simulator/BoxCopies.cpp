// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies of boxes of tensors to shared memory (`cp.async.bulk.tensor`). They
// are complete when a phase of their mbarrier is.

#include "lib/Simulator/Handlers.h"

#include <algorithm>

using namespace netc::simulator;

static_assert(sizeof(TensorMap) == 128, "as a CUtensorMap");

/// What is swizzled at once, in bytes, and the width of the pattern.
static constexpr uint32_t kChunk = 16, kSwizzle = 128;

std::optional<TensorMap>
netc::simulator::encodeTensorMap(uint32_t elementBytes, uint32_t axes,
                                 uint64_t address, const uint64_t *sizes,
                                 const uint64_t *strides, const uint32_t *box) {
  bool isValid = axes >= 1 && axes <= TensorMap::kMostAxes &&
                 address % kChunk == 0 && box[0] * elementBytes % kChunk == 0 &&
                 box[0] * elementBytes <= kSwizzle;
  TensorMap map;
  map.address = address;
  map.elementBytes = elementBytes;
  map.axes = axes;
  for (uint32_t axis = 0; isValid && axis < axes; ++axis) {
    uint64_t stride = axis ? strides[axis - 1] : elementBytes;
    isValid = sizes[axis] >= 1 && sizes[axis] <= uint64_t(1) << 32 &&
              box[axis] >= 1 && box[axis] <= 256 &&
              (!axis || stride % kChunk == 0) && stride < uint64_t(1) << 40;
    map.sizes[axis] = sizes[axis];
    map.strides[axis] = stride;
    map.box[axis] = box[axis];
  }
  return isValid ? std::optional(map) : std::nullopt;
}

namespace {
/// A row of a box along its innermost axis, of which the bytes from `first` to
/// `end` are in the tensor.
struct BoxRow {
  uint64_t from; ///< the address of byte 0 in global memory
  uint64_t to;   ///< in shared memory, if it were not swizzled
  uint32_t bytes;
  int64_t first, end;

  /// Where the chunk at a byte is in shared memory.
  uint64_t placeOf(uint32_t byte) const { return swizzled(to + byte); }
};
} // namespace

template <typename Visit>
static void forRows(const BoxCopy &copy, Visit visit) {
  const TensorMap &map = copy.map;
  uint32_t bytes = map.box[0] * map.elementBytes, count = copy.bytes() / bytes;
  for (uint32_t number = 0; number < count; ++number) {
    bool isInside = true;
    int64_t offset = copy.first[0] * int64_t(map.elementBytes);
    uint32_t rest = number;
    BoxRow row{0, copy.to + number * bytes, bytes, 0, 0};
    row.first = std::max<int64_t>(0, -offset);
    row.end = std::min<int64_t>(
        bytes, int64_t(map.sizes[0] * map.elementBytes) - offset);
    for (uint32_t axis = 1; axis < map.axes; ++axis) {
      int64_t at = copy.first[axis] + int64_t(rest % map.box[axis]);
      rest /= map.box[axis];
      isInside &= at >= 0 && uint64_t(at) < map.sizes[axis];
      offset += at * int64_t(map.strides[axis]);
    }
    row.from = map.address + uint64_t(offset);
    if (!isInside || row.end < row.first)
      row.first = row.end = 0;
    visit(row);
  }
}

uint32_t BoxCopy::bytes() const {
  uint32_t bytes = map.elementBytes;
  for (uint32_t axis = 0; axis < map.axes; ++axis)
    bytes *= map.box[axis];
  return bytes;
}

void Launch::readBox(Warp &warp, const BoxCopy &copy) {
  const Instruction &i = *copy.instruction;
  uint64_t addresses[kLanes];
  uint32_t count = 0;
  auto readChunks = [&] {
    HostAddresses places;
    if (count)
      access(warp, i, count == kLanes ? ~0u : (1u << count) - 1, Space::Global,
             addresses, kChunk, AccessKind::Read, places);
    count = 0;
  };
  forRows(copy, [&](const BoxRow &row) {
    for (int64_t at = row.first; at < row.end;) {
      uint32_t bytes = copy.map.elementBytes;
      if ((row.from + uint64_t(at)) % kChunk == 0 && at + kChunk <= row.end) {
        bytes = kChunk;
        addresses[count++] = row.from + uint64_t(at);
        if (count == kLanes)
          readChunks();
      } else
        accessLane(warp, i, 0, Space::Global, row.from + uint64_t(at), bytes,
                   AccessKind::Read);
      at += bytes;
    }
  });
  readChunks();
}

void Launch::occupy(Warp &warp, const BoxCopy &copy) {
  const Instruction &i = *copy.instruction;
  forRows(copy, [&](const BoxRow &row) {
    for (uint32_t byte = 0; byte < row.bytes; byte += kChunk) {
      uint64_t at = row.placeOf(byte);
      SharedChunk &chunk = chunks[at / kChunk];
      if (chunk.readers)
        report(i, "race: write to memory that a pending wgmma reads");
      else if (chunk.isFilling)
        report(i, "race: write after write");
      else if (isUsed(warp, at / kChunk))
        report(i, "race: write after an access that was not waited for");
      if (chunk.writers)
        report(i, "copy by cp.async.bulk without `fence.proxy.async` after the "
                  "write");
      chunk.isFilling = true;
      device.shared->mark(at, kChunk, false);
    }
  });
}

void Launch::beginBoxCopy(Warp &warp, BoxCopy copy, uint64_t map,
                          uint64_t mbarrier) {
  const Instruction &i = *copy.instruction;
  uint64_t at = map - kParameterWindow;
  if (map < kParameterWindow || at % 64 != 0 ||
      at + sizeof copy.map > parameters.size())
    return report(i, "tensor map that is no parameter of the kernel");
  std::memcpy(&copy.map, parameter(at), sizeof copy.map);
  if (copy.map.axes != i.width)
    return report(i, "tensor map of another number of axes");
  uint32_t bytes = copy.bytes();
  if (copy.to % kSwizzle != 0)
    return report(i, "misaligned access");
  if (uint64_t size = kernel.sharedBytes + sharedBytes;
      copy.to > size || bytes > size - copy.to)
    return report(i, "shared access out of bounds");
  PhaseBarrier *barrier = barrierAt(warp, i, mbarrier);
  if (!barrier)
    return;
  if (!barrier->isFenced)
    report(i, "mbarrier without `fence.mbarrier_init` after its "
              "initialization");
  readBox(warp, copy);
  occupy(warp, copy);
  counted.wavefronts += bytes / 128;
  counted.idealWavefronts += bytes / 128;
  barrier->bytes -= bytes;
  if (!barrier->pending && barrier->bytes < 0)
    report(i, "copy of more bytes than its mbarrier expects");
  barrier->copies.push_back(copy);
}

void Launch::complete(const BoxCopy &copy, const PhaseBarrier &barrier) {
  forRows(copy, [&](const BoxRow &row) {
    char bytes[kSwizzle] = {};
    uint64_t at;
    auto count = uint64_t(row.end - row.first);
    if (count)
      if (TrackedBytes *memory =
              device.memory->find(row.from + uint64_t(row.first), count, at))
        std::memcpy(bytes + row.first, memory->data() + at, count);
    for (uint32_t byte = 0; byte < row.bytes; byte += kChunk) {
      uint64_t place = row.placeOf(byte);
      std::memcpy(device.shared->data() + place, bytes + byte, kChunk);
      device.shared->mark(place, kChunk, true);
      SharedChunk &chunk = chunks[place / kChunk];
      chunk.isFilling = false;
      chunk.filledBy = barrier.number;
      chunk.filledIn = barrier.phase;
    }
  });
}

/// `cp.async.bulk.tensor`. Operands: the address in shared memory, the tensor
/// map, the coordinates of the box's first element, and the mbarrier.
void netc::simulator::copyBox(Launch &run, Warp &warp, const Instruction &i,
                              uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    BoxCopy copy{&i, Launch::lanes<uint32_t>(warp, i, 0)[lane], {}, {}};
    for (uint32_t axis = 0; axis < i.width; ++axis)
      copy.first[axis] = Launch::lanes<int32_t>(warp, i, 2 + axis)[lane];
    run.beginBoxCopy(warp, copy, Launch::lanes<uint64_t>(warp, i, 1)[lane],
                     Launch::lanes<uint32_t>(warp, i, 2u + i.width)[lane]);
  }
}
