// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/StepBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;

Step &StepBuilder::add(Step::Form form, std::string fn, std::vector<int> ins) {
  Step made;
  made.form = form;
  made.fn = std::move(fn);
  made.op = node.op();
  for (int &each : ins) {
    wantWhole(each);
    each = stored.materialize(each);
  }
  made.ins = std::move(ins);
  made.outs = {node.out()};
  made.node = node.number();
  made.module = node->module;
  made.line = node->line;
  steps.push_back(std::move(made));
  if (!steps.back().ins.empty()) {
    int from = steps.back().ins[0];
    if (values.labels(node.out()).size() == values.labels(from).size())
      values.labels(node.out()) = values.labels(from);
  }
  return steps.back();
}

Step &StepBuilder::addInstance(std::string fn, int x,
                               std::vector<int> weights) {
  Step &made = add(Step::Instance, std::move(fn), {x});
  made.weight = values.at(weights[0]).name;
  made.isFrozen = !values.at(weights[0]).learns;
  for (int weight : weights)
    stored.own(weight);
  made.weights = std::move(weights);
  return made;
}

int StepBuilder::make(std::string form, std::vector<int> ins, Sizes sizes) {
  int made = values.another(node.out());
  values.labels(made).assign(sizes.size(), "");
  values.at(made).shape = std::move(sizes);
  add(Step::Form_, std::move(form), std::move(ins)).outs = {made};
  return made;
}

int StepBuilder::intermediate() {
  int made = values.another(node.out());
  steps.back().outs = {made};
  return made;
}

void StepBuilder::same(int x) {
  values.rename(node.out(), x);
  values.labels(node.out()) = values.labels(x);
}

void StepBuilder::then(const std::string &sign, unsigned i,
                       const std::string &axes) {
  int before = intermediate(), other = node.in(i);
  StatedList<std::string> names = values.labels(node.out());
  Step &made = add(Step::Form_, "", {before, other});
  bool isWhole = values.shape(other) == values.shape(node.out());
  made.fn = "%0 " + sign + " " +
            (isWhole        ? "%1"
             : axes.empty() ? expanded(other, 1, "%0", &made)
                            : "expand(%1, %0, over = " + axes + ")");
  values.labels(node.out()) = names;
  values.meet(node.out(), other);
}

Step *StepBuilder::maker(int value) {
  for (Step &each : llvm::reverse(steps))
    if (llvm::is_contained(each.outs, value))
      return &each;
  return nullptr;
}

void StepBuilder::wantWhole(int value) {
  if (auto part = parts.find(value); part != parts.end())
    node.refuse(part->second);
}

int StepBuilder::floated(int x) {
  if (values.isFloat(x))
    return x;
  if (values.what(x) == "size" || stored.isOther(x)) {
    int real = values.another(x);
    values.at(real).type = "f32";
    return real;
  }
  int made = make("float(%0)", {x}, values.shape(x));
  steps.back().op = "convert";
  values.at(made).type = "f32";
  values.labels(made) = values.labels(x);
  return made;
}

std::string StepBuilder::beside(int x, std::string number) {
  int64_t whole = 0;
  llvm::StringRef(number).getAsInteger(10, whole);
  unsigned bits = 8;
  while (bits < 64 && !llvm::isIntN(bits, whole))
    bits *= 2;
  std::vector<int> work;
  if (bits > 8)
    work.push_back(x);
  for (std::set<int> seen; !work.empty();) {
    int each = work.back();
    work.pop_back();
    if (values.isFloat(each) || !seen.insert(each).second)
      continue;
    if (values.at(each).kind == GraphValue::Input)
      values.at(each).bits = std::max(values.at(each).bits, bits);
    else if (const Step *made = maker(each))
      llvm::append_range(work, made->ins);
  }
  return number;
}

