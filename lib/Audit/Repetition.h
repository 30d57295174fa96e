// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_REPETITION_H
#define NETC_LIB_AUDIT_REPETITION_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// A step whose products are the same several times over.
struct Repetition {
  size_t times, products; ///< `products` each time
  /// Where the last time begins, and the op before it. None if other ops are
  /// not repeated, or if equal layers may follow each other in one pass.
  std::optional<uint32_t> begin, before; ///< indices into Trace::host
};

/// How a step repeats itself; none if it does not.
std::optional<Repetition> repetitionOf(const trace::Trace &trace,
                                       const TracedStep &step);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_REPETITION_H
