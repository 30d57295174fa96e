// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Rational.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace netc;

using Int128 = __int128;

static const Int128 max128 = Int128(~(unsigned __int128)(0) >> 1);
static const Int128 min128 = -max128 - 1;
static const Rational largest = Rational::fraction(max128, 1);
static const Rational smallest = Rational::fraction(1, max128);

static Rational half() { return Rational::fraction(1, 2); }

TEST(Rational, IsKeptInLowestTermsWithAPositiveDenominator) {
  Rational value = Rational::fraction(84, -36);
  EXPECT_EQ(value, Rational::fraction(-7, 3));
  EXPECT_EQ(int(value.numerator()), -7);
  EXPECT_EQ(int(value.denominator()), 3);
  EXPECT_EQ(hash_value(value), hash_value(Rational(-7) / 3));
  EXPECT_EQ(Rational::fraction(0, -5).str(), "0");
  // Both parts need 128 bits before the reduction.
  EXPECT_EQ(Rational::fraction(Int128(3) << 100, Int128(9) << 101),
            Rational::fraction(1, 6));
  EXPECT_EQ(Rational::fraction(min128, min128), Rational(1));
}

TEST(Rational, SumsAndProductsAreExact) {
  EXPECT_EQ(half() + Rational::fraction(1, 3), Rational::fraction(5, 6));
  EXPECT_EQ(half() - half(), Rational());
  EXPECT_EQ(Rational::fraction(1, 6) + Rational::fraction(1, 3), half());
  EXPECT_EQ(Rational::fraction(2, 3) * Rational::fraction(9, 4),
            Rational::fraction(3, 2));
  EXPECT_EQ(Rational(3) / -6, -half());
  EXPECT_EQ(Rational(uint64_t(1) << 63) + (uint64_t(1) << 63),
            Rational(2).pow(64));
}

TEST(Rational, OverflowIsInvalidAndSticks) {
  EXPECT_TRUE(largest.isValid());
  EXPECT_FALSE((largest + 1).isValid());
  EXPECT_FALSE((-largest - 1).isValid());
  EXPECT_FALSE((largest * 2).isValid());
  EXPECT_FALSE((smallest / 2).isValid());
  EXPECT_FALSE(Rational::fraction(min128, 1).isValid());
  EXPECT_FALSE(Rational::fraction(1, min128).isValid());
  EXPECT_EQ(Rational::fraction(min128, 2), -Rational(2).pow(126));
  EXPECT_EQ(-largest + largest, Rational());
  EXPECT_EQ(largest * smallest, Rational(1));

  Rational overflow = largest + 1;
  EXPECT_FALSE((overflow - overflow).isValid());
  EXPECT_FALSE((overflow * 0).isValid());
  EXPECT_FALSE((0 / overflow).isValid());
  EXPECT_FALSE((-overflow).isValid());
  EXPECT_FALSE(overflow.floor().isValid());
  EXPECT_FALSE(overflow.ceil().isValid());
  EXPECT_FALSE(overflow.pow(0).isValid());
  EXPECT_FALSE(overflow.toInt64());
  EXPECT_FALSE(overflow.isZero() || overflow.isInteger());
  EXPECT_TRUE(std::isnan(overflow.toDouble()));
  EXPECT_EQ(overflow.str(), "<overflow>");
}

TEST(Rational, DivisionByZeroIsInvalid) {
  EXPECT_FALSE((Rational(1) / 0).isValid());
  EXPECT_FALSE((Rational(0) / 0).isValid());
  EXPECT_FALSE(Rational::fraction(1, 0).isValid());
  EXPECT_FALSE(Rational(0).pow(-1).isValid());
}

TEST(Rational, OrderIsExactWhereCrossProductsOverflow) {
  Rational justBelowOne = Rational::fraction(max128 - 1, max128);
  EXPECT_LT(justBelowOne, Rational(1));
  EXPECT_LT(Rational::fraction(max128 - 2, max128 - 1), justBelowOne);
  EXPECT_GT(Rational::fraction(max128, max128 - 1), Rational(1));
  EXPECT_LT(-largest, -Rational::fraction(max128, 3));
  EXPECT_LT(-largest, smallest);
  EXPECT_LT(Rational(0), smallest);
  EXPECT_LE(half(), half());
  EXPECT_GE(half(), half());
  EXPECT_FALSE(half() < half());
}

TEST(Rational, InvalidIsOutsideTheOrder) {
  Rational overflow = Rational::invalid();
  EXPECT_FALSE(overflow < 1 || overflow <= 1 || overflow > 1 || overflow >= 1);
  EXPECT_FALSE(overflow <= overflow);
  EXPECT_TRUE(overflow == Rational::invalid());
  EXPECT_TRUE(overflow != Rational());
}

TEST(Rational, FloorAndCeilRoundTowardsTheirInfinity) {
  EXPECT_EQ((Rational(7) / 2).floor(), Rational(3));
  EXPECT_EQ((Rational(7) / 2).ceil(), Rational(4));
  EXPECT_EQ((Rational(-7) / 2).floor(), Rational(-4));
  EXPECT_EQ((Rational(-7) / 2).ceil(), Rational(-3));
  EXPECT_EQ(Rational(-3).floor(), Rational(-3));
  EXPECT_EQ(smallest.ceil(), Rational(1));
  EXPECT_EQ((-smallest).floor(), Rational(-1));
  EXPECT_EQ(largest.floor(), largest);
}

