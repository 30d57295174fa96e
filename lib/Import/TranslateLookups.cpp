// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What reads places of a tensor by their numbers.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void LookupTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten._embedding_bag", &LookupTranslator::embeddingBag},
          {"aten._embedding_bag_forward_only", &LookupTranslator::embeddingBag},
          {"aten.argmax", &LookupTranslator::placeOfExtreme},
          {"aten.argmin", &LookupTranslator::placeOfExtreme},
          {"aten.diagonal", &LookupTranslator::diagonal},
          {"aten.index_add", &LookupTranslator::addRows},
          {"aten.index_select", &LookupTranslator::positions},
          {"aten.scatter", &LookupTranslator::scatter},
          {"embedding", &LookupTranslator::embedding},
          {"onnx.ArgMax", &LookupTranslator::placeOfExtreme},
          {"onnx.ArgMin", &LookupTranslator::placeOfExtreme},
          {"onnx.Gather", &LookupTranslator::gather},
          {"take", &LookupTranslator::taken},
          {"top_k", &LookupTranslator::largest},
      });
}

std::string LookupTranslator::overText(int x, unsigned at) const {
  return values.featureAxis(x) == int(at) ? "" : ", over = " + axesText(at);
}

void LookupTranslator::largest() {
  node.ignore({"sorted"}); // they are
  int x = node.in(0);
  std::string by = node.flag("largest") ? "%0" : "-%0";
  std::string over = overText(x, node.axis("dim", -1, shape(x).size()));
  int choices =
      node->outs.size() > 1 ? node->outs[1] : values.another(node.out());
  Step &made = steps.add(Step::Form_, "top_k(" + by + ", #0" + over + ")", {x});
  made.outs = {choices};
  made.put("", "top", std::to_string(node.integer("k", 1)));
  if (values.uses(node.out()))
    steps.add(Step::Form_, "take(%0, %1" + over + ")", {x, choices});
}

void LookupTranslator::scatter() {
  int x = node.in(0), places = node.in(1);
  size_t rank = shape(x).size();
  node.wantRank(places, rank, rank);
  Sizes rows = shape(places);
  rows.back() = shape(x).back();
  bool isAlongLast = values.what(x) == "number" && rows == shape(x) &&
                     node.axis("dim", -1, rank) == rank - 1;
  if (isAlongLast && node->ins.size() > 2)
    return scatterTop(places);
  if (!isAlongLast || node.realOf(x) != 0 || node.real("value", 0) != 1)
    node.refuse("netc sets ones among zeros, along the last axis");
  Step &made =
      steps.add(Step::Form_,
                "sum(embedding(%0, table(#0, #0, init = \"identity\")), "
                "over = " +
                    axesText(unsigned(rank - 1)) + ")",
                {places});
  made.put("", "size", shape(x).back().str());
}

void LookupTranslator::scatterTop(int places) {
  const Step *top = steps.maker(places);
  if (!top || !StringRef(top->fn).starts_with("top_k("))
    node.refuse("netc sets elements among equal ones at the places of the "
                "largest");
  Sizes chosen = shape(places);
  size_t rank = chosen.size();
  Polynomial size = shape(node.out()).back();
  chosen.push_back(size);
  int rows = steps.make("embedding(%0, table(#0, #0, init = \"identity\"))",
                        {places}, chosen);
  steps.last().put("", "size", size.str());
  std::string over = ", over = " + axesText(unsigned(rank - 1)) + ")";
  std::string set = "sum(%0 * expand(%1, %0, over = axes(%0)[0.." +
                    std::to_string(rank) + "])" + over;
  bool isAmongZeros = node.realOf(node.in(0)) == 0;
  Step &made = steps.add(
      Step::Form_,
      isAmongZeros ? set : "where(sum(%0" + over + " > 0, " + set + ", #0)",
      {rows, node.in(2)});
  if (!isAmongZeros)
    made.put("", "value", node.numberTextOf(node.in(0)));
  values.labels(node.out()).assign(rank, "");
}

void LookupTranslator::addRows() {
  int x = steps.floated(node.in(0)), ids = node.in(1);
  if (node.axis("dim", 0, shape(x).size()) != 0 || shape(ids).size() != 1 ||
      node.real("alpha", 1) != 1)
    node.refuse("netc adds rows along the first axis");
  steps.add(Step::Form_, "scatter_add(%0, %1, %2, over = axes(%0)[0])",
            {x, ids, steps.floated(node.in(2))});
}

