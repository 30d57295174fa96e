// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Dropout, and how it is written out.

#include "lib/Import/OpTranslators.h"

#include <cmath>

using namespace netc;
using namespace netc::import;

static constexpr char noDropout[] = "it computes with what is random";

void DropoutTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"dropout", &DropoutTranslator::dropout},
      });
}

void DropoutTranslator::setNoise(const Noise &noise) {
  noises[node.out()] = noise;
  steps.setPart(node.out(), noDropout);
}

bool DropoutTranslator::takes() {
  for (unsigned i = 0; i < node->ins.size(); ++i) {
    auto found = noises.find(node.in(i));
    if (found == noises.end())
      continue;
    node.ignore({"other"}); // how much of the noise is not zero
    if (node->ins.size() == 1 && node.isOp("div"))
      setNoise({found->second.kept, /*isDivided=*/true});
    else if (node->ins.size() == 2 && node.isOp("mul"))
      multiply(node.in(1 - i), node.in(i));
    else
      node.refuse(noDropout);
    return true;
  }
  return false;
}

void DropoutTranslator::multiply(int x, int noise) {
  auto [kept, isDivided] = noises.at(noise);
  if (const Step *made = steps.maker(x);
      !isDivided && made && made->op == "div" && made->ins.size() == 1 &&
      made->arguments[0].text == realText(kept)) {
    x = made->ins[0]; // divided before it is multiplied
    isDivided = true;
  }
  bool isEach = shape(noise) == shape(x);
  Step &made =
      steps.add(Step::Pipe, isEach ? "Dropout" : "StochasticDepth", {x});
  made.put("", "drop", realText(std::round((1 - kept) * 1e9) / 1e9));
  if (isDivided)
    return;
  int whole = values.another(node.out());
  made.outs = {whole};
  steps.add(Step::Form_, "%0 * #0", {whole}).put("", "kept", realText(kept));
}

void DropoutTranslator::dropout() {
  if (node->op == "aten.empty_like")
    return;
  if (node->op == "aten.bernoulli") {
    node.ignoreOperand(0);
    setNoise({node.real("p", 0.5)});
    return;
  }
  const Json *train = node.setting("train");
  double p = node.real("p", 0);
  if (p == 0 || (train && *train == false))
    return steps.same(node.in(0));
  Step &made = steps.add(Step::Pipe, "Dropout", {node.in(0)});
  made.put("", "drop", realText(p));
}