int StepBuilder::diagonal(int x, unsigned a, unsigned b, int64_t offset) {
  const Sizes sizes = values.shape(x);
  int64_t rows = node.fixed(sizes[a]), columns = node.fixed(sizes[b]);
  if (a == b || offset <= -rows || offset >= columns)
    node.refuse("no elements lie on such a diagonal");
  Polynomial begin = offset < 0 ? Polynomial(-offset) * columns : offset;
  int64_t count = std::min(rows + std::min<int64_t>(offset, 0),
                           columns - std::max<int64_t>(offset, 0));
  std::string order;
  Sizes flat;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (i != a && i != b) {
      order += std::to_string(i) + ", ";
      flat.push_back(sizes[i]);
    }
  order += std::to_string(a) + ", " + std::to_string(b);
  flat.push_back(Polynomial(rows) * columns);
  bool isLast = a + 2 == sizes.size() && b == a + 1;
  int whole =
      make(isLast ? "reshape(%0, #0)"
                  : "reshape(transpose(%0, order = [" + order + "]), #0)",
           {x}, flat);
  last().putSizes(flat);
  flat.back() = count;
  int part = values.another(node.out());
  values.labels(part).assign(flat.size(), "");
  values.at(part).shape = flat;
  Step &made = add(Step::Pipe, "positions", {whole});
  made.outs = {part};
  made.put("", "places",
           "[" + (begin.isZero() ? "" : begin.str() + " + ") +
               (Polynomial(columns) + 1).str() + " * i for i in 0.." +
               std::to_string(count) + "]",
           "", false);
  made.put("over", "over", axesText(unsigned(flat.size() - 1)), "", false);
  return part;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

void StepBuilder::putOver(Step &step, int x, unsigned at) {
  step.over = {at};
  if (values.featureAxis(x) != int(at))
    step.put("over", "over", axesText(at), "", false);
}

void StepBuilder::labelImage(Step &step, int x, size_t windows) {
  if (!values.isImage(x, windows))
    step.labels = true;
  step.over.clear();
  for (size_t i = 0; i < windows; ++i)
    step.over.push_back(int64_t(i) + 2);
  nameImage(x, windows);
}

void StepBuilder::nameImage(int x, size_t windows) {
  static const char *names[] = {"D", "H", "W"};
  node.wantRank(node.out(), windows + 2, windows + 2);
  StatedList<std::string> &made = values.labels(node.out());
  made[0] = values.labels(x)[0];
  if (values.shape(x)[0] == Polynomial::symbol("N"))
    made[0] = "N";
  made[1] = "C";
  for (size_t i = 0; i < windows; ++i)
    made[i + 2] = windows == 1 ? "L" : names[i + 3 - windows];
}

int StepBuilder::unlabelled(int x, int beside) {
  if (values.shape(x).size() != values.shape(beside).size())
    return x;
  std::vector<std::string> own = symbolsOf(values.shape(x));
  for (auto [label, other, symbol] :
       llvm::zip_equal(values.labels(x), values.labels(beside), own))
    if (isNamed(label) && isNamed(other) && label != other && label != symbol)
      return stripped(x);
  return x;
}

int StepBuilder::bare(int x) {
  if (!llvm::is_contained(values.labels(x), "C"))
    return x;
  auto [found, isNew] = bared.try_emplace({x, node->module}, x);
  if (isNew)
    found->second = stripped(x);
  return found->second;
}

int StepBuilder::stripped(int x) {
  const Sizes sizes = values.shape(x);
  int made = make("reshape(%0, #0)", {x}, sizes);
  last().putSizes(sizes);
  values.labels(made) = symbolsOf(sizes);
  return made;
}

std::string StepBuilder::expanded(int x, int at, const std::string &like,
                                  Step *made, int target) {
  const Sizes &from = values.shape(x),
              &to = values.shape(target < 0 ? node.out() : target);
  node.wantRank(x, 0, to.size());
  std::string name = "%" + std::to_string(at);
  if (from == to || from.empty())
    return name;
  std::vector<unsigned> places;
  Sizes kept;
  for (size_t i = 0; i < from.size(); ++i) {
    unsigned place = i + to.size() - from.size();
    if (from[i] == 1 && !(to[place] == 1))
      continue;
    kept.push_back(from[i]);
    places.push_back(place);
  }
  bool isCut = kept.size() < from.size();
  if (isCut && from.size() > 2 && places == std::vector<unsigned>{0, 1})
    return "expand(flatten(" + name + "), " + like +
           ", over = " + axesText(places, like) + ")";
  if (isCut) {
    std::string sizes = sizesText(kept);
    if (made) {
      unsigned number = made->arguments.size();
      made->put("", "size", kept.empty() ? "[]" : sizes, "",
                kept.size() == 1 && kept[0].isConstant());
      made->arguments.back().hasSizes =
          llvm::any_of(kept, [](auto &size) { return !size.isConstant(); });
      sizes = "#" + std::to_string(number);
    }
    name = "reshape(" + name + ", " + sizes + ")";
  }
  return "expand(" + name + ", " + like + ", over = " + axesText(places, like) +
         ")";
}

int StepBuilder::repeated(int x) {
  Sizes wanted = values.shape(node.out());
  if (values.shape(x) == wanted)
    return x;
  int made = make("", {x}, wanted);
  values.at(made).type = values.at(x).type;
  last().putSizes(wanted);
  last().fn = expanded(x, 0, "zeros(#0)", &last());
  return made;
}

int StepBuilder::beforeExpand(int x) {
  const Step *made = maker(x);
  return made && made->op == "broadcast" && made->ins.size() == 1 ? made->ins[0]
                                                                  : x;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

void StepBuilder::addView(int x, std::vector<int> permutation) {
  if (permutation.empty() && values.shape(x) == values.shape(node.out()))
    return same(x);
  wantWhole(x);
  Step *last = maker(x);
  Step made;
  if (last && last->form == Step::View && values.uses(x) == 1 &&
      values.otherUses(x) <= 1) {
    made = *last;
    steps.erase(steps.begin() + (last - steps.data()));
    made.module = common(made.module, node->module);
  } else {
    made.form = Step::View;
    made.op = "reshape";
    made.ins = {stored.materialize(x)};
    made.module = node->module;
  }
  made.outs = {node.out()};
  made.line = node->line;
  made.permutations.push_back(std::move(permutation));
  made.shapes.push_back(values.shape(node.out()));
  // Labels that a later step asks for; the last word is writeView's.
  Step probe = made;
  writeView(probe, graph);
  steps.push_back(std::move(made));
}

int StepBuilder::beforeReshape(int x) {
  Step *view = maker(x);
  if (!view || view->form != Step::View || !view->permutations.back().empty())
    return x;
  if (view->permutations.size() == 1)
    return view->ins[0];
  view->permutations.pop_back();
  view->shapes.pop_back();
  values.at(x).shape = view->shapes.back();
  values.labels(x).assign(values.shape(x).size(), "");
  Step probe = *view;
  writeView(probe, graph);
  return x;
}

int StepBuilder::common(int a, int b) const {
  for (; a >= 0; a = graph.modules[a].parent)
    for (int each = b; each >= 0; each = graph.modules[each].parent)
      if (each == a)
        return a;
  return -1;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

int StepBuilder::read(int value) {
  value = values.real(value);
  wantWhole(value);
  return stored.materialize(value);
}

std::vector<Step> StepBuilder::finish() {
  std::set<int> results;
  for (auto &output : graph.outputs) {
    output.second = read(output.second);
    results.insert(output.second);
  }
  dropUnused(std::move(results));
  dropInputs();
  findIdioms(graph, steps);
  noteReplaced();
  writeViews();
  return std::move(steps);
}

void StepBuilder::writeViews() {
  for (Step &step : steps)
    if (step.form == Step::View)
      writeView(step, graph);
}

std::vector<Step> StepBuilder::bodyOf(llvm::function_ref<void()> translate,
                                      std::vector<int> &results) {
  std::vector<Step> before = std::exchange(steps, {});
  auto baredBefore = bared;
  int module = node->module;
  translate();
  for (int &each : results)
    each = read(each);
  std::vector<Step> body;
  for (Step &each : std::exchange(steps, {})) {
    bool isStored = each.op.empty();
    if (isStored)
      each.module = module;
    (isStored ? before : body).push_back(std::move(each));
  }
  steps = std::move(body);
  dropUnused({results.begin(), results.end()});
  writeViews();
  bared = std::move(baredBefore);
  return std::exchange(steps, std::move(before));
}

void StepBuilder::noteOtherPlaces() {
  graph.note("Tables are read at other places than the model computes or "
             "lists; no count depends on these.");
  hasOtherPlaces = true;
}

void StepBuilder::noteLeftOutMask() {
  graph.note("Masks that are known, and neither causal nor windows, are left "
             "out; no FLOP depend on them.");
}

void StepBuilder::noteReplaced() {
  for (const Step &each : steps) {
    int value = each.outs[0];
    bool isFloat = values.isFloat(value);
    if (!stored.isReplaced(value) || (!isFloat && hasOtherPlaces))
      continue;
    graph.notes.push_back("Constants such as `" + values.at(value).name +
                          "` are " + (isFloat ? "ones" : "0, 1, 2, ..") +
                          " here, and not the values of the model; no count "
                          "depends on these.");
    return;
  }
}

void StepBuilder::dropUnused(std::set<int> read) {
  std::vector<Step> kept;
  for (Step &each : llvm::reverse(steps)) {
    auto isRead = [&](int at) { return read.count(at) != 0; };
    if (llvm::none_of(each.outs, isRead) && llvm::none_of(each.weights, isRead))
      continue;
    read.insert(each.ins.begin(), each.ins.end());
    kept.push_back(std::move(each));
  }
  std::reverse(kept.begin(), kept.end());
  steps = std::move(kept);
}

void StepBuilder::dropInputs() {
  std::set<int> read;
  std::set<std::string> wanted; // names of free axes
  auto addAxes = [&](llvm::ArrayRef<Polynomial> sizes) {
    for (const Polynomial &size : sizes)
      for (const std::string &symbol : size.symbols())
        wanted.insert(symbol);
  };
  for (auto &output : graph.outputs)
    read.insert(output.second);
  forEachStep(steps, [&](const Step &each) {
    read.insert(each.ins.begin(), each.ins.end());
    for (int out : each.outs)
      addAxes(values.shape(out));
    for (const StepArgument &argument : each.arguments)
      for (llvm::StringRef each : llvm::split(argument.text, ", ")) {
        std::string text = each.str();
        llvm::erase(text, ' ');
        if (!argument.hasSizes)
          break;
        if (std::optional<Polynomial> size = Polynomial::parse(text))
          addAxes({*size});
      }
  });
  auto takeAxes = [&](int input) {
    bool hasWanted = false;
    for (const Polynomial &size : values.shape(input))
      for (const std::string &symbol : size.symbols())
        hasWanted |= wanted.erase(symbol) != 0;
    return hasWanted;
  };
  for (int each : graph.inputs())
    if (read.count(each))
      takeAxes(each);
  for (int each : graph.inputs())
    if (!read.count(each) && !takeAxes(each)) {
      values.at(each).isRead = false;
      graph.notes.push_back("Nothing reads the argument `" +
                            values.at(each).name +
                            "`, and the net is without it.");
    }
}
