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
/// another thread happens before one at `now` if it was before `launch`, or
/// from `block` to `now`. All others are by threads that may run concurrently.
struct Moment {
  int32_t launch, block, now;

  bool isBefore(int32_t time) const {
    return time < launch || (time >= block && time < now);
  }
};

/// Bytes with shadow memory: whether they were written, and which threads
/// accessed them last. A cell of the shadow memory stands for four bytes, or
/// for fewer in pages with smaller accesses.
class TrackedBytes {
public:
  explicit TrackedBytes(uint64_t size) { reset(size); }

  char *data() { return bytes.data(); }
  const char *data() const { return bytes.data(); }
  uint64_t size() const { return bytes.size(); }
  /// Sets the size and marks all bytes as not written. Accesses are kept.
  void reset(uint64_t size);
  /// Marks bytes as written or not written.
  void mark(uint64_t at, uint64_t count, bool isWritten);
  /// Marks up to 16 aligned bytes as not written, and forgets their writer.
  void forget(uint64_t at, uint32_t count);
  /// Whether all of these bytes were written.
  bool isWritten(uint64_t at, uint64_t count) const;
  /// Forgets all accesses.
  void clearAccesses();

  /// Records an access by a thread to up to 16 aligned bytes. Returns the kind
  /// of error, or null.
  const char *note(AccessKind kind, uint64_t at, uint32_t count, int32_t thread,
                   const Moment &moment);
  /// Records accesses by the active lanes of a warp, whose first thread is
  /// `thread`, each at its own offset. Returns the lanes for which note() must
  /// be called.
  uint32_t noteLanes(AccessKind kind, uint32_t lanes, const uint64_t *at,
                     uint32_t count, int32_t thread, const Moment &moment);

  /// Saves these bytes, unless they were saved since the last `undo` or
  /// `accept`.
  void save(uint64_t at, uint64_t count);
  /// Restores what was saved.
  void undo();
  /// Forgets what was saved.
  void accept();

private:
  static constexpr uint64_t kPageBytes = 1024;

  /// The threads that last wrote and last read some bytes, and when. 0 if there
  /// was none.
  struct Cell {
    int32_t writer = 0, written = 0, reader = 0, read = 0;
  };
  struct Page {
    int shift = 2; ///< log2 of the bytes of a cell
    std::vector<Cell> cells = std::vector<Cell>(kPageBytes >> shift);
    bool isSaved = false;
  };
  /// The saved state of a page.
  struct SavedPage {
    uint64_t number;
    std::unique_ptr<char[]> bytes;
    uint64_t written[kPageBytes / 64];
  };

  Page &pageOf(uint64_t at);
  /// The page of `at`, with cells no larger than `count` bytes.
  Page &pageOf(uint64_t at, uint32_t count);
  template <bool IsRead>
  uint32_t noteLanes(uint32_t lanes, const uint64_t *at, uint32_t count,
                     int32_t thread, const Moment &moment);

  std::vector<char> bytes;
  std::vector<uint64_t> written; ///< one bit per byte
  std::vector<std::unique_ptr<Page>> pages;
  std::vector<SavedPage> saved;
};

/// The memory of a device: allocations with gaps between them.
class Memory {
public:
  /// Allocates uninitialized bytes. Returns their address.
  uint64_t allocate(uint64_t bytes);
  /// Releases an allocation by its address.
  void release(uint64_t address);
  void clearAccesses();
  /// The allocation that contains all of these bytes, and their offset in it.
  /// Null if there is none.
  TrackedBytes *find(uint64_t address, uint64_t bytes, uint64_t &at);
  /// Calls undo() or accept() for all allocations.
  void undo();
  void accept();

private:
  std::map<uint64_t, TrackedBytes> allocations;
  uint64_t next = uint64_t(0x7f) << 40;
  uint64_t lastStart = 0;
  TrackedBytes *last = nullptr;
};

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_MEMORY_H
