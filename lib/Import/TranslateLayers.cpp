// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers with weights.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;

void LayerTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"conv", &LayerTranslator::convolution},
          {"conv_transpose", &LayerTranslator::convolution},
          {"linear", &LayerTranslator::linear},
          {"normalize", &LayerTranslator::normalize},
          {"rms_normalize", &LayerTranslator::rmsNorm},
      });
}

void LayerTranslator::convolution() {
  int x = node.in(0), w = node.in(1);
  if (node.flag("transposed"))
    node.refuse("it is transposed");
  size_t windows = node.windowsOf(x);
  node.wantRank(w, windows + 2, windows + 2);
  node.wantRank(node.out(), windows + 2, windows + 2);
  std::vector<int64_t> size;
  for (const Polynomial &each : shape(w).from(2))
    size.push_back(node.fixed(each));
  if (!node.owns(1))
    return convolve(x, w, size);
  bool isTransposed = node.isOp("conv_transpose");
  std::vector<int> weights = {w};
  if (node.ownsShift(2))
    weights.push_back(node.in(2));
  Step &made = steps.addInstance(isTransposed ? "ConvT" : "Conv", x, weights);
  made.put("", "out", shape(node.out())[1].str());
  made.put("", "k", listText(size));
  made.put("stride", "stride", listText(node.integers("stride", 1, windows)),
           "1");
  const Json *padding = node.setting("padding");
  if (padding && padding->is_string() && *padding != "same" &&
      *padding != "valid")
    node.refuse("its padding is neither `same` nor `valid`");
  if (padding && padding->is_string())
    made.put("pad", "pad", "\"" + padding->get<std::string>() + "\"",
             "\"valid\"", false);
  else
    made.put("pad", "pad", listText(node.integers("padding", 0, windows)), "0");
  made.put("dilation", "dilation",
           listText(node.integers("dilation", 1, windows)), "1");
  if (isTransposed)
    made.put("extra", "extra",
             listText(node.integers("output_padding", 0, windows)), "0");
  made.put("groups", "groups", std::to_string(node.integer("groups", 1)), "1");
  made.put("bias", "bias", node.ownsShift(2) ? "true" : "false", "true", false);
  steps.labelImage(made, x, windows);
  if (node.has(2) && !node.ownsShift(2))
    steps.then("+", 2, "axes(%0)[1]");
}

void LayerTranslator::convolve(int x, int kernel,
                               llvm::ArrayRef<int64_t> size) {
  bool isTransposed = node.isOp("conv_transpose");
  std::vector<int64_t> stride = node.integers("stride", 1, size.size()),
                       dilation = node.integers("dilation", 1, size.size()),
                       extra = node.integers("output_padding", 0, size.size()),
                       low, high;
  const Json *padding = node.setting("padding");
  if (padding && padding->is_string()) {
    for (size_t i = 0; i < size.size(); ++i) {
      int64_t reach = *padding == "same" ? dilation[i] * (size[i] - 1) : 0;
      low.push_back(reach / 2);
      high.push_back(reach - reach / 2);
    }
  } else {
    low = high = node.integers("padding", 0, size.size());
  }
  for (size_t i = 0; i < size.size(); ++i)
    if (extra[i] >= stride[i] && extra[i] > 0)
      node.refuse(
          "its kernel is used elsewhere, too, and it makes positions that "
          "no window reaches");
  Step &made = steps.add(Step::Form_, "", {x, kernel});
  made.fn = node.op() + "(%0, %1";
  auto add = [&](const char *key, llvm::ArrayRef<int64_t> numbers) {
    made.fn += std::string(", ") + key + " = #" +
               std::to_string(made.arguments.size());
    made.put("", key, listText(numbers));
  };
  add("stride", stride);
  add("low", low);
  add("high", high);
  if (isTransposed)
    add("extra", extra);
  add("dilation", dilation);
  made.fn += ", groups = #" + std::to_string(made.arguments.size()) + ")";
  made.put("", "groups", std::to_string(node.integer("groups", 1)));
  steps.labelImage(made, x, size.size());
  if (node.has(2))
    steps.then("+", 2, "axes(%0)[1]");
}

