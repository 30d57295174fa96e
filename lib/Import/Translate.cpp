// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nodes of a graph in the words of netc: values, settings, and the steps that
// they become.

#include "lib/Import/Translator.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

std::string netc::import::listText(llvm::ArrayRef<int64_t> numbers) {
  std::vector<std::string> texts;
  for (int64_t number : numbers)
    texts.push_back(std::to_string(number));
  if (!texts.empty() && llvm::all_equal(texts))
    return texts[0];
  return "[" + llvm::join(texts, ", ") + "]";
}

std::string netc::import::sizesText(llvm::ArrayRef<Polynomial> sizes) {
  std::vector<std::string> texts;
  for (const Polynomial &size : sizes) {
    std::string text = size.str(), spaced;
    for (char c : text)
      spaced += c == '*' ? std::string(" * ") : std::string(1, c);
    texts.push_back(spaced);
  }
  return llvm::join(texts, ", ");
}

std::string netc::import::realText(double value) {
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  for (int digits = 1; digits < 18; ++digits) {
    char buffer[40];
    snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (strtod(buffer, nullptr) == value)
      return buffer;
  }
  return std::to_string(value);
}

std::vector<Step> Translator::translate() {
  labelInputs();
  for (size_t i = 0; i < graph.values.size(); ++i)
    alias.push_back(int(i));
  findOwners();
  for (const GraphNode &each : graph.nodes)
    for (int in : each.ins)
      if (in >= 0)
        ++uses[in];
  for (auto &output : graph.outputs)
    ++uses[output.second];
  for (size_t i = 0; i < graph.nodes.size();) {
    llvm::ArrayRef<GraphNode> group = expertsFrom(i);
    node = &graph.nodes[i];
    if (group.empty())
      translateNode();
    else
      experts(group);
    i += std::max<size_t>(group.size(), 1);
  }
  for (auto &output : graph.outputs) {
    output.second = real(output.second);
    wantWhole(output.second);
    output.second = materialize(output.second);
  }
  dropUnused();
  findIdioms(graph, steps);
  for (Step &step : steps)
    if (step.form == Step::View)
      writeView(step, graph);
  return std::move(steps);
}

void Translator::refuse(const llvm::Twine &why, bool isUnknown) {
  throw Refusal{
      node->op,
      node->module < 0 ? std::string() : graph.modules[node->module].path,
      node->line, why.str(), isUnknown ? Refusal::Unknown : Refusal::Refused};
}

int Translator::real(int value) const {
  while (alias[value] != value)
    value = alias[value];
  return value;
}

int Translator::in(unsigned i) {
  if (i >= node->ins.size() || node->ins[i] < 0)
    refuse("operand " + llvm::Twine(i) + " is missing");
  return real(node->ins[i]);
}

std::string Translator::useOf(const GraphNode &user, unsigned operand) const {
  std::string use =
      user.op + " " + std::to_string(operand) + " " + user.with->dump();
  for (int in : user.ins) {
    int at = in < 0 ? -1 : real(in);
    use += at < 0                               ? " none"
           : isWeight(at)                       ? " " + std::to_string(at)
           : isKnown(at) && what(at) != "table" ? " known"
                                                : " made";
  }
  return use;
}

void Translator::findOwners() {
  std::vector<int> plain = alias;
  for (const GraphNode &each : graph.nodes) {
    const ForeignOp *op = findForeign(each.op);
    // What only moves a weight is the weight.
    if (op && each.ins.size() == 1 && each.ins[0] >= 0 &&
        (op->op == "convert" || op->op == "reshape" || op->op == "broadcast") &&
        isWeight(real(each.ins[0])) &&
        shape(each.ins[0]) == shape(each.outs[0])) {
      alias[each.outs[0]] = each.ins[0];
      continue;
    }
    for (unsigned i = 0; i < each.ins.size(); ++i) {
      int weight = each.ins[i] < 0 ? -1 : real(each.ins[i]);
      if (weight < 0 || !isWeight(weight))
        continue;
      std::string use = useOf(each, i);
      auto [found, isFirst] = owners.try_emplace(weight, use);
      bool isTable = op && op->op == "embedding" && i == 0 &&
                     StringRef(use).ends_with(" made");
      if (!isFirst && found->second != use &&
          !StringRef(found->second).starts_with("table "))
        found->second.clear();
      else if (isFirst && isTable)
        found->second = "table " + use;
    }
  }
  for (auto &output : graph.outputs) // a result is a tensor, not a layer
    if (auto found = owners.find(real(output.second)); found != owners.end())
      found->second.clear();
  for (auto &[weight, use] : owners)
    if (StringRef(use).starts_with("table "))
      use = use.substr(6);
  alias = std::move(plain);
}

