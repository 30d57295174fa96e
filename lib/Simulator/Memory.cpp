// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Memory.h"

#include <algorithm>

using namespace netc::simulator;

/// Several threads of one block have read a cell; threads of several blocks.
static constexpr int32_t kManyThreads = -1, kManyBlocks = -2;

/// What an atomic operation wrote has this as its writer.
static int32_t atomicWriter(int32_t thread) { return -1 - thread; }

/// Who has read a cell that `reader` read at a time, once a thread reads it.
static int32_t readerAfter(int32_t reader, int32_t time, int32_t thread,
                           const Moment &moment) {
  int32_t many = (time < moment.now) | (reader == thread) ? thread
                                                          : kManyThreads;
  int32_t blocks =
      (time < moment.block) | (reader == kManyBlocks) ? kManyBlocks : many;
  return time < moment.launch ? thread : blocks;
}

TrackedBytes::Page::Page(int shift, bool isKnown)
    : shift(shift), writer(kPageBytes >> shift), written(writer.size()),
      reader(writer.size()), read(writer.size()),
      isKnown(writer.size(), isKnown) {}

void TrackedBytes::Page::refine(int finer) {
  Page cells(finer, false);
  int by = shift - finer;
  for (size_t i = 0; i < cells.writer.size(); ++i) {
    cells.writer[i] = writer[i >> by];
    cells.written[i] = written[i >> by];
    cells.reader[i] = reader[i >> by];
    cells.read[i] = read[i >> by];
    cells.isKnown[i] = isKnown[i >> by];
  }
  *this = std::move(cells);
}

/// The page of bytes that are within one, with cells that are no larger.
TrackedBytes::Page &TrackedBytes::pageOf(uint64_t at, uint32_t count) {
  PageSlot &slot = pages[at / kPageBytes];
  if (!slot.page)
    slot.page = std::make_unique<Page>(2, slot.isKnown);
  uint64_t both = (at | count) & 3;
  int shift = both == 0 ? 2 : both == 2 ? 1 : 0;
  if (shift < slot.page->shift)
    slot.page->refine(shift);
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
      auto first =
          page.isKnown.begin() + ptrdiff_t(at % kPageBytes >> page.shift);
      std::fill(first, first + ptrdiff_t(here >> page.shift), isWritten);
    }
    at += here;
  }
}

void TrackedBytes::clearAccesses() {
  for (PageSlot &slot : pages)
    if (slot.page) {
      std::fill(slot.page->written.begin(), slot.page->written.end(), 0);
      std::fill(slot.page->read.begin(), slot.page->read.end(), 0);
    }
}

const char *TrackedBytes::note(AccessKind kind, uint64_t at, uint32_t count,
                               int32_t thread, const Moment &moment) {
  Page &page = pageOf(at, count);
  const char *wrong = nullptr;
  bool isAtomic = kind == AccessKind::Atomic;
  uint64_t first = at % kPageBytes >> page.shift;
  for (uint64_t i = first; i < first + (count >> page.shift); ++i) {
    int32_t &writer = page.writer[i], &reader = page.reader[i];
    bool isOwn = writer == thread || writer == atomicWriter(thread);
    bool meetsWriter = !isOwn && !moment.isBefore(page.written[i]) &&
                       !(isAtomic && writer < 0);
    bool isRead = page.read[i] >= moment.launch;
    if (kind != AccessKind::Write && !page.isKnown[i])
      wrong = "read of memory that nothing wrote";
    if (kind != AccessKind::Write && meetsWriter)
      wrong = "race: read after write";
    if (kind == AccessKind::Read) {
      reader = readerAfter(reader, page.read[i], thread, moment);
      page.read[i] = moment.now;
      continue;
    }
    if (meetsWriter)
      wrong = "race: write after write";
    if (isRead && reader != thread &&
        (reader == kManyBlocks || !moment.isBefore(page.read[i])))
      wrong = "race: write after read";
    writer = isAtomic ? atomicWriter(thread) : thread;
    page.written[i] = moment.now;
    page.isKnown[i] = true;
  }
  return wrong;
}

