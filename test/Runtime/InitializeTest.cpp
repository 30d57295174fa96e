// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Initialize.h"
#include "lib/Runtime/Random.h"
#include "test/Runtime/RuntimeTest.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace netc::program;
using namespace netc::runtime;

template <typename T = float>
static std::vector<T> initialized(const Slot &slot, uint64_t seed = 1) {
  std::vector<T> values(size_t(slot.count()));
  initialize(slot, seed, reinterpret_cast<char *>(values.data()));
  return values;
}

static Slot parameter(Init init, std::vector<int64_t> shape) {
  return makeSlot(Role::Parameter, Element::F32, std::move(shape), init);
}

static double mean(const std::vector<float> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         double(values.size());
}

static double variance(const std::vector<float> &values) {
  double sum = 0, center = mean(values);
  for (float value : values)
    sum += (value - center) * (value - center);
  return sum / double(values.size());
}

static double largest(const std::vector<float> &values) {
  double most = 0;
  for (float value : values)
    most = std::max<double>(most, std::abs(value));
  return most;
}

TEST(Initialize, FanInHasVarianceOneOverInputs) {
  // 27 inputs of each of 4096 outputs.
  std::vector<float> values =
      initialized(parameter(Init::FanIn, {4096, 3, 3, 3}));
  EXPECT_NEAR(mean(values), 0, 0.003);
  EXPECT_NEAR(variance(values) * 27, 1, 0.02);
  EXPECT_LE(largest(values), std::sqrt(3.0 / 27));
  EXPECT_GT(largest(values), 0.99 * std::sqrt(3.0 / 27));
}

TEST(Initialize, UniformAndNormal) {
  std::vector<float> uniform =
      initialized(parameter(Init::Uniform, {1000, 100}));
  EXPECT_LE(largest(uniform), 0.1);
  EXPECT_NEAR(variance(uniform), 0.01 / 3, 1e-4);
  std::vector<float> normal = initialized(parameter(Init::Normal, {999, 101}));
  EXPECT_NEAR(mean(normal), 0, 3e-4);
  EXPECT_NEAR(std::sqrt(variance(normal)), 0.02, 3e-4);
  // Kurtosis tells it from other distributions; pairs of Box and Muller are
  // independent.
  double fourth = 0, pairs = 0;
  for (size_t i = 0; i + 1 < normal.size(); ++i) {
    fourth += std::pow(normal[i] / 0.02, 4);
    pairs += normal[i] * normal[i + 1] / 4e-4;
  }
  EXPECT_NEAR(fourth / double(normal.size()), 3, 0.15);
  EXPECT_NEAR(pairs / double(normal.size()), 0, 0.02);
}

