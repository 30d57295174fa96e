// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `expect`, and the questions that it asks of the results.

#include "lib/Frontend/Elaborator.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

/// The dimension of an answer's unit, a product over a product of units.
static Dimension dimensionOf(StringRef unit) {
  if (unit.empty())
    return {};
  if (unit.contains('/'))
    return dimensionOf(unit.split('/').first) /
           dimensionOf(unit.split('/').second);
  if (unit.contains('*'))
    return dimensionOf(unit.split('*').first) *
           dimensionOf(unit.split('*').second);
  if (unit == "device")
    return Dimension::Device;
  auto parsed = parseQuantity("1", unit);
  auto *literal = std::get_if<Literal>(&parsed);
  assert(literal && "an answer in an unknown unit");
  return literal ? literal->dimension : Dimension();
}

std::string netc::pathOf(NetParser::ExprContext *expr) {
  std::string text = expr->getText(), path;
  for (char c : text)
    if (c == '[')
      path += '.';
    else if (c != ']')
      path += c;
  return path;
}

Value Elaborator::askWith(const Subject &subject,
                          NetParser::ArgsContext *args) {
  Subject question = subject;
  for (NetParser::ArgContext *arg : args->arg()) {
    if (!arg->name()) {
      question.parts.push_back(pathOf(arg->expr()));
      continue;
    }
    Value value = resolve(arg, eval(arg->expr()));
    std::optional<Number> number = numberOf(value);
    std::optional<Rational> exact =
        number && !number->real ? number->exact.constant() : std::nullopt;
    if (!exact)
      return value.isUnknown()
                 ? Value()
                 : fail(arg, "`" + arg->name()->getText() +
                                 "` takes a number, this is " + kindOf(value));
    question.numbers.push_back({arg->name()->getText(), *exact});
  }
  return question;
}

Value Elaborator::resolve(Tree *at, const Value &value) {
  auto *subject = value.as<Subject>();
  if (!subject)
    return value;
  if (!results)
    return fail(at, "results such as `" + subject->symbol +
                        "` are known in `expect` only");
  if (leftOut.contains(subject->symbol)) {
    asksLeftOut = true;
    return {};
  }
  Question question;
  question.subject =
      mlir::SymbolTable::lookupSymbolIn(*module, subject->symbol);
  question.members = subject->members;
  question.parts = subject->parts;
  question.numbers = subject->numbers;
  asked.insert(subject->symbol);
  if (!ends.empty()) {
    const std::vector<Tree *> &ranges = rangesOf[subject->symbol];
    for (auto [i, range] : llvm::enumerate(ranges))
      question.corner = question.corner.value_or(0) | size_t(ends.lookup(range))
                                                          << i;
  }
  if (!question.subject)
    return fail(at, "there is no result of `" + subject->symbol + "`");
  std::variant<Answer, std::string> answer = results->ask(question);
  if (auto *error = std::get_if<std::string>(&answer))
    return fail(at, *error);
  const Answer &found = std::get<Answer>(answer);
  return Number(found.value, dimensionOf(found.unit));
}

std::optional<ExpectResult>
Elaborator::decideExpect(NetParser::ExpectContext *tree) {
  ExpectResult result;
  result.text = sourceText(tree);
  result.file = frame->file->path;
  result.line = tree->getStart()->getLine();
  auto *comparison = ruleCast<NetParser::CmpContext>(tree->expr(0));
  Expr *within = tree->expr().size() > 1 ? tree->expr(1) : nullptr;
  if (!comparison || comparison->op->getText() != "~") {
    if (within)
      return fail(within, "`within` goes with `~`"), std::nullopt;
    std::optional<bool> holds;
    if (comparison) {
      Value a = resolve(comparison, eval(comparison->expr(0)));
      Value b = resolve(comparison, eval(comparison->expr(1)));
      Value verdict = compare(comparison, comparison->op->getText(), a, b);
      if (!verdict.is<bool>())
        return std::nullopt;
      holds = *verdict.as<bool>();
      decided = a;
      result.value = textOf(a);
      result.expected = comparison->op->getText() + " " + textOf(b);
    } else {
      holds = decide(tree->expr(0));
      if (!holds)
        return std::nullopt;
      result.value = *holds ? "true" : "false";
      result.expected = "true";
    }
    result.holds = *holds;
    return result;
  }

  Value a = resolve(comparison, eval(comparison->expr(0)));
  if (auto *call = ruleCast<NetParser::CallContext>(comparison->expr(1));
      call && call->expr()->getText() == "between")
    return decideBetween(tree, a, call);
  Value b = resolve(comparison, eval(comparison->expr(1)));
  if (a.isUnknown() || b.isUnknown())
    return std::nullopt;
  decided = a;
  std::optional<Number> value = numberOf(a), expected = numberOf(b);
  if (!value || !expected)
    return fail(comparison, "`~` compares numbers, not " + kindOf(a) +
                                " with " + kindOf(b)),
           std::nullopt;
  bool counts = (expected->dimension.isNone() && value->dimension.isCount()) ||
                (value->dimension.isNone() && expected->dimension.isCount());
  if (value->dimension != expected->dimension && !counts) {
    std::string unit =
        value->dimension.isNone() ? "" : " " + value->dimension.str();
    std::string fix =
        expected->dimension.isNone() && !unit.empty()
            ? "; write `" + comparison->expr(1)->getText() + unit + "`"
            : "";
    return fail(comparison,
                "`" + comparison->expr(0)->getText() + "` is in " +
                    (unit.empty() ? "no unit" : unit.substr(1)) +
                    ", the expected value in " +
                    (expected->dimension.isNone() ? "no unit"
                                                  : expected->dimension.str()) +
                    fix),
           std::nullopt;
  }
  double tolerance;
  if (within) {
    Value allowed = resolve(within, eval(within));
    std::optional<Number> number = numberOf(allowed);
    if (!number)
      return allowed.isUnknown()
                 ? std::nullopt
                 : (fail(within, "`within` takes a number"), std::nullopt);
    if (!(number->toDouble() >= 0))
      return fail(within, "`within` takes a number that is not negative, this "
                          "is " +
                              sourceText(within)),
             std::nullopt;
    bool relative = StringRef(within->getText()).ends_with("%");
    tolerance = relative ? std::abs(expected->toDouble()) * number->toDouble()
                         : number->toDouble();
    if (!relative && number->dimension != expected->dimension &&
        !number->dimension.isCount())
      return fail(within, "`within` takes a share such as `2%`, or an amount "
                          "in the unit of the "
                          "expected value"),
             std::nullopt;
  } else {
    auto *literal = ruleCast<NetParser::LitContext>(comparison->expr(1));
    if (!literal)
      return fail(comparison,
                  "the right side of `~` is a literal, whose written precision "
                  "counts; with `within` it may be any number"),
             std::nullopt;
    std::optional<Literal> written = literalOf(literal->quantity());
    if (!written)
      return std::nullopt;
    // Exact numbers are compared exactly: the interval is closed.
    if (!value->real && value->exact.constant()) {
      Rational difference = (*value->exact.constant() - written->value).abs();
      result.holds = difference <= written->halfUnit;
      result.value = valueText(*value, *expected);
      result.expected = "~ " + sourceText(comparison->expr(1));
      return result;
    }
    tolerance = written->halfUnit.toDouble();
  }
  result.holds =
      std::abs(value->toDouble() - expected->toDouble()) <= tolerance;
  result.value = valueText(*value, *expected);
  result.expected = "~ " + sourceText(comparison->expr(1)) +
                    (within ? " within " + sourceText(within) : "");
  return result;
}

