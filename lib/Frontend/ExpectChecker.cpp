// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/ExpectChecker.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

/// The dimension of an answer's unit, which is a product of units, perhaps
/// divided by another product.
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

bool ExpectChecker::isResult(StringRef name) const {
  return e.program.operationNamed(name) || e.program.leftOut.contains(name);
}

Value ExpectChecker::answer(Tree *at, const Subject &subject) {
  if (e.program.leftOut.contains(subject.symbol)) {
    asked.ofLeftOut = true;
    return {};
  }
  if (e.commandLine.isOverridden(subject.symbol)) {
    asked.ofOverridden = true;
    return {};
  }
  Question question;
  question.subject = e.program.operationNamed(subject.symbol);
  question.members = subject.members;
  question.parts = subject.parts;
  question.numbers = subject.numbers;
  asked.runs.insert(subject.symbol);
  if (e.ranges.areAtEnds())
    for (auto [i, range] : llvm::enumerate(e.ranges.ofRun(subject.symbol)))
      question.corner = question.corner.value_or(0) |
                        size_t(e.ranges.endOf(range).value_or(false)) << i;
  if (!question.subject)
    return e.fail(at, error::NoResult, subject.symbol);
  if (!subject.members.empty() && subject.members.front() == "trace") {
    std::vector<std::string> traces = results.tracesOf(question.subject);
    // Without a trace only the names in a query are checked.
    asked.ofLeftOut |= traces.empty();
    if (traces.empty() && results.haveTraces())
      asked.untraced = subject.symbol;
    question.trace = std::min(trace, traces.size() - 1);
    if (traces.size() > asked.traces.size())
      asked.traces = std::move(traces);
  }
  std::variant<Answer, Message> answer = results.ask(question);
  auto *message = std::get_if<Message>(&answer);
  if (asked.ofLeftOut && (!message || message->id == error::FigureNotTraced.id))
    return {};
  if (message) {
    asked.isWrong = true;
    return e.fail(at, *message);
  }
  const Answer &found = std::get<Answer>(answer);
  return Number(found.value, dimensionOf(found.unit));
}

/// A side of the report with the ends of a range.
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

/// The text of `value` with enough digits to show the difference to `expected`.
/// For `equal`, integers are not rounded.
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

Verdict ExpectChecker::verdictOn(const Expectation &expectation) {
  Verdict verdict;
  verdict.text = sourceText(expectation.tree);
  verdict.file = expectation.file->path;
  verdict.line = expectation.tree->getStart()->getLine();
  return verdict;
}

/// Whether it holds in any case: `true`, or the same on both sides.
static bool alwaysHolds(NetParser::ExprContext *tree) {
  if (auto *paren = ruleCast<NetParser::ParenContext>(tree))
    return alwaysHolds(paren->expr());
  if (auto *either = ruleCast<NetParser::OrContext>(tree))
    return alwaysHolds(either->left) || alwaysHolds(either->right);
  auto *comparison = ruleCast<NetParser::CmpContext>(tree);
  if (!comparison)
    return tree->getText() == "true";
  std::string op = comparison->op->getText();
  return (op == "==" || op == "~" || op == "<=" || op == ">=") &&
         sourceText(comparison->left) == sourceText(comparison->right);
}

/// Whether `figure op bound` holds for every figure, which is finite and not
/// below 0.
static bool alwaysHolds(StringRef op, const Value &figure, const Value &bound) {
  std::optional<Number> number = numberOf(bound);
  if (!figure.is<Subject>() || !number || !number->isConstant())
    return false;
  double value = number->toDouble();
  bool isNegative = value < 0, isInfinite = std::isinf(value) && value > 0;
  return (op == ">=" && value <= 0) || (op == ">" && isNegative) ||
         (op == "!=" && (isNegative || isInfinite)) ||
         ((op == "<" || op == "<=") && isInfinite);
}

/// `>` for `<`: the comparison with its sides exchanged.
static std::string exchanged(StringRef op) {
  std::string other = op.str();
  if (op[0] == '<' || op[0] == '>')
    other[0] = op[0] == '<' ? '>' : '<';
  return other;
}

static bool holdsForAnyFigure(StringRef op, const Value &a, const Value &b) {
  return alwaysHolds(op, a, b) || alwaysHolds(exchanged(op), b, a);
}

