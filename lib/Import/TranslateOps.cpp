// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers and functions of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

/// Functions that are several ops here.
static const std::map<StringRef, StringRef> &functions() {
  static const std::map<StringRef, StringRef> table = {
      {"aten.exp2", "exp(%0 * 0.6931471805599453)"},
      {"aten.expm1", "exp(%0) - 1"},
      {"aten.log10", "log(%0) * 0.4342944819032518"},
      {"aten.log1p", "log(1 + %0)"},
      {"aten.log2", "log(%0) * 1.4426950408889634"},
      {"aten.log_sigmoid", "-softplus(-%0)"},
      {"aten.mish", "%0 * tanh(softplus(%0))"},
      {"aten.reciprocal", "1 / %0"},
      {"onnx.Mish", "%0 * tanh(softplus(%0))"},
      {"onnx.Reciprocal", "1 / %0"},
      {"aten.selu", "1.0507009873554805 * elu(%0, alpha = 1.6732632423543772)"},
      {"aten.square", "%0 * %0"},
      {"aten.tan", "sin(%0) / cos(%0)"},
      {"chlo.square", "%0 * %0"},
      {"stablehlo.exponential_minus_one", "exp(%0) - 1"},
      {"stablehlo.log_plus_one", "log(1 + %0)"},
      {"stablehlo.rsqrt", "1 / sqrt(%0)"},
  };
  return table;
}

void Translator::translateNode() {
  if (llvm::is_contained(opaque, node->op)) {
    std::vector<int> ins;
    for (int each : node->ins)
      if (each >= 0)
        ins.push_back(real(each));
    if (ins.empty() || node->outs.size() != 1)
      refuse("`--opaque` stands for what takes tensors and makes one");
    Step &made = step(Step::Form_, "", ins);
    made.fn = "opaque(";
    for (size_t i = 0; i < ins.size(); ++i)
      made.fn += "%" + std::to_string(i) + ", ";
    made.fn += "out = [#0])";
    putSizes(made, shape(out()), "out");
    return;
  }
  foreign = findForeign(node->op);
  if (!foreign)
    refuse(didYouMean(node->op, foreignNames()), /*isUnknown=*/true);
  if (isOfNumbers())
    return;
  auto handler = handlers().find(node->op);
  if (handler == handlers().end() && !functions().count(node->op))
    handler = handlers().find(foreign->op);
  asked.clear();
  (this->*(handler != handlers().end() ? handler->second
                                       : &Translator::elementwise))();
  checkSettings();
}

bool Translator::isNumbers(int x) {
  StringRef type = value(x).type;
  if (type != "bool" && type[0] != 'i')
    return false;
  if (value(x).kind != GraphValue::Made)
    return true;
  const Step *made = maker(x);
  bool isMoved = made && (made->form == Step::View || made->op == "slice" ||
                          made->op == "broadcast");
  return isMoved && isNumbers(made->ins[0]);
}

bool Translator::isOfNumbers() {
  static const Json table = {{"what", "table"}};
  static const std::set<StringRef> arithmetic = {
      "add", "compare", "cumsum", "maximum", "minimum", "mul", "sub", "take"};
  static const std::set<StringRef> replacements = {"aten.masked_fill",
                                                   "aten.slice_scatter"};
  StringRef type = value(out()).type;
  if ((!arithmetic.count(foreign->op) && !replacements.count(node->op)) ||
      (type != "bool" && type[0] != 'i'))
    return false;
  for (unsigned i = 0; i < node->ins.size(); ++i)
    if (!isNumbers(in(i)))
      return false;
  graph.values[out()].kind = GraphValue::Known;
  graph.values[out()].known = &table;
  return true;
}

