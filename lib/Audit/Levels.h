// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_LEVELS_H
#define NETC_LIB_AUDIT_LEVELS_H

#include "dialect/Rational.h"
#include "lib/Audit/Join.h"
#include "lib/Hardware/Hardware.h"

namespace netc::audit {

/// How busy each part of a GPU was, from 0 to 1. None if no counter shows it.
/// All but the occupancy are relative to elapsed cycles, as in Table I of
/// "Multi-Level Analysis of GPU Utilization in ML Training Workloads"
/// (Delestrac et al., DATE 2024).
struct UnitLevels {
  std::optional<double> sm;    ///< SMs with a warp
  std::optional<double> smsp;  ///< SM sub-partitions with a warp
  std::optional<double> issue; ///< issue slots that issued an instruction
  std::optional<double> tensorActive; ///< cycles with active tensor cores
  std::optional<double>
      tensorIssue;                 ///< issue slots that issued to tensor cores
  std::optional<double> dram;      ///< of the bandwidth
  std::optional<double> occupancy; ///< warps in a busy SM, of its maximum
};

/// A member of UnitLevels and its name, such as `tensor_issue`.
struct Level {
  llvm::StringRef id;
  std::optional<double> UnitLevels::*value;
  bool isOfKernelTime; ///< else of the time of the step
};
/// All members of UnitLevels, from the whole SM down.
llvm::ArrayRef<Level> unitLevels();

/// The accelerator with this name from a driver: `NVIDIA H100 80GB HBM3`. None
/// if it is not in the table.
std::optional<Accelerator> acceleratorOf(llvm::StringRef device);

/// What is known of a GPU, to interpret its counters.
struct Gpu {
  std::optional<int64_t> sms;
  std::string capability;          ///< of CUDA, `8.0`
  std::string device;              ///< `NVIDIA A10G`
  int64_t dies = 1;                ///< XCDs of an Instinct; each counts cycles
  std::optional<double> bandwidth; ///< of its memory, bytes/s

  /// Takes what either trace states. If they name no device that netc knows,
  /// takes the bandwidth of `device`.
  static Gpu of(const trace::Trace &timeline, const trace::Trace &counters,
                llvm::StringRef device = "");

  /// The share of issue slots that saturates the tensor cores, for f16 with
  /// sums in f32. 12.5 % for an A100, where an instruction of 2,048
  /// multiply-adds takes 8 cycles. It follows from the datasheet's rate, SMs
  /// and clock, and from the shapes of instructions. None if these are unknown.
  /// Since the B200, an instruction is one of an SM, not of a warp.
  std::optional<double> tensorIssueCap() const;

  /// FLOP of all tensor cores in a cycle, for f16 with sums in f32; from the
  /// same facts.
  std::optional<double> tensorFlopPerCycle() const;
};

/// The levels of a counted kernel.
UnitLevels levelsOf(const trace::Trace &counters,
                    const trace::CountedKernel &kernel, const Gpu &gpu);

/// The mean SM clock of the counted kernels in Hz; none if it was not counted.
std::optional<double> clockOf(const trace::Trace &counters);

/// FLOP in f32 and f64 outside of tensor cores, in one invocation: 2 for a
/// fused multiply-add, 1 for an addition or multiplication. Not f16, whose
/// instructions also move constants and occur in f32 kernels. None if they were
/// not counted.
std::optional<Rational> ordinaryFlop(const trace::Trace &counters,
                                     const trace::CountedKernel &kernel);

/// The instructions that are not counted of a number format of which others
/// are, such as `ffma` where `fadd` is.
llvm::SmallVector<llvm::StringRef, 4>
countersMissing(const trace::Trace &counters,
                const trace::CountedKernel &kernel);

/// A remark for readers of the levels, or about one.
struct LevelNote {
  llvm::StringRef id;
  std::string text;
};

/// Removes levels that are impossible: above 1, or above a level that contains
/// them, by more than 1 %. In the latter case both are removed, since either
/// may be wrong. `gpu`, the share of time with kernels, is a bound if it is
/// given. Returns the ids of removed levels, and why.
std::vector<LevelNote> eraseImpossible(UnitLevels &levels,
                                       std::optional<double> gpu);

/// Levels over several kernels, and the share of the kernels' time for which
/// each is known. Kernels without counters add nothing.
struct SummedLevels {
  UnitLevels levels;
  UnitLevels joined;
  int64_t kernelTime = 0; ///< ns
  /// Why levels of kernels were removed, once for each level, and for how many
  /// counted kernels.
  std::vector<LevelNote> impossible;
  unsigned impossibleKernels = 0;
};

/// The mean levels of counted kernels, weighted by their times under the
/// counting tool. `kernelTime` is 0 if a kernel has no time.
SummedLevels levelsOf(const trace::Trace &counters,
                      llvm::ArrayRef<uint32_t> counted, const Gpu &gpu);

/// The levels of a step, a layer or a phase that took `duration` nanoseconds,
/// summed over devices. Kernels are weighted by their times in the timeline,
/// since counting tools run them alone and at another clock.
SummedLevels sumLevels(const trace::Trace &timeline,
                       llvm::ArrayRef<uint32_t> kernels,
                       const trace::Trace &counters,
                       llvm::ArrayRef<JoinedKernels> joined, const Gpu &gpu,
                       int64_t duration);

/// Levels within intervals of time, from samples of whole devices. Devices that
/// run no kernel are left out.
UnitLevels sampledLevels(const trace::Trace &trace,
                         llvm::ArrayRef<std::pair<int64_t, int64_t>> intervals);

/// Notes for readers of these levels.
std::vector<LevelNote> levelNotes(const UnitLevels &levels, const Gpu &gpu);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_LEVELS_H
