// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parts of an axis, and other orders of one.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;

void SliceTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.roll", &SliceTranslator::roll},
          {"aten.slice_scatter", &SliceTranslator::sliceScatter},
          {"reverse", &SliceTranslator::reverse},
          {"slice", &SliceTranslator::slice},
          {"unfold", &SliceTranslator::windows},
      });
}

void SliceTranslator::slice() {
  node.ignore({"start", "step"}); // of the whole axis
  int x = node.in(0);
  size_t rank = shape(x).size();
  unsigned at = node.axis("dim", 0, rank);
  bool isSelect = node.setting("index");
  const Polynomial &size = shape(x)[at];
  if (!isSelect)
    node.wantRank(node.out(), rank, rank);
  if (!isSelect && shape(node.out()) == shape(x))
    return steps.same(x);
  if (node.integer("step", 1) != 1)
    return strided(x, at);
  Step &made = steps.add(Step::Form_, "", {x});
  std::string place = "#0";
  if (isSelect) {
    int64_t index = node.integer("index", 0);
    made.put("", "start", std::to_string(index));
    Polynomial begin = index < 0 ? size + index : index;
    cuts[node.out()] = {x, at, begin, begin + 1};
  } else {
    Polynomial begin = node.place("start", size),
               end = begin + shape(node.out())[at];
    place = made.putPart(begin, end);
    cuts[node.out()] = {x, at, begin, end};
  }
  made.fn = partText("%0", rank, at, place);
  StatedList<std::string> kept = values.labels(x);
  if (isSelect)
    kept.remove(at);
  values.labels(node.out()) = kept;
}

bool SliceTranslator::areEqual(int a, int b) const {
  auto one = cuts.find(a), other = cuts.find(b);
  return a == b || (one != cuts.end() && other != cuts.end() &&
                    one->second.axis == other->second.axis &&
                    one->second.begin == other->second.begin &&
                    one->second.end == other->second.end &&
                    areEqual(one->second.x, other->second.x));
}

bool SliceTranslator::isOwn(int x, unsigned at, const Polynomial &begin,
                            int part) const {
  Polynomial end = begin + shape(part)[at];
  const Step *view = steps.maker(part);
  if (view && view->form == Step::View && view->permutations.size() == 1 &&
      end == begin + 1)
    part = view->ins[0];
  auto cut = cuts.find(part);
  return cut != cuts.end() && areEqual(cut->second.x, x) &&
         cut->second.axis == at && cut->second.begin == begin &&
         cut->second.end == end;
}

void SliceTranslator::sliceScatter() {
  int x = promoted(node.in(0)), part = promoted(node.in(1));
  size_t rank = shape(x).size();
  unsigned at = node.axis("dim", 0, rank);
  node.wantRank(part, rank, rank);
  if (node.integer("step", 1) != 1)
    node.refuse("there are places between");
  Polynomial begin = node.place("start", shape(x)[at]),
             end = begin + shape(part)[at];
  if (isOwn(x, at, begin, part))
    return steps.same(x);
  const Mosaic plain{x, at, {{0, shape(x)[at], -1}}};
  Mosaic mosaic = plain;
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
  if (place == mosaic.tiles.end()) { // it is a part of what was replaced
    mosaic = plain;
    place = mosaic.tiles.begin();
  }
  Tile whole = *place;
  place = mosaic.tiles.erase(place);
  for (Tile tile : {Tile{end, whole.end, -1}, Tile{begin, end, part},
                    Tile{whole.begin, begin, -1}})
    if (!(tile.begin == tile.end))
      place = mosaic.tiles.insert(place, tile);
  mosaics[node.out()] = mosaic;
  if (mosaic.tiles.size() == 1)
    return steps.same(part);

  std::vector<int> ins;
  for (const Tile &tile : mosaic.tiles)
    ins.push_back(tile.value < 0 ? mosaic.base : tile.value);
  Step &made = steps.add(Step::Form_, "", ins);
  std::vector<std::string> parts;
  for (const Tile &tile : mosaic.tiles) {
    std::string operand = "%" + std::to_string(parts.size());
    parts.push_back(
        tile.value < 0
            ? partText(operand, rank, at, made.putPart(tile.begin, tile.end))
            : operand);
  }
  made.fn = "concat(" + llvm::join(parts, ", ") + ", over = axes(%0)[" +
            std::to_string(at) + "])";
}

