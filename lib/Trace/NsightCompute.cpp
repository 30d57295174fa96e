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
#define LABEL(text, metric) {text, metric},
  static const Label labels[] = {
#include "lib/Trace/NsightComputeLabels.def"
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
