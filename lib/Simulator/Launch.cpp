// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Launch.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

using namespace netc::simulator;

/// The value of a special register for a thread.
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
  case Special::SmId:
    return index.x;
  case Special::Clock64:
  case Special::GlobalTimer:
    break;
  }
  return 0;
}

Launch::Launch(Device &device, Kernel &kernel, Extent grid, Extent block,
               uint32_t sharedBytes, const std::vector<char> &parameters,
               bool isExact)
    : device(device), kernel(kernel), grid(grid), block(block),
      sharedBytes(sharedBytes), parameters(parameters), isExact(isExact),
      isAlone(grid.count() == 1 && block.count() == 1),
      globalSpans(kernel.accesses), sharedSpans(kernel.accesses) {
  moment.launch = moment.block = moment.now = ++device.now;
  warps.resize((block.count() + kLanes - 1) / kLanes);
  // Align slots to the widest vectors of the host.
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
    if (isWide(special)) {
      std::fill_n(reinterpret_cast<uint64_t *>(warp.file + slot), kLanes,
                  device.counters().instructions + counted.instructions);
      continue;
    }
    auto *lanes = reinterpret_cast<uint32_t *>(warp.file + slot);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = specialOf(special, grid, block, index, warp.first + lane);
  }
  warp.parts = {{0, warp.threads}};
  warp.copies.assign(1, {});
  warp.products.assign(1, {});
  warp.areAccumulatorsFenced = false;
  warp.unfenced.clear();
  warp.atPhase = 0;
  warp.clock.assign(warps.size(), 0);
  warp.clock[warp.number()] = 1;
}

void Launch::run(uint32_t which, const std::vector<uint32_t> &order) {
  number = which;
  Extent index{number % grid.x, number / grid.x % grid.y,
               number / grid.x / grid.y};
  moment.block = moment.now = ++device.now;
  if (uint32_t bytes = kernel.sharedBytes + sharedBytes)
    device.shared->reset(bytes);
  if (kernel.usesAsyncProxy) {
    chunks.assign((kernel.sharedBytes + sharedBytes + 15) / 16, {});
    uses.assign(chunks.size() * warps.size(), 0);
    barriers.clear();
  }
  for (Warp &warp : warps)
    start(warp, index);
  bool advances;
  do {
    advances = false;
    for (uint32_t number : order)
      advances |= advance(warps[number]);
  } while ((advances && !barriers.empty()) || releaseBarrier());
  checkBarriers();
  if (kernel.sharedBytes + sharedBytes)
    compare(sharedSpans);
}

/// Releases the waiting threads when all others have ended or wait, too.
/// Returns whether any waited.
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
  if (kernel.sharedBytes + sharedBytes)
    compare(sharedSpans);
  moment.now = ++device.now;
  if (kernel.usesAsyncProxy)
    synchronizeClocks();
  ++counted.barriers;
  for (Warp &warp : warps)
    warp.atBarrier = 0;
  return true;
}

