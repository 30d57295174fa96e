// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products that contract an axis, and table look-ups.

#ifndef NET_MATMUL_OPS_TD
#define NET_MATMUL_OPS_TD

include "dialect/NetBase.td"

def Net_LinearOp : Net_Op<"linear", Net_Callable # Net_Gradient> {
  let foreign = ["aten.linear", "aten.addmm", "onnx.Gemm", "jax.lax.dot"];
  let autocast = "Low";
  let exported = [{
    to.atEnd(y, x, over, [&](auto x, const Shape &result) { return to.make("aten.linear", {x, w}, {}, result); });
  }];
  let summary = "y[.., m, ..] = sum over k of x[.., k, ..] w[m, k]";
  let description = [{ The axis `over` of x is contracted with the last axis of w; the first axis of w takes its place. }];
  let arguments = (ins Net_FloatTensor:$x, Net_FloatTensor:$w, Net_Axis<"feature">:$over);
  let results = (outs Net_Result:$y);
  let matmul = "2 * x * w[0]";
  let other = "0";
  let transcendental = "0";
  let example = "linear(x, weight)";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_EinsumOp : Net_Op<"einsum", Net_Relabels # Net_Gradient> {
  let foreign = ["aten.einsum", "aten.matmul", "aten.bmm", "aten.baddbmm", "aten.mm", "aten.scaled_dot_product_attention",
                 "onnx.Einsum", "onnx.MatMul", "stablehlo.dot_general"];
  let autocast = "Low";
  let exported = [{to.write("aten.einsum", xs, {{"equation", to.equation(spec)}}, y);}];
  let summary = "sum over products, axes named by letters";
  let description = [{
    `spec` names each operand's axes and the result's: `"n t d, d m -> n t m"`. A
    letter that the result lacks is summed over. With one operand the op is a sum or
    a transpose; without a summed letter it is an element-wise product.
  }];
  let arguments = (ins Net_Text<>:$spec, Variadic<Net_FloatTensor>:$xs);
  let results = (outs Net_Result:$y);
  let matmul = "isContraction() ? getPoints() * int64_t(getNumOperands()) : Polynomial()";
  let other = "isContraction() ? Polynomial() : getElementwiseCost()";
  let transcendental = "0";
  let example = "einsum(\"n t d, d m -> n t m\", x, w)";
  let extraClassDeclaration = [{
    /// Whether there are two operands or more, and a letter that is summed
    /// over.
    bool isContraction();
    /// The size of the index space: the product of the sizes of all letters.
    ::netc::Polynomial getPoints();
    ::netc::Polynomial getElementwiseCost();
    /// One map per operand, then one for the result, from loops to axes. The
    /// loops are the axes of the result, then the letters that are summed over.
    ::llvm::SmallVector<::mlir::AffineMap> getIndexingMaps();
  }];
  let assemblyFormat = "$spec `(` $xs `)` attr-dict `:` functional-type($xs, results)";
}

def Net_EmbeddingOp : Net_Op<"embedding", Net_Relabels # Net_Gradient # Net_Indices> {
  let foreign = ["aten.embedding", "aten._embedding_bag", "aten._embedding_bag_forward_only", "aten.diagonal",
                 "aten.index", "aten.index_select", "aten.scatter", "onnx.Gather", "stablehlo.gather"];
  let exported = [{
    bool isLearned = op.getTable().getDefiningOp<ParameterOp>();
    to.write(isLearned ? "aten.embedding" : "aten.index", {table, ids}, {}, y);
  }];
  let summary = "rows of a table by their numbers";
  let description = [{ Of a number that is negative or of no row, zeros. }];
  let arguments = (ins Net_Tensor:$ids, Net_Tensor:$table);
  let results = (outs Net_Result:$y);
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
  let example = "embedding(tokens, weight)";
  let extraClassDeclaration = "std::optional<::netc::Polynomial> getTouched(unsigned operand);";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Net_EmbeddingGradOp : Net_Op<"embedding_grad"> {
  let summary = "gradient of `embedding`: adds each row of dy to its row of the table";
  let description = [{ A row whose number is of none goes nowhere. It is counted like the others. }];
  let arguments = (ins Net_FloatTensor:$dy, Net_Tensor:$ids);
  let results = (outs Net_Result:$dtable);
  let matmul = "0";
  let other = "dy";
  let transcendental = "0";
  let hasVerifier = 1;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NET_MATMUL_OPS_TD
