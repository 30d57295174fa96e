// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Flop.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::ArrayRef;
using llvm::StringRef;

using Dims = ArrayRef<int64_t>;

static Rational productOf(Dims sizes) {
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

/// Parses `[2, 2]`, or `2` for all axes. Empty if it is neither.
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

/// The elements of a convolution's result along its spatial axes. None if a
/// size is not known.
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

static EventCost none() { return {std::nullopt, {}, 0}; }

static EventCost both(Rational flop, Elements elements, Rational counter) {
  if (!flop.isValid())
    return none();
  return {flop, elements, counter};
}

/// The cost of `b` products of m x k and k x n.
static EventCost matrices(Dims a, Dims b) {
  if (a.size() < 2 || b.size() != a.size() ||
      a[a.size() - 1] != b[b.size() - 2])
    return none();
  Rational result = productOf(a.drop_back()) * b.back();
  Rational flop = Rational(2) * result * a.back();
  EventCost cost = both(flop, sorted(productOf(a), productOf(b), result), flop);
  cost.made = result;
  return cost;
}

/// The cost of a product of the operands from `first` on.
template <unsigned first>
static EventCost product(const Trace &trace, const HostEvent &event, Dims) {
  return matrices(trace.shape(event, first), trace.shape(event, first + 1));
}

/// The FLOP of one of the two gradients of a convolution, from the gradient of
/// its result. Invalid if the sizes do not fit.
static Rational oneGradient(Dims gradient, Dims weight) {
  if (gradient.size() < 3 || weight.size() != gradient.size())
    return Rational::invalid();
  return Rational(2) * gradient[0] * productOf(gradient.drop_front(2)) *
         productOf(weight);
}

/// Arguments from 3 on: stride, padding, dilation, transposed, output padding,
/// groups.
static EventCost convolution(const Trace &trace, const HostEvent &event,
                             Dims result) {
  Dims input = trace.shape(event, 0), weight = trace.shape(event, 1);
  if (input.size() < 3 || weight.size() != input.size())
    return none();
  size_t axes = input.size() - 2;
  bool isTransposed = trace.value(event, 6) == "True";
  Rational points;
  if (isTransposed) {
    points = productOf(input.drop_front(2));
  } else if (auto stride = listOf(trace.value(event, 3), axes);
             !stride.empty()) {
    auto pad = listOf(trace.value(event, 4), axes);
    auto dilation = listOf(trace.value(event, 5), axes);
    if (pad.empty() || dilation.empty())
      return none();
    auto made = windows(input, weight, stride, pad, dilation);
    if (!made)
      return none();
    points = *made;
  } else if (result.size() == input.size() && result[0] == input[0] &&
             result[1] == weight[0]) {
    points = productOf(result.drop_front(2));
  } else {
    return none();
  }
  Rational flop = Rational(2) * input[0] * points * productOf(weight);
  Rational made = Rational(input[0]) * weight[isTransposed ? 1 : 0] * points;
  return both(flop, sorted(productOf(input), productOf(weight), made), flop);
}

/// Arguments: grad, input, weight, bias sizes, stride, padding, dilation,
/// transposed, output padding, groups, mask.
static EventCost convolutionBackward(const Trace &trace,
                                     const HostEvent &event) {
  Dims gradient = trace.shape(event, 0), input = trace.shape(event, 1),
       weight = trace.shape(event, 2);
  if (gradient.size() < 3 || input.size() != gradient.size() ||
      weight.size() != input.size())
    return none();
  bool isTransposed = trace.value(event, 7) == "True";
  Rational points = productOf((isTransposed ? input : gradient).drop_front(2));
  Rational one = Rational(2) * input[0] * points * productOf(weight);
  llvm::SmallVector<StringRef, 3> mask;
  trace.value(event, 10).trim("[]").split(mask, ',');
  bool hasInput = mask.size() != 3 || mask[0].trim() == "True";
  bool hasWeight = mask.size() != 3 || mask[1].trim() == "True";
  Elements elements =
      sorted(productOf(input), productOf(weight), productOf(gradient));
  EventCost cost =
      both(one * (int(hasInput) + int(hasWeight)), elements,
           one * int(hasInput) + one * groupsOf(trace, event) * int(hasWeight));
  cost.weight = one * int(hasWeight);
  return cost;
}

/// The cost of the two products of attention over queries, keys and values,
/// `times` times.
static EventCost attention(Dims query, Dims key, Dims value, int times,
                           Rational counted) {
  if (query.size() != 4 || key.size() != 4 || value.size() != 4)
    return none();
  Rational flop = Rational(2) * query[0] * query[1] * query[2] * key[2] *
                  (Rational(query[3]) + value[3]);
  return both(flop * times,
              sorted(productOf(query), productOf(key), productOf(value)),
              flop * counted);
}

static EventCost unknown(const Trace &, const HostEvent &, Dims) {
  return none();
}

namespace {
struct Kind {
  StringRef name;
  ProductKind multiplies;
  EventCost (*cost)(const Trace &, const HostEvent &, Dims result);
};
} // namespace

static EventCost attentionForward(const Trace &trace, const HostEvent &event,
                                  Dims) {
  return attention(trace.shape(event, 0), trace.shape(event, 1),
                   trace.shape(event, 2), 1, 1);
}

/// Arguments: the gradient, then the operands of the forward op.
/// FlopCounterMode counts five products instead of four, since the scores are
/// recomputed.
static EventCost attentionBackward(const Trace &trace, const HostEvent &event,
                                   Dims) {
  return attention(trace.shape(event, 1), trace.shape(event, 2),
                   trace.shape(event, 3), 2, Rational(5) / 2);
}

/// Arguments: input, weights of the input and of the state, two biases, state.
static EventCost oneLayerRnn(const Trace &trace, const HostEvent &event, Dims) {
  Dims input = trace.shape(event, 0);
  Rational weights =
      productOf(trace.shape(event, 1)) + productOf(trace.shape(event, 2));
  if (input.size() != 3 || trace.shape(event, 1).size() != 2)
    return none();
  return both(Rational(2) * input[0] * input[1] * weights,
              sorted(productOf(input), weights, 0), 0);
}

static EventCost oneLayerRnnBackward(const Trace &trace, const HostEvent &event,
                                     Dims none) {
  EventCost cost = oneLayerRnn(trace, event, none);
  if (cost.flop)
    cost.flop = *cost.flop * 2;
  return cost;
}

static const Kind kinds[] = {
    {"aten::mm", ProductKind::Matrices, product<0>},
    {"aten::addmm", ProductKind::Matrices, product<1>},
    {"aten::bmm", ProductKind::Matrices, product<0>},
    {"aten::baddbmm", ProductKind::Matrices, product<1>},
    {"aten::_scaled_mm", ProductKind::Matrices, product<0>},
    {"aten::convolution", ProductKind::Windows, convolution},
    {"aten::convolution_backward", ProductKind::Windows,
     [](auto &trace, auto &event, Dims) {
       return convolutionBackward(trace, event);
     }},
    {"aten::convolution_overrideable", ProductKind::Windows, convolution},
    // Arguments: gradient, weight. The FLOP follow from the weight's shape and
    // the positions of the gradient.
    {"aten::cudnn_convolution_backward_input", ProductKind::Windows,
     [](auto &trace, auto &event, Dims) {
       Dims gradient = trace.shape(event, 1), weight = trace.shape(event, 2);
       return both(oneGradient(gradient, weight),
                   sorted(productOf(gradient), productOf(weight), 0), 0);
     }},
    // In traces of 2021 it lacks the shape of the weight; the event of the
    // other gradient has it.
    {"aten::cudnn_convolution_backward_weight", ProductKind::Windows, unknown},
    {"aten::_scaled_dot_product_flash_attention", ProductKind::Attention,
     attentionForward},
    {"aten::_scaled_dot_product_efficient_attention", ProductKind::Attention,
     attentionForward},
    {"aten::_scaled_dot_product_cudnn_attention", ProductKind::Attention,
     attentionForward},
    {"aten::_scaled_dot_product_flash_attention_for_cpu",
     ProductKind::Attention, attentionForward},
    {"aten::_scaled_dot_product_flash_attention_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     ProductKind::Attention, attentionBackward},
    {"aten::mkldnn_rnn_layer", ProductKind::Recurrence, oneLayerRnn},
    {"aten::mkldnn_rnn_layer_backward", ProductKind::Recurrence,
     oneLayerRnnBackward},
    {"aten::_cudnn_rnn", ProductKind::Recurrence, unknown},
    {"aten::_cudnn_rnn_backward", ProductKind::Recurrence, unknown},
    {"aten::miopen_rnn", ProductKind::Recurrence, unknown},
};

/// In traces of 2021: an event that contains one for each gradient.
static constexpr llvm::StringLiteral backwardOf2021 =
    "aten::cudnn_convolution_backward";

static const Kind *kindOf(StringRef name) {
  const Kind *kind =
      llvm::find_if(kinds, [&](const Kind &kind) { return kind.name == name; });
  return kind == std::end(kinds) ? nullptr : kind;
}

/// Prefix of events of netc's own programs; see lib/Runtime/StepTrace.h.
static constexpr llvm::StringLiteral ownPrefix = "net::";

StringRef netc::audit::ownPhaseOf(const Trace &trace, const HostEvent &event) {
  return trace.names[event.name].starts_with(ownPrefix) ? trace.value(event, 0)
                                                        : "";
}

static EventCost ownCost(const Trace &trace, const HostEvent &event) {
  int64_t flop;
  if (trace.value(event, 1).getAsInteger(10, flop) || flop < 0)
    return none();
  return both(flop, {}, 0);
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
  return kind ? std::optional(kind->multiplies) : std::nullopt;
}

int64_t netc::audit::groupsOf(const Trace &trace, const HostEvent &event) {
  StringRef name = trace.names[event.name];
  if (productKindOf(trace, event) != ProductKind::Windows)
    return 1;
  int64_t groups;
  return trace.value(event, name.contains("backward") ? 9 : 8)
                 .getAsInteger(10, groups)
             ? 1
             : groups;
}

EventCost netc::audit::costOf(const Trace &trace, const HostEvent &event,
                              Dims result) {
  StringRef name = trace.names[event.name];
  // In backward convolutions of 2021, the weight's shape is in the other event.
  if (name == backwardOf2021) {
    Dims gradient = trace.shape(event, 1), weight = trace.shape(event, 2);
    Rational flop = oneGradient(gradient, weight);
    return both(flop,
                sorted(productOf(trace.shape(event, 0)), productOf(weight),
                       productOf(gradient)),
                flop);
  }
  if (name.starts_with(ownPrefix))
    return ownCost(trace, event);
  const Kind *kind = kindOf(name);
  return kind ? kind->cost(trace, event, result) : none();
}

Rational netc::audit::profilerFlop(const Trace &trace, const HostEvent &event) {
  StringRef name = trace.names[event.name];
  auto shape = [&](unsigned i) { return trace.shape(event, i); };
  Rational flop;
  if (name == "aten::conv2d") {
    Dims input = shape(0), weight = shape(1);
    auto stride = listOf(trace.value(event, 3), 2);
    auto pad = listOf(trace.value(event, 4), 2);
    auto dilation = listOf(trace.value(event, 5), 2);
    if (input.size() != 4 || weight.size() != 4 || stride.empty() ||
        pad.empty() || dilation.empty())
      return 0;
    if (auto points = windows(input, weight, stride, pad, dilation))
      flop = Rational(2) * input[0] * *points * productOf(weight);
  } else if (name == "aten::mm" || name == "aten::bmm") {
    flop = matrices(shape(0), shape(1)).flop.value_or(0);
  } else if (name == "aten::addmm" || name == "aten::baddbmm") {
    flop = matrices(shape(1), shape(2)).flop.value_or(0);
  } else if ((name == "aten::add" || name == "aten::mul") &&
             event.shapes.size) {
    flop = shape(0).empty() ? Rational(0) : productOf(shape(0));
  }
  return flop.isValid() ? flop : Rational(0);
}
