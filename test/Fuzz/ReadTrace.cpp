// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Fuzz/ReadAnything.h"

#include "lib/Audit/Audit.h"
#include "lib/Trace/ExecutionTrace.h"
#include "lib/Trace/Formats.h"

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;

/// Reads all slices of an event, which must lie within their arrays.
static void look(const Trace &trace, const HostEvent &event) {
  const Inputs &inputs = trace.inputsOf(event);
  for (unsigned i = 0; i < inputs.shapes.size; ++i)
    (void)trace.shape(event, i);
  for (unsigned i = 0; i < inputs.types.size; ++i)
    trace.type(event, i);
  for (unsigned i = 0; i < inputs.values.size; ++i)
    trace.value(event, i);
  assert(event.thread < trace.threads.size() && event.duration >= 0);
}

bool readTrace(llvm::StringRef name, llvm::StringRef bytes) {
  TraceLimits limits;
  limits.maxEvents = 2000;
  for (const Format &format : formats()) {
    if (format.name != name)
      continue;
    // Recognizing a format must not crash, either.
    format.matches(bytes);
    llvm::Expected<Trace> trace = format.read(*Source::of(bytes), limits);
    if (!trace) {
      llvm::consumeError(trace.takeError());
      continue;
    }
    for (const HostEvent &event : trace->host)
      look(*trace, event);
    TracedStep step = traceStep(*trace);
    std::vector<uint32_t> kernels;
    for (uint32_t i = 0; i < trace->kernels.size(); ++i)
      kernels.push_back(i);
    Gpu gpu = Gpu::of(*trace, *trace);
    for (const CountedKernel &kernel : trace->counted)
      ordinaryFlop(*trace, kernel);
    SummedLevels summed =
        sumLevels(*trace, kernels, *trace, joinKernels(*trace, kernels, *trace),
                  gpu, step.duration());
    eraseImpossible(summed.levels, std::nullopt);
    levelNotes(summed.levels, gpu);
    addShapes(*trace, *trace);
    Question question;
    question.counts = {&*trace};
    question.counters = &*trace;
    if (llvm::Expected<Audit> made =
            audit::audit(*trace, "trace", nullptr, question);
        !made)
      llvm::consumeError(made.takeError());
  }
  llvm::Expected<Trace> recognized = trace::read(*Source::of(bytes), {});
  if (!recognized) {
    llvm::consumeError(recognized.takeError());
    return false;
  }
  return recognized->format == name;
}
