// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Comparisons, and choices by what they say.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

/// The negation of a condition: where it equals what is never true.
static constexpr const char *kNot = "%0 == (%0 != %0)";

void ConditionTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.__and__", &ConditionTranslator::junction},
          {"aten.__or__", &ConditionTranslator::junction},
          {"aten.__xor__", &ConditionTranslator::exclusion},
          {"aten.bitwise_and", &ConditionTranslator::junction},
          {"aten.bitwise_not", &ConditionTranslator::invert},
          {"aten.bitwise_or", &ConditionTranslator::junction},
          {"aten.bitwise_xor", &ConditionTranslator::exclusion},
          {"aten.logical_and", &ConditionTranslator::junction},
          {"aten.logical_not", &ConditionTranslator::invert},
          {"aten.logical_or", &ConditionTranslator::junction},
          {"aten.logical_xor", &ConditionTranslator::exclusion},
          {"aten.masked_fill", &ConditionTranslator::fillMasked},
          {"compare", &ConditionTranslator::comparison},
          {"onnx.And", &ConditionTranslator::junction},
          {"onnx.Or", &ConditionTranslator::junction},
          {"onnx.Xor", &ConditionTranslator::exclusion},
          {"where", &ConditionTranslator::where},
      });
}

void ConditionTranslator::where() {
  int condition = node.in(0);
  const JointMask *joint = masks.find(condition);
  if ((!values.isKnown(condition) && !joint) || values.isDiagonal(condition))
    return choose(condition);
  std::string kind = values.what(condition);
  // One that says what is hidden has the number first.
  bool isHidden = StringRef(kind).consume_front("not ");
  int parts[2] = {-1, -1}; // -1 of a number that is a setting
  unsigned next = 1;
  for (unsigned i : {0, 1})
    if (!node.setting(i ? "other" : "self"))
      parts[i] = node.in(next++);
  auto isNumber = [&](unsigned i) {
    return parts[i] < 0 || values.what(parts[i]) == "number";
  };
  auto numberOfPart = [&](unsigned i) {
    return parts[i] < 0 ? node.real(i ? "other" : "self", 0)
                        : node.realOf(parts[i]);
  };
  if (joint) {
    unsigned at = joint->isHidden ? 0 : 1;
    if (!isNumber(at))
      node.refuse("it chooses by a mask of attention, and hides no scores");
    double hidden = numberOfPart(at);
    if (!isNumber(1 - at))
      steps.same(masks.hideBoth(steps.repeated(promoted(parts[1 - at])), *joint,
                                hidden));
    else if (numberOfPart(1 - at) != 0 || hidden >= -1e30)
      node.refuse("it hides nothing");
    else { // it is what is added to scores
      JointMask added = *joint;
      added.isHidden = false;
      masks.set(node.out(), added);
    }
    return;
  }
  unsigned at = isHidden ? 0 : 1;
  if (isHidden && isNumber(1) && !isNumber(0) && numberOfPart(1) == 0) {
    // What is hidden stays.
    steps.add(Step::Form_, "%0 - mask(%0, causal = true, value = 0)",
              {parts[0]});
    return;
  }
  if (kind == "number") {
    at = values.at(condition).known->value("value", false) ? 0 : 1;
    if (isNumber(at))
      node.refuse("it is one number everywhere");
    return steps.same(steps.repeated(promoted(parts[at])));
  }
  if ((!isNumber(at) || isNumber(1 - at)) && steps.stored.isListed(condition))
    return choose(condition);
  if (!isNumber(at) || isNumber(1 - at))
    node.refuse("it hides nothing");
  if (values.isOtherMask(condition)) {
    steps.noteLeftOutMask();
    return steps.same(steps.repeated(promoted(parts[1 - at])));
  }
  if (!isHidden && kind != "causal" && kind != "band")
    node.refuse("its condition is known, and neither causal nor a window nor a "
                "diagonal");
  masks.hide(parts[1 - at], condition, numberOfPart(at));
}

