// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Program/Json.h"

#include "gtest/gtest.h"
#include <numeric>

using namespace netc::program;
using nlohmann::json;

static json description() {
  return json::parse(R"({
    "format": 1, "netc": "0.1.0", "run": "r", "network": "N", "batch": 8,
    "lowering": "fast", "target": {"name": "cpu", "isa": "avx2", "cpu": "znver5"},
    "conventions": {"fma": 2, "causal": "full"}, "counted": false,
    "arena": 128, "buffers": 192, "stack": 64,
    "slots": [
      {"name": "x", "role": "input", "element": "f32", "shape": [8, 2], "offset": 0},
      {"name": "norm", "role": "result", "element": "f32", "shape": [], "offset": 64},
      {"name": "loss", "role": "result", "element": "f64", "shape": [], "offset": 72},
      {"name": "step", "role": "step", "element": "f32", "shape": [], "offset": 80}],
    "ops": [{"name": "a", "op": "linear", "phase": "forward", "matmul": 4,
             "other": 2, "transcendental": 1, "bytes": 12}]})");
}

static Program parse(const json &text) {
  return parseProgram(text.dump().c_str());
}

/// What reading it fails with.
template <typename Action> static std::string failure(Action action) {
  try {
    action();
  } catch (const FormatError &error) {
    return error.what();
  }
  return "";
}

/// What comes of a description with other members of its first slot.
static std::string message(const json &change) {
  json text = description();
  text["slots"][0].update(change);
  return failure([&] { parse(text); });
}

TEST(Program, IsRead) {
  Program program = parse(description());
  EXPECT_EQ(program.arena, 128);
  EXPECT_EQ(program.batch, 8);
  EXPECT_EQ(program.target.isa, "avx2");
  EXPECT_FALSE(program.counted);
  ASSERT_EQ(program.slots.size(), 4u);
  EXPECT_EQ(program.slots[0].bytes(), 64);
  EXPECT_EQ(program.slots[1].bytes(), 4);
  EXPECT_EQ(program.loss()->name, "loss");
  EXPECT_EQ(program.find(Role::Step)->name, "step");
  EXPECT_EQ(program.find(Role::Seed), nullptr);
  ASSERT_EQ(program.ops.size(), 1u);
  EXPECT_EQ(program.ops[0].transcendental, 1);
  EXPECT_EQ(program.title(), "r runs N · batch 8 · fast lowering");
  nlohmann::ordered_json identity = identityOf(program);
  EXPECT_EQ(identity["conventions"]["fma"], 2);
  EXPECT_FALSE(identity.contains("slots") || identity.contains("ops"));
}

TEST(Program, IsWrittenAsItIsRead) {
  json text = description();
  text["slots"][0].update({{"sizes", {2, 8}}, {"strides", {1, 2}}});
  text["slots"][2].update(
      {{"init", "sine"}, {"theta", 5e5}, {"upper_bound", 7}});
  EXPECT_EQ(json::parse(toJson(parse(text))), text);
  text["negative"] = {"x"};
  EXPECT_EQ(json::parse(toJson(parse(text))), text);
}

TEST(Program, TakesNegativeNumbersWhereItSaysSo) {
  json text = description();
  EXPECT_FALSE(parse(text).takesNegative(parse(text).slots[0]));
  text["negative"] = {"x"};
  EXPECT_TRUE(parse(text).takesNegative(parse(text).slots[0]));
  EXPECT_FALSE(parse(text).takesNegative(parse(text).slots[1]));
}

TEST(Program, TrainsIfItGoesBackward) {
  json text = description();
  text["ops"][0]["phase"] = "weight";
  EXPECT_EQ(parse(text).title(), "r trains N · batch 8 · fast lowering");
}

TEST(Program, HasNoLossThatIsNotCalledSo) {
  json text = description();
  text["slots"][2]["name"] = "score";
  EXPECT_EQ(parse(text).loss(), nullptr);
}

TEST(Program, HasTensorsInAnOrderOfTheirOwn) {
  // Two panels of four of eight columns, in which rows follow each other.
  json text = description();
  text["slots"][0].update(
      {{"shape", {2, 8}}, {"sizes", {2, 2, 4}}, {"strides", {4, 8, 1}}});
  Slot slot = parse(text).slots[0];
  std::vector<float> rows(16), panels(16), back(16);
  std::iota(rows.begin(), rows.end(), 0.f);
  slot.pack(reinterpret_cast<char *>(rows.data()),
            reinterpret_cast<char *>(panels.data()));
  EXPECT_EQ(panels, (std::vector<float>{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7,
                                        12, 13, 14, 15}));
  slot.unpack(reinterpret_cast<char *>(panels.data()),
              reinterpret_cast<char *>(back.data()));
  EXPECT_EQ(back, rows);

  Slot plain = parse(description()).slots[0];
  plain.pack(reinterpret_cast<char *>(rows.data()),
             reinterpret_cast<char *>(panels.data()));
  EXPECT_EQ(panels, rows);
}

TEST(Program, ThatIsWrongIsRefused) {
  std::string start = "this program's description is wrong: ";
  EXPECT_EQ(failure([] { parseProgram("{"); }).find(start), 0u);
  json text = description();
  text["format"] = 2;
  EXPECT_EQ(failure([&] { parse(text); }), start + "its format is not 1");
  text = description();
  text["target"]["name"] = "tpu";
  EXPECT_EQ(failure([&] { parse(text); }), start + "there is no `tpu`");
  EXPECT_EQ(message({{"role", "guest"}}), start + "there is no `guest`");
  EXPECT_EQ(message({{"element", "f8"}}), start + "there is no `f8`");
  EXPECT_EQ(message({{"init", "he"}}), start + "there is no `he`");
  EXPECT_EQ(message({{"name", "../x"}}), start + "a slot is called `../x`");
  EXPECT_EQ(message({{"element", "i64"}, {"shape", {1}}}),
            start + "`x` has no `upper_bound`");
  std::string outside = start + "`x` is not in the arena";
  EXPECT_EQ(message({{"offset", 68}}), outside);
  EXPECT_EQ(message({{"offset", -4}}), outside);
  EXPECT_EQ(message({{"offset", 2}}), outside);
  EXPECT_EQ(message({{"shape", {0}}}), outside);
  EXPECT_EQ(message({{"shape", {int64_t(1) << 62, 4}}}), outside);
  EXPECT_EQ(message({{"shape", {33}}}), outside);
  std::string order = start + "the order of `x` is none of its elements";
  EXPECT_EQ(message({{"sizes", {16}}}), order);
  EXPECT_EQ(message({{"sizes", {8}}, {"strides", {1}}}), order);
  EXPECT_EQ(message({{"sizes", {2, 8}}, {"strides", {1, 1}}}), order);
  EXPECT_EQ(message({{"sizes", {2, 8}}, {"strides", {-8, 1}}}), order);
  // 16 iterations, the last of which is at 15, but some at the same place.
  EXPECT_EQ(message({{"sizes", {4, 4}}, {"strides", {2, 3}}}), order);
  EXPECT_EQ(message({{"sizes", {int64_t(1) << 62, 16}}, {"strides", {4, 1}}}),
            order);
}
