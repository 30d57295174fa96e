// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of other frameworks, and attention with its masks, in the words of
// netc.

#include "lib/Import/Translator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void Translator::where() {
  int condition = in(0);
  auto joint = jointMasks.find(condition);
  if (!isKnown(condition) && joint == jointMasks.end())
    return choose(condition);
  std::string kind = what(condition);
  // One that says what is hidden has the number first.
  bool isHidden = StringRef(kind).consume_front("not ");
  int parts[2] = {-1, -1}; // -1 of a number that is a setting
  unsigned next = 1;
  for (unsigned i : {0, 1})
    if (!setting(i ? "other" : "self"))
      parts[i] = in(next++);
  auto isNumber = [&](unsigned i) {
    return parts[i] < 0 || what(parts[i]) == "number";
  };
  auto numberOfPart = [&](unsigned i) {
    return parts[i] < 0 ? realNumber(i ? "other" : "self", 0)
                        : number(parts[i]);
  };
  if (joint != jointMasks.end() && isNumber(1) && numberOfPart(1) < -1e30) {
    if (isNumber(0) && numberOfPart(0) == 0)
      jointMasks[out()] = joint->second; // as what is added to scores
    else if (parts[0] < 0)
      refuse("it hides nothing");
    else
      same(hideBoth(repeated(parts[0]), joint->second));
    return;
  }
  unsigned at = isHidden ? 0 : 1;
  if (isHidden && isNumber(1) && !isNumber(0) && numberOfPart(1) == 0) {
    // What is hidden stays.
    step(Step::Form_, "%0 - mask(%0, causal = true, value = 0)", {parts[0]});
    return;
  }
  if (!isNumber(at) || isNumber(1 - at))
    refuse("it hides nothing");
  bool isAll =
      kind == "number" && value(condition).known->value("value", false);
  if (!isAll && !isHidden && kind != "causal" && kind != "band")
    refuse("its condition is of no form that netc knows");
  hide(parts[1 - at], condition, numberOfPart(at));
}

void Translator::choose(int condition) {
  std::vector<int> ins = {truth(condition)};
  std::vector<std::string> parts = {"%0"};
  Step numbers;
  unsigned next = 1;
  for (const char *name : {"self", "other"}) {
    int given = setting(name) ? -1 : in(next++);
    if (given < 0 || what(given) == "number") {
      parts.push_back("#" + std::to_string(numbers.arguments.size()));
      put(numbers, "", "value",
          realText(given < 0 ? realNumber(name, 0) : number(given)));
      continue;
    }
    parts.push_back("%" + std::to_string(ins.size()));
    ins.push_back(unlabelled(given, ins[0]));
  }
  // What is smaller is repeated to what has the size of the result.
  auto full =
      llvm::find_if(ins, [&](int each) { return shape(each) == shape(out()); });
  if (full == ins.end())
    refuse("its operands are of different sizes");
  std::string like = "%" + std::to_string(full - ins.begin());
  Step &made = step(Step::Form_, "", ins);
  made.arguments = numbers.arguments;
  for (std::string &part : parts)
    if (unsigned at = part[1] - '0'; part[0] == '%')
      part = expanded(ins[at], at, like, &made);
  made.fn = "where(" + llvm::join(parts, ", ") + ")";
}

void Translator::comparison() {
  static const std::map<StringRef, StringRef> relations = {
      {"eq", "=="},    {"ge", ">="},         {"gt", ">"},
      {"le", "<="},    {"lt", "<"},          {"ne", "!="},
      {"Equal", "=="}, {"Greater", ">"},     {"GreaterOrEqual", ">="},
      {"Less", "<"},   {"LessOrEqual", "<="}};
  auto relation = relations.find(StringRef(node->op).rsplit('.').second);
  if (relation == relations.end())
    return invert();
  int x = in(0);
  std::string between = " " + relation->second.str() + " ";
  if (node->ins.size() == 1 || what(in(1)) == "number") {
    Step &made = step(Step::Form_, "%0" + between + "#0", {x});
    put(made, "", "bound",
        realText(node->ins.size() == 1 ? realNumber("other", 0)
                                       : number(in(1))));
    return;
  }
  if (shape(x) == shape(in(1)))
    step(Step::Form_, "%0" + between + "%1", {x, unlabelled(in(1), x)});
  else
    combine(relation->second.str(), x, in(1));
}

