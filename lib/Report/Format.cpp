// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::string netc::quantity(const Polynomial &value,
                           const Dimension &dimension) {
  if (std::optional<Rational> constant = value.constant())
    return formatQuantity(*constant, dimension);
  return value.str() + " " + dimension.str();
}

std::string netc::flop(const Polynomial &value) {
  return quantity(value, Dimension::Flop);
}

std::string netc::bytes(const Polynomial &value) {
  return quantity(value, Dimension::Data);
}

std::string netc::flopCell(const Polynomial &value) {
  std::string text = flop(value);
  return value.isZero() ? "· " : text.substr(0, text.rfind("FLOP"));
}

std::string netc::exact(const Rational &value) {
  constexpr int64_t small = 1000;
  if (!value.isInteger() && value.abs() < small)
    return formatQuantity(value, {});
  std::string text = (value + Rational::fraction(1, 2)).floor().str();
  for (int i = int(text.size()) - 3; i > int(value.isNegative()); i -= 3)
    text.insert(i, ",");
  return text;
}

std::string netc::exact(const Polynomial &value) {
  std::optional<Rational> constant = value.constant();
  return constant ? exact(*constant) : value.str();
}

std::string netc::counted(const Polynomial &number, const std::string &thing) {
  return exact(number) + " " + thing + (number == 1 ? "" : "s");
}

std::string netc::deviceTime(const Rational &hours) {
  if (hours >= 1)
    return counted(hours, "device-hour");
  return formatQuantity(hours * 3600,
                        Dimension(Dimension::Device) * Dimension::Time);
}

std::string netc::conventionsText(const Conventions &conventions) {
  return fmt::format("1 multiply-add = {} FLOP{}", conventions.fma,
                     conventions.causal == CountedMask::Half
                         ? ", causal attention counted half"
                         : "");
}

std::string netc::inFlop(const Rational &value) { return flop(value); }
std::string netc::inBytes(const Rational &value) { return bytes(value); }
std::string netc::inPercent(const Rational &share) { return percent(share, 1); }
std::string netc::inRoundPercent(const Rational &share) {
  return percent(share, (share * 100).isInteger() ? 0 : 1);
}

std::string netc::inDeviceTime(const Rational &seconds) {
  return deviceTime(seconds / 3600);
}

std::string netc::inParentheses(const std::string &low,
                                const std::string &high) {
  return low == high ? "" : " (" + low + " to " + high + ")";
}

std::string netc::percent(const Rational &share, int digits) {
  return fmt::format("{:.{}f} %", share.toDouble() * 100, digits);
}

std::optional<Rational> netc::shareOf(const Polynomial &part,
                                      const Polynomial &whole) {
  return whole.isZero() ? std::nullopt : (part / whole).constant();
}

std::string netc::shareCell(const std::optional<Rational> &share) {
  return share && !share->isZero() ? percent(*share, 1) : "";
}

Grid::Cell netc::barCell(const std::optional<Rational> &share) {
  return {"", Style::Good, share ? share->toDouble() : 0};
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::string netc::sizesText(llvm::ArrayRef<Polynomial> sizes) {
  std::string text;
  for (const Polynomial &size : sizes) {
    std::string factor = size.str();
    if (StringRef(factor).contains(' '))
      factor = "(" + factor + ")";
    text += (text.empty() ? "" : "×") + factor;
  }
  return text.empty() ? "scalar" : text;
}

/// The shape of one example, without the batch axis.
static std::string ofExample(const Shape &shape) {
  llvm::ArrayRef<Polynomial> sizes = shape.sizes;
  if (!sizes.empty() && sizes.front() == Polynomial::symbol(kBatchAxis))
    sizes = sizes.drop_front();
  return sizesText(sizes);
}

std::string netc::shapesOf(const Part &part) {
  if (!part.output)
    return "";
  std::string output = ofExample(shapeOf(part.output));
  if (part.inputs.empty())
    return output;
  std::string input = ofExample(shapeOf(part.inputs.front()));
  if (part.inputs.size() > 1)
    input += ", …";
  return input == output ? output : input + " → " + output;
}

std::string netc::shortened(llvm::StringRef text, size_t most, Keep keep) {
  if (text.size() <= most)
    return text.str();
  auto isInLetter = [&](size_t at) { return (text[at] & 0xc0) == 0x80; };
  size_t at = keep == Keep::First ? most : text.size() - most;
  while (at > 0 && at < text.size() && isInLetter(at))
    keep == Keep::First ? --at : ++at;
  return keep == Keep::First ? text.take_front(at).str() + "…"
                             : "…" + text.drop_front(at).str();
}

std::string netc::escapedHtml(StringRef text) {
  std::string safe;
  llvm::raw_string_ostream os(safe);
  llvm::printHTMLEscaped(text, os);
  return safe;
}
