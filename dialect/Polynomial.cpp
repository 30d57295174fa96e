// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Polynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace netc;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// The graded lexicographic order. Long division works since multiplication
/// preserves it.
bool Polynomial::precedes(const Term &a, const Term &b) {
  if (a.degree != b.degree)
    return a.degree > b.degree;
  for (const auto &[left, right] : llvm::zip(a.monomial, b.monomial)) {
    if (int order = left.symbol.compare(right.symbol))
      return order < 0;
    if (left.power != right.power)
      return left.power > right.power;
  }
  return false;
}

/// Returns std::nullopt if a power overflows.
std::optional<Polynomial::Term> Polynomial::product(const Term &a,
                                                    const Term &b) {
  Term result{{}, a.coefficient * b.coefficient, a.degree + b.degree};
  auto left = a.monomial.begin(), leftEnd = a.monomial.end();
  auto right = b.monomial.begin(), rightEnd = b.monomial.end();
  while (left != leftEnd && right != rightEnd) {
    int order = left->symbol.compare(right->symbol);
    result.monomial.push_back(order <= 0 ? *left : *right);
    if (order == 0 && __builtin_add_overflow(left->power, right->power,
                                             &result.monomial.back().power))
      return std::nullopt;
    left += order <= 0;
    right += order >= 0;
  }
  result.monomial.insert(result.monomial.end(), left, leftEnd);
  result.monomial.insert(result.monomial.end(), right, rightEnd);
  return result;
}

/// Returns std::nullopt if `b` does not divide `a`.
std::optional<Polynomial::Term> Polynomial::quotient(const Term &a,
                                                     const Term &b) {
  assert(!b.coefficient.isZero() && "no polynomial has such a term");
  if (b.degree > a.degree)
    return std::nullopt;
  Term result{{}, a.coefficient / b.coefficient, a.degree - b.degree};
  auto right = b.monomial.begin(), rightEnd = b.monomial.end();
  for (const Factor &left : a.monomial) {
    if (right == rightEnd || left.symbol != right->symbol) {
      result.monomial.push_back(left);
      continue;
    }
    if (left.power < right->power)
      return std::nullopt;
    if (left.power > right->power)
      result.monomial.push_back({left.symbol, left.power - right->power});
    ++right;
  }
  if (right != rightEnd)
    return std::nullopt;
  return result;
}

/// Appends a term. The caller must restore the canonical form with normalize().
void Polynomial::Sum::addTerm(Term term) {
  if (term.monomial.empty())
    constantTerm += term.coefficient;
  else
    terms.push_back(std::move(term));
}

/// Sorts, combines like terms and drops zeros. Clears the terms of an invalid
/// result.
void Polynomial::Sum::normalize() {
  if (terms.empty())
    return;
  llvm::sort(terms, precedes);
  size_t kept = 0;
  for (size_t i = 0, end = terms.size(); i != end;) {
    Term sum = std::move(terms[i]);
    for (++i; i != end && terms[i].monomial == sum.monomial; ++i)
      sum.coefficient += terms[i].coefficient;
    if (!sum.coefficient.isValid())
      constantTerm = Rational::invalid();
    if (!sum.coefficient.isZero())
      terms[kept++] = std::move(sum);
  }
  terms.resize(kept);
  if (kept > maxTerms || !constantTerm.isValid())
    invalidate();
  assert(llvm::is_sorted(terms, precedes) && "the form is canonical");
}

void Polynomial::Sum::invalidate() {
  constantTerm = Rational::invalid();
  terms.clear();
}