void LookupTranslator::taken() {
  node.ignore({"sparse_grad"});
  int x = promoted(node.in(0));
  std::string over = overText(x, node.axis("dim", -1, shape(x).size()));
  steps.add(Step::Form_, "take(%0, %1" + over + ")", {x, node.in(1)});
}

void LookupTranslator::checkTable() {
  node.ignore({"padding_idx"}); // a row that is not trained, of a table that is
  if (node.flag("scale_grad_by_freq"))
    node.refuse("its gradients are scaled by how often a row is read");
  if (node.flag("sparse"))
    notes.push_back("The gradient of `" + values.at(node.in(0)).name +
                    "` is sparse; netc counts one of the whole table.");
}

void LookupTranslator::embedding() {
  checkTable();
  bool isIndex = node->op == "aten.index";
  if (isIndex && node->ins.size() > 2 && !node.has(1))
    return positions();
  if (isIndex && node->ins.size() > 2 && isWhole(node.in(0)))
    return views.view();
  if (isIndex && node->ins.size() == 3 && isOfEach())
    return takeOfEach();
  int table = node.in(0), ids = node.in(1);
  const Step *maker = steps.maker(ids);
  if (maker && maker->op == "dispatch" && isIndex) {
    steps.add(Step::Form_, "collect(%0, %1)",
              {steps.beforeReshape(table), ids});
    values.labels(node.out()).assign(shape(node.out()).size(), "");
    return;
  }
  if (!values.isWeight(table) || isIndex) {
    if (!(isIndex || values.isKnown(table)) || node->ins.size() != 2)
      node.refuse("it reads what is no table of weights");
    return lookUp(ids, table);
  }
  bool isOwned = node.owns(0) && !steps.maker(table);
  if (isOwned && values.what(ids) == "range" && shape(ids).back() != 1) {
    steps.stored.setRows(node.out(), {table, ""});
    return;
  }
  if (values.what(ids) == "number") {
    steps.stored.setRows(
        node.out(),
        {table, realText(values.at(ids).known->value("value", 0.0))});
    return;
  }
  if (values.isKnown(ids) || !isOwned || shape(table).size() != 2)
    return lookUp(ids, table);
  StatedList<std::string> had = values.labels(ids);
  Step &made = steps.addInstance("Embedding", ids, {table});
  made.put("", "rows", shape(table)[0].str());
  made.put("", "d", shape(table)[1].str());
  had.push_back("");
  values.labels(node.out()) = had;
}

void LookupTranslator::lookUp(int ids, int table) {
  noteOthers(ids);
  if (shape(table).size() != 2) {
    steps.add(Step::Form_, "gather(%0, %1, over = axes(%0)[0])", {table, ids});
    values.labels(node.out()).assign(shape(node.out()).size(), "");
    return;
  }
  bool isInside = areRows(ids, table);
  Step &made = steps.add(Step::Form_,
                         isInside ? "embedding(%0, %1)"
                                  : "embedding(minimum(%0, #0), %1)",
                         {ids, table});
  if (!isInside)
    made.put("", "last", (shape(table)[0] - 1).str());
  values.labels(node.out()).assign(shape(node.out()).size(), "");
}

void LookupTranslator::lookUpColumns(int ids, int table) {
  const Sizes sizes = shape(table);
  lookUp(ids, steps.make("transpose(%0)", {table}, {sizes[1], sizes[0]}));
  Sizes read = shape(ids);
  read.push_back(sizes[0]);
  int rows = steps.intermediate();
  std::string order = std::to_string(read.size() - 1);
  for (size_t i = 0; i + 1 < read.size(); ++i)
    order += ", " + std::to_string(i);
  values.labels(rows).assign(read.size(), "");
  values.at(rows).shape = std::move(read);
  steps.add(Step::Form_, "transpose(%0, order = [" + order + "])", {rows});
}

bool LookupTranslator::areRows(int ids, int table) const {
  std::optional<int64_t> numbers = elements(shape(ids)).toInt64(),
                         all = shape(table)[0].toInt64();
  return isExact(ids) || !all || (numbers && *numbers <= *all);
}

