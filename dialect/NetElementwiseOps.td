// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that work on each element by itself. Operands have one shape: the front end
// broadcasts and transposes first.

#ifndef NET_ELEMENTWISE_OPS_TD
#define NET_ELEMENTWISE_OPS_TD

include "dialect/NetBase.td"

defvar Net_InferSameShape = [{
  ::llvm::LogicalResult $cppClass::inferReturnTypes(
      ::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc, Adaptor adaptor,
      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    return ::netc::inferSameShape(loc, getOperationName(), adaptor.getOperands(), types);
  }
}];

class Net_SameShapeOp<string mnemonic, list<Trait> traits> : Net_Op<mnemonic, traits> {
  let extraClassDefinition = Net_InferSameShape;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Net_UnaryOp<string mnemonic> : Net_SameShapeOp<mnemonic, Net_Callable # Net_Gradient> {
  let arguments = (ins Net_FloatTensor:$x);
  let results = (outs Net_Result:$y);
  let matmul = "0";
}

// Integer arithmetic computes positions, and is not counted.
class Net_BinaryOp<string mnemonic>
    : Net_Op<mnemonic, Net_Callable # Net_Gradient # [Net_ElementByElement]> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location> loc, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::netc::inferWidest(loc, getOperationName(), adaptor.getOperands(), types);
    }
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let arguments = (ins Net_NumberTensor:$a, Net_NumberTensor:$b);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "isFloat(getA()) ? Polynomial(y) : Polynomial()";
  let transcendental = "0";
}

// The gradient of an activation, from the gradient of its result and the saved
// tensor.
class Net_ActivationGradOp<string mnemonic> : Net_SameShapeOp<mnemonic # "_grad", Net_Inferred> {
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$saved);
  let results = (outs Net_Result:$dx);
  let matmul = "0";
}

// An activation and its gradient op, which reads the operand `x` or the result
// `y`. Costs are per element.
multiclass Net_Activation<string mnemonic, string text, string saved,
                          string cost, string costTranscendental,
                          string gradCost, string gradTranscendental, list<string> names,
                          string format = "Widest", string form = ""> {
  def Op : Net_UnaryOp<mnemonic> {
    let summary = text;
    let foreign = names;
    let exported = form;
    let autocast = format;
    let other = cost # " * y";
    let transcendental = costTranscendental # " * y";
    let example = "x |> " # mnemonic;
    let extraClassDefinition = Net_InferSameShape # [{
      ::llvm::LogicalResult $cppClass::buildGradient(::netc::Gradients &g) {
        g.set(0, g.create<}] # !subst("Net_", "", NAME) # [{GradOp>(g.of(0), get}] # !toupper(saved) # [{()));
        return ::mlir::success();
      }
    }];
  }
  def GradOp : Net_ActivationGradOp<mnemonic> {
    let summary = "gradient of `" # mnemonic # "`, from its saved `" # saved # "`";
    let other = gradCost # " * dx";
    let transcendental = gradTranscendental # " * dx";
  }
}

defm Net_Relu : Net_Activation<"relu", "max(x, 0)", "y", "1", "0", "1", "0",
    ["aten.relu", "onnx.Relu", "jax.nn.relu"]>;
defm Net_Relu6 : Net_Activation<"relu6", "min(max(x, 0), 6)", "y", "2", "0", "2", "0",
    ["aten.hardtanh min_val=0.0 max_val=6.0", "aten.clamp", "aten.clamp_max", "aten.clamp_min", "onnx.Clip"]>;
// 1 / (1 + exp(-x)); the gradient is dy y (1 - y).
defm Net_Sigmoid : Net_Activation<"sigmoid", "1 / (1 + exp(-x))", "y", "4", "1", "3", "0",
    ["aten.sigmoid", "aten.glu", "onnx.Sigmoid", "stablehlo.logistic"]>;
