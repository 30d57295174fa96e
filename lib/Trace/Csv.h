// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_CSV_H
#define NETC_LIB_TRACE_CSV_H

#include "lib/Trace/Source.h"

#include "llvm/ADT/SmallVector.h"

namespace netc::trace {

/// Splits a line of comma separated values (RFC 4180). False if it ends inside
/// of quotes, as where a field goes on in the next line.
bool splitCsv(llvm::StringRef line, std::vector<std::string> &fields);

/// Reads the next record of a table, over several lines where a field has line
/// ends in quotes. False at the end, and where quotes do not end in 64 KiB.
bool readRecord(Source &source, std::vector<std::string> &fields);

/// The columns of a table by their names.
class Columns {
public:
  Columns() = default;
  explicit Columns(std::vector<std::string> names) : names(std::move(names)) {}

  /// The first column of that name, or of one that begins so and goes on with
  /// a unit, `Start (ns)`; -1 if there is none.
  int find(llvm::StringRef name) const;
  /// What stands in brackets behind the name, `ns`.
  llvm::StringRef unit(int column) const;
  size_t size() const { return names.size(); }
  llvm::StringRef operator[](size_t column) const { return names[column]; }

  static llvm::StringRef field(const std::vector<std::string> &fields,
                               int column) {
    return column >= 0 && size_t(column) < fields.size()
               ? llvm::StringRef(fields[column])
               : llvm::StringRef();
  }

private:
  std::vector<std::string> names;
};

/// Where the columns of a printed table lie, by the line of dashes below its
/// header: from the first to behind the last character.
using Spans = llvm::SmallVector<std::pair<size_t, size_t>, 16>;

/// Empty if the line is no such line.
Spans spansOf(llvm::StringRef rule);

/// The texts of a line of the table, without the spaces around. The last column
/// takes all that is left.
std::vector<std::string> cellsOf(llvm::StringRef line, const Spans &spans);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_CSV_H