bool LookupTranslator::isExact(int ids) const {
  std::string kind = values.what(ids);
  return !values.isKnown(ids) || steps.stored.isListed(ids) ||
         kind == "number" || kind == "range";
}

void LookupTranslator::noteOthers(int ids) {
  if (!isExact(ids))
    steps.noteOtherPlaces();
}

std::vector<int64_t> LookupTranslator::listed(int ids) {
  const Json *known = values.isKnown(ids) ? values.at(ids).known : nullptr;
  if (!known)
    node.refuse("which places it reads depends on data");
  const Sizes &sizes = shape(ids);
  int64_t count = node.fixed(elements(sizes)), row = count;
  // A range of several axes is one along the last.
  if (llvm::count_if(sizes, [](auto &size) { return !(size == 1); }) > 1)
    row = node.fixed(sizes.back());
  std::vector<int64_t> places;
  if (known->contains("values"))
    for (const Json &each : (*known)["values"])
      places.push_back(node.integerFrom(each));
  bool isOne = values.what(ids) == "number";
  if (places.empty() && values.what(ids) == "table")
    noteOthers(ids);
  int64_t first =
      node.integerFrom(known->value(isOne ? "value" : "start", Json(0)));
  for (int64_t i = 0; places.size() < size_t(count); ++i)
    places.push_back(isOne ? first : first + i % row);
  return places;
}

std::vector<int64_t> LookupTranslator::listed(int ids, const Sizes &wanted) {
  std::vector<int64_t> places = listed(ids);
  Sizes sizes = shape(ids);
  node.wantRank(ids, 0, wanted.size());
  sizes.insert(sizes.begin(), wanted.size() - sizes.size(), Polynomial(1));
  size_t size = 1; // of the last axes, which are repeated as wanted
  for (size_t i = wanted.size(); i-- > 0;) {
    size_t count = node.fixed(wanted[i]);
    if (!(sizes[i] == wanted[i])) {
      if (!(sizes[i] == 1))
        node.refuse("its tables of places do not fit each other");
      std::vector<int64_t> given = std::move(places);
      places.clear();
      for (size_t first = 0; first < given.size(); first += size)
        for (size_t at = 0; at < count * size; ++at)
          places.push_back(given[first + at % size]);
    }
    size *= count;
  }
  return places;
}

int LookupTranslator::joinLast(int x, unsigned axes,
                               std::vector<int64_t> &places) {
  if (axes < 2 || !node.has(axes - 1))
    return x;
  Sizes sizes = shape(x), wanted;
  for (size_t i = axes - 2; i + sizes.size() < shape(node.out()).size() + axes;
       ++i)
    wanted.push_back(shape(node.out())[i]);
  places = listed(node.in(axes), wanted);
  std::vector<int64_t> rows = listed(node.in(axes - 1), wanted);
  int64_t height = node.fixed(sizes[axes - 2]),
          width = node.fixed(sizes[axes - 1]);
  // A negative place counts from the end.
  for (auto [place, row] : llvm::zip_equal(places, rows))
    place = (row < 0 ? row + height : row) * width +
            (place < 0 ? place + width : place);
  sizes[axes - 2] *= sizes[axes - 1];
  sizes.remove(axes - 1);
  int made = steps.make("reshape(%0, #0)", {x}, sizes);
  steps.last().putSizes(sizes);
  return made;
}

