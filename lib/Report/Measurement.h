// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_MEASUREMENT_H
#define NETC_LIB_REPORT_MEASUREMENT_H

#include "lib/Program/Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace netc {

/// What a compiled training step reports about its run.
/// docs/measurement.schema.json defines the members. FLOP and bytes are per
/// step, with 2 FLOP for a multiply-add; times are in seconds.
struct Measurement {
  struct Op : program::Op {
    /// None if the op was not timed, as in the reference lowering.
    std::optional<int64_t> calls;
    std::optional<double> seconds; ///< none likewise
  };
  struct Step {
    double median;
    std::optional<double> low, high; ///< none with few steps
  };

  /// `target` and `isa` are those that it was compiled for. `gpu` is empty for
  /// the processor.
  std::string run, network, lowering, target, isa, cpu, gpu;
  int64_t batch, threads, steps, warmup;
  bool stable;
  Step step;
  double wall;
  std::vector<double> losses;
  std::vector<Op> ops;
  /// False for inference.
  bool trains() const {
    return llvm::any_of(ops, [](const Op &op) { return op.isBackward(); });
  }
  int64_t arena, buffers, peakRss;
  std::string machine; ///< name of the processor
  int64_t cores;
  llvm::json::Value machineText = nullptr,
                    dataText = nullptr; ///< as in the input
  /// The file of each input; none for synthetic data.
  std::map<std::string, std::optional<std::string>> dataFiles;
};

/// A level of the memory hierarchy.
struct MemoryLevel {
  std::string name;             ///< `L1` is the nearest, `memory` the last
  std::optional<int64_t> bytes; ///< capacity; none for memory
  double bandwidth;             ///< bytes per second
  bool isMeasured = true;       ///< or else the datasheet's
};

/// The roofs of a machine, per second.
struct Peaks {
  std::optional<double> measured;  ///< FLOP of the fastest kernel, in f32
  std::optional<double> datasheet; ///< FLOP in f32
  /// Measured FLOP of products in formats that the machine has instructions
  /// for.
  std::map<std::string, double> formats;
  std::string assumed;             ///< what the datasheet's figure assumes
  std::vector<MemoryLevel> levels; ///< known levels, nearest first
  std::optional<double> clock;     ///< hertz
  std::string clockSource;         ///< `cpufreq` or `measured`

  /// FLOP of the compute roof: the measured peak, or else the datasheet's; 0 if
  /// neither is known.
  double flops() const { return measured.value_or(datasheet.value_or(0)); }
  /// That of products. Where the machine has no instructions for a format, they
  /// are computed in f32.
  double flopsOf(const std::string &format) const {
    auto found = formats.find(format);
    return found == formats.end() ? flops() : found->second;
  }
  /// The smallest level that can hold `bytes`; null if none is known.
  const MemoryLevel *levelOf(int64_t bytes) const;
};

/// The measured peaks of products in other formats than f32, as far as the
/// measurement has such products.
std::map<std::string, double> peaksOfProducts(const Measurement &measurement,
                                              const Peaks &peaks);

/// Parses the output of a program with `--json`.
llvm::Expected<Measurement> parseMeasurement(llvm::StringRef text);
/// The peaks in a measurement with `--peaks`; none without.
std::optional<Peaks> peaksOf(const Measurement &measurement);
/// Merges the peaks of two measurements of one machine. The higher one counts,
/// since other programs can only lower a peak.
void raisePeaks(Measurement &measurement, const Measurement &again);

/// Sums over ops.
struct Work {
  int64_t matmul = 0, other = 0, bytes = 0;
  double forward = 0, backward = 0, update = 0; ///< seconds
  /// For each roof, `compute` or a level of memory, the seconds that ops
  /// bounded by it would take at the roof.
  std::map<std::string, double> roofs;
  /// For each reason, the seconds by which ops took less than at their roof.
  std::map<std::string, double> excess;
  bool isTimed = true; ///< whether the times of all ops are known

