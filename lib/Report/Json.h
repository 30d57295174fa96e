// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_JSON_H
#define NETC_LIB_REPORT_JSON_H

#include "lib/Report/Report.h"

namespace netc {

/// Prints JSON by docs/report.schema.json. Counts are exact: integers of any
/// size, and strings for fractions and polynomials. With `symbolic`, networks
/// and runs also have their polynomials in all free axes.
void printJson(llvm::raw_ostream &os, const Report &report, bool symbolic);

} // namespace netc

#endif // NETC_LIB_REPORT_JSON_H
