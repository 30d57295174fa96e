// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views, parts and sums of tensors of other frameworks in the words of netc.

#include "lib/Import/Translator.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void Translator::appendView(int x, std::vector<int> permutation) {
  if (permutation.empty() && shape(x) == shape(out()))
    return same(x);
  Step *last = maker(x);
  Step made;
  if (last && last->form == Step::View && uses[x] == 1 && aliasUses(x) <= 1) {
    made = *last;
    steps.erase(steps.begin() + (last - steps.data()));
    made.outs = {out()};
    made.module = common(made.module, node->module);
    made.line = node->line;
  } else {
    x = materialize(x);
    made.form = Step::View;
    made.op = "reshape";
    made.ins = {x};
    made.outs = {out()};
    made.module = node->module;
    made.line = node->line;
  }
  made.permutations.push_back(std::move(permutation));
  made.shapes.push_back(shape(out()));
  // Labels that a later step asks for; the last word is writeView's.
  Step probe = made;
  writeView(probe, graph);
  steps.push_back(std::move(made));
}

int Translator::common(int a, int b) const {
  for (; a >= 0; a = graph.modules[a].parent)
    for (int each = b; each >= 0; each = graph.modules[each].parent)
      if (each == a)
        return a;
  return -1;
}

unsigned Translator::aliasUses(int x) {
  unsigned count = 0;
  for (size_t i = 0; i < alias.size(); ++i)
    if (int(i) != x && real(int(i)) == x)
      count += uses[int(i)];
  return count;
}

void Translator::permute() {
  int x = in(0);
  size_t rank = shape(x).size();
  std::vector<int> order;
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int(i));
  if (const Json *dims = setting("dims")) {
    if (!dims->is_array() || dims->size() != rank)
      refuse("`dims` has a number for each axis");
    for (size_t i = 0; i < rank; ++i)
      order[i] = int(axis((*dims)[i].get<int64_t>(), rank));
  } else if (node->op == "aten.t") {
    std::reverse(order.begin(), order.end());
  } else {
    std::swap(
        order[axis(integer(setting("dim0") ? "dim0" : "axis0", 0), rank)],
        order[axis(integer(setting("dim1") ? "dim1" : "axis1", 1), rank)]);
  }
  appendView(x, std::move(order));
}

void Translator::concat() {
  ignore({"dim"}); // of a single tensor
  std::vector<int> ins;
  std::string form = "concat(";
  for (size_t i = 0; i < node->ins.size(); ++i) {
    int x = in(i);
    if (llvm::any_of(shape(x), [](auto &size) { return size.isZero(); }))
      continue; // it is empty
    form += (ins.empty() ? "%" : ", %") + std::to_string(ins.size());
    ins.push_back(ins.empty() ? x : unlabelled(x, ins[0]));
  }
  if (ins.size() == 1)
    return same(ins[0]);
  unsigned at = axis(integer("dim", 0), shape(ins[0]).size());
  Step &made = step(Step::Form_, form, ins);
  if (featureAxis(ins[0]) != int(at))
    made.fn += ", over = axes(%0)[" + std::to_string(at) + "]";
  made.fn += ")";
}

void Translator::stack() {
  std::vector<int> ins;
  std::vector<std::string> parts;
  unsigned at = axis(integer("dim", 0), shape(in(0)).size() + 1);
  for (size_t i = 0; i < node->ins.size(); ++i) {
    std::string part = "%" + std::to_string(i);
    parts.push_back(at == 1 ? part : "reshape(" + part + ", #0)");
    ins.push_back(i == 0 ? in(0) : unlabelled(in(i), ins[0]));
  }
  std::string all = llvm::join(parts, ", ");
  if (at == 1) {
    step(Step::Form_, "stack(" + all + ")", ins);
    return;
  }
  Step &made = step(Step::Form_,
                    "concat(" + all + ", over = axes(reshape(%0, #0))[" +
                        std::to_string(at) + "])",
                    ins);
  Sizes part = shape(ins[0]);
  part.insert(part.begin() + at, 1);
  putSizes(made, part);
}

