// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Polynomial.h"

#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <random>

using namespace netc;

static const Polynomial N = Polynomial::symbol("N");
static const Polynomial T = Polynomial::symbol("T");
static const Polynomial d = Polynomial::symbol("d");

TEST(Polynomial, PrintsHighestDegreeFirst) {
  EXPECT_EQ((3 * N + 6 * T * N * d * T - Rational(1) / 2).str(),
            "6*N*T^2*d + 3*N - 1/2");
  EXPECT_EQ((T * T + N * N + N * T).str(), "N^2 + N*T + T^2");
  EXPECT_EQ((-N).str(), "-N");
  EXPECT_EQ((-N / 2 - T).str(), "-1/2*N - T");
  EXPECT_EQ(Polynomial().str(), "0");
  EXPECT_EQ((N - N).str(), "0");
  EXPECT_EQ(Polynomial(-7).str(), "-7");
  EXPECT_EQ(Polynomial::invalid().str(), "<overflow>");
  EXPECT_EQ(Polynomial::symbol("h'").pow(2).str(), "h'^2");
}

TEST(Polynomial, IsCanonical) {
  Polynomial left = (N + T) * (N - T), right = -T * T + N * N;
  EXPECT_EQ(left, right);
  EXPECT_EQ(hash_value(left), hash_value(right));
  EXPECT_NE(N, T);
  EXPECT_NE(N * N, N);
  EXPECT_EQ((N + 1) - N, Polynomial(1));
  EXPECT_EQ((N + 1 - N).toInt64(), 1);
  EXPECT_FALSE(N.constant());
  EXPECT_FALSE(N.toInt64());
  EXPECT_FALSE(Polynomial(Rational(1) / 2).toInt64());
  EXPECT_TRUE((0 * N).isZero());
}

TEST(Polynomial, OperandsMayBeTheSameObject) {
  Polynomial value = N + 1;
  value += value;
  EXPECT_EQ(value, 2 * N + 2);
  value *= value;
  EXPECT_EQ(value, 4 * N * N + 8 * N + 4);
  value /= value;
  EXPECT_EQ(value, Polynomial(1));
  value = N;
  value -= value;
  EXPECT_TRUE(value.isZero());
}

TEST(Polynomial, DividesExactlyOrNotAtAll) {
  EXPECT_EQ((6 * N * T + 3 * T) / 3, 2 * N * T + T);
  EXPECT_EQ((6 * N * T + 3 * T) / T, 6 * N + 3);
  EXPECT_EQ((6 * N * T + 3 * T) / (2 * N + 1), 3 * T);
  EXPECT_EQ((N.pow(3) - T.pow(3)) / (N - T), N * N + N * T + T * T);
  EXPECT_EQ(Polynomial() / N, Polynomial());
  EXPECT_FALSE((N / T).isValid());
  EXPECT_FALSE((N / (N * N)).isValid());
  EXPECT_FALSE((1 / N).isValid());
  EXPECT_FALSE((N * N / (N + 1)).isValid());
  EXPECT_FALSE(((N * T + 1) / N).isValid());
  EXPECT_FALSE((N / 0).isValid());
  EXPECT_FALSE((N / (N - N)).isValid());
}

TEST(Polynomial, OverflowIsInvalidAndSticks) {
  Rational big = Rational(2).pow(126);
  Polynomial overflow = big * N + big * N;
  EXPECT_FALSE(overflow.isValid());
  EXPECT_TRUE((big * N - big * N).isZero());
  EXPECT_FALSE((big * N * 2).isValid());
  EXPECT_FALSE((N * big * (T * 2)).isValid());
  EXPECT_FALSE((Polynomial(big) + big).isValid());
  EXPECT_FALSE((N + Rational::invalid()).isValid());

  EXPECT_FALSE((overflow * 0).isValid());
  EXPECT_FALSE((0 * overflow).isValid());
  EXPECT_FALSE((overflow - overflow).isValid());
  EXPECT_FALSE((N + overflow).isValid());
  EXPECT_FALSE((overflow / N).isValid());
  EXPECT_FALSE((N / overflow).isValid());
  EXPECT_FALSE(overflow.pow(0).isValid());
  EXPECT_FALSE(overflow.constant());
  EXPECT_FALSE(overflow.isZero());
  EXPECT_EQ(overflow, Polynomial::invalid());
  EXPECT_TRUE(overflow.symbols().empty());
}

TEST(Polynomial, HugeResultsAreRefused) {
  EXPECT_EQ(N.pow(4000000000u).degree("N"), 4000000000u);
  EXPECT_FALSE((N.pow(4000000000u) * N.pow(4000000000u)).isValid());
  EXPECT_FALSE((N + T + d).pow(1000000).isValid());
  EXPECT_FALSE(((N.pow(1000000) - 1) / (N - 1)).isValid());
  EXPECT_EQ((N + 1).pow(3), N.pow(3) + 3 * N * N + 3 * N + 1);
}

