// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Levels.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <functional>
#include <map>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::StringRef;
using llvm::Twine;

llvm::ArrayRef<Level> netc::audit::unitLevels() {
  static const Level levels[] = {
      {"sm", &UnitLevels::sm, false},
      {"smsp", &UnitLevels::smsp, false},
      {"issue", &UnitLevels::issue, false},
      {"tensor_active", &UnitLevels::tensorActive, false},
      {"tensor_issue", &UnitLevels::tensorIssue, false},
      {"dram", &UnitLevels::dram, false},
      {"occupancy", &UnitLevels::occupancy, true},
  };
  return levels;
}

std::optional<Accelerator> netc::audit::acceleratorOf(StringRef device) {
  for (StringRef vendor : {"NVIDIA ", "Tesla ", "AMD "})
    device.consume_front(vendor);
  device = device.take_front(device.find(" HBM"));
  static const AcceleratorTable table = AcceleratorTable::builtin();
  return table.find(device);
}

/// The bandwidth by the datasheet, in bytes/s.
static std::optional<double> bandwidthOf(StringRef device) {
  std::optional<Accelerator> found = acceleratorOf(device);
  if (!found || !found->bandwidthBytesPerSecond)
    return std::nullopt;
  return found->bandwidthBytesPerSecond->value.toDouble();
}

Gpu Gpu::of(const Trace &timeline, const Trace &counters, StringRef device) {
  Gpu gpu;
  gpu.sms = timeline.sms ? timeline.sms : counters.sms;
  gpu.capability =
      timeline.capability.empty() ? counters.capability : timeline.capability;
  gpu.device = timeline.device.empty() ? counters.device : timeline.device;
  gpu.dies = std::max(timeline.dies, counters.dies);
  gpu.bandwidth = bandwidthOf(gpu.device);
  if (!gpu.bandwidth)
    gpu.bandwidth = bandwidthOf(device);
  for (const CountedKernel &kernel : counters.counted)
    if (!gpu.sms)
      if (auto sms = counters.counter(kernel.counters, "launch__sm_count");
          sms && *sms >= 1 && *sms < 1e6)
        gpu.sms = std::llround(*sms);
  return gpu;
}

namespace {
struct TensorCores {
  StringRef capability;
  double rate;        ///< f16 multiply-adds in a cycle and sub-partition
  double instruction; ///< those of the largest instruction of a warp
};
} // namespace

/// The tensor cores of a compute capability; null if unknown.
static const TensorCores *tensorCoresOf(StringRef capability) {
  static const TensorCores table[] = {
      {"7.0", 128, 256},   // V100: HMMA.884, sums in f32
      {"7.2", 128, 256},   // Xavier
      {"7.5", 128, 1024},  // T4, RTX 20: m16n8k8
      {"8.0", 256, 2048},  // A100, A30: m16n8k16, as all below
      {"8.6", 128, 2048},  // A10, A40, A6000, RTX 30
      {"8.7", 128, 2048},  // Orin
      {"8.9", 128, 2048},  // L4, L40S, RTX 40
      {"9.0", 512, 2048},  // H100, H200: mma.sync; wgmma has 65,536
      {"12.0", 128, 2048}, // RTX PRO 6000, RTX 50
      {"12.1", 128, 2048}, // GB10
  };
  auto *found = llvm::find_if(table, [&](const TensorCores &cores) {
    return cores.capability == capability;
  });
  return found == std::end(table) ? nullptr : found;
}

/// Since the RTX 20, GeForce boards sum in f32 at half of the rate.
static double shareOfRate(const Gpu &gpu) {
  bool isHalved =
      StringRef(gpu.device).contains("GeForce") && gpu.capability != "7.0";
  return isHalved ? 0.5 : 1;
}

std::optional<double> Gpu::tensorIssueCap() const {
  const TensorCores *cores = tensorCoresOf(capability);
  if (!cores)
    return std::nullopt;
  return cores->rate / cores->instruction * shareOfRate(*this);
}

std::optional<double> Gpu::tensorFlopPerCycle() const {
  const TensorCores *cores = tensorCoresOf(capability);
  if (!cores || !sms)
    return std::nullopt;
  return 2 * cores->rate * 4 * double(*sms) * shareOfRate(*this);
}

/// The time of a kernel under Nsight Compute, in seconds.
static constexpr StringRef timeCounter = "gpu__time_duration.sum";

