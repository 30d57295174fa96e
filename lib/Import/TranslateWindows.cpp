// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pooling, upsampling and padding.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void WindowTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"adaptive_avg_pool", &WindowTranslator::adaptivePool},
          {"aten.adaptive_max_pool1d", &WindowTranslator::adaptiveMaxPool},
          {"aten.adaptive_max_pool2d", &WindowTranslator::adaptiveMaxPool},
          {"aten.adaptive_max_pool3d", &WindowTranslator::adaptiveMaxPool},
          {"aten.pixel_shuffle", &WindowTranslator::pixelShuffle},
          {"aten.pixel_unshuffle", &WindowTranslator::pixelShuffle},
          {"aten.upsample_bilinear2d", &WindowTranslator::upsample},
          {"aten.upsample_linear1d", &WindowTranslator::upsample},
          {"aten.upsample_nearest1d", &WindowTranslator::upsample},
          {"aten.upsample_nearest2d", &WindowTranslator::upsample},
          {"aten.upsample_nearest3d", &WindowTranslator::upsample},
          {"aten.upsample_trilinear3d", &WindowTranslator::upsample},
          {"avg_pool", &WindowTranslator::pool},
          {"max_pool", &WindowTranslator::pool},
          {"onnx.Resize", &WindowTranslator::upsample},
          {"pad", &WindowTranslator::pad},
      });
}

void WindowTranslator::pool() {
  int x = node.in(0);
  size_t windows = node.windowsOf(x);
  bool isMax = node.isOp("max_pool");
  std::vector<int64_t> k = node.integers("kernel_size", 1, windows),
                       low = node.integers("padding", 0, windows), high = low;
  if (low.size() == 2 * windows) {
    high.erase(high.begin(), high.begin() + windows);
    low.resize(windows);
  }
  if (!isMax)
    noteAverage(llvm::any_of(low, [](int64_t each) { return each != 0; }) ||
                low != high);
  // The block of the standard library pads both ends alike, the op does not.
  std::string name = low == high ? (isMax ? "MaxPool" : "AvgPool")
                                 : (isMax ? "max_pool" : "avg_pool");
  Step &made = steps.add(Step::Pipe, name, {x});
  made.put("", "k", listText(k));
  const Json *stride = node.setting("stride");
  std::string strides = listText(
      stride && !stride->empty() ? node.integers("stride", 1, windows) : k);
  made.put("stride", "stride", strides, low == high ? listText(k) : "1");
  if (low == high) {
    made.put("pad", "pad", listText(low), "0");
  } else {
    made.put("low", "low", listText(low), "0");
    made.put("high", "high", listText(high), "0");
  }
  if (isMax)
    made.put("dilation", "dilation",
             listText(node.integers("dilation", 1, windows)), "1");
  made.put("ceil", "ceil", node.flag("ceil_mode") ? "true" : "false", "false",
           false);
  steps.labelImage(made, x, windows);
}

void WindowTranslator::noteAverage(bool isPadded) {
  const Json *isCounted = node.setting("count_include_pad");
  bool isOther = node.setting("divisor_override") ||
                 (isPadded && isCounted && !isCounted->get<bool>());
  std::string note = "Average pools divide by all places of a window, where "
                     "those of the model divide by another number; no count "
                     "depends on this.";
  if (isOther && !llvm::is_contained(notes, note))
    notes.push_back(note);
}

void WindowTranslator::adaptivePool() {
  int x = node.in(0);
  size_t windows = node.windowsOf(x);
  Step &made = steps.add(Step::Pipe, "AdaptiveAvgPool", {x});
  made.put("", "size", listText(node.integers("output_size", 1, windows)));
  steps.labelImage(made, x, windows);
}

void WindowTranslator::adaptiveMaxPool() {
  if (node->outs.size() > 1)
    node.refuse("netc has no places of what is largest or smallest");
  int x = node.in(0);
  size_t windows = node.windowsOf(x);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < windows; ++i) {
    int64_t from = node.fixed(shape(x)[i + 2]),
            to = node.fixed(shape(node.out())[i + 2]);
    if (from % to != 0)
      node.refuse("its windows are of different sizes");
    sizes.push_back(from / to);
  }
  Step &made = steps.add(Step::Pipe, "MaxPool", {x});
  made.put("", "k", listText(sizes));
  steps.labelImage(made, x, windows);
}

void WindowTranslator::pixelShuffle() {
  for (int each : {node.in(0), node.out()})
    node.wantRank(each, 4, 4);
  bool isUp = node->op == "aten.pixel_shuffle";
  std::string few = "n c (h a) (w b)", many = "n (c a b) h w";
  Step &made = steps.add(
      Step::Form_,
      "rearrange(%0, \"" + (isUp ? many + " -> " + few : few + " -> " + many) +
          "\", a = #0, b = #0)",
      {node.in(0)});
  made.put("", "factor",
           std::to_string(
               node.integer(isUp ? "upscale_factor" : "downscale_factor", 1)));
  std::fill(values.labels(node.out()).begin() + 1,
            values.labels(node.out()).end(), "");
}

