// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_WRITERS_H
#define NETC_LIB_REPORT_WRITERS_H

#include "lib/Report/Page.h"

namespace netc {

/// Writes a table with a row for each run, if there are several.
void writeSummary(Page &page, const Report &report);
void writeRun(Page &page, const RunReport &report,
              llvm::ArrayRef<Warning> warnings, const TableOptions &options);
/// Writes a table of `expects`. `conventions` are those of the report.
void writeExpects(Page &page, llvm::ArrayRef<Verdict> expects,
                  const Conventions &conventions);
void writeSweep(Page &page, llvm::ArrayRef<RunReport> sweep);

/// Adds the warnings of a run and its jobs that belong to `figure`.
void addWarnings(Lines &lines, const Run &run, Beside figure,
                 llvm::ArrayRef<Warning> warnings);
/// Writes the warnings that belong to no network or run.
void writeOtherWarnings(Page &page, const Report &report);
/// The text of a warning with its id: `... [-Wimpossible-time]`.
std::string textOf(const Warning &warning);

/// The compute with its range: `8.1e21 FLOP (4e21 FLOP to 1.2e22 FLOP)`.
std::string flopText(const ComputeByTime &time);

/// Whether the figures include an opaque part of unknown cost.
bool isUnknown(const Figures &figures);
bool hasOpaque(const PartTree &parts);
/// A suffix for bytes that leave out activations of opaque parts; empty without
/// such parts.
std::string besideOpaque(const PartTree &parts);
void addPolynomials(Lines &lines, const Figures &figures);

} // namespace netc

#endif // NETC_LIB_REPORT_WRITERS_H
