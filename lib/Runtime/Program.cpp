// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Program.h"
#include "lib/Runtime/Failure.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace netc::runtime;
using json = nlohmann::ordered_json;

// In the order of the enumerations.
static const char *const roles[] = {"parameter", "state", "input",
                                    "result",    "step",  "seed"};
static const char *const inits[] = {"zeros",   "ones",    "fan_in", "normal",
                                    "uniform", "sine",    "cosine", "sinusoid",
                                    "alibi",   "identity"};

int64_t Slot::count() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Calls `copy` with where elements are in the arena's order and in row-major
/// order, and how many follow each other in both, in bytes.
template <typename Copy> static void forEachRun(const Slot &slot, Copy copy) {
  if (slot.isRowMajor())
    return copy(0, 0, size_t(slot.bytes()));
  int64_t size = bytesOf(slot.element), at = 0;
  std::vector<int64_t> turns(slot.sizes.size());
  for (int64_t i = 0, count = slot.count(); i < count; ++i) {
    copy(i * size, at * size, size_t(size));
    for (size_t loop = turns.size(); loop-- > 0;) {
      at += slot.strides[loop];
      if (++turns[loop] < slot.sizes[loop])
        break;
      at -= slot.sizes[loop] * slot.strides[loop];
      turns[loop] = 0;
    }
  }
}

void Slot::lay(const char *from, char *to) const {
  forEachRun(*this, [&](int64_t place, int64_t at, size_t bytes) {
    std::memcpy(to + place, from + at, bytes);
  });
}

void Slot::gather(const char *from, char *to) const {
  forEachRun(*this, [&](int64_t place, int64_t at, size_t bytes) {
    std::memcpy(to + at, from + place, bytes);
  });
}

static Failure wrong(const std::string &what) {
  return Failure(1, "this program's description is wrong: " + what);
}

static const char *spelling(const char *name) { return name; }
static const char *spelling(const ElementTraits &traits) { return traits.name; }

/// The place of `word` in a table of names.
template <typename T, size_t N>
static int placeOf(const std::string &word, const T (&table)[N]) {
  for (size_t i = 0; i < N; ++i)
    if (word == spelling(table[i]))
      return int(i);
  throw wrong("there is no `" + word + "`");
}

/// Whether loops over memory are over as many elements as there are, from the
/// first to the last.
static bool ordersAll(const Slot &slot) {
  int64_t places = 1, last = 0;
  bool fits = slot.sizes.size() == slot.strides.size();
  for (size_t loop = 0; fits && loop < slot.sizes.size(); ++loop) {
    int64_t size = slot.sizes[loop], stride = slot.strides[loop], reach = 0;
    fits = size > 0 && stride > 0 &&
           !__builtin_mul_overflow(places, size, &places) &&
           !__builtin_mul_overflow(size - 1, stride, &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  return fits && places == slot.count() && last == places - 1;
}

static Slot slotOf(const json &text, int64_t arena) {
  Slot slot;
  slot.name = text.at("name");
  slot.role = Role(placeOf(text.at("role"), roles));
  slot.element = Element(placeOf(text.at("element"), elements));
  if (text.contains("init"))
    slot.init = Init(placeOf(text["init"], inits));
  slot.theta = text.value("theta", 0.0);
  slot.offset = text.at("offset");
  slot.below = text.value("below", int64_t(0));

  // The name becomes a file's.
  if (slot.name.empty() || slot.name[0] == '.' ||
      slot.name.find('/') != std::string::npos)
    throw wrong("a slot is called `" + slot.name + "`");
  int64_t size = bytesOf(slot.element);
  bool fits = slot.offset >= 0 && slot.offset % size == 0 && slot.below >= 0;
  for (int64_t extent : text.at("shape").get<std::vector<int64_t>>()) {
    slot.shape.push_back(extent);
    fits = fits && extent > 0 && !__builtin_mul_overflow(size, extent, &size);
  }
  if (!fits || __builtin_add_overflow(size, slot.offset, &size) || size > arena)
    throw wrong("`" + slot.name + "` is not in the arena");
  slot.sizes = text.value("sizes", slot.sizes);
  slot.strides = text.value("strides", slot.strides);
  if (!slot.isRowMajor() && !ordersAll(slot))
    throw wrong("the order of `" + slot.name + "` is none of its elements");
  if (slot.role == Role::Input && !isFloat(slot.element) && !slot.below)
    throw wrong("`" + slot.name + "` has no `below`");
  return slot;
}

Program Program::parse(const char *text) try {
  json description = json::parse(text);
  if (description.at("format") != 1)
    throw wrong("its format is not 1");
  Program program;
  program.arena = description.at("arena");
  program.buffers = description.at("buffers");
  program.stack = description.value("stack", int64_t(0));
  program.batch = description.at("batch");
  program.counted = description.value("counted", false);
  json target = description.at("target");
  program.isa = target.value("isa", "");
  for (const json &slot : description.at("slots"))
    program.slots.push_back(slotOf(slot, program.arena));
  for (const json &op : description.at("ops"))
    program.ops.push_back({op.at("name"), op.at("op"), op.at("phase"),
                           op.at("matmul"), op.at("other"),
                           op.at("transcendental"), op.at("bytes")});
  program.trains =
      std::any_of(program.ops.begin(), program.ops.end(),
                  [](const Op &op) { return op.phase != "forward"; });
  program.title = description.at("run").get<std::string>() +
                  (program.trains ? " trains " : " runs ") +
                  description.at("network").get<std::string>() + " · batch " +
                  std::to_string(program.batch) + " · " +
                  description.at("lowering").get<std::string>() + " lowering";
  for (const char *member :
       {"format", "arena", "buffers", "stack", "slots", "ops"})
    description.erase(member);
  program.identity = description.dump();
  return program;
} catch (const json::exception &error) {
  throw wrong(error.what());
}

const Slot *Program::find(Role role) const {
  for (const Slot &slot : slots)
    if (slot.role == role)
      return &slot;
  return nullptr;
}

const Slot *Program::loss() const {
  for (const Slot &slot : slots)
    if (slot.role == Role::Result && slot.name == "loss" &&
        isFloat(slot.element) && (trains || slot.count() == 1))
      return &slot;
  return nullptr;
}