bool Translator::owns(unsigned i) {
  if (!has(i) || !isWeight(in(i)))
    return false;
  auto owner = owners.find(in(i));
  return owner != owners.end() && owner->second == useOf(*node, i);
}

bool Translator::ownsShift(unsigned i) {
  return owns(i) && shape(in(i)).size() == 1 &&
         value(in(i)).learns == value(in(i - 1)).learns;
}

std::string Translator::what(int at) const {
  return isKnown(at) ? value(at).known->value("what", std::string()) : "";
}

int64_t Translator::fixed(const Polynomial &size) {
  std::optional<int64_t> number = size.toInt64();
  if (!number)
    refuse("`" + size.str() + "` must be a number here");
  return *number;
}

void Translator::labelInputs() {
  for (GraphValue &value : graph.values) {
    if (value.kind != GraphValue::Input)
      continue;
    size_t rank = value.shape.size();
    static const char *windows[] = {"D", "H", "W"};
    size_t features = isChannelsLast(value) ? rank - 1 : 1;
    for (size_t i = 0; i < rank; ++i) {
      std::string text = value.shape[i].str();
      if (value.shape[i].symbols().size() == 1 &&
          value.shape[i] == Polynomial::symbol(text))
        value.labels[i] = text;
      else if ((rank == 4 || rank == 5) && value.type[0] != 'i' && i >= 1 &&
               (features > 1 || !isReadBy("stablehlo.transpose", value.name)))
        value.labels[i] =
            i == features
                ? "C"
                : windows[i + 3 - rank + (i < features && features > 1)];
    }
    if (rank == 3 && isReadBy("aten.conv1d", value.name))
      value.labels = {value.labels[0], "C", "L"};
    for (size_t i = 0; i < rank; ++i)
      if (llvm::count(value.labels, value.labels[i]) > 1)
        value.labels[i].clear();
  }
}

bool Translator::isChannelsLast(const GraphValue &image) const {
  return llvm::any_of(graph.nodes, [&](const GraphNode &each) {
    const ForeignOp *op = findForeign(each.op);
    auto dims = each.with->find("dims");
    if (!op || op->op != "transpose" || each.ins[0] < 0 ||
        &graph.values[each.ins[0]] != &image || dims == each.with->end())
      return false;
    Json order = {0, image.shape.size() - 1};
    for (size_t i = 1; i + 1 < image.shape.size(); ++i)
      order.push_back(i);
    return *dims == order;
  });
}

bool Translator::isReadBy(StringRef op, StringRef name) const {
  return llvm::any_of(graph.nodes, [&](const GraphNode &each) {
    return each.op == op && each.ins[0] >= 0 && value(each.ins[0]).name == name;
  });
}

/// Settings of other frameworks that no count depends on: those that say where
/// a tensor is, or by which program an op is computed, and those that shapes of
/// results tell. What changes no count of one op, that op ignores.
static const std::set<StringRef> &withoutEffect() {
  static const std::set<StringRef> names = {
      "allow_tf32",    "benchmark",     "copy",          "cudnn_enable",
      "cudnn_enabled", "deterministic", "device",        "generator",
      "implicit",      "inplace",       "layout",        "memory_format",
      "non_blocking",  "pin_memory",    "seed",          "end",
      "keepdim",       "output_size",   "scale_factors", "scales",
      "scales_d",      "scales_h",      "scales_w",      "size",
      "split_size",    "split_sizes"};
  return names;
}

const Json *Translator::setting(const char *name) {
  asked.insert(name);
  auto found = node->with->find(name);
  return found == node->with->end() ? nullptr : &*found;
}

void Translator::checkSettings() {
  for (auto &[key, given] : node->with->items()) {
    if (asked.count(key) || withoutEffect().count(key))
      continue;
    std::vector<StringRef> names(asked.begin(), asked.end());
    llvm::append_range(names, withoutEffect());
    refuse("it has no setting `" + key + "`" + didYouMean(key, names));
  }
}

