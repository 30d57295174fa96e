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

/// What a compiled program reports about the steps that it ran, as
/// docs/measurement.schema.json defines. FLOP and bytes are per step, with 2
/// FLOP for a multiply-add; times are in seconds.
struct Measurement {
  struct Op : program::Op {
    /// None if ops are not timed, as in the reference lowering.
    std::optional<int64_t> calls;
    std::optional<double> seconds; ///< none likewise
  };
  struct Step {
    double median;
    std::optional<double> low, high; ///< 95 % confidence; none with few steps
  };

  /// What a GPU did during the steps. Unknown figures are none.
  struct Device {
    std::string arch;            ///< of the code
    double compiling;            ///< seconds in which the driver compiled it
    int64_t launches;            ///< kernels of a step
    std::optional<double> hertz; ///< mean clock, by cycles
    /// FLOP/s at this clock, by format.
    std::map<std::string, double> peaks;
    struct Telemetry {
      std::optional<double> hertz, lowestHertz, watts, joulesPerStep, celsius;
      std::string slowdowns;
    };
    std::optional<Telemetry> telemetry;
  };

  /// `target` and `isa` are what the program was compiled for. `gpu` is empty
  /// if it ran on the processor.
  std::string run, network, lowering, target, isa, cpu, gpu;
  int64_t batch, threads, steps, warmup;
  bool stable;
  Step step;
  double wall;
  std::vector<double> losses;
  std::vector<Op> ops;
  /// Whether it is training, and not inference.
  bool trains() const {
    return llvm::any_of(ops, [](const Op &op) { return op.isBackward(); });
  }
  int64_t arena, buffers, peakRss;
  std::string machine; ///< name of the processor
  int64_t cores;
  std::optional<Device> device; ///< none if they ran on the processor
  std::optional<int64_t> l2;    ///< bytes of a GPU's L2
  llvm::json::Value machineText = nullptr, dataText = nullptr,
                    deviceText = nullptr; ///< as in the input
  /// The file of each input; none for synthetic data.
  std::map<std::string, std::optional<std::string>> dataFiles;
};

/// A level of the memory hierarchy.
struct MemoryLevel {
  std::string name;             ///< `L1` is the nearest, `memory` the last
  std::optional<int64_t> bytes; ///< capacity; none for memory
  double bandwidth;             ///< bytes per second
  bool isMeasured = true;       ///< else from the datasheet
};

/// The roofs of a machine.
struct Peaks {
  std::optional<double> measured;  ///< FLOP/s of the fastest kernel, in f32
  std::optional<double> datasheet; ///< FLOP/s in f32
  /// Measured FLOP/s of products in other formats, if the machine has
  /// instructions for them, and those of the datasheet.
  std::map<std::string, double> formats, datasheetFormats;
  std::string assumed;             ///< what the datasheet's figure assumes
  std::vector<MemoryLevel> levels; ///< known levels, nearest first
  std::optional<double> copy;      ///< bytes/s of a copy in a GPU's memory
  std::optional<double> clock;     ///< hertz
  std::string clockSource;         ///< `cpufreq` or `measured`

  /// FLOP/s of the compute roof: the measured peak, else the datasheet's; 0 if
  /// neither is known.
  double flops() const { return measured.value_or(datasheet.value_or(0)); }
  /// The same for products in a format. Without instructions for it, they are
  /// computed in f32.
  double flopsOf(const std::string &format) const {
    const auto &known = measured ? formats : datasheetFormats;
    auto found = known.find(format);
    return found == known.end() ? flops() : found->second;
  }
  /// The smallest level that can hold `bytes`; null if none is known.
  const MemoryLevel *levelOf(int64_t bytes) const;
};

/// The formats other than f32 that the measurement has products in and the
/// machine has peaks of.
std::vector<std::string> otherFormats(const Measurement &measurement,
                                      const Peaks &peaks);

/// Parses the output of a compiled program with `--json`.
llvm::Expected<Measurement> parseMeasurement(llvm::StringRef text);
/// The bytes that such a program lacks, needed and available ones, by its
/// output; none if it does not say so.
std::optional<std::pair<int64_t, int64_t>> parseLack(llvm::StringRef text);
/// The peaks of the machine, from a program with `--peaks`; else none.
std::optional<Peaks> peaksOf(const Measurement &measurement);

/// The work of several ops.
struct Work {
  int64_t matmul = 0, other = 0, bytes = 0;
  double forward = 0, backward = 0, update = 0; ///< seconds
  /// For each roof, `compute` or a level of memory, the seconds that ops
  /// bounded by it would take at the roof.
  std::map<std::string, double> roofs;
  /// For each reason, the seconds by which ops were faster than their roofs.
  std::map<std::string, double> excess;
  bool isTimed = true; ///< whether the times of all ops are known

