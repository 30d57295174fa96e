// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_LAUNCH_H
#define NETC_LIB_SIMULATOR_LAUNCH_H

#include "lib/Simulator/Kernel.h"
#include "lib/Simulator/Memory.h"
#include "lib/Simulator/Simulator.h"

#include <array>
#include <deque>
#include <map>
#include <memory>

namespace netc::simulator {

/// Compiles a function with loops over lanes for several vector extensions. The
/// widest one that the machine supports is used. Clang cannot do so for
/// templates.
#if defined(__x86_64__) && !defined(__clang__)
#define NETC_WIDE                                                              \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NETC_WIDE
#endif

/// Lanes of a warp that are at one instruction.
struct Part {
  uint32_t pc, lanes;
};

/// A `cp.async` of a lane. It completes when a thread waits for it.
struct AsyncCopy {
  int lane;
  uint64_t to, from;
  uint32_t bytes, read; ///< the rest of `bytes` is filled with zeros
};

/// A `wgmma` of a warp. It completes when the warp waits for it.
struct AsyncProduct {
  const Instruction *instruction;
  uint64_t left, right; ///< descriptors of A and B
  bool isAdded;         ///< to the accumulators
};

/// A vector clock: by warp, the time up to which its accesses are known to
/// have happened; after those, by mbarrier, the phases that are known to be
/// complete.
using Clock = std::vector<uint32_t>;

/// A copy of a box of a tensor (`cp.async.bulk.tensor`).
struct BoxCopy {
  const Instruction *instruction;
  uint64_t to;
  TensorMap map;
  std::array<int64_t, TensorMap::kMostAxes> first; ///< coordinates

  uint32_t bytes() const;
};

/// A barrier in shared memory (`mbarrier`). A phase completes when all threads
/// arrived and all bytes were copied.
struct PhaseBarrier {
  uint32_t number = 0;                ///< among the barriers of the block
  uint32_t arrivals = 0, pending = 0; ///< of a phase, and those that miss
  int64_t bytes = 0;           ///< that are expected and of which no copy began
  uint32_t phase = 0;          ///< phases that are complete
  Clock arrived, completed;    ///< what happened before; before the last phase
  std::vector<BoxCopy> copies; ///< of the phase
  /// The warp that initialized it, and when; and whether it executed a fence.
  uint32_t initializer = 0, initialized = 0;
  bool isFenced = false;
};

/// A warp of the block that runs.
struct Warp {
  uint32_t first = 0;      ///< the thread of lane 0, in the block
  uint32_t threads = 0;    ///< mask of the lanes that exist
  char *file = nullptr;    ///< register file, constants first
  std::vector<Part> parts; ///< of a diverged warp; the lowest pc runs first
  std::vector<char> local; ///< of all lanes
  uint32_t atBarrier = 0;  ///< mask of the lanes that wait
  uint32_t atPhase = 0;    ///< of those that wait for a phase of an mbarrier
  /// Groups of copies, and of products; the last one is still open.
  std::deque<std::vector<AsyncCopy>> copies;
  std::deque<std::vector<AsyncProduct>> products;
  /// Whether a `wgmma.fence` came after the last other access to accumulators.
  bool areAccumulatorsFenced = false;
  /// The chunks that it wrote, and made not visible to `wgmma` yet.
  std::vector<uint64_t> unfenced;
  Clock clock;

