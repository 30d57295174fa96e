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

/// An exact fraction in lowest terms. The magnitudes of numerator and
/// denominator are below 2^127. A division by zero gives an *invalid* Rational.
/// So does a number out of that range: a result, or the unreduced numerator of
/// a sum. Every operation on an invalid operand is invalid too. Nothing is ever
/// wrapped or rounded.
class Rational {
public:
  Rational() = default;

  /// Any integer type converts. Floating-point types do not, since they would
  /// truncate.
  template <typename Int, typename = std::enable_if_t<std::is_integral_v<Int>>>
  Rational(Int value) : num(value) {}

  /// The fraction in lowest terms; invalid if `denominator` is 0 or a part is
  /// out of range.
  static Rational fraction(__int128 numerator, __int128 denominator);
  static Rational invalid();

  /// Reads `3`, `-3`, `7/2`, `.5`, `1.5e-4` or `1_000` exactly. Returns
  /// std::nullopt for text that is not a number, and an invalid Rational for a
  /// number out of range.
  static std::optional<Rational> parse(llvm::StringRef text);

  bool isValid() const { return den != 0; }
  bool isInteger() const { return den == 1; }
  bool isZero() const { return num == 0 && isValid(); }
  bool isNegative() const { return num < 0; }

  /// The numerator, with the sign of the fraction.
  __int128 numerator() const { return num; }
  /// The denominator: positive, or 0 if invalid.
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

  /// Two invalid numbers are equal, so that equality and hashing agree.
  friend bool operator==(const Rational &a, const Rational &b) {
    return a.num == b.num && a.den == b.den;
  }
  friend bool operator!=(const Rational &a, const Rational &b) {
    return !(a == b);
  }
  /// The order of valid numbers is exact. Comparisons with an invalid one are
  /// false.
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

  /// The nearest integer below or above; invalid if the number is.
  Rational floor() const;
  Rational ceil() const;
  Rational abs() const { return isNegative() ? -*this : *this; }

  /// 0^0 is 1; zero to a negative power is invalid.
  Rational pow(int64_t exponent) const;

  /// The nearest double if numerator and denominator are below 2^53, else
  /// within two units in the last place. NaN if invalid.
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