TEST(Polynomial, SubstitutesAllSymbolsAtOnce) {
  auto swap = [](llvm::StringRef symbol) -> std::optional<Polynomial> {
    if (symbol == "N")
      return T;
    if (symbol == "T")
      return N + 1;
    return std::nullopt;
  };
  EXPECT_EQ((N * T.pow(2) * d + N).substitute(swap),
            T * (N + 1) * (N + 1) * d + T);
  EXPECT_EQ(Polynomial(5).substitute(swap), Polynomial(5));
}

TEST(Polynomial, EvaluatesWithMoments) {
  // T has mean 20 and standard deviation 6, so E[T^2] = 400 + 36; N is 32.
  auto moment = [](llvm::StringRef symbol, unsigned power) {
    if (symbol == "N")
      return Rational(32).pow(power);
    return power == 1 ? Rational(20) : Rational(436);
  };
  EXPECT_EQ((3 * N * T.pow(2) - T / 2 + 7).evaluate(moment),
            Rational(3 * 32 * 436 - 10 + 7));
  auto unknown = [](llvm::StringRef, unsigned) { return Rational::invalid(); };
  EXPECT_EQ(Polynomial(7).evaluate(unknown), Rational(7));
  EXPECT_FALSE(N.evaluate(unknown).isValid());
}

TEST(Polynomial, EvaluatesOnlyTheSymbolsThatAreKnown) {
  auto moment = [](llvm::StringRef symbol,
                   unsigned power) -> std::optional<Rational> {
    if (symbol == "N")
      return Rational(32).pow(power);
    return std::nullopt;
  };
  EXPECT_EQ((3 * N * T.pow(2) + N * N + T.pow(2) - 7).evaluate(moment),
            97 * T.pow(2) + 1017);
  EXPECT_EQ((N * T - 32 * T).evaluate(moment), Polynomial());
}

TEST(Polynomial, ListsSymbolsAndDegrees) {
  Polynomial value = T * T * d + N * T + 1;
  EXPECT_EQ(value.symbols(), (llvm::SmallVector<std::string>{"N", "T", "d"}));
  EXPECT_EQ(value.degree("T"), 2u);
  EXPECT_EQ(value.degree("N"), 1u);
  EXPECT_EQ(value.degree("H"), 0u);
}

TEST(Polynomial, ParsesInAnyOrder) {
  EXPECT_EQ(*Polynomial::parse(" T*2 *N-1/2 + T^2 "),
            2 * N * T + T * T - Rational(1) / 2);
  EXPECT_EQ(*Polynomial::parse("-h'^2"), -Polynomial::symbol("h'").pow(2));
  EXPECT_EQ(*Polynomial::parse("N + N"), 2 * N);
  for (llvm::StringRef text :
       {"", " ", "N +", "N T", "2N", "N^", "N^-1", "N^99999999999", "*N", "N''",
        "'", "N**T", "- -N", "(N)", "1.5*N", "<overflow>"})
    EXPECT_FALSE(Polynomial::parse(text)) << text.str();
}

static Polynomial randomPolynomial(std::mt19937 &random) {
  static const Polynomial symbols[] = {N, T, d, Polynomial::symbol("h'")};
  std::uniform_int_distribution<int> coefficient(-9, 9), power(0, 2);
  Polynomial result;
  for (unsigned i = random() % 5; i != 0; --i) {
    Polynomial term = Rational(coefficient(random)) / (1 + int(random() % 4));
    for (const Polynomial &symbol : symbols)
      term *= symbol.pow(power(random));
    result += term;
  }
  return result;
}

TEST(Polynomial, IsARing) {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    Polynomial a = randomPolynomial(random), b = randomPolynomial(random),
               c = randomPolynomial(random);
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ(a * b, b * a);
    EXPECT_EQ((a + b) + c, a + (b + c));
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ(a - b, -(b - a));
    EXPECT_TRUE((a - a).isZero());
    if (!b.isZero()) {
      EXPECT_EQ(a * b / b, a);
    }
    EXPECT_EQ(*Polynomial::parse(a.str()), a) << a.str();
  }
}