void ConditionTranslator::choose(int condition) {
  std::vector<int> ins = {masks.truth(condition)};
  std::vector<std::string> parts = {"%0"};
  Step numbers;
  unsigned next = 1;
  for (const char *name : {"self", "other"}) {
    int given = node.setting(name) ? -1 : node.in(next++);
    if (given < 0 || values.what(given) == "number") {
      parts.push_back("#" + std::to_string(numbers.arguments.size()));
      numbers.put("", "value",
                  given < 0 ? node.numberText(name, 0)
                            : node.numberTextOf(given));
      continue;
    }
    parts.push_back("%" + std::to_string(ins.size()));
    if (values.isFloat(node.out()))
      given = steps.floated(given);
    ins.push_back(steps.unlabelled(given, ins[0]));
  }
  // Of two numbers, it is of floating point.
  if (ins.size() == 1 && !values.isFloat(node.out()))
    values.at(node.out()).type = "f32";
  for (const StepArgument &number : numbers.arguments)
    steps.beside(ins.back(), number.text);
  // What is smaller is repeated to what has the size of the result.
  auto full = llvm::find_if(
      ins, [&](int each) { return shape(each) == shape(node.out()); });
  if (full == ins.end()) {
    --full;
    *full = steps.repeated(*full);
  }
  std::string like = "%" + std::to_string(full - ins.begin());
  Step &made = steps.add(Step::Form_, "", ins);
  made.arguments = numbers.arguments;
  for (std::string &part : parts)
    if (unsigned at = part[1] - '0'; part[0] == '%')
      part = steps.expanded(ins[at], at, like, &made);
  made.fn = "where(" + llvm::join(parts, ", ") + ")";
  for (int each : ins)
    values.meet(node.out(), each);
}

void ConditionTranslator::comparison() {
  static const std::map<StringRef, StringRef> relations = {
      {"eq", "=="},    {"ge", ">="},         {"gt", ">"},
      {"le", "<="},    {"lt", "<"},          {"ne", "!="},
      {"Equal", "=="}, {"Greater", ">"},     {"GreaterOrEqual", ">="},
      {"Less", "<"},   {"LessOrEqual", "<="}};
  auto relation = relations.find(StringRef(node->op).rsplit('.').second);
  if (relation == relations.end())
    return invert();
  int x = node.in(0);
  std::string between = " " + relation->second.str() + " ";
  if (node->ins.size() == 1 || values.what(node.in(1)) == "number") {
    // The number may be of a larger shape, of ones.
    bool isSetting = node->ins.size() == 1;
    double bound = isSetting ? node.real("other", 0) : node.realOf(node.in(1));
    if (values.at(x).type == "bool" && !values.isKnown(x))
      return compareTruth(x, relation->second, bound);
    if (bound != std::floor(bound))
      x = steps.floated(x);
    Step &made =
        steps.add(Step::Form_, "%0" + between + "#0", {steps.repeated(x)});
    made.put("", "bound",
             steps.beside(x, isSetting ? node.numberText("other", 0)
                                       : node.numberTextOf(node.in(1))));
    return;
  }
  int y = node.in(1);
  if (values.isFloat(x) || values.isFloat(y)) {
    y = steps.floated(y);
    x = steps.floated(x);
  }
  if (shape(x) == shape(y))
    steps.add(Step::Form_, "%0" + between + "%1", {x, steps.unlabelled(y, x)});
  else
    arithmetic.combine(relation->second.str(), x, y);
}

void ConditionTranslator::compareTruth(int x, StringRef relation,
                                       double bound) {
  auto holds = [&](double truth) {
    return llvm::StringSwitch<bool>(relation)
        .Case("==", truth == bound)
        .Case("!=", truth != bound)
        .Case(">=", truth >= bound)
        .Case(">", truth > bound)
        .Case("<=", truth <= bound)
        .Default(truth < bound);
  };
  if (holds(0) == holds(1))
    node.refuse("it says the same of true, 1, and of false, 0");
  if (holds(1))
    steps.same(x);
  else
    invert();
}