void Translator::split() {
  int x = in(0);
  size_t rank = shape(x).size();
  for (int each : node->outs)
    wantRank(each, rank, rank);
  unsigned at = axis(integer("dim", 0), rank);
  std::vector<std::string> sizes;
  bool isEqual = true;
  Polynomial sum;
  for (int each : node->outs) {
    sizes.push_back(shape(each)[at].str());
    isEqual &= shape(each)[at] == shape(node->outs[0])[at];
    sum += shape(each)[at];
  }
  if (!(sum == shape(x)[at])) {
    // The last parts are not used, and not in the graph.
    Polynomial rest = shape(x)[at] - sum;
    sizes.push_back(rest.str());
    isEqual &= rest == shape(node->outs[0])[at];
  }
  Step &made = step(Step::Pipe, "split", {x});
  made.outs = node->outs;
  for (int each : node->outs)
    labels(each) = labels(x);
  if (sizes.size() > node->outs.size()) {
    int spare = another(node->outs[0]);
    graph.values[spare].shape[at] = shape(x)[at] - sum;
    made.outs.push_back(spare);
  }
  put(made, "", "parts",
      isEqual ? std::to_string(sizes.size())
              : "[" + llvm::join(sizes, ", ") + "]",
      "", !isEqual);
  putOver(made, x, at);
}

void Translator::unbind() {
  int x = in(0);
  size_t rank = shape(x).size();
  unsigned at = axis(integer("dim", 0), rank);
  int64_t count = fixed(shape(x)[at]);
  Sizes part = shape(x);
  part[at] = 1;
  std::vector<int> parts;
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(another(out()));
    graph.values[parts.back()].shape = part;
  }
  Step &made = step(Step::Pipe, "split", {x});
  made.outs = parts;
  put(made, "", "parts", std::to_string(count));
  putOver(made, x, at);
  for (size_t i = 0; i < node->outs.size(); ++i) {
    Step &each = step(Step::Form_, "reshape(%0, #0)", {parts[i]});
    each.outs = {node->outs[i]};
    putSizes(each, shape(node->outs[i]));
    labels(node->outs[i]).assign(rank - 1, "");
  }
}

void Translator::repeat() {
  int x = in(0);
  size_t rank = shape(out()).size(), added = rank - shape(x).size();
  if (node->op != "onnx.Tile" && node->ins.size() > 1)
    refuse("how often it repeats depends on data");
  bool isEach = node->op == "aten.repeat_interleave";
  if (setting("repeats") && isEach && !setting("dim"))
    refuse("it repeats all axes as one");
  if (shape(out()) == shape(x))
    return same(x);
  Sizes sizes; // of each axis and of how often it is there
  std::vector<std::string> over;
  for (size_t i = 0; i < rank; ++i) {
    Polynomial had = i < added ? 1 : shape(x)[i - added];
    Polynomial times = shape(out())[i] / had;
    bool isMore = times != 1;
    if (isMore && !isEach)
      sizes.push_back(times);
    if (i >= added) {
      over.push_back("axes(zeros(#0))[" + std::to_string(sizes.size()) + "]");
      sizes.push_back(had);
    }
    if (isMore && isEach)
      sizes.push_back(times);
  }
  Step &made = step(Step::Form_,
                    "reshape(expand(%0, zeros(#0), over = [" +
                        llvm::join(over, ", ") + "]), #1)",
                    {x});
  for (const Sizes &each : {sizes, shape(out())})
    putSizes(made, each);
  labels(out()).assign(rank, "");
}

