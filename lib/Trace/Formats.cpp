// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"

#include "llvm/Support/FormatVariadic.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

/// Whether a text begins with an object or a list of objects. The text of ncu
/// begins with `[PID]`, which is not JSON.
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
    // The last, since almost any bytes could be a protobuf.
    {"xspace", "XLA profiler", isXSpace, readXSpace},
};

namespace {
/// An encoding that netc does not read, and the command that converts it.
struct Encoding {
  StringRef mark; ///< the first bytes
  StringRef name, command;
};
} // namespace

static const Encoding encodings[] = {
    {"\xff\xfe", "text in UTF-16, as PowerShell writes it",
     "iconv -f UTF-16 -t UTF-8 FILE"},
    {"\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"},
    {"\x1f\x8b", "gzip within gzip", "gzip -dc FILE"},
    {"\x28\xb5\x2f\xfd", "packed by zstd", "zstd -dc FILE"},
    {"\xfd\x37zXZ", "packed by xz", "xz -dc FILE"},
    {"BZh", "packed by bzip2", "bzip2 -dc FILE"},
    {"PK\x03\x04", "a zip archive", "unzip -p FILE"},
};

llvm::ArrayRef<Format> netc::trace::formats() { return table; }

llvm::Expected<Trace> netc::trace::read(Source &source,
                                        const TraceLimits &limits) {
  StringRef text = source.beginning();
  if (source.peek() < 0 && source.problem().empty())
    return fail(error::TraceBroken(
        0, "the file is empty; a profiler writes its trace when it ends"));
  if (text.empty())
    return fail(error::TraceBroken(
        source.offset(),
        llvm::formatv("this is gzip, and {0}", source.problem()).str()));
  for (const Encoding &encoding : encodings)
    if (text.starts_with(encoding.mark))
      return fail(error::TraceBroken(
          0, llvm::formatv("this is {0}; `{1}` prints what netc reads",
                           encoding.name, encoding.command)
                 .str()));
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
  if (!source.problem().empty())
    return fail(
        error::TraceBroken(source.offset() + text.size(), source.problem()));
  return fail(error::TraceUnknown());
}
