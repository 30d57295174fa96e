// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Launch.h"

#include <algorithm>
#include <cstring>
#include <tuple>

using namespace netc::simulator;

/// The values of a special register for the threads of a warp.
static uint32_t specialOf(Special special, Extent grid, Extent block,
                          Extent index, uint32_t thread) {
  switch (special) {
  case Special::TidX:
    return thread % block.x;
  case Special::TidY:
    return thread / block.x % block.y;
  case Special::TidZ:
    return thread / block.x / block.y;
  case Special::NtidX:
    return block.x;
  case Special::NtidY:
    return block.y;
  case Special::NtidZ:
    return block.z;
  case Special::CtaidX:
    return index.x;
  case Special::CtaidY:
    return index.y;
  case Special::CtaidZ:
    return index.z;
  case Special::NctaidX:
    return grid.x;
  case Special::NctaidY:
    return grid.y;
  case Special::NctaidZ:
    return grid.z;
  case Special::LaneId:
    return thread % kLanes;
  case Special::WarpId:
    return thread / kLanes;
  }
  return 0;
}

Launch::Launch(Device &device, const Kernel &kernel, Extent grid, Extent block,
               uint32_t sharedBytes, std::vector<char> parametersOf)
    : device(device), kernel(kernel), grid(grid), block(block),
      sharedBytes(sharedBytes), parameters(std::move(parametersOf)) {
  moment.launch = moment.block = moment.now = ++device.now;
  warps.resize((block.count() + kLanes - 1) / kLanes);
  // Align slots like vectors of the host.
  size_t file = (kernel.fileBytes + 63) / 64 * 64;
  device.files.resize(file * warps.size() + 64);
  char *next = device.files.data();
  next += -reinterpret_cast<uintptr_t>(next) & 63;
  for (Warp &warp : warps) {
    warp.file = next;
    next += file;
    std::memcpy(warp.file, kernel.constants.data(), kernel.constants.size());
    warp.first = uint32_t(&warp - warps.data()) * kLanes;
    uint64_t there = block.count() - warp.first;
    warp.threads = there >= kLanes ? ~0u : (1u << there) - 1;
  }
}

void Launch::start(Warp &warp, Extent index) {
  std::memset(warp.file + kernel.constants.size(), 0,
              kernel.fileBytes - kernel.constants.size());
  warp.local.assign(size_t(kernel.localBytes) * kLanes, 0);
  for (auto [special, slot] : kernel.specials) {
    auto *lanes = reinterpret_cast<uint32_t *>(warp.file + slot);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = specialOf(special, grid, block, index, warp.first + lane);
  }
  warp.parts = {{0, warp.threads}};
  warp.copies.assign(1, {});
}

void Launch::run(uint32_t which, const std::vector<uint32_t> &order) {
  number = which;
  Extent index{number % grid.x, number / grid.x % grid.y,
               number / grid.x / grid.y};
  moment.block = moment.now = ++device.now;
  if (uint32_t bytes = kernel.sharedBytes + sharedBytes)
    device.shared->reset(bytes);
  for (Warp &warp : warps)
    start(warp, index);
  do
    for (uint32_t number : order)
      advance(warps[number]);
  while (releaseBarrier());
}

/// Releases the waiting threads when all others have ended or wait, too.
/// Returns whether there were any.
bool Launch::releaseBarrier() {
  bool anyone = false, everyone = true;
  for (const Warp &warp : warps) {
    anyone |= warp.atBarrier != 0;
    everyone &= warp.atBarrier == warp.threads;
  }
  if (!anyone)
    return false;
  if (!everyone)
    report(*lastBarrier, "divergent barrier: not all threads reach it");
  moment.now = ++device.now;
  ++counted.barriers;
  for (Warp &warp : warps)
    warp.atBarrier = 0;
  return true;
}

