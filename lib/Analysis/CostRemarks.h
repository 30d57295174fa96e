// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_COSTREMARKS_H
#define NETC_LIB_ANALYSIS_COSTREMARKS_H

namespace netc {

/// Registers `net-cost-remarks`, a pass for tests. It emits a remark with the
/// cost of each op, over all iterations of the loops around it.
void registerCostRemarksPass();

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COSTREMARKS_H
