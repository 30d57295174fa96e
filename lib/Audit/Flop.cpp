// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Flop.h"

#include "lib/Audit/OpNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::ArrayRef;
using llvm::StringRef;

using Dims = ArrayRef<int64_t>;

Rational netc::audit::elementsOf(Dims sizes) {
  Rational product = 1;
  for (int64_t size : sizes)
    product *= size < 0 ? Rational::invalid() : Rational(size);
  return product;
}

static Elements sorted(Rational a, Rational b, Rational c) {
  Elements elements{a, b, c};
  std::sort(elements.begin(), elements.end());
  return elements;
}

/// Whether all sizes of the operands are known. Readers store -1 for a size
/// that is not a number.
static bool hasSizes(const Trace &trace, const HostEvent &event) {
  for (unsigned i = 0; i < trace.inputsOf(event).shapes.size; ++i)
    if (llvm::any_of(trace.shape(event, i),
                     [](int64_t size) { return size < 0; }))
      return false;
  return true;
}

/// Parses a number for each axis, `[2, 2]`, or one for all, `2`. Empty if the
/// text is neither.
static llvm::SmallVector<int64_t, 3> listOf(StringRef text, size_t axes) {
  llvm::SmallVector<int64_t, 3> list;
  llvm::SmallVector<StringRef, 3> parts;
  text.trim("[]()").split(parts, ',');
  for (StringRef part : parts) {
    int64_t value;
    if (part.trim().getAsInteger(10, value))
      return {};
    list.push_back(value);
  }
  if (list.size() == 1)
    list.resize(axes, list.front());
  if (list.size() != axes)
    list.clear();
  return list;
}

llvm::SmallVector<int64_t, 3>
netc::audit::withoutIdle(llvm::ArrayRef<int64_t> dilations,
                         llvm::ArrayRef<int64_t> window) {
  llvm::SmallVector<int64_t, 3> moving;
  for (auto [dilation, size] : llvm::zip(dilations, window))
    moving.push_back(size == 1 ? 1 : dilation);
  return moving;
}

/// The dilations of a convolution, by axis of its window.
static llvm::SmallVector<int64_t, 3> dilationOf(StringRef text, Dims window) {
  return withoutIdle(listOf(text, window.size()), window);
}

/// The number of windows of a convolution: the elements of its result along the
/// spatial axes. None if a size is unknown.
static std::optional<Rational> windows(Dims input, Dims weight, Dims stride,
                                       Dims pad, Dims dilation) {
  Rational points = 1;
  for (size_t i = 0; i < stride.size(); ++i) {
    int64_t size, reach;
    if (stride[i] <= 0 || input[i + 2] < 0 || weight[i + 2] < 1 ||
        __builtin_mul_overflow(dilation[i], weight[i + 2] - 1, &reach) ||
        __builtin_mul_overflow(pad[i], 2, &size) ||
        __builtin_add_overflow(size, input[i + 2], &size) ||
        __builtin_sub_overflow(size, reach, &size) || size < 1)
      return std::nullopt;
    points *= (size - 1) / stride[i] + 1;
  }
  return points;
}

static EventCost none() { return {std::nullopt, {}, std::nullopt}; }

static EventCost both(Rational flop, Elements elements) {
  if (!flop.isValid())
    return none();
  return {flop, elements, flop};
}

/// The cost of products of matrices: [.., m, k] by [.., k, n].
static EventCost matrices(Dims a, Dims b) {
  if (a.size() < 2 || b.size() != a.size() ||
      a[a.size() - 1] != b[b.size() - 2])
    return none();
  Rational result = elementsOf(a.drop_back()) * b.back();
  Rational flop = Rational(2) * result * a.back();
  EventCost cost = both(flop, sorted(elementsOf(a), elementsOf(b), result));
  cost.made = result;
  cost.operand = a;
  return cost;
}

/// The cost of a matrix product; `first` is its first operand.
template <unsigned first>
static EventCost product(const Trace &trace, const HostEvent &event, Dims) {
  return matrices(trace.shape(event, first), trace.shape(event, first + 1));
}

