// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Rational.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

using namespace netc;

using Int128 = __int128;
using UInt128 = unsigned __int128;

static constexpr UInt128 maxMagnitude = ~UInt128(0) >> 1;

static UInt128 magnitude(Int128 value) {
  return value < 0 ? -UInt128(value) : UInt128(value);
}

static UInt128 gcd(UInt128 a, UInt128 b) {
  // Division of 128-bit numbers is a library call, so leave this loop early.
  constexpr UInt128 max64 = std::numeric_limits<uint64_t>::max();
  while (b > max64)
    std::swap(a %= b, b);
  if (b == 0)
    return a;
  return std::gcd(uint64_t(b), uint64_t(a % b));
}

/// Stores the product in `result`. Returns false if it is out of range.
static bool multiply(Int128 a, Int128 b, Int128 &result) {
  return !__builtin_mul_overflow(a, b, &result) &&
         magnitude(result) <= maxMagnitude;
}

static Int128 floorDivide(Int128 num, Int128 den) {
  assert(den > 0 && "only valid numbers are divided");
  Int128 quotient = num / den;
  return quotient * den > num ? quotient - 1 : quotient;
}

static Int128 floorRemainder(Int128 num, Int128 den) {
  Int128 remainder = num % den;
  return remainder < 0 ? remainder + den : remainder;
}

Rational Rational::invalid() {
  Rational result;
  result.den = 0;
  return result;
}

Rational Rational::fraction(Int128 numerator, Int128 denominator) {
  if (denominator == 0)
    return invalid();
  bool isNegative = (numerator < 0) != (denominator < 0);
  UInt128 num = magnitude(numerator), den = magnitude(denominator);
  UInt128 divisor = gcd(num, den);
  num /= divisor;
  den /= divisor;
  if (num > maxMagnitude || den > maxMagnitude)
    return invalid();
  Rational result;
  result.num = isNegative ? -Int128(num) : Int128(num);
  result.den = Int128(den);
  assert(result.den > 0 && "the numerator carries the sign");
  return result;
}

Rational Rational::operator-() const {
  Rational result = *this;
  result.num = -num;
  return result;
}

Rational &Rational::operator+=(const Rational &other) {
  if (!isValid() || !other.isValid())
    return *this = invalid();
  if (isInteger() && other.isInteger()) {
    if (__builtin_add_overflow(num, other.num, &num) ||
        magnitude(num) > maxMagnitude)
      *this = invalid();
    return *this;
  }
  // With g = gcd(b, d), a/b + c/d = (a*(d/g) + c*(b/g)) / (b/g*d), where only
  // a divisor of g can still cancel (Knuth, TAOCP 4.5.1).
  Int128 common =
      isInteger() || other.isInteger() ? 1 : Int128(gcd(den, other.den));
  Int128 left, right, sum;
  if (!multiply(num, other.den / common, left) ||
      !multiply(other.num, den / common, right) ||
      __builtin_add_overflow(left, right, &sum))
    return *this = invalid();
  Int128 rest = common == 1 ? 1 : Int128(gcd(magnitude(sum), common));
  Rational result;
  result.num = sum / rest;
  if (magnitude(result.num) > maxMagnitude ||
      !multiply(den / common, other.den / rest, result.den))
    return *this = invalid();
  return *this = result;
}

Rational &Rational::operator*=(const Rational &other) {
  if (!isValid() || !other.isValid())
    return *this = invalid();
  if (isInteger() && other.isInteger()) {
    if (__builtin_mul_overflow(num, other.num, &num) ||
        magnitude(num) > maxMagnitude)
      *this = invalid();
    return *this;
  }
  // Cancel crosswise first: the products are then in lowest terms, and they
  // overflow only if the result does.
  Int128 first = other.isInteger() ? 1 : Int128(gcd(magnitude(num), other.den));
  Int128 second = isInteger() ? 1 : Int128(gcd(magnitude(other.num), den));
  Rational result;
  if (!multiply(num / first, other.num / second, result.num) ||
      !multiply(den / second, other.den / first, result.den))
    return *this = invalid();
  return *this = result;
}

Rational &Rational::operator/=(const Rational &other) {
  if (!other.isValid() || other.isZero())
    return *this = invalid();
  Rational inverse;
  inverse.num = other.isNegative() ? -other.den : other.den;
  inverse.den = other.isNegative() ? -other.num : other.num;
  return *this *= inverse;
}

