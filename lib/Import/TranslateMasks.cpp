// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Masks of scores.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void MaskTranslator::set(int value, const JointMask &mask) {
  masks[value] = mask;
  steps.setPart(value, "it computes with a mask that is of no attention");
}

const JointMask *MaskTranslator::find(int value) const {
  auto found = masks.find(value);
  return found == masks.end() ? nullptr : &found->second;
}

/// Whether a step makes conditions of numbers.
static bool compares(const Step &step) {
  if (step.form == Step::Infix)
    return step.fn.find_first_of("=<>") != std::string::npos;
  return step.form == Step::Form_ &&
         llvm::any_of(
             llvm::ArrayRef{" == ", " != ", " < ", " > ", " <= ", " >= "},
             [&](const char *relation) {
               return StringRef(step.fn).contains(relation);
             });
}

bool MaskTranslator::isOfInput(int x) {
  const Step *made = steps.maker(x);
  while (made && !made->ins.empty() && values.at(made->ins[0]).type == "bool" &&
         !compares(*made)) {
    x = made->ins[0];
    made = steps.maker(x);
  }
  return values.at(x).type == "bool" && values.at(x).kind == GraphValue::Input;
}

int MaskTranslator::truth(int x) {
  return isOfInput(x) ? steps.make("%0 != 0", {x}, shape(x)) : x;
}

void MaskTranslator::hide(int x, int mask, double hidden) {
  Sizes wanted = shape(node.out());
  node.wantRank(x, wanted.size(), wanted.size());
  for (size_t i = 0; i + 2 < wanted.size(); ++i)
    wanted[i] = shape(x)[i];
  if (!(wanted == shape(x)))
    node.refuse("its operand is not of the size of the mask");
  // What is the same of all examples or heads stays one, as the mask is.
  values.at(node.out()).shape = wanted;
  Step &made = steps.add(Step::Pipe, "mask", {x});
  made.put("causal", "causal", "true", "", false);
  if (hidden > -1e30)
    made.putReal("value", hidden, -INFINITY);
  if (StringRef(values.what(mask)).ends_with("band"))
    made.put("window", "window", widthText(mask));
}

std::string MaskTranslator::widthText(int mask) const {
  return std::to_string(values.at(mask).known->value("width", int64_t()));
}

JointMask MaskTranslator::maskOf(int mask) const {
  if (mask < 0)
    return {};
  if (const JointMask *found = find(mask))
    return *found;
  std::string what = values.what(mask);
  StringRef kind = what;
  bool isHidden = kind.consume_front("not ");
  if (kind == "number")
    return {};
  if (kind == "causal" || kind == "band")
    return {-1, true, kind == "band" ? widthText(mask) : "", isHidden};
  return {mask};
}

JointMask MaskTranslator::hiddenBy(int table) const {
  if (!values.isKnown(table) || !values.at(table).known->contains("hides"))
    return {};
  const Json &hidden = (*values.at(table).known)["hides"];
  JointMask mask;
  mask.isCausal = true;
  if (hidden.contains("width"))
    mask.window = std::to_string(hidden["width"].get<int64_t>());
  return mask;
}

bool MaskTranslator::view(int mask) {
  const JointMask *found = find(mask);
  if (!found)
    return false;
  JointMask moved = *found;
  const Sizes from = shape(mask), to = shape(node.out());
  auto matrix = [](const Sizes &sizes) {
    return llvm::ArrayRef<Polynomial>(sizes).take_back(2);
  };
  if (from.size() < 2 || to.size() < 2 || matrix(from) != matrix(to))
    node.refuse("it moves the axes of a mask of attention");
  if (moved.given >= 0) {
    // The given one may be of size 1 along some axes, or have fewer.
    Sizes given = shape(moved.given), sizes;
    given.insert(given.begin(), from.size() - given.size(), Polynomial(1));
    size_t next = 0, last = from.size() - 2;
    for (const Polynomial &size : llvm::ArrayRef<Polynomial>(to).drop_back(2)) {
      while (next < last && from[next] != size && from[next] == 1)
        ++next;
      bool isSame = next < last && from[next] == size;
      if (!isSame && size != 1)
        node.refuse("it moves the axes of a mask of attention");
      sizes.push_back(isSame ? given[next++] : Polynomial(1));
    }
    llvm::append_range(sizes, matrix(given));
    moved.given = steps.make("reshape(%0, #0)", {truth(moved.given)}, sizes);
    values.at(moved.given).type = "bool";
    steps.last().putSizes(sizes);
  }
  set(node.out(), moved);
  return true;
}

int MaskTranslator::hideBoth(int scores, const JointMask &mask, double hidden) {
  if (mask.given >= 0) {
    int given = truth(mask.given);
    int shown = steps.make("", {scores, given}, shape(scores));
    values.labels(shown) = values.labels(scores);
    Step &made = steps.last();
    std::string condition = steps.expanded(given, 1, "%0", &made, scores);
    std::string number = std::to_string(made.arguments.size());
    made.fn = "where(" + condition + ", %0, #" + number + ")";
    made.put("", "hidden", realText(hidden));
    scores = shown;
  }
  if (mask.isCausal) {
    int shown = values.another(scores);
    Step &made = steps.add(Step::Pipe, "mask", {scores});
    made.outs = {shown};
    made.put("causal", "causal", "true", "", false);
    if (hidden > -1e30)
      made.putReal("value", hidden, -INFINITY);
    if (!mask.window.empty())
      made.put("window", "window", mask.window);
    scores = shown;
  }
  return scores;
}