TEST(Initialize, OneValue) {
  EXPECT_EQ(initialized(parameter(Init::Zeros, {3})),
            (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(initialized(parameter(Init::Ones, {2, 1})),
            (std::vector<float>{1, 1}));
  Slot integers = makeSlot(Role::State, Element::I64, {2}, Init::Ones);
  EXPECT_EQ(initialized<int64_t>(integers), (std::vector<int64_t>{1, 1}));
}

TEST(Initialize, DependsOnSeedAndNameOnly) {
  Slot slot = parameter(Init::FanIn, {8, 8});
  std::vector<float> values = initialized(slot, 5);
  Slot other = slot;
  other.offset = 4096;
  EXPECT_EQ(initialized(other, 5), values);
  EXPECT_NE(initialized(slot, 6), values);
  other.name = "slot.other";
  EXPECT_NE(initialized(other, 5), values);
  // A longer table starts with the shorter one's numbers.
  Slot longer = parameter(Init::Normal, {16, 8});
  std::vector<float> both = initialized(longer, 5);
  both.resize(64);
  EXPECT_EQ(initialized(parameter(Init::Normal, {8, 8}), 5), both);
}

TEST(Initialize, EachElementByItsPositionWhereThreadsShareThem) {
  Slot slot = parameter(Init::Normal, {3, (1 << 20) + 1});
  std::vector<float> values = initialized(slot, 5);
  Random random(5, slot.name);
  for (size_t i = 0; i < values.size(); i += 2) {
    double first, second;
    random.normal(i / 2, first, second);
    ASSERT_EQ(values[i], float(0.02 * first));
    if (i + 1 < values.size()) {
      ASSERT_EQ(values[i + 1], float(0.02 * second));
    }
  }
}

static Slot angles(Init init, std::vector<int64_t> shape, double theta = 1e4) {
  Slot slot = parameter(init, std::move(shape));
  slot.theta = theta;
  return slot;
}

// "Attention Is All You Need", 3.5: PE(p, 2i) = sin(p / 10000^(2i/d)).
TEST(Initialize, Sinusoid) {
  std::vector<float> table = initialized(angles(Init::Sinusoid, {50, 6}));
  for (int p : {0, 1, 7, 49})
    for (int i = 0; i < 3; ++i) {
      double angle = p / std::pow(10000.0, 2 * i / 6.0);
      EXPECT_FLOAT_EQ(table[size_t(p * 6 + 2 * i)], float(std::sin(angle)));
      EXPECT_FLOAT_EQ(table[size_t(p * 6 + 2 * i + 1)], float(std::cos(angle)));
    }
}

// "RoFormer", 3.2.2: of k features, pair i turns by p 10000^(-2i/k); the tables
// have k/2 columns.
TEST(Initialize, SineAndCosine) {
  std::vector<float> sine = initialized(angles(Init::Sine, {40, 4}));
  std::vector<float> cosine = initialized(angles(Init::Cosine, {40, 4}));
  for (int p : {0, 3, 39})
    for (int i = 0; i < 4; ++i) {
      double angle = p * std::pow(10000.0, -2.0 * i / 8);
      EXPECT_FLOAT_EQ(sine[size_t(p * 4 + i)], float(std::sin(angle)));
      EXPECT_FLOAT_EQ(cosine[size_t(p * 4 + i)], float(std::cos(angle)));
    }
  std::vector<float> slow = initialized(angles(Init::Sine, {40, 4}, 5e5));
  EXPECT_FLOAT_EQ(slow[3 * 4 + 1], float(std::sin(3 * std::pow(5e5, -0.25))));
  // Tables that are stacked are alike.
  std::vector<float> two = initialized(angles(Init::Sine, {2, 40, 4}));
  EXPECT_TRUE(std::equal(sine.begin(), sine.end(), two.begin() + 160));
}

// "Train Short, Test Long", 3: eight heads have the slopes 1/2, 1/4, .. 1/256.
TEST(Initialize, Alibi) {
  std::vector<float> table = initialized(parameter(Init::Alibi, {8, 5}));
  for (int head = 0; head < 8; ++head)
    for (int p = 0; p < 5; ++p)
      EXPECT_EQ(table[size_t(head * 5 + p)], p * std::exp2(-(head + 1.0f)));
}

TEST(Initialize, Identity) {
  EXPECT_EQ(initialized(parameter(Init::Identity, {3, 3})),
            (std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(Synthesize, IntegersAreUniform) {
  Slot slot = makeSlot(Role::Input, Element::I64, {30000}, Init::Zeros, 3);
  std::vector<int64_t> values(30000);
  synthesize(slot, 1, 0, reinterpret_cast<char *>(values.data()));
  std::map<int64_t, int> found;
  for (int64_t value : values)
    ++found[value];
  ASSERT_EQ(found.size(), 3u);
  for (int64_t value : {0, 1, 2})
    EXPECT_NEAR(found[value], 10000, 400);
}

TEST(Synthesize, NumbersAreStandardNormalAndBatchesDiffer) {
  Slot slot = makeSlot(Role::Input, Element::F32, {100000});
  std::vector<float> one(100000), two(100000);
  synthesize(slot, 1, 0, reinterpret_cast<char *>(one.data()));
  synthesize(slot, 1, 1, reinterpret_cast<char *>(two.data()));
  EXPECT_NEAR(mean(one), 0, 0.02);
  EXPECT_NEAR(variance(one), 1, 0.02);
  EXPECT_NE(one, two);
}