void WindowTranslator::noteScales(int x) {
  std::vector<double> scales;
  for (const char *name :
       {"scale_factors", "scales", "scales_d", "scales_h", "scales_w"})
    if (const Json *given = node.setting(name); given && given->is_array())
      for (const Json &each : *given)
        scales.push_back(each.is_number() ? each.get<double>() : 0);
    else if (given && given->is_number())
      scales.push_back(given->get<double>());
  for (size_t i = 0; i < scales.size() && i + 2 < shape(x).size(); ++i) {
    std::optional<int64_t> old = shape(x)[i + 2].toInt64(),
                           made = shape(node.out())[i + 2].toInt64();
    if (node.flag("align_corners") || !old || !made ||
        std::abs(*old * scales[i] - *made) < 1e-6 * *made)
      continue;
    notes.push_back(
        "A scale of " + realText(scales[i]) + " is here one of " +
        std::to_string(*made) + " / " + std::to_string(*old) +
        ", and pixels are at other places; no count depends on it.");
    return;
  }
}

void WindowTranslator::upsample() {
  int x = node.in(0);
  size_t windows = node.windowsOf(x);
  bool isLinear = StringRef(node->op).contains("linear") ||
                  (node.setting("mode") && *node.setting("mode") == "linear");
  std::string mode = node.flag("align_corners") ? "\"corners\""
                     : isLinear                 ? "\"linear\""
                                                : "\"nearest\"";
  noteScales(x);
  std::string sizes = sizesText(shape(node.out()).from(2));
  bool isImage = windows == 2 && !node.flag("align_corners");
  Step &made = steps.add(Step::Pipe, isImage ? "upsample" : "resize", {x});
  made.put("size", "size", windows == 1 ? sizes : "[" + sizes + "]", "", false);
  made.put("mode", "mode", mode, "\"nearest\"", false);
  steps.labelImage(made, x, windows);
  made.over.clear(); // it is several ops
  if (!isImage)
    std::fill(values.labels(node.out()).begin() + 2,
              values.labels(node.out()).end(), "");
}

void WindowTranslator::pad() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  double value = node.real("value", 0);
  std::vector<int64_t> amounts = node.integers("pad", 0, 0);
  const Json *mode = node.setting("mode");
  if (llvm::all_of(amounts, [](int64_t each) { return each == 0; }))
    return steps.same(x);
  if (mode && *mode != "constant")
    return extend(amounts, mode->dump());
  for (size_t i = 0; i < amounts.size(); ++i)
    if (amounts[i] < 0) {
      x = cut(x, unsigned(rank - 1 - i / 2), -amounts[i], i % 2 == 1);
      amounts[i] = 0;
    }
  if (llvm::all_of(amounts, [](int64_t each) { return each == 0; }))
    return steps.same(x);
  std::string form = "%0";
  Step &made = steps.add(Step::Form_, "", {x});
  for (size_t i = 0; 2 * i + 1 < amounts.size(); ++i) {
    if (amounts[2 * i] == 0 && amounts[2 * i + 1] == 0)
      continue;
    unsigned n = made.arguments.size();
    form = "pad(" + form + ", over = axes(" + form + ")[" +
           std::to_string(rank - 1 - i) + "], low = #" + std::to_string(n) +
           ", high = #" + std::to_string(n + 1) +
           (value == 0 ? "" : ", value = #" + std::to_string(n + 2)) + ")";
    made.put("", "low", std::to_string(amounts[2 * i]));
    made.put("", "high", std::to_string(amounts[2 * i + 1]));
    if (value != 0)
      made.put("", "value", realText(value));
  }
  made.fn = form;
}

int WindowTranslator::cut(int x, unsigned at, int64_t count, bool isEnd) {
  Sizes sizes = shape(x);
  Polynomial begin = isEnd ? 0 : count;
  sizes[at] -= count;
  StatedList<std::string> names = values.labels(x);
  int part = steps.make("", {x}, sizes);
  steps.last().fn = partText("%0", sizes.size(), at,
                             steps.last().putPart(begin, begin + sizes[at]));
  values.labels(part) = names;
  return part;
}

void WindowTranslator::extend(llvm::ArrayRef<int64_t> amounts, std::string by) {
  int x = node.in(0);
  for (size_t i = 0; 2 * i + 1 < amounts.size(); ++i) {
    int64_t low = amounts[2 * i], high = amounts[2 * i + 1];
    unsigned at = unsigned(shape(x).size() - 1 - i);
    if (low < 0 || high < 0)
      node.refuse("it cuts off");
    if (low == 0 && high == 0)
      continue;
    Sizes sizes = shape(x);
    sizes[at] += low + high;
    StatedList<std::string> names = values.labels(x);
    names[at].clear();
    Step &made = steps.add(Step::Pipe, "extend", {x});
    made.put("low", "low", std::to_string(low), "0");
    made.put("high", "high", std::to_string(high), "0");
    made.put("by", "by", by, "", false);
    made.put("over", "over", axesText(at), "", false);
    x = values.another(node.out());
    made.outs = {x};
    values.at(x).shape = sizes;
    values.labels(x) = names;
  }
  steps.last().outs = {node.out()};
  values.labels(node.out()) = values.labels(x);
}
