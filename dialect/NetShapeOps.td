// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that move elements and compute nothing.

#ifndef NET_SHAPE_OPS_TD
#define NET_SHAPE_OPS_TD

include "dialect/NetBase.td"

class Net_ShapeOp<string mnemonic, list<Trait> traits = []> : Net_FreeOp<mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_ReshapeOp : Net_ShapeOp<"reshape", Net_Gradient> {
  let foreign = ["aten.view size=y", "aten.reshape", "aten._unsafe_view", "aten.flatten", "aten.unflatten", "aten.squeeze",
                 "aten.unsqueeze", "aten.pixel_shuffle", "aten.pixel_unshuffle", "onnx.Reshape", "onnx.Flatten", "onnx.Squeeze",
                 "onnx.Unsqueeze", "stablehlo.reshape"];
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Net_Tensor:$x);
  let results = (outs Net_Tensor:$y);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Net_BroadcastOp : Net_ShapeOp<"broadcast", Net_Gradient> {
  let foreign = ["aten.copy", "aten.expand", "aten.expand_as", "aten.repeat", "aten.repeat_interleave",
                 "aten.upsample_nearest1d", "aten.upsample_nearest2d", "aten.upsample_nearest3d",
                 "aten.upsample_linear1d", "aten.upsample_bilinear2d", "aten.upsample_trilinear3d",
                 "onnx.Expand", "onnx.Resize", "onnx.Tile", "stablehlo.broadcast_in_dim"];
  let exported = [{to.set(y, to.expand(x, axes, shapeOf(y)));}];
  let summary = "repeats a tensor along new axes";
  let description = [{ Axis i of x is axis `axes[i]` of y; `axes` ascends. }];
  let arguments = (ins Net_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Net_Tensor:$y);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Net_TransposeOp : Net_ShapeOp<"transpose", Net_Relabels # Net_Gradient> {
  let foreign = ["aten.permute dims=op.getPermutation()", "aten.transpose", "aten.t", "aten.swapaxes", "onnx.Transpose", "stablehlo.transpose"];
  let summary = "axis i of the result is axis `order[i]` of x; by default the last two are swapped";
  let arguments = (ins Net_Tensor:$x, Net_Integers<"last two">:$order);
  let results = (outs Net_Tensor:$y);
  let example = "transpose(w)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The whole permutation, also if `order` has its default.
    ::llvm::SmallVector<int64_t> getPermutation();
  }];
}

def Net_ConcatOp : Net_ShapeOp<"concat", Net_Callable # Net_Gradient # [Net_AxesMeet]> {
  let foreign = ["aten.cat dim=over", "aten.roll", "aten.slice_scatter", "onnx.Concat", "stablehlo.concatenate"];
  let summary = "joins tensors along one axis";
  let arguments = (ins Variadic<Net_Tensor>:$xs, Net_Axis<"feature">:$over);
  let results = (outs Net_Tensor:$y);
  let example = "concat(a, b, over = T)";
  let hasFolder = 1;
}

def Net_StackOp : Net_ShapeOp<"stack", Net_Relabels # Net_Gradient # [Net_AxesMeet]> {
  let foreign = ["aten.stack dim=int64_t(op.getAxis())"];
  let summary = "puts equal shapes side by side along a new axis after the first";
  let arguments = (ins Variadic<Net_Tensor>:$xs);
  let results = (outs Net_Tensor:$y);
  let example = "stack([a, b], as = K)";
  let extraClassDeclaration = [{
    /// The index of the new axis: 1, or 0 if the tensors are scalars.
    unsigned getAxis() { return ::std::min<int64_t>(1, getY().getType().getRank() - 1); }
  }];
}

def Net_SplitOp : Net_ShapeOp<"split", Net_Callable # Net_Gradient> {
  let foreign = ["aten.split_with_sizes", "aten.split", "aten.chunk", "aten.unbind", "onnx.Split"];
  let exported = [{
    Shape sizes;
    for (mlir::Value part : ys)
      sizes.sizes.push_back(shapeOf(part)[over]);
    to.write("aten.split_with_sizes", {x}, {{"split_sizes", to.json(sizes)}, {"dim", over}}, ys);
  }];
  let summary = "cuts an axis into parts: that many equal ones, or parts of these sizes";
  let arguments = (ins Net_Tensor:$x, Net_Integers<>:$parts, Net_Axis<"feature">:$over);
  let results = (outs Variadic<Net_Tensor>:$ys);
  let example = "i, f, g, o = split(x, 4)";
}