/// The cost of a product with a vector: operand `first` is a matrix or vector,
/// the next one is the vector.
template <unsigned first>
static EventCost productWithVector(const Trace &trace, const HostEvent &event,
                                   Dims) {
  Dims a = trace.shape(event, first), vector = trace.shape(event, first + 1);
  if (a.empty() || a.size() > 2 || vector.size() != 1 || a.back() != vector[0])
    return none();
  Rational result = elementsOf(a.drop_back());
  EventCost cost = both(Rational(2) * elementsOf(a),
                        sorted(elementsOf(a), elementsOf(vector), result));
  cost.made = result;
  return cost;
}

/// The cost of a linear layer. Operand 0 are the inputs, with any number of
/// axes; operand `weight` is [outputs, inputs].
template <unsigned weight>
static EventCost linear(const Trace &trace, const HostEvent &event, Dims) {
  Dims input = trace.shape(event, 0), weights = trace.shape(event, weight);
  if (input.empty() || weights.size() != 2 || input.back() != weights[1])
    return none();
  Rational made = elementsOf(input.drop_back()) * weights[0];
  EventCost cost = both(Rational(2) * made * weights[1],
                        sorted(elementsOf(input), elementsOf(weights), made));
  cost.made = made;
  cost.operand = input;
  return cost;
}

/// The cost of a matrix product whose operands may have 4 bits: then an element
/// holds two.
static EventCost scaledProduct(const Trace &trace, const HostEvent &event,
                               Dims result) {
  EventCost cost = product<0>(trace, event, result);
  if (cost.flop && trace.type(event, 0).ends_with("_x2"))
    cost.flop = *cost.flop * 2;
  return cost;
}

/// The cost of products of several pairs of matrices. An operand with two axes
/// has the matrices of all pairs one after the other.
static EventCost groupedProduct(const Trace &trace, const HostEvent &event,
                                Dims) {
  Dims a = trace.shape(event, 0), b = trace.shape(event, 1);
  if (a.size() == 3 && b.size() == 3)
    return matrices(a, b);
  if (a.size() < 2 || a.size() > 3 || b.size() < 2 || b.size() > 3 ||
      a.back() != b[b.size() - 2])
    return none();
  return both(Rational(2) * a[a.size() - 2] * a.back() * b.back(),
              sorted(elementsOf(a), elementsOf(b), 0));
}

/// FLOP of one of a convolution's two gradients, from the shape of the result's
/// gradient. Invalid if the shapes do not fit.
static Rational oneGradient(Dims gradient, Dims weight) {
  if (gradient.size() < 3 || weight.size() != gradient.size())
    return Rational::invalid();
  return Rational(2) * gradient[0] * elementsOf(gradient.drop_front(2)) *
         elementsOf(weight);
}

/// The elements of a transposed convolution's result along its spatial axes, by
/// its strides, padding, dilation and padding of the result; invalid if one is
/// not known.
static Rational
transposedPoints(Dims input, Dims weight,
                 std::array<llvm::SmallVector<int64_t, 3>, 4> lists) {
  auto &[stride, pad, dilation, behind] = lists;
  if (llvm::any_of(lists, [](const auto &list) { return list.empty(); }))
    return Rational::invalid();
  Rational points = 1;
  for (size_t i = 0; i < stride.size(); ++i)
    points *= Rational(input[i + 2] - 1) * stride[i] - Rational(pad[i]) * 2 +
              Rational(weight[i + 2] - 1) * dilation[i] + behind[i] + 1;
  return points;
}

/// The groups of a convolution; 1 if the trace does not state them.
static int64_t groupsOf(const Trace &trace, const HostEvent &event) {
  StringRef name = trace.names[event.name];
  int64_t groups;
  return trace.value(event, name.contains("backward") ? 9 : 8)
                 .getAsInteger(10, groups)
             ? 1
             : groups;
}

/// Arguments: input, weight; where the others are. Without a place, a
/// convolution is not transposed.
template <unsigned stridePlace, unsigned padPlace, unsigned dilationPlace,
          int transposedPlace = -1>
