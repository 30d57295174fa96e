// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_TABLE_H
#define NETC_LIB_REPORT_TABLE_H

#include "lib/Report/Report.h"

namespace netc {

struct TableOptions {
  /// Levels of the tree of layers that are shown; deeper ones are summed up.
  unsigned depth = 2;
  /// Also the polynomials in all free axes.
  bool symbolic = false;
  bool colour = false;
};

/// Prints the report for a person: a table of layers for each network, a panel
/// for each run, and the expects.
void printTable(llvm::raw_ostream &os, const Report &report,
                const TableOptions &options);

/// The same for a page of GitHub.
void printMarkdown(llvm::raw_ostream &os, const Report &report,
                   const TableOptions &options);

/// The same for a browser, in one file that loads nothing: all layers, in a
/// tree that folds, with pictures of the shares and of both methods.
void printHtml(llvm::raw_ostream &os, const Report &report,
               const TableOptions &options);

} // namespace netc

#endif // NETC_LIB_REPORT_TABLE_H