defm Net_Tanh : Net_Activation<"tanh", "hyperbolic tangent", "y", "1", "1", "3", "0",
    ["aten.tanh", "onnx.Tanh", "stablehlo.tanh"]>;
// x s with s = sigmoid(x); the gradient computes s again: dy s (1 + x (1 - s)).
defm Net_Silu : Net_Activation<"silu", "x sigmoid(x), also called swish", "x", "5", "1", "9", "1",
    ["aten.silu", "jax.nn.silu"]>;
// 0.5 x (1 + erf(x / sqrt 2)); the gradient adds x times the normal density.
defm Net_Gelu : Net_Activation<"gelu", "x times the normal distribution function, by erf", "x", "5", "1", "11", "2",
    ["aten.gelu", "aten.erf", "jax.nn.gelu", "onnx.Erf", "onnx.Gelu"]>;
defm Net_GeluTanh : Net_Activation<"gelu_tanh", "gelu by its tanh approximation", "x", "9", "1", "17", "1",
    [], "Widest", [{to.write("aten.gelu", {x}, {{"approximate", "tanh"}}, y);}]>;
// min(max(x / 6 + 1 / 2, 0), 1)
defm Net_Hardsigmoid : Net_Activation<"hardsigmoid", "sigmoid in three straight pieces", "x", "4", "0", "3", "0",
    ["aten.hardsigmoid", "onnx.HardSigmoid"]>;
defm Net_Hardswish : Net_Activation<"hardswish", "x hardsigmoid(x)", "x", "5", "0", "6", "0",
    ["aten.hardswish", "onnx.HardSwish"]>;
defm Net_Softplus : Net_Activation<"softplus", "log(1 + exp(x))", "x", "3", "2", "5", "1",
    ["aten.softplus", "aten.log_sigmoid", "aten.mish", "onnx.Mish", "onnx.Softplus"], "Full">;

def Net_LeakyReluOp : Net_UnaryOp<"leaky_relu"> {
  let foreign = ["aten.leaky_relu negative_slope=slope", "aten.prelu", "aten.rrelu", "onnx.LeakyRelu alpha=slope", "onnx.PRelu"];
  let summary = "x where it is positive, else `slope` times x";
  let arguments = (ins Net_FloatTensor:$x, Net_Real<"0.01">:$slope);
  let other = "2 * y";
  let transcendental = "0";
  let example = "x |> leaky_relu(slope = 0.2)";
}
def Net_LeakyReluGradOp : Net_ActivationGradOp<"leaky_relu"> {
  let summary = "gradient of `leaky_relu`, from its saved `x`";
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$saved, F64Attr:$slope);
  let other = "2 * dx";
  let transcendental = "0";
}

def Net_EluOp : Net_UnaryOp<"elu"> {
  let foreign = ["aten.elu alpha=alpha", "aten.celu", "aten.selu", "onnx.Celu", "onnx.Elu alpha=alpha", "onnx.Selu"];
  let summary = "x where it is positive, else `alpha` (exp(x) - 1)";
  let arguments = (ins Net_FloatTensor:$x, Net_Real<"1", "0">:$alpha);
  let other = "4 * y";
  let transcendental = "y";
  let example = "x |> elu";
  let hasVerifier = 1;
}
def Net_EluGradOp : Net_ActivationGradOp<"elu"> {
  let summary = "gradient of `elu`, from its saved `y`: dy where y is positive, else dy (y + alpha)";
  let arguments = (ins Net_FloatTensor:$dy, Net_FloatTensor:$saved, F64Attr:$alpha);
  let other = "3 * dx";
  let transcendental = "0";
}

def Net_SoftshrinkOp : Net_UnaryOp<"softshrink"> {
  let foreign = ["aten.softshrink lambd=lambda", "onnx.Shrink"];
  let summary = "x moved by `lambda` towards zero, which what is nearer becomes";
  let arguments = (ins Net_FloatTensor:$x, Net_Real<"0.5", "0">:$lambda);
  let other = "3 * y";
  let transcendental = "0";
  let example = "x |> softshrink(lambda = 0.2)";
  let hasVerifier = 1;
}