//===----------------------------------------------------------------------===//
// A kernel
//===----------------------------------------------------------------------===//

namespace {
using Value = std::optional<double>;

/// The counters of a kernel.
class Counters {
public:
  Counters(const Trace &trace, const CountedKernel &kernel, const Gpu &gpu)
      : trace(trace), kernel(kernel), gpu(gpu) {}

  Value get(const Twine &metric) const {
    llvm::SmallString<64> text;
    return trace.counter(kernel.counters, metric.toStringRef(text));
  }

  /// The sum over all instances of a unit, `sm` or `smsp`. If only the mean was
  /// counted, that times the number of instances.
  Value total(StringRef unit, StringRef what) const {
    if (Value sum = get(unit + "__" + what + ".sum"))
      return sum;
    Value mean = get(unit + "__" + what + ".avg");
    if (!mean || !gpu.sms)
      return std::nullopt;
    return *mean * double(*gpu.sms) * (unit == "smsp" ? 4 : 1);
  }

  /// Elapsed cycles, summed over the instances of a unit. Those of `sm` and
  /// `smsp` follow from each other: an SM has four sub-partitions.
  Value elapsed(StringRef unit) const {
    if (Value cycles = total(unit, "cycles_elapsed"))
      return cycles;
    Value cycles = total(unit == "smsp" ? "sm" : "smsp", "cycles_elapsed");
    return cycles ? Value(unit == "smsp" ? *cycles * 4 : *cycles / 4) : Value();
  }

  Value ratio(Value over, Value under) const {
    if (!over || !under || *under <= 0)
      return std::nullopt;
    return *over / *under;
  }

  /// A percentage as a share of 1.
  Value percent(const Twine &metric) const {
    Value value = get(metric);
    return value ? Value(*value / 100) : Value();
  }

private:
  const Trace &trace;
  const CountedKernel &kernel;
  const Gpu &gpu;
};

Value firstOf(std::initializer_list<Value> values) {
  for (Value value : values)
    if (value)
      return value;
  return std::nullopt;
}

Value sumOf(std::initializer_list<Value> values) {
  Value sum;
  for (Value value : values)
    if (value)
      sum = sum.value_or(0) + *value;
  return sum;
}
} // namespace

/// Instructions of the tensor pipe. On a GA100, that pipe also executes f16
/// arithmetic and moves of constants. They are subtracted, at 32 threads each.
static Value tensorInstructions(const Counters &counters, const Gpu &gpu) {
  auto of = [&](StringRef kind) {
    return firstOf(
        {counters.total("smsp", ("inst_executed_pipe_tensor_" + kind).str()),
         counters.total("sm", ("inst_executed_pipe_tensor_" + kind).str())});
  };
  if (Value sum =
          sumOf({of("op_hmma"), of("op_imma"), of("op_dmma"), of("op_gmma"),
                 of("subpipe_hmma"), of("subpipe_imma"), of("subpipe_dmma")}))
    return sum;
  Value all = firstOf({counters.total("smsp", "inst_executed_pipe_tensor"),
                       counters.total("sm", "inst_executed_pipe_tensor")});
  if (!all || gpu.capability != "8.0")
    return all;
  Value half = firstOf(
      {counters.total("smsp", "sass_thread_inst_executed_op_hfma_pred_on"),
       counters.total("sm", "sass_thread_inst_executed_op_hfma_pred_on")});
  return half ? Value(std::max(0., *all - *half / 32)) : Value();
}

/// The share of elapsed cycles in which a pipe is active. `sm`, the share of
/// active cycles, converts a percentage of active cycles.
static Value pipe(const Counters &counters, StringRef name, Value sm) {
  if (Value value = counters.percent("sm__" + name +
                                     ".avg.pct_of_peak_sustained_elapsed"))
    return value;
  Value active =
      counters.percent("sm__" + name + ".avg.pct_of_peak_sustained_active");
  return active && sm ? Value(*active * *sm) : Value();
}

/// nvprof gives the utilization in tenths of the active cycles, from 0 to 10.
static Value ofFunctionUnits(const Counters &counters, Value sm) {
  Value tenths = sumOf({counters.get("tensor_precision_fu_utilization"),
                        counters.get("tensor_int_fu_utilization")});
  return tenths && sm ? Value(std::min(*tenths / 10, 1.) * *sm) : Value();
}