bool Launch::advance(Warp &warp) {
  uint64_t before = counted.instructions;
  warp.atPhase = 0;
  for (;;) {
    // The part with the lowest pc runs next. Parts at the same pc are merged.
    // Waiting parts are skipped.
    uint32_t pc = ~0u, lanes = 0, next = ~0u;
    uint32_t waiting = warp.atBarrier | warp.atPhase;
    for (const Part &part : warp.parts)
      if (!(part.lanes & waiting))
        pc = std::min(pc, part.pc);
    if (pc == ~0u)
      return counted.instructions != before;
    size_t kept = 0;
    for (const Part &part : warp.parts) {
      bool isFree = !(part.lanes & waiting);
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
  uint32_t mask = 0;
#ifdef __SSE2__
  auto *lanes = reinterpret_cast<const __m128 *>(predicates);
  for (int four = 0; four < kLanes / 4; ++four)
    mask |= uint32_t(_mm_movemask_ps(lanes[four])) << (4 * four);
#else
  auto *lanes = reinterpret_cast<const uint32_t *>(predicates);
  for (int lane = 0; lane < kLanes; ++lane)
    mask |= (lanes[lane] & 1) << lane;
#endif
  return mask;
}

/// Runs a part until it diverges, ends, waits, or reaches `next`, where another
/// part waits to reconverge.
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
        if (i.usesAccumulators)
          useAccumulators(warp, i);
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
    } else if (i.control == Instruction::Wait) {
      if (lanes && !waitForPhase(warp, i, lanes)) {
        --instructions;
        warp.atPhase |= part.lanes;
        warp.parts.push_back(part);
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
  if (!isExact)
    throw Suspicion();
  device.report(kind, kernel, kernel.sources[size_t(&i - kernel.code.data())]);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Shared memory is accessed only by the threads of one block.
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
  if (isShared)
    noteGenericAccess(warp, i, at, bytes, kind);
  uint64_t ats[kLanes];
  ats[lane] = at;
  HostAddresses one;
  one.isDense = true;
  int32_t first = threadOf(warp, 0);
  if (isExact)
    noteExactly(i, 1u << lane, *memory, isShared, ats, bytes, kind, first, one);
  else
    noteRoughly(i, 1u << lane, *memory, isShared, address, at, bytes, ats,
                bytes, kind, first, one);
  return memory->data() + at;
}

/// Collects the addresses of the active lanes, relative to the first one. Then
/// the last address is repeated.
static void gather(const uint64_t *addresses, uint32_t lanes, int64_t *at) {
  uint64_t start = addresses[__builtin_ctz(lanes)];
  int count = 0;
  for (; lanes; lanes &= lanes - 1)
    at[count++] = int64_t(addresses[__builtin_ctz(lanes)] - start);
  std::fill(at + count, at + kLanes, at[count - 1]);
}

NETC_WIDE static bool isSame(const Pattern &p, const uint64_t *addresses) {
  uint64_t different = 0;
  if (p.lanes == ~0u) {
    for (int lane = 0; lane < kLanes; ++lane)
      different |=
          (addresses[lane] - addresses[0]) ^ uint64_t(int64_t(p.at[lane]));
    return !different;
  }
  int64_t at[kLanes];
  gather(addresses, p.lanes, at);
  for (int lane = 0; lane < kLanes; ++lane)
    different |= uint64_t(at[lane] ^ p.at[lane]);
  return !different;
}

NETC_WIDE static void inspect(Pattern &p, const int64_t *at) {
  int64_t apart = 0, different = 0, low = 0, high = 0, lost = 0;
  for (uint32_t k = 0; k < kLanes; ++k) {
    p.at[k] = int32_t(at[k]);
    lost |= at[k] ^ p.at[k];
    apart |= k < p.count ? at[k] ^ int64_t(k * p.bytes) : 0;
    different |= at[k];
    low = std::min(low, at[k]);
    high = std::max(high, at[k]);
  }
  p.low = low;
  p.high = high;
  p.odd = uint64_t(different);
  int first = __builtin_ctz(p.lanes);
  bool isRun =
      p.lanes >> first == (p.count == kLanes ? ~0u : (1u << p.count) - 1);
  p.isDense = !apart && isRun;
  p.isUniform = !different && isRun;
  if (lost)
    p.lanes = 0; // addresses too far apart match no other access
}

/// The number of sectors that the active lanes access.
NETC_WIDE static uint32_t sectorsOf(const uint64_t *addresses, uint32_t lanes) {
  int64_t at[kLanes];
  uint64_t sectors[kLanes], changes = 1, falls = 0;
  gather(addresses, lanes, at);
  uint64_t start = addresses[__builtin_ctz(lanes)];
  for (int k = 0; k < kLanes; ++k)
    sectors[k] = (start + uint64_t(at[k])) / 32;
  for (int k = 1; k < kLanes; ++k) {
    changes += sectors[k] != sectors[k - 1];
    falls |= uint64_t(sectors[k] < sectors[k - 1]);
  }
  if (!falls)
    return uint32_t(changes);
  std::sort(sectors, sectors + kLanes);
  return uint32_t(std::unique(sectors, sectors + kLanes) - sectors);
}

/// The number of passes over the 32 banks of shared memory, and the fewest
/// possible. A pass serves at most as many lanes as access 128 bytes.
static std::pair<uint32_t, uint32_t>
wavefrontsOf(const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  uint32_t passes = 0, least = 0;
  uint32_t atOnce = bytes <= 4 ? kLanes : 128 / bytes;
  uint32_t unit = std::max(bytes, 4u), places = 128 / unit;
  for (uint32_t first = 0; first < kLanes; first += atOnce) {
    uint32_t group =
        lanes >> first & (atOnce == kLanes ? ~0u : (1u << atOnce) - 1);
    // Most accesses have no conflicts between banks.
    uint64_t known[32];
    uint32_t taken = 0;
    bool isFree = true;
    for (uint32_t left = group; left; left &= left - 1) {
      uint64_t address = addresses[first + uint32_t(__builtin_ctz(left))];
      uint64_t here = address / unit;
      uint32_t place = uint32_t(here % places), bit = 1u << place;
      isFree &=
          address % bytes == 0 && (!(taken & bit) || known[place] == here);
      taken |= bit;
      known[place] = here;
    }
    if (isFree) {
      passes += group != 0;
      least += (uint32_t(__builtin_popcount(taken)) * unit / 4 + 31) / 32;
      continue;
    }
    uint64_t inBank[32][kLanes];
    uint32_t words[32] = {}, most = 0, all = 0;
    for (uint32_t left = group; left; left &= left - 1) {
      uint64_t address = addresses[first + uint32_t(__builtin_ctz(left))];
      for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4;
           ++word) {
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

Pattern &Launch::patternOf(const Instruction &i, uint32_t lanes,
                           const uint64_t *addresses, uint32_t bytes) {
  Pattern &p = kernel.patterns[i.access];
  if (p.lanes == lanes && p.bytes == bytes && isSame(p, addresses))
    return p;
  int64_t at[kLanes];
  gather(addresses, lanes, at);
  p.lanes = lanes;
  p.bytes = bytes;
  p.count = countOf(lanes);
  p.startOfSectors = p.startOfBanks = ~0u;
  inspect(p, at);
  return p;
}

void Launch::count(Pattern &p, uint32_t lanes, Space space,
                   const uint64_t *addresses) {
  uint64_t start = addresses[__builtin_ctz(lanes)];
  if (space == Space::Global) {
    if (p.startOfSectors != start % 32) {
      p.startOfSectors = uint32_t(start % 32);
      p.sectors = p.isDense || p.isUniform
                      ? uint32_t((start + uint64_t(p.high) + p.bytes - 1) / 32 -
                                 start / 32 + 1)
                      : sectorsOf(addresses, lanes);
    }
    counted.sectors += p.sectors;
    counted.idealSectors += std::min(p.sectors, (p.count * p.bytes + 31) / 32);
  } else if (space == Space::Shared) {
    // The passes depend on the alignment alone: to shift all addresses by words
    // renumbers the banks.
    uint32_t startOfBanks = uint32_t(start % std::max(p.bytes, 4u));
    if (p.startOfBanks != startOfBanks) {
      p.startOfBanks = startOfBanks;
      p.passes = p.leastPasses = 1;
      if (p.isDense)
        p.passes = p.leastPasses = (p.count * p.bytes + 127) / 128;
      else if (!p.isUniform)
        std::tie(p.passes, p.leastPasses) =
            wavefrontsOf(addresses, lanes, p.bytes);
    }
    counted.wavefronts += p.passes;
    counted.idealWavefronts += p.leastPasses;
  }
}

NETC_WIDE static void place(const uint64_t *addresses, uint64_t low,
                            uint64_t start, char *data, uint64_t *at,
                            char **of) {
  for (int lane = 0; lane < kLanes; ++lane)
    at[lane] = start + (addresses[lane] - low);
  for (int lane = 0; lane < kLanes; ++lane)
    of[lane] = data + at[lane];
}

void Launch::access(Warp &warp, const Instruction &i, uint32_t lanes,
                    Space spaceOf, const uint64_t *addresses, uint32_t bytes,
                    AccessKind kind, HostAddresses &places) {
  int first = __builtin_ctz(lanes);
  Pattern &p = patternOf(i, lanes, addresses, bytes);
  uint64_t low = addresses[first] + uint64_t(p.low),
           top = addresses[first] + uint64_t(p.high);
  uint64_t base = low;
  Space space = resolve(spaceOf, base);
  count(p, lanes, space, addresses);

  // Fast path: check all lanes at once.
  bool isShared = space == Space::Shared;
  TrackedBytes *memory = nullptr;
  uint64_t at = base, extent = uint64_t(p.high - p.low) + bytes;
  places.isDense = p.isDense && first == 0;
  places.isUniform = p.isUniform;
  if ((p.odd | addresses[first]) % bytes == 0 &&
      resolve(spaceOf, top) == space && space != Space::Local) {
    if (!isShared)
      memory = device.memory->find(base, extent, at);
    else if (uint64_t size = kernel.sharedBytes + sharedBytes;
             at <= size && extent <= size - at)
      memory = device.shared.get();
  }
  if (!memory) {
    for (uint32_t left = lanes; left; left &= left - 1) {
      int lane = __builtin_ctz(left);
      places.of[lane] =
          accessLane(warp, i, lane, spaceOf, addresses[lane], bytes, kind);
      places.isMissing |= !places.of[lane];
    }
    places.isDense = places.isUniform = false;
    return;
  }
  uint64_t ats[kLanes];
  place(addresses, low, at, memory->data(), ats, places.of);
  if (isShared && kernel.usesAsyncProxy)
    for (uint32_t left = lanes; left; left &= left - 1)
      noteGenericAccess(warp, i, ats[__builtin_ctz(left)], bytes, kind);
  int32_t thread = threadOf(warp, first) - first;
  if (isExact)
    noteExactly(i, lanes, *memory, isShared, ats, bytes, kind, thread, places);
  else
    noteRoughly(i, lanes, *memory, isShared, base, at, extent, ats, bytes, kind,
                thread, places);
}

void Launch::noteExactly(const Instruction &i, uint32_t lanes,
                         TrackedBytes &memory, bool isShared,
                         const uint64_t *at, uint32_t bytes, AccessKind kind,
                         int32_t thread, const HostAddresses &places) {
  Moment when = momentOf(isShared);
  // If all lanes read one address, two lanes show that several threads do.
  uint32_t some = lanes;
  if (places.isUniform && kind == AccessKind::Read && countOf(lanes) > 2)
    some = 3u << __builtin_ctz(lanes);
  uint32_t left = memory.noteLanes(kind, some, at, bytes, thread, when);
  if (left && some != lanes)
    left = lanes;
  for (; left; left &= left - 1) {
    int lane = __builtin_ctz(left);
    if (const char *wrong =
            memory.note(kind, at[lane], bytes, thread + lane, when))
      report(i, wrong);
  }
}

void Launch::noteRoughly(const Instruction &i, uint32_t lanes,
                         TrackedBytes &memory, bool isShared, uint64_t low,
                         uint64_t start, uint64_t extent, const uint64_t *at,
                         uint32_t bytes, AccessKind kind, int32_t thread,
                         const HostAddresses &places) {
  uint32_t some = places.isUniform ? lanes & (0 - lanes) : lanes;
  auto forPlaces = [&](auto body) {
    for (uint32_t left = some; left; left &= left - 1)
      body(at[__builtin_ctz(left)]);
  };
  bool isWrite = kind == AccessKind::Write, isRead = kind == AccessKind::Read;
  bool isNear = extent <= 512;
  if (!isWrite && !(isNear && memory.isWritten(start, extent)))
    forPlaces([&](uint64_t place) {
      if (!memory.isWritten(place, bytes))
        throw Suspicion();
    });
  if (!isRead && !isShared) {
    if (isNear)
      memory.save(start, extent);
    else
      forPlaces([&](uint64_t place) { memory.save(place, bytes); });
  }
  if (isAlone) {
    if (isWrite)
      forPlaces([&](uint64_t place) { memory.mark(place, bytes, true); });
    return;
  }
  bool isCompared = isWrite || (isRead && !isShared && !i.isReadOnly);
  Span &span = (isShared ? sharedSpans : globalSpans)[i.access];
  span.kind = isWrite      ? Span::Write
              : !isRead    ? Span::Atomic
              : isCompared ? Span::ComparedRead
                           : Span::Read;
  span.low = std::min(span.low, low);
  span.high = std::max(span.high, low + extent);
  if (!isCompared)
    return;
  // As in noteExactly(), two lanes are enough if all read one address.
  if (isWrite)
    some = lanes;
  else if (uint32_t rest = lanes & ~some; places.isUniform)
    some |= rest & (0 - rest);
  if (memory.noteLanes(kind, some, at, bytes, thread, momentOf(isShared)))
    throw Suspicion();
}

void Launch::compare(std::vector<Span> &spans) {
  sorted.clear();
  for (Span &span : spans)
    if (span.low < span.high)
      sorted.push_back(std::exchange(span, Span()));
  std::sort(sorted.begin(), sorted.end(),
            [](const Span &a, const Span &b) { return a.low < b.low; });
  // By kind, the largest end of the spans that start before this one.
  uint64_t ends[4] = {};
  for (const Span &span : sorted) {
    for (int kind :
         {Span::ComparedRead, Span::Read, Span::Write, Span::Atomic}) {
      bool isApart = kind == span.kind ||
                     (kind <= Span::Read && span.kind <= Span::Read) ||
                     kind + span.kind == Span::ComparedRead + Span::Write;
      if (!isApart && ends[kind] > span.low)
        throw Suspicion();
    }
    ends[span.kind] = std::max(ends[span.kind], span.high);
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
    if (read[lane] == bytes) {
      whole |= 1u << lane;
      continue;
    }
    // The largest power of two, up to 4, that the number of bytes is a multiple
    // of.
    uint32_t step = std::min<uint32_t>(4, read[lane] & (0 - read[lane]));
    for (uint32_t at = 0; at < read[lane]; at += step)
      accessLane(warp, i, lane, Space::Global, from[lane] + at, step,
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
    // The destination must not be read until the copy is complete.
    device.shared->forget(to[lane], bytes);
    warp.copies.back().push_back(
        {lane, to[lane], from[lane], bytes, read[lane]});
  }
}

void Launch::endCopies(Warp &warp, const Instruction &i, size_t groups) {
  while (warp.copies.size() > groups + 1) {
    for (const AsyncCopy &copy : warp.copies.front()) {
      char *to = device.shared->data() + copy.to;
      std::memset(to, 0, copy.bytes);
      Span &span = sharedSpans[i.access];
      span.kind = Span::Write;
      span.low = std::min(span.low, copy.to);
      span.high = std::max(span.high, copy.to + copy.bytes);
      noteGenericAccess(warp, i, copy.to, copy.bytes, AccessKind::Write);
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
