// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views, and several tensors of one or one of several.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;

void ViewTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.copy", &ViewTranslator::copy},
          {"aten.repeat", &ViewTranslator::repeat},
          {"aten.repeat_interleave", &ViewTranslator::repeat},
          {"aten.unbind", &ViewTranslator::unbind},
          {"broadcast", &ViewTranslator::expand},
          {"concat", &ViewTranslator::concat},
          {"onnx.Tile", &ViewTranslator::repeat},
          {"reshape", &ViewTranslator::view},
          {"split", &ViewTranslator::split},
          {"stack", &ViewTranslator::stack},
          {"transpose", &ViewTranslator::permute},
      });
}

void ViewTranslator::expandTo(int x) {
  if (shape(x) == shape(node.out()))
    return steps.same(x);
  if (const JointMask *mask = masks.find(x))
    return masks.set(node.out(), *mask);
  Step &made = steps.add(Step::Form_, "", {x});
  made.putSizes(shape(node.out()));
  made.fn = steps.expanded(x, 0, "zeros(#0)", &made);
  values.labels(node.out()).assign(shape(node.out()).size(), "");
}

void ViewTranslator::view() {
  node.ignore({"dim", "allowzero"}); // the shape tells
  if (!masks.view(node.in(0)))
    steps.addView(node.in(0), {});
}

void ViewTranslator::permute() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  std::vector<int> order;
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int(i));
  if (const Json *dims = node.setting("dims")) {
    if (!dims->is_array() || dims->size() != rank)
      node.refuse("`dims` has a number for each axis");
    for (size_t i = 0; i < rank; ++i)
      order[i] = int(node.axis((*dims)[i], rank));
  } else if (node->op == "aten.t") {
    std::reverse(order.begin(), order.end());
  } else {
    std::swap(
        order[node.axis(
            node.integer(node.setting("dim0") ? "dim0" : "axis0", 0), rank)],
        order[node.axis(
            node.integer(node.setting("dim1") ? "dim1" : "axis1", 1), rank)]);
  }
  steps.addView(x, std::move(order));
}

void ViewTranslator::concat() {
  node.ignore({"dim"}); // of a single tensor
  std::vector<int> ins;
  std::string form = "concat(";
  for (size_t i = 0; i < node->ins.size(); ++i) {
    int x = promoted(node.in(i));
    if (llvm::any_of(shape(x), [](auto &size) { return size.isZero(); }))
      continue; // it is empty
    form += (ins.empty() ? "%" : ", %") + std::to_string(ins.size());
    ins.push_back(ins.empty() ? x : steps.unlabelled(x, ins[0]));
  }
  if (ins.empty())
    ins.push_back(node.in(0));
  if (ins.size() == 1)
    return steps.same(ins[0]);
  unsigned at = node.axis("dim", 0, shape(ins[0]).size());
  Step &made = steps.add(Step::Form_, form, ins);
  if (values.featureAxis(ins[0]) != int(at))
    made.fn += ", over = axes(%0)[" + std::to_string(at) + "]";
  made.fn += ")";
  values.labels(node.out()) = values.labels(ins[0]);
  for (int each : ins)
    if (values.labels(each)[at] != values.labels(ins[0])[at])
      values.labels(node.out())[at].clear();
}

void ViewTranslator::stack() {
  std::vector<int> ins;
  std::vector<std::string> parts;
  unsigned at = node.axis("dim", 0, shape(node.in(0)).size() + 1);
  for (size_t i = 0; i < node->ins.size(); ++i) {
    std::string part = "%" + std::to_string(i);
    parts.push_back(at == 1 ? part : "reshape(" + part + ", #0)");
    int x = promoted(node.in(i));
    ins.push_back(i == 0 ? x : steps.unlabelled(x, ins[0]));
  }
  std::string all = llvm::join(parts, ", ");
  if (at == 1) {
    steps.add(Step::Form_, "stack(" + all + ")", ins);
    return;
  }
  Step &made = steps.add(Step::Form_,
                         "concat(" + all + ", over = axes(reshape(%0, #0))[" +
                             std::to_string(at) + "])",
                         ins);
  Sizes part = shape(ins[0]);
  part.insert(part.begin() + at, 1);
  made.putSizes(part);
}

void ViewTranslator::split() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  for (int each : node->outs)
    node.wantRank(each, rank, rank);
  unsigned at = node.axis("dim", 0, rank);
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
  Step &made = steps.add(Step::Pipe, "split", {x});
  made.outs = node->outs;
  for (int each : node->outs)
    values.labels(each) = values.labels(x);
  if (sizes.size() > node->outs.size()) {
    int spare = values.another(node->outs[0]);
    values.at(spare).shape[at] = shape(x)[at] - sum;
    made.outs.push_back(spare);
  }
  made.put("", "parts",
           isEqual ? std::to_string(sizes.size())
                   : "[" + llvm::join(sizes, ", ") + "]",
           "", !isEqual);
  steps.putOver(made, x, at);
}

void ViewTranslator::unbind() {
  int x = node.in(0);
  size_t rank = shape(x).size();
  unsigned at = node.axis("dim", 0, rank);
  int64_t count = node.fixed(shape(x)[at]);
  // The last ones, if nothing reads them, are not in the graph.
  if (count < int64_t(node->outs.size()))
    node.refuse("the axis has " + llvm::Twine(count) +
                " places, and it makes " + llvm::Twine(node->outs.size()) +
                " tensors");
  for (int each : node->outs)
    node.wantRank(each, rank - 1, rank - 1);
  Sizes part = shape(x);
  part[at] = 1;
  std::vector<int> parts;
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(values.another(node.out()));
    values.at(parts.back()).shape = part;
  }
  Step &made = steps.add(Step::Pipe, "split", {x});
  made.outs = parts;
  made.put("", "parts", std::to_string(count));
  steps.putOver(made, x, at);
  for (size_t i = 0; i < node->outs.size(); ++i) {
    Step &each = steps.add(Step::Form_, "reshape(%0, #0)", {parts[i]});
    each.outs = {node->outs[i]};
    each.putSizes(shape(node->outs[i]));
    values.labels(node->outs[i]).assign(rank - 1, "");
  }
}

void ViewTranslator::repeat() {
  int x = node.in(0);
  if (node->op != "onnx.Tile" && node->ins.size() > 1)
    node.refuse("how often it repeats depends on data");
  bool isEach = node->op == "aten.repeat_interleave";
  if (node.setting("repeats") && isEach && !node.setting("dim"))
    node.refuse("it repeats all axes as one");
  node.wantRank(node.out(), shape(x).size());
  size_t rank = shape(node.out()).size(), added = rank - shape(x).size();
  if (shape(node.out()) == shape(x))
    return steps.same(x);
  Sizes sizes; // of each axis and of how often it is there
  std::vector<std::string> over;
  for (size_t i = 0; i < rank; ++i) {
    Polynomial had = i < added ? 1 : shape(x)[i - added];
    Polynomial times = shape(node.out())[i] / had;
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
  Step &made = steps.add(Step::Form_,
                         "reshape(expand(%0, zeros(#0), over = [" +
                             llvm::join(over, ", ") + "]), #1)",
                         {x});
  for (const Sizes &each : {sizes, shape(node.out())})
    made.putSizes(each);
  values.labels(node.out()).assign(rank, "");
}
