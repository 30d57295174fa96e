// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_FORMATS_H
#define NETC_LIB_TRACE_FORMATS_H

#include "lib/Trace/Source.h"

namespace netc::trace {

/// A file format of a profiler.
struct Format {
  llvm::StringRef name; ///< `kineto`
  llvm::StringRef tool; ///< `PyTorch Profiler`
  /// Whether a text with this beginning has this format. read() takes the first
  /// format that matches.
  bool (*matches)(llvm::StringRef beginning);
  llvm::Expected<Trace> (*read)(Source &source, const TraceLimits &limits);
};

/// All formats, in the order in which read() tries them.
llvm::ArrayRef<Format> formats();

/// Reads a source in the format that its content shows. Fails with a
/// TraceError.
llvm::Expected<Trace> read(Source &source, const TraceLimits &limits);

// Readers of one format each. Where a comment names only a tool, the format is
// not documented, and the reader was written from samples.

/// `export_chrome_trace` of torch.profiler, since 2021 (libkineto,
/// output_json.cpp).
llvm::Expected<Trace> readKineto(Source &source, const TraceLimits &limits);
/// The output of PyTorch's ExecutionTraceObserver: ops with shapes, without
/// times.
llvm::Expected<Trace> readExecutionTrace(Source &source,
                                         const TraceLimits &limits);
/// The output of `rocprofv3 --output-format json`.
llvm::Expected<Trace> readRocprof(Source &source, const TraceLimits &limits);
/// The output of `get_flop_counts` of FlopCounterMode, as JSON.
llvm::Expected<Trace> readModuleCounts(Source &source,
                                       const TraceLimits &limits);
/// The output of `ncu --csv`: a row for each counter, or with `--page raw` for
/// each kernel.
llvm::Expected<Trace> readNsightComputeCsv(Source &source,
                                           const TraceLimits &limits);
/// The text that `ncu` prints.
llvm::Expected<Trace> readNsightComputeText(Source &source,
                                            const TraceLimits &limits);
/// The output of `nsys export --type sqlite`.
llvm::Expected<Trace> readNsightSystems(Source &source,
                                        const TraceLimits &limits);
/// The reports `cuda_gpu_trace` and `cuda_gpu_kern_sum` of `nsys stats`, as CSV
/// or as a table.
llvm::Expected<Trace> readNsightSystemsStats(Source &source,
                                             const TraceLimits &limits);
/// The output of `nvprof --csv --metrics`.
llvm::Expected<Trace> readNvprof(Source &source, const TraceLimits &limits);
/// The events of torch.profiler with FLOP, as CSV with a row for each event:
/// `order,name,input_shapes,sequence,parent,flops`.
llvm::Expected<Trace> readEventCounts(Source &source,
                                      const TraceLimits &limits);
/// The table that `key_averages().table()` of torch.profiler prints.
llvm::Expected<Trace> readAverages(Source &source, const TraceLimits &limits);
/// `*.xplane.pb` of TensorFlow and JAX (tsl/profiler/protobuf/xplane.proto).
llvm::Expected<Trace> readXSpace(Source &source, const TraceLimits &limits);

bool isNsightComputeCsv(llvm::StringRef beginning);
bool isNsightComputeText(llvm::StringRef beginning);
bool isNsightSystemsStats(llvm::StringRef beginning);
bool isNvprof(llvm::StringRef beginning);
bool isEventCounts(llvm::StringRef beginning);
bool isAverages(llvm::StringRef beginning);
bool isXSpace(llvm::StringRef beginning);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_FORMATS_H
