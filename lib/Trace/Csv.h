// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_CSV_H
#define NETC_LIB_TRACE_CSV_H

#include "lib/Trace/Source.h"

#include "llvm/ADT/SmallVector.h"

namespace netc::trace {

/// Splits a line of comma-separated values (RFC 4180). False if it ends within
/// quotes, so that the field continues in the next line.
bool splitCsv(llvm::StringRef line, std::vector<std::string> &fields);

/// Reads the next record of a table, which has several lines if a quoted field
/// has line ends. False at the end, and if quotes do not end within 64 KiB.
bool readRecord(Source &source, std::vector<std::string> &fields);

/// The columns of a table, by name.
class Columns {
public:
  Columns() = default;
  explicit Columns(std::vector<std::string> names) : names(std::move(names)) {}

  /// The first column of this name, with or without a unit: `Start` finds
  /// `Start (ns)`. -1 if there is none.
  int find(llvm::StringRef name) const;
  /// The first column that has one of the names; -1 if there is none.
  int findAny(std::initializer_list<llvm::StringRef> names) const;
  /// The unit of a column, such as `ns`: in parentheses after the name, or in
  /// a row of units. Empty if there is none.
  llvm::StringRef unit(int column) const;
  /// Takes the row below the names that nvprof writes units in.
  void setUnits(std::vector<std::string> row) { units = std::move(row); }
  size_t size() const { return names.size(); }
  llvm::StringRef operator[](size_t column) const { return names[column]; }

  /// The field of a record in a column. Empty if the column is -1 or the record
  /// has fewer fields.
  static llvm::StringRef field(const std::vector<std::string> &fields,
                               int column) {
    return column >= 0 && size_t(column) < fields.size()
               ? llvm::StringRef(fields[column])
               : llvm::StringRef();
  }

private:
  std::vector<std::string> names, units;
};

/// The columns of a printed table, by the line of dashes below its header: the
/// first character, and the one after the last.
using Spans = llvm::SmallVector<std::pair<size_t, size_t>, 16>;

/// The columns that a line marks by dashes; empty if it has other characters.
Spans spansOf(llvm::StringRef rule);

/// The cells of a line of the table, trimmed. The last column extends to the
/// end of the line.
std::vector<std::string> cellsOf(llvm::StringRef line, const Spans &spans);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_CSV_H
