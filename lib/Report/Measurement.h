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

/// What a compiled training step says of its own run; members mean what
/// docs/measurement.schema.json says. FLOP and bytes are those of one step, 2
/// FLOP a multiply-add. Times are in seconds.
struct Measurement {
  struct Op : program::Op {
    std::optional<int64_t> calls; ///< not of the reference, nor the next
    std::optional<double> seconds;
  };
  struct Step {
    double median;
    std::optional<double> low, high; ///< not of few steps
  };

  std::string run, network, lowering, isa, cpu; ///< `isa`: compiled for
  int64_t batch, threads, steps, warmup;
  bool stable;
  Step step;
  double wall;
  std::vector<double> losses;
  std::vector<Op> ops;
  /// Not what only infers.
  bool trains() const {
    return llvm::any_of(ops, [](const Op &op) { return op.isBackward(); });
  }
  int64_t arena, buffers, peakRss;
  std::string machine; ///< the processor
  int64_t cores;
  llvm::json::Value machineText = nullptr, dataText = nullptr; ///< as they came
  /// By input; none where numbers were drawn.
  std::map<std::string, std::optional<std::string>> dataFiles;
};

/// A level of the memory hierarchy.
struct MemoryLevel {
  std::string name;             ///< `L1` is the nearest; the last is `memory`
  std::optional<int64_t> bytes; ///< that it holds; none: everything
  double bandwidth;             ///< bytes per second
};

/// The roofs over what is measured: per second.
struct Peaks {
  double measured = 0;             ///< FLOP, of the fastest kernel
  std::optional<double> datasheet; ///< FLOP
  std::string assumed;             ///< for the datasheet
  std::vector<MemoryLevel> levels; ///< those known, from the nearest on
  std::optional<double> clock;     ///< hertz
  std::string clockSource;         ///< `cpufreq` or `measured`

  /// The smallest level that holds so much; null if none is known.
  const MemoryLevel *levelOf(int64_t bytes) const;
};

/// Reads what the program printed with `--json`.
llvm::Expected<Measurement> parseMeasurement(llvm::StringRef text);
/// The peaks in it, which it has with `--peaks`.
std::optional<Peaks> peaksOf(const Measurement &measurement);
/// Takes what is higher in another measurement of the same machine: other
/// programs only ever lower its figures.
void raisePeaks(Measurement &measurement, const Measurement &again);

/// A sum over ops.
struct Work {
  int64_t matmul = 0, other = 0, bytes = 0;
  double forward = 0, backward = 0, update = 0; ///< seconds
  /// Seconds that the ops would take at their roofs, by which roof is lower:
  /// `compute`, or a level of memory.
  std::map<std::string, double> roofs;
  /// Seconds that ops took less than that, by what tells why.
  std::map<std::string, double> excess;
  bool isTimed = true; ///< whether the times of all of them are known

  int64_t flop() const { return matmul + other; }
  double seconds() const { return forward + backward + update; }
  double roof() const;
  /// `compute` or a level of memory, whichever roof has the most of the least
  /// time; empty for what takes no time or bytes of its own.
  llvm::StringRef bound() const;
  /// Why it took less than its roof allows; empty if it did not.
  llvm::StringRef whyAboveRoof() const;
  void add(const Measurement::Op &op, const Peaks &peaks);
  void add(const Work &work);
};

/// A block instance or an op name, with all that is in it.
struct MeasuredPart {
  std::string path; ///< empty for the root
  std::string op;   ///< the one of most forward FLOP, else bytes
  std::vector<unsigned> children;
  Work work;
  std::pair<int64_t, int64_t> opWeight = {-1, -1}; ///< of `op`: these two
};

/// Whether it is a name of ops, or all of its parts are: what estimates call a
/// layer.
bool isLayer(const std::vector<MeasuredPart> &parts, const MeasuredPart &part);

/// The parts that the names of the ops span; parents before children, the root
/// first.
std::vector<MeasuredPart> measuredParts(const Measurement &measurement,
                                        const Peaks &peaks);

/// FLOP and the seconds they took.
struct Rate {
  int64_t flop = 0;
  double seconds = 0;

  double perSecond() const { return seconds > 0 ? flop / seconds : 0; }
};

/// The four ways to measure utilization that docs/Measuring.md defines. FLOP
/// are matmul FLOP.
enum class Method { Theory, One, Batch, Epoch };
constexpr Method allMethods[] = {Method::Theory, Method::One, Method::Batch,
                                 Method::Epoch};
llvm::StringRef nameOf(Method method);

/// The measurements of a run, one a batch size.
struct MeasuredRun {
  std::vector<Measurement> batches;
};

/// None for `one` if no batch of one example was measured, nor from times of
/// ops that are not known.
std::optional<Rate> rateBy(Method method, const MeasuredRun &run,
                           const Measurement &measurement);

/// Backward over forward; none without a forward pass that counts.
struct BackwardRatio {
  std::optional<double> flop; ///< matmul FLOP
  std::optional<double> time;
};
BackwardRatio backwardRatio(const Measurement &measurement);

/// The share of the step that the ops' times leave; none if those are not
/// known. Below 0 where they add up to more: medians need not add up to the
/// median.
std::optional<double> outsideOfOps(const Measurement &measurement);

/// The share that ops with matmul FLOP have.
struct MatmulShare {
  std::optional<double> time; ///< of the time of all ops, if that is known
  double flop;                ///< matmul FLOP of hardware FLOP
};
MatmulShare matmulShare(const Measurement &measurement);

/// All that a report of measurements shows.
struct MeasurementReport {
  std::string version; ///< of netc
  Peaks peaks;
  std::vector<MeasuredRun> runs; ///< none is empty
};

} // namespace netc

#endif // NETC_LIB_REPORT_MEASUREMENT_H
