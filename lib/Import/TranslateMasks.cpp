// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Masks of scores.

#include "lib/Import/OpTranslators.h"

#include <cmath>

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

bool MaskTranslator::isOfInput(int x) {
  const Step *made = steps.maker(x);
  while (made && !made->ins.empty() && values.at(made->ins[0]).type == "bool" &&
         !StringRef(made->fn).contains("= 0")) {
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
  std::string kind = values.what(mask);
  if (kind == "number")
    return {};
  if (kind == "causal" || kind == "band")
    return {-1, true, kind == "band" ? widthText(mask) : ""};
  return {mask};
}

int MaskTranslator::hideBoth(int scores, const JointMask &mask) {
  if (mask.given >= 0) {
    int given = truth(mask.given);
    int shown = steps.make("", {scores, given}, shape(scores));
    values.labels(shown) = values.labels(scores);
    Step &made = steps.last();
    std::string condition = steps.expanded(given, 1, "%0", &made, scores);
    std::string number = std::to_string(made.arguments.size());
    made.fn = "where(" + condition + ", %0, #" + number + ")";
    made.put("", "hidden", "-inf");
    scores = shown;
  }
  if (mask.isCausal) {
    int shown = values.another(scores);
    Step &made = steps.add(Step::Pipe, "mask", {scores});
    made.outs = {shown};
    made.put("causal", "causal", "true", "", false);
    if (!mask.window.empty())
      made.put("window", "window", mask.window);
    scores = shown;
  }
  return scores;
}
