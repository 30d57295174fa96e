// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that slide a window over axes of an image, a volume or a sequence, in any
// layout. The window slides over the axes `over`; `channel` is the axis of
// channels, and all other axes are batch axes. `low` and `high` are the padding
// before and after.

#ifndef NET_WINDOW_OPS_TD
#define NET_WINDOW_OPS_TD

include "dialect/NetBase.td"

class Net_WindowOp<string mnemonic, list<Trait> traits> : Net_Op<mnemonic, traits> {
  let transcendental = "0";
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Net_ConvOp : Net_WindowOp<"conv", Net_Callable # Net_Gradient> {
  let foreign = ["aten.conv1d", "aten.conv2d", "aten.conv3d", "onnx.Conv", "stablehlo.convolution"];
  let autocast = "Low";
  let exported = [{
    to.asImages(y, x, over, channel, [&](auto x, const Shape &result) {
      SmallVector<int64_t> padding;
      auto padded = to.padImages(x, low, high, low, 0, padding);
      return to.make("aten.conv" + std::to_string(over.size()) + "d", {padded, w},
                     {{"stride", to.json(stride)}, {"padding", to.json(padding)}, {"dilation", to.json(dilation)},
                      {"groups", groups}}, result);
    });
  }];
  let summary = "convolution over any number of axes";
  let description = [{
    w is [out, in / groups, k..]. Padded taps count, as in every published figure.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_FloatTensor:$w,
    Net_Window<"1">:$stride, Net_Window<"0">:$low, Net_Window<"0">:$high,
    Net_Window<"1">:$dilation, Net_Integer<"1">:$groups,
    Net_Axes<"window">:$over, Net_Axis<"feature">:$channel);
  let results = (outs Net_Result:$y);
  let matmul = "2 * y * (w / w[0])";
  let other = "0";
  let example = "conv(x, weight, stride = 2, low = 1, high = 1)";
}

def Net_ConvTransposeOp : Net_WindowOp<"conv_transpose", Net_Callable # Net_Gradient> {
  let foreign = ["aten.conv_transpose1d", "aten.conv_transpose2d", "aten.conv_transpose3d", "jax.lax.conv_transpose",
                 "onnx.ConvTranspose"];
  let autocast = "Low";
  let exported = [{
    to.asImages(y, x, over, channel, [&](auto x, const Shape &result) {
      // PyTorch crops both ends by the same amount; a slice crops the rest.
      SmallVector<int64_t> cut;
      Shape made = result;
      for (auto [i, before, after] : llvm::enumerate(low, high)) {
        cut.push_back(std::min(before, after));
        made[i + 2] += before + after - 2 * cut[i];
      }
      auto y = to.make("aten.conv_transpose" + std::to_string(over.size()) + "d", {x, w},
                       {{"stride", to.json(stride)}, {"padding", to.json(cut)}, {"output_padding", to.json(extra)},
                        {"groups", groups}, {"dilation", to.json(dilation)}}, made);
      for (auto [i, before, after] : llvm::enumerate(low, high)) {
        made[i + 2] = result[i + 2];
        if (before != after)
          y = to.slice(y, i + 2, before - cut[i], made);
      }
      return y;
    });
  }];
  let summary = "transposed convolution; also the gradient of `conv` for its input";
  let description = [{
    w is [in, out / groups, k..]. `extra` makes the result longer at the end, where
    several sizes would convolve to that of x.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_FloatTensor:$w,
    Net_Window<"1">:$stride, Net_Window<"0">:$low, Net_Window<"0">:$high,
    Net_Window<"1">:$dilation, Net_Integer<"1">:$groups, Net_Window<"0">:$extra,
    Net_Axes<"window">:$over, Net_Axis<"feature">:$channel);
  let results = (outs Net_Result:$y);
  let matmul = "2 * x * (w / w[0])";
  let other = "0";
  let example = "conv_transpose(x, weight, stride = 2)";
}

def Net_ConvWeightGradOp : Net_WindowOp<"conv_weight_grad", []> {
  let summary = "gradient of `conv` for its weight, from its input and the result's gradient";
  let arguments = (ins Net_FloatTensor:$x, Net_FloatTensor:$dy,
    DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
    DenseI64ArrayAttr:$dilation, I64Attr:$groups,
    DenseI64ArrayAttr:$over, I64Attr:$channel);
  let results = (outs Net_Result:$dw);
  let matmul = "2 * dy * (dw / dw[0])";
  let other = "0";
  let hasVerifier = 1;
}

class Net_PoolOp<string mnemonic, list<Trait> traits> : Net_WindowOp<mnemonic, traits> {
  let matmul = "0";
}

def Net_MaxPoolOp : Net_PoolOp<"max_pool", Net_Callable # Net_Gradient> {
  let foreign = ["aten.max_pool1d", "aten.max_pool2d", "aten.max_pool2d_with_indices", "aten.max_pool3d", "aten.adaptive_max_pool1d",
                 "aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d", "onnx.GlobalMaxPool", "onnx.MaxPool", "stablehlo.reduce_window.maximum"];
  let exported = [{
    to.asImages(y, x, over, -1, [&](auto x, const Shape &result) {
      SmallVector<int64_t> padding, most(k);
      for (int64_t &each : most)
        each /= 2;
      auto padded = to.padImages(x, low, high, most, -INFINITY, padding);
      return to.make("aten.max_pool" + std::to_string(over.size()) + "d", {padded},
                     {{"kernel_size", to.json(k)}, {"stride", to.json(stride)}, {"padding", to.json(padding)},
                      {"dilation", to.json(dilation)}, {"ceil_mode", ceil}}, result);
    });
  }];
  let summary = "the largest element of each window";
  let description = [{
    `indices` keeps which tap it was, for the backward pass: the first where no element
    exceeds another, as among what is no number. With `ceil`, a last window that is only
    partly inside counts too.
  }];
  let arguments = (ins Net_FloatTensor:$x, Net_Window<>:$k,
    Net_Window<"1">:$stride, Net_Window<"0">:$low, Net_Window<"0">:$high,
    Net_Window<"1">:$dilation, Net_Flag<>:$ceil, Net_Axes<"window">:$over);
  let results = (outs Net_Result:$y, Net_Result:$indices);
  let other = "y * product(k)";
  let example = "max_pool(x, 3, stride = 2, low = 1, high = 1)";
}
def Net_MaxPoolGradOp : Net_PoolOp<"max_pool_grad", []> {
  let summary = "gradient of `max_pool`: adds each dy to the element that was largest";
  let arguments = (ins Net_FloatTensor:$dy, Net_Tensor:$indices, DenseI64ArrayAttr:$k,
    DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
    DenseI64ArrayAttr:$dilation, DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let other = "dy";
  let hasVerifier = 1;
}

def Net_AvgPoolOp : Net_PoolOp<"avg_pool", Net_Callable # Net_Gradient> {
  let foreign = ["aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d", "onnx.AveragePool", "flax.linen.avg_pool"];
  let exported = [{
    to.asImages(y, x, over, -1, [&](auto x, const Shape &result) {
      SmallVector<int64_t> padding, most(k);
      for (int64_t &each : most)
        each /= 2;
      auto padded = to.padImages(x, low, high, most, 0, padding);
      return to.make("aten.avg_pool" + std::to_string(over.size()) + "d", {padded},
                     {{"kernel_size", to.json(k)}, {"stride", to.json(stride)}, {"padding", to.json(padding)},
                      {"ceil_mode", ceil}, {"count_include_pad", true}}, result);
    });
  }];
  let summary = "the mean of each window, padding included";
  let arguments = (ins Net_FloatTensor:$x, Net_Window<>:$k,
    Net_Window<"1">:$stride, Net_Window<"0">:$low, Net_Window<"0">:$high,
    Net_Flag<>:$ceil, Net_Axes<"window">:$over);
  let results = (outs Net_Result:$y);
  let other = "y * product(k) + y";
  let example = "avg_pool(x, 2, stride = 2)";
}
def Net_AvgPoolGradOp : Net_PoolOp<"avg_pool_grad", []> {
  let summary = "gradient of `avg_pool`: spreads each dy over its window";
  let arguments = (ins Net_FloatTensor:$dy, DenseI64ArrayAttr:$k,
    DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
    DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let other = "dy * product(k) + dy";
  let hasVerifier = 1;
}

def Net_AdaptiveAvgPoolOp : Net_PoolOp<"adaptive_avg_pool", Net_Callable # Net_Gradient> {
  let foreign = ["aten.adaptive_avg_pool1d", "aten.adaptive_avg_pool2d", "aten.adaptive_avg_pool3d",
                 "aten._adaptive_avg_pool2d", "onnx.GlobalAveragePool"];
  let exported = [{
    to.asImages(y, x, over, -1, [&](auto x, const Shape &result) {
      return to.make("aten.adaptive_avg_pool" + std::to_string(over.size()) + "d", {x},
                     {{"output_size", to.json(size)}}, result);
    });
  }];
  let summary = "means over as many windows as `size` asks for";
  let description = [{ Window i of n covers floor(i m / n) to ceil((i + 1) m / n) of m elements. }];
  let arguments = (ins Net_FloatTensor:$x, Net_Window<>:$size, Net_Axes<"window">:$over);
  let results = (outs Net_Result:$y);
  let other = "getCovered() + y";
  let example = "adaptive_avg_pool(x, 7)";
  let extraClassDeclaration = [{
    /// The number of elements of all windows, counting shared elements twice.
    ::netc::Polynomial getCovered();
  }];
}
def Net_AdaptiveAvgPoolGradOp : Net_PoolOp<"adaptive_avg_pool_grad", []> {
  let summary = "gradient of `adaptive_avg_pool`";
  let arguments = (ins Net_FloatTensor:$dy, DenseI64ArrayAttr:$over);
  let results = (outs Net_Result:$dx);
  let other = "getCovered() + dy";
  let hasVerifier = 1;
  let extraClassDeclaration = "::netc::Polynomial getCovered();";
}

#endif // NET_WINDOW_OPS_TD
