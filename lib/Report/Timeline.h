// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_TIMELINE_H
#define NETC_LIB_REPORT_TIMELINE_H

#include "lib/Audit/Audit.h"

namespace netc {

/// SVG of the products of a step by thread, above its kernels by stream.
/// Hovering shows the layer. Empty if the step has no length.
std::string timelineOf(const audit::Audit &audit);

/// SVG of the FLOP of each layer: exact ones, and those of each claim. Empty if
/// too little is matched.
std::string claimBarsOf(const audit::Audit &audit);

} // namespace netc

#endif // NETC_LIB_REPORT_TIMELINE_H
