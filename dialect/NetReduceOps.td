// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums, means, extremes and normalizations. `r` in the comments is the number of means,
// one for each position of the axes that are kept.

#ifndef NET_REDUCE_OPS_TD
#define NET_REDUCE_OPS_TD

include "dialect/NetBase.td"

class Net_ReduceOp<string mnemonic> : Net_Op<mnemonic, Net_Relabels # Net_Gradient> {
  let arguments = (ins Net_FloatTensor:$x, Net_Axes<"all">:$over);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
// A reduction to a scalar is a loss, or a part of one.
defvar Net_AutocastOfNumber = "getY().getType().getRank() == 0 ? Loss : ";

def Net_SumOp : Net_ReduceOp<"sum"> {
  let foreign = ["aten.sum dim=over", "aten.cosine_similarity", "aten.histc", "aten.linalg_vector_norm", "onnx.ReduceL1", "onnx.ReduceL2", "onnx.ReduceSum",
                 "stablehlo.reduce.add"];
  let autocast = Net_AutocastOfNumber # "Full";
  let summary = "the sum over some axes, which are gone after it";
  let other = "x";
  let example = "sum(x, over = [H, W])";
}
def Net_GlobalNormOp : Net_Op<"global_norm", [Net_NotInLoop] # Net_Callable # Net_Gradient> {
  let autocast = "Full";
  let summary = "the length of some tensors, taken together as one vector";
  let description = [{
    A square and its sum for each element, and one root. In an optimizer, which sees one
    parameter at a time, what is given stands for that of all parameters.
  }];
  let arguments = (ins Variadic<Net_FloatTensor>:$xs);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "2 * getElements() + 1";
  let transcendental = "1";
  let example = "global_norm(gradient)";
  let extraClassDeclaration = [{
    /// The number of elements of all operands.
    ::netc::Polynomial getElements();
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_AllFiniteOp : Net_Op<"all_finite", [Net_NotInLoop] # Net_Inferred> {
  let summary = "whether no element of some tensors is infinite or no number";
  let description = [{ A magnitude and a comparison for each element. }];
  let arguments = (ins Variadic<Net_FloatTensor>:$xs);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "2 * getElements()";
  let transcendental = "0";
  let extraClassDeclaration = [{
    /// The number of elements of all operands.
    ::netc::Polynomial getElements();
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_MeanOp : Net_ReduceOp<"mean"> {
  let foreign = ["aten.mean dim=over", "aten.std", "aten.std_mean", "aten.var", "aten.var_mean", "onnx.ReduceMean"];
  let autocast = Net_AutocastOfNumber # "Widest";
  let summary = "the mean over some axes, which are gone after it";
  let other = "x + y";
  let example = "mean(x, over = [H, W])";
}
def Net_MeanGradOp : Net_Op<"mean_grad", Net_Inferred> {
  let summary = "gradient of `mean`, to be repeated along its axes: dy over the `count` of elements";
  let arguments = (ins Net_FloatTensor:$dy, Net_PolynomialAttr:$count);
  let results = (outs Net_Result:$dx);
  let matmul = "0";
  let other = "dx";
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Net_ExtremeOp<string mnemonic> : Net_Op<mnemonic, Net_Relabels # Net_Gradient> {
  let description = [{
    `indices` keeps which element it was, counted over the axes that go, for the
    backward pass: the first where no element exceeds another, as among what is no number.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Axes<"all">:$over);
  let results = (outs Net_Result:$y, Net_Result:$indices);
  let matmul = "0";
  let other = "x";
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_MaxOp : Net_ExtremeOp<"max"> {
  let foreign = ["aten.amax dim=over", "aten.max", "onnx.ReduceMax", "stablehlo.reduce.maximum"];
  let summary = "the largest element over some axes, which are gone after it";
  let example = "max(x, over = [H, W])";
}
def Net_MinOp : Net_ExtremeOp<"min"> {
  let foreign = ["aten.amin dim=over", "aten.min", "onnx.ReduceMin", "stablehlo.reduce.minimum"];
  let summary = "the smallest element over some axes, which are gone after it";
  let example = "min(x, over = [H, W])";
}
def Net_ExtremeGradOp : Net_Op<"extreme_grad"> {
  let summary = "gradient of `max` and `min`: adds each dy to the element that was taken";
  let arguments = (ins Net_FloatTensor:$dy, Net_Tensor:$indices, DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let matmul = "0";
  let other = "dy";
  let transcendental = "0";
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Net_NormOp<string mnemonic, list<Trait> traits> : Net_Op<mnemonic, traits> {
  let matmul = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_SoftmaxOp : Net_NormOp<"softmax", Net_Callable # Net_Gradient> {
  let foreign = ["aten.softmax dim=over", "aten._softmax", "onnx.Softmax", "jax.nn.softmax"];
  let autocast = "Full";
  let summary = "exp(x - max) over its sum";
  let description = [{ Largest, difference, exp, sum, quotient: five operations an element. }];
  let arguments = (ins Net_FloatTensor:$x, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$y);
  let other = "5 * x";
  let transcendental = "x";
  let example = "softmax(x, over = S)";
}
def Net_SoftmaxGradOp : Net_NormOp<"softmax_grad", Net_Inferred> {
  let summary = "gradient of `softmax`: y (dy - sum(dy y))";
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$y, I64Attr:$over);
  let results = (outs Net_Result:$dx);
  let other = "4 * dx";
  let transcendental = "0";
}

def Net_LogSoftmaxOp : Net_NormOp<"log_softmax", Net_Callable # Net_Gradient> {
  let foreign = ["aten.log_softmax dim=over", "aten._log_softmax", "onnx.LogSoftmax"];
  let autocast = "Full";
  let summary = "the logarithm of `softmax`: x - max - log(sum(exp(x - max)))";
  let description = [{
    Largest, difference, exp, sum and the second difference an element; one logarithm
    for each set of elements.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$y);
  let other = "5 * x + getSums()";
  let transcendental = "x + getSums()";
  let example = "log_softmax(logits)";
  let extraClassDeclaration = [{
    /// The number of sums: one for each position of the axes that are kept.
    ::netc::Polynomial getSums();
  }];
}
def Net_LogSoftmaxGradOp : Net_NormOp<"log_softmax_grad", Net_Inferred> {
  let summary = "gradient of `log_softmax`: dy - exp(y) sum(dy)";
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$y, I64Attr:$over);
  let results = (outs Net_Result:$dx);
  let other = "4 * dx";
  let transcendental = "dx";
}

def Net_NormalizeOp : Net_NormOp<"normalize", Net_Relabels # Net_Gradient> {
  let foreign = ["aten.batch_norm", "aten.layer_norm", "aten.native_layer_norm", "aten.group_norm",
                 "aten.instance_norm", "onnx.BatchNormalization", "onnx.GroupNormalization", "onnx.LayerNormalization"];
  let autocast = "isOfChannels() ? Widest : Full";
  let exported = [{
    auto isRead = [](mlir::Value value) {
      return llvm::any_of(value.getUsers(), [](Operation *user) { return !isa<MovingAverageOp>(user); });
    };
    if (isRead(op.getMean()))
      to.write("aten.mean", {x}, {{"dim", to.json(over)}, {"keepdim", false}}, op.getMean());
    if (isRead(op.getVariance()))
      to.write("aten.var", {x}, {{"dim", to.json(over)}, {"correction", 0}, {"keepdim", false}}, op.getVariance());
    SmallVector<MovingAverageOp> running;
    for (mlir::Value of : {op.getMean(), op.getVariance()})
      for (Operation *user : of.getUsers())
        if (auto average = dyn_cast<MovingAverageOp>(user))
          running.push_back(average);
    if (!running.empty()) {
      if (running.size() != 2 || over.size() + 1 != x.shape.rank())
        to.refuse("PyTorch has running statistics of channels alone");
      int64_t channel = 0;
      while (llvm::is_contained(over, channel))
        ++channel;
      auto others = over.take_back(over.size() - 1);
      // They are f32, and converted where x is f64.
      auto stored = [&](MovingAverageOp average) {
        auto convert = average.getBuffer().getDefiningOp<ConvertOp>();
        return to.get(convert ? convert.getX() : average.getBuffer());
      };
      return to.asImages(y, x, others, channel, [&](auto x, const Shape &result) {
        return to.make("aten.batch_norm", {x, {}, {}, stored(running[0]), stored(running[1])},
                       {{"training", true}, {"momentum", to.plain(running[0].getMomentum())}, {"eps", eps}}, result);
      });
    }
    to.atEnd(y, x, over, [&](auto x, const Shape &result) {
      Shape normalized{llvm::ArrayRef(result.sizes).take_back(over.size())};
      return to.make("aten.layer_norm", {x}, {{"normalized_shape", to.json(normalized)}, {"eps", eps}}, result);
    });
  }];
  let summary = "subtracts the mean over some axes and divides by the standard deviation";
  let description = [{
    Per element: the sum for the mean, the difference, its square, their sum, the
    product with 1 / sqrt(variance + eps); per mean: two quotients, one sum, one
    reciprocal root. Batch, layer, group and instance normalization are blocks that differ in
    `over`. The statistics are f32 where x has fewer bits. Where a run mixes formats, what is
    normalized is f32, but that of a batch, and `by_channel`, keeps the format of x.
  }];
  let extraClassDeclaration = [{
    /// Whether each channel is normalized by itself, as in batch and instance
    /// normalization. PyTorch's autocast computes these in the format of x.
    bool isOfChannels() { return getByChannel() || ::llvm::is_contained(getOver(), 0); }
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Axes<>:$over, Net_Real<"1e-5", "0">:$eps, Net_Flag<"false">:$by_channel);
  let results = (outs Net_Result:$y, Net_Result:$mean, Net_Result:$variance, Net_Result:$rstd);
  let other = "5 * x + 4 * mean";
  let transcendental = "mean";
  let example = "normalize(x, over = [N, H, W])";
}
def Net_NormalizeGradOp : Net_NormOp<"normalize_grad", Net_Inferred> {
  let summary = "gradient of `normalize`: rstd (dy - mean(dy) - y mean(dy y))";
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$y, Net_FloatTensor:$rstd, DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let other = "7 * dx + 2 * rstd";
  let transcendental = "0";
}

def Net_RmsNormalizeOp : Net_NormOp<"rms_normalize", Net_Relabels # Net_Gradient> {
  let foreign = ["aten.rms_norm", "onnx.RMSNormalization"];
  let autocast = "Full";
  let exported = [{
    to.atEnd(y, x, over, [&](auto x, const Shape &result) {
      Shape normalized{llvm::ArrayRef(result.sizes).take_back(over.size())};
      return to.make("aten.rms_norm", {x}, {{"normalized_shape", to.json(normalized)}, {"eps", eps}}, result);
    });
  }];
  let summary = "divides by the root of the mean square over some axes";
  let arguments = (ins Net_FloatTensor:$x, Net_Axes<"feature">:$over, Net_Real<"1e-6", "0">:$eps);
  let results = (outs Net_Result:$y, Net_Result:$rstd);
  let other = "3 * x + 3 * rstd";
  let transcendental = "rstd";
  let example = "rms_normalize(x, over = d)";
}
def Net_RmsNormalizeGradOp : Net_NormOp<"rms_normalize_grad", Net_Inferred> {
  let summary = "gradient of `rms_normalize`: rstd (dy - y mean(dy y))";
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$y, Net_FloatTensor:$rstd, DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let other = "5 * dx + rstd";
  let transcendental = "0";
}

def Net_MovingAverageOp : Net_Op<"moving_average", [MemoryEffects<[MemWrite]>] # Net_Callable> {
  let exported = [{
    // Running statistics belong to a batch norm, which the graph writes as one
    // op.
    if (!op.getValue().getDefiningOp<NormalizeOp>())
      to.refuse("it is of no batch norm");
  }];
  let summary = "moves a buffer towards a value: buffer += momentum (value - buffer)";
  let arguments = (ins Net_FloatTensor:$buffer, Net_FloatTensor:$value, Net_Real<"0.1">:$momentum);
  let matmul = "0";
  let other = "3 * buffer";
  let transcendental = "0";
  let example = "moving_average(buffer(x.C), m)";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_CumsumOp : Net_Op<"cumsum", Net_Callable # Net_Gradient> {
  let foreign = ["aten.cumsum"];
  let autocast = "Full";
  let exported = [{
    if (!reverse)
      return to.write("aten.cumsum", {x}, {{"dim", over}}, y);
    to.set(y, to.flip(to.make("aten.cumsum", {to.flip(x, over)}, {{"dim", over}}, x.shape), over));
  }];
  let summary = "sums of what stands on an axis up to each place; `reverse`, from it on";
  let arguments = (ins Net_FloatTensor:$x, Net_Axis<>:$over, Net_Flag<"false">:$reverse);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "x";
  let transcendental = "0";
  let example = "cumsum(x, over = T)";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_CumprodOp : Net_Op<"cumprod", Net_Callable # Net_Gradient> {
  let foreign = ["aten.cumprod"];
  let autocast = "Full";
  let exported = [{
    if (!reverse)
      return to.write("aten.cumprod", {x}, {{"dim", over}}, y);
    to.set(y, to.flip(to.make("aten.cumprod", {to.flip(x, over)}, {{"dim", over}}, x.shape), over));
  }];
  let summary = "products of what stands on an axis up to each place; `reverse`, from it on";
  let arguments = (ins Net_FloatTensor:$x, Net_Axis<>:$over, Net_Flag<"false">:$reverse);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "x";
  let transcendental = "0";
  let example = "cumprod(x, over = T)";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_CumprodGradOp : Net_Op<"cumprod_grad", Net_Inferred> {
  let summary = "gradient of `cumprod`, which divides by no element";
  let description = [{
    For each place, the sum s of dy and of the next x times the next s; then s times the y before.
  }];
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$x, Net_FloatTensor:$y, I64Attr:$over,
                       BoolAttr:$reverse);
  let results = (outs Net_Result:$dx);
  let matmul = "0";
  let other = "3 * dx";
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NET_REDUCE_OPS_TD
