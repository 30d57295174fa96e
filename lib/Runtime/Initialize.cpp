// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Initialize.h"
#include "lib/Runtime/Random.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>
#include <vector>

using namespace netc::program;
using namespace netc::runtime;

/// Stores `value(i)` as each element. Threads each compute consecutive ones by
/// a copy of `value`, from an even one on.
template <typename Value>
static void fill(const Slot &slot, char *data, Value value) {
  visitType(slot.element, [&](auto element) {
    using T = decltype(element);
    T *elements = reinterpret_cast<T *>(data);
    auto compute = [=](int64_t begin, int64_t end) {
      for (Value own = value; begin < end; ++begin)
        elements[begin] = T(own(begin));
    };
    int64_t count = slot.count(), part = 1 << 20;
    if (int64_t cores = std::thread::hardware_concurrency())
      part = std::max(part, (count / cores + 2) & ~int64_t(1));
    // Without more threads, the parts are computed when they are waited for.
    std::vector<std::future<void>> others;
    for (int64_t begin = part; begin < count; begin += part)
      others.push_back(
          std::async(compute, begin, std::min(begin + part, count)));
    compute(0, std::min(part, count));
    for (std::future<void> &other : others)
      other.wait();
  });
}

static void fillNormal(const Slot &slot, const Random &random, double deviation,
                       char *data) {
  fill(slot, data, [=, other = 0.0](int64_t i) mutable {
    if (i % 2)
      return deviation * other;
    double one;
    random.normal(uint64_t(i) / 2, one, other);
    return deviation * one;
  });
}

static void fillUniform(const Slot &slot, const Random &random, double bound,
                        char *data) {
  fill(slot, data, [&](int64_t i) {
    return bound * (2 * random.uniform(uint64_t(i)) - 1);
  });
}

void netc::runtime::initialize(const Slot &slot, uint64_t seed, char *data) {
  Random random(seed, slot.name);
  size_t rank = slot.shape.size();
  double fan = double(slot.count()) / double(rank ? slot.shape[0] : 1);
  int64_t features = rank > 1 ? slot.shape[rank - 1] : 1;
  int64_t positions = rank > 1 ? slot.shape[rank - 2] : slot.count();
  auto angle = [&](int64_t i, int64_t feature) {
    double position = double(i / features % positions);
    return position * std::pow(slot.theta, -double(feature) / double(features));
  };

  switch (slot.init) {
  case Init::Zeros:
    return fill(slot, data, [](int64_t) { return 0; });
  case Init::Ones:
    return fill(slot, data, [](int64_t) { return 1; });
  case Init::FanIn:
    return fillUniform(slot, random, std::sqrt(3 / fan), data);
  case Init::Normal:
    return fillNormal(slot, random, 0.02, data);
  case Init::Uniform:
    return fillUniform(slot, random, std::sqrt(1 / fan), data);
  case Init::Sine:
    return fill(slot, data,
                [&](int64_t i) { return std::sin(angle(i, i % features)); });
  case Init::Cosine:
    return fill(slot, data,
                [&](int64_t i) { return std::cos(angle(i, i % features)); });
  case Init::Sinusoid:
    return fill(slot, data, [&](int64_t i) {
      int64_t feature = i % features;
      return feature % 2 ? std::cos(angle(i, feature - 1))
                         : std::sin(angle(i, feature));
    });
  case Init::Alibi:
    return fill(slot, data, [&](int64_t i) {
      int64_t head = i / features % positions;
      return double(i % features) *
             std::exp2(-8.0 * double(head + 1) / double(positions));
    });
  case Init::Identity:
    return fill(slot, data, [&](int64_t i) {
      return i / features % positions == i % features;
    });
  }
}

void netc::runtime::synthesize(const Slot &slot, uint64_t seed, int64_t batch,
                               char *data) {
  Random random(seed, slot.name + " batch " + std::to_string(batch));
  if (!slot.upperBound)
    return fillNormal(slot, random, 1, data);
  fill(slot, data,
       [&](int64_t i) { return random.below(uint64_t(i), slot.upperBound); });
}
