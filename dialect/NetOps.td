// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks, steps, parameters and loops: the ops that hold the others.

#ifndef NET_OPS_TD
#define NET_OPS_TD

include "dialect/NetBase.td"
include "dialect/NetElementwiseOps.td"
include "dialect/NetMatmulOps.td"
include "dialect/NetWindowOps.td"
include "dialect/NetReduceOps.td"
include "dialect/NetShapeOps.td"
include "dialect/NetIndexOps.td"
include "dialect/NetLossOps.td"
include "dialect/NetOptimizerOps.td"

class Net_GraphOp<string mnemonic, list<Trait> traits = []>
    : Net_Op<mnemonic, traits # [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::netc::ReturnOp getReturn();
  }];
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Net_NetworkOp : Net_GraphOp<"network"> {
  let summary = "a network: inputs, layers, results";
  let description = [{
    The block arguments are the inputs, named by `inputs`; `net.return` names the
    results. `axes` maps a free axis to what the dataset says of it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$axes);
}

def Net_StepOp : Net_GraphOp<"step"> {
  let summary = "one step of a training run";
  let description = [{
    First the forward pass of `network` and the loss, which `net.return` returns;
    net-differentiate adds the gradients and net-apply-optimizer the updates. A step
    of inference returns what the network does, and no parameter of it is trainable.
    `axes` maps each free axis to its moments. `run` holds what the specification says
    of the whole run. `classes` maps an input of class numbers to how many classes
    there are.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, StrAttr:$network,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$axes,
                       DefaultValuedAttr<Net_RunAttr, "{}">:$run,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$classes);
}

def Net_JobOp : Net_Op<"job", [Symbol]> {
  let summary = "a run that is made of runs";
  let description = [{
    It stands for the steps and jobs that `jobs` names. `run` holds what the
    specification says of the whole, as that of a step does; `network` is empty if
    the jobs have networks of their own.
  }];
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$jobs, StrAttr:$network,
                       DefaultValuedAttr<Net_RunAttr, "{}">:$run);
  let assemblyFormat = "$sym_name $jobs attr-dict-with-keyword";
}

def Net_ReturnOp : Net_FreeOp<"return", [Terminator, ParentOneOf<["NetworkOp", "StepOp"]>]> {
  let summary = "the results of a network, or the loss of a step";
  let arguments = (ins Variadic<Net_Tensor>:$results, StrArrayAttr:$names);
  let assemblyFormat = "($results^ `:` type($results))? $names attr-dict";
}

def Net_OptimizerOp : Net_Op<"optimizer", [HasParent<"StepOp">, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "an update rule of a step";
  let description = [{
    The block takes a parameter and its gradient, as vectors whose one axis is a symbol
    that stands for the number of elements, and the number of the step. Or it takes
    them as matrices of two symbols: the last axis, and all others as one.
    net-apply-optimizer copies it for each trainable parameter; what does not depend
    on one is copied once. With `parameters` it is for those of these names, and a matrix
    has as many elements as each of them.
  }];
  let arguments = (ins OptionalAttr<StrArrayAttr>:$parameters);
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::mlir::BlockArgument getParameter() { return getBlock().getArgument(0); }
    ::mlir::BlockArgument getGradient() { return getBlock().getArgument(1); }
    ::mlir::BlockArgument getStep() { return getBlock().getArgument(2); }
    /// Whether the sizes are symbols, so that the rule fits every parameter.
    bool hasAnySizes() { return !getParameters() || ::netc::shapeOf(getParameter()).rank() == 1; }
    /// The shape that a parameter of this shape has in the rule.
    ::netc::Shape shapeFor(const ::netc::Shape &parameter);
  }];
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Net_ParameterOp : Net_Op<"parameter", [Net_NotInLoop]> {
  let exported = [{to.weight(op.getValue(), name, init, trainable);}];
  let summary = "a weight of the network";
  let description = [{
    Using the value twice shares the weight. A frozen parameter (`trainable =
    false`) gets no gradient. Its name is that of its location.
  }];
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let arguments = (ins StrAttr:$name, StrAttr:$init, DefaultValuedAttr<BoolAttr, "true">:$trainable);
  let results = (outs Res<Net_Tensor, "", [MemAlloc]>:$value);
  let assemblyFormat = "$name $init attr-dict `:` type($value)";
}

def Net_BufferOp : Net_Op<"buffer", [Net_NotInLoop]> {
  let exported = [{to.weight(op.getValue(), name, init, /*learns=*/false, /*isState=*/true);}];
  let summary = "state that the step keeps but does not learn, such as running statistics";
  let description = [{
    An optimizer's state is stored in its `net.state_format`, if it has one, unless the specification
    states a type for it (`typed`). The value has the type in which the update computes: reading
    widens, and `assign` rounds. Blocks of 8 bits with a scale each are not the elements of a tensor.
  }];
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let arguments = (ins StrAttr:$name, StrAttr:$init, UnitAttr:$typed);
  let results = (outs Res<Net_Tensor, "", [MemAlloc]>:$value);
  let assemblyFormat = "$name $init attr-dict `:` type($value)";
}