void Launch::advance(Warp &warp) {
  for (;;) {
    // The part with the lowest pc runs next. Parts at the same pc are merged.
    // Waiting parts are skipped.
    uint32_t pc = ~0u, lanes = 0, next = ~0u;
    for (const Part &part : warp.parts)
      if (!(part.lanes & warp.atBarrier))
        pc = std::min(pc, part.pc);
    if (pc == ~0u)
      return;
    size_t kept = 0;
    for (const Part &part : warp.parts) {
      bool isFree = !(part.lanes & warp.atBarrier);
      if (isFree && part.pc == pc) {
        lanes |= part.lanes;
        continue;
      }
      if (isFree)
        next = std::min(next, part.pc);
      warp.parts[kept++] = part;
    }
    warp.parts.resize(kept);
    step(warp, {pc, lanes}, next);
  }
}

static uint32_t countOf(uint32_t lanes) {
  return lanes == ~0u ? kLanes : uint32_t(__builtin_popcount(lanes));
}

/// The lanes whose predicates are true.
static uint32_t maskOf(const char *predicates) {
  auto *lanes = reinterpret_cast<const uint32_t *>(predicates);
  uint32_t mask = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    mask |= (lanes[lane] & 1) << lane;
  return mask;
}

/// Runs a part until it diverges, ends, waits, or reaches `next`, where another
/// part is waiting to reconverge.
void Launch::step(Warp &warp, Part part, uint32_t next) {
  uint64_t instructions = 0, flop = 0;
  for (;;) {
    if (part.pc >= next) {
      warp.parts.push_back(part);
      break;
    }
    const Instruction &i = kernel.code[part.pc];
    uint32_t lanes = part.lanes;
    if (i.guard >= 0) {
      uint32_t mask = maskOf(warp.file + i.guard);
      lanes &= i.isNegated ? ~mask : mask;
    }
    ++instructions;
    if (i.control == Instruction::None) {
      if (lanes) {
        if (i.flop)
          flop += i.flop * countOf(lanes);
        i.run(*this, warp, i, lanes);
      }
    } else if (i.control == Instruction::Branch) {
      if (lanes == part.lanes) {
        part.pc = uint32_t(i.target);
        continue;
      }
      if (lanes) {
        ++counted.divergences;
        warp.parts.push_back({uint32_t(i.target), lanes});
        warp.parts.push_back({part.pc + 1, part.lanes & ~lanes});
        break;
      }
    } else if (i.control == Instruction::Return) {
      part.lanes &= ~lanes;
      if (!part.lanes)
        break;
    } else {
      lastBarrier = &i;
      if (lanes) {
        warp.atBarrier |= lanes;
        warp.parts.push_back({part.pc + 1, lanes});
      }
      if (part.lanes & ~lanes)
        warp.parts.push_back({part.pc + 1, part.lanes & ~lanes});
      break;
    }
    ++part.pc;
  }
  counted.instructions += instructions;
  counted.flop += flop;
}

