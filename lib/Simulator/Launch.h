// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_LAUNCH_H
#define NETC_LIB_SIMULATOR_LAUNCH_H

#include "lib/Simulator/Kernel.h"
#include "lib/Simulator/Memory.h"
#include "lib/Simulator/Simulator.h"

#include <deque>
#include <memory>

namespace netc::simulator {

/// Lanes of a warp at the same pc.
struct Part {
  uint32_t pc, lanes;
};

/// `cp.async` of a lane. It completes when it is waited for.
struct AsyncCopy {
  int lane;
  uint64_t to, from;
  uint32_t bytes, read; ///< the rest of `bytes` is filled with zeros
};

struct Warp {
  uint32_t first = 0;   ///< thread in the block of lane 0
  uint32_t threads = 0; ///< number of lanes that exist
  char *file =
      nullptr; ///< register file: constants and registers, kLanes of each
  std::vector<Part> parts; ///< of a diverged warp; the lowest pc runs first
  std::vector<char> local; ///< of all lanes
  uint32_t atBarrier = 0;  ///< waiting lanes
  /// Groups of copies; the last one is still open.
  std::deque<std::vector<AsyncCopy>> copies;
};

/// Host addresses of an access by lane. Null for lanes with a finding; some are
/// `missing` then. `isDense` if they are contiguous.
struct HostAddresses {
  char *of[kLanes];
  bool isDense = false, isMissing = false;
};

/// A launch of a kernel, which runs its blocks one after the other.
class Launch {
public:
  Launch(Device &device, const Kernel &kernel, Extent grid, Extent block,
         uint32_t sharedBytes, std::vector<char> parameters);

  /// Runs a block. Its warps run in `order`, each until it ends or waits.
  void run(uint32_t number, const std::vector<uint32_t> &order);

  //===-- For instructions ------------------------------------------------===//

  /// The values of an operand for all lanes.
  template <typename T>
  static T *lanes(const Warp &warp, const Instruction &i, size_t operand) {
    return reinterpret_cast<T *>(warp.file + i.slots[operand]);
  }
  /// Counts and checks an access to `bytes` of each lane.
  void access(Warp &warp, const Instruction &i, uint32_t lanes, Space space,
              const uint64_t *addresses, uint32_t bytes, AccessKind kind,
              HostAddresses &places);
  const char *parameter(uint64_t at) const { return &parameters[at]; }
  void report(const Instruction &i, const std::string &kind);

  Counters counted; ///< of this launch

  /// Begins a copy to shared memory. The old contents of the destination become
  /// invalid.
  void beginCopies(Warp &warp, const Instruction &i, uint32_t lanes,
                   const uint64_t *to, const uint64_t *from,
                   const uint32_t *read, uint32_t bytes);
  void closeCopies(Warp &warp) { warp.copies.emplace_back(); }
  /// Completes the oldest copies until at most `groups` closed groups remain.
  void endCopies(Warp &warp, const Instruction &i, size_t groups);

private:
  void start(Warp &warp, Extent index);
  /// Runs a warp until it waits or ends.
  void advance(Warp &warp);
  void step(Warp &warp, Part part, uint32_t next);
  bool releaseBarrier();

  Moment momentOf(bool isShared) const;
  int32_t threadOf(const Warp &warp, int lane) const;
  char *accessLane(Warp &warp, const Instruction &i, int lane, Space space,
                   uint64_t address, uint32_t bytes, AccessKind kind);

  Device &device;
  const Kernel &kernel;
  Extent grid, block;
  uint32_t sharedBytes;
  std::vector<char> parameters;
  Moment moment;
  uint32_t number = 0; ///< number of the block
  std::vector<Warp> warps;
  const Instruction *lastBarrier = nullptr;
};

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_LAUNCH_H
