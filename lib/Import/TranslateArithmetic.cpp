// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arithmetic of tensors of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

/// Whether it is a part of dropout that is written out.
bool Translator::masked() {
  for (unsigned i = 0; i < node->ins.size(); ++i) {
    auto found = noise.find(in(i));
    if (found == noise.end())
      continue;
    ignore({"other"}); // how much of the noise is not zero
    double kept = found->second;
    if (node->ins.size() == 1 && foreign->op == "div") {
      noise[out()] = kept;
      spread.insert(out());
      return true;
    }
    if (node->ins.size() != 2 || foreign->op != "mul")
      refuse("it computes with what is random");
    int x = in(1 - i);
    bool isSpread = spread.count(in(i));
    if (const Step *made = maker(x);
        !isSpread && made && made->op == "div" && made->ins.size() == 1 &&
        made->arguments[0].text == realText(kept)) {
      x = made->ins[0]; // divided before it is multiplied
      isSpread = true;
    }
    bool isEach = shape(in(i)) == shape(x);
    Step &made = step(Step::Pipe, isEach ? "Dropout" : "StochasticDepth", {x});
    put(made, "", "drop", realText(std::round((1 - kept) * 1e9) / 1e9));
    if (isSpread)
      return true;
    int whole = another(out());
    made.outs = {whole};
    put(step(Step::Form_, "%0 * #0", {whole}), "", "kept", realText(kept));
    return true;
  }
  return false;
}

void Translator::binary() {
  std::string sign = foreign->op == "add"   ? "+"
                     : foreign->op == "sub" ? "-"
                     : foreign->op == "mul" ? "*"
                     : foreign->op == "div" ? "/"
                                            : "";
  double scale = realNumber("alpha", 1);
  bool isTurned = node->op == "aten.rsub";
  if (masked() || isPartOfGelu())
    return;
  if (scale != 1)
    return scaled(in(isTurned), in(!isTurned), scale, sign);
  if (node->ins.size() == 1) {
    bool isSelf = setting("self"), isFirst = isSelf || isTurned;
    Step &made = step(Step::Form_, "", {in(0)});
    std::string number = realText(realNumber(isSelf ? "self" : "other", 0));
    made.fn = sign.empty() ? foreign->op.str() + "(%0, #0)"
              : isFirst    ? "#0 " + sign + " %0"
                           : "%0 " + sign + " #0";
    put(made, "", "factor", number);
    return;
  }
  int a = in(isTurned), b = in(!isTurned);
  for (auto [x, other] : {std::make_pair(b, a), std::make_pair(a, b)}) {
    auto row = rows.find(x);
    if (row == rows.end() || sign != "+" || shape(other) != shape(out()))
      continue;
    const auto &[table, place] = row->second;
    if (place.empty() && maker(table))
      continue;
    if (place.empty()) {
      materialized.insert(table); // it is the instance's
      Step &made = instance("Position", other, {table});
      put(made, "", "length", shape(table)[0].str());
      return;
    }
    Step &made =
        step(Step::Form_, "%0 + expand(%1[#0, ...], %0, over = axes(%0)[-1])",
             {other, table});
    put(made, "", "row", place);
    return;
  }
  // A number for all.
  for (auto [x, other, isFirst] :
       {std::make_tuple(b, a, false), std::make_tuple(a, b, true)})
    if (isKnown(x) && shape(other) == shape(out()) &&
        (what(x) == "number" || shape(x).empty())) {
      std::string text = realText(number(x)); // no count depends on it
      Step &made = step(Step::Form_,
                        sign.empty() ? foreign->op.str() + "(%0, #0)"
                        : isFirst    ? "#0 " + sign + " %0"
                                     : "%0 " + sign + " #0",
                        {other});
      put(made, "", "factor", text);
      return;
    }
  for (auto [x, mask] : {std::make_pair(a, b), std::make_pair(b, a)})
    if (sign == "+" && shape(x) == shape(out()) &&
        (what(mask) == "causal" || what(mask) == "band"))
      return hide(x, mask, -INFINITY);
  for (auto [x, mask] : {std::make_pair(a, b), std::make_pair(b, a)})
    if (auto joint = jointMasks.find(mask);
        sign == "+" && joint != jointMasks.end() && shape(x) == shape(out())) {
      return same(hideBoth(x, joint->second));
    }
  if (sign == "+" && (rotary(a, b) || rotary(b, a)))
    return;
  combine(sign, a, b);
}

void Translator::scaled(int a, int b, double factor, const std::string &sign) {
  int product = make("%0 * #0", {b}, shape(b));
  put(steps.back(), "", "scale", realText(factor));
  combine(sign, a, product);
}

