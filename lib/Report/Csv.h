// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_CSV_H
#define NETC_LIB_REPORT_CSV_H

#include "lib/Report/Report.h"

namespace netc {

/// A field of text by RFC 4180; quoted if need be.
std::string csvField(llvm::StringRef text);

/// A row for each layer, network, run, job of a run and point of a sweep, by
/// RFC 4180; the first field says which. Figures are exact, FLOP of one example
/// or, of a run, of one step; what does not apply is empty.
void printCsv(llvm::raw_ostream &os, const Report &report);

} // namespace netc

#endif // NETC_LIB_REPORT_CSV_H
