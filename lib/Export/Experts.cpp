// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Export/GraphWriter.h"

using namespace netc;
using namespace mlir;
using Tensor = ForeignTensor;

void GraphWriter::dispatch(DispatchOp dispatch) {
  Tensor x = get(dispatch.getX()), choices = get(dispatch.getChoices());
  Type i64 = IntegerType::get(op->getContext(), 64);
  Type truth = IntegerType::get(op->getContext(), 1);
  Shape slots = shapeOf(dispatch.getSlots());
  const Polynomial &experts = slots[0], &features = slots[2];
  Polynomial all = choices.shape.elements();
  Shape row{{all}}, column{{all, 1}}, pairs{{all, experts}};

  // All first choices come before the second ones.
  int64_t last = int64_t(choices.shape.rank()) - 1;
  SmallVector<int64_t> choicesFirst{last}, choicesLast;
  for (int64_t i = 0; i < last; ++i) {
    choicesFirst.push_back(i);
    choicesLast.push_back(i + 1);
  }
  choicesLast.push_back(0);
  Tensor ordered = permute(choices, choicesFirst);
  Tensor chosen = convert(view(ordered, row), i64);

  // A choice is the n-th one of its expert, from 1; 0 if it is of no expert.
  Tensor numbers = known("range", i64, Shape{{experts}}, {{"start", 0}});
  Tensor isChosen = make("aten.eq", {view(chosen, column), numbers}, {},
                         tensorOf(truth, pairs));
  Tensor hits = convert(isChosen, i64);
  Tensor counts = make("aten.cumsum", {hits}, {{"dim", 0}}, pairs);
  Tensor own = make("aten.mul", {hits, counts}, {}, pairs);
  Tensor nth = make("aten.sum", {own},
                    {{"dim", json(Axes(1))}, {"keepdim", false}}, row);

  Tensor capacity = known("size", i64, Shape(), {{"size", json(slots[1])}});
  Tensor isOfExpert =
      make("aten.ge", {nth, number(1, i64, row)}, {}, tensorOf(truth, row));
  Tensor fits = make("aten.le", {nth, capacity}, {}, tensorOf(truth, row));
  Tensor has = make("aten.where", {isOfExpert, fits, isOfExpert}, {}, row);
  Tensor first = make("aten.mul", {chosen, capacity}, {}, row);
  Tensor next = make("aten.add", {first, nth}, {}, row);
  Tensor slot = make("aten.sub", {next, number(1, i64, row)}, {}, row);
  auto slotOr = [&](double none) {
    return make("aten.where", {has, slot, number(none, i64, row)}, {},
                tensorOf(i64, row));
  };
  Tensor places = convert(slotOr(-1), choices.element);
  set(dispatch.getPlaces(), permute(view(places, ordered.shape), choicesLast));

  // A choice without a slot adds zeros to the first one.
  Shape rows{{all, features}}, repeated{{choices.shape[last]}},
      flat{{experts * slots[1], features}};
  llvm::append_range(repeated.sizes, x.shape.sizes);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(1, repeated.rank()));
  Tensor each = view(whole(expand(x, axes, repeated)), rows);
  Tensor values =
      make("aten.where",
           {whole(expand(has, 0, rows)), each, number(0, x.element, rows)}, {},
           tensorOf(x.element, rows));
  Tensor empty = view(number(0, x.element, slots), flat);
  Tensor filled =
      make("aten.index_add", {empty, slotOr(0), values}, {{"dim", 0}}, flat);
  set(dispatch.getSlots(), view(filled, slots));
}

void GraphWriter::collect(CollectOp collect) {
  Tensor slots = get(collect.getSlots()), places = get(collect.getPlaces());
  Type truth = IntegerType::get(op->getContext(), 1);
  Shape y = shapeOf(collect.getY());
  Shape flat{{slots.shape[0] * slots.shape[1], slots.shape[2]}};
  Tensor none = number(0, places.element, places.shape);
  Tensor has =
      make("aten.ge", {places, none}, {}, tensorOf(truth, places.shape));
  Tensor existing = make("aten.maximum", {places, none}, {}, places.shape);
  Tensor rows = make("aten.index", {view(slots, flat), existing}, {}, y);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, places.shape.rank()));
  write("aten.where",
        {whole(expand(has, axes, y)), rows, number(0, slots.element, y)}, {},
        collect.getY());
}