  int64_t flop() const { return matmul + other; }
  double seconds() const { return forward + backward + update; }
  /// Seconds that all ops would take at their roofs.
  double roof() const;
  /// The roof with the most seconds, `compute` or a level of memory. Empty for
  /// ops without time or bytes.
  llvm::StringRef bound() const;
  /// Why the ops took less time than at their roofs. Empty if they did not.
  llvm::StringRef whyAboveRoof() const;
  void add(const Measurement::Op &op, const Peaks &peaks);
  void add(const Work &work);
};

/// A block instance or the name of an op, with the work of all ops in it.
struct MeasuredPart {
  std::string path; ///< empty for the root
  std::string op;   ///< the op with the most forward FLOP, then bytes
  std::vector<unsigned> children;
  Work work;
  std::pair<int64_t, int64_t> opWeight = {-1,
                                          -1}; ///< of `op`: forward FLOP, bytes
};

/// Whether a part and all of its children are ops, as a layer of an estimate.
bool isLayer(const std::vector<MeasuredPart> &parts, const MeasuredPart &part);

/// The tree of the ops' names. The root is first, and parents precede children.
std::vector<MeasuredPart> measuredParts(const Measurement &measurement,
                                        const Peaks &peaks);

/// FLOP by format, and the seconds that they took.
struct Rate {
  std::map<std::string, int64_t> byFormat;
  double seconds = 0;

  int64_t flop() const;
  double perSecond() const { return seconds > 0 ? flop() / seconds : 0; }
  /// The seconds that the FLOP take at the measured peaks, divided by those
  /// that they took. None if no peak is measured.
  std::optional<double> ofMeasured(const Peaks &peaks) const;
  /// The share of the datasheet's peak. None if that is unknown, or if products
  /// are in other formats than f32, for which it does not hold.
  std::optional<double> ofDatasheet(const Peaks &peaks) const;
};

/// The products of a step by the time of the step, with or without what is
/// recomputed.
Rate modelRate(const Measurement &measurement);
Rate hardwareRate(const Measurement &measurement);
/// All FLOP of a step likewise. Those that are not of products count as f32.
Rate rateOfAll(const Measurement &measurement);

/// The four ways to measure utilization; see docs/Measuring.md. All count
/// matmul FLOP.
enum class Method { Theory, One, Batch, Epoch };
constexpr Method allMethods[] = {Method::Theory, Method::One, Method::Batch,
                                 Method::Epoch};
llvm::StringRef nameOf(Method method);

/// The measurements of a run, one for each batch size.
struct MeasuredRun {
  std::vector<Measurement> batches;
};

/// None for `one` without a measurement of batch size 1, and for methods that
/// need the times of ops if these are not known.
std::optional<Rate> rateBy(Method method, const MeasuredRun &run,
                           const Measurement &measurement);

/// Backward divided by forward. None if the forward pass has no FLOP, or no
/// time.
struct BackwardRatio {
  std::optional<double> flop; ///< matmul FLOP
  std::optional<double> time;
};
BackwardRatio backwardRatio(const Measurement &measurement);

/// The share of the step's time outside of all ops. None if the times of ops
/// are not known. It may be negative, since the medians of ops need not add up
/// to the median of steps.
std::optional<double> outsideOfOps(const Measurement &measurement);

/// The share of ops with matmul FLOP.
struct MatmulShare {
  std::optional<double>
      time;    ///< share of the time of all ops; none if that is not known
  double flop; ///< matmul FLOP / hardware FLOP
};
MatmulShare matmulShare(const Measurement &measurement);

/// The contents of a report of measurements.
struct MeasurementReport {
  std::string version; ///< of netc
  Peaks peaks;
  std::vector<MeasuredRun> runs; ///< none is empty
};

} // namespace netc

#endif // NETC_LIB_REPORT_MEASUREMENT_H