std::optional<ExpectResult>
Elaborator::decideBetween(NetParser::ExpectContext *tree, const Value &value,
                          NetParser::CallContext *range) {
  if (tree->expr().size() > 1)
    return fail(tree->expr(1), "`between` says how far off a value may be; "
                               "leave `within` out"),
           std::nullopt;
  std::vector<Argument> ends = evalArguments(range->args(), {});
  if (ends.size() != 2)
    return fail(range, "`~ between` takes the least and the largest value"),
           std::nullopt;
  ExpectResult result;
  result.text = sourceText(tree);
  result.file = frame->file->path;
  result.line = tree->getStart()->getLine();
  result.expected = "~ " + sourceText(range);
  result.value = textOf(value);
  result.holds = true;
  decided = value;
  for (auto [i, end] : llvm::enumerate(ends)) {
    Value verdict =
        compare(range, i == 0 ? ">=" : "<=", value, resolve(range, end.value));
    if (!verdict.is<bool>())
      return std::nullopt;
    result.holds &= *verdict.as<bool>();
  }
  return result;
}

void Elaborator::decideAtEnds(NetParser::ExpectContext *tree,
                              ExpectResult &result) {
  llvm::SetVector<Tree *> ranges = touched;
  for (const std::string &run : asked)
    ranges.insert(rangesOf[run].begin(), rangesOf[run].end());
  if (ranges.empty())
    return;
  std::optional<Number> least, most;
  bool fails = false;
  atEnds(ranges.getArrayRef(), [&] {
    std::vector<std::pair<TopLevel *, TopLevel>> saved;
    for (auto &[name, entry] : main->names)
      if (!entry.ranges.empty()) {
        saved.push_back({&entry, entry});
        entry.state = TopLevel::Untouched;
      }
    std::optional<ExpectResult> there = decideExpect(tree);
    for (auto &[entry, old] : saved)
      *entry = old;
    fails |= !there || !there->holds;
    std::optional<Number> number = numberOf(decided);
    if (!number)
      return;
    if (!least || number->toDouble() < least->toDouble())
      least = number;
    if (!most || number->toDouble() > most->toDouble())
      most = number;
  });
  result.holds &= !fails;
  if (least && most)
    result.value = textOf(*least) + " to " + textOf(*most);
}

std::string Elaborator::valueText(const Number &value, const Number &expected) {
  std::optional<Rational> exact =
      value.real ? std::nullopt : value.exact.constant();
  if (!exact)
    return textOf(Value(value));
  // Enough digits to see by how much it is off.
  return formatQuantity(*exact, value.dimension, 6);
}

std::vector<ExpectResult> Elaborator::check(const Results &given) {
  results = &given;
  std::vector<ExpectResult> decided;
  for (const Expectation &expectation : expectations) {
    TopScope top(*this, *expectation.file);
    asksLeftOut = false;
    asked.clear();
    touched.clear();
    std::optional<ExpectResult> result = decideExpect(expectation.tree);
    if (asksLeftOut)
      continue;
    if (result)
      decideAtEnds(expectation.tree, *result);
    if (!result) {
      ExpectResult undecided;
      undecided.text = sourceText(expectation.tree);
      undecided.file = expectation.file->path;
      undecided.line = expectation.tree->getStart()->getLine();
      undecided.value = "unknown";
      undecided.holds = false;
      decided.push_back(undecided);
      continue;
    }
    if (!result->holds)
      fail(expectation.tree,
           "expected " + sourceText(expectation.tree->expr(0)) +
               (expectation.tree->expr().size() > 1
                    ? " within " + sourceText(expectation.tree->expr(1))
                    : "") +
               ", it is " + result->value);
    decided.push_back(std::move(*result));
  }
  results = nullptr;
  return decided;
}