void Translator::elementwise() {
  if (node->ins.size() != 1 || node->outs.size() != 1)
    refuse("netc takes it of one tensor");
  if (auto form = functions().find(node->op); form != functions().end()) {
    wantOne("self"); // of a reciprocal
    step(Step::Form_, form->second.str(), {in(0)});
    return;
  }
  // Of `aten.elu`; netc has them as products.
  wantOne("scale");
  wantOne("input_scale");
  ignore({"threshold"}); // beyond it, softplus(x) is x in 32 bits
  if (double beta = realNumber("beta", 1); beta != 1) {
    Step &made =
        step(Step::Form_, foreign->op.str() + "(%0 * #0) / #0", {in(0)});
    put(made, "", "beta", realText(beta));
    return;
  }
  Step &made = step(Step::Pipe, foreign->op.str(), {in(0)});
  for (auto &[theirs, ours] : foreign->settings)
    if (setting(theirs.str().c_str()))
      put(made, ours.str(), ours.str(),
          realText(realNumber(theirs.str().c_str(), 0)));
}

void Translator::convert() {
  int x = in(0);
  bool isTruth = value(x).type == "bool",
       makesTruth = value(out()).type == "bool";
  bool isTable = what(x) == "table" && isFloat(out()) && !isFloat(x);
  if ((isKnown(x) && !isTable) || (isTruth && makesTruth))
    same(x);
  else if (makesTruth)
    step(Step::Form_, "%0 != 0", {x});
  else if (isTruth || (isFloat(out()) && !isFloat(x)))
    step(Step::Form_, "float(%0)", {x});
  else
    same(x);
}

bool Translator::isFloat(int x) const {
  StringRef type = value(x).type;
  return type != "bool" && !StringRef("iu").contains(type[0]);
}

int Translator::floated(int x) {
  if (isFloat(x))
    return x;
  int made = make("float(%0)", {x}, shape(x));
  steps.back().op = "convert";
  graph.values[made].type = "f32";
  labels(made) = labels(x);
  return made;
}

void Translator::stopGradient() {
  if (!isFloat(in(0)) || isKnown(in(0)))
    return same(in(0));
  step(Step::Pipe, "stop_gradient", {in(0)});
}

void Translator::convolution() {
  int x = in(0), w = in(1);
  if (flag("transposed"))
    refuse("it is transposed");
  size_t windows = windowsOf(x);
  wantRank(w, windows + 2, windows + 2);
  wantRank(out(), windows + 2, windows + 2);
  std::vector<int64_t> size;
  for (const Polynomial &each : llvm::ArrayRef(shape(w)).drop_front(2))
    size.push_back(fixed(each));
  if (!owns(1))
    return convolve(x, w, size);
  bool isTransposed = foreign->op == "conv_transpose";
  std::vector<int> weights = {w};
  if (ownsShift(2))
    weights.push_back(in(2));
  Step &made = instance(isTransposed ? "ConvT" : "Conv", x, weights);
  put(made, "", "out", shape(out())[1].str());
  put(made, "", "k", listText(size));
  put(made, "stride", "stride", listText(integers("stride", 1, windows)), "1");
  const Json *padding = setting("padding");
  if (padding && padding->is_string() && *padding != "same" &&
      *padding != "valid")
    refuse("its padding is neither `same` nor `valid`");
  if (padding && padding->is_string())
    put(made, "pad", "pad", "\"" + padding->get<std::string>() + "\"",
        "\"valid\"", false);
  else
    put(made, "pad", "pad", listText(integers("padding", 0, windows)), "0");
  put(made, "dilation", "dilation", listText(integers("dilation", 1, windows)),
      "1");
  if (isTransposed)
    put(made, "extra", "extra",
        listText(integers("output_padding", 0, windows)), "0");
  put(made, "groups", "groups", std::to_string(integer("groups", 1)), "1");
  put(made, "bias", "bias", ownsShift(2) ? "true" : "false", "true", false);
  labelImage(made, x, windows);
  if (has(2) && !ownsShift(2))
    then("+", 2, "axes(%0)[1]");
}

