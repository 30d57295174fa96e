// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Memory.h"

#include <algorithm>

using namespace netc::simulator;

/// Calls `visit` with the cells of these bytes.
template <typename Visit>
void TrackedBytes::forCells(uint64_t at, uint64_t count, Visit visit) {
  for (uint64_t end = at + count; at < end;) {
    Cell &word = words[at / 4];
    if (!word.isFine && at % 4 == 0 && end - at >= 4) {
      visit(word);
      at += 4;
      continue;
    }
    if (!word.isFine) {
      fine[at / 4].fill(word);
      word.isFine = true;
    }
    visit(fine[at / 4][at % 4]);
    ++at;
  }
}

void TrackedBytes::mark(uint64_t at, uint64_t count, bool isWritten) {
  forCells(at, count, [&](Cell &cell) { cell.isKnown = isWritten; });
}

void TrackedBytes::Cell::begin(const Access &access) {
  if (launch == access.launch)
    return;
  launch = access.launch;
  isWritten = isRead = false;
}

/// Whether a barrier stands between an access of another thread and this one.
static bool isOrdered(uint32_t block, uint32_t barriers, const Access &access) {
  return block == access.block && barriers < access.barriers;
}

const char *TrackedBytes::Cell::read(const Access &access) {
  begin(access);
  const char *wrong = nullptr;
  if (!isKnown)
    wrong = "read of memory that nothing wrote";
  if (isWritten && writer != access.thread && !(isAtomic && access.isAtomic) &&
      !isOrdered(writerBlock, writerBarriers, access))
    wrong = "race: read after write";
  // What an atomic operation reads is of its write.
  if (access.isAtomic)
    return wrong;
  if (!isRead || isOrdered(readerBlock, readerBarriers, access)) {
    manyReaders = manyBlocks = false;
  } else {
    manyReaders |= reader != access.thread;
    manyBlocks |= readerBlock != access.block;
  }
  isRead = true;
  reader = access.thread;
  readerBlock = access.block;
  readerBarriers = access.barriers;
  return wrong;
}

const char *TrackedBytes::Cell::write(const Access &access) {
  begin(access);
  const char *wrong = nullptr;
  if (isWritten && writer != access.thread && !(isAtomic && access.isAtomic) &&
      !isOrdered(writerBlock, writerBarriers, access))
    wrong = "race: write after write";
  if (isRead && (manyReaders || reader != access.thread) &&
      (manyBlocks || !isOrdered(readerBlock, readerBarriers, access)))
    wrong = "race: write after read";
  isKnown = isWritten = true;
  isAtomic = access.isAtomic;
  writer = access.thread;
  writerBlock = access.block;
  writerBarriers = access.barriers;
  return wrong;
}

const char *TrackedBytes::noteRead(uint64_t at, uint32_t count,
                                   const Access &access) {
  const char *wrong = nullptr;
  forCells(at, count, [&](Cell &cell) {
    if (const char *found = cell.read(access))
      wrong = found;
  });
  return wrong;
}

const char *TrackedBytes::noteWrite(uint64_t at, uint32_t count,
                                    const Access &access) {
  const char *wrong = nullptr;
  forCells(at, count, [&](Cell &cell) {
    if (const char *found = cell.write(access))
      wrong = found;
  });
  return wrong;
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