static constexpr llvm::StringLiteral
    compareFigure("compare a figure, as in `expect M.params == 9`"),
    figuresAreFinite("every figure is 0 or more, and finite; say what this one "
                     "is, as in `expect M.params ~ 25M`"),
    allIsWithinInf("all is `within inf`; write a share, as in `within 2%`");

/// What is claimed: the parts of a chain of `and`, which each have to hold.
static std::vector<NetParser::ExprContext *>
claimsOf(NetParser::ExprContext *tree) {
  std::vector<NetParser::ExprContext *> claims, work{tree};
  while (!work.empty()) {
    NetParser::ExprContext *claim = work.back();
    work.pop_back();
    auto *paren = ruleCast<NetParser::ParenContext>(claim);
    if (auto *both = ruleCast<NetParser::AndContext>(claim))
      work.insert(work.end(), {both->right, both->left});
    else if (paren && ruleCast<NetParser::AndContext>(paren->expr()))
      work.push_back(paren->expr());
    else
      claims.push_back(claim);
  }
  return claims;
}

ExpectChecker::Decision ExpectChecker::decide(const Expectation &expectation) {
  NetParser::ExpectContext *tree = expectation.tree;
  std::vector<Expr *> claims = claimsOf(tree->expr(0));
  auto placeOf = [&](Expr *claim) -> Tree * {
    return claims.size() == 1 ? static_cast<Tree *>(tree) : claim;
  };
  for (Expr *claim : claims)
    if (alwaysHolds(claim))
      return e.fail(placeOf(claim), error::ExpectHolds, compareFigure),
             Decision();
  auto *comparison = ruleCast<NetParser::CmpContext>(tree->expr(0));
  if (comparison && comparison->op->getText() == "~")
    return decideAbout(expectation, comparison);
  if (tree->expr().size() > 1)
    return e.fail(tree->expr(1), error::WithinWithoutAbout), Decision();

  Verdict verdict = verdictOn(expectation);
  if (!comparison) {
    std::optional<bool> holds = e.decide(tree->expr(0));
    if (!holds)
      return {};
    // If all of them hold, all can be evaluated.
    for (Expr *claim : claims)
      if (auto *each = ruleCast<NetParser::CmpContext>(claim);
          *holds && each &&
          holdsForAnyFigure(each->op->getText(), e.eval(each->left),
                            e.eval(each->right)))
        return e.fail(claim, error::ExpectHolds, figuresAreFinite), Decision();
    verdict.holds = *holds;
    verdict.value.text = *holds ? "true" : "false";
    verdict.expected.text = "true";
    return {verdict, {}};
  }
  std::string op = comparison->op->getText();
  Value a = e.eval(comparison->left), b = e.eval(comparison->right);
  if (holdsForAnyFigure(op, a, b))
    return e.fail(tree, error::ExpectHolds, figuresAreFinite), Decision();
  a = e.calls.resolve(comparison, a);
  b = e.calls.resolve(comparison, b);
  Value holds = e.operators.compare(comparison, op, a, b);
  if (!holds.is<bool>())
    return {};
  verdict.holds = *holds.as<bool>();
  verdict.value = sideOf(a, textBeside(a, b, op == "=="));
  verdict.expected = sideOf(b, op + " " + textOf(b));
  return {verdict, a};
}

/// The stated tolerance, or the precision of the written number.
std::optional<Number>
ExpectChecker::toleranceOf(NetParser::CmpContext *comparison, Expr *within,
                           const Number &expected) {
  if (!within) {
    auto *literal = ruleCast<NetParser::LitContext>(comparison->right);
    if (!literal)
      return e.fail(comparison, error::AboutNoLiteral), std::nullopt;
    std::optional<Literal> written = e.operators.literalOf(literal->quantity());
    return written ? std::optional<Number>(Number(written->halfUnit))
                   : std::nullopt;
  }
  Value allowed = e.calls.resolve(within, e.eval(within));
  std::optional<Number> number = numberOf(allowed);
  if (!number)
    return allowed.isUnknown()
               ? std::nullopt
               : (e.fail(within, error::WithinNoNumber), std::nullopt);
  if (!(number->toDouble() >= 0))
    return e.fail(within, error::WithinNegative, sourceText(within)),
           std::nullopt;
  if (std::isinf(number->toDouble()))
    return e.fail(within, error::ExpectHolds, allIsWithinInf), std::nullopt;
  if (StringRef(within->getText()).ends_with("%")) {
    std::optional<Rational> share = number->exact.constant(),
                            whole = expected.exact.constant();
    if (share && whole && !number->real && !expected.real)
      return Number(*share * whole->abs());
    return Number::inexact(std::abs(expected.toDouble()) * number->toDouble());
  }
  if (number->dimension != expected.dimension && !number->dimension.isCount())
    return e.fail(within, error::WithinUnit), std::nullopt;
  return number;
}

