// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Telemetry.h"

#include "gtest/gtest.h"

using namespace netc::runtime;

static DeviceState state(double hertz, double watts, double joules) {
  DeviceState state;
  state.hertz = hertz;
  state.watts = watts;
  state.joules = joules;
  state.processes = 1;
  return state;
}

TEST(Telemetry, HasPowerFromASecondOn) {
  std::vector<DeviceState> states;
  for (int i = 0; i < 19; ++i)
    states.push_back(state(1e9, 200, 1000 + 20 * i));
  Telemetry brief = Telemetry::of(states);
  EXPECT_EQ(brief.samples, 19u);
  EXPECT_EQ(brief.hertz, 1e9);
  EXPECT_FALSE(brief.watts || brief.highestWatts || brief.joules);
  states.push_back(state(0.8e9, 400, 1500));
  Telemetry telemetry = Telemetry::of(states);
  EXPECT_EQ(telemetry.lowestHertz, 0.8e9);
  EXPECT_DOUBLE_EQ(*telemetry.hertz, 0.99e9);
  EXPECT_EQ(telemetry.watts, 210);
  EXPECT_EQ(telemetry.highestWatts, 400);
  EXPECT_EQ(telemetry.joules, 500);
  EXPECT_FALSE(telemetry.memoryHertz);
}

TEST(Telemetry, KnowsWhatMakesRatesIncomparable) {
  EXPECT_EQ(Telemetry::of({}).whyNotComparable(), "");
  std::vector<DeviceState> states(3, state(1e9, 1, 1));
  states[1].slowdowns = PowerCap;
  EXPECT_EQ(Telemetry::of(states).whyNotComparable(), "");
  EXPECT_EQ(Telemetry::of(states).slowdownNames(), "power cap");
  states[2].slowdowns = SoftwareThermal;
  EXPECT_EQ(Telemetry::of(states).whyNotComparable(),
            "the GPU lowers its clock since it is too hot");
  EXPECT_EQ(Telemetry::of(states).slowdownNames(), "power cap, thermal");
  // The first is this program.
  states[0].processes = 3;
  EXPECT_EQ(Telemetry::of(states).otherProcesses, 2);
  EXPECT_EQ(Telemetry::of(states).whyNotComparable(),
            "another process computes on the GPU");
  // In a container, the driver may list none.
  states.assign(1, DeviceState());
  EXPECT_EQ(Telemetry::of(states).otherProcesses, 0);
}
