// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Export/GraphWriter.h"

#include "dialect/Repetition.h"
#include "lib/Analysis/Cost.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;
using Json = llvm::json::Value;
using Tensor = ForeignTensor;

namespace {
/// Why an op cannot be written.
struct NotExported {
  std::string why;
};
} // namespace

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

Json GraphWriter::json(double value) {
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

Json GraphWriter::json(const Polynomial &value) {
  if (std::optional<int64_t> number = value.toInt64())
    return *number;
  return value.str();
}

Json GraphWriter::json(Axes values) {
  return Array(llvm::map_range(values, [](int64_t each) { return each; }));
}

Json GraphWriter::json(const Shape &shape) {
  Array sizes;
  for (const Polynomial &size : shape.sizes)
    sizes.push_back(json(size));
  return sizes;
}

Json GraphWriter::json(ElementsAttr values) {
  Array all;
  if (isa<IntegerType>(values.getElementType()))
    for (const llvm::APInt &each : values.getValues<llvm::APInt>())
      all.push_back(each.getSExtValue());
  else
    for (const llvm::APFloat &each : values.getValues<llvm::APFloat>())
      all.push_back(json(each.convertToDouble()));
  return all;
}

std::string GraphWriter::equation(StringRef spec) {
  llvm::StringMap<char> letters;
  std::string text;
  for (size_t at = 0; at < spec.size();) {
    StringRef word = spec.substr(at).take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (word.empty()) {
      if (spec[at] != ' ')
        text += spec[at];
      ++at;
      continue;
    }
    auto [found, isNew] = letters.try_emplace(word, '\0');
    if (isNew)
      found->second = char('a' + letters.size() - 1);
    text += found->second;
    at += word.size();
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Tensors and nodes
//===----------------------------------------------------------------------===//

void GraphWriter::refuse(const llvm::Twine &why) {
  throw NotExported{why.str()};
}

std::string GraphWriter::unique(std::string name) {
  std::string made = name;
  for (unsigned i = 2; !names.insert(made).second; ++i)
    made = name + "_" + std::to_string(i);
  return made;
}

Object GraphWriter::describe(const Tensor &tensor) {
  std::string type;
  if (tensor.element.isInteger(1))
    type = "bool";
  else if (auto integer = dyn_cast<IntegerType>(tensor.element))
    type = "i" + std::to_string(integer.getWidth());
  else
    llvm::raw_string_ostream(type) << tensor.element;
  for (const Polynomial &size : tensor.shape.sizes)
    for (const std::string &symbol : size.symbols())
      symbols.insert(symbol);
  return Object{
      {"name", tensor.name}, {"type", type}, {"shape", json(tensor.shape)}};
}

Tensor GraphWriter::get(mlir::Value value) {
  if (auto found = tensors.find(value); found != tensors.end()) {
    Tensor tensor = found->second;
    auto isWhole = [&](mlir::Value each) {
      auto other = tensors.find(each);
      return other != tensors.end() && !other->second.repeated;
    };
    if (!tensor.repeated || (op->hasTrait<ElementByElement>() &&
                             llvm::any_of(op->getOperands(), isWhole)))
      return tensor;
    return tensors[value] = whole(tensor);
  }
  auto result = cast<OpResult>(value);
  refuse("PyTorch's ops do not give result " +
         llvm::Twine(result.getResultNumber()) + " of `" +
         result.getOwner()->getName().stripDialect() + "`");
}

Tensor GraphWriter::whole(Tensor x) {
  if (!x.repeated)
    return x;
  Shape shape = *x.repeated;
  return make("aten.expand", {x}, {{"size", json(shape)}}, shape);
}

GraphWriter::Tensors GraphWriter::get(ValueRange values) {
  Tensors all;
  for (mlir::Value value : values)
    all.push_back(get(value));
  return all;
}

void GraphWriter::set(mlir::Value value, Tensor tensor) {
  tensors[value] = std::move(tensor);
}

/// The name of a module's class: `MhaPart` for `mha.0`, `Mha` for `mha_2@3`.
static std::string classOf(StringRef container, StringRef name) {
  StringRef kind = name.split('@').first.rtrim("0123456789").rtrim('_');
  bool isPart = kind.empty();
  if (isPart)
    kind = container.split('@').first;
  return (kind.take_front().upper() + kind.drop_front() +
          (isPart ? "Part" : ""))
      .str();
}

/// The part that is recomputed and has the op. Null if there is none.
static Attribute recomputedPart(Operation *op) {
  Attribute number;
  for (; op && !number; op = op->getParentOp())
    number = op->getAttr(kRecomputed);
  return number;
}

/// The names of the instances that an op is in.
static SmallVector<StringRef> instancesOf(Operation *op) {
  SmallVector<StringRef> names;
  nameOf(op).split(names, '.');
  names.pop_back();
  return names;
}

void GraphWriter::findRecomputed(Block &block) {
  // The part of each module, if all of its ops are in one.
  llvm::StringMap<Attribute> parts;
  block.walk([&](Operation *each) {
    // A weight is no part of what computes with it.
    if (each->getNumOperands() == 0 || each->hasTrait<OpTrait::IsTerminator>())
      return;
    Attribute number = recomputedPart(each);
    SmallVector<StringRef> names = instancesOf(each);
    if (number) {
      auto [found, isNew] = recomputed.try_emplace(number);
      SmallVector<StringRef> &common = found->second.modules;
      if (isNew)
        common = names;
      while (!ArrayRef(names).take_front(common.size()).equals(common))
        common.pop_back();
    }
    for (; !names.empty(); names.pop_back()) {
      auto found = parts.try_emplace(llvm::join(names, "."), number).first;
      if (found->second != number)
        found->second = {};
    }
  });
  size_t count = 0;
  for (auto &[number, part] : recomputed) {
    part.name = "segment_" + std::to_string(++count);
    part.isModule = parts.lookup(llvm::join(part.modules, ".")) == number;
  }
}

SmallVector<StringRef> GraphWriter::modulesOf(Operation *of) const {
  SmallVector<StringRef> names = instancesOf(of);
  auto found = recomputed.find(recomputedPart(of));
  if (found != recomputed.end() && !found->second.isModule)
    names.insert(names.begin() + found->second.modules.size(),
                 found->second.name);
  return names;
}

Array GraphWriter::modules() {
  SmallVector<StringRef> parts = modulesOf(op);
  size_t kept = 0;
  while (kept < parts.size() && kept < open.size() &&
         parts[kept] == open[kept].name)
    ++kept;
  open.resize(kept);
  // The module of the op that is recomputed as a whole.
  auto part = recomputed.find(recomputedPart(op));
  size_t again = parts.size();
  if (part != recomputed.end())
    again = part->second.modules.size() - part->second.isModule;
  std::string key, path;
  for (size_t i = 0; i < parts.size(); ++i) {
    key += "." + parts[i].str();
    path += (i ? "." : "") + parts[i].split('@').first.str();
    if (i < kept)
      continue;
    // An op may come back to an instance after ops outside of it, such as the
    // sum of a residual branch. That is not a second call: the op belongs to
    // the enclosing module.
    if (!called.insert(key).second)
      break;
    open.push_back({parts[i].str(), int64_t(calls.size())});
    Object call{{"path", path},
                {"call", ++timesCalled[path]},
                {"class", classOf(i ? parts[i - 1] : "", parts[i])}};
    if (i == again)
      call["recomputed"] = true;
    calls.push_back(std::move(call));
  }
  return Array(llvm::map_range(open, [](auto &call) { return call.place; }));
}

void GraphWriter::addNode(StringRef name, ArrayRef<Tensor> ins, Settings with,
                          ArrayRef<Tensor> outs) {
  Array inNames, made;
  for (const Tensor &in : ins)
    inNames.push_back(in.name.empty() ? Json(nullptr) : Json(in.name));
  for (const Tensor &out : outs)
    made.push_back(describe(out));
  Object node{{"op", name.str()},
              {"in", std::move(inNames)},
              {"with", static_cast<Object &&>(with)},
              {"out", std::move(made)},
              {"module", modules()}};
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    node["line"] =
        (at.getFilename().getValue() + ":" + llvm::Twine(at.getLine())).str();
  nodes.push_back(std::move(node));
}

void GraphWriter::write(StringRef name, ArrayRef<Tensor> ins, Settings with,
                        ValueRange results) {
  Tensors outs;
  for (mlir::Value result : results) {
    std::string own = nameOf(op).str();
    if (results.size() > 1)
      own += "." + std::to_string(outs.size());
    outs.push_back({unique(own), elementOf(result), shapeOf(result)});
    set(result, outs.back());
  }
  addNode(name, ins, std::move(with), outs);
}

GraphWriter::Tensors GraphWriter::make(StringRef name, ArrayRef<Tensor> ins,
                                       Settings with,
                                       ArrayRef<RankedTensorType> types) {
  Tensors outs;
  std::string own = (nameOf(op) + "." + name.split('.').second).str();
  for (RankedTensorType type : types)
    outs.push_back({unique(own), type.getElementType(), shapeOf(type)});
  addNode(name, ins, std::move(with), outs);
  return outs;
}

Tensor GraphWriter::make(StringRef name, ArrayRef<Tensor> ins, Settings with,
                         const Shape &shape) {
  return make(name, ins, std::move(with), tensorOf(ins.front().element, shape));
}

void GraphWriter::weight(mlir::Value value, StringRef name, StringRef init,
                         bool learns, bool isState) {
  Tensor tensor{unique(name.str()), elementOf(value), shapeOf(value)};
  Object entry = describe(tensor);
  entry["init"] = init;
  entry["learns"] = learns;
  if (isState)
    entry["state"] = true;
  weights.push_back(std::move(entry));
  set(value, std::move(tensor));
}

Tensor GraphWriter::known(StringRef what, Type element, const Shape &shape,
                          Settings facts) {
  facts["what"] = what;
  // One number is no table.
  if (Array *values = facts.getArray("values"); values && shape.rank() == 0)
    facts = {{"what", "number"}, {"value", values->front()}};
  std::string text;
  llvm::raw_string_ostream os(text);
  os << Json(Object(facts)) << element << json(shape);
  auto [found, isNew] = knownByText.try_emplace(os.str());
  if (!isNew)
    return found->second;
  Tensor tensor{unique(nameOf(op).str()), element, shape};
  Object entry = describe(tensor);
  for (auto &[key, value] : facts)
    entry[key] = value;
  knowns.push_back(std::move(entry));
  return found->second = tensor;
}

Tensor GraphWriter::number(double value, Type element, const Shape &shape) {
  return known("number", element, shape, {{"value", json(value)}});
}

Tensor GraphWriter::range(const Polynomial &size) {
  return known("range", IntegerType::get(op->getContext(), 64), Shape{{size}},
               {{"start", 0}});
}

Tensor GraphWriter::compare(StringRef relation, Tensor a, Tensor b,
                            const Shape &shape) {
  Type truth = IntegerType::get(op->getContext(), 1);
  return make(("aten." + relation).str(), {a, b}, {}, tensorOf(truth, shape));
}

Tensor GraphWriter::both(Tensor a, Tensor b) {
  return make("aten.where", {a, b, a}, {}, a.shape);
}

//===----------------------------------------------------------------------===//
// Moves of elements
//===----------------------------------------------------------------------===//

Tensor GraphWriter::view(Tensor x, const Shape &shape) {
  if (x.shape == shape)
    return x;
  return make("aten.view", {x}, {{"size", json(shape)}}, shape);
}

Shape GraphWriter::permuted(const Shape &shape, Axes order) {
  Shape made;
  for (int64_t each : order)
    made.sizes.push_back(shape[each]);
  return made;
}

SmallVector<int64_t> GraphWriter::moved(int64_t from, int64_t to, size_t rank) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

Tensor GraphWriter::permute(Tensor x, Axes order) {
  if (llvm::is_sorted(order))
    return x;
  return make("aten.permute", {x}, {{"dims", json(order)}},
              permuted(x.shape, order));
}

Tensor GraphWriter::flip(Tensor x, int64_t axis) {
  return make("aten.flip", {x}, {{"dims", json(Axes(axis))}}, x.shape);
}

Tensor GraphWriter::slice(Tensor x, int64_t axis, const Polynomial &start,
                          const Shape &shape) {
  return make("aten.slice", {x},
              {{"dim", axis},
               {"start", json(start)},
               {"end", json(start + shape[axis])}},
              shape);
}

Tensor GraphWriter::expand(Tensor x, Axes axes, const Shape &shape) {
  // Axes before the first one of x are added by broadcasting.
  Shape aligned;
  for (auto [i, size] : llvm::enumerate(shape.sizes))
    if (llvm::is_contained(axes, int64_t(i)))
      aligned.sizes.push_back(size);
    else if (!aligned.sizes.empty() || axes.empty())
      aligned.sizes.push_back(1);
  if (axes.empty())
    aligned.sizes.clear();
  Tensor made = view(std::move(x), aligned);
  made.repeated = shape;
  return made;
}

Tensor GraphWriter::pad(Tensor x, Axes over, Axes low, Axes high,
                        double value) {
  SmallVector<int64_t> amounts(2 * x.shape.rank(), 0);
  Shape padded = x.shape;
  for (auto [axis, before, after] : llvm::zip(over, low, high)) {
    // PyTorch lists the axes from the last one on.
    size_t at = 2 * (x.shape.rank() - 1 - axis);
    amounts[at] = before;
    amounts[at + 1] = after;
    padded[axis] += before + after;
  }
  while (amounts.size() >= 2 && amounts.back() == 0 &&
         amounts[amounts.size() - 2] == 0)
    amounts.truncate(amounts.size() - 2);
  if (amounts.empty())
    return x;
  return make("aten.constant_pad_nd", {x},
              {{"pad", json(amounts)}, {"value", json(value)}}, padded);
}

Tensor GraphWriter::convert(Tensor x, Type element) {
  if (x.element == element)
    return x;
  return make("aten.to", {x}, {}, tensorOf(element, x.shape));
}

Tensor GraphWriter::mean(Tensor x) {
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, x.shape.rank()));
  return make("aten.mean", {x}, {{"dim", json(all)}, {"keepdim", false}},
              Shape());
}

std::pair<Tensor, Tensor> GraphWriter::joinRows(Tensor x, Tensor ids,
                                                int64_t over) {
  if (over == 0)
    return {x, ids};
  ArrayRef<Polynomial> sizes = x.shape.sizes;
  Shape each{sizes.take_front(over + 1)}, all{{each.elements()}};
  Shape joined = all, first = each;
  llvm::append_range(joined.sizes, sizes.drop_front(over + 1));
  // The number of the first row of each place of the axes before.
  first[over] = 1;
  Tensor start =
      slice(view(known("range", ids.element, all, {{"start", 0}}), each), over,
            0, first);
  first.sizes.resize(ids.shape.rank(), 1);
  Tensor numbers = make("aten.add", {ids, view(start, first)}, {}, ids.shape);
  // A number that is of no row is of none of the others.
  auto is = [&](StringRef relation, const Polynomial &bound) {
    Tensor size = known("size", ids.element, Shape(), {{"size", json(bound)}});
    return compare(relation, ids, size, ids.shape);
  };
  Tensor isRow = both(is("ge", 0), is("lt", sizes[over]));
  return {view(x, joined),
          make("aten.where",
               {isRow, numbers, number(-1, ids.element, ids.shape)}, {},
               tensorOf(ids.element, ids.shape))};
}

static SmallVector<int64_t> inverse(ArrayRef<int64_t> order) {
  SmallVector<int64_t> back(order.size());
  for (auto [place, axis] : llvm::enumerate(order))
    back[axis] = int64_t(place);
  return back;
}

void GraphWriter::atEnd(mlir::Value y, Tensor x, Axes over, Rule rule) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < int64_t(x.shape.rank()); ++i)
    if (!llvm::is_contained(over, i))
      order.push_back(i);
  llvm::append_range(order, over);
  Tensor moved = permute(x, order);
  set(y, permute(rule(moved, permuted(shapeOf(y), order)), inverse(order)));
}