class Net_MathOp<string mnemonic, string text, string cost, string costTranscendental>
    : Net_UnaryOp<mnemonic> {
  let summary = text;
  let other = cost # " * y";
  let transcendental = costTranscendental # " * y";
  let example = mnemonic # "(x)";
}
def Net_NegOp : Net_MathOp<"neg", "-x", "1", "0"> {
  let foreign = ["aten.neg", "onnx.Neg", "stablehlo.negate"];
}
def Net_ExpOp : Net_MathOp<"exp", "e to the power x", "1", "1"> {
  let foreign = ["aten.exp", "aten.exp2", "aten.expm1", "onnx.Exp", "stablehlo.exponential", "stablehlo.exponential_minus_one"];
  let autocast = "Full";
}
def Net_LogOp : Net_MathOp<"log", "natural logarithm", "1", "1"> {
  let foreign = ["aten.log", "aten.log10", "aten.log1p", "aten.log2", "aten.logsumexp", "onnx.Log", "onnx.ReduceLogSumExp",
                 "stablehlo.log", "stablehlo.log_plus_one"];
  let autocast = "Full";
}
def Net_SqrtOp : Net_MathOp<"sqrt", "square root", "1", "1"> {
  let foreign = ["aten.sqrt", "aten.rsqrt", "onnx.Sqrt", "stablehlo.rsqrt", "stablehlo.sqrt"];
}
def Net_SinOp : Net_MathOp<"sin", "sine", "1", "1"> {
  let foreign = ["aten.sin", "aten.tan", "onnx.Sin", "stablehlo.sine"];
}
def Net_CosOp : Net_MathOp<"cos", "cosine", "1", "1"> {
  let foreign = ["aten.cos", "onnx.Cos", "stablehlo.cosine"];
}
def Net_AbsOp : Net_MathOp<"abs", "absolute value", "1", "0"> {
  let foreign = ["aten.abs", "onnx.Abs", "stablehlo.abs"];
}
def Net_SignOp : Net_MathOp<"sign", "-1, 0 or 1", "2", "0"> {
  let foreign = ["aten.sign", "onnx.Sign", "stablehlo.sign"];
}

def Net_PowerOp : Net_UnaryOp<"power"> {
  let foreign = ["aten.pow exponent=exponent", "onnx.Pow", "stablehlo.power"];
  let autocast = "Full";
  let summary = "x to a constant power";
  let description = [{ A small whole power is repeated multiplication. }];
  let arguments = (ins Net_FloatTensor:$x, Net_Real<>:$exponent);
  let other = "getMultiplications() ? *getMultiplications() * y : y";
  let transcendental = "getMultiplications() ? 0 * y : y";
  let example = "x ^ 2";
  let extraClassDeclaration = [{
    /// The number of multiplications of a power of 1 to 4. None for other
    /// powers, which are one call of pow.
    ::std::optional<int64_t> getMultiplications();
  }];
}