int64_t Translator::integer(const char *name, int64_t otherwise) {
  const Json *found = setting(name);
  if (found && found->is_string())
    refuse("`" + llvm::Twine(name) + "` is " + found->dump() +
           ", and must be a number here");
  return found && found->is_number_integer() ? found->get<int64_t>()
                                             : otherwise;
}

bool Translator::flag(const char *name) {
  const Json *found = setting(name);
  return found && found->is_boolean() && found->get<bool>();
}

double Translator::numberOf(const Json &found, double otherwise) {
  if (found == "nan")
    refuse("a number of it is NaN");
  if (found.is_string())
    return found == "inf" ? INFINITY : -INFINITY;
  return found.is_number() ? found.get<double>() : otherwise;
}

double Translator::number(int at) {
  return numberOf(value(at).known->value("value", Json()), 1);
}

void Translator::wantOne(const char *name) {
  if (realNumber(name, 1) != 1)
    refuse("its parts are scaled");
}

double Translator::realNumber(const char *name, double otherwise) {
  const Json *found = setting(name);
  return found ? numberOf(*found, otherwise) : otherwise;
}

std::vector<int64_t> Translator::integers(const char *name, int64_t otherwise,
                                          size_t count) {
  std::vector<int64_t> numbers;
  if (const Json *found = setting(name)) {
    if (found->is_number_integer()) {
      numbers.push_back(found->get<int64_t>());
    } else if (found->is_array()) {
      for (const Json &each : *found) {
        if (!each.is_number_integer())
          refuse("`" + llvm::Twine(name) + "` is no list of numbers");
        numbers.push_back(each.get<int64_t>());
      }
    }
  }
  if (numbers.empty())
    numbers.push_back(otherwise);
  if (numbers.size() == 1)
    numbers.resize(count, numbers[0]);
  return numbers;
}

unsigned Translator::axis(int64_t number, size_t rank) {
  int64_t place = number < 0 ? number + int64_t(rank) : number;
  if (place < 0 || place >= int64_t(rank))
    refuse("there is no axis " + llvm::Twine(number));
  return unsigned(place);
}

void Translator::wantRank(int x, size_t least, size_t most) {
  size_t rank = shape(x).size();
  if (rank < least || rank > most)
    refuse("a tensor has " + llvm::Twine(rank) + " axes here");
}

size_t Translator::windowsOf(int x) {
  wantRank(x, 3, 5);
  return shape(x).size() - 2;
}

int Translator::another(int like) {
  GraphValue made = graph.values[like];
  graph.values.push_back(std::move(made));
  alias.push_back(int(alias.size()));
  return int(alias.size()) - 1;
}

void Translator::wantWhole(int x) {
  if (gelus.count(x))
    refuse("it computes with an `erf` that is in no GELU");
  if (jointMasks.count(x))
    refuse("it computes with a mask that is of no attention");
}

Step &Translator::step(Step::Form form, std::string fn, std::vector<int> ins) {
  Step made;
  made.form = form;
  made.fn = std::move(fn);
  made.op = foreign ? foreign->op.str() : "opaque";
  for (int &each : ins) {
    wantWhole(each);
    each = materialize(each);
  }
  made.ins = std::move(ins);
  made.outs = {out()};
  made.node = int(node - graph.nodes.data());
  made.module = node->module;
  made.line = node->line;
  steps.push_back(std::move(made));
  if (!steps.back().ins.empty()) {
    int from = steps.back().ins[0];
    if (labels(out()).size() == labels(from).size())
      labels(out()) = labels(from);
  }
  return steps.back();
}

Step &Translator::instance(std::string fn, int x, std::vector<int> weights) {
  Step &made = step(Step::Instance, std::move(fn), {x});
  made.weight = value(weights[0]).name;
  made.isFrozen = !value(weights[0]).learns;
  made.weights = std::move(weights);
  return made;
}

void Translator::put(Step &step, std::string key, std::string name,
                     std::string text, std::string byDefault, bool isNumber) {
  step.arguments.push_back({key, name, text, byDefault, isNumber});
}