def Net_SliceOp : Net_ShapeOp<"slice", Net_Gradient> {
  let foreign = ["aten.slice", "aten.select", "onnx.Slice", "stablehlo.slice"];
  let exported = [{to.set(y, to.slice(x, axis, start, shapeOf(y)));}];
  let summary = "keeps positions `start` to `start + size` of one axis";
  let description = [{
    The result's type tells the size. `start` may be a polynomial: the last place of
    a free axis T is `T - 1`.
  }];
  let arguments = (ins Net_Tensor:$x, I64Attr:$axis, Net_PolynomialAttr:$start);
  let results = (outs Net_Tensor:$y);
  let hasFolder = 1;
  let hasVerifier = 1;
}
def Net_PadOp : Net_ShapeOp<"pad", Net_Callable # Net_Gradient> {
  let foreign = ["aten.constant_pad_nd", "aten.pad", "onnx.Pad", "stablehlo.pad"];
  let exported = [{to.set(y, to.pad(x, over, low, high, value));}];
  let summary = "adds elements of one value before and after along one axis";
  let arguments = (ins Net_Tensor:$x, Net_Axis<>:$over, Net_Integer<"0">:$low, Net_Integer<"0">:$high, Net_Real<"0">:$value);
  let results = (outs Net_Tensor:$y);
  let example = "pad(x, over = T, low = 1)";
}
def Net_SliceGradOp : Net_ShapeOp<"slice_grad"> {
  let summary = "gradient of `slice`: dy in its place, zeros elsewhere";
  let arguments = (ins Net_Tensor:$dy, I64Attr:$axis, Net_PolynomialAttr:$start);
  let results = (outs Net_Tensor:$dx);
  let hasVerifier = 1;
}

def Net_ReverseOp : Net_ShapeOp<"reverse", Net_Callable # Net_Gradient> {
  let foreign = ["aten.flip"];
  let exported = [{to.set(y, to.flip(x, over));}];
  let summary = "reverses one axis";
  let arguments = (ins Net_Tensor:$x, Net_Axis<>:$over);
  let results = (outs Net_Tensor:$y);
  let example = "reverse(x, over = T)";
}

def Net_ShiftOp : Net_ShapeOp<"shift", Net_Callable> {
  let exported = [{
    Shape kept = x.shape;
    kept[over] -= by;
    to.set(y, to.pad(to.slice(x, over, by, kept), over, 0, by, -1));
  }];
  let summary = "moves an axis `by` places towards its start; the end is filled with -1, the number of nothing";
  let arguments = (ins Net_IntegerTensor:$x, Net_Integer<"1">:$by, Net_Axis<"last">:$over);
  let results = (outs Net_Tensor:$y);
  let example = "cross_entropy(logits, shift(tokens))";
}
def Net_UnfoldOp : Net_ShapeOp<"unfold", Net_Relabels # Net_Gradient> {
  let foreign = ["aten.unfold"];
  let exported = [{
    // PyTorch's windows are of the places ahead, in ascending order along the last axis.
    Shape before = x.shape, padded = x.shape, windows = x.shape;
    before[over] = size - 1;
    padded[over] += size - 1;
    windows.sizes.push_back(size);
    int64_t last = int64_t(x.shape.rank());
    auto from = to.make("aten.cat", {to.whole(to.number(0, x.element, before)), x}, {{"dim", over}}, padded);
    auto made = to.make("aten.unfold", {from}, {{"dimension", over}, {"size", to.json(size)}, {"step", 1}}, windows);
    to.set(y, to.move(to.flip(made, last), last, over + 1));
  }];
  let summary = "the last `size` places up to each place of an axis, along a new axis behind it";
  let description = [{
    y[.., t, j, ..] = x[.., t - j, ..], zero where there is no such place. What reads it
    reads x: a window of attention is a product with it.
  }];
  let arguments = (ins Net_Tensor:$x, Net_Size<>:$size, Net_Axis<>:$over);
  let results = (outs Net_Tensor:$y);
  let example = "unfold(keys, 128, over = T, as = S)";
}
def Net_UnfoldGradOp : Net_Op<"unfold_grad"> {
  let summary = "gradient of `unfold`: adds each dy to the place that it is of";
  let arguments = (ins Net_FloatTensor:$dy, I64Attr:$over);
  let results = (outs Net_Result:$dx);
  let matmul = "0";
  let other = "dy";
  let transcendental = "0";
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_LowerTriangleOp : Net_ShapeOp<"lower_triangle", Net_Relabels # Net_Gradient> {
  let exported = [{
    std::optional<int64_t> n = x.shape.sizes.back().toInt64();
    if (!n)
      to.refuse("the size of its matrices is free");
    llvm::json::Array below;
    for (int64_t row = 0; row < *n; ++row)
      for (int64_t column = 0; column < row; ++column)
        below.push_back(row * *n + column);
    int64_t last = int64_t(x.shape.rank()) - 2;
    Shape flat{llvm::ArrayRef(x.shape.sizes).drop_back(1)}, chosen{{Polynomial(below.size())}};
    flat[last] = *n * *n;
    auto places = to.known("table", IntegerType::get(op.getContext(), 64), chosen, {{"values", std::move(below)}});
    to.write("aten.gather", {to.view(x, flat), to.whole(to.expand(places, last, shapeOf(y)))}, {{"dim", last}}, y);
  }];
  let summary = "the elements below the diagonal of the last two axes, as one axis";
  let arguments = (ins Net_Tensor:$x);
  let results = (outs Net_Tensor:$y);
  let example = "lower_triangle(pairs)";
}
def Net_LowerTriangleGradOp : Net_ShapeOp<"lower_triangle_grad"> {
  let summary = "gradient of `lower_triangle`";
  let arguments = (ins Net_Tensor:$dy);
  let results = (outs Net_Tensor:$dx);
  let hasVerifier = 1;
}

#endif // NET_SHAPE_OPS_TD