void Translator::fillMasked() {
  int x = in(0), hidden = in(1);
  if (StringRef(what(hidden)).starts_with("not "))
    return hide(x, hidden, realNumber("value", 0));
  if (isKnown(hidden))
    refuse("its mask is of no form that netc knows");
  if (isKnown(x) && what(x) == "number") {
    Step &made = step(Step::Form_, "where(%0, #0, #1)", {truth(hidden)});
    put(made, "", "value", realText(realNumber("value", 0)));
    put(made, "", "other", realText(number(x)));
    return;
  }
  Step &made = step(Step::Form_, "", {x, unlabelled(truth(hidden), x)});
  put(made, "", "value", realText(realNumber("value", 0)));
  made.fn =
      "where(" +
      (shape(hidden) == shape(x) ? "%1" : expanded(hidden, 1, "%0", &made)) +
      ", #0, %0)";
}

bool Translator::isOfInput(int x) {
  const Step *made = maker(x);
  while (made && !made->ins.empty() && value(made->ins[0]).type == "bool" &&
         !StringRef(made->fn).contains("= 0")) {
    x = made->ins[0];
    made = maker(x);
  }
  return value(x).type == "bool" && value(x).kind == GraphValue::Input;
}

int Translator::truth(int x) {
  return isOfInput(x) ? make("%0 != 0", {x}, shape(x)) : x;
}

void Translator::hide(int x, int mask, double hidden) {
  Sizes wanted = shape(out());
  wantRank(x, wanted.size(), wanted.size());
  for (size_t i = 0; i + 2 < wanted.size(); ++i)
    wanted[i] = shape(x)[i];
  if (!(wanted == shape(x)))
    refuse("its operand is not of the size of the mask");
  // What is the same of all examples or heads stays one, as the mask is.
  graph.values[out()].shape = wanted;
  if (what(mask) == "number")
    return same(x);
  Step &made = step(Step::Pipe, "mask", {x});
  put(made, "causal", "causal", "true", "", false);
  if (hidden > -1e30)
    putReal(made, "value", hidden, -INFINITY);
  if (StringRef(what(mask)).ends_with("band"))
    put(made, "window", "window", widthText(mask));
}

std::string Translator::widthText(int mask) const {
  return std::to_string(value(mask).known->value("width", 0));
}

void Translator::junction() {
  int a = in(0), b = in(1);
  if (isKnown(b))
    std::swap(a, b);
  bool isAnd = StringRef(node->op).ends_with_insensitive("and") ||
               StringRef(node->op).contains("__and__");
  if (value(b).type != "bool")
    refuse("netc takes it of conditions");
  if (isKnown(a)) {
    bool isNeutral =
        what(a) == "number" && value(a).known->value("value", false) == isAnd;
    if (isNeutral && shape(b) == shape(out()))
      return same(b);
    JointMask joint = jointMask(a);
    if (!isAnd || joint.given >= 0 || (!isNeutral && !joint.isCausal))
      refuse("one of its conditions is of no form that netc knows");
    joint.given = b;
    jointMasks[out()] = joint;
    return;
  }
  a = truth(a), b = truth(b);
  if (!(shape(a) == shape(out())))
    std::swap(a, b);
  if (!(shape(a) == shape(out())))
    refuse("its operands are of different sizes");
  Step &made = step(Step::Form_, "", {a, b});
  std::string other = expanded(b, 1, "%0", &made);
  made.fn = "where(%0, " + (isAnd ? other + ", %0)" : "%0, " + other + ")");
}

void Translator::invert() {
  static const std::pair<StringRef, StringRef> opposites[] = {
      {" != ", " == "}, {" == ", " != "}, {" >= ", " < "},
      {" <= ", " > "},  {" > ", " <= "},  {" < ", " >= "}};
  if (isOfInput(in(0))) {
    step(Step::Form_, "%0 == 0", {in(0)});
    return;
  }
  const Step *made = maker(in(0));
  StringRef form = made ? StringRef(made->fn) : "";
  auto found = llvm::find_if(opposites, [&](auto &pair) {
    return made && made->form == Step::Form_ && form.contains(pair.first);
  });
  if (found == std::end(opposites))
    refuse("it is of no comparison");
  auto [left, right] = form.split(found->first);
  std::vector<StepArgument> arguments = made->arguments;
  std::string turned = (left + found->second + right).str();
  step(Step::Form_, turned, made->ins).arguments = std::move(arguments);
}

