// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses. The result is a scalar, the mean over all axes that the loss does not
// sum over. An integer target is converted, which is free.

#ifndef NET_LOSS_OPS_TD
#define NET_LOSS_OPS_TD

include "dialect/NetBase.td"

class Net_LossOp<string mnemonic, list<Trait> traits> : Net_Op<mnemonic, traits> {
  let matmul = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

defvar Net_HasClassNumbers = [{
    bool hasClassNumbers() { return ::llvm::isa<::mlir::IntegerType>(::netc::elementOf(getTarget())); }
}];

def Net_CrossEntropyOp : Net_LossOp<"cross_entropy", Net_Callable # Net_Gradient # Net_Indices> {
  let foreign = ["aten.cross_entropy_loss"];
  let autocast = "Loss";
  let exported = [{
    // PyTorch has classes on the second axis.
    int64_t second = ::std::min<int64_t>(1, logits.shape.rank() - 1);
    auto wanted = op.hasClassNumbers() ? target : to.move(target, over, second);
    to.write("aten.cross_entropy_loss", {to.move(logits, over, second), wanted}, {{"label_smoothing", smoothing}}, loss);
  }];
  let summary = "cross-entropy of softmax(logits) with a target, averaged";
  let description = [{
    The target holds class numbers (integers, the class axis missing; a row whose number is
    negative or of no class is ignored) or a distribution of the logits' shape.
    `probabilities` are saved for the backward pass. With `smoothing`, that much of the
    target is spread evenly.

    With d = logits - max, the loss of a row is log(sum exp d) - sum(target d). Per
    element: largest, difference, exp, sum, quotient, and product and sum with the
    target, which is two more for a distribution that is smoothed. Class numbers
    without smoothing pick one d, which is free. Per row: logarithm, difference, sum
    over the rows; and one quotient.
  }];
  let arguments = (ins Net_FloatTensor:$logits, Net_Tensor:$target,
                       Net_Real<"0", "0", "1">:$smoothing, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$loss, Net_Result:$probabilities);
  let other = "logits * ((hasClassNumbers() ? 5 : 7) + (isSet(smoothing) ? 2 : 0)) + 3 * getRows() + 1";
  let transcendental = "logits + getRows()";
  let example = "cross_entropy(logits, label, smoothing = 0.1)";
  let extraClassDeclaration = Net_HasClassNumbers # [{
    /// The number of sets of classes, over which the loss is averaged.
    ::netc::Polynomial getRows();
  }];
  let hasVerifier = 1;
}
def Net_CrossEntropyGradOp : Net_LossOp<"cross_entropy_grad", Net_Inferred> {
  let summary = "gradient of `cross_entropy`: (probabilities - target) times dloss over the rows";
  let description = [{
    Per element the difference and the product, and two more for a distribution that
    is smoothed; and one quotient. Zeros in rows that are ignored.
  }];
  let arguments = (ins Net_Scalar:$dloss, Net_FloatTensor:$probabilities, Net_Tensor:$target,
                       F64Attr:$smoothing, I64Attr:$over);
  let results = (outs Net_Result:$dlogits);
  let other = "dlogits * (isSet(smoothing) && !hasClassNumbers() ? 4 : 2) + 1";
  let transcendental = "0";
  let extraClassDeclaration = Net_HasClassNumbers;
}

def Net_BceOp : Net_LossOp<"bce", Net_Callable # Net_Gradient # [Net_AxesMeet, Net_Amounts]> {
  let autocast = "Loss";
  let exported = [{
    auto t = to.convert(target, x.element);
    auto one = to.number(1, x.element, x.shape);
    auto isNot = to.make("aten.mul", {to.make("aten.sub", {one, t}, {}, x.shape),
                                      to.make("aten.log", {to.make("aten.sub", {one, x}, {}, x.shape)}, {}, x.shape)}, {}, x.shape);
    auto is = to.make("aten.mul", {t, to.make("aten.log", {x}, {}, x.shape)}, {}, x.shape);
    to.write("aten.neg", {to.mean(to.make("aten.add", {is, isNot}, {}, x.shape))}, {}, loss);
  }];
  let summary = "binary cross-entropy of probabilities with targets of 0 to 1, averaged";
  let arguments = (ins Net_FloatTensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$loss);
  let other = "8 * x + 1";
  let transcendental = "2 * x";
  let example = "bce(click, clicked)";
}
def Net_BceGradOp : Net_LossOp<"bce_grad", Net_Inferred # [Net_Amounts]> {
  let summary = "gradient of `bce`: (x - t) / (x (1 - x)) times dloss over the elements";
  let arguments = (ins Net_Scalar:$dloss, Net_FloatTensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$dx);
  let other = "5 * dx + 1";
  let transcendental = "0";
}

def Net_MseOp : Net_LossOp<"mse", Net_Callable # Net_Gradient # [Net_AxesMeet, Net_Amounts]> {
  let autocast = "Loss";
  let exported = [{
    auto difference = to.make("aten.sub", {x, to.convert(target, x.element)}, {}, x.shape);
    to.set(loss, to.mean(to.make("aten.mul", {difference, difference}, {}, x.shape)));
  }];
  let summary = "mean squared difference";
  let arguments = (ins Net_FloatTensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$loss);
  let other = "3 * x + 1";
  let transcendental = "0";
  let example = "mse(y, target)";
}
def Net_MseGradOp : Net_LossOp<"mse_grad", Net_Inferred # [Net_Amounts]> {
  let summary = "gradient of `mse`: 2 (x - t) times dloss over the elements";
  let arguments = (ins Net_Scalar:$dloss, Net_FloatTensor:$x, Net_Tensor:$target);
  let results = (outs Net_Result:$dx);
  let other = "2 * dx + 1";
  let transcendental = "0";
}

#endif // NET_LOSS_OPS_TD
