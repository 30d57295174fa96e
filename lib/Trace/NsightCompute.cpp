// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/NsightCompute.h"

#include "lib/Trace/Json.h"

using namespace netc::trace;
using llvm::StringRef;

StringRef netc::trace::metricOf(StringRef label) {
  struct Label {
    StringRef text, metric;
  };
  // Nsight Compute's files `sections/*.section`.
  static const Label labels[] = {
      {"Duration", "gpu__time_duration.sum"},
      {"Elapsed Cycles", "sm__cycles_elapsed.max"},
      {"SM Active Cycles", "sm__cycles_active.avg"},
      {"SM Frequency", "sm__cycles_elapsed.avg.per_second"},
      {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
      {"DRAM Throughput",
       "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
      {"Average SM Active Cycles", "sm__cycles_active.avg"},
      {"Total SM Elapsed Cycles", "sm__cycles_elapsed.sum"},
      {"Average SMSP Active Cycles", "smsp__cycles_active.avg"},
      {"Total SMSP Elapsed Cycles", "smsp__cycles_elapsed.sum"},
      {"Executed Instructions", "smsp__inst_executed.sum"},
      {"Issued Instructions", "smsp__inst_issued.sum"},
      {"Achieved Occupancy",
       "sm__warps_active.avg.pct_of_peak_sustained_active"},
      {"# SMs", "launch__sm_count"},
      {"Issue Slots Busy", "issue_slots_busy.pct"},
      {"SM Busy",
       "sm__instruction_throughput.avg.pct_of_peak_sustained_active"},
      {"Registers Per Thread", "launch__registers_per_thread"},
      {"Waves Per SM", "launch__waves_per_multiprocessor"},
  };
  for (const Label &one : labels)
    if (one.text == label)
      return one.metric;
  return label;
}

std::array<int64_t, 3> netc::trace::dimensionsIn(StringRef text) {
  std::array<int64_t, 3> sizes = {0, 0, 0};
  llvm::SmallVector<StringRef, 3> parts;
  text.trim(" ()").split(parts, ',');
  if (parts.size() != 3)
    return sizes;
  for (size_t i = 0; i < 3; ++i)
    sizes[i] = integerIn(parts[i]).value_or(0);
  return sizes;
}

CountedKernel &CountedKernels::add(StringRef name) {
  CountedKernel &kernel = trace.counted.emplace_back();
  kernel.name = trace.names.intern(name);
  kernel.counters.begin = trace.counters.size();
  ++trace.read;
  return kernel;
}

void CountedKernels::count(StringRef label, StringRef unit, StringRef text,
                           NumberStyle style) {
  CountedKernel &kernel = trace.counted.back();
  std::optional<double> value = numberIn(text, style);
  if (!value)
    return;
  Name metric = trace.names.intern(metricOf(label));
  for (uint32_t i = 0; i < kernel.counters.size; ++i)
    if (trace.counters[kernel.counters.begin + i].metric == metric)
      return;
  trace.counters.push_back({metric, *value * scaleOf(unit)});
  ++kernel.counters.size;
}