ExpectChecker::Decision
ExpectChecker::decideAbout(const Expectation &expectation,
                           NetParser::CmpContext *comparison) {
  NetParser::ExpectContext *tree = expectation.tree;
  Expr *within = tree->expr().size() > 1 ? tree->expr(1) : nullptr;
  Value a = e.eval(comparison->left);
  if (auto *call = ruleCast<NetParser::CallContext>(comparison->right);
      call && call->expr()->getText() == "between")
    return decideBetween(expectation, a, call);
  a = e.calls.resolve(comparison, a);
  Value b = e.calls.resolve(comparison, e.eval(comparison->right));
  if (a.isUnknown() || b.isUnknown())
    return {};
  std::optional<Number> value = numberOf(a), expected = numberOf(b);
  if (!value || !expected)
    return e.fail(comparison, error::AboutNoNumber, kindOf(a), kindOf(b)),
           Decision();
  bool counts = (expected->dimension.isNone() && value->dimension.isCount()) ||
                (value->dimension.isNone() && expected->dimension.isCount());
  if (value->dimension != expected->dimension && !counts) {
    std::string unit =
        value->dimension.isNone() ? "" : " " + value->dimension.str();
    std::string fix =
        expected->dimension.isNone() && !unit.empty()
            ? "; write `" + comparison->right->getText() + unit + "`"
            : "";
    return e.fail(comparison, error::ExpectInAnotherUnit,
                  comparison->left->getText(),
                  unit.empty() ? "no unit" : unit.substr(1),
                  expected->dimension.isNone() ? "no unit"
                                               : expected->dimension.str(),
                  fix),
           Decision{std::nullopt, a};
  }
  std::optional<Number> tolerance = toleranceOf(comparison, within, *expected);
  if (!tolerance)
    return {std::nullopt, a};

  Verdict verdict = verdictOn(expectation);
  // Exact numbers are compared exactly, and the ends are included.
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
      sideOf(b, "~ " + sourceText(comparison->right) +
                    (within ? " within " + sourceText(within) : ""));
  return {verdict, a};
}

ExpectChecker::Decision
ExpectChecker::decideBetween(const Expectation &expectation,
                             const Value &figure,
                             NetParser::CallContext *range) {
  NetParser::ExpectContext *tree = expectation.tree;
  if (tree->expr().size() > 1)
    return e.fail(tree->expr(1), error::WithinBesideBetween), Decision();
  std::vector<Argument> ends = e.calls.evalArguments(range->written, {});
  if (ends.size() != 2)
    return e.fail(range, error::AboutBetween), Decision();
  if (alwaysHolds(">=", figure, ends[0].value) &&
      alwaysHolds("<=", figure, ends[1].value))
    return e.fail(tree, error::ExpectHolds, figuresAreFinite), Decision();
  Value value = e.calls.resolve(range, figure);
  Verdict verdict = verdictOn(expectation);
  verdict.holds = true;
  std::vector<Number> bounds;
  for (auto [i, end] : llvm::enumerate(ends)) {
    Value bound = e.calls.resolve(range, end.value);
    Value holds =
        e.operators.compare(range, i == 0 ? ">=" : "<=", value, bound);
    if (!holds.is<bool>())
      return {std::nullopt, value};
    verdict.holds &= *holds.as<bool>();
    if (std::optional<Number> number = numberOf(bound))
      bounds.push_back(*number);
  }
  verdict.value = sideOf(value, textOf(value));
  verdict.expected = sideOfEnds(bounds, "~ " + sourceText(range));
  return {verdict, value};
}