void Translator::combine(const std::string &sign, int a, int b) {
  if (isFloat(out()) || isFloat(a) || isFloat(b)) {
    a = floated(a);
    b = floated(b);
  }
  bool wantsFirst = shape(a) == shape(out()),
       wantsSecond = shape(b) == shape(out());
  if (wantsFirst && wantsSecond) {
    b = unlabelled(b, a);
    a = unlabelled(a, b);
    Step &made = step(Step::Infix, sign, {a, b});
    if (sign.empty()) {
      made.form = Step::Form_;
      made.fn = foreign->op.str() + "(%0, %1)";
    }
    mergeLabels(a, b);
    return;
  }
  if (!wantsFirst && !wantsSecond) {
    Step &made = step(Step::Form_, "", {a, b});
    std::string zeros = "zeros(#0)";
    auto all = [&](int x, int at) { return expanded(x, at, zeros); };
    made.fn = all(a, 0) + " " + sign + " " + all(b, 1);
    putSizes(made, shape(out()));
    labels(out()).assign(shape(out()).size(), "");
    return;
  }
  int full = wantsFirst ? a : b, small = wantsFirst ? b : a;
  // In a Form_, operand 0 is that of the whole shape.
  Step &made = step(Step::Form_, "", {full, small});
  std::string other = expanded(small, 1, "%0", &made);
  std::string left = wantsFirst ? "%0" : other,
              right = wantsFirst ? other : "%0";
  made.fn = sign.empty() ? foreign->op.str() + "(" + left + ", " + right + ")"
                         : left + " " + sign + " " + right;
  labels(out()) = labels(full);
}

bool Translator::rotary(int a, int b) {
  const Step *cosines = maker(a), *sines = maker(b);
  auto isScaled = [&](const Step *step) {
    return step && step->op == "mul" && step->ins.size() == 2 &&
           isKnown(step->ins[1]) && shape(step->ins[1]).size() > 1;
  };
  if (!isScaled(cosines) || !isScaled(sines) || shape(a).size() != 4)
    return false;
  int x = cosines->ins[0];
  const Step *turned = maker(sines->ins[0]);
  if (!turned || turned->op != "concat" || turned->ins.size() != 2)
    return false;
  const Step *negated = maker(turned->ins[0]), *first = maker(turned->ins[1]);
  const Step *second =
      negated && negated->op == "neg" ? maker(negated->ins[0]) : nullptr;
  if (!first || !second || first->op != "slice" || second->op != "slice" ||
      first->ins[0] != x || second->ins[0] != x)
    return false;
  double theta = value(sines->ins[1]).known->value("theta", 10000.0);
  Step &made = step(Step::Pipe, "RoPE", {x});
  putReal(made, "theta", theta, 10000);
  return true;
}

void Translator::mergeLabels(int a, int b) {
  std::vector<std::string> &made = labels(out());
  made = labels(a);
  if (made.size() == labels(b).size())
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i].empty() && !llvm::is_contained(made, labels(b)[i]))
        made[i] = labels(b)[i];
}

int Translator::unlabelled(int x, int beside) {
  const Sizes sizes = shape(x);
  std::vector<std::string> own(sizes.size());
  bool isApart = false;
  if (sizes.size() != shape(beside).size())
    return x;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string &label = labels(x)[i], &other = labels(beside)[i];
    if (std::string text = sizes[i].str();
        !sizes[i].isConstant() && sizes[i] == Polynomial::symbol(text))
      own[i] = text;
    isApart |=
        !label.empty() && !other.empty() && label != other && label != own[i];
  }
  if (!isApart)
    return x;
  int made = make("reshape(%0, #0)", {x}, sizes);
  putSizes(steps.back(), sizes);
  labels(made) = own;
  return made;
}

std::string Translator::expanded(int x, int at, const std::string &like,
                                 Step *made, int target) {
  const Sizes &from = shape(x), &to = shape(target < 0 ? out() : target);
  wantRank(x, 0, to.size());
  std::string name = "%" + std::to_string(at);
  if (from == to)
    return name;
  std::vector<std::string> over;
  std::vector<size_t> places;
  Sizes kept;
  bool isCut = false;
  for (size_t i = 0; i < from.size(); ++i) {
    size_t place = i + to.size() - from.size();
    if (from[i] == 1 && !(to[place] == 1)) {
      isCut = true;
      continue;
    }
    kept.push_back(from[i]);
    places.push_back(place);
    over.push_back("axes(" + like + ")[" + std::to_string(place) + "]");
  }
  if (isCut && from.size() > 2 && places == std::vector<size_t>{0, 1}) {
    name = "flatten(" + name + ")";
    return "expand(" + name + ", " + like + ", over = axes(" + like +
           ")[0..2])";
  }
  if (isCut) {
    std::string sizes = sizesText(kept);
    if (made) {
      unsigned number = made->arguments.size();
      put(*made, "", "size", kept.empty() ? "[]" : sizes, "", false);
      made->arguments.back().hasSizes =
          llvm::any_of(kept, [](auto &s) { return !s.isConstant(); });
      made->arguments.back().isNumber =
          kept.size() == 1 && kept[0].isConstant();
      sizes = "#" + std::to_string(number);
    }
    name = "reshape(" + name + ", " + sizes + ")";
  }
  if (from.empty() || kept.empty())
    return "expand(" + name + ", " + like + ", over = [])";
  return "expand(" + name + ", " + like + ", over = [" +
         llvm::join(over, ", ") + "])";
}

void Translator::expandTo(int x) {
  if (shape(x) == shape(out()))
    return same(x);
  if (auto joint = jointMasks.find(x); joint != jointMasks.end()) {
    jointMasks[out()] = joint->second;
    return;
  }
  Step &made = step(Step::Form_, "", {x});
  putSizes(made, shape(out()));
  made.fn = expanded(x, 0, "zeros(#0)", &made);
  labels(out()).assign(shape(out()).size(), "");
}