TEST(Rational, Powers) {
  EXPECT_EQ((Rational(2) / 3).pow(3), Rational(8) / 27);
  EXPECT_EQ((Rational(-2) / 3).pow(-3), Rational(-27) / 8);
  EXPECT_EQ(Rational(0).pow(0), Rational(1));
  EXPECT_EQ(Rational(2).pow(126) * 2 - 1, Rational::invalid());
  EXPECT_EQ((Rational(2).pow(126) - 1) * 2 + 1, largest);
  EXPECT_FALSE(Rational(2).pow(127).isValid());
  EXPECT_FALSE(Rational(2).pow(INT64_MAX).isValid());
  EXPECT_FALSE(Rational(2).pow(INT64_MIN).isValid());
  EXPECT_EQ(Rational(-1).pow(INT64_MIN), Rational(1));
}

TEST(Rational, Conversions) {
  EXPECT_EQ(Rational(INT64_MIN).toInt64(), INT64_MIN);
  EXPECT_EQ(Rational(INT64_MAX).toInt64(), INT64_MAX);
  EXPECT_FALSE((Rational(INT64_MAX) + 1).toInt64());
  EXPECT_FALSE((Rational(INT64_MIN) - 1).toInt64());
  EXPECT_FALSE(half().toInt64());
  EXPECT_EQ((Rational(1) / 3).toDouble(), 1.0 / 3.0);
  EXPECT_EQ(Rational(2).pow(-100).toDouble(), std::ldexp(1.0, -100));
  EXPECT_EQ(largest.str(), "170141183460469231731687303715884105727");
  EXPECT_EQ((-smallest).str(), "-1/170141183460469231731687303715884105727");
}

TEST(Rational, ParsesExactly) {
  auto parsed = [](llvm::StringRef text) { return *Rational::parse(text); };
  EXPECT_EQ(parsed("3"), Rational(3));
  EXPECT_EQ(parsed("-3"), Rational(-3));
  EXPECT_EQ(parsed("1.5e-4"), Rational::fraction(15, 100000));
  EXPECT_EQ(parsed("0.1") * 10, Rational(1));
  EXPECT_EQ(parsed(".5"), half());
  EXPECT_EQ(parsed("-7/2"), Rational::fraction(-7, 2));
  EXPECT_EQ(parsed("300_000"), Rational(300000));
  EXPECT_EQ(parsed("2.7E+22"), Rational(27) * Rational(10).pow(21));
  EXPECT_EQ(parsed("1.5e3/3"), Rational(500));

  for (llvm::StringRef text :
       {"",   "-",  ".",    "3.",    "1e",    "1e+", "1__0",
        "_1", "1_", "1_.5", "1._5",  "1/",    "/2",  "--1",
        "+1", " 1", "1 ",   "1.2.3", "1/2/3", "0x1", "inf"})
    EXPECT_FALSE(Rational::parse(text)) << text.str();
}

TEST(Rational, ParseTellsOutOfRangeFromNonsense) {
  auto isValid = [](llvm::StringRef text) {
    return Rational::parse(text)->isValid();
  };
  EXPECT_TRUE(isValid("170141183460469231731687303715884105727"));
  EXPECT_FALSE(isValid("170141183460469231731687303715884105728"));
  EXPECT_FALSE(isValid("1e39"));
  EXPECT_FALSE(isValid("1e-39"));
  EXPECT_FALSE(isValid("1e99999999999999999999"));
  EXPECT_FALSE(isValid("1/0"));
  // The power of ten alone would not fit.
  EXPECT_EQ(*Rational::parse("20000e-42"), Rational(2) / Rational(10).pow(38));
  EXPECT_EQ(*Rational::parse("1." + std::string(60, '0')), Rational(1));
}

/// Small fractions, whose sums and products of three stay in range.
static Rational randomRational(std::mt19937 &random) {
  std::uniform_int_distribution<int> parts(-100000, 100000);
  int den = parts(random);
  return Rational::fraction(parts(random), den ? den : 1);
}

TEST(Rational, IsAFieldWithACompatibleOrder) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Rational a = randomRational(random), b = randomRational(random),
             c = randomRational(random);
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ((a + b) + c, a + (b + c));
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a - b + b, a);
    if (!b.isZero()) {
      EXPECT_EQ(a / b * b, a);
    }
    EXPECT_EQ(a < b, (a - b).isNegative());
    EXPECT_EQ(a < b, a + c < b + c);
    EXPECT_EQ(*Rational::parse(a.str()), a);
    EXPECT_LE(a.floor(), a);
    EXPECT_LT(a, a.floor() + 1);
  }
}

TEST(Rational, NearTheEndsOfTheRangeAResultIsExactOrInvalid) {
  // Against the same operation modulo a prime, which cannot overflow.
  const uint64_t prime = 4294967291;
  auto modulo = [&](Int128 value) {
    return uint64_t((value % Int128(prime) + prime) % prime);
  };
  std::mt19937_64 random(2);
  auto draw = [&] {
    unsigned bits = 30 + random() % 97;
    Int128 value = (Int128(random() >> 1) << 64 | random()) >> (127 - bits);
    return Rational::fraction(random() % 2 ? value : -value, 1);
  };
  int valid = 0;
  for (int i = 0; i < 5000; ++i) {
    Rational a = draw(), b = draw();
    uint64_t x = modulo(a.numerator()), y = modulo(b.numerator());
    if (Rational product = a * b; product.isValid()) {
      EXPECT_EQ(modulo(product.numerator()), uint64_t(Int128(x) * y % prime));
      ++valid;
    } else {
      EXPECT_GT(std::abs(a.toDouble()) * std::abs(b.toDouble()), 1.7e38);
    }
    if (Rational sum = a + b; sum.isValid())
      EXPECT_EQ(modulo(sum.numerator()), (x + y) % prime);
    else
      EXPECT_GT(std::abs(a.toDouble() + b.toDouble()), 1.7e38);
  }
  EXPECT_GT(valid, 500);
  EXPECT_LT(valid, 4500);
}