void GraphWriter::asImages(mlir::Value y, Tensor x, Axes over, int64_t channel,
                           Rule rule) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < int64_t(x.shape.rank()); ++i)
    if (i != channel && !llvm::is_contained(over, i))
      order.push_back(i);
  if (channel >= 0)
    order.push_back(channel);
  size_t others = order.size();
  llvm::append_range(order, over);
  // The last of the `others` is the channel axis. All others become the batch
  // axis.
  auto merged = [&](const Shape &shape) {
    Shape image;
    Polynomial batch = 1;
    for (size_t i = 0; i + 1 < others; ++i)
      batch *= shape[i];
    image.sizes = {batch, others ? shape[others - 1] : Polynomial(1)};
    llvm::append_range(image.sizes, llvm::drop_begin(shape.sizes, others));
    return image;
  };
  Tensor moved = permute(x, order);
  Shape result = permuted(shapeOf(y), order);
  Tensor made = rule(view(moved, merged(moved.shape)), merged(result));
  set(y, permute(view(made, result), inverse(order)));
}

Tensor GraphWriter::padImages(Tensor x, Axes low, Axes high, Axes most,
                              double value, SmallVectorImpl<int64_t> &padding) {
  SmallVector<int64_t> over, before, after;
  for (size_t i = 0; i < low.size(); ++i) {
    int64_t both = std::min({low[i], high[i], most[i]});
    padding.push_back(both);
    over.push_back(int64_t(i) + 2);
    before.push_back(low[i] - both);
    after.push_back(high[i] - both);
  }
  return pad(x, over, before, after, value);
}

