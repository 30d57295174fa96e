// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Program/Json.h"

#include <algorithm>

using namespace netc::program;
using json = nlohmann::ordered_json;

static const int kFormat = 1;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json toJson(const Slot &slot) {
  json text = {{"name", slot.name},
               {"role", nameOf(slot.role)},
               {"element", nameOf(slot.element)},
               {"shape", slot.shape},
               {"offset", slot.offset}};
  if (slot.init != Init::Zeros)
    text["init"] = nameOf(slot.init);
  if (slot.theta != Slot().theta)
    text["theta"] = slot.theta;
  if (slot.upperBound)
    text["upper_bound"] = slot.upperBound;
  if (!slot.isRowMajor()) {
    text["sizes"] = slot.sizes;
    text["strides"] = slot.strides;
  }
  return text;
}

static json toJson(const Op &op) {
  json text = {{"name", op.name},   {"op", op.op},
               {"phase", op.phase}, {"matmul", op.matmul},
               {"other", op.other}, {"transcendental", op.transcendental},
               {"bytes", op.bytes}};
  if (!op.format.empty())
    text["format"] = op.format;
  return text;
}

json netc::program::identityOf(const Program &program) {
  return {{"netc", program.netc},
          {"run", program.run},
          {"network", program.network},
          {"batch", program.batch},
          {"lowering", program.lowering},
          {"counted", program.counted},
          {"target",
           {{"name", nameOf(program.target.kind)},
            {"isa", program.target.isa},
            {"cpu", program.target.cpu}}},
          {"conventions", {{"fma", program.fma}, {"causal", program.causal}}}};
}

std::string netc::program::toJson(const Program &program) {
  json text = {{"format", kFormat}};
  text.update(identityOf(program));
  text["arena"] = program.arena;
  text["buffers"] = program.buffers;
  text["stack"] = program.stack;
  text["slots"] = json::array();
  for (const Slot &slot : program.slots)
    text["slots"].push_back(::toJson(slot));
  if (!program.negative.empty())
    text["negative"] = program.negative;
  text["ops"] = json::array();
  for (const Op &op : program.ops)
    text["ops"].push_back(::toJson(op));
  for (const Kernel &kernel : program.kernels)
    text["kernels"].push_back({{"name", kernel.name},
                               {"blocks", kernel.blocks},
                               {"threads", kernel.threads},
                               {"shared_bytes", kernel.sharedBytes}});
  return text.dump();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The enumerator with the name `word`, which `valueOf` looks up. Throws if
/// there is none.
template <typename T>
static T named(const std::string &word,
               std::optional<T> (*valueOf)(const std::string &)) {
  if (std::optional<T> value = valueOf(word))
    return *value;
  throw FormatError("there is no `" + word + "`");
}

/// Whether the loops of a slot's layout reach each of its elements once: from
/// the smallest stride on, each stride is the product of the sizes before.
static bool ordersAll(const Slot &slot) {
  if (slot.sizes.size() != slot.strides.size())
    return false;
  std::vector<std::pair<int64_t, int64_t>> loops; // stride and size
  for (size_t loop = 0; loop < slot.sizes.size(); ++loop)
    if (slot.sizes[loop] != 1)
      loops.push_back({slot.strides[loop], slot.sizes[loop]});
  std::sort(loops.begin(), loops.end());
  int64_t places = 1;
  for (auto [stride, size] : loops)
    if (stride != places || size <= 0 ||
        __builtin_mul_overflow(places, size, &places))
      return false;
  return places == slot.count();
}

static Slot slotOf(const json &text, int64_t arena) {
  Slot slot;
  slot.name = text.at("name");
  slot.role = named(text.at("role"), roleOf);
  slot.element = named(text.at("element"), elementOf);
  if (text.contains("init"))
    slot.init = named(text["init"], initOf);
  slot.theta = text.value("theta", slot.theta);
  slot.offset = text.at("offset");
  slot.upperBound = text.value("upper_bound", int64_t(0));

  // The name is used as the name of a file.
  if (slot.name.empty() || slot.name[0] == '.' ||
      slot.name.find('/') != std::string::npos)
    throw FormatError("a slot is called `" + slot.name + "`");
  int64_t size = bytesOf(slot.element);
  bool fits =
      slot.offset >= 0 && slot.offset % size == 0 && slot.upperBound >= 0;
  for (int64_t extent : text.at("shape").get<std::vector<int64_t>>()) {
    slot.shape.push_back(extent);
    fits = fits && extent > 0 && !__builtin_mul_overflow(size, extent, &size);
  }
  if (!fits || __builtin_add_overflow(size, slot.offset, &size) || size > arena)
    throw FormatError("`" + slot.name + "` is not in the arena");
  slot.sizes = text.value("sizes", slot.sizes);
  slot.strides = text.value("strides", slot.strides);
  if (!slot.isRowMajor() && !ordersAll(slot))
    throw FormatError("the order of `" + slot.name +
                      "` is none of its elements");
  if (slot.role == Role::Input && !isFloat(slot.element) && !slot.upperBound)
    throw FormatError("`" + slot.name + "` has no `upper_bound`");
  return slot;
}

Program netc::program::parseProgram(const char *text) try {
  json description = json::parse(text);
  if (description.at("format") != kFormat)
    throw FormatError("its format is not " + std::to_string(kFormat));
  Program program;
  program.netc = description.at("netc");
  const json &conventions = description.at("conventions");
  program.fma = conventions.at("fma");
  program.causal = conventions.at("causal");
  program.run = description.at("run");
  program.network = description.at("network");
  program.lowering = description.at("lowering");
  program.counted = description.at("counted");
  const json &target = description.at("target");
  program.target = {named(target.at("name"), targetNamed), target.at("isa"),
                    target.at("cpu")};
  program.batch = description.at("batch");
  program.arena = description.at("arena");
  program.buffers = description.at("buffers");
  program.stack = description.at("stack");
  for (const json &slot : description.at("slots"))
    program.slots.push_back(slotOf(slot, program.arena));
  program.negative = description.value("negative", program.negative);
  for (const json &op : description.at("ops"))
    program.ops.push_back({op.at("name"), op.at("op"), op.at("phase"),
                           op.at("matmul"), op.at("other"),
                           op.at("transcendental"), op.at("bytes"),
                           op.value("format", "")});
  for (const json &kernel : description.value("kernels", json::array()))
    program.kernels.push_back({kernel.at("name"), kernel.at("blocks"),
                               kernel.at("threads"),
                               kernel.at("shared_bytes")});
  return program;
} catch (const json::exception &error) {
  throw FormatError(error.what());
}