static EventCost convolution(const Trace &trace, const HostEvent &event,
                             Dims result) {
  Dims input = trace.shape(event, 0), weight = trace.shape(event, 1);
  if (input.size() < 3 || weight.size() != input.size())
    return none();
  size_t axes = input.size() - 2;
  bool isTransposed =
      transposedPlace >= 0 && trace.value(event, transposedPlace) == "True";
  Rational points;
  if (isTransposed) {
    points = elementsOf(input.drop_front(2));
  } else if (auto stride = listOf(trace.value(event, stridePlace), axes);
             !stride.empty()) {
    auto pad = listOf(trace.value(event, padPlace), axes);
    auto dilation = listOf(trace.value(event, dilationPlace), axes);
    if (pad.empty() || dilation.empty())
      return none();
    auto made = windows(input, weight, stride, pad, dilation);
    if (!made)
      return none();
    points = *made;
  } else if (result.size() == input.size() && result[0] == input[0] &&
             result[1] == weight[0]) {
    points = elementsOf(result.drop_front(2));
  } else {
    return none();
  }
  Rational flop = Rational(2) * input[0] * points * elementsOf(weight);
  Rational made = Rational(input[0]) * weight[0] * points;
  if (isTransposed)
    made = Rational(input[0]) * weight[1] * groupsOf(trace, event) *
           transposedPoints(
               input, weight,
               {listOf(trace.value(event, stridePlace), axes),
                listOf(trace.value(event, padPlace), axes),
                listOf(trace.value(event, dilationPlace), axes),
                listOf(trace.value(event, transposedPlace + 1), axes)});
  EventCost cost = both(
      flop, made.isValid() ? sorted(elementsOf(input), elementsOf(weight), made)
                           : Elements());
  if (made.isValid())
    cost.made = made;
  cost.operand = input;
  cost.read = input.drop_front();
  cost.window = weight.drop_front(2);
  cost.dilation = dilationOf(trace.value(event, dilationPlace), cost.window);
  if (transposedPlace >= 0 && !trace.value(event, transposedPlace).empty())
    cost.isTransposed = isTransposed;
  return cost;
}

/// The cost of a convolution's gradients. Arguments: grad, input, weight, bias
/// sizes, stride, padding, dilation, transposed, output padding, groups, mask.
static EventCost convolutionBackward(const Trace &trace, const HostEvent &event,
                                     Dims) {
  Dims gradient = trace.shape(event, 0), input = trace.shape(event, 1),
       weight = trace.shape(event, 2);
  if (gradient.size() < 3 || input.size() != gradient.size() ||
      weight.size() != input.size())
    return none();
  bool isTransposed = trace.value(event, 7) == "True";
  Rational points = elementsOf((isTransposed ? input : gradient).drop_front(2));
  Rational one = Rational(2) * input[0] * points * elementsOf(weight);
  llvm::SmallVector<StringRef, 3> mask;
  trace.value(event, 10).trim("[]").split(mask, ',');
  bool hasInput = mask.size() != 3 || mask[0].trim() == "True";
  bool hasWeight = mask.size() != 3 || mask[1].trim() == "True";
  Elements elements =
      sorted(elementsOf(input), elementsOf(weight), elementsOf(gradient));
  EventCost cost = both(one * (int(hasInput) + int(hasWeight)), elements);
  cost.read = input.drop_front();
  cost.window = weight.drop_front(2);
  cost.dilation = dilationOf(trace.value(event, 6), cost.window);
  if (!trace.value(event, 7).empty())
    cost.isTransposed = isTransposed;
  cost.weight = one * int(hasWeight);
  cost.counter = one * int(hasInput) + *cost.weight * groupsOf(trace, event);
  return cost;
}

