// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"
#include "test/Fuzz/ReadAnything.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace netc;

namespace {

std::vector<std::pair<std::string, std::string>> seedsOf(llvm::StringRef name) {
  std::vector<std::pair<std::string, std::string>> seeds;
  std::filesystem::path folder = INPUTS + name.str();
  if (std::filesystem::exists(folder))
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      seeds.push_back({entry.path().filename(),
                       std::string(std::istreambuf_iterator<char>(file), {})});
    }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

struct Reader {
  const char *name;
  bool (*read)(llvm::StringRef bytes);
};
/// All readers but those of traces.
const Reader readers[] = {{"config", importModel},
                          {"graph", importModel},
                          {"hardware", readHardware},
                          {"npy", readNpy},
                          {"options", readOptions},
                          {"safetensors", importWeights},
                          {"specification", reportSpecification}};

bool read(llvm::StringRef name, llvm::StringRef bytes) {
  for (const Reader &reader : readers)
    if (reader.name == name)
      return reader.read(bytes);
  return readTrace(name, bytes);
}

class Fuzz : public testing::TestWithParam<std::string> {};

TEST_P(Fuzz, SeedsAreRead) {
  unsigned seeds = 0;
  for (const auto &[name, bytes] : seedsOf(GetParam())) {
    bool isRead = read(GetParam(), bytes);
    // libFuzzer names what it found by a digest.
    bool isSeed = llvm::StringRef(name).starts_with("seed");
    seeds += isSeed;
    EXPECT_TRUE(isRead || !isSeed) << name;
  }
  EXPECT_GT(seeds, 0u);
}

TEST_P(Fuzz, CutAndDamagedSeedsAreNoFault) {
  uint64_t random = 0x9e3779b97f4a7c15;
  auto next = [&](size_t below) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return size_t(random % below);
  };
  for (const auto &[name, bytes] : seedsOf(GetParam())) {
    if (bytes.empty())
      continue;
    for (unsigned part = 0; part < 24; ++part)
      read(GetParam(),
           llvm::StringRef(bytes).take_front(bytes.size() * part / 24));
    for (unsigned time = 0; time < 100; ++time) {
      std::string damaged = bytes;
      for (size_t i = next(8) + 1; i > 0; --i)
        damaged[next(damaged.size())] = char(next(256));
      size_t from = next(damaged.size());
      if (time % 4 == 0)
        damaged.insert(next(damaged.size()), damaged.substr(from, next(64)));
      else if (time % 4 == 1)
        damaged.erase(from, next(64));
      read(GetParam(), damaged);
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Reader &reader : readers)
    names.push_back(reader.name);
  for (const trace::Format &format : trace::formats())
    names.push_back(format.name.str());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, testing::ValuesIn(names()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
