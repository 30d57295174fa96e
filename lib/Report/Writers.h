// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_WRITERS_H
#define NETC_LIB_REPORT_WRITERS_H

#include "lib/Report/Page.h"

namespace netc {

/// Of several runs, a row for each.
void writeSummary(Page &page, const Report &report);
void writeRun(Page &page, const RunReport &report,
              llvm::ArrayRef<Warning> warnings, const TableOptions &options);
/// `conventions` are those of the report.
void writeExpects(Page &page, llvm::ArrayRef<Verdict> expects,
                  const Conventions &conventions);
void writeSweep(Page &page, llvm::ArrayRef<RunReport> sweep);

/// The warnings about a run and its jobs that belong to one figure.
void addWarnings(Lines &lines, const Run &run, Beside figure,
                 llvm::ArrayRef<Warning> warnings);
/// Those that no network or run of the report shows.
void writeOtherWarnings(Page &page, const Report &report);
/// With the id: `... [-Wimpossible-time]`.
std::string textOf(const Warning &warning);

/// `8.1e21 FLOP (4e21 FLOP to 1.2e22 FLOP)`
std::string flopText(const ComputeByTime &time);

/// Whether a part is in it of which nobody says how large it is.
bool isUnknown(const Figures &figures);
bool hasOpaque(const PartTree &parts);
/// What bytes that hold no activations of opaque parts are followed by.
std::string besideOpaque(const PartTree &parts);
void addPolynomials(Lines &lines, const Figures &figures);

} // namespace netc

#endif // NETC_LIB_REPORT_WRITERS_H