void Launch::report(const Instruction &i, const std::string &kind) {
  device.report(kind, kernel, kernel.sources[size_t(&i - kernel.code.data())]);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Only threads of the block access its shared memory.
Moment Launch::momentOf(bool isShared) const {
  return {isShared ? moment.block : moment.launch, moment.block, moment.now};
}

int32_t Launch::threadOf(const Warp &warp, int lane) const {
  uint64_t thread =
      uint64_t(number) * block.count() + warp.first + uint64_t(lane);
  return int32_t(thread & 0x7fffffff);
}

/// Resolves a generic address to a space and an address in it.
static Space resolve(Space space, uint64_t &address) {
  if (space != Space::Generic)
    return space;
  if (address >= kLocalWindow) {
    address -= kLocalWindow;
    return Space::Local;
  }
  if (address >= kSharedWindow) {
    address -= kSharedWindow;
    return Space::Shared;
  }
  return Space::Global;
}

char *Launch::accessLane(Warp &warp, const Instruction &i, int lane,
                         Space space, uint64_t address, uint32_t bytes,
                         AccessKind kind) {
  if (address % bytes != 0) {
    report(i, "misaligned access");
    return nullptr;
  }
  space = resolve(space, address);
  if (space == Space::Local) {
    if (address > kernel.localBytes || bytes > kernel.localBytes - address) {
      report(i, "local access out of bounds");
      return nullptr;
    }
    return warp.local.data() + size_t(lane) * kernel.localBytes + address;
  }
  bool isShared = space == Space::Shared;
  TrackedBytes *memory = device.shared.get();
  uint64_t at = address, size = kernel.sharedBytes + sharedBytes;
  if (!isShared)
    memory = device.memory->find(address, bytes, at);
  else if (at > size || bytes > size - at)
    memory = nullptr;
  if (!memory) {
    report(i, isShared ? "shared access out of bounds"
                       : "global access out of bounds");
    return nullptr;
  }
  if (const char *wrong = memory->note(kind, at, bytes, threadOf(warp, lane),
                                       momentOf(isShared)))
    report(i, wrong);
  return memory->data() + at;
}

/// The number of 32-byte sectors that aligned accesses of the lanes touch.
static uint32_t sectorsOf(const uint64_t *addresses, uint32_t lanes) {
  uint64_t sectors[kLanes], last = ~uint64_t(0);
  uint32_t count = 0;
  bool isSorted = true;
  for (; lanes; lanes &= lanes - 1) {
    uint64_t sector = addresses[__builtin_ctz(lanes)] / 32;
    if (sector == last)
      continue;
    isSorted &= count == 0 || last < sector;
    sectors[count++] = last = sector;
  }
  if (isSorted)
    return count;
  std::sort(sectors, sectors + count);
  return uint32_t(std::unique(sectors, sectors + count) - sectors);
}

/// The number of passes over the 32 banks of shared memory, and the least
/// number possible. Each pass serves as many lanes as access 128 bytes.
static std::pair<uint32_t, uint32_t>
wavefrontsOf(const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  uint32_t passes = 0, least = 0;
  uint32_t atOnce = bytes <= 4 ? kLanes : 128 / bytes;
  for (uint32_t first = 0; first < kLanes; first += atOnce) {
    uint64_t inBank[32][kLanes];
    uint32_t words[32] = {}, most = 0, all = 0;
    for (uint32_t lane = first; lane < first + atOnce; ++lane) {
      if (!(lanes >> lane & 1))
        continue;
      for (uint64_t word = addresses[lane] / 4;
           word <= (addresses[lane] + bytes - 1) / 4; ++word) {
        uint64_t *known = inBank[word % 32];
        uint32_t &count = words[word % 32];
        if (std::find(known, known + count, word) != known + count)
          continue;
        known[count++] = word;
        most = std::max(most, count);
        ++all;
      }
    }
    passes += most;
    least += (all + 31) / 32;
  }
  return {passes, least};
}

void Launch::access(Warp &warp, const Instruction &i, uint32_t lanes,
                    Space spaceOf, const uint64_t *addresses, uint32_t bytes,
                    AccessKind kind, HostAddresses &places) {
  int first = __builtin_ctz(lanes);
  uint32_t count = countOf(lanes);
  uint64_t start = addresses[first], apart = 0, different = 0, odd = 0;
  bool isRun = lanes >> first == (count == 32 ? ~0u : (1u << count) - 1);
  uint64_t low = start, high = start;
  if (isRun) {
    for (uint32_t k = 0; k < count; ++k) {
      uint64_t address = addresses[uint32_t(first) + k];
      apart |= address ^ (start + k * bytes);
      different |= address ^ start;
    }
    high = start + (apart ? 0 : (count - 1) * uint64_t(bytes));
  }
  bool isDense = isRun && !apart, isUniform = isRun && !different;
  if (!isDense && !isUniform)
    for (uint32_t left = lanes; left; left &= left - 1) {
      uint64_t address = addresses[__builtin_ctz(left)];
      low = std::min(low, address);
      high = std::max(high, address);
      odd |= address;
    }
  odd |= start;

  uint64_t base = low, top = high;
  Space space = resolve(spaceOf, base);
  if (space == Space::Global) {
    uint32_t sectors = isDense || isUniform
                           ? uint32_t((high + bytes - 1) / 32 - low / 32 + 1)
                           : sectorsOf(addresses, lanes);
    counted.sectors += sectors;
    counted.idealSectors += std::min(sectors, (count * bytes + 31) / 32);
  } else if (space == Space::Shared) {
    uint32_t passes = 1, least = 1;
    if (isDense)
      passes = least = (count * bytes + 127) / 128;
    else if (!isUniform)
      std::tie(passes, least) = wavefrontsOf(addresses, lanes, bytes);
    counted.wavefronts += passes;
    counted.idealWavefronts += least;
  }

  // Fast path: check all lanes at once.
  bool isShared = space == Space::Shared;
  TrackedBytes *memory = nullptr;
  uint64_t at = base, span = top - low + bytes;
  places.isDense = isDense && bytes * count == span && first == 0;
  if (odd % bytes == 0 && resolve(spaceOf, top) == space &&
      space != Space::Local) {
    if (!isShared)
      memory = device.memory->find(base, span, at);
    else if (uint64_t size = kernel.sharedBytes + sharedBytes;
             at <= size && span <= size - at)
      memory = device.shared.get();
  }
  if (!memory) {
    for (uint32_t left = lanes; left; left &= left - 1) {
      int lane = __builtin_ctz(left);
      places.of[lane] =
          accessLane(warp, i, lane, spaceOf, addresses[lane], bytes, kind);
      places.isMissing |= !places.of[lane];
    }
    places.isDense &= !places.isMissing;
    return;
  }
  char *data = memory->data() + at;
  for (int lane = 0; lane < kLanes; ++lane)
    places.of[lane] = data + (addresses[lane] - low);
  Moment when = momentOf(isShared);
  int32_t thread = threadOf(warp, first);
  uint64_t ats[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    ats[lane] = at + (addresses[lane] - low);
  // If all lanes read one address, noting two of them is enough.
  uint32_t some = lanes;
  if (isUniform && kind == AccessKind::Read && count > 2)
    some = 3u << first;
  uint32_t left =
      memory->noteLanes(kind, some, ats, bytes, thread - first, when);
  if (left && some != lanes)
    left = lanes;
  for (; left; left &= left - 1) {
    int lane = __builtin_ctz(left);
    if (const char *wrong =
            memory->note(kind, ats[lane], bytes, thread - first + lane, when))
      report(i, wrong);
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void Launch::beginCopies(Warp &warp, const Instruction &i, uint32_t lanes,
                         const uint64_t *to, const uint64_t *from,
                         const uint32_t *read, uint32_t bytes) {
  HostAddresses places;
  uint32_t whole = 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    int lane = __builtin_ctz(left);
    if (read[lane] == bytes)
      whole |= 1u << lane;
    else
      for (uint32_t at = 0; at < read[lane]; at += 4)
        accessLane(warp, i, lane, Space::Global, from[lane] + at, 4,
                   AccessKind::Read);
  }
  if (whole)
    access(warp, i, whole, Space::Global, from, bytes, AccessKind::Read,
           places);
  access(warp, i, lanes, Space::Shared, to, bytes, AccessKind::Write, places);
  for (uint32_t left = lanes; left; left &= left - 1) {
    int lane = __builtin_ctz(left);
    if (!places.of[lane])
      continue;
    // The destination may not be read before the copy is complete.
    device.shared->mark(to[lane], bytes, false);
    warp.copies.back().push_back(
        {lane, to[lane], from[lane], bytes, read[lane]});
  }
}

void Launch::endCopies(Warp &warp, const Instruction &i, size_t groups) {
  while (warp.copies.size() > groups + 1) {
    for (const AsyncCopy &copy : warp.copies.front()) {
      char *to = device.shared->data() + copy.to;
      std::memset(to, 0, copy.bytes);
      if (const char *wrong =
              device.shared->note(AccessKind::Write, copy.to, copy.bytes,
                                  threadOf(warp, copy.lane), momentOf(true)))
        report(i, wrong);
      uint64_t at;
      if (copy.read)
        if (TrackedBytes *memory =
                device.memory->find(copy.from, copy.read, at))
          std::memcpy(to, memory->data() + at, copy.read);
    }
    warp.copies.pop_front();
  }
}
