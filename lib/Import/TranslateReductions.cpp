// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums, means, norms and extremes.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void ReductionTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.cosine_similarity", &ReductionTranslator::cosineSimilarity},
          {"aten.histc", &ReductionTranslator::histogram},
          {"aten.linalg_vector_norm", &ReductionTranslator::vectorNorm},
          {"aten.logsumexp", &ReductionTranslator::logSumExp},
          {"aten.std", &ReductionTranslator::variance},
          {"aten.std_mean", &ReductionTranslator::variance},
          {"aten.var", &ReductionTranslator::variance},
          {"aten.var_mean", &ReductionTranslator::variance},
          {"cross_entropy", &ReductionTranslator::crossEntropy},
          {"cumprod", &ReductionTranslator::cumulate},
          {"cumsum", &ReductionTranslator::cumulate},
          {"max", &ReductionTranslator::reduce},
          {"mean", &ReductionTranslator::reduce},
          {"min", &ReductionTranslator::reduce},
          {"onnx.ReduceL1", &ReductionTranslator::vectorNorm},
          {"onnx.ReduceL2", &ReductionTranslator::vectorNorm},
          {"onnx.ReduceLogSumExp", &ReductionTranslator::logSumExp},
          {"sum", &ReductionTranslator::reduce},
      });
}

void ReductionTranslator::vectorNorm() {
  int x = node.in(0);
  double order = node->op == "onnx.ReduceL1" ? 1 : node.real("ord", 2);
  std::string over = ", over = " + axesText(node.axes(shape(x).size()));
  if (order == 1)
    summary("sum(abs(%0)" + over + ")", {x});
  else if (order == 2)
    summary("sqrt(sum(%0 * %0" + over + "))", {x});
  else if (std::isinf(order) && order > 0)
    summary("max(abs(%0)" + over + ")", {x});
  else
    node.refuse("netc has norms of order 1, 2 and inf");
}

bool ReductionTranslator::keepsAxes() {
  return !shape(node.out()).empty() &&
         shape(node.out()).size() == shape(node.in(0)).size();
}

Step &ReductionTranslator::summary(const std::string &form,
                                   std::vector<int> ins) {
  if (!keepsAxes())
    return steps.add(Step::Form_, form, std::move(ins));
  Step &made =
      steps.add(Step::Form_, "reshape(" + form + ", #0)", std::move(ins));
  made.putSizes(shape(node.out()));
  return made;
}

int ReductionTranslator::without(const std::string &reduced, int x,
                                 llvm::ArrayRef<unsigned> over) {
  std::vector<unsigned> rest;
  Sizes kept;
  for (unsigned i = 0; i < shape(x).size(); ++i)
    if (!llvm::is_contained(over, i)) {
      rest.push_back(i);
      kept.push_back(shape(x)[i]);
    }
  int made = steps.make(reduced, {x}, kept);
  steps.make("%0 - expand(%1, %0, over = " + axesText(rest) + ")", {x, made},
             shape(x));
  return made;
}

void ReductionTranslator::variance() {
  int x = node.in(0);
  std::vector<unsigned> over = node.axes(shape(x).size());
  double correction = node.real("correction", 1);
  if (const Json *unbiased = node.setting("unbiased");
      unbiased && *unbiased == false)
    correction = 0;
  Polynomial count = 1;
  for (unsigned each : over)
    count *= shape(x)[each];
  if (correction != std::floor(correction))
    node.refuse("`correction` is a whole number");
  count = count - int64_t(correction);
  std::string places = ", over = " + axesText(over) + ")";
  int mean = without("mean(%0" + places, x, over);
  std::string form = "mean(%0 * %0" + places;
  if (correction != 0) {
    std::string number = keepsAxes() ? "#1" : "#0";
    form = "sum(%0 * %0" + places + " / " +
           (count.isConstant() ? number : numberText(number));
  }
  if (StringRef(node->op).starts_with("aten.std"))
    form = "sqrt(" + form + ")";
  Step &spread = summary(form, {steps.last().outs[0]});
  if (correction != 0 && count.isConstant())
    spread.put("", "count", count.str());
  else if (correction != 0)
    spread.putSizes({count}, "count");
  if (node->outs.size() < 2)
    return;
  // Of std_mean and var_mean, the mean.
  Step &made = summary("%0", {mean});
  made.outs = {node->outs[1]};
}

void ReductionTranslator::logSumExp() {
  int x = node.in(0);
  std::vector<unsigned> over = node.axes(shape(x).size());
  // So that no exponential is too large.
  std::string places = ", over = " + axesText(over) + ")";
  int most = without("stop_gradient(max(%0" + places + ")", x, over);
  summary("log(sum(exp(%0)" + places + ") + %1", {steps.last().outs[0], most});
}