/// The share of cycles in which an Instinct's matrix cores work. A compute unit
/// has four, and each die counts elapsed cycles (rocprofiler-sdk,
/// counter_defs.yaml: MfmaUtil).
static Value ofMatrixCores(const Counters &counters, const Gpu &gpu) {
  if (Value percent = counters.percent("MfmaUtil"))
    return percent;
  Value busy = counters.get("SQ_VALU_MFMA_BUSY_CYCLES"),
        elapsed = counters.get("GRBM_GUI_ACTIVE");
  if (!busy || !elapsed || !gpu.sms || *gpu.sms <= 0)
    return std::nullopt;
  return counters.ratio(busy, *elapsed / std::max<int64_t>(gpu.dies, 1) *
                                  double(*gpu.sms) * 4);
}

UnitLevels netc::audit::levelsOf(const Trace &trace,
                                 const CountedKernel &kernel, const Gpu &gpu) {
  Counters counters(trace, kernel, gpu);
  UnitLevels levels;
  Value smsps = counters.elapsed("smsp");
  levels.sm = firstOf(
      {counters.ratio(counters.total("sm", "cycles_active"),
                      counters.elapsed("sm")),
       counters.percent("sm__cycles_active.avg.pct_of_peak_sustained_elapsed"),
       counters.percent("sm_efficiency")});
  levels.smsp =
      firstOf({counters.ratio(counters.total("smsp", "cycles_active"), smsps),
               counters.percent(
                   "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed")});
  // nvprof's metric is a share of active cycles.
  Value ofActive = counters.percent("issue_slot_utilization");
  levels.issue = firstOf(
      {counters.ratio(counters.total("smsp", "issue_active"), smsps),
       counters.ratio(counters.total("smsp", "inst_issued"), smsps),
       counters.ratio(counters.total("smsp", "inst_executed"), smsps),
       counters.percent("smsp__issue_active.avg.pct_of_peak_sustained_elapsed"),
       counters.percent("issue_slots_busy.pct"),
       ofActive && levels.sm ? Value(*ofActive * *levels.sm) : Value()});
  levels.tensorActive = firstOf(
      {pipe(counters, "pipe_tensor_cycles_active", levels.sm),
       sumOf({pipe(counters, "pipe_tensor_op_hmma_cycles_active", levels.sm),
              pipe(counters, "pipe_tensor_op_imma_cycles_active", levels.sm),
              pipe(counters, "pipe_tensor_op_dmma_cycles_active", levels.sm)}),
       pipe(counters, "pipe_tensor_subpipe_hmma_cycles_active", levels.sm),
       ofFunctionUnits(counters, levels.sm), ofMatrixCores(counters, gpu)});
  levels.tensorIssue = counters.ratio(tensorInstructions(counters, gpu), smsps);
  levels.occupancy = firstOf(
      {counters.percent("sm__warps_active.avg.pct_of_peak_sustained_active"),
       counters.get("achieved_occupancy"),
       counters.percent("OccupancyPercent")});
  Value bytes = firstOf({sumOf({counters.get("dram__bytes_read.sum"),
                                counters.get("dram__bytes_write.sum")}),
                         counters.get("dram__bytes.sum")});
  Value time = counters.get(timeCounter);
  Value rate = counters.ratio(bytes, time);
  levels.dram = firstOf(
      {counters.percent("dram__throughput.avg.pct_of_peak_sustained_elapsed"),
       counters.percent(
           "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
       gpu.bandwidth ? counters.ratio(rate, gpu.bandwidth) : Value()});
  return levels;
}

static std::string percentOf(double share) {
  return llvm::formatv("{0:F1} %", share * 100).str();
}

std::vector<LevelNote> netc::audit::eraseImpossible(UnitLevels &levels,
                                                    Value gpu) {
  constexpr double tolerance = 0.01;
  std::vector<LevelNote> reasons;
  auto erase = [&](Value UnitLevels::*level, const std::string &why) {
    for (const Level &each : unitLevels())
      if (each.value == level && llvm::none_of(reasons, [&](auto &reason) {
            return reason.id == each.id;
          }))
        reasons.push_back({each.id, why});
  };
  for (const Level &level : unitLevels())
    if (Value value = levels.*level.value; value && *value > 1 + tolerance)
      erase(level.value, "it would be " + percentOf(*value));
  struct Order {
    Value UnitLevels::*high; ///< null for the share of time with kernels
    Value UnitLevels::*low;
  };
  static const Order orders[] = {
      {nullptr, &UnitLevels::sm},
      {nullptr, &UnitLevels::smsp},
      {&UnitLevels::sm, &UnitLevels::smsp},
      {&UnitLevels::smsp, &UnitLevels::issue},
      {&UnitLevels::issue, &UnitLevels::tensorIssue},
      {&UnitLevels::tensorActive, &UnitLevels::tensorIssue},
  };
  auto nameOf = [](Value UnitLevels::*level) {
    return level ? llvm::find_if(
                       unitLevels(),
                       [&](const Level &each) { return each.value == level; })
                       ->id
                 : StringRef("gpu");
  };
  for (const Order &order : orders) {
    Value high = order.high ? levels.*order.high : gpu, low = levels.*order.low;
    if (!high || !low || *low <= *high + tolerance || *low > 1 + tolerance)
      continue;
    std::string why = (nameOf(order.low) + " would be " + percentOf(*low) +
                       ", and " + nameOf(order.high) + " " + percentOf(*high))
                          .str();
    erase(order.low, why);
    if (order.high)
      erase(order.high, why);
  }
  for (const LevelNote &reason : reasons)
    for (const Level &level : unitLevels())
      if (level.id == reason.id)
        (levels.*level.value).reset();
  return reasons;
}

std::optional<double> netc::audit::clockOf(const Trace &counters) {
  double sum = 0;
  unsigned kernels = 0;
  for (const CountedKernel &kernel : counters.counted)
    if (std::optional<double> clock = counters.counter(
            kernel.counters, "sm__cycles_elapsed.avg.per_second")) {
      sum += *clock;
      ++kernels;
    }
  return kernels ? std::optional(sum / kernels) : std::nullopt;
}

/// Threads that executed an instruction of a number format, by NVIDIA's
/// counters.
static Value instructionsOf(const Counters &counters, StringRef op) {
  std::string what = ("sass_thread_inst_executed_op_" + op + "_pred_on").str();
  return firstOf({counters.total("smsp", what), counters.total("sm", what)});
}

llvm::SmallVector<StringRef, 4>
netc::audit::countersMissing(const Trace &trace, const CountedKernel &kernel) {
  Gpu none;
  Counters counters(trace, kernel, none);
  llvm::SmallVector<StringRef, 4> all;
  constexpr std::array<StringRef, 3> formats[] = {{"ffma", "fadd", "fmul"},
                                                  {"dfma", "dadd", "dmul"}};
  for (const auto &format : formats) {
    llvm::SmallVector<StringRef, 3> missing;
    for (StringRef op : format)
      if (!instructionsOf(counters, op))
        missing.push_back(op);
    if (missing.size() < format.size())
      all.append(missing);
  }
  return all;
}

std::optional<Rational> netc::audit::ordinaryFlop(const Trace &trace,
                                                  const CountedKernel &kernel) {
  Gpu none;
  Counters counters(trace, kernel, none);
  std::optional<Rational> flop;
  auto add = [&](Value value, int times) {
    if (value && *value >= 0 && *value < 9e18)
      flop = flop.value_or(Rational(0)) +
             Rational(times) * Rational(int64_t(std::llround(*value)));
  };
  for (StringRef op : {"ffma", "dfma"})
    add(instructionsOf(counters, op), 2);
  for (StringRef op : {"fadd", "fmul", "dadd", "dmul"})
    add(instructionsOf(counters, op), 1);
  // An instruction of an Instinct has 64 lanes.
  for (StringRef format : {"F32", "F64"}) {
    add(counters.get(Twine("SQ_INSTS_VALU_FMA_") + format), 128);
    for (StringRef op : {"ADD", "MUL"})
      add(counters.get(Twine("SQ_INSTS_VALU_") + op + "_" + format), 64);
  }
  // nvprof's metrics are FLOP.
  add(counters.get("flop_count_sp"), 1);
  add(counters.get("flop_count_dp"), 1);
  return flop;
}

//===----------------------------------------------------------------------===//
// Steps and layers
//===----------------------------------------------------------------------===//

/// Adds levels multiplied by a time, and the time to `joined`.
static void add(SummedLevels &summed, const UnitLevels &levels, double time) {
  for (const Level &level : unitLevels())
    if (Value value = levels.*level.value) {
      Value &sum = summed.levels.*level.value;
      Value &share = summed.joined.*level.value;
      sum = sum.value_or(0) + *value * time;
      share = share.value_or(0) + time;
    }
}

static void addReasons(SummedLevels &summed,
                       llvm::ArrayRef<LevelNote> reasons) {
  for (const LevelNote &reason : reasons)
    if (llvm::none_of(summed.impossible, [&](const LevelNote &known) {
          return known.id == reason.id;
        }))
      summed.impossible.push_back(reason);
}

/// The times of kernels under the counting tool. If a kernel has none, all get
/// their elapsed cycles instead, or else equal weights.
static std::vector<double> weightsOf(const Trace &counters,
                                     llvm::ArrayRef<uint32_t> counted,
                                     const Gpu &gpu, bool &areTimes) {
  const std::function<Value(const CountedKernel &)> measures[] = {
      [&](const CountedKernel &kernel) {
        return counters.counter(kernel.counters, timeCounter);
      },
      [&](const CountedKernel &kernel) {
        return counters.counter(kernel.counters, "sm__cycles_elapsed.max");
      },
      [&](const CountedKernel &kernel) {
        return Counters(counters, kernel, gpu).elapsed("sm");
      },
      [](const CountedKernel &) { return Value(1); }};
  std::vector<double> weights;
  areTimes = true;
  for (const auto &measure : measures) {
    weights.clear();
    for (uint32_t i : counted)
      if (Value value = measure(counters.counted[i]); value && *value >= 0)
        weights.push_back(*value * double(counters.counted[i].invocations));
    if (weights.size() == counted.size())
      break;
    areTimes = false;
  }
  return weights;
}

SummedLevels netc::audit::levelsOf(const Trace &counters,
                                   llvm::ArrayRef<uint32_t> counted,
                                   const Gpu &gpu) {
  SummedLevels summed;
  bool areTimes;
  std::vector<double> weights = weightsOf(counters, counted, gpu, areTimes);
  double all = 0;
  for (auto [i, weight] : llvm::zip_equal(counted, weights)) {
    all += weight;
    UnitLevels levels = levelsOf(counters, counters.counted[i], gpu);
    std::vector<LevelNote> reasons = eraseImpossible(levels, std::nullopt);
    summed.impossibleKernels += !reasons.empty();
    addReasons(summed, reasons);
    add(summed, levels, weight);
  }
  for (const Level &level : unitLevels()) {
    Value &sum = summed.levels.*level.value;
    Value &share = summed.joined.*level.value;
    sum = sum && *share > 0 ? Value(*sum / *share) : Value();
    share = share && all > 0 ? Value(*share / all) : Value();
  }
  if (areTimes && all < 9e9)
    summed.kernelTime = std::llround(all * 1e9);
  return summed;
}

/// The mean levels of several kernels, without those that are unknown for one
/// of them.
static SummedLevels meanOf(const Trace &counters,
                           llvm::ArrayRef<uint32_t> counted, const Gpu &gpu) {
  SummedLevels summed = levelsOf(counters, counted, gpu);
  for (const Level &level : unitLevels())
    if (summed.joined.*level.value != 1)
      (summed.levels.*level.value).reset();
  return summed;
}

SummedLevels netc::audit::sumLevels(const Trace &timeline,
                                    llvm::ArrayRef<uint32_t> kernels,
                                    const Trace &counters,
                                    llvm::ArrayRef<JoinedKernels> joined,
                                    const Gpu &gpu, int64_t duration) {
  SummedLevels summed;
  llvm::DenseSet<uint32_t> asked;
  for (uint32_t i : kernels)
    if (timeline.kernels[i].kind == DeviceEvent::Kernel &&
        asked.insert(i).second)
      summed.kernelTime += timeline.kernels[i].duration;
  for (const JoinedKernels &group : joined) {
    double time = 0;
    for (uint32_t i : group.kernels)
      if (asked.contains(i))
        time += double(timeline.kernels[i].duration);
    if (time <= 0)
      continue;
    SummedLevels mean = meanOf(counters, group.counted, gpu);
    summed.impossibleKernels += mean.impossibleKernels;
    addReasons(summed, mean.impossible);
    add(summed, mean.levels, time);
  }
  for (const Level &level : unitLevels()) {
    Value &sum = summed.levels.*level.value;
    Value &share = summed.joined.*level.value;
    if (!sum)
      continue;
    double whole = level.isOfKernelTime ? *share : double(duration);
    sum = whole > 0 ? Value(*sum / whole) : Value();
    share = *share / double(summed.kernelTime);
  }
  return summed;
}

UnitLevels netc::audit::sampledLevels(
    const Trace &trace, llvm::ArrayRef<std::pair<int64_t, int64_t>> intervals) {
  struct Sampled {
    StringRef metric; ///< beginning of the name; units and chips follow
    Value UnitLevels::*level;
  };
  static const Sampled table[] = {
      {"SMs Active", &UnitLevels::sm},
      {"SM Issue", &UnitLevels::issue},
      {"Tensor Active", &UnitLevels::tensorActive},
      {"DRAM Read Bandwidth", &UnitLevels::dram},
      {"DRAM Write Bandwidth", &UnitLevels::dram},
      {"Compute Warps in Flight", &UnitLevels::occupancy},
  };
  auto isUsed = [&](int32_t device) {
    return llvm::any_of(trace.kernels, [&](const DeviceEvent &kernel) {
      return kernel.device == device;
    });
  };
  llvm::SmallDenseMap<int32_t, bool> used;
  for (const Sample &sample : trace.samples)
    if (auto [known, isNew] = used.try_emplace(sample.device, false); isNew)
      known->second = isUsed(sample.device);
  bool isAnyUsed = llvm::any_of(used, [](auto &each) { return each.second; });
  struct Mean {
    double sum = 0;
    size_t number = 0;
  };
  std::map<Name, Mean> means;
  for (auto [begin, end] : intervals)
    for (auto sample = llvm::partition_point(
             trace.samples,
             [begin = begin](auto &sample) { return sample.time < begin; });
         sample != trace.samples.end() && sample->time < end; ++sample)
      if (!isAnyUsed || used.lookup(sample->device)) {
        Mean &mean = means[sample->metric];
        mean.sum += sample->value;
        ++mean.number;
      }
  UnitLevels levels;
  for (const auto &[metric, mean] : means)
    for (const Sampled &row : table)
      if (trace.names[metric].starts_with(row.metric)) {
        Value &level = levels.*row.level;
        level = level.value_or(0) + mean.sum / double(mean.number) / 100;
      }
  // Samples divide by all SMs, occupancy by the busy ones.
  if (levels.occupancy)
    levels.occupancy = levels.sm && *levels.sm > 0
                           ? Value(std::min(1., *levels.occupancy / *levels.sm))
                           : Value();
  return levels;
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

std::vector<LevelNote> netc::audit::levelNotes(const UnitLevels &levels,
                                               const Gpu &gpu) {
  std::vector<LevelNote> notes;
  if (Value cap = gpu.tensorIssueCap(); cap && levels.tensorIssue)
    notes.push_back(
        {"tensor-issue-cap",
         "tensor issue is " + percentOf(*levels.tensorIssue / *cap) +
             " of what saturates the tensor cores, " + percentOf(*cap) +
             " of the issue slots: an instruction keeps them busy for several "
             "cycles" +
             (gpu.capability == "9.0"
                  ? "; wgmma needs 0.8 %, so read tensor active instead"
                  : "")});
  if (levels.issue)
    notes.push_back(
        {"issue-slots",
         "Delestrac et al. say that issue slots are always below 50 % "
         "(abstract) and near 54 % (section VI); netc divides by elapsed "
         "cycles, as their Table I does"});
  if (levels.tensorActive || levels.tensorIssue)
    notes.push_back(
        {"tensor-bounds",
         "Delestrac et al. bound the use of tensor cores by issued "
         "instructions and by active cycles (section IV), but divide by "
         "elapsed cycles (Table I), as netc does" +
             (levels.tensorIssue && levels.issue && *levels.issue > 0
                  ? "; of issued instructions tensor cores have " +
                        percentOf(*levels.tensorIssue / *levels.issue)
                  : "") +
             (levels.tensorActive && levels.smsp && *levels.smsp > 0
                  ? "; they are busy in " +
                        percentOf(*levels.tensorActive / *levels.smsp) +
                        " of active cycles"
                  : "")});
  if (gpu.capability == "8.0" && levels.tensorIssue)
    notes.push_back(
        {"half-in-tensor-pipe",
         "an A100 sends f16 arithmetic through the tensor pipe, too: "
         "instructions of kernels without any product are left out, at 32 "
         "threads each"});
  return notes;
}
