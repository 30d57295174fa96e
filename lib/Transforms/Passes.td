// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_TRANSFORMS_PASSES_TD
#define NET_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckSizes : Pass<"net-check-sizes", "::mlir::ModuleOp"> {
  let summary = "Check networks and steps at the sizes of their axes";
  let description = [{
    While an axis is free, an op cannot know whether a window or a slice fits. This
    asks each op again with the sizes from the `axes` of its network or step, and
    changes nothing. An axis that nothing is known of stays free. A mean is rounded
    up, and sizes that are not whole for it are left alone.
  }];
}

def ContractPairwise : Pass<"net-contract-pairwise", "::mlir::ModuleOp"> {
  let summary = "Contract an einsum of many operands pair by pair";
  let description = [{
    One nest of loops over all letters multiplies all operands at each point. Products
    of two at a time take less: this takes the cheapest order of them, where free axes
    count as 1,024. Each product is named by its letters, under the name of the einsum.
  }];
}

def ApplyPrecision : Pass<"net-apply-precision", "::mlir::ModuleOp"> {
  let summary = "Give the values of a step the formats that its run asks for";
  let description = [{
    Where the `run` of a step has a `precision`. If that has 16 bits, each op works in the
    format that its `autocast` says, and what it reads is converted by `net.convert`, once
    a value and format. Constants take the format of what they meet; so do the bias of a
    product, and the scale and offset of a normalization. What a loop carries has one
    format in all iterations. Gradients follow by themselves: that of a conversion is a
    conversion.

    A parameter that learns and has a master is in the master's format, and all ops read its
    conversion, `net.weight`. `net.gradient_format` and `net.state_format` of a parameter are
    those of its gradient and of its optimizer's states, if they differ from its own.
  }];
}

def Differentiate : Pass<"net-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append the backward pass to networks and steps";
  let description = [{
    A step is differentiated from its loss, a network from all its floating-point
    results. Only gradients that a trainable parameter needs are built; each ends in
    a `net.gradient`, which keeps what it is made of alive. The ops of the backward
    pass carry the names of the ops that they belong to, and their phase: `weight` if
    they only serve gradients of parameters, else `input`.
  }];
}

def Recompute : Pass<"net-recompute", "::mlir::ModuleOp"> {
  let summary = "Run parts of the forward pass again for the backward pass";
  let description = [{
    Where ops of a network or a step have `net.recomputed`, whose values number the parts, and where the `run` of a step has `recompute`. What a part makes for itself is then not
    kept: before the backward pass reads it, all of the part is run again, from what
    the rest of the forward pass hands it, which is kept. The copies have the phase
    `recompute`; dropouts draw the same masks, and nothing that the step keeps is
    written twice.

    With "full" the parts are the copies of each outermost `repeat`, `recompute_together`
    of them at a time, and of these every `recompute_every`-th. With "selective" they
    are the attentions: all between a product of two activations and the next.
  }];
}

def ApplyOptimizer : Pass<"net-apply-optimizer", "::mlir::ModuleOp"> {
  let summary = "Update each parameter of a step by its gradient";
  let description = [{
    Copies the body of `net.optimizer` for each `net.gradient`, the parameter and the
    gradient in the shape that it takes; what depends on neither is copied once. A
    `net.global_norm` of what is there for each parameter becomes one of all of them. Both kinds of op are
    gone after it. A step without an optimizer stays as it is.
  }];
}

def AccumulateGradients : Pass<"net-accumulate-gradients", "::mlir::ModuleOp"> {
  let summary = "Let a step go through its batch in parts";
  let description = [{
    Analyses count a step whose `run` has `accumulate` by the ops of one part. This
    makes what is executed: those ops, for the first part, and a loop that has them
    for the others and adds their gradients to those before. The update, which is
    there, follows. Inputs have the whole batch, and the step hands back the losses
    of all parts.
  }];
  let options = [Option<"run", "run", "std::string", "\"\"", "The step's name; empty for all">,
                 ListOption<"axes", "axes", "std::string", "Sizes, as net-bind-axes takes them">];
}

def BindAxes : Pass<"net-bind-axes", "::mlir::ModuleOp"> {
  let summary = "Give every free axis its size";
  let description = [{
    Sizes come from the option, else from the `axes` of a network or step, where a
    distribution gives its mean. A size that is not whole is rounded up. A network
    keeps an axis that nothing is known of; a step, which is what runs, may not.
  }];
  let options = [ListOption<"axes", "axes", "std::string", "Sizes, as in `axes=N=8,T=128`">];
}

#endif // NET_TRANSFORMS_PASSES_TD