def Net_AddOp : Net_BinaryOp<"add"> {
  let foreign = ["aten.add", "onnx.Add", "stablehlo.add"];
  let summary = "a + b";
  let example = "a + b";
}
def Net_SubOp : Net_BinaryOp<"sub"> {
  let foreign = ["aten.sub", "aten.rsub", "onnx.Sub", "stablehlo.subtract"];
  let summary = "a - b";
  let example = "a - b";
}
def Net_MulOp : Net_BinaryOp<"mul"> {
  let foreign = ["aten.mul", "aten.square", "onnx.Mul", "chlo.square", "stablehlo.multiply"];
  let summary = "a * b, element by element";
  let example = "a * b";
}
def Net_DivOp : Net_BinaryOp<"div"> {
  let foreign = ["aten.div", "aten.reciprocal", "onnx.Div", "onnx.Reciprocal", "stablehlo.divide"];
  let summary = "a / b, element by element";
  // PyTorch computes `1 / x` by `reciprocal`.
  let autocast = "getA().getDefiningOp<ConstantOp>() ? Full : Widest";
  let arguments = (ins Net_FloatTensor:$a, Net_FloatTensor:$b);
  let example = "a / b";
}
def Net_MinimumOp : Net_BinaryOp<"minimum"> {
  let foreign = ["aten.minimum", "onnx.Min", "stablehlo.minimum"];
  let summary = "the smaller of a and b, element by element";
  let description = [{ Of two equal elements, the gradient goes to that of a. }];
  let example = "minimum(x, 6)";
}
def Net_MaximumOp : Net_BinaryOp<"maximum"> {
  let foreign = ["aten.maximum", "onnx.Max", "stablehlo.maximum"];
  let summary = "the larger of a and b, element by element";
  let description = [{ Of two equal elements, the gradient goes to that of a. }];
  let example = "maximum(x, 0)";
}

