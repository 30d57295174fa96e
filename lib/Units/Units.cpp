// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Units/Units.h"

#include "dialect/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <vector>

using namespace netc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

bool Dimension::isCount() const {
  return llvm::any_of(llvm::ArrayRef<Base>{Example, Token, Step, Epoch, Device},
                      [&](Base base) { return *this == base; });
}

Dimension Dimension::operator*(const Dimension &other) const {
  Dimension result;
  for (unsigned i = 0; i != numBases; ++i) {
    int sum = powers[i] + other.powers[i];
    if (!isValid() || !other.isValid() || std::abs(sum) > INT8_MAX) {
      result.powers = {overflow};
      return result;
    }
    result.powers[i] = int8_t(sum);
  }
  return result;
}

Dimension Dimension::operator/(const Dimension &other) const {
  return *this * other.pow(-1);
}

Dimension Dimension::pow(int64_t exponent) const {
  Dimension result;
  for (unsigned i = 0; i != numBases; ++i) {
    int64_t product;
    if (!isValid() ||
        __builtin_mul_overflow(int64_t(powers[i]), exponent, &product) ||
        product > INT8_MAX || product < -INT8_MAX) {
      result.powers = {overflow};
      return result;
    }
    result.powers[i] = int8_t(product);
  }
  return result;
}

