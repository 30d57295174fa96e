// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Updates of one parameter by its gradient, and schedules of the learning rate.

#ifndef NET_OPTIMIZER_OPS_TD
#define NET_OPTIMIZER_OPS_TD

include "dialect/NetBase.td"

class Net_UpdateOp<string mnemonic>
    : Net_Op<mnemonic, [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<UpdateOpInterface>] # Net_Callable> {
  let matmul = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_SgdOp : Net_UpdateOp<"sgd"> {
  let summary = "stochastic gradient descent";
  let description = [{
    lr g and the difference, 2; weight decay adds wd w to the gradient, 2; momentum
    v = mu v + g, 2; Nesterov steps along g + mu v, 2. With `sparse`, a table of which
    only some rows were read becomes a `net.sparse_sgd`; other parameters are as without.
  }];
  let arguments = (ins Net_FloatTensor:$parameter, Net_FloatTensor:$gradient, Net_Scalar:$lr,
    Net_Real<"0", "0", "1">:$momentum, Net_Real<"0", "0">:$weight_decay, Net_Flag<>:$nesterov,
    Net_Flag<>:$sparse);
  let other = "parameter * (2 + (isSet(momentum) ? 2 : 0) + (isSet(weight_decay) ? 2 : 0) + (nesterov ? 2 : 0))";
  let transcendental = "0";
  let example = "sgd(w, g, lr = 0.1, momentum = 0.9)";
  let hasCanonicalizeMethod = 1;
}
def Net_SparseSgdOp : Net_Op<"sparse_sgd",
    [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<UpdateOpInterface>]> {
  let summary = "stochastic gradient descent on the rows of a table that an `embedding` read";
  let description = [{
    For each row read, lr dy and the difference: the dense gradient is never made. A
    number that is negative or of no row updates none, and is counted like the others.
  }];
  let arguments = (ins Net_FloatTensor:$table, Net_FloatTensor:$dy, Net_IntegerTensor:$ids, Net_Scalar:$lr);
  let matmul = "0";
  let other = "2 * dy";
  let transcendental = "0";
  let extraClassDeclaration = "std::optional<::netc::Polynomial> getTouched(unsigned operand);";
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Net_AdamFamilyOp<string mnemonic> : Net_UpdateOp<mnemonic> {
  let arguments = (ins Net_FloatTensor:$parameter, Net_FloatTensor:$gradient, Net_Scalar:$lr, Net_Scalar:$step,
    Net_Real<"0.9", "0", "1">:$b1, Net_Real<"0.999", "0", "1">:$b2, Net_Real<"1e-8", "0">:$eps, Net_Real<"0", "0">:$weight_decay);
  let transcendental = "parameter";
}
def Net_AdamOp : Net_AdamFamilyOp<"adam"> {
  let summary = "Adam";
  let description = [{
    First moment 3, second 4, their two bias corrections 2, root, eps, quotient,
    learning rate and difference 5; weight decay adds wd w to the gradient, 2.
  }];
  let other = "parameter * (14 + (isSet(weight_decay) ? 2 : 0))";
  let example = "adam(w, g, lr = 1e-3, step = t)";
}
def Net_AdamwOp : Net_AdamFamilyOp<"adamw"> {
  let summary = "Adam with decoupled weight decay: w (1 - lr wd) first";
  let other = "parameter * (14 + (isSet(weight_decay) ? 1 : 0))";
  let example = "adamw(w, g, lr = 1e-3, step = t, weight_decay = 0.01)";
}

def Net_AssignOp : Net_UpdateOp<"assign"> {
  let summary = "leaves a value in a parameter or a buffer, where all that follows finds it";
  let description = [{
    What optimizers are made of that are blocks. It moves nothing: the value is built in its place.
  }];
  let arguments = (ins Net_FloatTensor:$held, Net_FloatTensor:$value);
  let other = "0";
  let transcendental = "0";
  let example = "assign(buffer(x.C), m)";
}

#endif // NET_OPTIMIZER_OPS_TD