/// Multiplies by `factor`, which is not zero.
void Polynomial::Sum::scale(const Rational &factor) {
  assert(!factor.isZero() && "terms without a coefficient would stay");
  constantTerm *= factor;
  for (Term &term : terms)
    term.coefficient *= factor;
  if (!constantTerm.isValid() || llvm::any_of(terms, [](const Term &term) {
        return !term.coefficient.isValid();
      }))
    invalidate();
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Polynomial::Polynomial(const Rational &value) {
  std::optional<int64_t> small = value.toInt64();
  if (!small || !become(*small))
    edit().constantTerm = value;
}

Polynomial::Polynomial(Sum value) {
  if (value.terms.empty())
    *this = value.constantTerm;
  else
    hold(new Sum(std::move(value)));
}

void Polynomial::hold(Sum *own) {
  own->Retain();
  if (Sum *before = sum())
    before->Release();
  word = reinterpret_cast<uintptr_t>(own);
}

bool Polynomial::become(int64_t value) {
  int64_t twice;
  if (__builtin_mul_overflow(value, 2, &twice))
    return false;
  if (Sum *shared = sum())
    shared->Release();
  word = uintptr_t(twice) | 1;
  return true;
}

/// The sum, shared with no copy, to be changed. settle() must follow.
Polynomial::Sum &Polynomial::edit() {
  Sum *shared = sum();
  if (shared && shared->UseCount() == 1)
    return *shared;
  Sum *own = shared ? new Sum(*shared) : new Sum;
  if (!shared)
    own->constantTerm = integer();
  hold(own);
  return *own;
}

/// Drops the sum of what became a small integer.
void Polynomial::settle() {
  if (!sum()->terms.empty())
    return;
  if (std::optional<int64_t> small = sum()->constantTerm.toInt64())
    become(*small);
}

void Polynomial::scale(const Rational &factor) {
  if (factor == Rational(1))
    return;
  edit().scale(factor);
  settle();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Polynomial Polynomial::symbol(llvm::StringRef name) {
  assert(!name.empty() && "a symbol has a name");
  Sum result;
  result.terms.push_back({{{name.str(), 1}}, 1, 1});
  return Polynomial(std::move(result));
}

/// The two operands, if `symbol` is a minimum.
static std::optional<std::pair<Polynomial, Polynomial>>
operandsOf(llvm::StringRef symbol) {
  if (!symbol.consume_front("min("))
    return std::nullopt;
  unsigned depth = 0;
  for (size_t i = 0; i < symbol.size(); ++i) {
    depth += symbol[i] == '(';
    if (symbol[i] == ')' && depth-- == 0)
      return std::nullopt;
    if (symbol[i] != ',' || depth != 0)
      continue;
    std::optional<Polynomial> a = Polynomial::parse(symbol.take_front(i));
    std::optional<Polynomial> b =
        Polynomial::parse(symbol.drop_front(i + 1).drop_back());
    return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
  }
  return std::nullopt;
}

Polynomial Polynomial::minimum(const Polynomial &a, const Polynomial &b) {
  Polynomial more = a - b;
  if (!more.isValid())
    return invalid();
  // A polynomial without negative coefficients is smallest where all symbols
  // are 1.
  auto isNeverBelow0 = [](const Polynomial &value) {
    bool grows = llvm::all_of(value.terms(), [](const Term &term) {
      return !term.coefficient.isNegative();
    });
    Polynomial least = value.evaluate(
        [](llvm::StringRef, unsigned) { return std::optional(Rational(1)); });
    return grows && !least.constantTerm().isNegative();
  };
  // A minimum is at most each of its operands.
  auto isOperandOf = [](const Polynomial &value, const Polynomial &minimum) {
    if (minimum.terms().size() != 1 || !minimum.constantTerm().isZero())
      return false;
    const Term &term = minimum.terms().front();
    if (term.degree != 1 || term.coefficient != 1)
      return false;
    auto operands = operandsOf(term.monomial.front().symbol);
    return operands && (operands->first == value || operands->second == value);
  };
  if (isNeverBelow0(more) || isOperandOf(a, b))
    return b;
  if (isNeverBelow0(-more) || isOperandOf(b, a))
    return a;
  std::string first = a.str(), second = b.str();
  if (second < first)
    std::swap(first, second);
  return symbol("min(" + first + ", " + second + ")");
}

bool Polynomial::isInMinimum(llvm::StringRef symbol) const {
  for (const Term &term : terms())
    for (const auto &factor : term.monomial)
      if (auto operands = operandsOf(factor.symbol))
        for (const Polynomial &operand : {operands->first, operands->second})
          if (llvm::is_contained(operand.symbols(), symbol))
            return true;
  return false;
}

std::optional<Rational> Polynomial::constant() const {
  if (!isConstant())
    return std::nullopt;
  return constantTerm();
}

Polynomial Polynomial::ceil() const {
  std::optional<Rational> number = constant();
  return number ? Polynomial(number->ceil()) : *this;
}

std::optional<int64_t> Polynomial::toInt64() const {
  return isConstant() ? constantTerm().toInt64() : std::nullopt;
}

Polynomial Polynomial::operator-() const {
  Polynomial result = *this;
  result.scale(-1);
  return result;
}

Polynomial &Polynomial::add(const Polynomial &other) {
  int64_t twice;
  if (word & other.word & 1 &&
      !__builtin_add_overflow(int64_t(word) - 1, int64_t(other.word), &twice)) {
    word = twice;
    return *this;
  }
  if (isZero())
    return *this = other;

  // `other` may be this polynomial, so no iterator of it may be kept.
  Sum &result = edit();
  result.constantTerm += other.constantTerm();
  size_t size = result.terms.size(), added = other.terms().size();
  if (!result.constantTerm.isValid()) {
    result.invalidate();
  } else if (llvm::equal(result.terms, other.terms(),
                         [](const Term &a, const Term &b) {
                           return a.monomial == b.monomial;
                         })) {
    // The same network, part by part, mostly sums these.
    bool isSimple = true;
    for (size_t i = 0; i != size; ++i) {
      Rational &coefficient = result.terms[i].coefficient;
      coefficient += other.terms()[i].coefficient;
      isSimple &= coefficient.isValid() && !coefficient.isZero();
    }
    if (!isSimple)
      result.normalize();
  } else if (added != 0) {
    result.terms.reserve(size + added);
    for (size_t i = 0; i != added; ++i)
      result.terms.push_back(other.terms()[i]);
    result.normalize();
  }
  settle();
  return *this;
}

Polynomial &Polynomial::operator-=(const Polynomial &other) {
  return *this += -other;
}

Polynomial &Polynomial::operator*=(const Polynomial &other) {
  if (int64_t product;
      !sum() && !other.sum() &&
      !__builtin_mul_overflow(integer(), other.integer(), &product) &&
      become(product))
    return *this;
  if (!isValid() || !other.isValid())
    return *this = invalid();
  if (isZero() || other.isZero())
    return *this = Polynomial();
  if (other.isConstant()) {
    scale(other.constantTerm());
    return *this;
  }
  if (isConstant()) {
    Rational factor = constantTerm();
    *this = other;
    scale(factor);
    return *this;
  }

  Sum result;
  const Rational constant = constantTerm(),
                 otherConstant = other.constantTerm();
  result.terms.reserve((terms().size() + 1) * (other.terms().size() + 1));
  result.constantTerm = constant * otherConstant;
  for (const Term &left : terms()) {
    for (const Term &right : other.terms()) {
      std::optional<Term> term = product(left, right);
      if (!term)
        return *this = invalid();
      result.terms.push_back(std::move(*term));
    }
    if (!otherConstant.isZero())
      result.terms.push_back(
          {left.monomial, left.coefficient * otherConstant, left.degree});
  }
  if (!constant.isZero())
    for (const Term &right : other.terms())
      result.terms.push_back(
          {right.monomial, constant * right.coefficient, right.degree});
  result.normalize();
  return *this = Polynomial(std::move(result));
}

Polynomial &Polynomial::operator/=(const Polynomial &other) {
  if (!isValid() || !other.isValid() || other.isZero())
    return *this = invalid();
  if (other.isConstant()) {
    scale(Rational(1) / other.constantTerm());
    return *this;
  }

  // Long division: the leading term of the divisor must divide that of the
  // rest, until nothing is left.
  const Term &divisor = other.terms().front();
  Polynomial result, rest = *this;
  while (!rest.terms().empty()) {
    std::optional<Term> term = quotient(rest.terms().front(), divisor);
    if (!term || result.terms().size() == maxTerms)
      return *this = invalid();
    Sum step;
    step.addTerm(std::move(*term));
    Polynomial next(std::move(step));
    rest -= next * other;
    result += next;
  }
  if (!rest.isZero())
    return *this = invalid();
  return *this = std::move(result);
}

Polynomial Polynomial::pow(unsigned exponent) const {
  if (isConstant())
    return constantTerm().pow(exponent);
  Polynomial result = isValid() ? 1 : invalid(), base = *this;
  for (unsigned rest = exponent; rest != 0; rest >>= 1) {
    if (rest & 1)
      result *= base;
    // Do not square past the highest bit, since that may overflow.
    if (rest > 1)
      base *= base;
  }
  return result;
}

std::optional<Polynomial>
Polynomial::floorDivide(const Polynomial &divisor) const {
  Polynomial quotient = *this / divisor;
  bool isMultiple = quotient.isValid() || divisor.isConstant();
  if (!isMultiple || !llvm::all_of(quotient.terms(), [](const Term &term) {
        return term.coefficient.isInteger();
      }))
    return std::nullopt;
  Rational constant = quotient.constantTerm();
  return quotient += constant.floor() - constant;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Polynomial Polynomial::substitute(
    llvm::function_ref<std::optional<Polynomial>(llvm::StringRef)> value)
    const {
  Polynomial result = constantTerm();
  for (const Term &term : terms()) {
    Polynomial product = term.coefficient;
    for (const Factor &factor : term.monomial) {
      std::optional<Polynomial> replacement;
      if (auto operands = operandsOf(factor.symbol))
        replacement = minimum(operands->first.substitute(value),
                              operands->second.substitute(value));
      else
        replacement = value(factor.symbol);
      product *= (replacement ? *replacement : symbol(factor.symbol))
                     .pow(factor.power);
    }
    result += product;
  }
  return result;
}

Polynomial Polynomial::evaluate(
    llvm::function_ref<std::optional<Rational>(llvm::StringRef, unsigned)>
        moment) const {
  if (terms().empty())
    return *this;
  Sum result;
  result.constantTerm = constantTerm();
  for (const Term &term : terms()) {
    Term rest{{}, term.coefficient, 0};
    for (const Factor &factor : term.monomial) {
      std::optional<Rational> value;
      if (auto operands = operandsOf(factor.symbol)) {
        value = minimum(operands->first.evaluate(moment),
                        operands->second.evaluate(moment))
                    .constant();
        if (value)
          value = value->pow(factor.power);
      } else {
        value = moment(factor.symbol, factor.power);
      }
      if (value) {
        rest.coefficient *= *value;
        continue;
      }
      rest.monomial.push_back(factor);
      rest.degree += factor.power;
    }
    result.addTerm(std::move(rest));
  }
  result.normalize();
  return Polynomial(std::move(result));
}

llvm::SmallVector<std::string> Polynomial::symbols() const {
  llvm::SmallVector<std::string> result;
  for (const Term &term : terms())
    for (const Factor &factor : term.monomial)
      if (auto operands = operandsOf(factor.symbol))
        for (const Polynomial &operand : {operands->first, operands->second})
          llvm::append_range(result, operand.symbols());
      else
        result.push_back(factor.symbol);
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

unsigned Polynomial::degree(llvm::StringRef symbol) const {
  unsigned result = 0;
  for (const Term &term : terms())
    for (const Factor &factor : term.monomial)
      if (factor.symbol == symbol)
        result = std::max(result, factor.power);
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string Polynomial::str() const {
  if (terms().empty())
    return constantTerm().str();
  std::string text;
  auto addSign = [&](const Rational &coefficient) {
    if (text.empty())
      text += coefficient.isNegative() ? "-" : "";
    else
      text += coefficient.isNegative() ? " - " : " + ";
    return coefficient.abs();
  };
  for (const Term &term : terms()) {
    Rational size = addSign(term.coefficient);
    const char *separator = "";
    if (size != 1) {
      text += size.str();
      separator = "*";
    }
    for (const Factor &factor : term.monomial) {
      text += separator + factor.symbol;
      if (factor.power != 1)
        text += "^" + std::to_string(factor.power);
      separator = "*";
    }
  }
  if (Rational rest = constantTerm(); !rest.isZero())
    text += addSign(rest).str();
  return text;
}

/// Takes `7/2`, `N` or `T^2`, and the blanks after it, off the front of `text`.
static std::optional<Polynomial> takeFactor(llvm::StringRef &text) {
  Polynomial result;
  if (!text.empty() && llvm::isDigit(text[0])) {
    llvm::StringRef number = text.take_while(
        [](char c) { return llvm::isDigit(c) || c == '/' || c == '_'; });
    std::optional<Rational> value = Rational::parse(number);
    if (!value)
      return std::nullopt;
    text = text.drop_front(number.size());
    result = *value;
  } else {
    llvm::StringRef name =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name.empty())
      return std::nullopt;
    text = text.drop_front(name.size());
    if (text.starts_with("(")) {
      // Find the closing parenthesis.
      size_t length = 0;
      int depth = 0;
      do {
        if (length == text.size())
          return std::nullopt;
        depth += text[length] == '(' ? 1 : text[length] == ')' ? -1 : 0;
        ++length;
      } while (depth != 0);
      auto operands = operandsOf({name.data(), name.size() + length});
      if (!operands)
        return std::nullopt;
      text = text.drop_front(length);
      result = Polynomial::minimum(operands->first, operands->second);
    } else {
      if (text.consume_front("'"))
        name = llvm::StringRef(name.data(), name.size() + 1);
      result = Polynomial::symbol(name);
    }
    unsigned power = 1;
    if (text.consume_front("^") && text.consumeInteger(10, power))
      return std::nullopt;
    result = result.pow(power);
  }
  text = text.ltrim();
  return result;
}

std::optional<Polynomial> Polynomial::parse(llvm::StringRef text) {
  text = text.trim();
  Polynomial sum;
  bool isNegative = text.consume_front("-");
  while (true) {
    Polynomial product = isNegative ? -1 : 1;
    do {
      text = text.ltrim();
      std::optional<Polynomial> factor = takeFactor(text);
      if (!factor)
        return std::nullopt;
      product *= *factor;
    } while (text.consume_front("*"));
    sum += product;
    if (text.empty())
      return sum;
    isNegative = text.consume_front("-");
    if (!isNegative && !text.consume_front("+"))
      return std::nullopt;
  }
}

llvm::hash_code netc::hash_value(const Polynomial &value) {
  if (!value.sum())
    return llvm::hash_value(value.integer());
  llvm::hash_code code = hash_value(value.constantTerm());
  for (const Polynomial::Term &term : value.terms()) {
    code = llvm::hash_combine(code, term.coefficient);
    for (const Polynomial::Factor &factor : term.monomial)
      code = llvm::hash_combine(code, factor.symbol, factor.power);
  }
  return code;
}

llvm::raw_ostream &netc::operator<<(llvm::raw_ostream &os,
                                    const Polynomial &value) {
  return os << value.str();
}