void ReductionTranslator::reduce() {
  if (node->outs.size() > 1)
    return extremeAndPlace();
  if (node->ins.size() == 2) {
    node.readAs(node->op + "imum");
    return arithmetic.binary();
  }
  int x = steps.floated(node.in(0));
  values.at(node.out()).type = values.at(x).type;
  size_t rank = shape(x).size();
  std::vector<unsigned> over = node.axes(rank);
  StatedList<std::string> left = values.labels(x);
  for (unsigned each : llvm::reverse(over))
    left.remove(each);
  bool isGlobal = node.isOp("mean") && rank >= 3 && over.size() == rank - 2 &&
                  over[0] == 2 && values.isImage(x, rank - 2);
  if (isGlobal) {
    Step &made = steps.add(
        Step::Pipe, keepsAxes() ? "AdaptiveAvgPool" : "GlobalAvgPool", {x});
    if (keepsAxes())
      made.put("", "size", "1");
    values.labels(node.out()) = keepsAxes() ? values.labels(x) : left;
    return;
  }
  summary(node.op() + "(%0, over = " + axesText(over) + ")", {x});
  if (keepsAxes())
    left.assign(rank, "");
  values.labels(node.out()) = left;
}

void ReductionTranslator::extremeAndPlace() {
  int x = node.in(0), place = node->outs[1];
  size_t at = node.axis("dim", -1, shape(x).size());
  std::string over = ", over = " + axesText(at);
  Sizes one = shape(x);
  one[at] = Polynomial(1);
  int choice =
      steps.make(std::string("top_k(") + (node.isOp("min") ? "-%0" : "%0") +
                     ", 1" + over + ")",
                 {x}, one);
  values.at(choice).type = values.at(place).type;
  auto flat = [&](const std::string &form, std::vector<int> ins, int out) {
    if (!values.uses(out))
      return;
    Step &made = steps.add(Step::Form_, "reshape(" + form + ", #0)", ins);
    made.outs = {out};
    made.putSizes(shape(node.out()));
    values.labels(out).assign(shape(node.out()).size(), "");
  };
  flat("take(%0, %1" + over + ")", {x, choice}, node.out());
  flat("%0", {choice}, place);
}

void ReductionTranslator::crossEntropy() {
  int x = node.in(0), target = node.in(1);
  bool isOfClasses = shape(target).size() < shape(x).size();
  if (node.has(2))
    node.refuse("its classes have weights");
  if (node.integer("reduction", 1) != 1)
    node.refuse("netc has the mean of all rows");
  int64_t ignored = node.integer("ignore_index", -100);
  Sizes rows = shape(x);
  rows.remove(1);
  if (isOfClasses && !(rows == shape(target)))
    node.refuse("its classes are of [" + sizesText(shape(target)) +
                "], and its scores of [" + sizesText(rows) +
                "]; `axes` says which axes are free, and equal ones have one "
                "name");
  // netc ignores rows of a number that is of no class.
  std::optional<int64_t> classes = shape(x)[1].toInt64();
  if (isOfClasses && ignored >= 0 && (!classes || ignored < *classes)) {
    std::string type = values.at(target).type;
    target = steps.make("where(%0 == #0, -1, %0)", {target}, shape(target));
    steps.last().put("", "ignored", std::to_string(ignored));
    values.at(target).type = type;
  }
  std::string form = "cross_entropy(%0, %1";
  if (shape(x).size() > 2 || !shape(x)[1].isConstant())
    form += ", over = axes(%0)[1]";
  Step &made = steps.add(Step::Form_, form, {x, target});
  if (double smoothing = node.real("label_smoothing", 0); smoothing != 0) {
    made.fn += ", smoothing = #0";
    made.put("", "smoothing", realText(smoothing));
  }
  made.fn += ")";
}

void ReductionTranslator::cumulate() {
  int x = promoted(node.in(0));
  Step &made = steps.add(Step::Pipe, node.op(), {x});
  made.put("over", "over", axesText(node.axis("dim", -1, shape(x).size())), "",
           false);
}

void ReductionTranslator::cosineSimilarity() {
  int x = node.in(0), y = steps.unlabelled(node.in(1), x);
  if (!(shape(x) == shape(y)))
    node.refuse("its vectors are of different sizes");
  std::string at = std::to_string(node.axis("dim", 1, shape(x).size()));
  auto sum = [&](const std::string &product, const char *of) {
    return "sum(" + product + ", over = axes(" + of + ")[" + at + "])";
  };
  Step &made = steps.add(Step::Form_,
                         sum("%0 * %1", "%0") + " / maximum(sqrt(" +
                             sum("%0 * %0", "%0") + " * " +
                             sum("%1 * %1", "%1") + "), #0)",
                         {x, y});
  made.put("", "eps", realText(node.real("eps", 1e-8)));
}

void ReductionTranslator::histogram() {
  int x = node.in(0);
  int64_t bins = node.integer("bins", 100);
  double least = node.real("min", 0), most = node.real("max", 0);
  const Step *made = steps.maker(x);
  bool isWhole = !values.isFloat(x) || (made && made->op == "convert");
  if (!isWhole || bins < 1 || least != 0 || (most != bins && most != bins - 1))
    node.refuse(
        "netc counts whole numbers from 0 on, each in a bin of its own");
  Polynomial count = elements(shape(x));
  int flat = steps.make("reshape(%0, #0)", {x}, {count});
  steps.last().putSizes({count});
  int rows = steps.make("expand(%0, zeros(#0), over = axes(zeros(#0))[0])",
                        {flat}, {count, bins});
  steps.last().putSizes({count, bins});
  Step &sum = steps.add(Step::Form_,
                        "sum(float(%0 == expand(float(arange(#0)), %0, over = "
                        "axes(%0)[1])), over = "
                        "axes(%0)[0])",
                        {rows});
  sum.put("", "bins", std::to_string(bins));
  values.labels(node.out()).assign(1, "");
}
