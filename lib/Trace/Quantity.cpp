// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Quantity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cmath>
#include <string>

using namespace netc::trace;
using llvm::StringRef;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Replaces each space or apostrophe between thousands by `mark`. Such a
/// character without three digits after it begins a remark, which is dropped.
static std::string withSeparators(StringRef text, char mark) {
  constexpr StringRef others[] = {"\u00a0", "\u202f", "\u2019", "'", " "};
  std::string plain;
  for (text = text.trim(); !text.empty();) {
    auto found = llvm::find_if(
        others, [&](StringRef other) { return text.starts_with(other); });
    if (found == std::end(others)) {
      plain += text.front();
      text = text.drop_front();
      continue;
    }
    text = text.drop_front(found->size());
    if (text.take_while(isDigit).size() != 3)
      break;
    plain += mark;
  }
  return plain;
}

std::optional<double> netc::trace::numberIn(StringRef text, NumberStyle style) {
  bool isComma = style == NumberStyle::Comma;
  char separator = isComma ? '.' : ',', point = isComma ? ',' : '.';
  std::string written = withSeparators(text, separator);
  StringRef rest = written;
  rest = rest.take_front(rest.find('('));
  std::string plain(rest.consume_front("-") ? "-" : "");
  if (plain.empty())
    rest.consume_front("+");
  if (rest.starts_with_insensitive("0x"))
    return std::nullopt;
  StringRef whole = rest.take_front(rest.find(point));
  StringRef behind = rest.drop_front(whole.size());
  // 1,234,567, or 12,34,567 in India.
  llvm::SmallVector<StringRef, 8> groups;
  whole.split(groups, separator);
  for (auto [i, group] : llvm::enumerate(groups)) {
    bool isFirst = i == 0, isLast = i + 1 == groups.size();
    if (groups.size() > 1 &&
        (!llvm::all_of(group, isDigit) || group.size() > 3 ||
         (isFirst ? group.empty() || group.front() == '0'
                  : group.size() < (isLast ? 3u : 2u))))
      return std::nullopt;
    plain += group;
  }
  if (behind.consume_front(StringRef(&point, 1)))
    plain += "." + behind.str();
  StringRef digits = plain;
  digits.consume_front("-");
  double value;
  if (digits.empty() || !(isDigit(digits[0]) || digits[0] == '.'))
    return std::nullopt;
  if (StringRef(plain).getAsDouble(value) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<NumberStyle> netc::trace::styleOf(StringRef text) {
  bool isPoint = numberIn(text, NumberStyle::Point).has_value(),
       isComma = numberIn(text, NumberStyle::Comma).has_value();
  if (isPoint == isComma)
    return std::nullopt;
  return isPoint ? NumberStyle::Point : NumberStyle::Comma;
}

static double scaleOfOne(StringRef unit) {
  struct Unit {
    StringRef text;
    double scale;
  };
  static const Unit units[] = {
      {"s", 1},       {"sec", 1},   {"second", 1},  {"ms", 1e-3},
      {"msec", 1e-3}, {"us", 1e-6}, {"usec", 1e-6}, {"ns", 1e-9},
      {"nsec", 1e-9}, {"min", 60},  {"hour", 3600},
  };
  for (const Unit &one : units)
    if (unit.equals_insensitive(one.text))
      return one.scale;
  struct Prefix {
    char letter;
    double scale;
  };
  static const Prefix prefixes[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3},
                                    {'K', 1e3},  {'k', 1e3},  {'M', 1e6},
                                    {'G', 1e9},  {'T', 1e12}, {'P', 1e15}};
  static const StringRef bases[] = {"second", "byte",    "b",      "hz",
                                    "inst",   "cycle",   "sector", "warp",
                                    "thread", "request", "flop"};
  for (const Prefix &prefix : prefixes)
    if (unit.starts_with(StringRef(&prefix.letter, 1)))
      for (StringRef base : bases)
        if (unit.drop_front().equals_insensitive(base))
          return prefix.scale;
  return 1;
}

double netc::trace::scaleOf(StringRef unit) {
  auto [over, under] = unit.trim().split('/');
  return scaleOfOne(over.trim()) / scaleOfOne(under.trim());
}

std::optional<int64_t> netc::trace::nanosecondsIn(StringRef text,
                                                  StringRef unit) {
  double scale = scaleOf(unit) * 1e9;
  int64_t whole;
  if (scale > 0.999 && scale < 1.001 && !text.trim().getAsInteger(10, whole))
    return whole;
  std::optional<double> value = numberIn(text);
  if (!value || !(std::abs(*value * scale) < 9e18))
    return std::nullopt;
  return int64_t(std::llround(*value * scale));
}