  uint32_t number() const { return first / kLanes; }
};

/// 16 bytes of shared memory, for kernels that use the asynchronous proxy.
struct SharedChunk {
  /// The warps that wrote to it and did not execute `fence.proxy.async` since
  /// then, by bit.
  uint32_t writers = 0;
  uint32_t readers = 0;   ///< the products that may still read it
  bool isFilling = false; ///< whether a copy of a box to it is not complete
  /// The mbarrier and the phase with which the last one was; no phase if there
  /// was none.
  uint32_t filledBy = 0, filledIn = 0;
};

/// The host addresses of an access by lane, null for a lane with a finding.
/// `isMissing`: there is such a lane. `isDense`: the addresses are contiguous.
/// `isUniform`: they are all equal.
struct HostAddresses {
  char *of[kLanes];
  bool isDense = false, isUniform = false, isMissing = false;
};

/// The range of all accesses of an instruction. ComparedRead: its reads are
/// compared with writes one by one; Read: by their spans alone.
struct Span {
  enum Kind : uint8_t { ComparedRead, Read, Write, Atomic } kind = Read;
  uint64_t low = ~uint64_t(0), high = 0;
};

/// Thrown by a launch that is not exact, if there may be an error. The launch
/// must then be repeated exactly.
struct Suspicion {};

/// A launch of a kernel, block after block. An exact launch checks each access
/// and reports errors. Other launches cost less: they compare most reads with
/// writes by the spans of instructions, and only detect that there may be an
/// error.
class Launch {
public:
  Launch(Device &device, Kernel &kernel, Extent grid, Extent block,
         uint32_t sharedBytes, const std::vector<char> &parameters,
         bool isExact);

  /// Runs a block. Its warps run in `order`, each until it ends or waits.
  void run(uint32_t number, const std::vector<uint32_t> &order);
  /// Checks what is known after the last block.
  void finish() { compare(globalSpans); }

  //===-- For instructions ------------------------------------------------===//

  /// The values of an operand for all lanes.
  template <typename T>
  static T *lanes(const Warp &warp, const Instruction &i, size_t operand) {
    return reinterpret_cast<T *>(warp.file + i.slots[operand]);
  }
  /// Counts and checks an access of the lanes to `bytes` each, and sets their
  /// host addresses.
  void access(Warp &warp, const Instruction &i, uint32_t lanes, Space space,
              const uint64_t *addresses, uint32_t bytes, AccessKind kind,
              HostAddresses &places);
  /// The parameter at this offset, in bytes.
  const char *parameter(uint64_t at) const { return &parameters[at]; }
  /// Records a finding; a launch that is not exact throws a Suspicion.
  void report(const Instruction &i, const std::string &kind);

  Counters counted; ///< of this launch

  /// Begins a copy to shared memory. The old contents of the destination become
  /// invalid.
  void beginCopies(Warp &warp, const Instruction &i, uint32_t lanes,
                   const uint64_t *to, const uint64_t *from,
                   const uint32_t *read, uint32_t bytes);
  /// Closes the open group of copies.
  void closeCopies(Warp &warp) { warp.copies.emplace_back(); }
  /// Completes the oldest copies until at most `groups` closed groups remain.
  void endCopies(Warp &warp, const Instruction &i, size_t groups);

  /// Begins a product. It may read its operands from now on.
  void beginProduct(Warp &warp, const AsyncProduct &product);
  /// Closes the open group of products.
  void closeProducts(Warp &warp) { warp.products.emplace_back(); }
  /// Completes the oldest products until at most `groups` closed groups remain.
  void endProducts(Warp &warp, const Instruction &i, size_t groups);
  /// Makes what the warp wrote to shared memory visible to `wgmma`.
  void fenceProxies(Warp &warp);