void ConditionTranslator::fillMasked() {
  int x = promoted(node.in(0)), hidden = node.in(1);
  double value = node.real("value", 0);
  if (const JointMask *joint = masks.find(hidden)) {
    if (!joint->isHidden)
      node.refuse("it hides what a mask of attention shows");
    return steps.same(masks.hideBoth(steps.repeated(x), *joint, value));
  }
  bool isDiagonal = values.isDiagonal(hidden);
  if (StringRef(values.what(hidden)).starts_with("not ") && !isDiagonal)
    return masks.hide(x, hidden, value);
  if (values.what(hidden) == "number" &&
      !values.at(hidden).known->value("value", true))
    return steps.same(steps.repeated(x)); // it hides nothing
  if (values.isOtherMask(hidden)) {
    steps.noteLeftOutMask();
    return steps.same(steps.repeated(x));
  }
  if (values.isKnown(hidden) && !isDiagonal)
    node.refuse("its mask is known, and neither causal nor a window");
  if (values.isKnown(x) && values.what(x) == "number") {
    Step &made =
        steps.add(Step::Form_, "where(%0, #0, #1)", {masks.truth(hidden)});
    made.put("", "value", node.numberText("value", 0));
    made.put("", "other", node.numberTextOf(x));
    return;
  }
  Step &made =
      steps.add(Step::Form_, "", {x, steps.unlabelled(masks.truth(hidden), x)});
  made.put("", "value", steps.beside(x, node.numberText("value", 0)));
  made.fn =
      "where(" +
      (shape(hidden) == shape(x) ? "%1"
                                 : steps.expanded(hidden, 1, "%0", &made)) +
      ", #0, %0)";
}

void ConditionTranslator::wantConditions(llvm::ArrayRef<int> xs) {
  for (int x : xs)
    if (values.at(x).type != "bool")
      node.refuse("netc takes it of conditions");
}

void ConditionTranslator::junction() {
  int a = node.in(0), b = node.in(1);
  bool isAnd = StringRef(node->op).ends_with_insensitive("and") ||
               StringRef(node->op).contains("__and__");
  wantConditions({a, b});
  if (values.isKnown(b) || masks.find(b))
    std::swap(a, b);
  if (!values.isKnown(a) && !masks.find(a))
    return join(masks.truth(a), masks.truth(b), isAnd);
  bool isNeutral = values.what(a) == "number" &&
                   values.at(a).known->value("value", false) == isAnd;
  if (isNeutral && shape(b) == shape(node.out()))
    return steps.same(b);
  JointMask joint = masks.maskOf(a);
  bool isOfAttention = joint.isCausal && joint.isHidden != isAnd;
  if (masks.find(b) || values.isKnown(b) || !(isNeutral || isOfAttention))
    node.refuse("one of its conditions is of no form that netc knows");
  // What one of two hides is what not both show.
  int shown = b;
  if (!isAnd)
    shown = steps.make(kNot, {masks.truth(b)}, shape(b));
  if (joint.given >= 0) {
    join(masks.truth(joint.given), masks.truth(shown), true);
    shown = steps.intermediate();
  }
  joint.given = shown;
  joint.isHidden = !isAnd;
  masks.set(node.out(), joint);
}

void ConditionTranslator::join(int a, int b, bool isAnd) {
  if (shape(a) != shape(node.out()))
    std::swap(a, b);
  a = steps.repeated(a);
  Step &made = steps.add(Step::Form_, "", {a, b});
  std::string other = steps.expanded(b, 1, "%0", &made);
  made.fn = "where(%0, " + (isAnd ? other + ", %0)" : "%0, " + other + ")");
}

void ConditionTranslator::exclusion() {
  int a = node.in(0), b = node.in(1);
  wantConditions({a, b});
  arithmetic.combine("!=", masks.truth(a), masks.truth(b));
}

void ConditionTranslator::invert() {
  static const std::pair<StringRef, StringRef> opposites[] = {
      {" != ", " == "}, {" == ", " != "}, {" >= ", " < "},
      {" <= ", " > "},  {" > ", " <= "},  {" < ", " >= "}};
  int x = node.in(0);
  wantConditions({x});
  if (const JointMask *joint = masks.find(x)) {
    JointMask turned = *joint;
    turned.isHidden = !turned.isHidden;
    return masks.set(node.out(), turned);
  }
  if (masks.isOfInput(x)) {
    steps.add(Step::Form_, "%0 == 0", {x});
    return;
  }
  const Step *made = steps.maker(x);
  StringRef form = made ? StringRef(made->fn) : "";
  auto found = llvm::find_if(opposites, [&](auto &pair) {
    return made && made->form == Step::Form_ && form.contains(pair.first);
  });
  if (found == std::end(opposites)) {
    steps.add(Step::Form_, kNot, {x});
    return;
  }
  auto [left, right] = form.split(found->first);
  std::vector<StepArgument> arguments = made->arguments;
  std::string turned = (left + found->second + right).str();
  steps.add(Step::Form_, turned, made->ins).arguments = std::move(arguments);
}
