// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"

#include "llvm/Support/FormatVariadic.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

/// Whether a text begins as an object or a list of objects. ncu's text begins
/// with `[PID]`, which is not.
static bool isJson(StringRef text) {
  text = text.ltrim();
  if (text.consume_front("["))
    return text.ltrim().starts_with("{") || text.trim() == "]";
  return text.starts_with("{");
}

static bool hasKey(StringRef text, StringRef key) {
  return text.contains(("\"" + key + "\"").str());
}

static const Format table[] = {
    {"nsys-sqlite", "Nsight Systems",
     [](StringRef text) { return text.starts_with("SQLite format 3"); },
     readNsightSystems},
    {"rocprofv3", "rocprofv3",
     [](StringRef text) {
       return isJson(text) && hasKey(text, "rocprofiler-sdk-tool");
     },
     readRocprof},
    {"execution-trace", "PyTorch execution trace",
     [](StringRef text) {
       return isJson(text) && hasKey(text, "schema") && hasKey(text, "nodes") &&
              !hasKey(text, "traceEvents");
     },
     readExecutionTrace},
    {"flop-counter", "FlopCounterMode",
     [](StringRef text) {
       return isJson(text) && hasKey(text, "Global") &&
              !hasKey(text, "traceEvents");
     },
     readModuleCounts},
    {"kineto", "PyTorch Profiler", isJson, readKineto},
    {"ncu-csv", "Nsight Compute", isNsightComputeCsv, readNsightComputeCsv},
    {"nvprof", "nvprof", isNvprof, readNvprof},
    {"nsys-stats", "Nsight Systems", isNsightSystemsStats,
     readNsightSystemsStats},
    {"event-counts", "torch.profiler", isEventCounts, readEventCounts},
    {"key-averages", "torch.profiler", isAverages, readAverages},
    {"ncu-text", "Nsight Compute", isNsightComputeText, readNsightComputeText},
    // Last, since any bytes may be a protobuf.
    {"xspace", "XLA profiler", isXSpace, readXSpace},
};

llvm::ArrayRef<Format> netc::trace::formats() { return table; }

llvm::Expected<Trace> netc::trace::read(Source &source,
                                        const TraceLimits &limits) {
  StringRef text = source.beginning();
  if (text.starts_with("NVR"))
    return fail(error::TraceClosed("a report of Nsight Compute",
                                   "ncu --import FILE --csv --page raw"));
  for (const Format &format : table)
    if (format.matches(text)) {
      llvm::Expected<Trace> trace = format.read(source, limits);
      if (!trace)
        return trace;
      if (trace->isEmpty() && trace->broken)
        return fail(error::TraceBroken(
            source.offset(),
            llvm::formatv("each of its {0} ops, kernels or counts up to here "
                          "lacks a time or FLOP, or has one out of range",
                          trace->broken)
                .str()));
      if (trace->isEmpty())
        return fail(error::TraceEmpty());
      trace->format = format.name.str();
      trace->device = shownName(trace->device);
      trace->capability = shownName(trace->capability);
      if (trace->tool.empty())
        trace->tool = format.tool.str();
      return trace;
    }
  return fail(error::TraceUnknown());
}