bool LayerTranslator::isOfRows(int x) {
  const Step *view = steps.maker(x);
  if (!view || view->form != Step::View)
    return false;
  size_t views = view->shapes.size();
  const Sizes &before =
      views > 1 ? view->shapes[views - 2] : shape(view->ins[0]);
  return before.size() > shape(x).size() && before.back() == shape(x).back();
}

void LayerTranslator::linear() {
  bool isProduct = node->op == "aten.addmm";
  int x = node.in(isProduct ? 1 : 0), w = node.in(isProduct ? 2 : 1);
  int bias = isProduct ? 0 : 2;
  node.wantRank(x, 1);
  node.wantRank(w, 2);
  if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1)
    node.refuse("its parts are scaled");
  // One number for all, as in ONNX, is repeated.
  auto isBias = [&](const Polynomial &size) {
    const Sizes &own = shape(node.in(bias));
    return own.size() == 1 && (own[0] == size || own[0] != 1);
  };
  // [in, out], or the other way round.
  bool isInFirst = node->op != "aten.linear" && !node.flag("transB");
  if (!node.owns(isProduct ? 2 : 1)) {
    multiply(x, w, isInFirst);
    if (node.has(bias))
      steps.then("+", bias,
                 isBias(shape(node.out()).back()) ? "axes(%0)[-1]" : "");
    return;
  }
  if (isInFirst && node->op != "jax.lax.dot" && isOfRows(x) &&
      values.isOnlyViewed(node.out())) {
    // Between two views: of Conv1D in transformers.
    int source = steps.beforeReshape(x);
    if (source != x || shape(source).size() > 2) {
      Sizes wanted = shape(source);
      wanted.back() = shape(node.out()).back();
      values.at(node.out()).shape = wanted;
      values.labels(node.out()).assign(wanted.size(), "");
      x = source;
    }
  }
  const Polynomial &outs = shape(w)[isInFirst ? 1 : 0];
  bool isShifted = node.has(bias) && node.owns(bias) && isBias(outs) &&
                   values.at(node.in(bias)).learns == values.at(w).learns;
  std::vector<int> weights = {w};
  if (isShifted)
    weights.push_back(node.in(bias));
  Step &made = steps.addInstance("Linear", x, weights);
  made.put("", "out", outs.str());
  made.put("bias", "bias", isShifted ? "true" : "false", "true", false);
  steps.putOver(made, x, shape(x).size() - 1);
  if (node.has(bias) && !isShifted)
    steps.then("+", bias, isBias(outs) ? "axes(%0)[-1]" : "");
}

void LayerTranslator::multiply(int x, int matrix, bool isInFirst) {
  static const std::vector<std::vector<int>> turn = {{1, 0}};
  if (const Step *turned = steps.maker(matrix);
      turned && turned->form == Step::View && turned->permutations == turn) {
    matrix = turned->ins[0];
    isInFirst = !isInFirst;
  }
  bool isVector = shape(x).size() == 1;
  steps.add(Step::Form_,
            isVector
                ? isInFirst ? "linear(%0, transpose(%1))" : "linear(%0, %1)"
            : isInFirst ? "%0 @ %1"
                        : "%0 @ transpose(%1)",
            {x, matrix});
  if (!values.labels(node.out()).empty())
    values.labels(node.out()).back().clear();
}