void Translator::slice() {
  ignore({"start", "step"}); // of the whole axis
  int x = in(0);
  size_t rank = shape(x).size();
  unsigned at = axis(integer("dim", 0), rank);
  bool isSelect = setting("index");
  const Polynomial &size = shape(x)[at];
  if (!isSelect)
    wantRank(out(), rank, rank);
  if (!isSelect && shape(out()) == shape(x))
    return same(x);
  if (integer("step", 1) != 1)
    return strided(x, at);
  Step &made = step(Step::Form_, "", {x});
  std::string place = "#0";
  if (isSelect) {
    put(made, "", "start", std::to_string(integer("index", 0)));
  } else {
    Polynomial begin = bound(setting("start"), size, 0);
    place = putPlaces(made, begin, begin + shape(out())[at]);
  }
  made.fn = partText("%0", rank, at, place);
  std::vector<std::string> kept = labels(x);
  if (isSelect)
    kept.erase(kept.begin() + at);
  labels(out()) = kept;
}

std::string Translator::partText(const std::string &x, size_t rank, unsigned at,
                                 const std::string &place) {
  if (at == 0)
    return x + "[" + place + (rank > 1 ? ", ...]" : "]");
  std::string form = x + "[..., " + place;
  for (size_t i = at + 1; i < rank; ++i)
    form += ", 0..axes(" + x + ")[" + std::to_string(i) + "]";
  return form + "]";
}

void Translator::sliceScatter() {
  int x = in(0), part = in(1);
  size_t rank = shape(x).size();
  unsigned at = axis(integer("dim", 0), rank);
  wantRank(part, rank, rank);
  if (integer("step", 1) != 1)
    refuse("there are places between");
  Polynomial begin = bound(setting("start"), shape(x)[at], 0),
             end = begin + shape(part)[at];
  Mosaic mosaic{x, at, {{0, shape(x)[at], -1}}};
  if (auto found = mosaics.find(x);
      found != mosaics.end() && found->second.axis == at)
    mosaic = found->second;
  auto isWithin = [](const Polynomial &difference) {
    return difference.toInt64().value_or(-1) >= 0;
  };
  bool isFirst = mosaic.tiles.size() == 1;
  auto place = llvm::find_if(mosaic.tiles, [&](const Tile &tile) {
    return tile.value < 0 && (isFirst || (isWithin(begin - tile.begin) &&
                                          isWithin(tile.end - end)));
  });
  if (place == mosaic.tiles.end())
    refuse("its parts overlap");
  Tile whole = *place;
  place = mosaic.tiles.erase(place);
  for (Tile tile : {Tile{end, whole.end, -1}, Tile{begin, end, part},
                    Tile{whole.begin, begin, -1}})
    if (!(tile.begin == tile.end))
      place = mosaic.tiles.insert(place, tile);
  mosaics[out()] = mosaic;
  if (mosaic.tiles.size() == 1)
    return same(part);

  std::vector<int> ins;
  for (const Tile &tile : mosaic.tiles)
    ins.push_back(tile.value < 0 ? mosaic.base : tile.value);
  Step &made = step(Step::Form_, "", ins);
  std::vector<std::string> parts;
  for (const Tile &tile : mosaic.tiles) {
    std::string operand = "%" + std::to_string(parts.size());
    parts.push_back(
        tile.value < 0
            ? partText(operand, rank, at, putPlaces(made, tile.begin, tile.end))
            : operand);
  }
  made.fn = "concat(" + llvm::join(parts, ", ") + ", over = axes(%0)[" +
            std::to_string(at) + "])";
}

std::string Translator::putPlaces(Step &made, const Polynomial &begin,
                                  const Polynomial &end) {
  std::string text;
  for (const auto &[name, size] :
       {std::make_pair("start", begin), std::make_pair("end", end)}) {
    text +=
        (text.empty() ? "#" : "..#") + std::to_string(made.arguments.size());
    put(made, "", name, size.str(), "", size.isConstant());
    made.arguments.back().hasSizes = !size.isConstant();
  }
  return text;
}

Polynomial Translator::bound(const Json *given, const Polynomial &size,
                             int64_t otherwise) {
  if (!given)
    return otherwise;
  if (given->is_number_integer()) {
    int64_t number = given->get<int64_t>();
    return number < 0 ? size + number : Polynomial(number);
  }
  if (given->is_string())
    if (auto parsed = Polynomial::parse(given->get<std::string>()))
      return *parsed;
  refuse("`start` is no size");
}

