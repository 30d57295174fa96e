// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Statistics.h"
#include "lib/Runtime/Recorder.h"
#include "test/Runtime/RuntimeTest.h"

#include <random>

using namespace netc::runtime;

// The range of n samples leaves the median out once in 2^(n - 1): of 5, more
// often than in 5 %.
TEST(Median, OfFewSamplesHasNoInterval) {
  Median one = summarize({3});
  EXPECT_EQ(one.median, 3);
  EXPECT_FALSE(one.interval);
  Median five = summarize({4, 1, 3, 8, 9});
  EXPECT_EQ(five.median, 4);
  EXPECT_FALSE(five.interval);
  EXPECT_EQ(five.min, 1);
  EXPECT_EQ(five.mean, 5);
  Median six = summarize({4, 1, 3, 8, 9, 5});
  EXPECT_EQ(six.median, 4.5);
  ASSERT_TRUE(six.interval);
  EXPECT_EQ(six.interval->low, 1);
  EXPECT_EQ(six.interval->high, 9);
}

// Tables of the sign test (Conover, Practical Nonparametric Statistics): of 25
// samples the 8th and the 18th, of 100 the 40th and the 61st.
TEST(Median, IntervalCountsInOrder) {
  std::vector<double> samples;
  for (int i = 1; i <= 100; ++i)
    samples.push_back(i);
  Median hundred = summarize(samples);
  EXPECT_EQ(hundred.median, 50.5);
  EXPECT_EQ(hundred.interval->low, 40);
  EXPECT_EQ(hundred.interval->high, 61);
  samples.resize(25);
  Median few = summarize(samples);
  EXPECT_EQ(few.interval->low, 8);
  EXPECT_EQ(few.interval->high, 18);
}

TEST(Median, IntervalHoldsTheMedianOf95In100) {
  std::mt19937 random(1);
  std::exponential_distribution<double> waiting(1); // far from symmetric
  for (int size : {6, 7, 12, 40, 200}) {
    int holds = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> samples;
      for (int i = 0; i < size; ++i)
        samples.push_back(waiting(random));
      Interval interval = *summarize(samples).interval;
      holds += interval.low <= std::log(2) && std::log(2) <= interval.high;
    }
    EXPECT_GE(holds, 1880) << size;
    EXPECT_LE(holds, 1990) << size;
  }
}

TEST(Median, IsKnownWithin2Percent) {
  std::vector<double> samples(10, 100);
  EXPECT_TRUE(isKnown(summarize(samples), 10));
  EXPECT_FALSE(isKnown(summarize({100, 100, 100}), 3));
  samples = {90, 90, 90, 90, 90, 110, 110, 110, 110, 110};
  EXPECT_FALSE(isKnown(summarize(samples), 10));
}

TEST(FirstStable, IsTheFirstNearTheFollowingMedian) {
  //                           0    1   2   3   4   5     6   7   8   9  ...
  std::vector<double> ramp = {100, 50, 30, 20, 15, 11, 10.5, 10, 10,
                              10,  10, 10, 10, 10, 10, 10,   10, 10};
  EXPECT_EQ(firstStable(ramp), 6u);
  EXPECT_EQ(firstStable(ramp, 8), 8u);
  ramp.resize(13);
  EXPECT_EQ(firstStable(ramp), std::nullopt) << "7 must follow";
  // A single slow step is no end of the warm-up, nor does it prolong it.
  std::vector<double> spike(12, 10);
  spike[3] = 90;
  EXPECT_EQ(firstStable(spike), 0u);
}

TEST(Recorder, GivesTimeToTheOpThatEnds) {
  Recorder recorder(2);
  for (int step = 0; step < 3; ++step) {
    recorder.beginStep();
    recorder.record(1);
    recorder.record(0);
    recorder.record(1);
    recorder.endStep();
  }
  EXPECT_EQ(recorder.steps().size(), 3u);
  EXPECT_EQ(recorder.calls(0), 1);
  EXPECT_EQ(recorder.calls(1), 2);
  double ops = recorder.op(0, 0).mean + recorder.op(1, 0).mean;
  EXPECT_LE(ops, summarize(recorder.steps()).mean * 1.000001);
}

TEST(Recorder, KeepsTimesOfOpsWithinItsLimit) {
  Recorder recorder(3, 24);
  for (int step = 0; step < 1000; ++step) {
    recorder.beginStep();
    if (step >= 500)
      for (int64_t begin = now(); now() - begin < 1000;)
        ;
    recorder.record(2);
    recorder.endStep();
  }
  EXPECT_EQ(recorder.steps().size(), 1000u);
  // Still those of the steps that were asked for: 512, 640, 768, 896 or the
  // last.
  EXPECT_GE(recorder.op(2, 501).min, 0.999e-6);
  EXPECT_GE(recorder.op(2, 900).min, 0.999e-6);
}