void LayerTranslator::normalize() {
  node.ignore({"momentum"});
  if (const Json *training = node.setting("training");
      training && *training == false)
    node.refuse("it takes running statistics for those of what goes in");
  int x = node.in(0);
  const Json *over = node.setting("normalized_shape");
  node.wantRank(x, over ? 1 : 2);
  bool isBatch =
      node->op == "aten.batch_norm" || node->op == "onnx.BatchNormalization";
  if (isBatch)
    for (unsigned runningStatistics : {3, 4})
      node.ignoreOperand(runningStatistics);
  if (const Json *tracks =
          isBatch ? node.setting("track_running_stats") : nullptr;
      tracks && *tracks == false)
    return normalizeWithoutState();
  std::string fn = isBatch                            ? "BatchNorm"
                   : node->op == "aten.instance_norm" ? "InstanceNorm"
                   : node.setting("num_groups")       ? "GroupNorm"
                                                      : "LayerNorm";
  if (fn == "InstanceNorm")
    node.wantRank(x, 3, 5);
  if (fn == "InstanceNorm" && node.setting("use_input_stats") &&
      !node.flag("use_input_stats"))
    node.refuse("it takes running statistics for those of what goes in");
  if (fn == "InstanceNorm" && (node.has(3) || node.has(4)))
    node.refuse(
        "netc keeps running statistics of batches, and not of instances "
        "(`track_running_stats`)");
  size_t several =
      fn == "LayerNorm" && over && over->is_array() ? over->size() : 1;
  bool isAffine = several == 1 && node.owns(1) && node.ownsShift(2);
  Step &made = isAffine ? steps.addInstance(fn, x, {node.in(1), node.in(2)})
                        : steps.add(Step::Instance, fn, {x});
  std::vector<unsigned> places;
  for (size_t i = shape(x).size() - several; i < shape(x).size(); ++i)
    places.push_back(unsigned(i));
  if (fn == "GroupNorm")
    made.put("groups", "groups", std::to_string(node.integer("num_groups", 1)));
  made.putReal("eps", node.real("eps", 1e-5), 1e-5);
  made.put("affine", "affine", isAffine ? "true" : "false", "true", false);
  if (several != 1) {
    made.form = Step::Form_;
    made.fn = "normalize(%0, over = " + axesText(places) + ", eps = #0)";
    made.arguments.resize(1);
  } else if (fn == "LayerNorm") {
    steps.putOver(made, x, shape(x).size() - 1);
  } else {
    places = {1};
    steps.putOver(made, x, 1);
    made.over.clear();
    // Groups are an axis of their own.
    int64_t rank = int64_t(shape(x).size()) + (fn == "GroupNorm");
    for (int64_t i = fn == "BatchNorm" ? 0 : 2; i < rank; ++i)
      if (i != 1)
        made.over.push_back(i);
    if (!made.arguments.empty() && made.arguments.back().key == "over" &&
        fn != "GroupNorm") {
      made.arguments.pop_back();
      made.labels = shape(x).size() > 2;
    }
    if (fn == "InstanceNorm" && !values.isImage(x, shape(x).size() - 2))
      made.labels = true;
    if (made.labels)
      steps.nameImage(x, shape(x).size() - 2);
  }
  if (isAffine)
    return;
  if (node.has(1))
    steps.then("*", 1, axesText(places));
  if (node.has(2))
    steps.then("+", 2, axesText(places));
}

void LayerTranslator::normalizeWithoutState() {
  int x = node.in(0);
  std::vector<unsigned> over;
  for (unsigned i = 0; i < shape(x).size(); ++i)
    if (i != 1)
      over.push_back(i);
  Step &made =
      steps.add(Step::Form_,
                "normalize(%0, over = " + axesText(over) + ", eps = #0)", {x});
  made.putReal("eps", node.real("eps", 1e-5), 1e-5);
  for (unsigned i : {1, 2})
    if (node.has(i))
      steps.then(i == 1 ? "*" : "+", i, "axes(%0)[1]");
}

void LayerTranslator::rmsNorm() {
  int x = node.in(0);
  const Json *over = node.setting("normalized_shape");
  size_t several = over && over->is_array() ? over->size() : 1;
  bool isAffine = several == 1 && node.owns(1);
  Step &made = isAffine ? steps.addInstance("RMSNorm", x, {node.in(1)})
                        : steps.add(Step::Pipe, "rms_normalize", {x});
  made.putReal("eps", node.real("eps", 1e-6), 1e-6);
  std::vector<unsigned> places;
  for (size_t i = shape(x).size() - several; i < shape(x).size(); ++i)
    places.push_back(unsigned(i));
  if (several == 1)
    steps.putOver(made, x, places[0]);
  else
    made.put("over", "over", axesText(places), "", false);
  if (node.has(1) && !isAffine)
    steps.then("*", 1, axesText(places));
}
