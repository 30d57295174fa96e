// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_QUERY_H
#define NETC_LIB_AUDIT_QUERY_H

#include "lib/Analysis/Query.h"
#include "lib/Audit/Audit.h"

namespace netc::audit {

/// Answers an `expect` about the trace of a run, such as `run.trace.matched`.
///
/// A trace has `batch`; `matched`, the share of the specification's FLOP that
/// it has; `joined`, the share of the kernels' time that has counters;
/// `unexplained`, the number of counts that no rule explains; `unknown`, the
/// number of ops and kernels with unknown FLOP; `kernels`, the number of
/// launches; `time` of the step; the levels `gpu`, `gpu_union`,
/// `gpu_without_communication` and those of UnitLevels; `mfu`, `hfu` and
/// `in_kernels`; `flop[.forward .backward .recompute]` of its products by their
/// own shapes; and `profiler`, `flop_counter`, `counters` and `given`, the FLOP
/// that these count, with their `.ratio` to the exact count.
///
/// `flop(layer1)` and similar queries are about a part of the network: its
/// products, and their kernels. It is an error if the trace does not tell the
/// figure, or if only a whole step has it.
std::variant<Quantity, Message> answer(const Audit &audit, const Query &query);

/// The same for a run that has no trace. An error other than
/// `figure-not-traced` is one whatever the trace may be, and a figure means
/// nothing.
std::variant<Quantity, Message> answerWithoutTrace(const Run &run,
                                                   const Query &query);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_QUERY_H
