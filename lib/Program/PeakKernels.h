// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_PEAKKERNELS_H
#define NETC_LIB_PROGRAM_PEAKKERNELS_H

#include <cstdint>

namespace netc::program {

/// Multiply-adds of f32 by a thread in an iteration, in so many chains.
constexpr int64_t kPeakChains = 8, kPeakSteps = 64;
/// Products by mma.sync of a warp in an iteration, for each chain.
constexpr int64_t kPeakProducts = 8;
/// The tile of which wgmma computes the products in an iteration: 64 rows by
/// each warpgroup.
constexpr int64_t kPeakM = 128, kPeakN = 256, kPeakK = 64;

/// What a kernel repeats: multiply-adds of a thread, or products of small
/// matrices by a warp or by a warpgroup.
enum class PeakInstruction { Fma, Mma, Wgmma };

/// A kernel that repeats an arithmetic instruction. Its parameters are a
/// pointer, to which it writes nothing, and the number of iterations, of 64
/// bits.
struct PeakKernel {
  const char *name; ///< instruction and format
  PeakInstruction instruction;
  const char *format; ///< of what it multiplies
  int capability;     ///< least one of the code that has it; see DeviceArch
  int64_t flop;       ///< of a block in an iteration

  static constexpr int64_t kThreads = 256; ///< of a block
};

constexpr int64_t kPeakWarps = PeakKernel::kThreads / 32;
constexpr int64_t kPeakFmaFlop =
    2 * PeakKernel::kThreads * (kPeakChains * kPeakSteps);
/// The products are of 16 x k and k x 8 elements.
constexpr int64_t peakMmaFlop(int64_t k) {
  return kPeakWarps * (kPeakChains * kPeakProducts) * (2 * 16 * 8 * k);
}
constexpr int64_t kPeakWgmmaFlop = 2 * kPeakM * (kPeakN * kPeakK);

constexpr PeakKernel peakKernels[] = {
    {"fma_f32", PeakInstruction::Fma, "f32", 80, kPeakFmaFlop},
    {"mma_bf16", PeakInstruction::Mma, "bf16", 80, peakMmaFlop(16)},
    {"mma_f16", PeakInstruction::Mma, "f16", 80, peakMmaFlop(16)},
    {"mma_tf32", PeakInstruction::Mma, "tf32", 80, peakMmaFlop(8)},
    {"wgmma_bf16", PeakInstruction::Wgmma, "bf16", 90, kPeakWgmmaFlop},
    {"wgmma_f16", PeakInstruction::Wgmma, "f16", 90, kPeakWgmmaFlop}};

/// A kernel whose threads each move 16 bytes of every array: f32 numbers of
/// a = b + 3 c, or a = b. The parameters are the arrays.
struct StreamKernel {
  const char *name;
  int arrays;

  static constexpr int64_t kThreads = 256; ///< of a block
  static constexpr int64_t kBytes = 16;    ///< of an array, by a thread
};
constexpr StreamKernel triadKernel = {"triad", 3}, copyKernel = {"copy", 2};

/// What a block of the kernel `read_clocks`, which is one thread, writes to the
/// array that is its parameter.
struct ClockReading {
  int64_t cycles;      ///< of this multiprocessor
  int64_t nanoseconds; ///< of the device
  int64_t multiprocessor;
};
constexpr const char *clockKernel = "read_clocks";

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_PEAKKERNELS_H