/// The cost of the two products of attention. From `first` on, operands are
/// query, key and value, [batch, heads, positions, features], or with heads
/// after positions.
template <unsigned first, bool headsFirst = true>
static EventCost attention(const Trace &trace, const HostEvent &event, Dims) {
  Dims query = trace.shape(event, first), key = trace.shape(event, first + 1),
       value = trace.shape(event, first + 2);
  if (query.size() != 4 || key.size() != 4 || value.size() != 4)
    return none();
  constexpr unsigned heads = headsFirst ? 1 : 2, positions = headsFirst ? 2 : 1;
  Rational scores =
      Rational(query[0]) * query[heads] * query[positions] * key[positions];
  EventCost cost =
      both(Rational(2) * scores * (Rational(query[3]) + value[3]),
           sorted(elementsOf(query), elementsOf(key), elementsOf(value)));
  cost.operand = query;
  cost.scores = scores;
  return cost;
}

/// The cost of attention's gradients. Arguments: the gradient, then the
/// operands of the forward op. FlopCounterMode counts five products instead of
/// four, since the scores are recomputed.
template <bool headsFirst = true>
static EventCost attentionBackward(const Trace &trace, const HostEvent &event,
                                   Dims result) {
  EventCost cost = attention<1, headsFirst>(trace, event, result);
  if (cost.flop) {
    cost.counter = *cost.flop * 5 / 2;
    cost.flop = *cost.flop * 2;
  }
  return cost;
}

/// The cost of attention on sequences of one length. Unknown if operand
/// `lengths` is there: it has the lengths of concatenated sequences.
template <unsigned lengths, auto cost>
static EventCost ofOneLength(const Trace &trace, const HostEvent &event,
                             Dims result) {
  return trace.shape(event, lengths).empty() ? cost(trace, event, result)
                                             : none();
}

/// The cost of the gradients: twice the FLOP of the forward op.
template <auto cost>
static EventCost twice(const Trace &trace, const HostEvent &event,
                       Dims result) {
  EventCost forward = cost(trace, event, result);
  if (forward.flop)
    forward.flop = *forward.flop * 2;
  return forward;
}

/// The cost of one layer of a recurrence. Arguments: input, weights of the
/// input and of the state, two biases, state.
static EventCost oneLayerRnn(const Trace &trace, const HostEvent &event, Dims) {
  Dims input = trace.shape(event, 0);
  Rational weights =
      elementsOf(trace.shape(event, 1)) + elementsOf(trace.shape(event, 2));
  if (input.size() != 3 || trace.shape(event, 1).size() != 2)
    return none();
  EventCost cost = both(Rational(2) * input[0] * input[1] * weights,
                        sorted(elementsOf(input), weights, 0));
  cost.operand = input;
  return cost;
}

/// The cost of a recurrence with all weights in one buffer. Arguments: input;
/// from `place` on: mode, size of the state, size of its projection if
/// `mayProject`, layers, batch first, dropout, train, bidirectional.
template <unsigned place, bool mayProject>
static EventCost manyLayerRnn(const Trace &trace, const HostEvent &event,
                              Dims) {
  Dims input = trace.shape(event, 0);
  int64_t mode, hidden, projected = 0, layers;
  constexpr unsigned behind = place + (mayProject ? 3 : 2);
  StringRef isBidirectional = trace.value(event, behind + 4);
  if (input.size() < 2 || trace.value(event, place).getAsInteger(10, mode) ||
      trace.value(event, place + 1).getAsInteger(10, hidden) ||
      (mayProject &&
       trace.value(event, place + 2).getAsInteger(10, projected)) ||
      trace.value(event, behind).getAsInteger(10, layers) ||
      isBidirectional.empty() || hidden < 1 || projected < 0 || layers < 1)
    return none();
  // cudnnRNNMode_t and miopenRNNMode_t: 2 is an LSTM, 3 a GRU; others have one
  // gate.
  Rational gates = mode == 2 ? 4 : mode == 3 ? 3 : 1;
  Rational directions = isBidirectional == "True" ? 2 : 1;
  Rational state = projected ? projected : hidden;
  auto weightsOf = [&](const Rational &inputs) {
    return directions * hidden *
           (gates * (inputs + state) + Rational(projected));
  };
  Rational weights =
      weightsOf(input.back()) + weightsOf(directions * state) * (layers - 1);
  EventCost cost = both(Rational(2) * elementsOf(input.drop_back()) * weights,
                        sorted(elementsOf(input), weights, 0));
  cost.operand = input;
  return cost;
}