/// Whole cells with which nothing can be wrong.
uint32_t TrackedBytes::noteLanes(AccessKind kind, uint32_t lanes,
                                 const uint64_t *at, uint32_t count,
                                 int32_t thread, const Moment &moment) {
  if (kind == AccessKind::Atomic)
    return lanes;
  uint32_t left = 0;
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    Page *page = pages[at[lane] / kPageBytes].page.get();
    if (!page || count < 1u << page->shift) {
      left |= 1u << lane;
      continue;
    }
    int32_t who = thread + lane;
    uint64_t first = at[lane] % kPageBytes >> page->shift;
    for (uint64_t i = first; i < first + (count >> page->shift); ++i) {
      bool isFine =
          page->writer[i] == who || moment.isBefore(page->written[i]);
      int32_t &reader = page->reader[i], &read = page->read[i];
      if (kind == AccessKind::Read) {
        if (!isFine || !page->isKnown[i]) {
          left |= 1u << lane;
          continue;
        }
        reader = readerAfter(reader, read, who, moment);
        read = moment.now;
      } else {
        if (!isFine || (read >= moment.launch && reader != who)) {
          left |= 1u << lane;
          continue;
        }
        page->writer[i] = who;
        page->written[i] = moment.now;
        page->isKnown[i] = true;
      }
    }
  }
  return left;
}

/// The rules of `note` for plain accesses, without branches, so that they are
/// vectors.
bool TrackedBytes::noteDense(AccessKind kind, uint64_t at, uint32_t count,
                             int32_t thread, uint32_t threads,
                             const Moment &moment) {
  uint64_t all = uint64_t(count) * threads;
  if (kind == AccessKind::Atomic || at % kPageBytes + all > kPageBytes)
    return false;
  Page &page = pageOf(at, count);
  size_t first = at % kPageBytes >> page.shift;
  int cells = int(all >> page.shift);
  int perThread = __builtin_ctz(count) - page.shift; // log2
  int32_t *writer = &page.writer[first], *written = &page.written[first],
          *reader = &page.reader[first], *read = &page.read[first];
  uint8_t *isKnown = &page.isKnown[first];
  const int32_t launch = moment.launch, block = moment.block, now = moment.now;
  int wrong = 0;
#pragma GCC ivdep
  for (int i = 0; i < cells; ++i) {
    int32_t time = written[i], who = thread + (i >> perThread);
    bool isBefore = (time < launch) | ((time >= block) & (time < now));
    wrong |= !(isBefore | (writer[i] == who));
  }
  if (kind == AccessKind::Read) {
    uint8_t known = 1;
    for (int i = 0; i < cells; ++i)
      known &= isKnown[i];
    if (wrong || !known)
      return false;
#pragma GCC ivdep
    for (int i = 0; i < cells; ++i) {
      reader[i] =
          readerAfter(reader[i], read[i], thread + (i >> perThread), moment);
      read[i] = now;
    }
    return true;
  }
#pragma GCC ivdep
  for (int i = 0; i < cells; ++i) {
    int32_t time = read[i], by = reader[i], who = thread + (i >> perThread);
    bool isBefore = ((time >= block) & (time < now)) & (by != kManyBlocks);
    wrong |= !((time < launch) | (by == who) | isBefore);
  }
  if (wrong)
    return false;
#pragma GCC ivdep
  for (int i = 0; i < cells; ++i) {
    writer[i] = thread + (i >> perThread);
    written[i] = now;
  }
  std::fill(isKnown, isKnown + cells, uint8_t(1));
  return true;
}

uint64_t Memory::allocate(uint64_t bytes) {
  uint64_t start = next;
  allocations.emplace(start, std::max<uint64_t>(bytes, 1));
  // What lies between two is nobody's.
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