void GraphWriter::writeOp(Operation &each) {
  op = &each;
  ExportRule rule = findExportRule(each.getName().getStringRef());
  if (!rule)
    refuse("no op of PyTorch is the same");
  rule(&each, *this);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// Prints an object with one line per element of its lists.
static void print(llvm::raw_ostream &os,
                  ArrayRef<std::pair<StringRef, Json>> members) {
  StringRef before = "{\n";
  for (auto &[key, value] : members) {
    os << before << "  \"" << key << "\": ";
    before = ",\n";
    const Array *list = value.getAsArray();
    if (!list || list->empty()) {
      os << value;
      continue;
    }
    StringRef between = "[\n    ";
    for (const Json &each : *list) {
      os << between << each;
      between = ",\n    ";
    }
    os << "]";
  }
  os << "\n}\n";
}

bool netc::exportGraph(Operation *graph, llvm::raw_ostream &os) {
  GraphWriter to;
  Block &block = graph->getRegion(0).front();
  auto inputs = graph->getAttrOfType<ArrayAttr>("inputs");
  for (auto [value, name] : llvm::zip_equal(
           block.getArguments(), inputs.getAsValueRange<StringAttr>())) {
    Tensor tensor{to.unique(name.str()), elementOf(value), shapeOf(value)};
    to.inputs.push_back(to.describe(tensor));
    to.set(value, std::move(tensor));
  }
  to.findRecomputed(block);
  llvm::StringSet<> refused;
  for (Operation &op : block.without_terminator()) {
    to.op = &op;
    StringRef kind = op.getName().stripDialect();
    try {
      if (refused.empty() || !findExportRule(op.getName().getStringRef()))
        to.writeOp(op);
    } catch (const NotExported &wrong) {
      if (refused.insert(kind).second)
        emitError(op.getLoc(),
                  error::ExportRefusedOp(kind, nameOf(&op), wrong.why));
    }
  }
  if (!refused.empty())
    return false;
  auto end = cast<ReturnOp>(block.getTerminator());
  to.op = end;
  Array outputs;
  for (auto [value, name] : llvm::zip_equal(
           end.getResults(), end.getNames().getAsValueRange<StringAttr>()))
    outputs.push_back(Object{{"name", name}, {"value", to.get(value).name}});
  Object symbols;
  for (const std::string &symbol : to.symbols)
    symbols[symbol] = Object{{"min", 1}};
  StringRef name = SymbolTable::getSymbolName(graph);
  print(os, {{"netc_graph", 1},
             {"name", name},
             {"from", "netc " NETC_VERSION},
             {"symbols", std::move(symbols)},
             {"inputs", std::move(to.inputs)},
             {"weights", std::move(to.weights)},
             {"known", std::move(to.knowns)},
             {"modules", std::move(to.calls)},
             {"nodes", std::move(to.nodes)},
             {"outputs", std::move(outputs)}});
  return true;
}
