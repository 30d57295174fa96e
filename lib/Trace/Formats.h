// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_FORMATS_H
#define NETC_LIB_TRACE_FORMATS_H

#include "lib/Trace/Source.h"

namespace netc::trace {

/// A format that netc reads.
struct Format {
  llvm::StringRef name; ///< `kineto`
  llvm::StringRef tool; ///< `PyTorch Profiler`
  /// Whether a text with this beginning is of this format. The first match in
  /// the table counts.
  bool (*matches)(llvm::StringRef beginning);
  llvm::Expected<Trace> (*read)(Source &source, const TraceLimits &limits);
};

llvm::ArrayRef<Format> formats();

/// Reads a source by the format that its content shows.
llvm::Expected<Trace> read(Source &source, const TraceLimits &limits);

// One file each. A comment that names only a tool means that its format is not
// documented; such readers were written from samples.

/// `export_chrome_trace` of torch.profiler, since 2021 (libkineto,
/// output_json.cpp).
llvm::Expected<Trace> readKineto(Source &source, const TraceLimits &limits);
/// ExecutionTraceObserver of PyTorch: ops with shapes, but without times.
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
/// The events of torch.profiler with FLOP, one per line:
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
