// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention with its masks.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;

void AttentionTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.scaled_dot_product_attention",
           &AttentionTranslator::attention},
      });
}

int AttentionTranslator::ungrouped(int x) {
  const Step *last = steps.maker(x);
  if (!last || last->form != Step::View || last->permutations.size() != 1 ||
      !last->permutations[0].empty())
    return x;
  const Step *middle = steps.maker(last->ins[0]);
  if (!middle || middle->op != "broadcast" ||
      shape(middle->outs[0]).size() != 5 || shape(middle->ins[0])[2] != 1)
    return x;
  return steps.beforeReshape(middle->ins[0]);
}

int AttentionTranslator::ofEachHead(int x, int q) {
  for (size_t i = 1; i + 2 < shape(q).size(); ++i) {
    Sizes sizes = shape(x);
    if (sizes.size() != shape(q).size() || sizes[i] == shape(q)[i])
      continue;
    int64_t own = node.fixed(sizes[i]), all = node.fixed(shape(q)[i]);
    if (own < 1 || all % own)
      node.refuse("its heads of keys do not divide those of queries");
    Sizes repeated = sizes;
    repeated.insert(repeated.begin() + i + 1, Polynomial(all / own));
    sizes[i] = all;
    std::vector<unsigned> over;
    for (unsigned j = 0; j < repeated.size(); ++j)
      if (j != i + 1)
        over.push_back(j);
    x = steps.make("reshape(expand(%0, zeros(#0), over = " +
                       axesText(over, "zeros(#0)") + "), #1)",
                   {x}, sizes);
    steps.last().putSizes(repeated);
    steps.last().putSizes(sizes);
  }
  return x;
}

void AttentionTranslator::attention() {
  node.ignore({"enable_gqa"}); // the shapes tell
  for (unsigned i : {0, 1, 2})
    node.wantRank(node.in(i), 3, 6);
  int mask = node.has(3) ? node.in(3) : -1;
  if (mask >= 0 && values.at(mask).type == "bool")
    mask = steps.beforeExpand(mask);
  if (mask >= 0 && values.what(mask) == "number" &&
      (values.at(mask).type == "bool" ? node.realOf(mask) == 0
                                      : node.realOf(mask) < -1e30))
    node.refuse("its mask hides everything");
  JointMask both = masks.maskOf(mask);
  if (both.given >= 0 && values.isOtherMask(both.given)) {
    steps.noteLeftOutMask();
    both = {};
  }
  if (both.isHidden)
    node.refuse("its mask shows what a causal one hides");
  both.isCausal |= node.flag("is_causal");
  double width = double(shape(node.in(0)).back().toInt64().value_or(1));
  double scale = node.real("scale", 1 / std::sqrt(width));
  bool isScaled = std::abs(scale * std::sqrt(width) - 1) > 1e-6;
  double drop = node.real("dropout_p", 0);
  if (both.given >= 0 &&
      (values.at(both.given).type != "bool" || values.isKnown(both.given)))
    return biasedAttention(mask, scale, drop);
  if (both.given >= 0) {
    int x = steps.bare(node.in(0));
    return unnamedAttention({x, ofEachHead(steps.bare(node.in(1)), x),
                             ofEachHead(steps.bare(node.in(2)), x)},
                            scale, drop, both);
  }
  // Heads and positions are no channels and rows of an image.
  int q = steps.bare(node.in(0)), k = steps.bare(ungrouped(node.in(1))),
      v = steps.bare(ungrouped(node.in(2)));
  // `attention` takes axes by name.
  auto isNamed = [&](int x) {
    auto isAt = [&](const char *name, size_t place) {
      auto found = llvm::find(values.labels(x), name);
      return found == values.labels(x).end() ||
             size_t(found - values.labels(x).begin()) == place;
    };
    return isAt("N", 0) && isAt("T", 2);
  };
  bool isNamedAll = isNamed(q) && isNamed(k) && isNamed(v);
  if (shape(q).size() != 4 || (!isNamedAll && shape(q)[1] == shape(k)[1]))
    return unnamedAttention({q, ofEachHead(k, q), ofEachHead(v, q)}, scale,
                            drop, both);
  Step &made = steps.add(Step::Form_, "attention(%0, %1, %2", {q, k, v});
  auto add = [&](std::string key, std::string text, bool isNumber) {
    made.fn += ", " + key + " = #" + std::to_string(made.arguments.size());
    made.put("", key, text, "", isNumber);
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

void AttentionTranslator::unnamedAttention(const std::vector<int> &ins,
                                           double scale, double drop,
                                           const JointMask &mask) {
  weighMasked(scoresOf(ins[0], ins[1], scale), ins[2], drop, mask);
}

void AttentionTranslator::weighMasked(int scores, int v, double drop,
                                      const JointMask &mask) {
  std::string over =
      mask.given < 0 ? overKeys(scores) : ", over = axes(%0)[-1]";
  scores = masks.hideBoth(scores, mask);
  weigh(steps.add(Step::Form_, "", {scores, v}), "softmax(%0" + over + ")",
        drop);
}

void AttentionTranslator::biasedAttention(int mask, double scale, double drop) {
  if (values.at(mask).type == "bool")
    node.refuse("its mask is known, and neither causal nor a window");
  int q = steps.bare(node.in(0));
  node.wantRank(q, 3, 6);
  int k = ofEachHead(steps.bare(node.in(1)), q),
      v = ofEachHead(steps.bare(node.in(2)), q);
  int scores = scoresOf(q, k, scale);
  values.meet(scores, mask);
  int biased = steps.make("", {scores, mask}, shape(scores));
  Step &sum = steps.last();
  sum.fn = "%0 + " + steps.expanded(mask, 1, "%0", &sum, scores);
  values.labels(biased) = values.labels(scores);
  weighMasked(biased, v, drop, masks.hiddenBy(mask));
}

int AttentionTranslator::scoresOf(int q, int k, double scale) {
  Sizes sizes = shape(q);
  size_t last = sizes.size() - 1;
  sizes[last] = shape(k)[last - 1];
  int scores = steps.make("(%0 @ transpose(%1)) * #0", {q, k}, sizes);
  steps.last().put("", "scale", realText(scale));
  StatedList<std::string> names = values.labels(q);
  names.pop_back();
  // No two axes have one label.
  std::string keys = values.labels(k)[last - 1];
  names.push_back(llvm::is_contained(names, keys) ? "" : keys);
  values.labels(scores) = names;
  return scores;
}

std::string AttentionTranslator::overKeys(int scores) const {
  bool isFeature = values.featureAxis(scores) + 1 == int(shape(scores).size());
  return isFeature ? "" : ", over = axes(%0)[-1]";
}

void AttentionTranslator::weigh(Step &made, const std::string &weights,
                                double drop) {
  made.fn = weights;
  if (drop > 0) {
    made.fn = "Dropout(" + weights + ", #" +
              std::to_string(made.arguments.size()) + ")";
    made.put("", "drop", realText(drop));
  }
  made.fn += " @ %1";
}
