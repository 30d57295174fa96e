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

/// An estimate of the compute of a run, and where else it may lie.
struct Estimate {
  std::string label;
  Rational low, value, high; ///< FLOP
};

/// What a report is written on, in one format.
class Page {
public:
  virtual ~Page() = default;

  /// Begins a network, a run or another part; `rest` goes on with the title.
  virtual void section(llvm::StringRef title, llvm::StringRef rest) = 0;
  virtual void heading(llvm::StringRef text) = 0;
  virtual void paragraph(llvm::StringRef text) = 0;
  virtual void grid(const Grid &grid) = 0;
  virtual void lines(const Lines &lines) = 0;
  virtual void layers(const LayerRow &total) = 0;
  /// A picture, of what lines say too.
  virtual void compare(llvm::ArrayRef<Estimate>) {}
  /// Pictures: what runs when in a step of a trace, and for which layer.
  virtual void timeline(const audit::Audit &) {}
};

/// Lines for a terminal or a file.
std::unique_ptr<Page> textPage(llvm::raw_ostream &os,
                               const TableOptions &options);

/// As GitHub reads it.
std::unique_ptr<Page> markdownPage(llvm::raw_ostream &os,
                                   const TableOptions &options);

/// For a browser, in one file that loads nothing: all layers, in a tree that
/// folds, with pictures of the shares and of both methods. Complete when the
/// page is destroyed.
std::unique_ptr<Page> htmlPage(llvm::raw_ostream &os, llvm::StringRef title,
                               llvm::StringRef version);

/// Writes all parts of a report on a page.
void writeReport(Page &page, const Report &report, const TableOptions &options);

/// Writes what is different in the second of two reports, block by block.
/// Networks and runs of one name are compared, and if each report has just one
/// other, those; blocks likewise, and those that were repeated.
void writeDifference(Page &page, const Report &before, const Report &after,
                     const TableOptions &options);

/// The rows, down to `depth` levels, as a table.
Grid layerGrid(const LayerRow &total, unsigned depth);

} // namespace netc

#endif // NETC_LIB_REPORT_PAGE_H