void Translator::product() {
  if (node->op == "aten.scaled_dot_product_attention")
    return attention();
  if (setting("equation")) {
    std::string equation = equationText(), spaced;
    for (char c : equation)
      if (!llvm::isAlpha(c) && !StringRef(" ,->").contains(c))
        refuse("its equation is no list of letters");
      else if (c == ',')
        spaced += ", ";
      else if (c == '-')
        spaced += "-";
      else if (c == '>')
        spaced += "> ";
      else if (c != ' ')
        spaced += std::string(1, c) + " ";
    std::vector<int> ins;
    std::string form = "einsum(\"" + StringRef(spaced).trim().str() + "\"";
    for (size_t i = 0; i < node->ins.size(); ++i) {
      ins.push_back(in(i));
      form += ", %" + std::to_string(i);
    }
    step(Step::Form_, form + ")", ins);
    // An axis keeps the label of the first that it is, as the op does.
    auto [left, right] = StringRef(equation).split("->");
    std::vector<std::string> &made = labels(out());
    made.assign(shape(out()).size(), "");
    for (size_t i = 0; i < std::min(made.size(), right.size()); ++i) {
      StringRef rest = left;
      for (int each : ins) {
        auto [letters, others] = rest.split(',');
        rest = others;
        size_t at = letters.find(right[i]);
        if (made[i].empty() && at < labels(each).size())
          made[i] = labels(each)[at];
      }
    }
    return;
  }
  int a = in(0), b = in(1);
  size_t rank = shape(a).size();
  wantRank(a, 1);
  wantRank(b, 1);
  bool isPlain =
      rank >= 2 &&
      (shape(b).size() == 2 ||
       (shape(b).size() == rank &&
        std::equal(shape(a).begin(), shape(a).end() - 2, shape(b).begin())));
  if (!isPlain)
    return broadcastProduct(a, b);
  step(Step::Infix, "@", {a, b});
  labels(out()).assign(shape(out()).size(), "");
  labels(out()).back() = labels(b).back(); // keys' positions, for a softmax
}

std::string Translator::equationText() {
  std::string equation = node->with->value("equation", std::string());
  llvm::erase(equation, ' ');
  if (!StringRef(equation).contains("..."))
    return equation;
  auto [left, right] = StringRef(equation).split("->");
  llvm::SmallVector<StringRef> terms;
  left.split(terms, ',');
  std::string letters;
  for (char c = 'a'; c <= 'z'; ++c)
    if (!StringRef(equation).contains(c))
      letters += c;
  std::vector<size_t> counts; // of axes that the dots stand for
  for (size_t i = 0; i < terms.size(); ++i) {
    size_t rank = shape(in(unsigned(i))).size(), named = terms[i].size() - 3;
    bool hasDots = terms[i].contains("...");
    if (hasDots && (rank < named || rank > named + letters.size()))
      refuse("its equation does not go with its operands");
    counts.push_back(hasDots ? rank - named : 0);
  }
  // Where they stand for fewer axes, these are the last ones.
  letters.resize(*llvm::max_element(counts));
  auto spelled = [&](StringRef term, size_t count) {
    auto [before, after] = term.split("...");
    return (before + StringRef(letters).take_back(count) + after).str();
  };
  std::string made;
  for (size_t i = 0; i < terms.size(); ++i)
    made += (i ? "," : "") + spelled(terms[i], counts[i]);
  return made + "->" + spelled(right, letters.size());
}

void Translator::broadcastProduct(int a, int b) {
  bool isRow = shape(a).size() == 1, isColumn = shape(b).size() == 1;
  size_t lists = shape(out()).size() - (isRow ? 0 : 1) - (isColumn ? 0 : 1);
  std::string all;
  for (size_t i = 0; i < lists; ++i)
    all += std::string(1, char('a' + i)) + " ";
  std::vector<std::pair<Sizes, std::string>> operands; // sizes, and letters
  for (auto [x, own] : {std::make_pair(a, isRow ? "j" : "i j"),
                        std::make_pair(b, isColumn ? "j" : "j k")}) {
    size_t matrix = std::min<size_t>(2, shape(x).size());
    size_t before = lists - (shape(x).size() - matrix);
    Sizes kept;
    std::string letters;
    for (size_t i = before; i < lists; ++i)
      if (const Polynomial &size = shape(x)[i - before];
          size == shape(out())[i]) {
        kept.push_back(size);
        letters += all.substr(2 * i, 2);
      }
    kept.insert(kept.end(), shape(x).end() - matrix, shape(x).end());
    operands.push_back({kept, letters + own});
  }
  Step &made = step(Step::Form_, "", {a, b});
  std::string texts;
  for (size_t i = 0; i < 2; ++i) {
    std::string text = "%" + std::to_string(i);
    if (operands[i].first.size() != shape(made.ins[i]).size()) {
      text = "reshape(" + text + ", #" + std::to_string(made.arguments.size()) +
             ")";
      putSizes(made, operands[i].first);
    }
    texts += ", " + text;
  }
  made.fn = "einsum(\"" + operands[0].second + ", " + operands[1].second +
            " -> " + all +
            (isRow      ? ""
             : isColumn ? "i"
                        : "i ") +
            (isColumn ? "" : "k") + "\"" + texts + ")";
  labels(out()).assign(shape(out()).size(), "");
}

