// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NVIDIA's management library, which comes with the driver: what a device does
// while steps run. It is loaded when a program starts. Nothing needs it.

#ifndef NETC_LIB_RUNTIME_NVML_H
#define NETC_LIB_RUNTIME_NVML_H

#include <cstdint>
#include <optional>
#include <string>

namespace netc::runtime {

/// The state of a device. What the library does not tell is none.
struct DeviceState {
  std::optional<double> hertz, memoryHertz; ///< of multiprocessors and memory
  std::optional<double> watts;
  std::optional<double> joules; ///< since the driver was loaded
  std::optional<double> celsius;
  uint64_t slowdowns = 0; ///< why the clock is not higher: a set of Slowdown
  int processes = 0;      ///< that compute, this one among them
};

/// Reasons for a lower clock, as bits of the library.
enum Slowdown : uint64_t {
  PowerCap = 0x4,
  SoftwareThermal = 0x20,
  HardwareThermal = 0x40,
  PowerBrake = 0x80,
  Thermal = SoftwareThermal | HardwareThermal
};

class Nvml {
public:
  /// The device of an address on the PCI bus. Never fails: see lack().
  explicit Nvml(const std::string &busId);

  /// Why nothing is known; empty if something is.
  const std::string &lack() const { return missing; }
  DeviceState state() const;

private:
  struct DeviceOf;
  using Device = DeviceOf *;
  using Result = int; ///< 0, or an error

  void *handle;
  Device device = nullptr;
  std::string missing;

#define NETC_NVML_FUNCTIONS(X)                                                 \
  X(init, nvmlInit_v2, ())                                                     \
  X(find, nvmlDeviceGetHandleByPciBusId_v2,                                    \
    (const char *busId, Device *device))                                       \
  X(clock, nvmlDeviceGetClockInfo,                                             \
    (Device device, int clock, unsigned *megahertz))                           \
  X(power, nvmlDeviceGetPowerUsage, (Device device, unsigned *milliwatts))     \
  X(energy, nvmlDeviceGetTotalEnergyConsumption,                               \
    (Device device, unsigned long long *millijoules))                          \
  X(temperature, nvmlDeviceGetTemperature,                                     \
    (Device device, int sensor, unsigned *celsius))                            \
  X(reasons, nvmlDeviceGetCurrentClocksThrottleReasons,                        \
    (Device device, unsigned long long *reasons))                              \
  X(processes, nvmlDeviceGetComputeRunningProcesses_v3,                        \
    (Device device, unsigned *count, void *infos))
#define NETC_MEMBER(member, name, parameters)                                  \
  Result(*member) parameters = nullptr;
  NETC_NVML_FUNCTIONS(NETC_MEMBER)
#undef NETC_MEMBER
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_NVML_H