void Translator::convolve(int x, int kernel, llvm::ArrayRef<int64_t> size) {
  bool isTransposed = foreign->op == "conv_transpose";
  std::vector<int64_t> stride = integers("stride", 1, size.size()),
                       dilation = integers("dilation", 1, size.size()),
                       extra = integers("output_padding", 0, size.size()), low,
                       high;
  const Json *padding = setting("padding");
  if (padding && padding->is_string()) {
    for (size_t i = 0; i < size.size(); ++i) {
      int64_t reach = *padding == "same" ? dilation[i] * (size[i] - 1) : 0;
      low.push_back(reach / 2);
      high.push_back(reach - reach / 2);
    }
  } else {
    low = high = integers("padding", 0, size.size());
  }
  for (size_t i = 0; i < size.size(); ++i)
    if (extra[i] >= stride[i] && extra[i] > 0)
      refuse("its kernel is used elsewhere, too, and it makes positions that "
             "no window reaches");
  Step &made = step(Step::Form_, "", {x, kernel});
  made.fn = foreign->op.str() + "(%0, %1";
  auto add = [&](const char *key, llvm::ArrayRef<int64_t> numbers) {
    made.fn += std::string(", ") + key + " = #" +
               std::to_string(made.arguments.size());
    put(made, "", key, listText(numbers));
  };
  add("stride", stride);
  add("low", low);
  add("high", high);
  if (isTransposed)
    add("extra", extra);
  add("dilation", dilation);
  made.fn += ", groups = #" + std::to_string(made.arguments.size()) + ")";
  put(made, "", "groups", std::to_string(integer("groups", 1)));
  labelImage(made, x, size.size());
  if (has(2))
    then("+", 2, "axes(%0)[1]");
}

void Translator::then(const std::string &sign, unsigned i,
                      const std::string &axes) {
  int before = another(out());
  steps.back().outs = {before};
  std::vector<std::string> names = labels(out());
  Step &made = step(Step::Form_, "", {before, in(i)});
  made.fn =
      "%0 " + sign + " " +
      (shape(in(i)) == shape(out()) ? "%1"
                                    : "expand(%1, %0, over = " + axes + ")");
  labels(out()) = names;
}

bool Translator::isOfRows(int x) {
  const Step *view = maker(x);
  if (!view || view->form != Step::View)
    return false;
  size_t views = view->shapes.size();
  const Sizes &before =
      views > 1 ? view->shapes[views - 2] : shape(view->ins[0]);
  return before.size() > shape(x).size() && before.back() == shape(x).back();
}

bool Translator::isOnlyViewed(int x) const {
  for (const GraphNode &each : graph.nodes) {
    const ForeignOp *user = findForeign(each.op);
    if (llvm::is_contained(each.ins, x) && (!user || user->op != "reshape"))
      return false;
  }
  return llvm::all_of(graph.outputs,
                      [&](auto &each) { return each.second != x; });
}

void Translator::linear() {
  bool isProduct = node->op == "aten.addmm";
  int x = in(isProduct ? 1 : 0), w = in(isProduct ? 2 : 1);
  int bias = isProduct ? 0 : 2;
  wantRank(x, 1);
  wantRank(w, 2);
  if (realNumber("alpha", 1) != 1 || realNumber("beta", 1) != 1)
    refuse("its parts are scaled");
  // [in, out], or the other way round.
  bool isInFirst = node->op != "aten.linear" && !flag("transB");
  if (!owns(isProduct ? 2 : 1)) {
    multiply(x, w, isInFirst);
    if (has(bias))
      then("+", bias, "axes(%0)[-1]");
    return;
  }
  if (isInFirst && node->op != "jax.lax.dot" && isOfRows(x) &&
      isOnlyViewed(out())) {
    // Between two views: of Conv1D in transformers.
    int source = beforeReshape(x);
    if (source != x || shape(source).size() > 2) {
      Sizes wanted = shape(source);
      wanted.back() = shape(out()).back();
      graph.values[out()].shape = wanted;
      labels(out()).assign(wanted.size(), "");
      x = source;
    }
  }
  const Polynomial &outs = shape(w)[isInFirst ? 1 : 0];
  bool isShifted = has(bias) && owns(bias) && shape(in(bias)).size() == 1 &&
                   value(in(bias)).learns == value(w).learns;
  std::vector<int> weights = {w};
  if (isShifted)
    weights.push_back(in(bias));
  Step &made = instance("Linear", x, weights);
  put(made, "", "out", outs.str());
  put(made, "bias", "bias", isShifted ? "true" : "false", "true", false);
  putOver(made, x, shape(x).size() - 1);
  if (has(bias) && !isShifted)
    then("+", bias, "axes(%0)[-1]");
}

