// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/OutputFile.h"
#include "lib/Runtime/Peak.h"
#include "test/Runtime/RuntimeTest.h"

#include <csignal>
#include <fstream>
#include <regex>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace netc::program;
using namespace netc::runtime;

TEST(Machine, HasWhatItRunsOn) {
  Machine machine = Machine::detect();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GE(machine.threads, 1);
  EXPECT_LE(machine.threads, machine.cores);
  ASSERT_FALSE(machine.isas.empty());
  EXPECT_EQ(machine.isas.front(), Isa::Baseline);
  for (Isa isa : machine.isas) {
    EXPECT_GE(vectorUnits(isa).flop, 8);
    EXPECT_GT(measureFlops(isa, 2), 0); // needs the extension, or it ends
  }
}

TEST(Machine, SaysWhatItTakesForGranted) {
  EXPECT_EQ(vectorUnits(Isa::Baseline).assumed,
            "one adder and one multiplier of 128 bits a core");
  for (Isa isa : {Isa::AVX2, Isa::AVX512, Isa::AVX512BF16}) {
    VectorUnits units = vectorUnits(isa);
    std::smatch match;
    ASSERT_TRUE(
        std::regex_match(units.assumed, match,
                         std::regex("2 FMA units of ([0-9]+) bits a core")));
    EXPECT_EQ(units.flop, std::stoi(match[1]) / 32 * 2 * 2);
  }
}

TEST(Peaks, OfCachesAreThoseOfLevelsThatHoldMore) {
  // Two threads have two of the first, and the second holds no more than them.
  std::vector<double> rates =
      measureCaches(Isa::Baseline, 2, {{4, 32768}, {1, 65536}, {1, 262144}});
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_GT(rates[0], 0);
  EXPECT_EQ(rates[1], 0);
  EXPECT_GT(rates[2], 0);
  for (Isa isa : Machine::detect().isas)
    EXPECT_GT(measureCaches(isa, 1, {{1, 32768}}).front(), 0);
}

static Peaks window(double baseline, double avx2, double bandwidth) {
  return {avx2,        {{"f32", 2}},
          "two units", {{"baseline", "f32", baseline}, {"avx2", "f32", avx2}},
          bandwidth,   {}};
}

TEST(Peaks, AreTheHighestOfTheirWindows) {
  Peaks peaks = window(2, 8, 0);
  peaks.raise(window(4, 6, 5));
  EXPECT_EQ(peaks.best("f32"), 8);
  EXPECT_EQ(peaks.measured[0].flops, 4);
  EXPECT_EQ(peaks.bandwidth, 5);
  EXPECT_EQ(peaks.datasheet("f32"), 16);
  for (std::vector<double> caches : {std::vector{7.0, 3.0}, {5.0, 4.0}}) {
    Peaks more = window(1, 1, 1);
    more.caches = caches;
    peaks.raise(more);
  }
  EXPECT_EQ(peaks.caches, (std::vector<double>{7, 4}));
  EXPECT_EQ(peaks.assumed, "two units");
  Clock clock = {2, "measured", 2};
  clock.raise({3, "measured", 3});
  clock.raise({1, "measured", 1});
  EXPECT_EQ(clock.hertz, 3);
  EXPECT_EQ(clock.measured, 3);
}

/// What comes of steps that reach 7 GFLOP/s, if the windows have these peaks.
static std::string settled(std::vector<double> windows, double peak,
                           int before = 1) {
  Peaks peaks = window(1e9, windows.front() * 1e9, 0);
  size_t next = 1;
  std::string message = failure([&] {
    settle(peaks, 7e9, {"f32"}, before,
           [&] { return window(1e9, windows.at(next++) * 1e9, 0); });
  });
  EXPECT_EQ(next, windows.size());
  EXPECT_EQ(peaks.best("f32"), peak * 1e9);
  return message;
}

TEST(Peaks, AreTakenAgainWhileStepsExceedThem) {
  EXPECT_EQ(settled({8, 3}, 8), "");
  EXPECT_EQ(settled({3, 8}, 8), "");
  EXPECT_EQ(settled({3, 7}, 7), "");
  EXPECT_EQ(settled({3, 4, 2, 9}, 9), "");
  EXPECT_EQ(settled({3, 4, 5, 4, 3, 9}, 9), "");
  EXPECT_EQ(settled({3, 4, 5.5, 4, 3, 2}, 5.5),
            "3: the steps reach 7 GFLOP/s, and this machine no more than 5.5 "
            "in 6 windows; are other programs at work?");
  // Known peaks are taken again for a reason alone.
  EXPECT_EQ(settled({8}, 8, /*before=*/0), "");
  EXPECT_EQ(settled({3, 4, 9}, 9, /*before=*/0), "");
}

