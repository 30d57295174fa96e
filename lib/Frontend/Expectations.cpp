// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// `expect`, and the questions that it asks of the results.

#include "lib/Frontend/Elaborator.h"
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
    std::string name = arg->name()->getText();
    Value value = resolve(arg, eval(arg->expr()));
    std::optional<Number> number = numberOf(value);
    std::optional<Rational> exact =
        number && !number->real ? number->exact.constant() : std::nullopt;
    if (!exact)
      return value.isUnknown()
                 ? Value()
                 : fail(arg, "`" + name + "` takes a number, this is " +
                                 kindOf(value));
    bool isShare = name == "utilization" && number->dimension.isNone() &&
                   *exact > Rational(0) && *exact <= Rational(1);
    bool isRate = name == "peak" && *exact > Rational(0) &&
                  number->dimension ==
                      Dimension(Dimension::Flop) / Dimension(Dimension::Time);
    if (!isShare && !isRate)
      return fail(arg, "a figure is asked for at a `utilization` such as `30%` "
                       "or a `peak` such as `125 TFLOP/s`, not at `" +
                           name + " = " + textOf(value) + "`" +
                           didYouMean(name, {"utilization", "peak"}));
    question.numbers.push_back({name, *exact});
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
  if (isOverridden(subject->symbol)) {
    asksOverridden = true;
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

/// The ends of what `value` may be, for a program and for people.
static ExpectSide sideOfEnds(llvm::ArrayRef<Number> ends, std::string text) {
  ExpectSide side{std::move(text), {}, {}};
  for (const Number &end : ends) {
    std::optional<Rational> exact = end.exact.constant();
    if (!end.real && !exact)
      return {side.text, {}, {}};
    if (end.real)
      side.numbers.push_back(*end.real);
    else
      side.numbers.push_back(*exact);
    side.unit = end.dimension.str();
  }
  return side;
}

/// With enough digits to see by how much it is off. Whole numbers that are to
/// be `equal` have all.
static std::string textBeside(const Value &value, const Value &expected,
                              bool equal) {
  std::optional<Number> a = numberOf(value), b = numberOf(expected);
  if (!a || !b || a->real || b->real || !a->exact.constant() ||
      !b->exact.constant())
    return textOf(value);
  Rational is = *a->exact.constant(), shouldBe = *b->exact.constant();
  std::string unit = a->dimension.str();
  if (equal && is.isInteger() && unit.empty())
    return is.str();
  // A double has no more digits.
  for (unsigned digits : {6, 9, 12, 15}) {
    std::string text = formatQuantity(is, a->dimension, digits);
    if (is == shouldBe ||
        text != formatQuantity(shouldBe, a->dimension, digits))
      return text;
  }
  return is.str() + (unit.empty() ? "" : " " + unit);
}

static ExpectSide sideOf(const Value &value, std::string text) {
  std::optional<Number> number = numberOf(value);
  return number ? sideOfEnds(*number, std::move(text))
                : ExpectSide{std::move(text), {}, {}};
}

Verdict Elaborator::verdictOn(NetParser::ExpectContext *tree) {
  Verdict verdict;
  verdict.text = sourceText(tree);
  verdict.file = frame->file->path;
  verdict.line = tree->getStart()->getLine();
  return verdict;
}

std::optional<Verdict>
Elaborator::decideExpect(NetParser::ExpectContext *tree) {
  auto *comparison = ruleCast<NetParser::CmpContext>(tree->expr(0));
  if (comparison && comparison->op->getText() == "~")
    return decideAbout(tree, comparison);
  if (tree->expr().size() > 1)
    return fail(tree->expr(1), "`within` goes with `~`"), std::nullopt;

  Verdict verdict = verdictOn(tree);
  if (!comparison) {
    std::optional<bool> holds = decide(tree->expr(0));
    if (!holds)
      return std::nullopt;
    verdict.holds = *holds;
    verdict.value.text = *holds ? "true" : "false";
    verdict.expected.text = "true";
    return verdict;
  }
  std::string op = comparison->op->getText();
  Value a = resolve(comparison, eval(comparison->expr(0)));
  Value b = resolve(comparison, eval(comparison->expr(1)));
  Value holds = compare(comparison, op, a, b);
  if (!holds.is<bool>())
    return std::nullopt;
  decided = a;
  verdict.holds = *holds.as<bool>();
  verdict.value = sideOf(a, textBeside(a, b, op == "=="));
  verdict.expected = sideOf(b, op + " " + textOf(b));
  return verdict;
}

/// `within` the tolerance that is said, or the written precision.
std::optional<Number> Elaborator::toleranceOf(NetParser::CmpContext *comparison,
                                              Expr *within,
                                              const Number &expected) {
  if (!within) {
    auto *literal = ruleCast<NetParser::LitContext>(comparison->expr(1));
    if (!literal)
      return fail(comparison,
                  "the right side of `~` is a literal, whose written precision "
                  "counts; with `within` it may be any number"),
             std::nullopt;
    std::optional<Literal> written = literalOf(literal->quantity());
    return written ? std::optional<Number>(Number(written->halfUnit))
                   : std::nullopt;
  }
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
  if (StringRef(within->getText()).ends_with("%")) {
    std::optional<Rational> share = number->exact.constant(),
                            whole = expected.exact.constant();
    if (share && whole && !number->real && !expected.real)
      return Number(*share * whole->abs());
    return Number::inexact(std::abs(expected.toDouble()) * number->toDouble());
  }
  if (number->dimension != expected.dimension && !number->dimension.isCount())
    return fail(within, "`within` takes a share such as `2%`, or an amount "
                        "in the unit of the "
                        "expected value"),
           std::nullopt;
  return number;
}

std::optional<Verdict>
Elaborator::decideAbout(NetParser::ExpectContext *tree,
                        NetParser::CmpContext *comparison) {
  Expr *within = tree->expr().size() > 1 ? tree->expr(1) : nullptr;
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
  std::optional<Number> tolerance = toleranceOf(comparison, within, *expected);
  if (!tolerance)
    return std::nullopt;

  Verdict verdict = verdictOn(tree);
  // Exact numbers are compared exactly: the interval is closed.
  if (!value->real && !expected->real && !tolerance->real &&
      (value->exact - expected->exact).constant() &&
      tolerance->exact.constant())
    verdict.holds = (value->exact - expected->exact).constant()->abs() <=
                    *tolerance->exact.constant();
  else
    verdict.holds = std::abs(value->toDouble() - expected->toDouble()) <=
                    tolerance->toDouble();
  verdict.value = sideOf(a, textBeside(a, b, false));
  verdict.expected =
      sideOf(b, "~ " + sourceText(comparison->expr(1)) +
                    (within ? " within " + sourceText(within) : ""));
  return verdict;
}

std::optional<Verdict>
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
  Verdict verdict = verdictOn(tree);
  verdict.holds = true;
  decided = value;
  std::vector<Number> bounds;
  for (auto [i, end] : llvm::enumerate(ends)) {
    Value bound = resolve(range, end.value);
    Value holds = compare(range, i == 0 ? ">=" : "<=", value, bound);
    if (!holds.is<bool>())
      return std::nullopt;
    verdict.holds &= *holds.as<bool>();
    if (std::optional<Number> number = numberOf(bound))
      bounds.push_back(*number);
  }
  verdict.value = sideOf(value, textOf(value));
  verdict.expected = sideOfEnds(bounds, "~ " + sourceText(range));
  return verdict;
}

