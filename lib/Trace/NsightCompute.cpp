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

void CountedKernels::count(StringRef label, StringRef unit, StringRef text) {
  CountedKernel &kernel = trace.counted.back();
  std::optional<NumberStyle> only = styleOf(text);
  if (only && !style) {
    style = only;
    if (*style == NumberStyle::Comma)
      for (const Ambiguous &each : ambiguous)
        trace.counters[each.counter].value = each.value;
    ambiguous.clear();
  }
  double scale = scaleOf(unit);
  std::optional<double> value =
                            numberIn(text, style.value_or(NumberStyle::Point)),
                        other = numberIn(text, NumberStyle::Comma);
  if (value)
    value = *value * scale;
  // `n/a` is not a number in either style.
  if (!value && !only)
    return;
  if (!trace.takesCounter(value))
    return;
  Name metric = trace.names.intern(metricOf(label));
  for (uint32_t i = 0; i < kernel.counters.size; ++i)
    if (trace.counters[kernel.counters.begin + i].metric == metric)
      return;
  if (!style && other && *other * scale != *value)
    ambiguous.push_back({uint32_t(trace.counters.size()), *other * scale});
  trace.counters.push_back({metric, *value});
  ++kernel.counters.size;
}