/// Whether an op that Inductor fuses has a second operand, which it adds,
/// between its input and its weight.
static bool hasOther(const Trace &trace, const HostEvent &event) {
  return trace.shape(event, 1).size() > 1 &&
         trace.shape(event, 2).size() == trace.shape(event, 1).size();
}

static EventCost fusedLinear(const Trace &trace, const HostEvent &event,
                             Dims result) {
  return hasOther(trace, event) ? linear<2>(trace, event, result)
                                : linear<1>(trace, event, result);
}

/// The cost of a convolution that Inductor fuses with what follows it.
static EventCost fusedConvolution(const Trace &trace, const HostEvent &event,
                                  Dims result) {
  return hasOther(trace, event) ? none()
                                : convolution<4, 3, 5>(trace, event, result);
}

/// The cost of a product of two matrices, each of which may be read transposed,
/// and the first of which may have several axes in place of its rows.
static EventCost productOfBuffers(Dims a, Dims b, Dims result) {
  Rational outputs = result.back(), rows = elementsOf(result.drop_back());
  Rational inputs = elementsOf(a) / rows;
  auto has = [](int64_t size, const Rational &other) { return other == size; };
  bool readsRows = a.size() > 1 && (has(a.back(), inputs) ||
                                    (a.size() == 2 && has(a.front(), inputs)));
  bool isWeight = (has(b[0], inputs) && has(b[1], outputs)) ||
                  (has(b[1], inputs) && has(b[0], outputs));
  if (!readsRows || !isWeight)
    return none();
  Rational made = rows * outputs;
  EventCost cost = both(Rational(2) * made * inputs,
                        sorted(elementsOf(a), elementsOf(b), made));
  cost.made = made;
  cost.operand = a;
  return cost;
}

/// The cost of a matrix product by a template of Inductor. Its operands are
/// buffers: perhaps a bias, the two matrices, what is added; the result is
/// last.
static EventCost templateProduct(const Trace &trace, const HostEvent &event) {
  llvm::SmallVector<Dims, 6> buffers;
  for (unsigned i = 0; i < trace.inputsOf(event).shapes.size; ++i)
    if (Dims shape = trace.shape(event, i); !shape.empty())
      buffers.push_back(shape);
  EventCost found = none();
  for (size_t i = 0; i + 2 < buffers.size(); ++i) {
    Dims a = buffers[i], b = buffers[i + 1], result = buffers.back();
    bool isBatch = a.size() == 3 && b.size() == 3 && result.size() == 3;
    EventCost cost = isBatch         ? matrices(a, b)
                     : b.size() == 2 ? productOfBuffers(a, b, result)
                                     : none();
    if (!cost.flop || cost.made != elementsOf(result))
      continue;
    // Several pairs that fit may be several products.
    if (found.flop)
      return none();
    found = cost;
  }
  return found;
}

static EventCost unknown(const Trace &, const HostEvent &, Dims) {
  return none();
}

/// The cost of a convolution's input gradient in traces of 2021. Operand 1 is
/// the gradient of the result, operand 2 the weight.
static EventCost inputGradientOf2021(const Trace &trace, const HostEvent &event,
                                     Dims) {
  Dims gradient = trace.shape(event, 1), weight = trace.shape(event, 2);
  return both(oneGradient(gradient, weight),
              sorted(elementsOf(gradient), elementsOf(weight), 0));
}

namespace {
/// An op of PyTorch that multiplies.
struct Kind {
  StringRef name;
  ProductKind multiplies;
  EventCost (*cost)(const Trace &, const HostEvent &, Dims result);
  /// Whether FlopCounterMode of PyTorch 2.15 has a formula for the op.
  enum { Counted, NotCounted } counter = Counted;
  /// Whether the product is mostly another event within this one.
  bool isComposite = false;
};
} // namespace

