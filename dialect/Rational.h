// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_RATIONAL_H
#define NETC_DIALECT_RATIONAL_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace netc {

/// An exact fraction in lowest terms; numerator and denominator have magnitudes
/// below 2^127. A division by zero, or a result (in a sum also: an unreduced
/// numerator) beyond that range, gives an *invalid* Rational, and so does every
/// operation on an invalid one. Nothing is ever wrapped or rounded.
class Rational {
public:
  Rational() = default;

  /// Any integer type converts; floating point does not, as it would truncate.
  template <typename Int, typename = std::enable_if_t<std::is_integral_v<Int>>>
  Rational(Int value) : num(value) {}

  static Rational fraction(__int128 numerator, __int128 denominator);
  static Rational invalid();

  /// Reads `3`, `-3`, `7/2`, `.5`, `1.5e-4`, `1_000`, exactly. Returns
  /// std::nullopt for text that is not a number, and an invalid Rational for a
  /// number out of range.
  static std::optional<Rational> parse(llvm::StringRef text);

  bool isValid() const { return den != 0; }
  bool isInteger() const { return den == 1; }
  bool isZero() const { return num == 0 && isValid(); }
  bool isNegative() const { return num < 0; }

  /// Carries the sign.
  __int128 numerator() const { return num; }
  /// Positive; 0 if invalid.
  __int128 denominator() const { return den; }

  Rational operator-() const;
  Rational &operator+=(const Rational &other);
  Rational &operator-=(const Rational &other) { return *this += -other; }
  Rational &operator*=(const Rational &other);
  Rational &operator/=(const Rational &other);
  friend Rational operator+(Rational a, const Rational &b) { return a += b; }
  friend Rational operator-(Rational a, const Rational &b) { return a -= b; }
  friend Rational operator*(Rational a, const Rational &b) { return a *= b; }
  friend Rational operator/(Rational a, const Rational &b) { return a /= b; }

  /// Invalid equals invalid, so that equality and hashing agree.
  friend bool operator==(const Rational &a, const Rational &b) {
    return a.num == b.num && a.den == b.den;
  }
  friend bool operator!=(const Rational &a, const Rational &b) {
    return !(a == b);
  }
  /// The order is exact for all valid operands; with an invalid operand each of
  /// the four is false.
  friend bool operator<(const Rational &a, const Rational &b) {
    return a.isBelow(b);
  }
  friend bool operator<=(const Rational &a, const Rational &b) {
    return a < b || (a == b && a.isValid());
  }
  friend bool operator>(const Rational &a, const Rational &b) { return b < a; }
  friend bool operator>=(const Rational &a, const Rational &b) {
    return b <= a;
  }

  Rational floor() const;
  Rational ceil() const;
  Rational abs() const { return isNegative() ? -*this : *this; }

  /// 0^0 is 1; zero to a negative power is invalid.
  Rational pow(int64_t exponent) const;

  /// Correctly rounded if both parts are below 2^53, else to within two units
  /// in the last place; NaN if invalid.
  double toDouble() const;

  /// The value, if it is an integer that fits.
  std::optional<int64_t> toInt64() const;

  /// `3`, `-7/2`, or `<overflow>` if invalid.
  std::string str() const;

private:
  bool isBelow(const Rational &other) const;

  __int128 num = 0;
  __int128 den = 1;
};

llvm::hash_code hash_value(const Rational &value);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Rational &value);

} // namespace netc

#endif // NETC_DIALECT_RATIONAL_H
