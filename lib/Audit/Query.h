// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_QUERY_H
#define NETC_LIB_AUDIT_QUERY_H

#include "lib/Analysis/Query.h"
#include "lib/Audit/Audit.h"

namespace netc::audit {

/// Answers an `expect` about the trace of a run, `run.trace.matched`.
///
/// A trace has `batch`; `matched`, the share of the specification's FLOP that
/// it has; `joined`, the share of the kernels' time that counters have;
/// `unexplained`, the rows whose difference no rule explains; `unknown`;
/// `kernels`; `time` of the step; the levels by the names that they have in
/// JSON: `gpu`, `gpu_union`, `gpu_without_communication`, those of UnitLevels,
/// `mfu`, `hfu`, `in_kernels`; `flop[.forward .backward .recompute]` of its
/// products by their own shapes; and `profiler`, `flop_counter` and `counters`,
/// the FLOP that these count, with their `.ratio` to the exact count.
/// `flop(layer1)` and similar queries are about a part of the network: its
/// products, and their kernels. What the trace does not tell is an error, and
/// so is a part of what only a step has.
std::variant<Quantity, Message> answer(const Audit &audit, const Query &query);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_QUERY_H