void Translator::putReal(Step &step, std::string key, double number,
                         double byDefault) {
  put(step, key, key, realText(number), realText(byDefault));
}

void Translator::putSizes(Step &step, const Sizes &sizes, std::string name) {
  put(step, "", std::move(name), sizesText(sizes), "", false);
  step.arguments.back().hasSizes = true;
}

void Translator::putOver(Step &step, int x, unsigned at) {
  if (featureAxis(x) != int(at))
    put(step, "over", "over", "axes(%0)[" + std::to_string(at) + "]", "",
        false);
}

int Translator::featureAxis(int x) {
  const std::vector<std::string> &names = labels(x);
  auto found = llvm::find(names, "C");
  if (found != names.end())
    return int(found - names.begin());
  if (names.empty())
    return -1;
  StringRef last = names.back();
  bool isTaken = last == "N" || last == "H" || last == "W" || last == "L" ||
                 last == "D" || (last == "T" && names.size() > 2);
  return isTaken ? -1 : int(names.size()) - 1;
}

bool Translator::isImage(int x, size_t windows) {
  const std::vector<std::string> &names = labels(x);
  if (names.size() != windows + 2 || names[1] != "C")
    return false;
  return llvm::all_of(llvm::ArrayRef(names).drop_front(2), [](StringRef name) {
    return name == "D" || name == "H" || name == "W" || name == "L";
  });
}

void Translator::labelImage(Step &step, int x, size_t windows) {
  if (!isImage(x, windows))
    step.labels = true;
  static const char *names[] = {"D", "H", "W"};
  std::vector<std::string> &made = labels(out());
  made.assign(windows + 2, "");
  made[0] = labels(x)[0].empty() ? "N" : labels(x)[0];
  made[1] = "C";
  for (size_t i = 0; i < windows; ++i)
    made[i + 2] = windows == 1 ? "L" : names[i + 3 - windows];
}

int Translator::readRows(int at) {
  if (!materialized.insert(at).second)
    return at;
  auto [table, place] = rows.at(at);
  const Sizes &sizes = shape(at);
  auto add = [&](Step &made, const Sizes &size) {
    put(made, "", "size", sizesText(size), "", false);
    made.arguments.back().hasSizes =
        llvm::any_of(size, [](auto &each) { return !each.isConstant(); });
  };
  Step made;
  made.form = Step::Form_;
  made.ins = {materialize(table)};
  made.outs = {at};
  made.node = int(node - graph.nodes.data());
  made.module = node->module;
  made.line = node->line;
  if (place.empty()) {
    add(made, {sizes[sizes.size() - 2]});
    made.fn = "%0[0..#0, ...]";
  } else {
    put(made, "", "row", place);
    made.fn = "%0[#0, ...]";
  }
  if (sizes.size() != (place.empty() ? 2 : 1)) {
    add(made, sizes);
    made.fn = place.empty() ? "reshape(" + made.fn + ", #1)"
                            : "expand(" + made.fn +
                                  ", zeros(#1), over = axes(zeros(#1))[-1])";
  }
  steps.push_back(std::move(made));
  return at;
}

int Translator::materialize(int at) {
  if (rows.count(at))
    return readRows(at);
  if (value(at).kind == GraphValue::Made || value(at).kind == GraphValue::Input)
    return at;
  if (isKnown(at) && materialized.count(at)) {
    auto [copy, isNew] = copies.try_emplace({at, node->module}, at);
    if (isNew)
      copy->second = another(at);
    at = copy->second;
  } else if (isKnown(at)) {
    copies[{at, node->module}] = at;
  }
  if (!materialized.insert(at).second)
    return at;
  Step made;
  made.form = Step::Form_;
  made.outs = {at};
  made.node = int(node - graph.nodes.data());
  bool isStored = value(at).kind == GraphValue::Weight;
  made.module = isStored ? node->module : -1;
  made.line = node->line;
  const GraphValue &tensor = value(at);
  std::string sizes = sizesText(tensor.shape);
  if (isStored) {
    made.form = Step::Instance;
    made.fn = tensor.isState ? "buffer" : "parameter";
    made.weight = tensor.name;
    made.weights = {at};
    put(made, "", "size", sizes);
    made.arguments.back().isNumber = tensor.shape.size() == 1;
    if (!tensor.init.empty())
      put(made, "init", "init", "\"" + tensor.init + "\"", "\"fan_in\"", false);
    if (!tensor.learns && !tensor.isState)
      put(made, "trainable", "trainable", "false", "true", false);
    steps.push_back(std::move(made));
    return at;
  }
  pendingKnown(made, at);
  made.module = node->module;
  steps.push_back(std::move(made));
  return at;
}