static const Kind kinds[] = {
    {"aten::mm", ProductKind::Matrices, product<0>},
    {"aten::addmm", ProductKind::Matrices, product<1>},
    {"aten::bmm", ProductKind::Matrices, product<0>},
    {"aten::baddbmm", ProductKind::Matrices, product<1>},
    {"aten::_scaled_mm", ProductKind::Matrices, scaledProduct},
    {"aten::addmm_", ProductKind::Matrices, product<1>, Kind::NotCounted},
    {"aten::baddbmm_", ProductKind::Matrices, product<1>, Kind::NotCounted},
    {"aten::addbmm", ProductKind::Matrices, product<1>, Kind::NotCounted},
    {"aten::addbmm_", ProductKind::Matrices, product<1>, Kind::NotCounted},
    {"aten::_addmm_activation", ProductKind::Matrices, product<1>,
     Kind::NotCounted},
    {"aten::_int_mm", ProductKind::Matrices, product<0>, Kind::NotCounted},
    {"aten::_scaled_mm_v2", ProductKind::Matrices, scaledProduct,
     Kind::NotCounted},
    {"aten::_grouped_mm", ProductKind::Matrices, groupedProduct,
     Kind::NotCounted},
    {"aten::_scaled_grouped_mm", ProductKind::Matrices, groupedProduct,
     Kind::NotCounted},
    {"aten::_weight_int8pack_mm", ProductKind::Matrices, linear<1>,
     Kind::NotCounted},
    {"aten::mv", ProductKind::Matrices, productWithVector<0>, Kind::NotCounted},
    {"aten::addmv", ProductKind::Matrices, productWithVector<1>,
     Kind::NotCounted},
    {"aten::addmv_", ProductKind::Matrices, productWithVector<1>,
     Kind::NotCounted},
    {"aten::dot", ProductKind::Matrices, productWithVector<0>,
     Kind::NotCounted},
    {"aten::vdot", ProductKind::Matrices, productWithVector<0>,
     Kind::NotCounted},
    {"aten::linear", ProductKind::Matrices, linear<1>, Kind::NotCounted, true},
    {"aten::mkldnn_linear", ProductKind::Matrices, linear<1>, Kind::NotCounted,
     true},
    {"mkl::_mkl_linear", ProductKind::Matrices, linear<2>, Kind::NotCounted,
     true},
    {"mkldnn::_linear_pointwise", ProductKind::Matrices, fusedLinear,
     Kind::NotCounted},
    {"mkldnn::_convolution_pointwise", ProductKind::Windows, fusedConvolution,
     Kind::NotCounted},
    {"aten::convolution", ProductKind::Windows, convolution<3, 4, 5, 6>},
    {"aten::_convolution", ProductKind::Windows, convolution<3, 4, 5, 6>},
    {"aten::convolution_backward", ProductKind::Windows, convolutionBackward},
    {"aten::convolution_overrideable", ProductKind::Windows,
     convolution<3, 4, 5, 6>, Kind::NotCounted},
    {"aten::cudnn_convolution", ProductKind::Windows, convolution<3, 2, 4>},
    {"aten::cudnn_convolution_relu", ProductKind::Windows, convolution<3, 4, 5>,
     Kind::NotCounted},
    {"aten::cudnn_convolution_add_relu", ProductKind::Windows,
     convolution<5, 6, 7>, Kind::NotCounted},
    {"aten::miopen_convolution", ProductKind::Windows, convolution<4, 3, 5>,
     Kind::NotCounted},
    {"aten::mkldnn_convolution", ProductKind::Windows, convolution<4, 3, 5>,
     Kind::NotCounted},
    {"aten::cudnn_convolution_backward_input", ProductKind::Windows,
     inputGradientOf2021, Kind::NotCounted},
    // In traces of 2021, this event lacks the shape of the weight. That of the
    // other gradient has it.
    {"aten::cudnn_convolution_backward_weight", ProductKind::Windows, unknown},
    {"aten::_scaled_dot_product_flash_attention", ProductKind::Attention,
     attention<0>},
    {"aten::_scaled_dot_product_efficient_attention", ProductKind::Attention,
     attention<0>},
    {"aten::_scaled_dot_product_cudnn_attention", ProductKind::Attention,
     attention<0>},
    {"aten::_scaled_dot_product_flash_attention_for_cpu",
     ProductKind::Attention, attention<0>},
    {"aten::_scaled_dot_product_fused_attention_overrideable",
     ProductKind::Attention, attention<0>, Kind::NotCounted},
    {"aten::_scaled_dot_product_attention_math_for_mps", ProductKind::Attention,
     attention<0>, Kind::NotCounted},
    {"aten::_flash_attention_forward", ProductKind::Attention,
     ofOneLength<3, attention<0, false>>},
    {"aten::_efficient_attention_forward", ProductKind::Attention,
     ofOneLength<4, attention<0, false>>},
    {"aten::_scaled_dot_product_flash_attention_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward",
     ProductKind::Attention, attentionBackward, Kind::NotCounted},
    {"aten::_flash_attention_backward", ProductKind::Attention,
     ofOneLength<6, attentionBackward<false>>},
    {"aten::_efficient_attention_backward", ProductKind::Attention,
     ofOneLength<6, attentionBackward<false>>},
    {"aten::mkldnn_rnn_layer", ProductKind::Recurrence, oneLayerRnn,
     Kind::NotCounted},
    {"aten::mkldnn_rnn_layer_backward", ProductKind::Recurrence,
     twice<oneLayerRnn>, Kind::NotCounted},
    {"aten::_cudnn_rnn", ProductKind::Recurrence, manyLayerRnn<6, true>,
     Kind::NotCounted},
    {"aten::_cudnn_rnn_backward", ProductKind::Recurrence,
     twice<manyLayerRnn<10, true>>, Kind::NotCounted},
    {"aten::miopen_rnn", ProductKind::Recurrence, manyLayerRnn<5, false>,
     Kind::NotCounted},
    {"aten::miopen_rnn_backward", ProductKind::Recurrence,
     twice<manyLayerRnn<10, false>>, Kind::NotCounted},
};

