// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// GELU, and how it is written out.

#include "lib/Import/OpTranslators.h"

#include <cmath>

using namespace netc;
using namespace netc::import;

static constexpr char noGelu[] = "it computes with an `erf` that is in no GELU";

void GeluTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.erf", &GeluTranslator::errorFunction},
          {"gelu", &GeluTranslator::gelu},
          {"onnx.Erf", &GeluTranslator::errorFunction},
      });
}

/// What a step multiplies its only operand by; 0 if it does something else.
static double factorOf(const Step *made) {
  if (!made || made->ins.size() != 1 || made->arguments.size() != 1)
    return 0;
  double number = std::strtod(made->arguments[0].text.c_str(), nullptr);
  bool isProduct = made->fn == "%0 * #0" || made->fn == "#0 * %0";
  return isProduct ? number : made->fn == "%0 / #0" ? 1 / number : 0;
}

void GeluTranslator::gelu() {
  const Json *approximate = node.setting("approximate");
  steps.add(Step::Pipe,
            approximate && *approximate == "tanh" ? "gelu_tanh" : "gelu",
            {node.in(0)});
}

void GeluTranslator::errorFunction() {
  const Step *scaled = steps.maker(node.in(0));
  if (std::abs(factorOf(scaled) - std::sqrt(0.5)) > 1e-3)
    node.refuse("it is in no GELU");
  setSeen({scaled->ins[0]});
}

void GeluTranslator::setSeen(const Seen &parts) {
  seen[node.out()] = parts;
  steps.setPart(node.out(), noGelu);
}

bool GeluTranslator::takes() {
  unsigned at = 0;
  while (at < node->ins.size() && !seen.count(node.in(at)))
    ++at;
  if (at == node->ins.size())
    return false;
  Seen parts = seen.at(node.in(at));
  bool isSum = node.isOp("add"), isProduct = node.isOp("mul");
  int other = node->ins.size() == 2 ? node.in(1 - at) : -1;
  double factor = other < 0               ? node.real("other", 0)
                  : values.isKnown(other) ? node.realOf(other)
                                          : 0;
  const Step *made = other < 0 ? nullptr : steps.maker(other);
  bool isHalf = factorOf(made) == 0.5 && made->ins[0] == parts.x;
  if (isSum && factor == 1 && !parts.hasOne)
    parts.hasOne = true;
  else if (parts.hasOne && !parts.hasHalf &&
           (isProduct ? factor == 0.5 : node.isOp("div") && factor == 2))
    parts.hasHalf = true;
  else if (parts.hasOne && isProduct && !parts.hasX && other == parts.x)
    parts.hasX = true;
  else if (parts.hasOne && isProduct && !parts.hasX && !parts.hasHalf && isHalf)
    parts.hasX = parts.hasHalf = true;
  else
    node.refuse(noGelu);
  if (parts.hasHalf && parts.hasX) {
    steps.add(Step::Pipe, "gelu", {parts.x}).op = "gelu";
    return true;
  }
  setSeen(parts);
  return true;
}
