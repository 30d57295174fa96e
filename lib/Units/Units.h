// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_UNITS_UNITS_H
#define NETC_LIB_UNITS_UNITS_H

#include "dialect/Rational.h"
#include "lib/Diagnostics/Errors.h"

#include <array>
#include <variant>
#include <vector>

namespace netc {

/// A product of integer powers of base dimensions. A power beyond +-127 gives
/// an *invalid* Dimension. Every operation on an invalid Dimension is invalid
/// too.
class Dimension {
public:
  /// The base dimensions. Values are in the unit given here.
  enum Base : unsigned {
    Time,    ///< seconds
    Flop,    ///< FLOP
    Op,      ///< operations of any kind, OP
    Data,    ///< bytes
    Example, ///< also called sequence, sample or image
    Token,
    Step,
    Epoch,
    Device ///< all kinds of devices have the same dimension
  };
  static constexpr unsigned numBases = Device + 1;

  /// No dimension: a plain number.
  Dimension() = default;
  Dimension(Base base) { powers[base] = 1; }

  bool isValid() const { return powers[0] != overflow; }
  bool isNone() const { return *this == Dimension(); }
  /// Whether a plain number may stand for it: examples, tokens, steps, epochs
  /// or devices.
  bool isCount() const;
  int power(Base base) const { return powers[base]; }

  Dimension operator*(const Dimension &other) const;
  Dimension operator/(const Dimension &other) const;
  Dimension pow(int64_t exponent) const;
  bool operator==(const Dimension &other) const {
    return powers == other.powers;
  }
  bool operator!=(const Dimension &other) const { return !(*this == other); }

  /// `FLOP/s`, `examples`, `bytes^2/(s*step)`; empty for none.
  std::string str() const;

private:
  static constexpr int8_t overflow = INT8_MIN;

  std::array<int8_t, numBases> powers{};
};

/// A number of a source file with its unit.
struct Literal {
  /// In the units of Dimension::Base.
  Rational value;
  Dimension dimension;
  /// The device in `8 V100` and `2500 V100-days`: `V100`. Else empty. The
  /// parser does not check that the device exists.
  std::string device;
  /// Half a unit of the last written digit, in the unit of `value`. Trailing
  /// zeros count as written digits: 0.05e9 for `69.0B`, 0.005 for `30%`, 0.5
  /// for `1000`.
  Rational halfUnit;
};

/// Parses a NUMBER token and the name that follows it, if there is one. A name
/// with an upper-case first letter counts devices, unless it is a unit or
/// similar to one. Returns an error for an unknown unit, or a number out of
/// range.
std::variant<Literal, Message> parseQuantity(llvm::StringRef number,
                                             llvm::StringRef unit = "");

/// The digits that a quantity begins with, with point and exponent: `1.5e3` of
/// `1.5e3 TFLOP/s`.
llvm::StringRef digitsOf(llvm::StringRef quantity);

/// A number and the name behind it as they are read: `80` and `GB` of `80G` and
/// `B`, which is how the lexer splits `80GB`.
std::pair<std::string, std::string> splitQuantity(llvm::StringRef number,
                                                  llvm::StringRef unit);

/// All names of units: `hours`, `TFLOP`, `GiB`.
std::vector<llvm::StringRef> unitNames();

/// Parses a RATE token: `125 TFLOP/s`, `200 Gbit/s`, `50 images/s`.
std::variant<Literal, Message> parseRate(llvm::StringRef token);

/// Parses a DEVTIME token: `2500 V100-days`, or `3_640 PFLOP/s-days`, which is
/// FLOP.
std::variant<Literal, Message> parseDeviceTime(llvm::StringRef token);

/// `value`, rounded to `digits` significant digits, in a unit of readable size:
/// `312 TFLOP/s`, `3.5 days`, `2.7e22 FLOP`, `25.56M`. Whole counts below
/// 100,000 are not rounded.
std::string formatQuantity(const Rational &value, const Dimension &dimension,
                           unsigned digits = 4);

} // namespace netc

#endif // NETC_LIB_UNITS_UNITS_H
