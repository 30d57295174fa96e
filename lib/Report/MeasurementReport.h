// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_MEASUREMENTREPORT_H
#define NETC_LIB_REPORT_MEASUREMENTREPORT_H

#include "lib/Report/Measurement.h"
#include "lib/Report/Table.h"

namespace netc {

/// For a person: a table of layers for each run and batch size, then one of
/// the methods.
void printTable(llvm::raw_ostream &os, const MeasurementReport &report,
                const TableOptions &options);

/// As docs/utilization.schema.json describes it.
void printJson(llvm::raw_ostream &os, const MeasurementReport &report);

/// A row for each op and batch size, by RFC 4180.
void printCsv(llvm::raw_ostream &os, const MeasurementReport &report);

/// A picture, as SVG: a group of bars for each run and batch size, in it one
/// for each method, as high as the measured peak's share that it says. Rows of
/// it are no wider than a page.
void printChart(llvm::raw_ostream &os, const MeasurementReport &report);

/// The processor, as tables and pictures name it: `CPU, 4 cores at 2.50 GHz
/// (measured)`.
std::string processorText(const Measurement &any, const Peaks &peaks);

} // namespace netc

#endif // NETC_LIB_REPORT_MEASUREMENTREPORT_H
