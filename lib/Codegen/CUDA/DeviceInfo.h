// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_CUDA_DEVICEINFO_H
#define NETC_LIB_CODEGEN_CUDA_DEVICEINFO_H

#include "lib/Program/DeviceArch.h"

#include <cstdint>

namespace netc {

/// The properties of a device that tiling and splitting depend on.
struct DeviceInfo {
  /// The figures for code of an architecture: an A100's, or an H100's from
  /// compute capability 9.0 on.
  static DeviceInfo of(const program::DeviceArch &arch) {
    DeviceInfo device;
    if (arch.capability >= 90) {
      device.multiprocessors = 132;
      device.warpgroupMultiplyAdds = 2048;
      // Of the 2048 of wgmma, mma.sync reaches 62 %.
      device.matrixMultiplyAdds = 2048 * 62 / 100;
      device.mostSharedBytes = 227 << 10;
      device.cacheBytes = 48;
    }
    return device;
  }

  /// The most shared memory of a block that need not be dynamic.
  static constexpr int64_t kStaticSharedBytes = 48 << 10;

  int64_t multiprocessors = 108;
  /// Shared memory of a block, without opting in to more, and with.
  int64_t sharedBytes = kStaticSharedBytes, mostSharedBytes = 163 << 10;
  /// Registers of 4 bytes, and threads, of a multiprocessor.
  int64_t registers = 64 << 10, threads = 2048;
  /// Per multiprocessor and cycle: multiply-adds of f32, and words of 4 bytes
  /// that are read from shared memory.
  int64_t multiplyAdds = 128, sharedWords = 32;
  /// Per multiprocessor and cycle: multiply-adds of 16-bit matrices by
  /// mma.sync, and bytes that are read from L2.
  int64_t matrixMultiplyAdds = 1024, cacheBytes = 32;
  /// The same multiply-adds by wgmma; 0 if the device has no such instruction.
  int64_t warpgroupMultiplyAdds = 0;
};

} // namespace netc

#endif // NETC_LIB_CODEGEN_CUDA_DEVICEINFO_H
