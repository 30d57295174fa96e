// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_MEMORY_H
#define NETC_LIB_SIMULATOR_MEMORY_H

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace netc::simulator {

enum class AccessKind : uint8_t { Read, Write, Atomic };

/// The time of an access. Time advances at the start of each launch and block,
/// and at each barrier of a block; blocks run one after the other. An access by
/// another thread is ordered before one at `now` if it was before `launch`, or
/// between `block` and `now`. All others are by threads that may run
/// concurrently.
struct Moment {
  int32_t launch, block, now;

  bool isBefore(int32_t time) const {
    return time < launch || (time >= block && time < now);
  }
};

/// Bytes with shadow state: whether they were written, and which threads
/// accessed them last. Cells have four bytes, or fewer in pages with smaller
/// accesses.
class TrackedBytes {
public:
  explicit TrackedBytes(uint64_t size)
      : bytes(size), pages((size + kPageBytes - 1) / kPageBytes) {}

  char *data() { return bytes.data(); }
  const char *data() const { return bytes.data(); }
  uint64_t size() const { return bytes.size(); }
  /// Sets the size and marks all bytes as not written. Accesses are kept.
  void reset(uint64_t size);
  /// Marks bytes as written or not written.
  void mark(uint64_t at, uint64_t count, bool isWritten);
  /// Clears all accesses.
  void clearAccesses();

  /// Records an access by a thread to up to 16 aligned bytes. Returns what is
  /// wrong with it, or null.
  const char *note(AccessKind kind, uint64_t at, uint32_t count, int32_t thread,
                   const Moment &moment);
  /// Records accesses of active lanes, of threads from `thread` on, each to its
  /// own address. Returns the lanes for which note() has to be called.
  uint32_t noteLanes(AccessKind kind, uint32_t lanes, const uint64_t *at,
                     uint32_t count, int32_t thread, const Moment &moment);

private:
  static constexpr uint64_t kPageBytes = 4096;

  /// The last threads that wrote and read a cell, and when: 0 is the host,
  /// kNever means that it was not written.
  struct Cell {
    int32_t writer = 0, written = 0, reader = 0, read = 0;
  };
  static constexpr int32_t kNever = -1;
  struct Page {
    Page(int shift, bool isKnown)
        : shift(shift),
          cells(kPageBytes >> shift, Cell{0, isKnown ? 0 : kNever, 0, 0}) {}

    int shift; ///< log2 of the bytes of a cell
    std::vector<Cell> cells;
  };
  struct PageSlot {
    std::unique_ptr<Page> page;
    bool isKnown = false; ///< for as long as there is no page
  };

  Page &pageOf(uint64_t at, uint32_t count);
  template <bool IsRead>
  uint32_t noteLanes(uint32_t lanes, const uint64_t *at, uint32_t count,
                     int32_t thread, const Moment &moment);

  std::vector<char> bytes;
  std::vector<PageSlot> pages;
};

/// The memory of a device: allocations with gaps between them.
class Memory {
public:
  uint64_t allocate(uint64_t bytes);
  void release(uint64_t address);
  void clearAccesses();
  /// The allocation that contains all of these bytes, and their offset in it.
  /// Null if there is none.
  TrackedBytes *find(uint64_t address, uint64_t bytes, uint64_t &at);

private:
  std::map<uint64_t, TrackedBytes> allocations;
  uint64_t next = uint64_t(0x7f) << 40;
  uint64_t lastStart = 0;
  TrackedBytes *last = nullptr;
};

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_MEMORY_H
