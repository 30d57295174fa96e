// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Train.h"
#include "lib/Runtime/HostDevice.h"
#include "test/Runtime/RuntimeTest.h"

#include <cmath>
#include <cstring>
#include <set>

using namespace netc::program;
using namespace netc::runtime;

extern "C" void netc_record(int64_t op);

namespace {
/// What the arena holds of the program below.
struct Tensors {
  double loss;
  float step, weight;
  int64_t seed;
};
} // namespace

static Program program(const std::string &result) {
  auto slot = [](const std::string &name, Role role, Element element,
                 int64_t offset) {
    Slot slot = makeSlot(role, element, {});
    slot.name = name;
    slot.offset = offset;
    return slot;
  };
  Program program;
  program.arena = program.buffers = 24;
  program.ops = {{"a", "b", "forward", 1, 0, 0, 0, "f32"}};
  program.slots = {slot("weight", Role::Parameter, Element::F32, 12),
                   slot(result, Role::Result, Element::F64, 0),
                   slot("step", Role::Step, Element::F32, 8),
                   slot("seed", Role::Seed, Element::I64, 16)};
  return program;
}

static Training runSteps(void (*step)(char *), Options options,
                         const std::string &result = "loss") {
  Program made = program(result);
  Data data(made, options);
  HostDevice device(made, step, /*executed=*/nullptr);
  return train(made, options, data, device);
}

static Options exactly(int64_t steps) {
  Options options;
  options.steps = steps;
  return options;
}

/// A step whose loss is `f` of its number.
template <double (*f)(double)> static void step(char *data) {
  Tensors arena;
  std::memcpy(&arena, data, sizeof arena);
  arena.loss = f(arena.step);
  std::memcpy(data, &arena, sizeof arena);
  netc_record(0);
}

static double inverse(double x) { return 1 / x; }
static double notANumber(double x) { return x < 3 ? x : std::nan(""); }
static double infinite(double x) { return 1 / (4 - x); }
static double growing(double x) { return 0.01 * std::pow(100, x); }

TEST(Train, RunsExactlySoManySteps) {
  Training training = runSteps(step<inverse>, exactly(4));
  EXPECT_EQ(training.losses, (std::vector<double>{1, 0.5, 1. / 3, 0.25}));
  // Too few to see whether they are stable: the later half is measured.
  EXPECT_EQ(training.warmup, 2u);
  EXPECT_FALSE(training.stable);
  EXPECT_EQ(runSteps(step<inverse>, exactly(1)).warmup, 0u);
  Options options = exactly(5);
  options.warmup = 3;
  EXPECT_EQ(runSteps(step<inverse>, options).warmup, 3u);
}

TEST(Train, EndsWithItsBudget) {
  Options options;
  options.seconds = 1e-9;
  EXPECT_EQ(runSteps(step<inverse>, options).losses.size(), 1u);
  options.warmup = 3;
  EXPECT_EQ(runSteps(step<inverse>, options).losses.size(), 4u);
}

TEST(Train, RefusesLossesThatAreNoLosses) {
  EXPECT_EQ(failure([] { runSteps(step<notANumber>, exactly(9)); }),
            "1: the loss is nan in step 3");
  EXPECT_EQ(failure([] { runSteps(step<infinite>, exactly(9)); }),
            "1: the loss is inf in step 4");
  // 1 in the first step, 1e6 in the fourth, 1e8 in the fifth.
  EXPECT_EQ(failure([] { runSteps(step<growing>, exactly(9)); }),
            "1: the loss diverges: 1 in step 1, 1e+08 in step 5");
  EXPECT_EQ(failure([] { runSteps(step<growing>, exactly(4)); }), "");
}

/// Updates the weight with what the loss of the step does not show yet.
static void overflow(char *data) {
  step<inverse>(data);
  Tensors arena;
  std::memcpy(&arena, data, sizeof arena);
  arena.weight = -std::exp(arena.step * 50);
  std::memcpy(data, &arena, sizeof arena);
}

TEST(Train, RefusesWhatIsLeftAndNotFinite) {
  EXPECT_EQ(failure([] { runSteps(overflow, exactly(1)); }), "");
  EXPECT_EQ(failure([] { runSteps(overflow, exactly(2)); }),
            "1: `weight` holds inf after step 2");
  // What has no loss.
  EXPECT_EQ(failure([] { runSteps(step<notANumber>, exactly(2), "y"); }), "");
  EXPECT_EQ(failure([] { runSteps(step<notANumber>, exactly(3), "y"); }),
            "1: `y` holds nan after step 3");
}

static std::vector<int64_t> seeds;

static void keepSeed(char *data) {
  Tensors arena;
  std::memcpy(&arena, data, sizeof arena);
  seeds.push_back(arena.seed);
}

TEST(Train, GivesEachStepItsSeed) {
  Options options = exactly(100);
  runSteps(keepSeed, options);
  std::vector<int64_t> first = seeds;
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 100u);
  seeds.clear();
  runSteps(keepSeed, options);
  EXPECT_EQ(seeds, first);
  options.seed = 1;
  seeds.clear();
  runSteps(keepSeed, options);
  EXPECT_NE(seeds, first);
}