TEST(Polynomial, EvaluationAndSubstitutionAreHomomorphisms) {
  std::mt19937 random(4);
  auto value = [](llvm::StringRef symbol) {
    return Rational(int(symbol[0]) - 80) / 3;
  };
  auto evaluate = [&](const Polynomial &polynomial) {
    return polynomial.evaluate([&](llvm::StringRef symbol, unsigned power) {
      return value(symbol).pow(power);
    });
  };
  auto substitute = [&](const Polynomial &polynomial) {
    return polynomial.substitute(
        [&](llvm::StringRef symbol) { return value(symbol); });
  };
  for (int i = 0; i < 200; ++i) {
    Polynomial a = randomPolynomial(random), b = randomPolynomial(random);
    EXPECT_EQ(evaluate(a + b), evaluate(a) + evaluate(b));
    EXPECT_EQ(evaluate(a * b), evaluate(a) * evaluate(b));
    EXPECT_EQ(substitute(a), evaluate(a));
    EXPECT_EQ(substitute(a * b), substitute(a) * substitute(b));
  }
}

TEST(Polynomial, FloorDivideKeepsWhatDivides) {
  EXPECT_EQ(Polynomial(7).floorDivide(2), Polynomial(3));
  EXPECT_EQ(Polynomial(-7).floorDivide(2), Polynomial(-4));
  EXPECT_EQ((4 * N * T + 2 * T + 3).floorDivide(2), 2 * N * T + T + 1);
  EXPECT_EQ((2 * T - 1).floorDivide(2), T - 1);
  EXPECT_EQ((3 * T + 2).floorDivide(2), std::nullopt);
  EXPECT_EQ(T.floorDivide(1), T);
  EXPECT_EQ((2 * N * T + N).floorDivide(N), 2 * T + 1);
  EXPECT_EQ((N * T).floorDivide(2 * N), std::nullopt);
  EXPECT_EQ(Polynomial(6).floorDivide(T), std::nullopt);
}

TEST(Polynomial, CeilRoundsNumbersUp) {
  EXPECT_EQ((Polynomial(7) / 2).ceil(), 4);
  EXPECT_EQ(Polynomial(4).ceil(), 4);
  EXPECT_EQ((N / 2).ceil(), N / 2);
}

TEST(Polynomial, AMinimumIsASymbol) {
  Polynomial least = Polynomial::minimum(T, 4096);
  EXPECT_EQ(least.str(), "min(4096, T)");
  EXPECT_EQ(least, Polynomial::minimum(4096, T));
  EXPECT_EQ((2 * N * T * least.pow(2)).str(), "2*N*T*min(4096, T)^2");
  EXPECT_EQ((N * least / least), N);
  EXPECT_EQ((N * least).symbols(), (llvm::SmallVector<std::string>{"N", "T"}));
  EXPECT_EQ((N * T * least).degree("T"), 1u);

  // One of the two, where it is never larger for sizes from 1 on.
  EXPECT_EQ(Polynomial::minimum(3, 7), Polynomial(3));
  EXPECT_EQ(Polynomial::minimum(T + 5, 6), Polynomial(6));
  EXPECT_EQ(Polynomial::minimum(T + N, T), T);
  EXPECT_EQ(Polynomial::minimum(T, 1), Polynomial(1));
  EXPECT_EQ(Polynomial::minimum(least, T), least);
  EXPECT_EQ(Polynomial::minimum(4096, least), least);
  EXPECT_FALSE(Polynomial::minimum(Polynomial::invalid(), T).isValid());

  auto at = [](int64_t t) {
    return [=](llvm::StringRef symbol) -> std::optional<Polynomial> {
      if (symbol == "T")
        return Polynomial(t);
      return std::nullopt;
    };
  };
  Polynomial nested = Polynomial::minimum(8, 2 * N * Polynomial::minimum(T, 5));
  EXPECT_EQ(nested.str(), "min(2*N*min(5, T), 8)");
  EXPECT_EQ((T * least).substitute(at(100)), Polynomial(10000));
  EXPECT_EQ((T * least).substitute(at(10000)), Polynomial(40960000));
  EXPECT_EQ(nested.substitute(at(3)).str(), "min(6*N, 8)");
  auto moment = [](llvm::StringRef symbol, unsigned power) {
    return symbol == "T" ? std::optional(Rational(5000).pow(power))
                         : std::nullopt;
  };
  EXPECT_EQ((N * T * least).evaluate(moment), 20480000 * N);
  EXPECT_EQ(nested.evaluate(moment), Polynomial(8));
  Polynomial open = Polynomial::minimum(80, 2 * N * Polynomial::minimum(T, 5));
  EXPECT_EQ(open.evaluate(moment), open);

  for (const Polynomial &value : {least, nested, N * least + 3 * nested.pow(2)})
    EXPECT_EQ(Polynomial::parse(value.str()), value);
  for (const char *text : {"min(T)", "min(T, 3", "min(T, 3))", "min(, 3)",
                           "max(T, 3)", "min(T, 3)(", "min T"})
    EXPECT_EQ(Polynomial::parse(text), std::nullopt) << text;
}
