// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_GIVENCOUNTS_H
#define NETC_LIB_AUDIT_GIVENCOUNTS_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// Adds a claim: what a tool counted, as `given` states it. Counts with shapes
/// are laid to the events with these shapes; counts of an op, such as those of
/// FlopCounterMode, to all of its events, in proportion to the tool's formulas.
llvm::Error addGiven(Audit &audit, const trace::Trace &given);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_GIVENCOUNTS_H