def Net_CompareOp : Net_Op<"compare", Net_Callable # [Net_ElementByElement]> {
  let foreign = ["aten.__xor__", "aten.bitwise_not", "aten.bitwise_xor", "aten.eq", "aten.ge", "aten.gt", "aten.le", "aten.logical_not",
                 "aten.logical_xor", "aten.lt", "aten.ne", "onnx.Equal", "onnx.Greater", "onnx.GreaterOrEqual", "onnx.Less",
                 "onnx.LessOrEqual", "onnx.Not", "onnx.Xor",
                 "stablehlo.compare.eq", "stablehlo.compare.ge", "stablehlo.compare.gt", "stablehlo.compare.le",
                 "stablehlo.compare.lt", "stablehlo.compare.ne"];
  let exported = [{
    StringRef name = StringSwitch<StringRef>(relation).Case("<", "aten.lt").Case("<=", "aten.le").Case(">", "aten.gt")
        .Case(">=", "aten.ge").Case("==", "aten.eq").Default("aten.ne");
    to.write(name, {a, b}, {}, y);
  }];
  let summary = "where a comparison of a and b holds, element by element";
  let description = [{ `relation` is `<`, `<=`, `>`, `>=`, `==` or `!=`. It has no gradient. }];
  let arguments = (ins Net_Tensor:$a, Net_Tensor:$b, Net_Text<>:$relation);
  let results = (outs Net_BoolTensor:$y);
  let matmul = "0";
  let other = "isFloat(getA()) ? Polynomial(y) : Polynomial()";
  let transcendental = "0";
  let example = "x > 0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_WhereOp : Net_Op<"where", Net_Callable # Net_Gradient # [Net_ElementByElement]> {
  let foreign = ["aten.where", "aten.__and__", "aten.__or__", "aten.bitwise_and", "aten.bitwise_or", "aten.logical_and",
                 "aten.logical_or", "aten.masked_fill", "onnx.And", "onnx.Or", "onnx.Where", "stablehlo.select"];
  let summary = "a where the condition holds, else b; choosing is free";
  let arguments = (ins Net_BoolTensor:$condition, Net_Tensor:$a, Net_Tensor:$b);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let example = "where(x > 0, x, 0)";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_MaskOp : Net_UnaryOp<"mask"> {
  let exported = [{
    if (op.isFree())
      return to.set(y, x);
    Type truth = IntegerType::get(op.getContext(), 1);
    Shape seen{llvm::ArrayRef(x.shape.sizes).take_back(2)};
    auto hide = [&](auto hidden) { to.write("aten.masked_fill", {x, hidden}, {{"value", to.json(value)}}, y); };
    if (causal)
      return hide(window ? to.known("not band", truth, seen, {{"width", window}}) : to.known("not causal", truth, seen));
    auto behind = to.make("aten.sub", {to.view(to.range(seen[0]), Shape{{seen[0], 1}}), to.range(seen[1])}, {}, seen);
    hide(to.compare("ge", behind, to.number(window, behind.element, seen), seen));
  }];
  let summary = "hides from position t of the last axis but one what stands after t on the last";
  let description = [{
    With `causal`, elements whose last index exceeds the one before it become
    `value` (by default minus infinity); with a `window`, also those that are as many
    places or more before it. With neither, nothing is hidden and the op is free.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Flag<"true">:$causal, Net_Real<"-inf">:$value,
                       Net_Integer<"0">:$window);
  let other = "causal || window != 0 ? Polynomial(y) : Polynomial()";
  let transcendental = "0";
  let extraClassDeclaration = "bool isFree() { return !getCausal() && getWindow() == 0; }";
  let example = "scores |> mask(causal = true)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Net_ConvertOp : Net_FreeOp<"convert", Net_Gradient # [Net_Amounts]> {
  let foreign = ["aten.to", "aten._to_copy", "aten.type_as", "aten.contiguous", "aten.clone", "aten.alias",
                 "aten.lift_fresh_copy", "onnx.Cast", "onnx.CastLike", "onnx.Identity", "stablehlo.convert"];
  let summary = "the same values in another element type";
  let arguments = (ins Net_Tensor:$x);
  let results = (outs Net_Tensor:$y);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Net_StopGradientOp : Net_FreeOp<"stop_gradient",
    [DeclareOpInterfaceMethods<LanguageOpInterface>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<GradientOpInterface, ["forEachFlow"]>]> {
  let foreign = ["aten.detach"];
  let summary = "the same values, through which no gradient goes back: a target";
  let exported = [{to.write("aten.detach", {x}, {}, y);}];
  let arguments = (ins Net_FloatTensor:$x);
  let results = (outs Net_Result:$y);
  let example = "x |> stop_gradient";
  let extraClassDefinition = Net_InferSameShape # [{
    void $cppClass::forEachFlow(::llvm::function_ref<void(::mlir::Value, ::mlir::Value)>) {}
    ::llvm::LogicalResult $cppClass::buildGradient(::netc::Gradients &) {
      return ::mlir::success();
    }
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_DropoutOp : Net_Op<"dropout", Net_Callable # Net_Gradient> {
  let foreign = ["aten.dropout", "aten.native_dropout", "aten.bernoulli", "aten.empty_like", "onnx.Dropout"];
  let exported = [{
    if (over.size() == x.shape.rank())
      return to.write("aten.dropout", {x}, {{"p", p}, {"train", true}}, y);
    Shape drawn = x.shape;
    for (auto [i, size] : llvm::enumerate(drawn.sizes))
      if (!llvm::is_contained(over, int64_t(i)))
        size = 1;
    auto all = to.number(1, x.element, drawn);
    auto kept = to.make("aten.bernoulli", {all}, {{"p", 1 - p}}, drawn);
    auto scaled = to.make("aten.div", {kept}, {{"other", 1 - p}}, drawn);
    to.write("aten.mul", {x, scaled}, {}, y);
  }];
  let summary = "sets elements to zero with probability `p`, scales the others by 1 / (1 - p)";
  let description = [{
    The mask is drawn anew at every step and saved for the backward pass; random
    numbers are not counted. `over` lists the axes that the mask has, in its order,
    all by default; `over = N` drops whole examples, which is stochastic depth.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Real<"", "0", "1">:$p, Net_Axes<"all">:$over);
  let results = (outs Net_Result:$y, Net_Result:$mask);
  let matmul = "0";
  let other = "2 * y";
  let transcendental = "0";
  let example = "x |> dropout(0.1)";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_DropoutGradOp : Net_Op<"dropout_grad", Net_Inferred> {
  let summary = "gradient of `dropout`, from its saved mask";
  let arguments = (ins Net_FloatTensor:$dy, Net_Tensor:$mask, F64Attr:$p, DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let matmul = "0";
  let other = "2 * dx";
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NET_ELEMENTWISE_OPS_TD
