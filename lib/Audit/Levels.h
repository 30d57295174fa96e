// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_LEVELS_H
#define NETC_LIB_AUDIT_LEVELS_H

#include "dialect/Rational.h"
#include "lib/Audit/Join.h"

namespace netc::audit {

/// How busy each part of a GPU was, as a share of 1; none where nothing that
/// was counted tells. All but the occupancy divide by the cycles that elapsed,
/// as Table I of "Multi-Level Analysis of GPU Utilization in ML Training
/// Workloads" (Delestrac et al., DATE 2024) does.
struct UnitLevels {
  std::optional<double> sm;           ///< multiprocessors with a warp
  std::optional<double> smsp;         ///< their quarters with a warp
  std::optional<double> issue;        ///< slots that issued an instruction
  std::optional<double> tensorActive; ///< tensor cores
  std::optional<double> tensorIssue;  ///< slots that issued to tensor cores
  std::optional<double> dram;         ///< of the bandwidth
  std::optional<double> occupancy;    ///< warps, of what a busy SM can hold
};

/// A level by its name, `tensor_issue`.
struct Level {
  llvm::StringRef id;
  std::optional<double> UnitLevels::*value;
  bool isOfKernelTime; ///< else of the time of the step
};
llvm::ArrayRef<Level> unitLevels();

/// What the counters must be read with.
struct Gpu {
  std::optional<int64_t> sms;
  std::string capability; ///< of CUDA, `8.0`
  std::string device;     ///< `NVIDIA A10G`
  int64_t dies = 1;       ///< of an Instinct, each of which counts cycles
  std::optional<double> bandwidth; ///< of its memory, bytes/s

  /// What both traces say.
  static Gpu of(const trace::Trace &timeline, const trace::Trace &counters);

  /// The share of issue slots that saturates the tensor cores: 12.5 % of an
  /// A100, where an instruction of 2,048 multiply-adds takes 8 cycles. By the
  /// datasheet's rate of f16 that sums in f32, SMs, clock, and the shapes of
  /// the instructions. None where these are not known: since the B200,
  /// instructions are of an SM, not of a warp.
  std::optional<double> tensorIssueCap() const;
};

UnitLevels levelsOf(const trace::Trace &counters,
                    const trace::CountedKernel &kernel, const Gpu &gpu);

/// FLOP that ordinary units executed in f32 and f64 in one invocation: fused
/// multiply-adds twice, additions and multiplications once. Those in f16 are
/// left out: moves of constants and f32 kernels have them, too. None if they
/// were not counted.
std::optional<Rational> ordinaryFlop(const trace::Trace &counters,
                                     const trace::CountedKernel &kernel);
/// FLOP of matrix units, where the tool counts them
/// (`sm__ops_path_tensor_..`).
std::optional<Rational> matrixFlop(const trace::Trace &counters,
                                   const trace::CountedKernel &kernel);

/// Levels over some time, and what share of the time of its kernels each is of:
/// kernels that were not joined count nothing.
struct SummedLevels {
  UnitLevels levels;
  UnitLevels joined;
  int64_t kernelTime = 0; ///< ns
};

/// Each kernel weighs as long as it ran in the timeline: under a tool of
/// counters it runs at another clock and alone. `kernels` are those of a step,
/// a layer or a phase, which took `duration` nanoseconds.
SummedLevels sumLevels(const trace::Trace &timeline,
                       llvm::ArrayRef<uint32_t> kernels,
                       const trace::Trace &counters,
                       llvm::ArrayRef<JoinedKernels> joined, const Gpu &gpu,
                       int64_t duration);

/// Levels in some intervals of time, by samples that the tool took of the whole
/// device; of its samples, those of devices that run kernels.
UnitLevels sampledLevels(const trace::Trace &trace,
                         llvm::ArrayRef<std::pair<int64_t, int64_t>> intervals);

/// The levels that are greater than one above them by more than 1 %, in words:
/// by construction none can be, so the join is wrong. `gpu` is the share of
/// time with kernels.
std::vector<std::string> contradictionsIn(const UnitLevels &levels,
                                          std::optional<double> gpu);

/// What a reader of the levels should know, each with an id.
struct LevelNote {
  llvm::StringRef id;
  std::string text;
};
std::vector<LevelNote> levelNotes(const UnitLevels &levels, const Gpu &gpu);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_LEVELS_H
