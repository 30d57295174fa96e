// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Memory.h"

#include <algorithm>

using namespace netc::simulator;

/// The bits of the bytes of word `index` that a range has.
static uint8_t bitsOf(uint64_t index, uint64_t at, uint64_t count) {
  uint64_t first = std::max(at, index * 4),
           end = std::min(at + count, index * 4 + 4);
  return uint8_t(((1u << (end - first)) - 1) << (first - index * 4));
}

void TrackedBytes::mark(uint64_t at, uint64_t count, bool isWritten) {
  if (count == 0)
    return;
  for (uint64_t i = at / 4; i <= (at + count - 1) / 4; ++i) {
    uint8_t bits = bitsOf(i, at, count);
    words[i].known =
        isWritten ? words[i].known | bits : uint8_t(words[i].known & ~bits);
  }
}

TrackedBytes::Word &TrackedBytes::wordFor(uint64_t index,
                                          const Access &access) {
  Word &word = words[index];
  if (word.launch != access.launch) {
    uint8_t known = word.known;
    word = Word();
    word.launch = access.launch;
    word.known = known;
  }
  return word;
}

/// Whether a barrier stands between an access of another thread and this one.
static bool isOrdered(uint32_t block, uint32_t barriers, const Access &access) {
  return block == access.block && barriers < access.barriers;
}

const char *TrackedBytes::noteRead(uint64_t at, uint32_t count,
                                   const Access &access) {
  const char *wrong = nullptr;
  for (uint64_t i = at / 4; i <= (at + count - 1) / 4; ++i) {
    Word &word = wordFor(i, access);
    uint8_t bits = bitsOf(i, at, count);
    if (bits & ~word.known)
      wrong = "read of memory that nothing wrote";
    if ((word.written & bits) && word.writer != access.thread &&
        !(word.isAtomic && access.isAtomic) &&
        !isOrdered(word.writerBlock, word.writerBarriers, access))
      wrong = "race: read after write";
    // What an atomic operation reads is of its write.
    if (access.isAtomic)
      continue;
    bool isFirst =
        !word.read || isOrdered(word.readerBlock, word.readerBarriers, access);
    if (isFirst) {
      word.reader = access.thread;
      word.manyReaders = word.manyBlocks = false;
      word.read = bits;
    } else {
      word.manyReaders |= word.reader != access.thread;
      word.manyBlocks |= word.readerBlock != access.block;
      word.read |= bits;
    }
    word.readerBlock = access.block;
    word.readerBarriers = access.barriers;
  }
  return wrong;
}

const char *TrackedBytes::noteWrite(uint64_t at, uint32_t count,
                                    const Access &access) {
  const char *wrong = nullptr;
  for (uint64_t i = at / 4; i <= (at + count - 1) / 4; ++i) {
    Word &word = wordFor(i, access);
    uint8_t bits = bitsOf(i, at, count);
    if ((word.written & bits) && word.writer != access.thread &&
        !(word.isAtomic && access.isAtomic) &&
        !isOrdered(word.writerBlock, word.writerBarriers, access))
      wrong = "race: write after write";
    if ((word.read & bits) &&
        (word.manyReaders || word.reader != access.thread) &&
        (word.manyBlocks ||
         !isOrdered(word.readerBlock, word.readerBarriers, access)))
      wrong = "race: write after read";
    bool isMore = word.writer == access.thread && word.written &&
                  word.isAtomic == access.isAtomic;
    word.written = isMore ? word.written | bits : bits;
    word.writer = access.thread;
    word.writerBlock = access.block;
    word.writerBarriers = access.barriers;
    word.isAtomic = access.isAtomic;
    word.known |= bits;
  }
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
