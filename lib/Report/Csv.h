// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_CSV_H
#define NETC_LIB_REPORT_CSV_H

#include "lib/Report/Report.h"

namespace netc {

/// `text` as a CSV field (RFC 4180), quoted if necessary.
std::string csvField(llvm::StringRef text);

/// Prints CSV (RFC 4180) with a row for each layer, network, run, number format
/// of a run, job of a run, point of a sweep, and warning; the first field is
/// the kind. Counts are exact, estimates have six digits. FLOP are per example,
/// in rows of runs per step. Fields that do not apply are empty.
void printCsv(llvm::raw_ostream &os, const Report &report);

} // namespace netc

#endif // NETC_LIB_REPORT_CSV_H
