// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_COSTREMARKS_H
#define NETC_LIB_ANALYSIS_COSTREMARKS_H

namespace netc {

/// Registers `net-cost-remarks`, a pass for tests: on each op that costs
/// something, a remark says what it costs, all turns of its loops together.
void registerCostRemarksPass();

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COSTREMARKS_H
