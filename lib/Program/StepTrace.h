// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_STEPTRACE_H
#define NETC_LIB_PROGRAM_STEPTRACE_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace netc::program {

/// An op of a step that runs from `start` to `end`, in nanoseconds.
struct TracedOp {
  std::string name, op, phase; ///< see Op
  int64_t flop;                ///< FLOP of products, 2 for a multiply-add
  int64_t start, end;
};

/// A step as JSON in the format of torch.profiler's `export_chrome_trace`,
/// which Perfetto opens. `about` has members that describe the run. Each op is
/// an event such as `net::linear`, in ranges for its pass and its blocks. The
/// event's `Concrete Inputs` are the op's phase, its FLOP of products, and its
/// name in the specification.
std::string traceOf(nlohmann::ordered_json about, size_t step,
                    const std::vector<TracedOp> &ops);

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_STEPTRACE_H
