// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_MEASUREMENTREPORT_H
#define NETC_LIB_REPORT_MEASUREMENTREPORT_H

#include "lib/Report/Measurement.h"
#include "lib/Report/Table.h"

namespace netc {

class Page;

/// Writes a table of layers for each run and batch size, tables of all batch
/// sizes: of times, and of utilization by method, and the chart.
void writeMeasurement(Page &page, const MeasurementReport &report,
                      const TableOptions &options);

/// Prints JSON by docs/utilization.schema.json.
void printJson(llvm::raw_ostream &os, const MeasurementReport &report);

/// Prints a row for each op and batch size, by RFC 4180.
void printCsv(llvm::raw_ostream &os, const MeasurementReport &report);

/// Prints an SVG bar chart: a group for each run and batch size, with a bar for
/// each method. Bars show the utilization of the measured peak. Groups wrap at
/// the width of a page. With `isInline`, it is an element of an HTML page.
void printChart(llvm::raw_ostream &os, const MeasurementReport &report,
                bool isInline = false);

/// The processor as text, `CPU, 4 cores at 2.50 GHz (measured)`, or the GPU.
std::string processorText(const Measurement &any, const Peaks &peaks);

} // namespace netc

#endif // NETC_LIB_REPORT_MEASUREMENTREPORT_H
