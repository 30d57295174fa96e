// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_DEVICEARCH_H
#define NETC_LIB_PROGRAM_DEVICEARCH_H

#include <string_view>

namespace netc::program {

/// An architecture of NVIDIA's devices for which code is emitted. The code runs
/// on devices of exactly this compute capability if `isExact`, else of at least
/// this one. The driver must support this version of PTX. Versions are 10 x
/// major + minor.
struct DeviceArch {
  const char *name; ///< of LLVM and ptxas
  int capability;
  bool isExact;
  int ptx;
  int driver; ///< least version of CUDA: 1000 x major + 10 x minor

  /// Whether a device of this compute capability runs the code, by a driver of
  /// this version of CUDA.
  constexpr bool runsOn(int ofDevice, int ofDriver) const {
    return (isExact ? ofDevice == capability : ofDevice >= capability) &&
           ofDriver >= driver;
  }
};

/// In ascending order. A device runs the code of the last one that it supports.
constexpr DeviceArch deviceArchs[] = {{"sm_80", 80, false, 70, 11000},
                                      {"sm_90a", 90, true, 80, 12000}};

/// Null if there is no such architecture.
inline const DeviceArch *deviceArchNamed(std::string_view name) {
  for (const DeviceArch &arch : deviceArchs)
    if (name == arch.name)
      return &arch;
  return nullptr;
}

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_DEVICEARCH_H