void Elaborator::decideAtEnds(NetParser::ExpectContext *tree,
                              Verdict &verdict) {
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
    std::optional<Verdict> there = decideExpect(tree);
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
  verdict.holds &= !fails;
  if (least && most)
    verdict.value =
        sideOfEnds({*least, *most}, textOf(*least) + " to " + textOf(*most));
}

std::vector<Verdict> Elaborator::check(const Results &given) {
  results = &given;
  std::vector<Verdict> verdicts;
  size_t ofOverridden = 0;
  for (const Expectation &expectation : expectations) {
    TopScope top(*this, *expectation.file);
    asksLeftOut = asksOverridden = false;
    asked.clear();
    touched.clear();
    std::optional<Verdict> verdict = decideExpect(expectation.tree);
    ofOverridden += asksOverridden;
    if (asksLeftOut || asksOverridden)
      continue;
    if (!verdict) {
      verdicts.push_back(verdictOn(expectation.tree));
      verdicts.back().value.text = "unknown";
      continue;
    }
    decideAtEnds(expectation.tree, *verdict);
    if (!verdict->holds)
      fail(expectation.tree,
           "expected " + sourceText(expectation.tree->expr(0)) +
               (expectation.tree->expr().size() > 1
                    ? " within " + sourceText(expectation.tree->expr(1))
                    : "") +
               ", it is " + verdict->value.text);
    verdicts.push_back(std::move(*verdict));
  }
  results = nullptr;
  if (ofOverridden) {
    auto first = llvm::find_if(
        overrides, [](const Override &each) { return !each.isList(); });
    netc::warn(netc::locationOf(first->tree), "", "expects-left-out")
        << "left out: " << ofOverridden << " of " << expectations.size()
        << " expects, which are about the file as written";
  }
  return verdicts;
}
