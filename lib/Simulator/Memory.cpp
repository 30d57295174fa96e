// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Memory.h"

#include <algorithm>
#include <cstring>

using namespace netc::simulator;

/// The reader of a cell that several threads of a block have read, or threads
/// of several blocks.
static constexpr int32_t kManyThreads = -1, kManyBlocks = -2;

/// The writer of a cell after an atomic operation.
static int32_t atomicWriter(int32_t thread) { return -1 - thread; }

/// The reader of a cell after a read by `thread`, if `reader` read it at
/// `time`.
static int32_t readerAfter(int32_t reader, int32_t time, int32_t thread,
                           const Moment &moment) {
  int32_t many =
      ((time < moment.now) | (reader == thread)) ? thread : kManyThreads;
  int32_t blocks =
      ((time < moment.block) | (reader == kManyBlocks)) ? kManyBlocks : many;
  return time < moment.launch ? thread : blocks;
}

//===----------------------------------------------------------------------===//
// Written bytes
//===----------------------------------------------------------------------===//

/// A mask of `count` bits from bit `from` on. `count` must be at least 1.
static uint64_t bitsFrom(uint64_t from, uint64_t count) {
  return (~uint64_t(0) >> (64 - count)) << from;
}

void TrackedBytes::reset(uint64_t size) {
  bytes.resize(size);
  written.assign((size + 63) / 64, 0);
  if (uint64_t count = (size + kPageBytes - 1) / kPageBytes;
      pages.size() < count)
    pages.resize(count);
}

void TrackedBytes::mark(uint64_t at, uint64_t count, bool isWritten) {
  for (uint64_t end = at + count; at < end;) {
    uint64_t here = std::min(64 - at % 64, end - at);
    uint64_t bits = bitsFrom(at % 64, here);
    if (isWritten)
      written[at / 64] |= bits;
    else
      written[at / 64] &= ~bits;
    at += here;
  }
}

bool TrackedBytes::isWritten(uint64_t at, uint64_t count) const {
  uint64_t missing = 0;
  for (uint64_t end = at + count; at < end;) {
    uint64_t here = std::min(64 - at % 64, end - at);
    missing |= ~written[at / 64] & bitsFrom(at % 64, here);
    at += here;
  }
  return !missing;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

TrackedBytes::Page &TrackedBytes::pageOf(uint64_t at) {
  std::unique_ptr<Page> &page = pages[at / kPageBytes];
  if (!page)
    page = std::make_unique<Page>();
  return *page;
}

TrackedBytes::Page &TrackedBytes::pageOf(uint64_t at, uint32_t count) {
  Page &page = pageOf(at);
  uint64_t both = (at | count) & 3;
  int shift = both == 0 ? 2 : both == 2 ? 1 : 0;
  if (shift < page.shift) {
    std::vector<Cell> finer(kPageBytes >> shift);
    for (size_t i = 0; i < finer.size(); ++i)
      finer[i] = page.cells[i >> (page.shift - shift)];
    page.cells = std::move(finer);
    page.shift = shift;
  }
  return page;
}

void TrackedBytes::clearAccesses() {
  for (std::unique_ptr<Page> &page : pages)
    if (page)
      std::fill(page->cells.begin(), page->cells.end(), Cell());
}

void TrackedBytes::forget(uint64_t at, uint32_t count) {
  mark(at, count, false);
  Page &page = pageOf(at, count);
  Cell *first = &page.cells[at % kPageBytes >> page.shift];
  for (Cell *cell = first; cell < first + (count >> page.shift); ++cell)
    cell->written = 0;
}

const char *TrackedBytes::note(AccessKind kind, uint64_t at, uint32_t count,
                               int32_t thread, const Moment &moment) {
  Page &page = pageOf(at, count);
  const char *wrong = nullptr;
  bool isAtomic = kind == AccessKind::Atomic;
  Cell *first = &page.cells[at % kPageBytes >> page.shift];
  for (uint32_t k = 0; k < count >> page.shift; ++k) {
    Cell *cell = first + k;
    bool isOwn = cell->writer == thread || cell->writer == atomicWriter(thread);
    bool meetsWriter = !isOwn && !moment.isBefore(cell->written) &&
                       !(isAtomic && cell->writer < 0);
    if (kind != AccessKind::Write &&
        !isWritten(at + (k << page.shift), 1u << page.shift))
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
  if (kind != AccessKind::Read)
    mark(at, count, true);
  return wrong;
}

template <bool IsRead>
uint32_t TrackedBytes::noteLanes(uint32_t lanes, const uint64_t *at,
                                 uint32_t count, int32_t thread,
                                 const Moment &moment) {
  const int32_t launch = moment.launch, now = moment.now;
  uint32_t left = 0;
  uint64_t number = ~uint64_t(0);
  Cell *cells = nullptr;
  int shift = 0;
  uint32_t ofLane = 0;
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    if (at[lane] / kPageBytes != number) {
      number = at[lane] / kPageBytes;
      Page &page = pageOf(at[lane], count);
      cells = page.cells.data();
      shift = page.shift;
      ofLane = count >> shift;
    }
    uint64_t bits = bitsFrom(at[lane] % 64, count);
    if (IsRead && (written[at[lane] / 64] & bits) != bits) {
      left |= 1u << lane;
      continue;
    }
    int32_t who = thread + lane;
    Cell *cell = cells + (at[lane] % kPageBytes >> shift);
    for (Cell *end = cell + ofLane; cell < end; ++cell) {
      bool isFine = cell->written < launch || cell->writer == who ||
                    moment.isBefore(cell->written);
      if (!IsRead)
        isFine &= cell->read < launch || cell->reader == who;
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
    if (!IsRead)
      written[at[lane] / 64] |= bits;
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

//===----------------------------------------------------------------------===//
// Saving and restoring
//===----------------------------------------------------------------------===//

void TrackedBytes::save(uint64_t at, uint64_t count) {
  for (uint64_t number = at / kPageBytes;
       number <= (at + count - 1) / kPageBytes; ++number) {
    Page &page = pageOf(number * kPageBytes);
    if (page.isSaved)
      continue;
    page.isSaved = true;
    saved.push_back({number, std::make_unique<char[]>(kPageBytes), {}});
    uint64_t start = number * kPageBytes;
    std::memcpy(saved.back().bytes.get(), &bytes[start],
                std::min(kPageBytes, bytes.size() - start));
    for (uint64_t word = start / 64;
         word < std::min((start + kPageBytes) / 64, written.size()); ++word)
      saved.back().written[word - start / 64] = written[word];
  }
}

void TrackedBytes::undo() {
  for (const SavedPage &page : saved) {
    uint64_t start = page.number * kPageBytes;
    std::memcpy(&bytes[start], page.bytes.get(),
                std::min(kPageBytes, bytes.size() - start));
    for (uint64_t word = start / 64;
         word < std::min((start + kPageBytes) / 64, written.size()); ++word)
      written[word] = page.written[word - start / 64];
  }
  accept();
}

void TrackedBytes::accept() {
  for (const SavedPage &page : saved)
    pages[page.number]->isSaved = false;
  saved.clear();
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

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

void Memory::undo() {
  for (auto &[address, bytes] : allocations)
    bytes.undo();
}

void Memory::accept() {
  for (auto &[address, bytes] : allocations)
    bytes.accept();
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
