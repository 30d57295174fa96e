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
  Shape slots = shapeOf(dispatch.getSlots());
  const Polynomial &experts = slots[0], &features = slots[2];
  Polynomial all = choices.shape.elements();
  Shape row{{all}}, column{{all, 1}}, pairs{{all, experts}};

  // All first choices come before the second ones.
  int64_t last = int64_t(choices.shape.rank()) - 1;
  Tensor ordered = move(choices, last, 0);
  Tensor chosen = convert(view(ordered, row), i64);

  // A choice is the n-th one of its expert, from 1; 0 if it is of no expert.
  Tensor hits =
      convert(compare("eq", view(chosen, column), range(experts), pairs), i64);
  Tensor counts = make("aten.cumsum", {hits}, {{"dim", 0}}, pairs);
  Tensor own = make("aten.mul", {hits, counts}, {}, pairs);
  Tensor nth = make("aten.sum", {own},
                    {{"dim", json(Axes(1))}, {"keepdim", false}}, row);

  Tensor capacity = known("size", i64, Shape(), {{"size", json(slots[1])}});
  Tensor one = number(1, i64, row);
  Tensor has =
      both(compare("ge", nth, one, row), compare("le", nth, capacity, row));
  Tensor first = make("aten.mul", {chosen, capacity}, {}, row);
  Tensor next = make("aten.add", {first, nth}, {}, row);
  Tensor slot = make("aten.sub", {next, one}, {}, row);
  Tensor places = make("aten.where", {has, slot, number(-1, i64, row)}, {},
                       tensorOf(i64, row));
  set(dispatch.getPlaces(),
      move(view(convert(places, choices.element), ordered.shape), 0, last));

  Shape repeated{{choices.shape[last]}}, flat{{experts * slots[1], features}};
  llvm::append_range(repeated.sizes, x.shape.sizes);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(1, repeated.rank()));
  Tensor rows = view(whole(expand(x, axes, repeated)), Shape{{all, features}});
  Tensor empty = view(number(0, x.element, slots), flat);
  Tensor filled =
      make("aten.index_add", {empty, places, rows}, {{"dim", 0}}, flat);
  set(dispatch.getSlots(), view(filled, slots));
}

void GraphWriter::collect(CollectOp collect) {
  Tensor slots = get(collect.getSlots());
  Shape flat{{slots.shape[0] * slots.shape[1], slots.shape[2]}};
  write("aten.index", {view(slots, flat), get(collect.getPlaces())}, {},
        collect.getY());
}