void Translator::strided(int x, unsigned at) {
  int64_t n = integer("step", 1);
  size_t rank = shape(x).size();
  Polynomial start = bound(setting("start"), shape(x)[at], 0);
  if (auto first = start.toInt64();
      !first || *first >= n || !(shape(out())[at] * n == shape(x)[at])) {
    // From the first of them on, as many as there are steps; zeros at the end.
    int64_t from = fixed(start), whole = fixed(shape(x)[at]),
            count = fixed(shape(out())[at]),
            end = std::min(from + count * n, whole);
    Sizes sizes = shape(x);
    sizes[at] = count * n;
    int part = make("", {x}, sizes);
    Step &made = steps.back();
    made.fn = partText("%0", rank, at, putPlaces(made, from, end));
    if (end - from < count * n) {
      std::string number = std::to_string(made.arguments.size());
      made.fn = "lengthen(" + made.fn + ", #" + number + ", over = axes(%0)[" +
                std::to_string(at) + "])";
      put(made, "", "more", std::to_string(count * n - (end - from)));
    }
    x = part;
    start = 0;
  }
  Step &made = step(Step::Form_, "", {x});
  std::string left, right;
  for (size_t i = 0; i < rank; ++i) {
    std::string letter(1, char('a' + i));
    left += (i ? " " : "") + (i == at ? "(" + letter + " z)" : letter);
    right += letter + " ";
  }
  made.fn =
      "rearrange(%0, \"" + left + " -> " + right + "z\", z = #0)[..., #1]";
  put(made, "", "step", std::to_string(n));
  put(made, "", "start", start.str());
  labels(out())[at].clear();
}

std::string Translator::placesText(llvm::ArrayRef<unsigned> axes) {
  std::vector<std::string> places;
  for (unsigned each : axes)
    places.push_back("axes(%0)[" + std::to_string(each) + "]");
  return places.size() == 1 ? places[0] : "[" + llvm::join(places, ", ") + "]";
}

void Translator::roll() {
  int x = in(0);
  if (const Json *dims = setting("dims"); dims && dims->empty())
    refuse("it turns all axes as one");
  std::vector<int64_t> by = integers("shifts", 0, 1);
  std::vector<unsigned> over;
  for (int64_t each : integers("dims", 0, by.size()))
    over.push_back(axis(each, shape(x).size()));
  if (over.size() != by.size())
    refuse("`shifts` has a number for each of `dims`");
  Step &made = step(Step::Pipe, "roll", {x});
  put(made, "by", "shift", listText(by));
  put(made, "over", "over", placesText(over), "", false);
}

void Translator::reverse() {
  int x = in(0);
  Step &made = step(Step::Pipe, "flip", {x});
  put(made, "over", "over", placesText(reducedAxes(shape(x).size())), "",
      false);
}

void Translator::pixelShuffle() {
  wantRank(in(0), 4, 4);
  bool isUp = node->op == "aten.pixel_shuffle";
  std::string few = "n c (h a) (w b)", many = "n (c a b) h w";
  Step &made = step(Step::Form_,
                    "rearrange(%0, \"" +
                        (isUp ? many + " -> " + few : few + " -> " + many) +
                        "\", a = #0, b = #0)",
                    {in(0)});
  put(made, "", "factor",
      std::to_string(integer(isUp ? "upscale_factor" : "downscale_factor", 1)));
  std::fill(labels(out()).begin() + 1, labels(out()).end(), "");
}

void Translator::gate() {
  int x = in(0);
  size_t rank = shape(x).size();
  wantRank(out(), rank, rank);
  unsigned at = axis(integer("dim", -1), rank);
  Step &made = step(Step::Form_, "", {x});
  std::string first = putPlaces(made, 0, shape(out())[at]),
              second = putPlaces(made, shape(out())[at], shape(x)[at]);
  made.fn = partText("%0", rank, at, first) + " * sigmoid(" +
            partText("%0", rank, at, second) + ")";
}