void LookupTranslator::positions() {
  unsigned operand = node->ins.size() - 1;
  bool isIndex = node->op == "aten.index";
  for (unsigned i = 1; i + isIndex < operand; ++i)
    if (node.has(i))
      node.refuse("it reads places of several axes");
  int ids = node.in(operand);
  if (!isIndex && !values.isKnown(ids) &&
      node.axis("dim", 0, shape(node.in(0)).size()) == 0)
    return lookUp(ids, node.in(0));
  if (isIndex && operand == 2 && shape(ids).size() > 1 &&
      shape(node.in(0)).size() == 2 && values.isKnown(ids))
    return lookUpColumns(ids, node.in(0));
  std::vector<int64_t> places = listed(ids);
  int x = isIndex ? joinLast(node.in(0), operand, places) : node.in(0);
  size_t rank = shape(x).size(), joined = shape(node.in(0)).size() - rank;
  unsigned at = isIndex ? operand - 1 - joined : node.axis("dim", 0, rank);
  std::vector<std::string> texts;
  for (int64_t place : places)
    texts.push_back(std::to_string(place));
  Step &made = steps.add(Step::Pipe, "positions", {x});
  made.put("", "places", "[" + llvm::join(texts, ", ") + "]", "", false);
  made.put("over", "over", axesText(at), "", false);
  if (shape(node.out()).size() == rank) {
    values.labels(node.out())[at].clear();
    return;
  }
  int flat = values.another(node.out());
  made.outs = {flat};
  Sizes sizes = shape(x);
  sizes[at] = int64_t(places.size());
  values.at(flat).shape = sizes;
  values.labels(flat).assign(rank, "");
  steps.add(Step::Form_, "reshape(%0, #0)", {flat}).putSizes(shape(node.out()));
  values.labels(node.out()).assign(shape(node.out()).size(), "");
}

bool LookupTranslator::isOfEach() {
  int x = node.in(0), rows = node.in(1), ids = node.in(2);
  return shape(x).size() > 1 && values.what(rows) == "range" &&
         shape(rows).size() == 1 && shape(rows)[0] == shape(x)[0] &&
         values.at(rows).known->value("start", Json(0)) == 0 &&
         shape(ids) == shape(rows);
}

void LookupTranslator::takeOfEach() {
  noteOthers(node.in(2));
  Sizes wide = shape(node.in(0));
  wide[1] = 1;
  Step &made = steps.add(
      Step::Form_,
      "reshape(take(%0, expand(%1, zeros(#0), over = axes(zeros(#0))[0]), over "
      "= axes(%0)[1]), #1)",
      {node.in(0), node.in(2)});
  made.putSizes(wide);
  made.putSizes(shape(node.out()));
  values.labels(node.out()).assign(shape(node.out()).size(), "");
}

bool LookupTranslator::isWhole(int x) {
  const Sizes &made = shape(node.out());
  size_t at = 0; // the axis of the result that is next
  for (unsigned i = 1; i < node->ins.size(); ++i) {
    int ids = node.has(i) ? node.in(i) : -1;
    if (ids < 0 || values.what(ids) != "range" ||
        values.at(ids).known->value("start", Json(0)) != 0)
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

void LookupTranslator::diagonal() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  unsigned a = node.axis("dim1", 0, rank), b = node.axis("dim2", 1, rank);
  steps.same(steps.diagonal(x, a, b, node.integer("offset", 0)));
}

void LookupTranslator::embeddingBag() {
  checkTable();
  node.ignoreOperand(2); // where bags begin
  int table = node.in(0), ids = steps.beforeReshape(node.in(1));
  if (node->outs.size() > 1 || node.has(3) ||
      node.flag("include_last_offset") || shape(ids).size() != 2 ||
      shape(ids)[0] != shape(node.out())[0] || !node.owns(0))
    node.refuse("its bags are not the rows of a tensor of numbers");
  int64_t mode = node.integer("mode", 0);
  if (mode > 1)
    node.refuse("netc has sums and means of a bag");
  Step &made = steps.addInstance("EmbeddingBag", ids, {table});
  made.put("", "rows", shape(table)[0].str());
  made.put("", "d", shape(table)[1].str());
  made.put("mode", "mode", mode ? "\"mean\"" : "\"sum\"", "\"sum\"", false);
  values.labels(node.out()) = {values.labels(ids)[0], ""};
}

void LookupTranslator::gather() {
  return node.setting("index") ? slices.slice()
         : node.setting("dim") ? positions()
                               : embedding();
}

void LookupTranslator::placeOfExtreme() {
  int x = steps.floated(node.in(0));
  if (!node.setting("dim"))
    node.refuse("netc takes the largest of an axis");
  std::string over = overText(x, node.axis("dim", 0, shape(x).size()));
  bool isLeast = StringRef(node->op).ends_with_insensitive("argmin");
  Step &made = steps.add(Step::Form_,
                         std::string("reshape(top_k(") +
                             (isLeast ? "-%0" : "%0") + ", 1" + over + "), #0)",
                         {x});
  made.putSizes(shape(node.out()));
  values.labels(node.out()).assign(shape(node.out()).size(), "");
}
