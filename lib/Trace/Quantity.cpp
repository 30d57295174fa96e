// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Quantity.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <string>

using namespace netc::trace;
using llvm::StringRef;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

NumberStyle NumberStyle::of(StringRef beginning) {
  // Look at quoted numbers with a comma or a point.
  for (size_t at = beginning.find('"'); at != StringRef::npos;
       at = beginning.find('"', at + 1)) {
    StringRef text = beginning.substr(at + 1);
    text = text.take_while(
        [](char c) { return isDigit(c) || c == '.' || c == ','; });
    if (text.empty() || !isDigit(text[0]) ||
        beginning.substr(at + 1 + text.size()).take_front(1) != "\"")
      continue;
    size_t comma = text.rfind(','), point = text.rfind('.');
    if (comma == StringRef::npos && point == StringRef::npos)
      continue;
    if (comma == StringRef::npos) {
      if (text.size() - point - 1 != 3 || text.starts_with("0"))
        return {false};
    } else if (point == StringRef::npos) {
      if (text.count(',') > 1)
        return {false};
      if (text.size() - comma - 1 != 3 || comma > 3 || text.starts_with("0"))
        return {true};
    } else {
      return {comma > point};
    }
  }
  return {};
}

std::optional<double> netc::trace::numberIn(StringRef text, NumberStyle style) {
  text = text.trim();
  text = text.take_front(text.find_first_of(" ("));
  std::string plain;
  for (char c : text)
    if (c == (style.isDecimalComma ? ',' : '.'))
      plain += '.';
    else if (c != (style.isDecimalComma ? '.' : ','))
      plain += c;
  StringRef rest = plain;
  rest.consume_front("-") || rest.consume_front("+");
  if (rest.empty() || !(isDigit(rest[0]) || rest[0] == '.') ||
      rest.starts_with_insensitive("0x"))
    return std::nullopt;
  double value;
  if (StringRef(plain).getAsDouble(value) || !std::isfinite(value))
    return std::nullopt;
  return value;
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