/// In traces of 2021, the event around those of a convolution's two gradients.
static constexpr llvm::StringLiteral backwardOf2021 =
    "aten::cudnn_convolution_backward";

static const Kind *kindOf(StringRef name) {
  const Kind *kind =
      llvm::find_if(kinds, [&](const Kind &kind) { return kind.name == name; });
  return kind == std::end(kinds) ? nullptr : kind;
}

bool netc::audit::multiplies(StringRef op) {
  return op == "aten::conv2d" || kindOf(op);
}

/// The prefix of events in netc's own traces; see lib/Program/StepTrace.h.
static constexpr llvm::StringLiteral ownPrefix = "net::";

StringRef netc::audit::ownPhaseOf(const Trace &trace, const HostEvent &event) {
  return trace.names[event.name].starts_with(ownPrefix) ? trace.value(event, 0)
                                                        : "";
}

static EventCost ownCost(const Trace &trace, const HostEvent &event) {
  int64_t flop;
  bool isStated = !trace.value(event, 1).getAsInteger(10, flop) && flop >= 0;
  EventCost cost = isStated ? both(flop, {}) : none();
  cost.counter = 0;
  return cost;
}

std::optional<ProductKind> netc::audit::productKindOf(const Trace &trace,
                                                      const HostEvent &event) {
  StringRef name = trace.names[event.name];
  if (name == backwardOf2021)
    return ProductKind::Windows;
  if (name.consume_front(ownPrefix))
    return ownCost(trace, event).flop.value_or(0).isZero()
               ? std::nullopt
               : std::optional(name.starts_with("conv")
                                   ? ProductKind::Windows
                                   : ProductKind::Matrices);
  const Kind *kind = kindOf(name);
  return kind && !kind->isComposite ? std::optional(kind->multiplies)
                                    : std::nullopt;
}

std::optional<ProductKind>
netc::audit::suspectedKindOf(const Trace &trace, const HostEvent &event) {
  StringRef name = trace.names[event.name];
  const Kind *kind = kindOf(name);
  return kind ? std::optional(kind->multiplies) : kindByWords(name);
}