bool Translator::isListed(int at) const {
  if (!isKnown(at) || shape(at).empty())
    return false;
  auto values = value(at).known->find("values");
  Polynomial count = 1;
  for (const Polynomial &size : shape(at))
    count *= size;
  return values != value(at).known->end() && values->is_array() &&
         values->size() <= mostListed &&
         count == Polynomial(int64_t(values->size())) &&
         llvm::all_of(*values,
                      [](const Json &each) { return each.is_number(); });
}

/// Numbers in the brackets of a shape: `[[0, 2], [1, 1]]`.
static std::string nested(const Json &values, const Sizes &shape) {
  std::vector<std::string> parts;
  for (const Json &each : values)
    parts.push_back(each.dump());
  for (const Polynomial &size : llvm::reverse(shape)) {
    std::vector<std::string> joined;
    size_t width = size_t(*size.toInt64());
    for (size_t i = 0; i < parts.size(); i += width)
      joined.push_back(
          "[" + llvm::join(llvm::ArrayRef(parts).slice(i, width), ", ") + "]");
    parts = std::move(joined);
  }
  return parts.front();
}

void Translator::pendingKnown(Step &made, int at) {
  const GraphValue &tensor = value(at);
  const Json &known = *tensor.known;
  std::string kind = what(at), sizes = sizesText(tensor.shape);
  bool hasSizes =
      llvm::any_of(tensor.shape, [](auto &size) { return !size.isConstant(); });
  auto add = [&](std::string text) {
    put(made, "", "size", text, "", false);
    made.arguments.back().hasSizes = hasSizes;
  };
  bool isInteger = tensor.type[0] == 'i' || tensor.type[0] == 'u';
  if (kind == "number" && known.contains("value") &&
      known["value"].is_number() && !isInteger) {
    double number = known["value"].get<double>();
    made.fn = number == 0 ? "zeros(#0)" : "zeros(#0) + #1";
    add(sizes);
    put(made, "", "value", realText(number));
    return;
  }
  if (kind == "bucket" && tensor.shape.size() == 2) {
    made.fn = "relative_position(zeros(#0), #1, #2, causal = #3)";
    add(sizes);
    for (const char *key : {"buckets", "distance"})
      put(made, "", key, std::to_string(known.value(key, int64_t())));
    put(made, "", "causal", known.value("causal", false) ? "true" : "false", "",
        false);
    return;
  }
  if (isListed(at)) {
    made.fn = "tensor(#0)";
    const Json &values = known["values"];
    put(made, "", "values", nested(values, tensor.shape), "", false);
    return;
  }
  if (isInteger || tensor.type == "bool") {
    // What numbers a table is read by counts for nothing.
    Polynomial product = 1;
    for (const Polynomial &size : tensor.shape)
      product *= size;
    made.fn =
        tensor.shape.size() == 1 ? "arange(#0)" : "reshape(arange(#0), #1)";
    add(sizesText({product}));
    if (tensor.shape.size() != 1)
      add(sizes);
    return;
  }
  if (known.contains("init")) {
    made.fn = "table(#0, init = #1";
    add(sizes);
    put(made, "", "init", "\"" + known.value("init", std::string()) + "\"", "",
        false);
    if (known.contains("theta")) {
      made.fn += ", theta = #2";
      put(made, "", "theta", realText(known.value("theta", 1e4)));
    }
    made.fn += ")";
    return;
  }
  made.fn = "table(#0, init = \"sinusoid\")";
  if (tensor.shape.size() < 2)
    made.fn = tensor.shape.empty()
                  ? "0"
                  : "reshape(table(1, #0, init = \"sinusoid\"), #0)";
  add(sizes);
}

void Translator::same(int x) {
  alias[out()] = x;
  labels(out()) = labels(x);
}

std::vector<Step> netc::import::translate(Graph &graph,
                                          llvm::ArrayRef<std::string> opaque) {
  return Translator(graph, opaque).translate();
}
