// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses: a scalar, the mean over everything that is not summed.

#ifndef NET_LOSS_OPS_TD
#define NET_LOSS_OPS_TD

include "dialect/NetBase.td"

class Net_LossOp<string mnemonic, list<Trait> traits> : Net_Op<mnemonic, traits> {
  let matmul = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_CrossEntropyOp : Net_LossOp<"cross_entropy", Net_Relabels # Net_Gradient> {
  let summary = "cross-entropy of softmax(logits) with a target, averaged";
  let description = [{
    The target holds class numbers (integers, the class axis missing; negative ones
    are ignored) or a distribution of the logits' shape. `probabilities` are saved
    for the backward pass. With `smoothing`, that much of the target is spread evenly.
  }];
  let arguments = (ins Net_Tensor:$logits, Net_Tensor:$target,
                       Net_Real<"0">:$smoothing, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$loss, Net_Result:$probabilities);
  let other = "5 * logits + getRowCost()";
  let transcendental = "logits + getRows()";
  let example = "cross_entropy(logits, label, smoothing = 0.1)";
  let extraClassDeclaration = [{
    bool hasClassNumbers();
    ::netc::Polynomial getRows();
    ::netc::Polynomial getRowCost();
  }];
  let hasVerifier = 1;
}
def Net_CrossEntropyGradOp : Net_LossOp<"cross_entropy_grad", Net_Inferred> {
  let summary = "gradient of `cross_entropy`: (probabilities - target) times dloss over the rows";
  let arguments = (ins Net_Tensor:$dloss, Net_Tensor:$probabilities, Net_Tensor:$target,
                       F64Attr:$smoothing, I64Attr:$over);
  let results = (outs Net_Result:$dlogits);
  let other = "2 * dlogits";
  let transcendental = "0";
}

def Net_BceOp : Net_LossOp<"bce", Net_Relabels # Net_Gradient> {
  let summary = "binary cross-entropy of probabilities with targets of 0 to 1, averaged";
  let arguments = (ins Net_Tensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$loss);
  let other = "8 * x + 1";
  let transcendental = "2 * x";
  let example = "bce(click, clicked)";
  let hasVerifier = 1;
}
def Net_BceGradOp : Net_LossOp<"bce_grad", Net_Inferred> {
  let summary = "gradient of `bce`: (x - t) / (x (1 - x)) times dloss over the elements";
  let arguments = (ins Net_Tensor:$dloss, Net_Tensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$dx);
  let other = "5 * dx";
  let transcendental = "0";
}

def Net_MseOp : Net_LossOp<"mse", Net_Relabels # Net_Gradient> {
  let summary = "mean squared difference";
  let arguments = (ins Net_Tensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$loss);
  let other = "3 * x + 1";
  let transcendental = "0";
  let example = "mse(y, target)";
  let hasVerifier = 1;
}
def Net_MseGradOp : Net_LossOp<"mse_grad", Net_Inferred> {
  let summary = "gradient of `mse`: 2 (x - t) times dloss over the elements";
  let arguments = (ins Net_Tensor:$dloss, Net_Tensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$dx);
  let other = "2 * dx + 1";
  let transcendental = "0";
}

#endif // NET_LOSS_OPS_TD
