// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Csv.h"

using namespace netc::trace;
using llvm::StringRef;

bool netc::trace::splitCsv(StringRef line, std::vector<std::string> &fields) {
  size_t count = 0, at = 0;
  auto add = [&]() -> std::string & {
    if (count == fields.size())
      fields.emplace_back();
    fields[count].clear();
    return fields[count++];
  };
  while (true) {
    std::string &field = add();
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size())
          return false;
        if (line[at] != '"')
          field += line[at];
        else if (at + 1 < line.size() && line[at + 1] == '"')
          field += line[at++];
        else
          break;
      }
      ++at;
    }
    size_t end = std::min(line.find(',', at), line.size());
    field += line.slice(at, end);
    if (end == line.size())
      break;
    at = end + 1;
  }
  fields.resize(count);
  return true;
}

bool netc::trace::readRecord(Source &source, std::vector<std::string> &fields) {
  constexpr size_t longest = 1 << 16;
  std::string line, more;
  if (!source.line(line))
    return false;
  while (!splitCsv(line, fields)) {
    if (line.size() > longest || !source.line(more)) {
      source.end("a row ends within quotes");
      return false;
    }
    line += '\n';
    line += more;
  }
  return true;
}

int Columns::find(StringRef name) const {
  for (size_t i = 0; i < names.size(); ++i) {
    StringRef column = StringRef(names[i]).trim();
    if (!column.consume_front(name))
      continue;
    column = column.ltrim();
    if (column.empty() || column.starts_with("("))
      return int(i);
  }
  return -1;
}

int Columns::findAny(std::initializer_list<StringRef> names) const {
  for (StringRef name : names)
    if (int column = find(name); column >= 0)
      return column;
  return -1;
}

StringRef Columns::unit(int column) const {
  if (column < 0)
    return "";
  if (StringRef unit = field(units, column); !unit.empty())
    return unit;
  StringRef name = names[column];
  size_t from = name.rfind('(');
  return from == StringRef::npos ? "" : name.substr(from).trim("() ");
}

Spans netc::trace::spansOf(StringRef rule) {
  Spans spans;
  size_t at = 0;
  while (true) {
    size_t from = rule.find_first_not_of(' ', at);
    if (from == StringRef::npos)
      return spans;
    size_t end = std::min(rule.find_first_not_of('-', from), rule.size());
    if (end == from || (end < rule.size() && rule[end] != ' '))
      return {};
    spans.push_back({from, end});
    at = end;
  }
}

/// The offset of a character in bytes; one that is not ASCII has several.
static size_t byteAt(StringRef line, size_t column) {
  size_t byte = 0;
  for (; byte < line.size(); ++byte)
    if ((uint8_t(line[byte]) & 0xc0) != 0x80 && column-- == 0)
      break;
  return byte;
}

std::vector<std::string> netc::trace::cellsOf(StringRef line,
                                              const Spans &spans) {
  std::vector<std::string> cells;
  for (const auto &span : spans) {
    size_t begin = byteAt(line, span.first);
    StringRef cell = &span == &spans.back()
                         ? line.drop_front(begin)
                         : line.slice(begin, byteAt(line, span.second));
    cells.push_back(cell.trim().str());
  }
  return cells;
}
