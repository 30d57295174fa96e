// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Activations that are several ops here.

#include "lib/Import/OpTranslators.h"

using namespace netc;
using namespace netc::import;

void ActivationTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.celu", &ActivationTranslator::celu},
          {"aten.glu", &ActivationTranslator::gate},
          {"aten.prelu", &ActivationTranslator::leakyBySlopes},
          {"aten.rrelu", &ActivationTranslator::leakyByRandom},
          {"log_softmax", &ActivationTranslator::softmax},
          {"onnx.Celu", &ActivationTranslator::celu},
          {"onnx.PRelu", &ActivationTranslator::leakyBySlopes},
          {"onnx.Shrink", &ActivationTranslator::shrink},
          {"softmax", &ActivationTranslator::softmax},
      });
}

void ActivationTranslator::softmax() {
  int x = node.in(0);
  unsigned at = node.axis("dim", -1, shape(x).size());
  Step &made = steps.add(Step::Pipe, node.op(), {x});
  steps.putOver(made, x, at);
}

void ActivationTranslator::celu() {
  double alpha = node.real("alpha", 1);
  if (alpha == 1) {
    steps.add(Step::Pipe, "elu", {node.in(0)});
    return;
  }
  Step &made = steps.add(Step::Form_, "#0 * elu(%0 * #1)", {node.in(0)});
  made.put("", "alpha", realText(alpha));
  made.put("", "factor", realText(1 / alpha));
}

void ActivationTranslator::shrink() {
  double lambda = node.real("lambd", 0.5);
  if (node.real("bias", 0) != lambda)
    node.refuse("it moves what is left by another number than `lambd`");
  Step &made = steps.add(Step::Pipe, "softshrink", {node.in(0)});
  made.put("lambda", "lambda", realText(lambda));
}

void ActivationTranslator::leakyBySlopes() {
  int x = node.in(0), slopes = node.in(1);
  const Sizes &sizes = shape(slopes);
  size_t rank = shape(x).size();
  std::vector<size_t> all; // axes of x that have slopes of their own
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!(sizes[i] == 1))
      all.push_back(rank - sizes.size() + i);
  if (all.size() > 1 || sizes.size() > rank)
    node.refuse("its slopes are of several axes");
  bool isOfChannels = node->op == "aten.prelu"; // ONNX lays them on the last
  std::string form = "%1";
  if (sizes.size() != all.size())
    form = all.empty() ? "reshape(%1, [])" : "reshape(%1, #0)";
  std::string over =
      all.empty()
          ? "[]"
          : "axes(%0)[" + std::to_string(isOfChannels ? 1 : all[0]) + "]";
  Step &made = steps.add(Step::Form_,
                         "maximum(%0, 0) + expand(" + form +
                             ", %0, over = " + over + ") * minimum(%0, 0)",
                         {x, slopes});
  if (sizes.size() > 1 && !all.empty())
    made.put("", "slopes", shape(slopes)[all[0] + sizes.size() - rank].str());
}

void ActivationTranslator::leakyByRandom() {
  if (node.flag("training"))
    node.refuse("its slopes are random");
  Step &made = steps.add(Step::Pipe, "leaky_relu", {node.in(0)});
  made.put(
      "", "slope",
      realText((node.real("lower", 1. / 8) + node.real("upper", 1. / 3)) / 2));
}

void ActivationTranslator::gate() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  node.wantRank(node.out(), rank, rank);
  unsigned at = node.axis("dim", -1, rank);
  Step &made = steps.add(Step::Form_, "", {x});
  std::string first = made.putPart(0, shape(node.out())[at]),
              second = made.putPart(shape(node.out())[at], shape(x)[at]);
  made.fn = partText("%0", rank, at, first) + " * sigmoid(" +
            partText("%0", rank, at, second) + ")";
}