void Translator::multiply(int x, int matrix, bool isInFirst) {
  static const std::vector<std::vector<int>> turn = {{1, 0}};
  if (const Step *turned = maker(matrix);
      turned && turned->form == Step::View && turned->permutations == turn) {
    matrix = turned->ins[0];
    isInFirst = !isInFirst;
  }
  step(Step::Form_, isInFirst ? "%0 @ %1" : "%0 @ transpose(%1)", {x, matrix});
  if (!labels(out()).empty())
    labels(out()).back().clear();
}

void Translator::normalize() {
  ignore({"momentum"});
  if (const Json *training = setting("training");
      training && *training == false)
    refuse("it takes running statistics for those of what goes in");
  int x = in(0);
  wantRank(x, 2);
  bool isBatch =
      node->op == "aten.batch_norm" || node->op == "onnx.BatchNormalization";
  std::string fn = isBatch                            ? "BatchNorm"
                   : node->op == "aten.instance_norm" ? "InstanceNorm"
                   : setting("num_groups")            ? "GroupNorm"
                                                      : "LayerNorm";
  if (fn == "InstanceNorm" && setting("use_input_stats") &&
      !flag("use_input_stats"))
    refuse("it takes running statistics for those of what goes in");
  const Json *over = setting("normalized_shape");
  size_t several =
      fn == "LayerNorm" && over && over->is_array() ? over->size() : 1;
  bool isAffine = several == 1 && owns(1) && ownsShift(2);
  Step &made = isAffine ? instance(fn, x, {in(1), in(2)})
                        : step(Step::Instance, fn, {x});
  std::vector<unsigned> places;
  for (size_t i = shape(x).size() - several; i < shape(x).size(); ++i)
    places.push_back(unsigned(i));
  if (fn == "GroupNorm")
    put(made, "groups", "groups", std::to_string(integer("num_groups", 1)));
  putReal(made, "eps", realNumber("eps", 1e-5), 1e-5);
  put(made, "affine", "affine", isAffine ? "true" : "false", "true", false);
  if (several != 1) {
    made.form = Step::Form_;
    made.fn = "normalize(%0, over = " + placesText(places) + ", eps = #0)";
    made.arguments.resize(1);
  } else if (fn == "LayerNorm") {
    putOver(made, x, shape(x).size() - 1);
  } else {
    places = {1};
    putOver(made, x, 1);
    if (!made.arguments.empty() && made.arguments.back().key == "over" &&
        fn != "GroupNorm") {
      made.arguments.pop_back();
      made.labels = shape(x).size() > 2;
    }
    if (fn == "InstanceNorm" && !isImage(x, shape(x).size() - 2))
      made.labels = true;
  }
  if (isAffine)
    return;
  if (has(1))
    then("*", 1, placesText(places));
  if (has(2))
    then("+", 2, placesText(places));
}

void Translator::rmsNorm() {
  int x = in(0);
  const Json *over = setting("normalized_shape");
  size_t several = over && over->is_array() ? over->size() : 1;
  bool isAffine = several == 1 && owns(1);
  Step &made = isAffine ? instance("RMSNorm", x, {in(1)})
                        : step(Step::Pipe, "rms_normalize", {x});
  putReal(made, "eps", realNumber("eps", 1e-6), 1e-6);
  std::vector<unsigned> places;
  for (size_t i = shape(x).size() - several; i < shape(x).size(); ++i)
    places.push_back(unsigned(i));
  if (several == 1)
    putOver(made, x, places[0]);
  else
    put(made, "over", "over", placesText(places), "", false);
  if (has(1) && !isAffine)
    then("*", 1, placesText(places));
}

void Translator::checkTable() {
  ignore({"padding_idx"}); // a row that is not trained, of a table that is
  if (flag("scale_grad_by_freq"))
    refuse("its gradients are scaled by how often a row is read");
  if (flag("sparse"))
    graph.notes.push_back("The gradient of `" + value(in(0)).name +
                          "` is sparse; netc counts one of the whole table.");
}