TEST(Peaks, OfTheFormatsOfAStepBoundIt) {
  Peaks peaks = window(1, 4, 0);
  peaks.measured.push_back({"vdpbf16ps", "bf16", 8});
  auto failureIn = [&](const std::set<std::string> &formats) {
    return failure(
        [&] { settle(peaks, 7, formats, 1, [] { return window(1, 3, 0); }); });
  };
  EXPECT_EQ(failureIn({"bf16", "f32"}), "");
  EXPECT_NE(failureIn({"f32"}), "");
  EXPECT_EQ(peaks.best("f32"), 4);
  EXPECT_EQ(peaks.limit({"bf16"}), 8);
  EXPECT_EQ(peaks.limit({"f16"}), 4);
  EXPECT_EQ(peaks.limit({}), 4);
}

TEST(Machine, MustHaveWhatTheProgramNeeds) {
  Machine machine = {};
  machine.cpu = "Old CPU";
  machine.isas = {Isa::Baseline, Isa::AVX2};
  EXPECT_EQ(failure([&] { checkIsa("avx512", machine); }),
            "3: this program is compiled for avx512; this CPU, Old CPU, does "
            "not have it");
  for (const char *isa : {"baseline", "avx2", ""})
    EXPECT_EQ(failure([&] { checkIsa(isa, machine); }), "");
}

/// Bytes of addresses that this process has.
static int64_t mappedMemory() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(Arena, StartsWithZerosInHugePages) {
  Arena arena(5000000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.data()) % (2 << 20), 0u);
  EXPECT_EQ(std::string(arena.data(), 5000000), std::string(5000000, 0));
}

TEST(Arena, ThatDoesNotFitEndsWithThree) {
  std::string message = failure([] { Arena arena(int64_t(1) << 60); });
  EXPECT_TRUE(std::regex_match(
      message, std::regex("3: training needs 1152921504606846976 bytes of "
                          "memory, [0-9]+ are available")))
      << message;
  EXPECT_GT(availableMemory(), 0);
}

TEST(Arena, IsComparedWithWhatTheProcessMayTake) {
  const int64_t left = int64_t(64) << 20;
  int64_t machine = availableMemory();
  rlimit before, tight;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  tight = before;
  tight.rlim_cur = rlim_t(mappedMemory() + left);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  int64_t here = availableMemory();
  std::string message = failure([&] { Arena arena(2 * left); });
  int64_t there = availableMemory(true);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LE(here, left);
  EXPECT_GT(machine, 2 * left);
  EXPECT_EQ(message.find("3: training needs 134217728 bytes of memory, "), 0u);
  EXPECT_GT(there, here) << "another does not have what this one took";
}

TEST(OutputFile, LeavesSignalsThatAreIgnored) {
  const int all[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  struct sigaction before[4], during[4];
  for (int i = 0; i < 4; ++i)
    sigaction(all[i], nullptr, &before[i]);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGINT, SIG_DFL);
  endOnSignals();
  for (int i = 0; i < 4; ++i)
    sigaction(all[i], &before[i], &during[i]);
  EXPECT_EQ(during[0].sa_handler, SIG_IGN);
  EXPECT_NE(during[1].sa_handler, SIG_DFL);
}

static std::string contents(const std::string &path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(OutputFile, ReplacesWhatIsThere) {
  std::string folder = scratch();
  writeFile(folder + "/a", {"a longer text"});
  writeFile(folder + "/a", {"te", "", "xt"});
  EXPECT_EQ(contents(folder + "/a"), "text");
  // Through a link, and with the link left.
  ASSERT_EQ(symlink("a", (folder + "/link").c_str()), 0);
  writeFile(folder + "/link", {"other"});
  EXPECT_EQ(contents(folder + "/a"), "other");
  struct stat status;
  ASSERT_EQ(lstat((folder + "/link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  // With nothing beside it that another process could stumble upon.
  EXPECT_NE(access((folder + "/a." + std::to_string(getpid()) + ".tmp").c_str(),
                   F_OK),
            0);
}

TEST(OutputFile, MustHaveANameThatFits) {
  std::string name(5000, 'x');
  EXPECT_EQ(failure([&] { writeFile(name, {"text"}); }),
            "3: cannot write `" + name + "`: its name is too long");
}
