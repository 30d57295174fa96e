// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_TIMELINE_H
#define NETC_LIB_REPORT_TIMELINE_H

#include "lib/Audit/Audit.h"

namespace netc {

/// SVG for a page: the products of a step by thread, above its kernels by
/// stream; what is pointed at says its layer. Empty of a step without a length.
std::string timelineOf(const audit::Audit &audit);

/// SVG: the FLOP of each layer, exact and by each claim. Empty where too little
/// is matched.
std::string claimBarsOf(const audit::Audit &audit);

} // namespace netc

#endif // NETC_LIB_REPORT_TIMELINE_H