void Translator::embedding() {
  checkTable();
  bool isIndex = node->op == "aten.index";
  if (isIndex && node->ins.size() > 2 && !has(1))
    return positions();
  if (isIndex && node->ins.size() > 2 && isWhole(in(0)))
    return view();
  int table = in(0), ids = in(1);
  if (!isWeight(table) || isIndex) {
    if (!(isIndex || isKnown(table)) || node->ins.size() != 2)
      refuse("it reads what is no table of weights");
    return lookUp(ids, table);
  }
  bool isOwned = owns(0) && !maker(table);
  if (isOwned && what(ids) == "range" && shape(ids).back() != 1) {
    rows[out()] = {table, ""};
    return;
  }
  if (what(ids) == "number") {
    rows[out()] = {table, realText(value(ids).known->value("value", 0.0))};
    return;
  }
  if (isKnown(ids) || !isOwned)
    return lookUp(ids, table);
  wantRank(table, 2, 2);
  std::vector<std::string> had = labels(ids);
  Step &made = instance("Embedding", ids, {table});
  put(made, "", "rows", shape(table)[0].str());
  put(made, "", "d", shape(table)[1].str());
  had.push_back("");
  labels(out()) = had;
  materialized.insert(table); // it is the instance's
}

void Translator::lookUp(int ids, int table) {
  bool isInside = areRows(ids, table);
  Step &made =
      step(Step::Form_,
           isInside ? "embedding(%0, %1)" : "embedding(minimum(%0, #0), %1)",
           {ids, table});
  if (!isInside)
    put(made, "", "last", (shape(table)[0] - 1).str());
  labels(out()).assign(shape(out()).size(), "");
}

bool Translator::areRows(int at, int table) const {
  if (!isKnown(at) || isListed(at))
    return true;
  Polynomial count = 1;
  size_t longAxes = 0;
  for (const Polynomial &size : shape(at)) {
    count *= size;
    longAxes += !(size == 1);
  }
  std::optional<int64_t> numbers = count.toInt64(),
                         all = shape(table)[0].toInt64();
  bool isFirstRows = what(at) == "range" && longAxes < 2 &&
                     value(at).known->value("start", int64_t(0)) == 0;
  return isFirstRows || !all || (numbers && *numbers <= *all);
}

void Translator::positions() {
  unsigned operand = node->ins.size() - 1;
  for (unsigned i = 1; i < operand; ++i)
    if (has(i))
      refuse("it reads places of several axes");
  int x = in(0), ids = in(operand);
  size_t rank = shape(x).size();
  unsigned at =
      node->op == "aten.index" ? operand - 1 : axis(integer("dim", 0), rank);
  const Json *known = isKnown(ids) ? value(ids).known : nullptr;
  if (shape(ids).size() != 1 || !known)
    refuse("which places it reads depends on data");
  std::vector<std::string> places;
  if (known->contains("values"))
    for (const Json &each : (*known)["values"])
      places.push_back(each.dump());
  bool isOne = what(ids) == "number";
  int64_t first = known->value(isOne ? "value" : "start", int64_t(0));
  for (int64_t i = 0, n = fixed(shape(ids)[0]); places.size() < size_t(n); ++i)
    places.push_back(std::to_string(isOne ? first : first + i));
  Step &made = step(Step::Pipe, "positions", {x});
  put(made, "", "places", "[" + llvm::join(places, ", ") + "]", "", false);
  put(made, "over", "over", placesText(at), "", false);
  labels(out())[at].clear();
}

bool Translator::isWhole(int x) {
  const Sizes &made = shape(out());
  size_t at = 0; // the axis of the result that is next
  for (unsigned i = 1; i < node->ins.size(); ++i) {
    int ids = has(i) ? in(i) : -1;
    if (ids < 0 || what(ids) != "range" ||
        value(ids).known->value("start", int64_t(0)) != 0)
      return false;
    const Sizes &sizes = shape(ids);
    size_t first = made.size() - sizes.size();
    while (at < made.size() && (at < first || sizes[at - first] == 1))
      ++at;
    if (at == made.size() || made[at] != shape(x)[i - 1])
      return false;
    for (size_t rest = ++at; rest < made.size(); ++rest)
      if (sizes[rest - first] != 1)
        return false;
  }
  return true;
}