  int64_t flop() const { return matmul + other; }
  double seconds() const { return forward + backward + update; }
  /// Seconds that all ops would take at their roofs.
  double roof() const;
  /// The roof with the most seconds, `compute` or a level of memory. Empty for
  /// ops without time or bytes.
  llvm::StringRef bound() const;
  /// Why the ops were faster than their roofs; empty if they were not.
  llvm::StringRef whyAboveRoof() const;
  void add(const Measurement::Op &op, const Peaks &peaks);
  void add(const Work &work);
};

/// A block instance or an op, with the work of all ops in it.
struct MeasuredPart {
  std::string path; ///< empty for the root
  std::string op;   ///< the op with the most forward FLOP, then bytes
  std::vector<unsigned> children;
  Work work;
  std::pair<int64_t, int64_t> opWeight = {-1,
                                          -1}; ///< of `op`: forward FLOP, bytes
};

/// Whether a part consists of ops only, as a layer of an estimate does.
bool isLayer(const std::vector<MeasuredPart> &parts, const MeasuredPart &part);

/// The tree of the ops' names. The root is first, and parents precede children.
std::vector<MeasuredPart> measuredParts(const Measurement &measurement,
                                        const Peaks &peaks);

/// FLOP by format, and the seconds that they took together.
struct Rate {
  std::map<std::string, int64_t> byFormat;
  double seconds = 0;

  int64_t flop() const;
  double perSecond() const { return seconds > 0 ? flop() / seconds : 0; }
  /// The seconds that the FLOP would take at the measured peaks, divided by
  /// `seconds`. None if no peak is measured.
  std::optional<double> ofMeasured(const Peaks &peaks) const;
  /// The same of the datasheet's peaks. None if that of a format is unknown.
  std::optional<double> ofDatasheet(const Peaks &peaks) const;
  /// The same of a GPU's peaks at the clock of its steps.
  std::optional<double> ofClock(const Measurement &measurement) const;

private:
  std::optional<double>
  shareOf(const std::map<std::string, double> &peaks) const;
};

/// The products of a step and the time of the step, without (model) and with
/// recomputation (hardware).
Rate modelRate(const Measurement &measurement);
Rate hardwareRate(const Measurement &measurement);
/// All FLOP of a step and its time. FLOP outside of products count as f32.
Rate rateOfAll(const Measurement &measurement);

/// The products in each format, and the time of the ops that multiply in it.
/// Empty if ops are not timed.
std::map<std::string, Rate> ratesByFormat(const Measurement &measurement);

/// The four ways to measure utilization; see docs/Measuring.md. All count
/// matmul FLOP.
enum class Method { Theory, One, Batch, Epoch };
constexpr Method allMethods[] = {Method::Theory, Method::One, Method::Batch,
                                 Method::Epoch};
llvm::StringRef nameOf(Method method);

/// The measurements of a run, or of a point of its sweep, one for each batch
/// size.
struct MeasuredRun {
  std::vector<Measurement> batches;
  /// What the point sets, by name and as written, but for the batch size.
  std::vector<std::pair<std::string, std::string>> values = {};
};

/// Such as `kernel = flash, precision = tf32`; empty for a run as written.
std::string
textOf(const std::vector<std::pair<std::string, std::string>> &values);

/// The products and the time by a method. None for One without a measurement of
/// batch size 1, and for methods that need the times of ops if these are
/// unknown.
std::optional<Rate> rateBy(Method method, const MeasuredRun &run,
                           const Measurement &measurement);

/// The backward pass divided by the forward pass. None if the latter has no
/// FLOP, or no time.
struct BackwardRatio {
  std::optional<double> flop; ///< matmul FLOP
  std::optional<double> time;
};
BackwardRatio backwardRatio(const Measurement &measurement);

/// The share of the step's time outside of all ops. None if the times of ops
/// are unknown. It may be negative, since the medians of ops need not add up to
/// the median of steps.
std::optional<double> outsideOfOps(const Measurement &measurement);

/// The share of the ops with matmul FLOP.
struct MatmulShare {
  std::optional<double> time; ///< of the time of all ops; none if unknown
  double flop;                ///< matmul FLOP / hardware FLOP
};
MatmulShare matmulShare(const Measurement &measurement);

/// A point that was not measured, since its program needs more memory than
/// there is.
struct Misfit {
  std::string run;
  std::vector<std::pair<std::string, std::string>> values; ///< as of its run
  std::optional<int64_t> batch;
  int64_t needed, available; ///< bytes
  std::string error;         ///< for people
};

/// The contents of a report of measurements.
struct MeasurementReport {
  std::string version;           ///< of netc
  Peaks peaks;                   ///< of the last program, which has the highest
  std::vector<MeasuredRun> runs; ///< each with a measurement
  std::vector<Misfit> misfits = {};
};

} // namespace netc

#endif // NETC_LIB_REPORT_MEASUREMENT_H
