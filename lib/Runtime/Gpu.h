// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_GPU_H
#define NETC_LIB_RUNTIME_GPU_H

#include "lib/Runtime/Telemetry.h"

#include <string>

namespace netc::runtime {

/// What reports say of a GPU and of the steps on it.
struct Gpu {
  std::string name;
  int driver = 0;           ///< version of CUDA: 1000 x major + 10 x minor
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  int l2 = 0;           ///< bytes of L2; 0 if unknown
  std::string arch;     ///< of the code
  double compiling = 0; ///< seconds in which the driver compiled it
  int launches = 0;     ///< kernels of a step
  /// Cycles of multiprocessors in a second, over all steps; 0 if not measured.
  double hertz = 0;
  Telemetry telemetry; ///< while steps ran

  int capability() const { return 10 * major + minor; }
  std::string capabilityText() const {
    return std::to_string(major) + "." + std::to_string(minor);
  }
  std::string driverText() const {
    return std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10);
  }
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_GPU_H