void Translator::embeddingBag() {
  checkTable();
  int table = in(0), ids = beforeReshape(in(1));
  if (node->outs.size() > 1 || has(3) || flag("include_last_offset") ||
      shape(ids).size() != 2 || shape(ids)[0] != shape(out())[0] || !owns(0))
    refuse("its bags are not the rows of a tensor of numbers");
  int64_t mode = integer("mode", 0);
  if (mode > 1)
    refuse("netc has sums and means of a bag");
  Step &made = instance("EmbeddingBag", ids, {table});
  put(made, "", "rows", shape(table)[0].str());
  put(made, "", "d", shape(table)[1].str());
  put(made, "mode", "mode", mode ? "\"mean\"" : "\"sum\"", "\"sum\"", false);
  labels(out()) = {labels(ids)[0], ""};
  materialized.insert(table); // it is the instance's
}

void Translator::gather() {
  return setting("index") ? slice()
         : setting("dim") ? positions()
                          : embedding();
}

void Translator::dropout() {
  // Written out, it is noise that is divided by how much of it is not zero, and
  // multiplied by.
  if (node->op == "aten.empty_like")
    return;
  if (node->op == "aten.bernoulli") {
    noise[out()] = realNumber("p", 0.5);
    return;
  }
  const Json *train = setting("train");
  double p = realNumber("p", 0);
  if (p == 0 || (train && *train == false))
    return same(in(0));
  Step &made = step(Step::Pipe, "Dropout", {in(0)});
  put(made, "", "drop", realText(p));
}

void Translator::pool() {
  ignore({"count_include_pad", "divisor_override"}); // by what a sum is divided
  int x = in(0);
  size_t windows = windowsOf(x);
  std::vector<int64_t> k = integers("kernel_size", 1, windows);
  Step &made =
      step(Step::Pipe, foreign->op == "max_pool" ? "MaxPool" : "AvgPool", {x});
  put(made, "", "k", listText(k));
  const Json *stride = setting("stride");
  std::string strides =
      listText(stride && !stride->empty() ? integers("stride", 1, windows) : k);
  put(made, "stride", "stride", strides, listText(k));
  put(made, "pad", "pad", listText(integers("padding", 0, windows)), "0");
  if (foreign->op == "max_pool")
    put(made, "dilation", "dilation",
        listText(integers("dilation", 1, windows)), "1");
  put(made, "ceil", "ceil", flag("ceil_mode") ? "true" : "false", "false",
      false);
  labelImage(made, x, windows);
}

void Translator::adaptivePool() {
  int x = in(0);
  size_t windows = windowsOf(x);
  Step &made = step(Step::Pipe, "AdaptiveAvgPool", {x});
  put(made, "", "size", listText(integers("output_size", 1, windows)));
  labelImage(made, x, windows);
}

void Translator::adaptiveMaxPool() {
  if (node->outs.size() > 1)
    refuse("netc has no places of what is largest or smallest");
  int x = in(0);
  size_t windows = windowsOf(x);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < windows; ++i) {
    int64_t from = fixed(shape(x)[i + 2]), to = fixed(shape(out())[i + 2]);
    if (from % to != 0)
      refuse("its windows are of different sizes");
    sizes.push_back(from / to);
  }
  Step &made = step(Step::Pipe, "MaxPool", {x});
  put(made, "", "k", listText(sizes));
  labelImage(made, x, windows);
}

void Translator::root() {
  int x = in(0);
  if (node->op == "aten.rsqrt")
    step(Step::Form_, "1 / sqrt(%0)", {x});
  else
    step(Step::Pipe, "sqrt", {x});
}

void Translator::power() {
  if (node->ins.size() == 2) {
    if (shape(in(0)) != shape(out()) || shape(in(1)) != shape(out()))
      refuse("its operands are of different sizes");
    step(Step::Form_, "exp(log(%0) * %1)", {in(0), unlabelled(in(1), in(0))});
    return;
  }
  if (setting("self")) {
    Step &made = step(Step::Form_, "exp(%0 * #0)", {in(0)});
    put(made, "", "factor", realText(std::log(realNumber("self", 1))));
    return;
  }
  Step &made = step(Step::Form_, "%0 ^ #0", {in(0)});
  put(made, "", "exponent", realText(realNumber("exponent", 1)));
}
