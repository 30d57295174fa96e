// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Options.h"
#include "test/Runtime/RuntimeTest.h"

using namespace netc::runtime;

static Options parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "prog");
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(&argument[0]);
  pointers.push_back(nullptr);
  return Options::parse(int(arguments.size()), pointers.data());
}

static std::string message(std::vector<std::string> arguments) {
  return failure([&] { parse(arguments); });
}

TEST(Options, HaveDefaults) {
  Options options = parse({});
  EXPECT_FALSE(options.steps || options.threads || options.warmup);
  EXPECT_EQ(options.seconds, 10);
  EXPECT_EQ(options.batches, 4);
  EXPECT_FALSE(options.json || options.peaks || options.quiet || options.help);
}

TEST(Options, AreRead) {
  Options options = parse({"--steps=20", "--warmup", "3", "--threads=2",
                           "--seed=7", "--json=a.json", "--data=a.npy,y=b.npy",
                           "--data=c", "--dump=d", "--results=r", "--peaks",
                           "--quiet", "--caches=2x32768,1x1048576"});
  EXPECT_EQ(options.steps, 20);
  EXPECT_EQ(options.warmup, 3);
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_TRUE(options.json && options.peaks && options.quiet);
  EXPECT_EQ(options.jsonFile, "a.json");
  EXPECT_EQ(options.peaksFile, "");
  ASSERT_EQ(options.caches.size(), 2u);
  EXPECT_EQ(options.caches[0].count, 2);
  EXPECT_EQ(options.caches[0].bytes, 32768);
  EXPECT_EQ(options.caches[1].of(2), 1048576);
  EXPECT_EQ(options.data, (std::vector<std::string>{"a.npy", "y=b.npy", "c"}));
  EXPECT_EQ(options.dump, "d");
  EXPECT_EQ(options.results, "r");
  options = parse({"--json", "--seconds=0.5", "--peaks=p.json"});
  EXPECT_TRUE(options.peaks);
  EXPECT_EQ(options.peaksFile, "p.json");
  EXPECT_TRUE(options.json && options.jsonFile.empty());
  EXPECT_EQ(options.seconds, 0.5);
}

TEST(Options, ThatAreWrongEndWithTwo) {
  std::string hint = "; `--help` lists the options";
  EXPECT_EQ(message({"--stepz=3"}), "2: there is no option `--stepz=3`" + hint);
  EXPECT_EQ(message({"-x"}), "2: there is no option `-x`" + hint);
  EXPECT_EQ(message({"more"}), "2: only options are taken, not `more`" + hint);
  EXPECT_EQ(message({"--steps"}), "2: `--steps` lacks its value" + hint);
  EXPECT_EQ(message({"--quiet=1"}), "2: `--quiet` takes no value" + hint);
  for (const char *value : {"0", "-1", "x", "3x", "9223372036854775808"})
    EXPECT_EQ(message({"--steps=" + std::string(value)}),
              "2: `--steps` takes an integer from 1 on, not `" +
                  std::string(value) + "`" + hint);
  EXPECT_EQ(message({"--threads=100000"}),
            "2: `--threads` takes an integer from 1 to 1024, not `100000`" +
                hint);
  for (const char *value : {"0", "-2", "nan", "inf", "1s"})
    EXPECT_EQ(message({"--seconds=" + std::string(value)}),
              "2: `--seconds` takes a positive number, not `" +
                  std::string(value) + "`" + hint);
  EXPECT_EQ(message({"--data=a,,b"}),
            "2: `--data` takes files, not `a,,b`" + hint);
  for (const char *value : {"32768", "x", "2x", "x3", "0x1", "1x0", "-1x8",
                            "2x3x4", "1x9223372036854775808", " 1x2"})
    EXPECT_EQ(message({"--peaks", "--caches=1x8," + std::string(value)}),
              "2: `--caches` takes how many and how large they are, as "
              "`2x32768`, not `" +
                  std::string(value) + "`" + hint);
  EXPECT_EQ(message({"--peaks", "--caches=1x8,,1x9"}),
            "2: `--caches` takes caches, not `1x8,,1x9`" + hint);
  EXPECT_EQ(message({"--caches=1x8"}), "2: `--caches` is for `--peaks`" + hint);
  for (const char *option : {"--steps", "--seconds", "--data", "--weights",
                             "--dump", "--caches", "--json"})
    EXPECT_EQ(message({std::string(option) + "="}),
              "2: `" + std::string(option) + "` lacks its value" + hint);
  EXPECT_EQ(message({"--steps=3", "--seconds=1"}),
            "2: `--steps` and `--seconds` exclude each other" + hint);
  EXPECT_EQ(message({"--steps=3", "--warmup=3"}),
            "2: `--warmup=3` leaves none of `--steps=3` to be measured" + hint);
}
