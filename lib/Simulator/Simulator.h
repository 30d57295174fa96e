// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Executes PTX, the text that a driver gets, on the host. Needs no GPU, no CUDA
// and no LLVM. It models neither time nor caches.

#ifndef NETC_LIB_SIMULATOR_SIMULATOR_H
#define NETC_LIB_SIMULATOR_SIMULATOR_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace netc::simulator {

/// PTX that is invalid or not supported, with the number and the text of the
/// line.
struct PtxError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An error of the executed code, with the instruction that caused it.
struct Finding {
  std::string kind; ///< such as `race: read after write`
  std::string kernel;
  int line;         ///< in the text of the module, from 1
  std::string text; ///< of the instruction
  uint64_t times;   ///< number of lanes or warps
};

/// Counts of executed operations. Sectors are 32 bytes of global memory: those
/// that accesses of warps touched, and the fewest that hold as many bytes.
/// Wavefronts are passes over the 32 banks of shared memory, and the fewest
/// possible.
struct Counters {
  uint64_t launches = 0;
  uint64_t instructions = 0; ///< per warp
  /// Additions and multiplications of f32 and f64 in active lanes; fma is two.
  uint64_t flop = 0;
  /// FLOP of matrix instructions, whatever their operands hold.
  uint64_t tensorFlop = 0;
  uint64_t sectors = 0, idealSectors = 0;
  uint64_t wavefronts = 0, idealWavefronts = 0;
  uint64_t barriers = 0;
  uint64_t divergences = 0; ///< branches that diverged

  void add(const Counters &more);
};

/// Numbers of blocks or threads along each axis.
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// The order in which blocks, and the warps of a block, run. Results must not
/// depend on it.
struct Order {
  enum Kind { Forward, Backward, Shuffled } kind = Forward;
  uint64_t seed = 0;
};

/// A tensor in global memory of which kernels copy boxes to shared memory, with
/// a swizzle of 128 bytes. The innermost axis is first. A kernel gets it as a
/// parameter of 128 bytes.
struct alignas(64) TensorMap {
  static constexpr uint32_t kMostAxes = 5;
  uint64_t address = 0;
  uint32_t elementBytes = 0, axes = 0;
  uint64_t sizes[kMostAxes] = {}, strides[kMostAxes] = {}; ///< in bytes
  uint32_t box[kMostAxes] = {};
};
/// The tensor map of these arguments of `cuTensorMapEncodeTiled`, without the
/// stride of the first axis. None if they are not valid.
std::optional<TensorMap> encodeTensorMap(uint32_t elementBytes, uint32_t axes,
                                         uint64_t address,
                                         const uint64_t *sizes,
                                         const uint64_t *strides,
                                         const uint32_t *box);

struct Kernel;
struct Source;
class Memory;
class TrackedBytes;

/// A device with memory, into which modules can be loaded.
class Device {
public:
  Device();
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Allocates uninitialized memory. The address is a multiple of 256, and no
  /// valid pointer of this process.
  uint64_t allocate(uint64_t bytes);
  void release(uint64_t address);
  /// Copies from and to the host, and fills. Throw std::out_of_range for
  /// addresses that are not allocated.
  void write(uint64_t address, const void *from, uint64_t bytes);
  void read(uint64_t address, void *to, uint64_t bytes) const;
  void fill(uint64_t address, uint8_t value, uint64_t bytes);
  /// Marks bytes as uninitialized.
  void forget(uint64_t address, uint64_t bytes);

  /// Adds the kernels and variables of a module. Throws a PtxError.
  void load(const std::string &ptx);
  bool hasKernel(const std::string &name) const;
  /// The size of each parameter in bytes.
  std::vector<uint32_t> parametersOf(const std::string &kernel) const;
  /// The address and size in bytes of a variable; throws std::out_of_range if
  /// there is none.
  std::pair<uint64_t, uint64_t> variable(const std::string &name) const;

  /// Runs a kernel to its end. `arguments` points to a value for each
  /// parameter.
  void launch(const std::string &kernel, Extent grid, Extent block,
              uint32_t sharedBytes, const void *const *arguments);

  void setOrder(Order newOrder) { order = newOrder; }
  const Counters &counters() const { return counted; }
  /// The counters of each kernel that was launched.
  std::map<std::string, Counters> countersByKernel() const;
  const std::vector<Finding> &findings() const { return found; }

private:
  friend class Launch;
  void report(const std::string &kind, const Kernel &kernel,
              const Source &source);

  std::unique_ptr<Memory> memory;
  std::unique_ptr<TrackedBytes> shared; ///< of the block that runs
  std::vector<char> files;              ///< registers of its warps
  int32_t now = 0;                      ///< the current time of memory accesses
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels;
  std::map<std::string, std::pair<uint64_t, uint64_t>> variables;
  Order order;
  Counters counted; ///< of all ended launches
  std::vector<Finding> found;
};

/// A finding on one line: kind, kernel, line and text.
std::string toString(const Finding &finding);

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_SIMULATOR_H
