// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums, means, norms and extremes of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

std::vector<unsigned> Translator::reducedAxes(size_t rank) {
  std::vector<unsigned> over;
  for (const char *name : {"dim", "dims", "axes"})
    if (const Json *dims = setting(name); dims && over.empty()) {
      if (dims->is_number_integer())
        over.push_back(axis(dims->get<int64_t>(), rank));
      else
        for (const Json &each : *dims)
          over.push_back(axis(each.get<int64_t>(), rank));
    }
  llvm::sort(over);
  if (over.empty())
    for (size_t i = 0; i < rank; ++i)
      over.push_back(i);
  return over;
}

void Translator::vectorNorm() {
  int x = in(0);
  double order = node->op == "onnx.ReduceL1" ? 1 : realNumber("ord", 2);
  std::string over = ", over = " + placesText(reducedAxes(shape(x).size()));
  if (order == 1)
    summary("sum(abs(%0)" + over + ")", {x});
  else if (order == 2)
    summary("sqrt(sum(%0 * %0" + over + "))", {x});
  else if (std::isinf(order) && order > 0)
    summary("max(abs(%0)" + over + ")", {x});
  else
    refuse("netc has norms of order 1, 2 and inf");
}

bool Translator::keepsAxes() {
  return !shape(out()).empty() && shape(out()).size() == shape(in(0)).size();
}

Step &Translator::summary(const std::string &form, std::vector<int> ins) {
  if (!keepsAxes())
    return step(Step::Form_, form, std::move(ins));
  Step &made = step(Step::Form_, "reshape(" + form + ", #0)", std::move(ins));
  putSizes(made, shape(out()));
  return made;
}

int Translator::without(const std::string &reduced, int x,
                        llvm::ArrayRef<unsigned> over) {
  std::vector<unsigned> rest;
  Sizes kept;
  for (unsigned i = 0; i < shape(x).size(); ++i)
    if (!llvm::is_contained(over, i)) {
      rest.push_back(i);
      kept.push_back(shape(x)[i]);
    }
  int made = make(reduced, {x}, kept);
  make("%0 - expand(%1, %0, over = " + placesText(rest) + ")", {x, made},
       shape(x));
  return made;
}

void Translator::variance() {
  int x = in(0);
  std::vector<unsigned> over = reducedAxes(shape(x).size());
  double correction = realNumber("correction", 1);
  if (const Json *unbiased = setting("unbiased");
      unbiased && *unbiased == false)
    correction = 0;
  Polynomial count = 1;
  for (unsigned each : over)
    count *= shape(x)[each];
  if (correction != std::floor(correction))
    refuse("`correction` is a whole number");
  std::string places = ", over = " + placesText(over) + ")";
  int mean = without("mean(%0" + places, x, over);
  std::string form = "mean(%0 * %0" + places;
  if (correction != 0)
    form = "sum(%0 * %0" + places + (keepsAxes() ? " / #1" : " / #0");
  if (StringRef(node->op).starts_with("aten.std"))
    form = "sqrt(" + form + ")";
  Step &spread = summary(form, {steps.back().outs[0]});
  if (correction != 0)
    put(spread, "", "count",
        std::to_string(fixed(count) - int64_t(correction)));
  if (node->outs.size() < 2)
    return;
  // Of std_mean and var_mean, the mean.
  Step &made = summary("%0", {mean});
  made.outs = {node->outs[1]};
}

void Translator::logSumExp() {
  int x = in(0);
  std::vector<unsigned> over = reducedAxes(shape(x).size());
  // So that no exponential is too large.
  std::string places = ", over = " + placesText(over) + ")";
  int most = without("stop_gradient(max(%0" + places + ")", x, over);
  summary("log(sum(exp(%0)" + places + ") + %1", {steps.back().outs[0], most});
}

void Translator::reduce() {
  if (node->outs.size() > 1)
    refuse("netc has no places of what is largest or smallest");
  if (node->ins.size() == 2) {
    foreign = findForeign(node->op + "imum");
    return binary();
  }
  int x = floated(in(0));
  graph.values[out()].type = value(x).type;
  size_t rank = shape(x).size();
  std::vector<unsigned> over = reducedAxes(rank);
  std::vector<std::string> left = labels(x);
  for (unsigned each : llvm::reverse(over))
    left.erase(left.begin() + each);
  bool isGlobal = foreign->op == "mean" && rank >= 3 &&
                  over.size() == rank - 2 && over[0] == 2 &&
                  isImage(x, rank - 2);
  if (isGlobal) {
    Step &made = step(Step::Pipe,
                      keepsAxes() ? "AdaptiveAvgPool" : "GlobalAvgPool", {x});
    if (keepsAxes())
      put(made, "", "size", "1");
    labels(out()) = keepsAxes() ? labels(x) : left;
    return;
  }
  summary(foreign->op.str() + "(%0, over = " + placesText(over) + ")", {x});
  if (keepsAxes())
    left.assign(rank, "");
  labels(out()) = left;
}

void Translator::placeOfExtreme() {
  int x = in(0);
  size_t rank = shape(x).size();
  if (!setting("dim") || axis(integer("dim", 0), rank) + 1 != rank)
    refuse("netc takes the largest of the last axis");
  bool isLeast = StringRef(node->op).ends_with_insensitive("argmin");
  Step &made = step(Step::Form_,
                    std::string("reshape(top_k(") + (isLeast ? "-%0" : "%0") +
                        ", 1), #0)",
                    {x});
  putSizes(made, shape(out()));
  labels(out()).assign(shape(out()).size(), "");
}

void Translator::crossEntropy() {
  int x = in(0), target = in(1);
  bool isOfClasses = shape(target).size() < shape(x).size();
  if (has(2))
    refuse("its classes have weights");
  if (integer("reduction", 1) != 1)
    refuse("netc has the mean of all rows");
  if (isOfClasses && integer("ignore_index", -100) >= 0)
    refuse("netc ignores rows of a negative number");
  ignore({"ignore_index"});
  std::string form = "cross_entropy(%0, %1";
  if (shape(x).size() > 2)
    form += ", over = axes(%0)[1]";
  Step &made = step(Step::Form_, form, {x, target});
  if (double smoothing = realNumber("label_smoothing", 0); smoothing != 0) {
    made.fn += ", smoothing = #0";
    put(made, "", "smoothing", realText(smoothing));
  }
  made.fn += ")";
}

void Translator::cumulate() {
  int x = in(0);
  Step &made = step(Step::Pipe, foreign->op.str(), {x});
  put(made, "over", "over",
      placesText(axis(integer("dim", -1), shape(x).size())), "", false);
}

void Translator::cosineSimilarity() {
  int x = in(0), y = unlabelled(in(1), x);
  if (!(shape(x) == shape(y)))
    refuse("its vectors are of different sizes");
  std::string at = std::to_string(axis(integer("dim", 1), shape(x).size()));
  auto sum = [&](const std::string &product, const char *of) {
    return "sum(" + product + ", over = axes(" + of + ")[" + at + "])";
  };
  Step &made =
      step(Step::Form_,
           sum("%0 * %1", "%0") + " / maximum(sqrt(" + sum("%0 * %0", "%0") +
               " * " + sum("%1 * %1", "%1") + "), #0)",
           {x, y});
  put(made, "", "eps", realText(realNumber("eps", 1e-8)));
}