std::string Dimension::str() const {
  static constexpr llvm::StringLiteral names[numBases] = {
      "s",      "FLOP",  "OP",     "bytes",  "examples",
      "tokens", "steps", "epochs", "devices"};
  if (!isValid())
    return "<overflow>";
  llvm::SmallVector<std::string, 2> above, below;
  // Time comes last, as in FLOP*s.
  for (unsigned i = 1; i <= numBases; ++i) {
    int power = powers[i % numBases];
    std::string factor = names[i % numBases].str();
    if (std::abs(power) > 1)
      factor += "^" + std::to_string(std::abs(power));
    if (power != 0)
      (power > 0 ? above : below).push_back(factor);
  }
  std::string result = llvm::join(above, "*");
  if (below.empty())
    return result;
  result = (above.empty() ? "1" : result) + "/";
  return result +
         (below.size() == 1 ? below[0] : "(" + llvm::join(below, "*") + ")");
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

namespace {
struct Prefix {
  llvm::StringLiteral name;
  int base, power;

  Rational factor() const { return Rational(base).pow(power); }
};

enum class Form { Fixed, Plural, SI, BinaryToo };

struct NamedUnit {
  llvm::StringLiteral name;
  Form form;
  Dimension::Base base;
  int64_t num, den;
};

/// A spelling of a unit.
struct Spelling {
  std::string name;
  Rational factor;
  Dimension::Base base;
};
} // namespace

static constexpr Prefix prefixes[] = {
    {"k", 10, 3},  {"M", 10, 6},  {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15},
    {"E", 10, 18}, {"Z", 10, 21}, {"Y", 10, 24}, {"Ki", 2, 10}, {"Mi", 2, 20},
    {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}};

static constexpr Prefix suffixes[] = {
    {"k", 10, 3},  {"M", 10, 6},  {"G", 10, 9},  {"B", 10, 9}, {"T", 10, 12},
    {"Ki", 2, 10}, {"Mi", 2, 20}, {"Gi", 2, 30}, {"Ti", 2, 40}};

static constexpr NamedUnit namedUnits[] = {
    {"ns", Form::Fixed, Dimension::Time, 1, 1'000'000'000},
    {"us", Form::Fixed, Dimension::Time, 1, 1'000'000},
    {"ms", Form::Fixed, Dimension::Time, 1, 1000},
    {"s", Form::Fixed, Dimension::Time, 1, 1},
    {"second", Form::Plural, Dimension::Time, 1, 1},
    {"min", Form::Fixed, Dimension::Time, 60, 1},
    {"minute", Form::Plural, Dimension::Time, 60, 1},
    {"h", Form::Fixed, Dimension::Time, 3600, 1},
    {"hour", Form::Plural, Dimension::Time, 3600, 1},
    {"day", Form::Plural, Dimension::Time, 86400, 1},
    {"week", Form::Plural, Dimension::Time, 7 * 86400, 1},
    {"year", Form::Plural, Dimension::Time, 36525 * 864, 1},
    {"FLOP", Form::SI, Dimension::Flop, 1, 1},
    {"OP", Form::SI, Dimension::Op, 1, 1},
    {"byte", Form::Plural, Dimension::Data, 1, 1},
    {"B", Form::BinaryToo, Dimension::Data, 1, 1},
    {"bit", Form::SI, Dimension::Data, 1, 8},
    {"example", Form::Plural, Dimension::Example, 1, 1},
    {"sequence", Form::Plural, Dimension::Example, 1, 1},
    {"sample", Form::Plural, Dimension::Example, 1, 1},
    {"image", Form::Plural, Dimension::Example, 1, 1},
    {"token", Form::Plural, Dimension::Token, 1, 1},
    {"step", Form::Plural, Dimension::Step, 1, 1},
    {"epoch", Form::Plural, Dimension::Epoch, 1, 1}};

static std::vector<Spelling> allSpellings() {
  std::vector<Spelling> result;
  for (const NamedUnit &unit : namedUnits) {
    Rational factor = Rational(unit.num) / unit.den;
    // A bare `B` would be confused with the suffix of `7B`.
    if (unit.form != Form::BinaryToo)
      result.push_back({unit.name.str(), factor, unit.base});
    if (unit.form == Form::Plural)
      result.push_back({unit.name.str() + "s", factor, unit.base});
    if (unit.form == Form::SI || unit.form == Form::BinaryToo)
      for (const Prefix &prefix : prefixes)
        if (prefix.base == 10 || unit.form == Form::BinaryToo)
          result.push_back({(prefix.name + unit.name).str(),
                            prefix.factor() * factor, unit.base});
  }
  return result;
}

static llvm::ArrayRef<Spelling> spellings() {
  static const std::vector<Spelling> list = allSpellings();
  return list;
}

std::vector<StringRef> netc::unitNames() {
  std::vector<StringRef> names;
  for (const Spelling &spelling : spellings())
    names.push_back(spelling.name);
  return names;
}

static const Spelling *findUnit(StringRef name) {
  const Spelling *found =
      llvm::find_if(spellings(), [&](const Spelling &spelling) {
        return spelling.name == name;
      });
  return found == spellings().end() ? nullptr : found;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// The parts of `69.0B tokens`.
struct SplitNumber {
  StringRef digits; ///< with decimal point and exponent
  StringRef suffix; ///< empty, `%`, or one of `suffixes`
  StringRef rest;
};
} // namespace

static StringRef takeDigits(StringRef &text) {
  StringRef digits =
      text.take_while([](char c) { return llvm::isDigit(c) || c == '_'; });
  text = text.drop_front(digits.size());
  return digits;
}

static SplitNumber splitDigits(StringRef text) {
  StringRef rest = text;
  takeDigits(rest);
  if (rest.consume_front("."))
    takeDigits(rest);
  StringRef exponent = rest;
  if (exponent.consume_front_insensitive("e")) {
    if (!exponent.consume_front("-"))
      exponent.consume_front("+");
    if (!takeDigits(exponent).empty())
      rest = exponent;
  }
  return {text.drop_back(rest.size()), "", rest};
}

static SplitNumber splitSuffix(StringRef text) {
  SplitNumber parts = splitDigits(text);
  StringRef suffix = parts.rest.starts_with("%") ? "%" : "";
  for (const Prefix &candidate : suffixes)
    if (parts.rest.starts_with(candidate.name) &&
        candidate.name.size() > suffix.size())
      suffix = candidate.name;
  parts.suffix = suffix;
  parts.rest = parts.rest.drop_front(suffix.size());
  return parts;
}

/// The number scaled by its suffix and by `factor`.
static std::variant<Literal, Message> makeLiteral(const SplitNumber &parts,
                                                  Rational factor,
                                                  Dimension dimension,
                                                  StringRef device = "") {
  std::optional<Rational> number = Rational::parse(parts.digits);
  if (!number)
    return error::NotALiteral(parts.digits);
  if (parts.suffix == "%")
    factor /= 100;
  for (const Prefix &suffix : suffixes)
    if (suffix.name == parts.suffix)
      factor *= suffix.factor();

  // The last written digit counts as a one, whatever digit it is.
  std::string lastDigit;
  auto [mantissa, exponent] =
      parts.digits.split(parts.digits.contains('E') ? 'E' : 'e');
  for (char c : mantissa.drop_back())
    lastDigit += llvm::isDigit(c) ? '0' : c;
  lastDigit += '1';
  if (!exponent.empty())
    lastDigit += ("e" + exponent).str();

  Literal result{*number * factor, dimension, device.str(),
                 Rational::parse(lastDigit).value_or(Rational::invalid()) *
                     factor / 2};
  if (!result.value.isValid() || !result.halfUnit.isValid())
    return error::LiteralOutOfRange(parts.digits + parts.suffix);
  return result;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

static std::string lowerSingular(StringRef name) {
  std::string result = name.lower();
  if (result.size() > 1 && result.back() == 's')
    result.pop_back();
  return result;
}

/// The unit that `name` misspells, or null.
static const Spelling *findSimilarUnit(StringRef name) {
  // Many names of one letter are similar to `s` and `h`, and no unit has a long
  // name.
  if (name.size() < 2 || name.size() > 16)
    return nullptr;
  for (const Spelling &spelling : spellings())
    if (spelling.name.size() > 1 &&
        lowerSingular(spelling.name) == lowerSingular(name))
      return &spelling;
  // Any other name in upper case is a device.
  if (llvm::isUpper(name[0]))
    return nullptr;
  // Usual abbreviations that nearestName() would not find.
  StringRef meant = llvm::StringSwitch<StringRef>(name)
                        .Cases("sec", "secs", "seconds")
                        .Cases("hr", "hrs", "hours")
                        .Cases("yr", "yrs", "years")
                        .Default("");
  if (!meant.empty())
    return findUnit(meant);
  std::vector<StringRef> names;
  for (const Spelling &spelling : spellings())
    if (spelling.name.size() > 1)
      names.push_back(spelling.name);
  // A short unknown name is more likely a name of the program.
  return name.size() > 2 ? findUnit(nearestName(name, names)) : nullptr;
}

/// The error for a name that is neither a unit nor a device. `digits` is the
/// number before it, for the suggestions. None if the name may be one of the
/// program.
static std::optional<Message> findMistake(StringRef digits, StringRef name) {
  auto unknown = [&](const llvm::Twine &hint) {
    return error::UnknownUnit(name, hint);
  };
  if (name == "B")
    return error::BytesWithoutPrefix(digits);
  if (name == "K")
    return unknown("; did you mean `" + digits + "k` (times 1000) or `" +
                   digits + "Ki` (times 1024)?");
  if (name == "KB")
    return unknown("; did you mean `kB` (1000 bytes) or `KiB` (1024 bytes)?");
  if (llvm::is_contained({"kb", "Mb", "Gb", "Tb"}, name))
    return unknown("; did you mean `" + name + "it` or `" + name.drop_back() +
                   "B`, 8 times as much?");
  if (llvm::any_of(suffixes,
                   [&](const Prefix &suffix) { return suffix.name == name; }))
    return unknown("; did you mean the number `" + digits + name +
                   "` or the product `" + digits + " * " + name + "`?");
  if (name == "month" || name == "months")
    return unknown("; a month has no fixed length; use `days` or `weeks`");
  static constexpr StringRef ofSteps[] = {"iteration", "iterations", "iter",
                                          "iters",     "its",        "update",
                                          "updates",   "batches"};
  if (llvm::is_contained(ofSteps, name))
    return unknown("; did you mean `steps`?");
  if (name == "W" || name == "kW" || name == "watts")
    return unknown("; watts are written without a unit, as `300`");
  if (name == "percent")
    return unknown("; write `" + digits + "%`");
  if (name == "times")
    return unknown("; write the number alone");
  if (name == "_")
    return unknown("; `_` stands between digits; write `" + digits + "`");
  if (name == "e" || name == "E")
    return unknown("; an exponent has digits, as in `" + digits + "e3`");
  if (digits == "0" && name.size() > 1 && name[0] == 'x' &&
      llvm::all_of(name.drop_front(), llvm::isHexDigit))
    return unknown("; numbers are decimal");
  // Otherwise they would be devices.
  StringRef accumulated = name;
  accumulated.consume_back("s");
  if (accumulated.consume_back("MAC") &&
      (accumulated.empty() ||
       llvm::is_contained({"k", "M", "G", "T", "P"}, accumulated)))
    return unknown("; a multiply-add is 2 FLOP");
  if (const Spelling *similar = findSimilarUnit(name)) {
    std::string hint = didYouMean(similar->name);
    if (similar->base == Dimension::Flop || similar->base == Dimension::Op)
      hint += " a rate is `" + similar->name + "/s`";
    return unknown(hint);
  }
  return std::nullopt;
}

static Message percentageWithUnit(const SplitNumber &parts) {
  return error::PercentageWithUnit(parts.digits + parts.suffix);
}

StringRef netc::digitsOf(StringRef quantity) {
  return splitDigits(quantity).digits;
}

std::pair<std::string, std::string> netc::splitQuantity(StringRef number,
                                                        StringRef unit) {
  SplitNumber parts = splitSuffix(number);
  std::string whole = (parts.suffix + unit).str();
  if (parts.suffix.empty() || !findUnit(whole))
    return {number.str(), unit.str()};
  return {parts.digits.str(), whole};
}

std::variant<Literal, Message> netc::parseQuantity(StringRef number,
                                                   StringRef unit) {
  SplitNumber parts = splitSuffix(number);
  if (!parts.rest.empty())
    return error::NotALiteral(number);
  if (unit.empty())
    return makeLiteral(parts, 1, {});
  if (parts.suffix == "%")
    return percentageWithUnit(parts);
  // The lexer splits `80GB` into `80G` and `B`.
  if (unit == "B" && !parts.suffix.empty() && parts.suffix != "B")
    return makeLiteral(parts, 1, Dimension::Data);
  if (const Spelling *known = findUnit(unit))
    return makeLiteral(parts, known->factor, known->base);
  if (std::optional<Message> mistake = findMistake(parts.digits, unit))
    return *mistake;
  // A single letter is more likely a name of the program than a device.
  if (llvm::isUpper(unit[0]) && unit.size() > 1)
    return makeLiteral(parts, 1, Dimension::Device, unit);
  if (llvm::any_of(unit, llvm::isDigit))
    return error::UnknownUnit(
        unit, "; the name of a device begins in upper case, as in `" + number +
                  " V100`; a product is `" + number + " * " + unit + "`");
  return error::UnknownUnit(unit, "; did you mean the product `" + number +
                                      " * " + unit + "`?");
}

std::variant<Literal, Message> netc::parseRate(StringRef token) {
  auto unitOf = [](const SplitNumber &parts) {
    StringRef name = parts.rest.trim(" \t");
    const Spelling *unit = name.consume_back("/s") ? findUnit(name) : nullptr;
    return unit && unit->base != Dimension::Time ? unit : nullptr;
  };
  // In `125TFLOP/s` the T is a prefix, in `4ktokens/s` the k is a suffix.
  SplitNumber parts = splitDigits(token);
  const Spelling *unit = unitOf(parts);
  if (!unit) {
    parts = splitSuffix(token);
    unit = unitOf(parts);
  }
  if (parts.suffix == "%")
    return percentageWithUnit(parts);
  if (!unit)
    return error::UnknownRate(parts.rest.trim(" \t"));
  return makeLiteral(parts, unit->factor,
                     Dimension(unit->base) / Dimension::Time);
}

std::variant<Literal, Message> netc::parseDeviceTime(StringRef token) {
  auto [head, periodName] = token.rsplit('-');
  const Spelling *period = findUnit(periodName);
  if (!period || period->base != Dimension::Time)
    return error::UnknownUnit(periodName,
                              "; device-time is in seconds, minutes, hours, "
                              "days, weeks or years");

  if (head.ends_with("/s")) {
    std::variant<Literal, Message> rate = parseRate(head);
    auto *literal = std::get_if<Literal>(&rate);
    if (!literal)
      return rate;
    literal->value *= period->factor;
    literal->halfUnit *= period->factor;
    literal->dimension = literal->dimension * Dimension::Time;
    if (!literal->value.isValid())
      return error::LiteralOutOfRange(head);
    return rate;
  }

  // A suffix must be followed by a blank. Otherwise it would be taken off the
  // device's name.
  SplitNumber parts = splitSuffix(head);
  if (!parts.rest.starts_with(" ") && !parts.rest.starts_with("\t"))
    parts = splitDigits(head);
  if (parts.suffix == "%")
    return percentageWithUnit(parts);
  return makeLiteral(parts, period->factor,
                     Dimension(Dimension::Device) * Dimension::Time,
                     parts.rest.trim(" \t"));
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// `value` without trailing zeros, as the language writes it: `2.7e22`.
static std::string formatNumber(double value, unsigned digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", int(digits), value);
  auto [mantissa, exponent] = StringRef(text).split('e');
  if (exponent.empty())
    return text;
  bool isNegative = exponent.starts_with("-");
  return (mantissa + "e" + (isNegative ? "-" : "") + exponent.ltrim("+-0"))
      .str();
}

namespace {
struct Scaled {
  std::string number;
  StringRef unit;
};

/// A name of a size, such as a prefix.
struct Scale {
  llvm::StringLiteral name;
  double size;
};
} // namespace

static constexpr Scale countScales[] = {
    {"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};
static constexpr Scale prefixScales[] = {{"", 1},    {"k", 1e3},  {"M", 1e6},
                                         {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
static constexpr Scale timeScales[] = {
    {"ns", 1e-9}, {"us", 1e-6},    {"ms", 1e-3},    {"s", 1},
    {"min", 60},  {"hours", 3600}, {"days", 86400}, {"years", 31557600}};

/// `value` in the largest unit of `scales` that it reaches.
static Scaled scaleTo(llvm::ArrayRef<Scale> scales, double value,
                      unsigned digits) {
  const Scale *scale = llvm::find_if(
      scales, [](const Scale &candidate) { return candidate.size == 1; });
  // Compare as printed: 999.99 is 1000.
  double size =
      std::strtod(formatNumber(std::abs(value), digits).c_str(), nullptr);
  if (size >= 1000 * scales.back().size && scale == scales.begin())
    return {formatNumber(value, digits), scale->name};
  if (size != 0 && size < 1)
    scale = scales.begin();
  for (const Scale &candidate : scales)
    if (candidate.size <= size)
      scale = &candidate;
  return {formatNumber(value / scale->size, digits), scale->name};
}

std::string netc::formatQuantity(const Rational &value,
                                 const Dimension &dimension, unsigned digits) {
  if (!value.isValid())
    return value.str();
  double number = value.toDouble();

  auto inTime = [&](llvm::ArrayRef<Scale> scales, StringRef before) {
    auto [text, unit] = scaleTo(scales, number, digits);
    if (text == "1" && unit.size() > 3)
      unit.consume_back("s");
    return (text + " " + before + unit).str();
  };
  if (dimension == Dimension::Time)
    return inTime(timeScales, "");
  if (dimension == Dimension(Dimension::Device) * Dimension::Time)
    // Device-years are not usual.
    return inTime(llvm::ArrayRef(timeScales).drop_back(), "device-");

  bool isRate = dimension.power(Dimension::Time) == -1;
  Dimension amount = isRate ? dimension * Dimension::Time : dimension;
  std::string unit = dimension.str();
  if (amount.isCount() || dimension.isNone()) {
    bool isShort = value.isInteger() && value.abs() < 100'000;
    auto [text, suffix] = scaleTo(countScales, number, digits);
    text = isShort ? value.str() : (text + suffix).str();
    if (text == "1" && !isRate && !unit.empty())
      unit.pop_back();
    return unit.empty() ? text : text + " " + unit;
  }
  if (amount == Dimension::Flop || amount == Dimension::Op ||
      amount == Dimension::Data) {
    auto [text, prefix] = scaleTo(prefixScales, number, digits);
    if (amount == Dimension::Data && !prefix.empty())
      unit = isRate ? "B/s" : "B";
    else if (text == "1" && unit == "bytes")
      unit = "byte";
    return (text + " " + prefix + unit).str();
  }
  return formatNumber(number, digits) + " " + unit;
}