void SliceTranslator::strided(int x, unsigned at) {
  int64_t n = node.integer("step", 1);
  size_t rank = shape(x).size();
  Polynomial start = node.place("start", shape(x)[at]);
  if (auto first = start.toInt64();
      !first || *first >= n || !(shape(node.out())[at] * n == shape(x)[at])) {
    // From the first of them on, as many as there are steps; zeros at the end.
    int64_t from = node.fixed(start), whole = node.fixed(shape(x)[at]),
            count = node.fixed(shape(node.out())[at]),
            end = std::min(from + count * n, whole);
    Sizes sizes = shape(x);
    sizes[at] = count * n;
    int part = steps.make("", {x}, sizes);
    Step &made = steps.last();
    made.fn = partText("%0", rank, at, made.putPart(from, end));
    if (end - from < count * n) {
      std::string number = std::to_string(made.arguments.size());
      made.fn = "lengthen(" + made.fn + ", #" + number + ", over = axes(%0)[" +
                std::to_string(at) + "])";
      made.put("", "more", std::to_string(count * n - (end - from)));
    }
    x = part;
    start = 0;
  }
  Step &made = steps.add(Step::Form_, "", {x});
  std::string left, right;
  for (size_t i = 0; i < rank; ++i) {
    std::string letter(1, char('a' + i));
    left += (i ? " " : "") + (i == at ? "(" + letter + " z)" : letter);
    right += letter + " ";
  }
  made.fn =
      "rearrange(%0, \"" + left + " -> " + right + "z\", z = #0)[..., #1]";
  made.put("", "step", std::to_string(n));
  made.put("", "start", start.str());
  values.labels(node.out())[at].clear();
}

void SliceTranslator::roll() {
  int x = node.in(0);
  if (const Json *dims = node.setting("dims"); dims && dims->empty())
    node.refuse("it turns all axes as one");
  std::vector<int64_t> by = node.integers("shifts", 0, 1);
  std::vector<unsigned> over;
  for (int64_t each : node.integers("dims", 0, by.size()))
    over.push_back(node.axis(each, shape(x).size()));
  if (over.size() != by.size())
    node.refuse("`shifts` has a number for each of `dims`");
  // Beyond the end of an axis, PyTorch goes on from its beginning.
  for (auto [shift, axis] : llvm::zip(by, over))
    if (int64_t size = shape(x)[axis].toInt64().value_or(0))
      shift %= size;
  Step &made = steps.add(Step::Pipe, "roll", {x});
  made.put("by", "shift", listText(by));
  made.put("over", "over", axesText(over), "", false);
}

void SliceTranslator::reverse() {
  int x = node.in(0);
  Step &made = steps.add(Step::Pipe, "flip", {x});
  made.put("over", "over", axesText(node.axes(shape(x).size())), "", false);
}

void SliceTranslator::windows() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  unsigned at = node.axis("dimension", 0, rank);
  node.wantRank(node.out(), rank + 1, rank + 1);
  if (node.integer("step", 1) != 1)
    node.refuse("there are places between the windows");
  const Polynomial size = shape(node.out()).back();
  // netc's go back from each place, also from the first ones, as if zeros were
  // in front. Those of PyTorch go ahead.
  const Step *joined = steps.maker(x);
  bool hasZeros = joined && joined->op == "concat" && joined->ins.size() == 2 &&
                  values.what(joined->ins[0]) == "number" &&
                  node.realOf(joined->ins[0]) == 0 &&
                  shape(joined->ins[0])[at] == size - 1 &&
                  shape(joined->ins[1])[at] == shape(node.out())[at];
  if (hasZeros)
    x = joined->ins[1];
  Sizes sizes = shape(x);
  sizes.insert(sizes.begin() + at + 1, size);
  int back =
      steps.make("unfold(%0, #0, over = axes(%0)[" + std::to_string(at) + "])",
                 {x}, sizes);
  steps.last().putSizes({size});
  int whole = back;
  if (!hasZeros) {
    sizes[at] = shape(node.out())[at];
    whole = steps.make("", {back}, sizes);
    Step &part = steps.last();
    part.fn =
        partText("%0", rank + 1, at, part.putPart(size - 1, shape(x)[at]));
  }
  std::string order;
  for (size_t i = 0; i <= rank; ++i)
    if (i != at + 1)
      order += std::to_string(i) + ", ";
  order += std::to_string(at + 1);
  steps.add(Step::Form_,
            "transpose(flip(%0, over = axes(%0)[" + std::to_string(at + 1) +
                "]), order = [" + order + "])",
            {whole});
}
