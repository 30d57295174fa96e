// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_DEVICEINFO_H
#define NETC_LIB_CODEGEN_CUDA_DEVICEINFO_H

#include "lib/Program/DeviceArch.h"

#include <cstdint>

namespace netc {

/// The facts about a device that decide how work is cut.
struct DeviceInfo {
  /// The figures for code of an architecture.
  static DeviceInfo of(const program::DeviceArch &arch) {
    DeviceInfo device;
    if (arch.capability >= 90)
      device.multiprocessors = 132;
    return device;
  }

  int64_t multiprocessors = 108;
  /// Of a block, without asking for more.
  int64_t sharedBytes = 48 << 10;
  /// Of a multiprocessor in a cycle: multiply-adds of f32, and words of shared
  /// memory that go to registers.
  int64_t multiplyAdds = 128, sharedWords = 32;
  /// Likewise, by matrix instructions on 16 bits; and bytes that come from the
  /// cache that all share.
  int64_t matrixMultiplyAdds = 1024, cacheBytes = 32;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_DEVICEINFO_H