void Translator::addProduct() {
  int product = another(out());
  step(Step::Infix, "@", {in(1), in(2)}).outs = {product};
  labels(product).assign(shape(product).size(), "");
  int summand = in(0);
  if (double share = realNumber("beta", 1); share != 1) {
    summand = make("%0 * #0", {summand}, shape(summand));
    put(steps.back(), "", "scale", realText(share));
  }
  Step &made = step(Step::Form_, "", {product, summand});
  double scale = realNumber("alpha", 1);
  if (scale != 1)
    put(made, "", "scale", realText(scale));
  made.fn = std::string(scale == 1 ? "%0 + " : "%0 * #0 + ") +
            expanded(summand, 1, "%0", &made);
}

int Translator::ungrouped(int x) {
  const Step *last = maker(x);
  if (!last || last->form != Step::View || last->ins.empty())
    return x;
  const Step *middle = maker(last->ins[0]);
  if (!middle || middle->op != "broadcast" ||
      shape(middle->outs[0]).size() != 5)
    return x;
  return beforeReshape(middle->ins[0]);
}

int Translator::beforeReshape(int x) {
  Step *view = maker(x);
  if (!view || view->form != Step::View || !view->permutations.back().empty())
    return x;
  if (view->permutations.size() == 1)
    return view->ins[0];
  view->permutations.pop_back();
  view->shapes.pop_back();
  graph.values[x].shape = view->shapes.back();
  labels(x).assign(shape(x).size(), "");
  Step probe = *view;
  writeView(probe, graph);
  return x;
}

int Translator::beforeExpand(int x) {
  const Step *made = maker(x);
  return made && made->op == "broadcast" && made->ins.size() == 1 ? made->ins[0]
                                                                  : x;
}

Step *Translator::maker(int value) {
  for (Step &each : llvm::reverse(steps))
    if (llvm::is_contained(each.outs, value))
      return &each;
  return nullptr;
}

Translator::JointMask Translator::jointMask(int mask) const {
  if (mask < 0)
    return {};
  if (auto found = jointMasks.find(mask); found != jointMasks.end())
    return found->second;
  std::string kind = what(mask);
  if (kind == "number")
    return {};
  if (kind == "causal" || kind == "band")
    return {-1, true, kind == "band" ? widthText(mask) : ""};
  return {mask};
}

void Translator::attention() {
  ignore({"enable_gqa"}); // the shapes tell
  for (unsigned i : {0, 1, 2})
    wantRank(in(i), 3, 4);
  int mask = has(3) ? in(3) : -1;
  if (mask >= 0 && value(mask).type == "bool")
    mask = beforeExpand(mask);
  JointMask both = jointMask(mask);
  both.isCausal |= flag("is_causal");
  double width = double(shape(in(0)).back().toInt64().value_or(1));
  double scale = realNumber("scale", 1 / std::sqrt(width));
  bool isScaled = std::abs(scale * std::sqrt(width) - 1) > 1e-6;
  double drop = realNumber("dropout_p", 0);
  if (both.given >= 0 &&
      (value(both.given).type != "bool" || isKnown(both.given)))
    return biasedAttention(mask, scale, drop);
  if (both.given >= 0)
    return unnamedAttention({in(0), in(1), in(2)}, scale, drop, both);
  int q = in(0), k = ungrouped(in(1)), v = ungrouped(in(2));
  // `attention` takes axes by name.
  auto isNamed = [&](int x) {
    auto isAt = [&](const char *name, size_t place) {
      auto found = llvm::find(labels(x), name);
      return found == labels(x).end() ||
             size_t(found - labels(x).begin()) == place;
    };
    return isAt("N", 0) && isAt("T", 2);
  };
  bool isNamedAll = isNamed(q) && isNamed(k) && isNamed(v);
  if (shape(q).size() == 3 || (!isNamedAll && shape(q)[1] == shape(k)[1]))
    return unnamedAttention({q, k, v}, scale, drop, both);
  Step &made = step(Step::Form_, "attention(%0, %1, %2", {q, k, v});
  auto add = [&](std::string key, std::string text, bool isNumber) {
    made.fn += ", " + key + " = #" + std::to_string(made.arguments.size());
    put(made, "", key, text, "", isNumber);
  };
  if (both.isCausal)
    add("causal", "true", false);
  if (drop > 0)
    add("drop", realText(drop), true);
  if (isScaled)
    add("scale", realText(scale), true);
  if (!both.window.empty())
    add("window", both.window, true);
  made.fn += ")";
}