bool Rational::isBelow(const Rational &other) const {
  if (!isValid() || !other.isValid())
    return false;
  // Cross products can overflow, so compare the continued fractions.
  Int128 aNum = num, aDen = den, bNum = other.num, bDen = other.den;
  while (aDen != bDen) {
    Int128 aFloor = floorDivide(aNum, aDen), bFloor = floorDivide(bNum, bDen);
    if (aFloor != bFloor)
      return aFloor < bFloor;
    aNum = floorRemainder(aNum, aDen);
    bNum = floorRemainder(bNum, bDen);
    if (aNum == 0 || bNum == 0)
      return aNum < bNum;
    // For positive fractions, x < y is 1/y < 1/x.
    std::swap(aNum, bDen);
    std::swap(aDen, bNum);
  }
  return aNum < bNum;
}

Rational Rational::floor() const {
  return isValid() ? fraction(floorDivide(num, den), 1) : invalid();
}

Rational Rational::ceil() const { return -(-*this).floor(); }

Rational Rational::pow(int64_t exponent) const {
  Rational base = exponent < 0 ? Rational(1) / *this : *this;
  Rational result = isValid() ? Rational(1) : invalid();
  for (uint64_t rest = magnitude(exponent); rest != 0; rest >>= 1) {
    if (rest & 1)
      result *= base;
    // Do not square past the highest bit, since that may overflow.
    if (rest > 1)
      base *= base;
  }
  return result;
}

double Rational::toDouble() const {
  if (!isValid())
    return std::numeric_limits<double>::quiet_NaN();
  return double(num) / double(den);
}

std::optional<int64_t> Rational::toInt64() const {
  if (!isInteger() || num < std::numeric_limits<int64_t>::min() ||
      num > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return int64_t(num);
}

static std::string toString(Int128 value) {
  std::string digits;
  UInt128 rest = magnitude(value);
  do {
    digits += char('0' + int(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0)
    digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string Rational::str() const {
  if (!isValid())
    return "<overflow>";
  return isInteger() ? toString(num) : toString(num) + "/" + toString(den);
}

/// Takes digits off the front of `text`; a single `_` may stand between two.
/// Returns an empty string if there are none.
static std::string takeDigits(llvm::StringRef &text) {
  std::string digits;
  while (!text.empty()) {
    bool isSeparator = text[0] == '_' && !digits.empty() && text.size() > 1 &&
                       llvm::isDigit(text[1]);
    if (!isSeparator && !llvm::isDigit(text[0]))
      break;
    if (!isSeparator)
      digits += text[0];
    text = text.drop_front();
  }
  return digits;
}

/// Takes an unsigned decimal number off the front of `text`; none if there is
/// none.
static std::optional<Rational> takeDecimal(llvm::StringRef &text) {
  std::string digits = takeDigits(text);
  int64_t exponent = 0;
  if (text.consume_front(".")) {
    std::string decimals = takeDigits(text);
    if (decimals.empty())
      return std::nullopt;
    // Trailing zeros do not change the value but could overflow.
    while (!decimals.empty() && decimals.back() == '0')
      decimals.pop_back();
    digits += decimals;
    exponent = -int64_t(decimals.size());
  } else if (digits.empty()) {
    return std::nullopt;
  }
  if (text.consume_front("e") || text.consume_front("E")) {
    bool isNegative = text.consume_front("-");
    if (!isNegative)
      text.consume_front("+");
    std::string written = takeDigits(text);
    if (written.empty())
      return std::nullopt;
    int64_t value;
    if (llvm::StringRef(written).getAsInteger(10, value) || value > 1000)
      return Rational::invalid();
    exponent += isNegative ? -value : value;
  }
  Rational mantissa;
  for (char digit : digits)
    mantissa = mantissa * 10 + (digit - '0');
  // Multiply step by step: the power alone may overflow where the value does
  // not.
  Rational step = Rational(10).pow(exponent < 0 ? -1 : 1);
  for (int64_t i = std::abs(exponent); i > 0 && mantissa.isValid(); --i)
    mantissa *= step;
  return mantissa;
}

std::optional<Rational> Rational::parse(llvm::StringRef text) {
  bool isNegative = text.consume_front("-");
  std::optional<Rational> value = takeDecimal(text);
  if (value && text.consume_front("/")) {
    std::optional<Rational> divisor = takeDecimal(text);
    value = divisor ? std::optional(*value / *divisor) : std::nullopt;
  }
  if (!value || !text.empty())
    return std::nullopt;
  return isNegative ? -*value : *value;
}

llvm::hash_code netc::hash_value(const Rational &value) {
  UInt128 num = value.numerator(), den = value.denominator();
  return llvm::hash_combine(uint64_t(num), uint64_t(num >> 64), uint64_t(den),
                            uint64_t(den >> 64));
}

llvm::raw_ostream &netc::operator<<(llvm::raw_ostream &os,
                                    const Rational &value) {
  return os << value.str();
}
