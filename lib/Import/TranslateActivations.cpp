// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Activations of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

#include <cmath>

using namespace netc;
using namespace netc::import;

void Translator::softmax() {
  int x = in(0);
  unsigned at = axis(integer("dim", -1), shape(x).size());
  Step &made = step(Step::Pipe, foreign->op.str(), {x});
  putOver(made, x, at);
}

void Translator::gelu() {
  const Json *approximate = setting("approximate");
  step(Step::Pipe, approximate && *approximate == "tanh" ? "gelu_tanh" : "gelu",
       {in(0)});
}

/// What a step multiplies its only operand by; 0 if it does something else.
static double factorOf(const Step *made) {
  if (!made || made->ins.size() != 1 || made->arguments.size() != 1)
    return 0;
  double number = std::strtod(made->arguments[0].text.c_str(), nullptr);
  return made->fn == "%0 * #0"   ? number
         : made->fn == "%0 / #0" ? 1 / number
                                 : 0;
}

void Translator::errorFunction() {
  const Step *scaled = maker(in(0));
  if (std::abs(factorOf(scaled) - std::sqrt(0.5)) > 1e-3)
    refuse("it is in no GELU");
  gelus[out()] = {scaled->ins[0]};
}

bool Translator::isPartOfGelu() {
  unsigned at = 0;
  while (at < node->ins.size() && !gelus.count(in(at)))
    ++at;
  if (at == node->ins.size())
    return false;
  Gelu seen = gelus.at(in(at));
  bool isSum = foreign->op == "add", isProduct = foreign->op == "mul";
  int other = node->ins.size() == 2 ? in(1 - at) : -1;
  double factor = other < 0        ? realNumber("other", 0)
                  : isKnown(other) ? number(other)
                                   : 0;
  const Step *made = other < 0 ? nullptr : maker(other);
  bool isHalf = factorOf(made) == 0.5 && made->ins[0] == seen.x;
  if (isSum && factor == 1 && !seen.hasOne)
    seen.hasOne = true;
  else if (seen.hasOne && !seen.hasHalf &&
           (isProduct ? factor == 0.5 : foreign->op == "div" && factor == 2))
    seen.hasHalf = true;
  else if (seen.hasOne && isProduct && !seen.hasX && other == seen.x)
    seen.hasX = true;
  else if (seen.hasOne && isProduct && !seen.hasX && !seen.hasHalf && isHalf)
    seen.hasX = seen.hasHalf = true;
  else
    refuse("it computes with an `erf` that is in no GELU");
  if (seen.hasHalf && seen.hasX) {
    step(Step::Pipe, "gelu", {seen.x}).op = "gelu";
    return true;
  }
  gelus[out()] = seen;
  return true;
}

void Translator::celu() {
  double alpha = realNumber("alpha", 1);
  if (alpha == 1) {
    step(Step::Pipe, "elu", {in(0)});
    return;
  }
  Step &made = step(Step::Form_, "#0 * elu(%0 * #1)", {in(0)});
  put(made, "", "alpha", realText(alpha));
  put(made, "", "factor", realText(1 / alpha));
}

void Translator::shrink() {
  double lambda = realNumber("lambd", 0.5);
  if (realNumber("bias", 0) != lambda)
    refuse("it moves what is left by another number than `lambd`");
  Step &made = step(Step::Pipe, "softshrink", {in(0)});
  put(made, "lambda", "lambda", realText(lambda));
}

void Translator::leakyBySlopes() {
  int x = in(0), slopes = in(1);
  const Sizes &sizes = shape(slopes);
  size_t rank = shape(x).size();
  std::vector<size_t> all; // axes of x that have slopes of their own
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!(sizes[i] == 1))
      all.push_back(rank - sizes.size() + i);
  if (all.size() > 1 || sizes.size() > rank)
    refuse("its slopes are of several axes");
  bool isOfChannels = node->op == "aten.prelu"; // ONNX lays them on the last
  std::string form = "%1";
  if (sizes.size() != all.size())
    form = all.empty() ? "reshape(%1, [])" : "reshape(%1, #0)";
  std::string over =
      all.empty()
          ? "[]"
          : "axes(%0)[" + std::to_string(isOfChannels ? 1 : all[0]) + "]";
  Step &made = step(Step::Form_,
                    "maximum(%0, 0) + expand(" + form + ", %0, over = " + over +
                        ") * minimum(%0, 0)",
                    {x, slopes});
  if (sizes.size() > 1 && !all.empty())
    put(made, "", "slopes", shape(slopes)[all[0] + sizes.size() - rank].str());
}

void Translator::leakyByRandom() {
  if (flag("training"))
    refuse("its slopes are random");
  Step &made = step(Step::Pipe, "leaky_relu", {in(0)});
  put(made, "", "slope",
      realText((realNumber("lower", 1. / 8) + realNumber("upper", 1. / 3)) /
               2));
}

void Translator::clamp() {
  int x = in(0);
  bool isTanh = node->op == "aten.hardtanh";
  const char *low = isTanh ? "min_val" : "min",
             *high = isTanh ? "max_val" : "max";
  bool hasLow = setting(low), hasHigh = setting(high);
  if (hasLow && hasHigh && realNumber(low, 0) == 0 &&
      realNumber(high, 0) == 6) {
    step(Step::Pipe, "relu6", {x});
    return;
  }
  if (hasLow && hasHigh) {
    Step &made = step(Step::Pipe, "clamp", {x});
    put(made, "", "least", realText(realNumber(low, 0)));
    put(made, "", "most", realText(realNumber(high, 0)));
    return;
  }
  if (has(1) != has(2) && !hasLow && !hasHigh) {
    foreign = findForeign(has(1) ? "aten.maximum" : "aten.minimum");
    return combine("", x, in(has(1) ? 1 : 2));
  }
  if (!hasLow && !hasHigh)
    refuse("its bounds are no numbers");
  Step &made =
      step(Step::Form_, hasLow ? "maximum(%0, #0)" : "minimum(%0, #0)", {x});
  put(made, "", "bound", realText(realNumber(hasLow ? low : high, 0)));
}