int Translator::repeated(int x) {
  if (shape(x) == shape(out()))
    return x;
  int made = make("", {x}, shape(out()));
  putSizes(steps.back(), shape(out()));
  steps.back().fn = expanded(x, 0, "zeros(#0)", &steps.back());
  return made;
}

int Translator::hideBoth(int scores, JointMask mask) {
  if (mask.given >= 0) {
    int given = truth(mask.given);
    int shown = make("", {scores, given}, shape(scores));
    Step &made = steps.back();
    std::string condition = expanded(given, 1, "%0", &made, scores);
    std::string number = std::to_string(made.arguments.size());
    made.fn = "where(" + condition + ", %0, #" + number + ")";
    put(made, "", "hidden", "-inf");
    scores = shown;
  }
  if (mask.isCausal) {
    int shown = another(scores);
    Step &made = step(Step::Pipe, "mask", {scores});
    made.outs = {shown};
    put(made, "causal", "causal", "true", "", false);
    if (!mask.window.empty())
      put(made, "window", "window", mask.window);
    scores = shown;
  }
  return scores;
}

void Translator::unnamedAttention(const std::vector<int> &ins, double scale,
                                  double drop, JointMask mask) {
  Sizes sizes = shape(ins[0]);
  sizes.back() = shape(ins[1])[sizes.size() - 2];
  int scores = make("(%0 @ transpose(%1)) * #0", {ins[0], ins[1]}, sizes);
  put(steps.back(), "", "scale", realText(scale));
  scores = hideBoth(scores, mask);
  std::string weights =
      mask.given < 0 ? "softmax(%0)" : "softmax(%0, over = axes(%0)[-1])";
  Step &made = step(Step::Form_, weights + " @ %1", {scores, ins[2]});
  if (drop > 0) {
    made.fn = "Dropout(" + weights + ", #0) @ %1";
    put(made, "", "drop", realText(drop));
  }
}

void Translator::biasedAttention(int mask, double scale, double drop) {
  Step &made =
      step(Step::Form_, "", {in(0), ungrouped(in(1)), ungrouped(in(2)), mask});
  put(made, "", "scale", realText(scale));
  const Sizes &m = shape(mask);
  wantRank(made.ins[0], 4, 4);
  wantRank(mask, 0, 4);
  Sizes scores = shape(made.ins[0]);
  scores[3] = shape(made.ins[1])[2];
  if (value(mask).type == "bool")
    refuse("its mask is of no form that netc knows");
  std::vector<std::string> over;
  Sizes kept;
  for (size_t i = 0; i < m.size(); ++i)
    if (!(m[i] == 1 && !(scores[i + 4 - m.size()] == 1))) {
      kept.push_back(m[i]);
      over.push_back("axes(s)[" + std::to_string(i + 4 - m.size()) + "]");
    }
  std::string name = "%3";
  if (kept.size() != m.size()) {
    name = "reshape(%3, #1)";
    putSizes(made, kept);
  }
  std::string bias = kept.size() == 4
                         ? name
                         : "expand(" + name + ", %0 @ transpose(%1), over = [" +
                               llvm::join(over, ", ") + "])";
  size_t at;
  while ((at = bias.find("axes(s)")) != std::string::npos)
    bias.replace(at, 7, "axes(%0 @ transpose(%1))");
  made.fn = "softmax((%0 @ transpose(%1)) * #0 + " + bias + ")";
  if (drop > 0) {
    made.fn = "Dropout(" + made.fn + ", #" +
              std::to_string(made.arguments.size()) + ")";
    put(made, "", "drop", realText(drop));
  }
  made.fn += " @ %2";
}
