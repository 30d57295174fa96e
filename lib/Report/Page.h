// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_PAGE_H
#define NETC_LIB_REPORT_PAGE_H

#include "lib/Report/Grid.h"
#include "lib/Report/Layers.h"
#include "lib/Report/Report.h"

namespace netc {

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
};

struct TableOptions;

/// Writes all parts of a report on a page.
void writeReport(Page &page, const Report &report, const TableOptions &options);

/// The rows, down to `depth` levels, as a table.
Grid layerGrid(const LayerRow &total, unsigned depth);

} // namespace netc

#endif // NETC_LIB_REPORT_PAGE_H