bool netc::audit::isForwardAlone(const Trace &trace, const HostEvent &event) {
  StringRef name = trace.names[event.name];
  if (name == "aten::addmm" || name == "aten::_addmm_activation")
    return trace.shape(event, 0).size() == 1;
  const Kind *kind = kindOf(name);
  return kind && kind->multiplies != ProductKind::Matrices &&
         !name.contains("backward");
}

std::optional<bool> netc::audit::transposesFirst(const Trace &trace,
                                                 const HostEvent &event) {
  unsigned first = trace.names[event.name] == "aten::addmm";
  Dims sizes = trace.shape(event, first), strides = trace.strides(event, first);
  if (sizes.size() != 2 || strides.size() != 2 || sizes[0] < 2 || sizes[1] < 2)
    return std::nullopt;
  if (strides[0] == 1 && strides[1] == sizes[0])
    return true;
  if (strides[1] == 1 && strides[0] == sizes[1])
    return false;
  return std::nullopt;
}

/// Whether an op multiplies complex numbers. A product of two is three or four
/// products of real numbers.
static bool isComplex(const Trace &trace, const HostEvent &event) {
  return trace.type(event, 0).contains("complex");
}

EventCost netc::audit::costOf(const Trace &trace, const HostEvent &event,
                              Dims result) {
  StringRef name = trace.names[event.name];
  const Kind *kind = kindOf(name);
  bool isCounted =
      name == backwardOf2021 || (kind && kind->counter == Kind::Counted);
  if (!hasSizes(trace, event)) {
    EventCost cost = none();
    if (!isCounted)
      cost.counter = 0;
    return cost;
  }
  // In traces of 2021, the event around the two gradients has all shapes.
  if (name == backwardOf2021) {
    Dims gradient = trace.shape(event, 1), weight = trace.shape(event, 2);
    Rational flop = oneGradient(gradient, weight);
    return both(flop, sorted(elementsOf(trace.shape(event, 0)),
                             elementsOf(weight), elementsOf(gradient)));
  }
  if (name.starts_with(ownPrefix))
    return ownCost(trace, event);
  EventCost cost = kind               ? kind->cost(trace, event, result)
                   : isTemplate(name) ? templateProduct(trace, event)
                                      : none();
  if (kind && kind->multiplies == ProductKind::Windows)
    cost.groups = groupsOf(trace, event);
  if (isComplex(trace, event))
    cost.flop.reset();
  if (!isCounted)
    cost.counter = 0;
  return cost;
}

std::optional<Rational> netc::audit::profilerFlop(const Trace &trace,
                                                  const HostEvent &event) {
  StringRef name = trace.names[event.name];
  auto shape = [&](unsigned i) { return trace.shape(event, i); };
  Rational flop;
  if (name == "aten::conv2d") {
    Dims input = shape(0), weight = shape(1);
    if (!hasSizes(trace, event) || input.empty() || weight.empty())
      return std::nullopt;
    auto stride = listOf(trace.value(event, 3), 2);
    auto pad = listOf(trace.value(event, 4), 2);
    auto dilation = listOf(trace.value(event, 5), 2);
    if (input.size() != 4 || weight.size() != 4 || stride.empty() ||
        pad.empty() || dilation.empty())
      return 0;
    if (auto points = windows(input, weight, stride, pad, dilation))
      flop = Rational(2) * input[0] * *points * elementsOf(weight);
  } else if (name == "aten::mm" || name == "aten::bmm") {
    return hasSizes(trace, event) ? matrices(shape(0), shape(1)).flop
                                  : std::nullopt;
  } else if (name == "aten::addmm" || name == "aten::baddbmm") {
    return hasSizes(trace, event) ? matrices(shape(1), shape(2)).flop
                                  : std::nullopt;
  } else if (isElementwise(trace, event) && trace.inputsOf(event).shapes.size) {
    flop = elementsOf(shape(0)); // 1 for a scalar
  }
  return flop.isValid() ? flop : Rational(0);
}

bool netc::audit::isElementwise(const Trace &trace, const HostEvent &event) {
  StringRef name = trace.names[event.name];
  return name == "aten::add" || name == "aten::mul";
}
