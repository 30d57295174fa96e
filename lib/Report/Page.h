// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_PAGE_H
#define NETC_LIB_REPORT_PAGE_H

#include "lib/Report/Grid.h"
#include "lib/Report/Layers.h"
#include "lib/Report/Report.h"
#include "lib/Report/Table.h"

#include <memory>

namespace netc {

namespace audit {
struct Audit;
} // namespace audit
struct MeasurementReport;

/// An estimate of a run's compute, with its range.
struct Estimate {
  std::string label;
  Rational low, value, high; ///< FLOP
};

/// What a step with one of several batch sizes does.
struct BatchFigures {
  Rational batch;
  double throughput;              ///< examples/s
  std::optional<Rational> memory; ///< bytes
  bool isSpecified = false;       ///< whether `memory` was not measured
};

/// Writes a report in one format, part by part.
class Page {
public:
  virtual ~Page() = default;

  /// Begins a part such as a network or a run. `rest` continues the title.
  virtual void section(llvm::StringRef title, llvm::StringRef rest) = 0;
  virtual void heading(llvm::StringRef text) = 0;
  virtual void paragraph(llvm::StringRef text) = 0;
  virtual void grid(const Grid &grid) = 0;
  virtual void lines(const Lines &lines) = 0;
  /// Writes the rows of a network's layers.
  virtual void layers(const LayerRow &total) = 0;
  /// Draws estimates that are also stated as lines. Text formats draw nothing.
  virtual void compare(llvm::ArrayRef<Estimate>) {}
  /// Draws a step of a trace, and figures by ascending batch size. Text formats
  /// draw nothing.
  virtual void pictures(const audit::Audit &) {}
  virtual void batches(llvm::ArrayRef<BatchFigures>) {}
  /// Draws the utilization of all runs. Text formats draw nothing.
  virtual void chart(const MeasurementReport &) {}
};

/// Plain text for a terminal or a file.
std::unique_ptr<Page> textPage(llvm::raw_ostream &os,
                               const TableOptions &options);

/// GitHub's Markdown.
std::unique_ptr<Page> markdownPage(llvm::raw_ostream &os,
                                   const TableOptions &options);

/// A self-contained HTML file: layers are a folding tree, and charts show
/// shares and both estimates. The file is complete when the page is destroyed.
std::unique_ptr<Page> htmlPage(llvm::raw_ostream &os, llvm::StringRef title,
                               llvm::StringRef version);

/// Writes all parts of a report on a page.
void writeReport(Page &page, const Report &report, const TableOptions &options);

/// Writes the differences between two reports, block by block. Networks, runs
/// and blocks are paired by name. If a single network or run remains on each
/// side, these two are a pair.
void writeDifference(Page &page, const Report &before, const Report &after,
                     const TableOptions &options);

/// A table of the rows, down to `depth` levels.
Grid layerGrid(const LayerRow &total, unsigned depth);

} // namespace netc

#endif // NETC_LIB_REPORT_PAGE_H