def Net_OpaqueOp : Net_Op<"opaque", Net_Gradient> {
  let autocast = "Low";
  let summary = "a part of a network of which only the cost is known";
  let description = [{
    Makes something of its operands, a weight among them, in `flop` operations. A
    symbol there stands for a cost that nobody stated. The backward pass costs twice
    as much: the gradient of a weight as much as the op, and again as much for the
    gradients inside it, which are those of the first input if that wants one. `idle` is
    the share of its weight that no one row uses.
  }];
  let arguments = (ins Variadic<Net_Tensor>:$xs, Net_PolynomialAttr:$flop,
                       OptionalAttr<Net_PolynomialAttr>:$idle);
  let results = (outs Net_Result:$y);
  let matmul = "flop.getValue()";
  let other = "0";
  let transcendental = "0";
  let assemblyFormat = "$flop `(` $xs `)` attr-dict `:` functional-type($xs, results)";
}

def Net_ConstantOp : Net_FreeOp<"constant"> {
  let exported = [{to.set(y, to.number(value, elementOf(y), shapeOf(y)));}];
  let summary = "a tensor whose elements are all the same";
  let arguments = (ins F64Attr:$value);
  let results = (outs Net_Tensor:$y);
  let assemblyFormat = "$value attr-dict `:` type($y)";
}

def Net_LiteralOp : Net_FreeOp<"literal"> {
  let exported = [{to.set(y, to.known("table", elementOf(y), shapeOf(y), {{"values", to.json(values)}}));}];
  let summary = "a tensor whose elements are given, one by one";
  let arguments = (ins ElementsAttr:$values);
  let results = (outs Net_Tensor:$y);
  let hasVerifier = 1;
  let assemblyFormat = "$values attr-dict `:` type($y)";
}

def Net_TableOp : Net_FreeOp<"table"> {
  let exported = [{
    GraphWriter::Settings facts = {{"init", init}};
    if (theta != 1e4)
      facts["theta"] = theta;
    to.set(y, to.known("table", elementOf(y), shapeOf(y), std::move(facts)));
  }];
  let summary = "a constant that is computed once: angles of positions, slopes";
  let description = [{
    `init` tells how, as that of a parameter. Of angles, feature i of n rotates by
    theta^(-i / n) a position. It is no weight: all uses of a table of one kind and shape
    have one.
  }];
  let arguments = (ins StrAttr:$init, DefaultValuedAttr<F64Attr, "1e4">:$theta);
  let results = (outs Net_Tensor:$y);
  let assemblyFormat = "$init attr-dict `:` type($y)";
}

// The results of the backward pass, which the update reads.
def Net_GradientOp : Net_Op<"gradient", [MemoryEffects<[MemWrite]>, AllShapesMatch<["parameter", "gradient"]>,
    PredOpTrait<"its first operand is a parameter",
                CPred<"$_op.getOperand(0).getDefiningOp<::netc::ParameterOp>()">>]> {
  let summary = "states the gradient of a parameter, which may have a format of its own";
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let arguments = (ins Net_Tensor:$parameter, Net_Tensor:$gradient);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

def Net_WhenOp : Net_Op<"when", [HasParent<"StepOp">, SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "what a step leaves for the next one only if a condition holds";
  let description = [{
    The body is computed in any case, and counts. What it writes to parameters and buffers is kept only
    where the condition holds: an update that is skipped.
  }];
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let arguments = (ins Net_BoolTensor:$condition);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = "::mlir::Block &getBlock() { return getBody().front(); }";
  let assemblyFormat = "$condition attr-dict-with-keyword $body `:` type($condition)";
}

def Net_ScanOp : Net_Op<"scan", [AttrSizedOperandSegments, SingleBlock,
    RecursiveMemoryEffects, DeclareOpInterfaceMethods<GradientOpInterface, ["forEachFlow"]>]> {
  let foreign = ["higher_order.scan", "aten.lstm", "aten.gru", "aten.rnn_relu", "aten.rnn_tanh", "onnx.LSTM", "onnx.GRU", "onnx.RNN"];
  let exported = [{to.scan(op);}];
  let summary = "a loop over one axis of its sequences";
  let description = [{
    The body runs `trip` times, in order or `reversed`. Its arguments are the
    elements of the sequences (the axis at `axes[i]` taken away), then the carried
    values; it yields the elements of the outputs, then the next carried values.
    The results are the outputs, with the axis put back at `out_axes[i]`, then the
    last carried values. Outer tensors may be read. The last iteration omits what only
    serves a last carried value that nothing reads, such as the gradient of a first state
    that is constant.
  }];
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let arguments = (ins Variadic<Net_Tensor>:$sequences, Variadic<Net_Tensor>:$inits,
                       Net_PolynomialAttr:$trip, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes,
                       DenseI64ArrayAttr:$out_axes, UnitAttr:$reversed);
  let results = (outs Variadic<Net_Tensor>:$values);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumOutputs() { return getOutAxes().size(); }
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::netc::YieldOp getYield();
    /// The ops of the body that the last iteration does not execute.
    ::llvm::SmallPtrSet<::mlir::Operation *, 4> getOpsOmittedLast();
  }];
  let assemblyFormat = [{
    $trip (`over` $sequences^ $axes)? (`init` $inits^)? `out` $out_axes
    attr-dict-with-keyword $body `:` functional-type(operands, results)
  }];
}

def Net_YieldOp : Net_FreeOp<"yield", [Terminator, ParentOneOf<["ScanOp"]>]> {
  let summary = "what an iteration of a scan yields: outputs, then the next carried values";
  let arguments = (ins Variadic<Net_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // NET_OPS_TD
