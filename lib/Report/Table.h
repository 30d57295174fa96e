// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_TABLE_H
#define NETC_LIB_REPORT_TABLE_H

namespace netc {

struct TableOptions {
  /// Levels of the tree of layers that are shown. Deeper ones are summed up.
  unsigned depth = 2;
  /// Whether to print the polynomials in all free axes, too.
  bool symbolic = false;
  bool colour = false;
  /// Columns of the terminal; 0 for lines of any length.
  unsigned width = 0;
};

} // namespace netc

#endif // NETC_LIB_REPORT_TABLE_H
