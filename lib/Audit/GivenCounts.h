// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_GIVENCOUNTS_H
#define NETC_LIB_AUDIT_GIVENCOUNTS_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// Adds a claim for what a tool counted. Counts with shapes go to the events
/// with these shapes. Counts by op, such as those of FlopCounterMode, go to all
/// events of the op, in proportion to the tool's formulas. Fails if nothing
/// matches.
llvm::Error addGiven(Audit &audit, const trace::Trace &given);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_GIVENCOUNTS_H