void Translator::upsample() {
  int x = in(0);
  size_t windows = windowsOf(x);
  bool isLinear = StringRef(node->op).contains("linear") ||
                  (setting("mode") && *setting("mode") == "linear");
  std::string mode = flag("align_corners") ? "\"corners\""
                     : isLinear            ? "\"linear\""
                                           : "\"nearest\"";
  std::string sizes = sizesText(llvm::ArrayRef(shape(out())).drop_front(2));
  bool isImage = windows == 2 && !flag("align_corners");
  Step &made = step(Step::Pipe, isImage ? "upsample" : "resize", {x});
  put(made, "size", "size", windows == 1 ? sizes : "[" + sizes + "]", "",
      false);
  put(made, "mode", "mode", mode, "\"nearest\"", false);
  labelImage(made, x, windows);
  if (!isImage)
    std::fill(labels(out()).begin() + 2, labels(out()).end(), "");
}

void Translator::pad() {
  ignore({"value"});
  int x = in(0);
  size_t rank = shape(x).size();
  std::vector<int64_t> amounts = integers("pad", 0, 0);
  const Json *mode = setting("mode");
  if (llvm::all_of(amounts, [](int64_t each) { return each == 0; }))
    return same(x);
  if (mode && *mode != "constant")
    return extend(amounts, mode->dump());
  for (size_t i = 0; i < amounts.size(); ++i)
    if (amounts[i] < 0) {
      x = cut(x, unsigned(rank - 1 - i / 2), -amounts[i], i % 2 == 1);
      amounts[i] = 0;
    }
  if (llvm::all_of(amounts, [](int64_t each) { return each == 0; }))
    return same(x);
  std::string form = "%0";
  Step &made = step(Step::Form_, "", {x});
  for (size_t i = 0; 2 * i + 1 < amounts.size(); ++i) {
    if (amounts[2 * i] == 0 && amounts[2 * i + 1] == 0)
      continue;
    unsigned n = made.arguments.size();
    form = "pad(" + form + ", over = axes(" + form + ")[" +
           std::to_string(rank - 1 - i) + "], low = #" + std::to_string(n) +
           ", high = #" + std::to_string(n + 1) + ")";
    put(made, "", "low", std::to_string(amounts[2 * i]));
    put(made, "", "high", std::to_string(amounts[2 * i + 1]));
  }
  made.fn = form;
}

int Translator::cut(int x, unsigned at, int64_t count, bool isEnd) {
  Sizes sizes = shape(x);
  Polynomial begin = isEnd ? 0 : count;
  sizes[at] -= count;
  std::vector<std::string> names = labels(x);
  int part = make("", {x}, sizes);
  steps.back().fn = partText("%0", sizes.size(), at,
                             putPlaces(steps.back(), begin, begin + sizes[at]));
  labels(part) = names;
  return part;
}

void Translator::extend(llvm::ArrayRef<int64_t> amounts, std::string by) {
  int x = in(0);
  for (size_t i = 0; 2 * i + 1 < amounts.size(); ++i) {
    int64_t low = amounts[2 * i], high = amounts[2 * i + 1];
    unsigned at = unsigned(shape(x).size() - 1 - i);
    if (low < 0 || high < 0)
      refuse("it cuts off");
    if (low == 0 && high == 0)
      continue;
    Sizes sizes = shape(x);
    sizes[at] += low + high;
    std::vector<std::string> names = labels(x);
    names[at].clear();
    Step &made = step(Step::Pipe, "extend", {x});
    put(made, "low", "low", std::to_string(low), "0");
    put(made, "high", "high", std::to_string(high), "0");
    put(made, "by", "by", by, "", false);
    put(made, "over", "over", placesText(at), "", false);
    x = another(out());
    made.outs = {x};
    graph.values[x].shape = sizes;
    labels(x) = names;
  }
  steps.back().outs = {out()};
  labels(out()) = labels(x);
}

void Translator::dropUnused() {
  std::set<int> read;
  for (auto &output : graph.outputs)
    read.insert(output.second);
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