  void initializeBarrier(const Warp &warp, const Instruction &i,
                         uint64_t address, uint32_t arrivals);
  /// Makes mbarriers that the warp initialized visible to copies.
  void fenceBarriers(const Warp &warp);
  /// Arrives at an mbarrier, whose phase then also expects `bytes` to be
  /// copied.
  void arrive(Warp &warp, const Instruction &i, uint64_t address,
              uint32_t bytes);
  /// Begins to copy a box by a tensor map in the parameters.
  void beginBoxCopy(Warp &warp, BoxCopy copy, uint64_t map, uint64_t mbarrier);

private:
  void start(Warp &warp, Extent index);
  /// Runs a warp until it waits or ends. Returns whether it advanced.
  bool advance(Warp &warp);
  void step(Warp &warp, Part part, uint32_t next);
  bool releaseBarrier();
  /// Throws a Suspicion if spans overlap whose accesses may conflict and were
  /// not compared one by one. Then clears the spans.
  void compare(std::vector<Span> &spans);
  Pattern &patternOf(const Instruction &i, uint32_t lanes,
                     const uint64_t *addresses, uint32_t bytes);
  void count(Pattern &pattern, uint32_t lanes, Space space,
             const uint64_t *addresses);
  /// Records the accesses of lanes to `bytes` each, at the offsets `at` in a
  /// memory. They are within `extent` bytes from the offset `start`, whose
  /// address is `low`. Throws a Suspicion if there may be an error.
  void noteRoughly(const Instruction &i, uint32_t lanes, TrackedBytes &memory,
                   bool isShared, uint64_t low, uint64_t start, uint64_t extent,
                   const uint64_t *at, uint32_t bytes, AccessKind kind,
                   int32_t thread, const HostAddresses &places);
  /// Records the accesses of lanes, and reports errors.
  void noteExactly(const Instruction &i, uint32_t lanes, TrackedBytes &memory,
                   bool isShared, const uint64_t *at, uint32_t bytes,
                   AccessKind kind, int32_t thread,
                   const HostAddresses &places);

  /// Records reads of shared memory by a warp, of 16 bytes at each address.
  void noteChunks(Warp &warp, const Instruction &i,
                  const std::vector<uint64_t> &addresses);
  /// Records an access to shared memory; a write is not visible to the
  /// asynchronous proxy yet.
  void noteGenericAccess(Warp &warp, const Instruction &i, uint64_t at,
                         uint32_t bytes, AccessKind kind);
  /// Checks another use of accumulators than by `wgmma`.
  void useAccumulators(Warp &warp, const Instruction &i);

  /// Joins the clocks of all warps.
  void synchronizeClocks();
  /// Records an access of a warp to a chunk. Whether the warp does not know
  /// that all accesses of others to it have happened.
  void noteUse(const Warp &warp, uint64_t chunk);
  bool isUsed(const Warp &warp, uint64_t chunk) const;
  /// Reports an access to what a copy wrote whose phase the warp does not know
  /// to be complete.
  void checkFilled(const Warp &warp, const Instruction &i,
                   const SharedChunk &chunk);
  /// The mbarrier at an address; reports if there is none.
  PhaseBarrier *barrierAt(const Warp &warp, const Instruction &i,
                          uint64_t address);
  /// Completes the phase if nothing is missing. Returns whether it did.
  bool endPhase(PhaseBarrier &barrier);
  /// `mbarrier.try_wait`. Returns whether the phase is complete.
  bool waitForPhase(Warp &warp, const Instruction &i, uint32_t lanes);
  /// Reports what a block leaves behind that ended, or cannot go on.
  void checkBarriers();
  /// Checks what a copy reads; and what it writes, which becomes invalid.
  void readBox(Warp &warp, const BoxCopy &copy);
  void occupy(Warp &warp, const BoxCopy &copy);
  void complete(const BoxCopy &copy, const PhaseBarrier &barrier);

  Moment momentOf(bool isShared) const;
  int32_t threadOf(const Warp &warp, int lane) const;
  char *accessLane(Warp &warp, const Instruction &i, int lane, Space space,
                   uint64_t address, uint32_t bytes, AccessKind kind);

  Device &device;
  Kernel &kernel;
  Extent grid, block;
  uint32_t sharedBytes;
  const std::vector<char> &parameters;
  /// `isAlone`: whether the launch has only one thread.
  const bool isExact, isAlone;
  std::vector<Span> globalSpans, sharedSpans; ///< by instruction
  std::vector<Span> sorted;
  /// Of the block's shared memory, if the kernel uses the asynchronous proxy.
  std::vector<SharedChunk> chunks;
  std::vector<uint32_t>
      uses; ///< by chunk and warp: the time of its last access
  std::map<uint64_t, PhaseBarrier> barriers; ///< by address
  Moment moment;
  uint32_t number = 0; ///< number of the block
  std::vector<Warp> warps;
  const Instruction *lastBarrier = nullptr;
};

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_LAUNCH_H
