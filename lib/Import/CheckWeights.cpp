// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Config.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

/// `[768, 3072]`.
static std::string shapeText(const WeightShape &shape) {
  std::vector<std::string> sizes;
  for (uint64_t size : shape)
    sizes.push_back(std::to_string(size));
  return "[" + llvm::join(sizes, ", ") + "]";
}

namespace {
class Checker {
public:
  Checker(const Config &config, const Weights &weights, const Host &host)
      : config(config), family(*config.family), weights(weights), host(host) {}

  std::optional<uint64_t> check() {
    for (auto &[name, text] : family.weights) {
      auto [sizes, condition] = StringRef(text).split(" if ");
      if (!holds(condition))
        continue;
      WeightShape shape;
      for (StringRef size : llvm::split(sizes, ", "))
        shape.push_back(config.settings.evaluate(size).value_or(0));
      expect(name, shape);
    }
    for (auto &[name, shape] : weights.shapes)
      if (!used.count(name) && !isSpare(name))
        fail(error::WeightsUnknown(shownName(name), shapeText(shape)));
    return wrong ? std::nullopt : std::optional(total);
  }

private:
  void fail(const Message &message) {
    ++wrong;
    host.report({weights.path, 1, 1, message});
  }

  /// Evaluates a condition on settings, `a and not b`, `head is
  /// words|pretraining`.
  bool holds(StringRef condition) {
    if (condition.empty())
      return true;
    return llvm::all_of(llvm::split(condition, " and "), [&](StringRef part) {
      auto [name, words] = part.split(" is ");
      if (!words.empty())
        return llvm::is_contained(llvm::split(words, '|'),
                                  config.settings[name]);
      bool isNegated = part.consume_front("not ");
      return config.settings.isOn(part) != isNegated;
    });
  }

  /// Expects weights whose names match; each `{..}` stands for a number.
  void expect(StringRef name, const WeightShape &shape) {
    size_t at = name.find('{');
    if (at == StringRef::npos)
      return expectOne(name.str(), shape);
    StringRef inside = name.substr(at + 1, name.find('}') - at - 1);
    StringRef behind = name.substr(name.find('}') + 1);
    auto [range, rest] = inside.split(' ');
    bool isNegated = rest.consume_front("not ");
    auto [each, without] = rest.split(" except ");
    int64_t step = each.empty() ? 1 : number(each);
    llvm::SmallVector<StringRef> excepted;
    config.settings[without].trim("[]").split(excepted, ", ");
    auto [from, to] =
        range.contains("..") ? range.split("..") : std::make_pair("0", range);
    int64_t begin = from.empty() ? 0 : number(from);
    // Missing weights are reported once, since a config may ask for any number
    // of layers.
    unsigned before = wrong;
    for (int64_t i = begin; i < number(to) && wrong == before && step > 0; ++i)
      if (((i + 1) % step == 0 &&
           !llvm::is_contained(excepted, std::to_string(i))) != isNegated)
        expect((name.take_front(at) + std::to_string(i) + behind).str(), shape);
  }
  int64_t number(StringRef setting) {
    return config.settings.evaluate(setting).value_or(0);
  }

  void expectOne(std::string name, const WeightShape &shape) {
    std::vector<std::string> spellings = {name};
    for (auto &[now, before] : family.renamed)
      if (size_t at = name.find(now); at != std::string::npos)
        spellings.push_back(std::string(name).replace(at, now.size(), before));
    for (const std::string &spelling : spellings)
      for (const std::string &full : {family.prefix + spelling, spelling}) {
        auto found = weights.shapes.find(full);
        if (found == weights.shapes.end())
          continue;
        used.insert(full);
        if (found->second != shape)
          fail(error::WeightsShape(full, shapeText(found->second),
                                   shapeText(shape)));
        uint64_t size = 1;
        for (uint64_t n : found->second)
          size *= n;
        total += size;
        return;
      }
    // What a model without a head has to spare is outside of the model.
    fail(error::WeightsMissing((isSpare(name) ? "" : family.prefix) + name,
                               shapeText(shape)));
  }

  bool isSpare(StringRef name) {
    for (StringRef spare : family.spare)
      if (name.ends_with(spare) ||
          (spare.ends_with(".") && name.contains(spare)))
        return true;
    name.consume_front(family.prefix);
    int64_t layer;
    return !family.later.empty() && name.consume_front(family.later) &&
           !name.consumeInteger(10, layer) && layer >= number("layers");
  }

  const Config &config;
  const Family &family;
  const Weights &weights;
  const Host &host;
  std::set<std::string> used;
  uint64_t total = 0;
  unsigned wrong = 0;
};
} // namespace

std::optional<uint64_t> netc::import::checkWeights(const Config &config,
                                                   const Weights &weights,
                                                   const Host &host) {
  return Checker(config, weights, host).check();
}