void ExpectChecker::decideAtEnds(const Expectation &expectation,
                                 llvm::ArrayRef<Tree *> read,
                                 Verdict &verdict) {
  llvm::SetVector<Tree *> ranges(read.begin(), read.end());
  for (const std::string &run : asked.runs) {
    llvm::ArrayRef<Tree *> ofRun = e.ranges.ofRun(run);
    ranges.insert(ofRun.begin(), ofRun.end());
  }
  if (ranges.empty())
    return;
  std::optional<Number> least, most;
  bool fails = false;
  e.ranges.atEnds(ranges.getArrayRef(), [&] {
    Recomputation anew(*e.files.main, [](const TopLevel &entry) {
      return !entry.ranges.empty();
    });
    Decision there = decide(expectation);
    fails |= !there.verdict || !there.verdict->holds;
    std::optional<Number> number = numberOf(there.value);
    if (!number)
      return;
    if (!least || number->toDouble() < least->toDouble())
      least = number;
    if (!most || number->toDouble() > most->toDouble())
      most = number;
  });
  verdict.holds &= !fails;
  if (!least || !most)
    return;
  std::string low = textOf(*least), high = textOf(*most);
  verdict.value =
      sideOfEnds({*least, *most}, low == high ? low : low + " to " + high);
}

/// For `expect A.params == 9 +- 1`, which compares with 8.
static std::string toleranceHint(NetParser::ExprContext *tree) {
  auto *comparison = ruleCast<NetParser::CmpContext>(tree);
  auto *sum =
      comparison ? ruleCast<NetParser::AddContext>(comparison->right) : nullptr;
  auto *negated = sum ? ruleCast<NetParser::NegContext>(sum->right) : nullptr;
  if (!negated || sum->op->getText() != "+")
    return "";
  return "; a tolerance is written `~ " + sourceText(sum->left) + " within " +
         sourceText(negated->expr()) + "`";
}

std::optional<Verdict> ExpectChecker::check(const Expectation &expectation) {
  Evaluator::TopScope top(e, *expectation.file);
  top.frame.results = this;
  asked = {};
  Ranges::Reads reads(e.ranges);
  std::optional<Verdict> verdict = decide(expectation).verdict;
  if ((asked.ofLeftOut || asked.ofOverridden) && !asked.isWrong)
    return std::nullopt;
  bool isKnown = verdict.has_value();
  if (!isKnown) {
    verdict = verdictOn(expectation);
    verdict->value.text = "unknown";
  }
  if (asked.traces.size() > 1)
    verdict->trace = asked.traces[trace];
  if (!isKnown)
    return verdict;
  decideAtEnds(expectation, reads.all().vec(), *verdict);
  NetParser::ExpectContext *tree = expectation.tree;
  if (!verdict->holds)
    e.fail(tree, error::ExpectFailed, sourceText(tree->expr(0)),
           tree->expr().size() > 1 ? " within " + sourceText(tree->expr(1))
                                   : "",
           verdict->value.text +
               (verdict->trace.empty() ? "" : " in `" + verdict->trace + "`") +
               toleranceHint(tree->expr(0)));
  return verdict;
}

std::vector<Verdict> ExpectChecker::checkAll() {
  std::vector<Verdict> verdicts;
  size_t ofOverridden = 0;
  std::vector<Tree *> ofUntraced;
  std::set<std::string> untraced;
  for (const Expectation &expectation : e.program.expectations) {
    trace = 0;
    do
      if (std::optional<Verdict> verdict = check(expectation))
        verdicts.push_back(std::move(*verdict));
    while (++trace < asked.traces.size());
    ofOverridden += asked.ofOverridden;
    if (!asked.untraced.empty()) {
      ofUntraced.push_back(expectation.tree);
      untraced.insert("`" + asked.untraced + "`");
    }
  }
  if (!ofUntraced.empty())
    netc::warn(netc::locationOf(ofUntraced.front()), "",
               WarningId::ExpectsLeftOut)
        << "left out: " << ofUntraced.size() << " of "
        << e.program.expectations.size() << " expects, which are about a trace "
        << "of " << llvm::join(untraced, ", ") << "; `--trace` names none";
  if (ofOverridden) {
    auto first =
        llvm::find_if(e.commandLine.overrides,
                      [](const Override &each) { return !each.isList(); });
    netc::warn(netc::locationOf(first->tree), "", WarningId::ExpectsLeftOut)
        << "left out: " << ofOverridden << " of "
        << e.program.expectations.size()
        << " expects, which are about the file as written";
  }
  return verdicts;
}
