// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Memory.h"

#include <algorithm>

using namespace netc::simulator;

/// Readers of a cell: several threads of a block; threads of several blocks.
static constexpr int32_t kManyThreads = -1, kManyBlocks = -2;

/// The writer of a cell after an atomic operation.
static int32_t atomicWriter(int32_t thread) { return -1 - thread; }

/// The reader of a cell after a read by `thread`, if it was `reader` at `time`.
static int32_t readerAfter(int32_t reader, int32_t time, int32_t thread,
                           const Moment &moment) {
  int32_t many =
      (time < moment.now) | (reader == thread) ? thread : kManyThreads;
  int32_t blocks =
      (time < moment.block) | (reader == kManyBlocks) ? kManyBlocks : many;
  return time < moment.launch ? thread : blocks;
}

/// The page for bytes within a page, with cells that are not larger than
/// `count`.
TrackedBytes::Page &TrackedBytes::pageOf(uint64_t at, uint32_t count) {
  PageSlot &slot = pages[at / kPageBytes];
  if (!slot.page)
    slot.page = std::make_unique<Page>(2, slot.isKnown);
  uint64_t both = (at | count) & 3;
  int shift = both == 0 ? 2 : both == 2 ? 1 : 0;
  if (shift < slot.page->shift) {
    auto finer = std::make_unique<Page>(shift, false);
    for (size_t i = 0; i < finer->cells.size(); ++i)
      finer->cells[i] = slot.page->cells[i >> (slot.page->shift - shift)];
    slot.page = std::move(finer);
  }
  return *slot.page;
}

void TrackedBytes::reset(uint64_t size) {
  if (bytes.size() < size) {
    bytes.resize(size);
    pages.resize((size + kPageBytes - 1) / kPageBytes);
  }
  bytes.resize(size);
  mark(0, size, false);
}

void TrackedBytes::mark(uint64_t at, uint64_t count, bool isWritten) {
  for (uint64_t end = at + count; at < end;) {
    uint64_t here = std::min(kPageBytes - at % kPageBytes, end - at);
    PageSlot &slot = pages[at / kPageBytes];
    bool isWhole = at % kPageBytes == 0 &&
                   (here == kPageBytes || at + here == bytes.size());
    if (isWhole && !slot.page) {
      slot.isKnown = isWritten;
    } else {
      Page &page = pageOf(at, uint32_t(here));
      uint64_t first = at % kPageBytes >> page.shift;
      for (uint64_t i = first; i < first + (here >> page.shift); ++i)
        page.cells[i].written = isWritten ? 0 : kNever;
    }
    at += here;
  }
}

void TrackedBytes::clearAccesses() {
  for (PageSlot &slot : pages)
    if (slot.page)
      for (Cell &cell : slot.page->cells) {
        cell.written = std::min(cell.written, 0);
        cell.read = 0;
      }
}

const char *TrackedBytes::note(AccessKind kind, uint64_t at, uint32_t count,
                               int32_t thread, const Moment &moment) {
  Page &page = pageOf(at, count);
  const char *wrong = nullptr;
  bool isAtomic = kind == AccessKind::Atomic;
  Cell *first = &page.cells[at % kPageBytes >> page.shift];
  for (Cell *cell = first; cell < first + (count >> page.shift); ++cell) {
    bool isOwn = cell->writer == thread || cell->writer == atomicWriter(thread);
    bool meetsWriter = !isOwn && !moment.isBefore(cell->written) &&
                       !(isAtomic && cell->writer < 0);
    if (kind != AccessKind::Write && cell->written == kNever)
      wrong = "read of memory that nothing wrote";
    if (kind != AccessKind::Write && meetsWriter)
      wrong = "race: read after write";
    if (kind == AccessKind::Read) {
      cell->reader = readerAfter(cell->reader, cell->read, thread, moment);
      cell->read = moment.now;
      continue;
    }
    if (meetsWriter)
      wrong = "race: write after write";
    if (cell->read >= moment.launch && cell->reader != thread &&
        (cell->reader == kManyBlocks || !moment.isBefore(cell->read)))
      wrong = "race: write after read";
    cell->writer = isAtomic ? atomicWriter(thread) : thread;
    cell->written = moment.now;
  }
  return wrong;
}

template <bool IsRead>
uint32_t TrackedBytes::noteLanes(uint32_t lanes, const uint64_t *at,
                                 uint32_t count, int32_t thread,
                                 const Moment &moment) {
  const int32_t launch = moment.launch, now = moment.now;
  uint32_t left = 0;
  uint64_t number = ~uint64_t(0);
  Cell *ofPage = nullptr;
  int shift = 0;
  uint32_t cells = 0;
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    if (at[lane] / kPageBytes != number) {
      number = at[lane] / kPageBytes;
      Page *page = pages[number].page.get();
      ofPage = page && count >> page->shift ? page->cells.data() : nullptr;
      if (ofPage)
        shift = page->shift, cells = count >> shift;
    }
    if (!ofPage) {
      left |= 1u << lane;
      continue;
    }
    int32_t who = thread + lane;
    Cell *cell = ofPage + (at[lane] % kPageBytes >> shift);
    for (Cell *end = cell + cells; cell < end; ++cell) {
      // Written by the host or an earlier launch, and not uninitialized.
      bool isFine = uint32_t(cell->written) < uint32_t(launch) ||
                    (cell->written != kNever &&
                     (cell->writer == who || moment.isBefore(cell->written)));
      if (!IsRead)
        isFine = (isFine || cell->written == kNever) &&
                 (cell->read < launch || cell->reader == who);
      if (!isFine) {
        left |= 1u << lane;
      } else if (!IsRead) {
        cell->writer = who;
        cell->written = now;
      } else if (cell->reader != who || cell->read != now) {
        cell->reader = readerAfter(cell->reader, cell->read, who, moment);
        cell->read = now;
      }
    }
  }
  return left;
}

uint32_t TrackedBytes::noteLanes(AccessKind kind, uint32_t lanes,
                                 const uint64_t *at, uint32_t count,
                                 int32_t thread, const Moment &moment) {
  if (kind == AccessKind::Atomic)
    return lanes;
  return kind == AccessKind::Read
             ? noteLanes<true>(lanes, at, count, thread, moment)
             : noteLanes<false>(lanes, at, count, thread, moment);
}

uint64_t Memory::allocate(uint64_t bytes) {
  uint64_t start = next;
  allocations.emplace(start, std::max<uint64_t>(bytes, 1));
  // Gaps between allocations catch accesses out of bounds.
  next += (bytes + 1023) / 256 * 256 + 4096;
  return start;
}

void Memory::release(uint64_t address) {
  allocations.erase(address);
  last = nullptr;
}

void Memory::clearAccesses() {
  for (auto &[address, bytes] : allocations)
    bytes.clearAccesses();
}

TrackedBytes *Memory::find(uint64_t address, uint64_t bytes, uint64_t &at) {
  if (!last || address < lastStart || address - lastStart >= last->size()) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin())
      return nullptr;
    --after;
    lastStart = after->first;
    last = &after->second;
  }
  at = address - lastStart;
  return at <= last->size() && bytes <= last->size() - at ? last : nullptr;
}
