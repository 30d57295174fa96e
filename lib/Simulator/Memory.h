// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_MEMORY_H
#define NETC_LIB_SIMULATOR_MEMORY_H

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace netc::simulator {

/// Who accesses memory: a thread, among all of a launch, at a time. Accesses of
/// one block on different sides of a barrier are ordered; others of different
/// threads are not.
struct Access {
  uint32_t launch; ///< from 1
  uint32_t thread, block;
  uint32_t barriers; ///< that the block has passed
  bool isAtomic = false;
};

/// Bytes with what is known of them: which were written, and who accessed them
/// last in this launch. Four are known as one, until fewer are accessed.
class TrackedBytes {
public:
  explicit TrackedBytes(uint64_t size) : bytes(size), words((size + 3) / 4) {}

  char *data() { return bytes.data(); }
  const char *data() const { return bytes.data(); }
  uint64_t size() const { return bytes.size(); }
  /// Says of bytes whether they were written, by the host.
  void mark(uint64_t at, uint64_t count, bool isWritten);
  /// Notes an access. Returns what is wrong with it, or null.
  const char *noteRead(uint64_t at, uint32_t count, const Access &access);
  const char *noteWrite(uint64_t at, uint32_t count, const Access &access);

private:
  struct Cell {
    uint32_t launch = 0; ///< of the threads
    uint32_t writer = 0, writerBlock = 0, writerBarriers = 0;
    /// The last reader, of several maybe.
    uint32_t reader = 0, readerBlock = 0, readerBarriers = 0;
    bool isKnown = false; ///< holds what was written
    bool isWritten = false, isAtomic = false;
    bool isRead = false, manyReaders = false, manyBlocks = false;
    bool isFine = false; ///< four cells stand for this one

    const char *read(const Access &access);
    const char *write(const Access &access);
    void begin(const Access &access);
  };

  template <typename Visit>
  void forCells(uint64_t at, uint64_t count, Visit visit);

  std::vector<char> bytes;
  std::vector<Cell> words;
  std::unordered_map<uint64_t, std::array<Cell, 4>> fine; ///< by word
};

/// Memory of a device: allocations, at addresses that keep apart.
class Memory {
public:
  uint64_t allocate(uint64_t bytes);
  void release(uint64_t address);
  /// The allocation that holds all of these bytes, and where in it they start;
  /// null if none does.
  TrackedBytes *find(uint64_t address, uint64_t bytes, uint64_t &at);

private:
  std::map<uint64_t, TrackedBytes> allocations;
  uint64_t next = uint64_t(0x7f) << 40;
  uint64_t lastStart = 0;
  TrackedBytes *last = nullptr;
};

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_MEMORY_H
