// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_SIMULATOR_KERNELS_H
#define NETC_TEST_SIMULATOR_KERNELS_H

#include "lib/Simulator/Simulator.h"

#include <string>
#include <vector>

namespace netc::simulator {

/// A module with one kernel `k` of one pointer, which `%rd1` holds; registers
/// of each kind are there.
inline std::string kernel(const std::string &body,
                          const std::string &variables = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + variables +
         "\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n"
         ".reg .b64 %rd<16>;\n.reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n"
         "ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd1, %rd1;\n"
         "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 8;\n"
         "add.s64 %rd2, %rd1, %rd2;\n" +
         body + "\nret;\n}\n";
}

/// A device with memory for `words` numbers of 8 bytes, and what a kernel
/// leaves in it.
struct Bench {
  Device device;
  uint64_t memory;
  std::vector<uint64_t> words;

  explicit Bench(std::vector<uint64_t> start)
      : memory(device.allocate(8 * start.size())), words(std::move(start)) {
    device.write(memory, words.data(), 8 * words.size());
  }

  /// Runs `k`, and reads the memory.
  void run(const std::string &ptx, Extent grid = {}, Extent block = {}) {
    device.load(ptx);
    const void *arguments[] = {&memory};
    device.launch("k", grid, block, 0, arguments);
    device.read(memory, words.data(), 8 * words.size());
  }

  /// The kinds of what was found, each followed by a semicolon.
  std::string kinds() const {
    std::string kinds;
    for (const Finding &finding : device.findings())
      kinds += finding.kind + ";";
    return kinds;
  }
};

} // namespace netc::simulator

#endif // NETC_TEST_SIMULATOR_KERNELS_H
