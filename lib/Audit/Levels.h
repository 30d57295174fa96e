// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_LEVELS_H
#define NETC_LIB_AUDIT_LEVELS_H

#include "dialect/Rational.h"
#include "lib/Audit/Join.h"
#include "lib/Hardware/Hardware.h"

namespace netc::audit {

/// How busy each part of a GPU was, as a share of 1. None if no counter shows
/// it. All but the occupancy are shares of elapsed cycles, as in Table I of
/// "Multi-Level Analysis of GPU Utilization in ML Training Workloads"
/// (Delestrac et al., DATE 2024).
struct UnitLevels {
  std::optional<double> sm;    ///< multiprocessors with a warp
  std::optional<double> smsp;  ///< their quarters (SMSP) with a warp
  std::optional<double> issue; ///< issue slots that issued an instruction
  std::optional<double> tensorActive; ///< tensor cores
  std::optional<double>
      tensorIssue;                 ///< issue slots that issued to tensor cores
  std::optional<double> dram;      ///< share of the bandwidth
  std::optional<double> occupancy; ///< warps / the most that a busy SM can hold
};

/// A level and its name, such as `tensor_issue`.
struct Level {
  llvm::StringRef id;
  std::optional<double> UnitLevels::*value;
  bool isOfKernelTime; ///< else it is a share of the step's time
};
llvm::ArrayRef<Level> unitLevels();

/// The accelerator that a driver calls so: `NVIDIA H100 80GB HBM3`. None if it
/// is not in the table.
std::optional<Accelerator> acceleratorOf(llvm::StringRef device);

/// The facts about a GPU that counters are interpreted by.
struct Gpu {
  std::optional<int64_t> sms;
  std::string capability; ///< of CUDA, `8.0`
  std::string device;     ///< `NVIDIA A10G`
  int64_t dies = 1;       ///< of an Instinct, each of which counts cycles
  std::optional<double> bandwidth; ///< of its memory, bytes/s

  /// From what both traces state. Where they do not name a device that netc
  /// knows, the bandwidth is that of `device`.
  static Gpu of(const trace::Trace &timeline, const trace::Trace &counters,
                llvm::StringRef device = "");

  /// The share of issue slots that saturates the tensor cores: 12.5 % of an
  /// A100, where an instruction of 2,048 multiply-adds takes 8 cycles. By the
  /// datasheet's rate of f16 that sums in f32, SMs, clock, and the shapes of
  /// the instructions. None where these are not known: since the B200,
  /// instructions are of an SM, not of a warp.
  std::optional<double> tensorIssueCap() const;

  /// FLOP that all tensor cores do in a cycle in f16 and sum in f32; by the
  /// same facts.
  std::optional<double> tensorFlopPerCycle() const;
};

UnitLevels levelsOf(const trace::Trace &counters,
                    const trace::CountedKernel &kernel, const Gpu &gpu);

/// The mean clock of the kernels under the counting tool, Hz. None if it was
/// not counted.
std::optional<double> clockOf(const trace::Trace &counters);

/// FLOP of CUDA cores in f32 and f64, in one invocation: 2 for a fused
/// multiply-add, 1 for an addition or multiplication. f16 is left out, since
/// moves of constants and f32 kernels use it as well. None if they were not
/// counted.
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

/// Makes levels unknown that cannot be: above 1, or above a level that they are
/// a part of, by more than 1 %; in that case both, since either may be wrong.
/// `gpu` is the share of time with kernels, if it is to bound them. Returns why
/// for each, by its id.
std::vector<LevelNote> eraseImpossible(UnitLevels &levels,
                                       std::optional<double> gpu);

/// Levels over a time, and the share of its kernels' time that each is known
/// for. Kernels that were not joined do not count.
struct SummedLevels {
  UnitLevels levels;
  UnitLevels joined;
  int64_t kernelTime = 0; ///< ns
  /// Why levels of kernels were left out, one for each level, and of how many
  /// counted kernels.
  std::vector<LevelNote> impossible;
  unsigned impossibleKernels = 0;
};

/// Levels of counted kernels, each by its time under the counting tool.
/// `joined` is the share of the time that a level was counted for; `kernelTime`
/// is 0 if not all have a time.
SummedLevels levelsOf(const trace::Trace &counters,
                      llvm::ArrayRef<uint32_t> counted, const Gpu &gpu);

/// Weighs kernels by their times in the timeline, since counting tools run them
/// alone and at another clock. `kernels` are those of a step, a layer or a
/// phase that took `duration` nanoseconds, on all devices together.
SummedLevels sumLevels(const trace::Trace &timeline,
                       llvm::ArrayRef<uint32_t> kernels,
                       const trace::Trace &counters,
                       llvm::ArrayRef<JoinedKernels> joined, const Gpu &gpu,
                       int64_t duration);

/// Levels in some intervals of time, by samples that the tool took of the whole
/// device; of its samples, those of devices that run kernels.
UnitLevels sampledLevels(const trace::Trace &trace,
                         llvm::ArrayRef<std::pair<int64_t, int64_t>> intervals);

/// What readers of these levels should know.
std::vector<LevelNote> levelNotes(const UnitLevels &levels, const Gpu &gpu);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_LEVELS_H
