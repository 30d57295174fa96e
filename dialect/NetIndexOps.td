// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that select elements by index, and ops that make indices. Moving elements
// and integer arithmetic are free. An index outside of its axis, negative or
// too large, is valid: a gather reads zeros there, and a scatter adds nothing.

#ifndef NET_INDEX_OPS_TD
#define NET_INDEX_OPS_TD

include "dialect/NetBase.td"

class Net_IndexOp<string mnemonic, list<Trait> traits = []> : Net_Op<mnemonic, traits> {
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_TopKOp : Net_IndexOp<"top_k", Net_Callable> {
  let foreign = ["aten.topk", "aten.argmax", "aten.argmin", "onnx.ArgMax", "onnx.ArgMin", "onnx.TopK"];
  let exported = [{
    RankedTensorType values = tensorOf(x.element, shapeOf(places));
    to.set(places, to.make("aten.topk", {x}, {{"k", k}, {"dim", over}, {"largest", true}, {"sorted", true}},
                           {values, places.getType()})[1]);
  }];
  let summary = "the places of the `k` largest elements along an axis, the largest first";
  let description = [{
    Each of them is looked for among all: k comparisons an element. Of equal ones the first
    comes first. `take` gets the elements.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Integer<>:$k, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$places);
  let other = "x * k";
  let example = "top_k(gate, 2)";
}

def Net_TakeOp : Net_IndexOp<"take", Net_Callable # Net_Gradient # Net_Indices # [Net_AxesMeet]> {
  let foreign = ["aten.gather dim=over", "onnx.GatherElements dim=over"];
  let summary = "the elements at some places along an axis, by their numbers";
  let description = [{
    `places` has the axes of x; on the axis `over` it may have another size. A number that
    is negative or of no element takes a zero.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_IntegerTensor:$places, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$y);
  let example = "take(gate, top_k(gate, 2))";
  let extraClassDeclaration = "std::optional<::netc::Polynomial> getTouched(unsigned operand);";
}
def Net_TakeGradOp : Net_IndexOp<"take_grad"> {
  let summary = "gradient of `take`: adds each dy to the element that was taken";
  let description = [{ Where none was, dy goes nowhere. It is counted like the others. }];
  let arguments = (ins Net_FloatTensor:$dy, Net_IntegerTensor:$places, I64Attr:$over);
  let results = (outs Net_Result:$dx);
  let other = "dy";
  let hasVerifier = 1;
}

def Net_GatherOp : Net_IndexOp<"gather", Net_Relabels # Net_Gradient # Net_Indices> {
  let exported = [{
    auto [rows, numbers] = to.joinRows(x, ids, over);
    to.write("aten.index", {rows, numbers}, {}, y);
  }];
  let summary = "rows of x by their numbers, along an axis";
  let description = [{
    The axes before `over` are the same in x and `ids`: each of their places has rows of
    its own. The other axes of `ids` take the place of `over`. Of a number that is of no
    row, zeros. The rows of one table for all are those of `embedding`.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_IntegerTensor:$ids, Net_Axis<>:$over);
  let results = (outs Net_Result:$y);
  let example = "gather(nodes, sources, over = V)";
  let extraClassDeclaration = "std::optional<::netc::Polynomial> getTouched(unsigned operand);";
}
def Net_ScatterAddOp : Net_IndexOp<"scatter_add", Net_Callable # Net_Gradient # Net_Indices> {
  let foreign = ["aten.index_add"];
  let exported = [{
    auto [rows, numbers] = to.joinRows(x, ids, over);
    Shape flat{{numbers.shape.elements()}}, added = rows.shape;
    added[0] = flat[0];
    auto sums = to.make("aten.index_add", {rows, to.view(numbers, flat), to.view(values, added)}, {{"dim", 0}}, rows.shape);
    to.set(y, to.view(sums, shapeOf(y)));
  }];
  let summary = "adds rows to those of x that they name, along an axis";
  let description = [{
    `values` has the shape of `gather(x, ids, over)`. A row whose number is of none is
    added to nothing; it is counted like the others.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_IntegerTensor:$ids, Net_FloatTensor:$values, Net_Axis<>:$over);
  let results = (outs Net_Result:$y);
  let other = "values";
  let example = "scatter_add(nodes, targets, messages, over = V)";
}

def Net_DispatchOp : Net_IndexOp<"dispatch", Net_Relabels # Net_Gradient # Net_Indices> {
  let foreign = ["transformers.grouped_mm_fallback"];
  let exported = [{to.dispatch(op);}];
  let summary = "gives the rows of x to experts, in slots";
  let description = [{
    `choices` has the axes of x but for the last one, and at its end one for the choices of
    a row: numbers of experts. Every expert has as many slots: `capacity` times the
    choices over the experts, rounded up. First choices come first, then second ones, each in
    the order of the rows. Where an expert is full, a choice gets no slot; nor does a number
    that is negative or of no expert.

    `slots` is [experts, slots, features], zeros where a slot is left over; `places` tells
    the slot of each choice, counted over all experts, or -1.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_IntegerTensor:$choices,
                       Net_Integer<>:$experts, Net_Real<"1">:$capacity);
  let results = (outs Net_Result:$slots, Net_Result:$places);
  let example = "slots, places = dispatch(x, choices, experts = 8, capacity = 1.25)";
}
def Net_CollectOp : Net_IndexOp<"collect", Net_Relabels # Net_Gradient> {
  let exported = [{to.collect(op);}];
  let summary = "brings what is in the slots of experts back to the choices that own them";
  let description = [{ Of a choice without a slot, zeros. }];
  let arguments = (ins Net_FloatTensor:$slots, Net_IntegerTensor:$places);
  let results = (outs Net_Result:$y);
  let example = "collect(slots, places)";
  let extraClassDeclaration = "std::optional<::netc::Polynomial> getTouched(unsigned operand);";
}
def Net_CollectGradOp : Net_IndexOp<"collect_grad"> {
  let summary = "gradient of `collect`: each dy in its slot, zeros elsewhere";
  let description = [{ That of a choice without a slot goes nowhere. }];
  let arguments = (ins Net_FloatTensor:$dy, Net_IntegerTensor:$places);
  let results = (outs Net_Result:$dslots);
  let hasVerifier = 1;
}

def Net_RelativePositionOp : Net_IndexOp<"relative_position", Net_Relabels> {
  let exported = [{
    to.set(y, to.known("bucket", elementOf(y), shapeOf(y),
                       {{"buckets", buckets}, {"distance", distance}, {"causal", causal},
                        {"thresholds", to.json(op.getThresholds())}}));
  }];
  let summary = "how far the last axis is ahead of the last but one, by numbers of buckets";
  let description = [{
    For positions t and s on the last two axes of x, the bucket of s - t (T5, arXiv:1910.10683).
    Half of the buckets, of these again half if there are two directions, hold one distance each; the
    others grow with it, up to `distance`, after which all is in the last. With `causal`, what is
    ahead is in bucket 0; without, it has the second half of the buckets.
  }];
  let arguments = (ins Net_Tensor:$x, Net_Integer<"32">:$buckets, Net_Integer<"128">:$distance,
                       Net_Flag<"false">:$causal);
  let results = (outs Net_Result:$y);
  let example = "relative_position(scores, buckets = 32)";
  let extraClassDeclaration = [{
    /// The number of buckets per direction.
    int64_t getBucketsOfDirection() { return getCausal() ? getBuckets() : getBuckets() / 2; }
    /// The smallest distance of each bucket of a direction, from the second
    /// bucket on.
    ::llvm::SmallVector<int64_t> getThresholds();
    /// None: only the number of positions of x matters.
    std::optional<::netc::Polynomial> getTouched(unsigned operand) { return ::netc::Polynomial(0); }
  }];
}

def Net_ArangeOp : Net_FreeOp<"arange"> {
  let exported = [{to.set(y, to.known("range", elementOf(y), shapeOf(y), {{"start", 0}}));}];
  let summary = "the places of an axis: 0, 1, 2, ..";
  let results = (outs Net_IntegerTensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict `:` type($y)";
}

#endif // NET_INDEX_OPS_TD
