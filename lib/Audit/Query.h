// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_QUERY_H
#define NETC_LIB_AUDIT_QUERY_H

#include "lib/Analysis/Query.h"
#include "lib/Audit/Audit.h"

namespace netc::audit {

/// What an `expect` asks of the trace of a run, `run.trace.matched`.
///
/// A trace has `batch`, `matched` (the share of the specification's FLOP that
/// it has), `unexplained` (rows of which no rule says why a tool counts
/// otherwise), `kernels`, `time` (of the step), `gpu` (the share of it that
/// kernels take), `mfu`; `flop[.forward .backward .recompute]` of its products
/// by their own shapes; and `profiler`, `flop_counter` and `counters`, what
/// these count: FLOP, and their `.ratio` to the exact count. `flop(layer1)` and
/// the like ask for a part of the network.
std::variant<Quantity, Message> answer(const Audit &audit, const Query &query);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_QUERY_H
