// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_POLYNOMIAL_H
#define NETC_DIALECT_POLYNOMIAL_H

#include "dialect/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>
#include <vector>

namespace netc {

/// The axis of the examples of a batch.
inline constexpr llvm::StringLiteral kBatchAxis = "N";
/// The axis of the positions of a sequence.
inline constexpr llvm::StringLiteral kSequenceAxis = "T";

class Polynomial;
llvm::hash_code hash_value(const Polynomial &value);

/// A polynomial with Rational coefficients. Its symbols are the free axes, and
/// minima of polynomials such as `min(T, 4096)`. The form is canonical: equal
/// polynomials compare, hash and print equal.
///
/// A result is *invalid* if it is no polynomial (an inexact division),
/// overflows, or would have more than `maxTerms` terms. Every operation on an
/// invalid operand is invalid too. The limit keeps every operation fast on
/// hostile input.
class Polynomial {
public:
  static constexpr size_t maxTerms = 500;

  Polynomial() = default;
  Polynomial(const Polynomial &other) : word(other.word) {
    if (const Sum *shared = sum())
      shared->Retain();
  }
  Polynomial(Polynomial &&other) : word(std::exchange(other.word, 1)) {}
  Polynomial &operator=(const Polynomial &other) {
    if (word & other.word & 1)
      word = other.word;
    else
      *this = Polynomial(other);
    return *this;
  }
  Polynomial &operator=(Polynomial &&other) {
    std::swap(word, other.word);
    return *this;
  }
  ~Polynomial() {
    if (const Sum *shared = sum())
      shared->Release();
  }
  template <typename Int, typename = std::enable_if_t<std::is_integral_v<Int>>>
  Polynomial(Int value) : Polynomial(Rational(value)) {}
  Polynomial(const Rational &value);

  /// The symbol called `name`: an identifier that may end in `'`.
  static Polynomial symbol(llvm::StringRef name);
  /// The smaller of two polynomials in symbols of 1 or more. It is one of them
  /// if that one is never larger, else a symbol `min(a, b)`.
  static Polynomial minimum(const Polynomial &a, const Polynomial &b);
  static Polynomial invalid() { return Rational::invalid(); }

  /// Reads what str() prints, in any order of terms and factors. Returns
  /// std::nullopt for anything else, `<overflow>` included.
  static std::optional<Polynomial> parse(llvm::StringRef text);

  bool isValid() const { return !sum() || sum()->constantTerm.isValid(); }
  bool isZero() const { return word == 1; }
  bool isConstant() const { return terms().empty() && isValid(); }

  /// The value, if no symbol occurs.
  std::optional<Rational> constant() const;
  /// Rounded up, if no symbol occurs: of what has to be whole, as the size of
  /// an axis or a batch.
  Polynomial ceil() const;
  /// The value, if it is a constant integer that fits.
  std::optional<int64_t> toInt64() const;

  Polynomial operator-() const;
  Polynomial &operator+=(const Polynomial &other) {
    return other.isZero() ? *this : add(other);
  }
  Polynomial &operator-=(const Polynomial &other);
  Polynomial &operator*=(const Polynomial &other);
  Polynomial &operator/=(const Polynomial &other);
  friend Polynomial operator+(Polynomial a, const Polynomial &b) {
    return a += b;
  }
  friend Polynomial operator-(Polynomial a, const Polynomial &b) {
    return a -= b;
  }
  friend Polynomial operator*(Polynomial a, const Polynomial &b) {
    return a *= b;
  }
  /// Exact division: invalid if `b` does not divide `a`.
  friend Polynomial operator/(Polynomial a, const Polynomial &b) {
    return a /= b;
  }
  Polynomial pow(unsigned exponent) const;
  /// The quotient rounded down, for integer values of the symbols. std::nullopt
  /// if the remainder depends on these values, as in (T + 1) / 2, or if there
  /// is no quotient.
  std::optional<Polynomial> floorDivide(const Polynomial &divisor) const;

  friend bool operator==(const Polynomial &a, const Polynomial &b) {
    return a.word == b.word || (a.sum() && b.sum() && *a.sum() == *b.sum());
  }
  friend bool operator!=(const Polynomial &a, const Polynomial &b) {
    return !(a == b);
  }

  /// Replaces all symbols at once. A symbol without a `value` stays.
  Polynomial substitute(
      llvm::function_ref<std::optional<Polynomial>(llvm::StringRef symbol)>
          value) const;

  /// Replaces each factor symbol^power by `moment(symbol, power)`; a factor
  /// without a moment stays. The result is the expectation, if the symbols are
  /// independent random variables with these moments. The expectation of a
  /// minimum is taken as the minimum of the expectations.
  Polynomial
  evaluate(llvm::function_ref<std::optional<Rational>(llvm::StringRef symbol,
                                                      unsigned power)>
               moment) const;

  /// The symbols in alphabetical order, each once, including those in minima.
  llvm::SmallVector<std::string> symbols() const;
  /// Whether `symbol` occurs in a minimum.
  bool isInMinimum(llvm::StringRef symbol) const;
  /// The highest power of `symbol` outside of minima; 0 if it does not occur.
  unsigned degree(llvm::StringRef symbol) const;

  /// `6*N*T^2*d + 3*N - 1/2`: highest total degree first, then alphabetical.
  std::string str() const;

  friend llvm::hash_code hash_value(const Polynomial &value);

private:
  struct Factor {
    std::string symbol;
    unsigned power;

    bool operator==(const Factor &other) const {
      return power == other.power && symbol == other.symbol;
    }
  };
  /// Sorted by symbol; all powers positive.
  using Monomial = std::vector<Factor>;
  struct Term {
    Monomial monomial;
    Rational coefficient;
    uint64_t degree;

    bool operator==(const Term &other) const {
      return coefficient == other.coefficient && monomial == other.monomial;
    }
  };

  struct Sum : llvm::ThreadSafeRefCountedBase<Sum> {
    /// Those with symbols, in the order of str(), no coefficient zero. Empty if
    /// invalid.
    std::vector<Term> terms;
    Rational constantTerm;

    bool operator==(const Sum &other) const {
      return constantTerm == other.constantTerm && terms == other.terms;
    }
    void addTerm(Term term);
    void scale(const Rational &factor);
    void normalize();
    void invalidate();
  };

  explicit Polynomial(Sum value);

  static bool precedes(const Term &a, const Term &b);
  static std::optional<Term> product(const Term &a, const Term &b);
  static std::optional<Term> quotient(const Term &a, const Term &b);

  llvm::ArrayRef<Term> terms() const {
    return sum() ? llvm::ArrayRef(sum()->terms) : llvm::ArrayRef<Term>();
  }
  Rational constantTerm() const {
    return sum() ? sum()->constantTerm : Rational(integer());
  }
  /// Null if the polynomial is a small integer.
  Sum *sum() const {
    return word & 1 ? nullptr : reinterpret_cast<Sum *>(word);
  }
  /// The value, if there is no sum.
  int64_t integer() const { return int64_t(word) >> 1; }
  /// Becomes `value`, unless that takes more than 63 bits.
  bool become(int64_t value);
  void hold(Sum *own);
  Sum &edit();
  void settle();
  void scale(const Rational &factor);
  Polynomial &add(const Polynomial &other);

  /// A network has millions of polynomials. Most are small integers, which need
  /// no memory of their own: an odd word is twice the integer, and 1. Another
  /// one points to a sum, which copies share.
  uintptr_t word = 1;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Polynomial &value);

} // namespace netc

#endif // NETC_DIALECT_POLYNOMIAL_H
