// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/NodeReader.h"

#include "dialect/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void NodeReader::read(const GraphNode &next) {
  node = &next;
  known = findForeign(node->op);
  asked.clear();
  askedOperands.clear();
}

void NodeReader::readAs(StringRef op) { known = findForeign(op); }

void NodeReader::refuse(const llvm::Twine &why, Refusal::Kind kind) const {
  throw Refusal{node->op,
                node->module < 0 ? std::string()
                                 : graph.modules[node->module].path,
                node->line, why.str(), kind};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool NodeReader::has(unsigned i) {
  askedOperands.insert(i);
  return i < node->ins.size() && node->ins[i] >= 0;
}

int NodeReader::in(unsigned i) {
  if (!has(i))
    refuse("operand " + llvm::Twine(i) + " is missing");
  return values.real(node->ins[i]);
}

bool NodeReader::owns(unsigned i) {
  return has(i) && values.isWeight(in(i)) && values.owns(*node, i);
}

bool NodeReader::ownsShift(unsigned i) {
  return owns(i) && values.shape(in(i)).size() == 1 &&
         values.at(in(i)).learns == values.at(in(i - 1)).learns;
}

void NodeReader::wantRank(int x, size_t least, size_t most) {
  size_t rank = values.shape(x).size();
  if (rank < least || rank > most)
    refuse("a tensor has " + llvm::Twine(rank) + " axes here");
}

size_t NodeReader::windowsOf(int x) {
  StringRef name = node->op; // `aten.conv2d`
  if (name.consume_back("d") && llvm::isDigit(name.back()) &&
      values.shape(x).size() + 1 == size_t(name.back() - '0') + 2)
    refuse("it takes [" + sizesText(values.shape(x)) +
           "] for one image without a batch; give it one, such as "
           "`x.unsqueeze(0)`: the first axis is that of the examples");
  wantRank(x, 3, 5);
  return values.shape(x).size() - 2;
}

int64_t NodeReader::fixed(const Polynomial &size) {
  std::optional<int64_t> number = size.toInt64();
  if (!number)
    refuse("`" + size.str() + "` must be a number here");
  return *number;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// Settings of other frameworks that no count depends on: those that say where
/// a tensor is, or by which program an op is computed, and those that shapes of
/// results tell. What changes no count of one op, that op ignores.
static const std::set<StringRef> &withoutEffect() {
  static const std::set<StringRef> names = {
      "allow_tf32",    "benchmark",     "copy",          "cudnn_enable",
      "cudnn_enabled", "deterministic", "device",        "generator",
      "implicit",      "inplace",       "layout",        "memory_format",
      "non_blocking",  "pin_memory",    "seed",          "end",
      "keepdim",       "output_size",   "scale_factors", "scales",
      "scales_d",      "scales_h",      "scales_w",      "size",
      "split_size",    "split_sizes"};
  return names;
}

const Json *NodeReader::setting(const char *name) {
  asked.insert(name);
  auto found = node->with->find(name);
  return found == node->with->end() ? nullptr : &*found;
}

void NodeReader::checkAsked() {
  for (unsigned i = 0; i < node->ins.size(); ++i)
    if (node->ins[i] >= 0 && !askedOperands.count(i))
      refuse("it has no operand " + llvm::Twine(i));
  for (auto &[key, given] : node->with->items()) {
    if (asked.count(key) || withoutEffect().count(key))
      continue;
    std::vector<StringRef> names(asked.begin(), asked.end());
    llvm::append_range(names, withoutEffect());
    refuse("it has no setting `" + key + "`" + didYouMean(key, names));
  }
  if (node->body && node->op != "higher_order.scan")
    refuse("it has no body");
}

const Json *NodeReader::settingOf(const char *name,
                                  bool (Json::*isRight)() const noexcept,
                                  const char *wanted) {
  const Json *found = setting(name);
  if (!found || found->is_null())
    return nullptr;
  if (!(found->*isRight)())
    refuse("`" + llvm::Twine(name) + "` is " + found->dump() +
           ", and must be " + wanted);
  return found;
}

int64_t NodeReader::integer(const char *name, int64_t otherwise) {
  const Json *found =
      settingOf(name, &Json::is_number_integer, "a whole number here");
  return found ? found->get<int64_t>() : otherwise;
}

int64_t NodeReader::integerFrom(const Json &found) const {
  if (!found.is_number_integer())
    refuse("a number of it is " + found.dump() + ", and must be whole");
  return found.get<int64_t>();
}

bool NodeReader::flag(const char *name) {
  const Json *found = settingOf(name, &Json::is_boolean, "true or false");
  return found && found->get<bool>();
}

double NodeReader::real(const char *name, double otherwise) {
  const Json *found = setting(name);
  return found ? realFrom(*found, otherwise) : otherwise;
}

double NodeReader::realFrom(const Json &found, double otherwise) {
  if (found == "nan")
    refuse("a number of it is NaN");
  if (found == "inf" || found == "-inf")
    return found == "inf" ? INFINITY : -INFINITY;
  if (found.is_string() || found.is_structured())
    refuse("a number of it is " + found.dump());
  if (found.is_boolean())
    return found.get<bool>();
  return found.is_number() ? found.get<double>() : otherwise;
}

double NodeReader::realOf(int value) {
  return realFrom(values.at(value).known->value("value", Json()), 1);
}

std::string NodeReader::textFrom(const Json &found, double otherwise) {
  return found.is_number_integer() ? found.dump()
                                   : realText(realFrom(found, otherwise));
}

std::string NodeReader::numberText(const char *name, double otherwise) {
  const Json *found = setting(name);
  return textFrom(found ? *found : Json(), otherwise);
}

std::string NodeReader::numberTextOf(int value) {
  return textFrom(values.at(value).known->value("value", Json()), 1);
}

void NodeReader::wantOne(const char *name) {
  if (real(name, 1) != 1)
    refuse("its parts are scaled");
}

std::vector<int64_t> NodeReader::integers(const char *name, int64_t otherwise,
                                          size_t count) {
  std::vector<int64_t> numbers;
  if (const Json *found = setting(name)) {
    if (found->is_number_integer()) {
      numbers.push_back(found->get<int64_t>());
    } else if (found->is_array()) {
      for (const Json &each : *found) {
        if (!each.is_number_integer())
          refuse("`" + llvm::Twine(name) + "` is no list of numbers");
        numbers.push_back(each.get<int64_t>());
      }
    } else if (!found->is_null()) {
      refuse("`" + llvm::Twine(name) + "` is no list of numbers");
    }
  }
  if (numbers.empty())
    numbers.push_back(otherwise);
  if (numbers.size() == 1)
    numbers.resize(count, numbers[0]);
  return numbers;
}

unsigned NodeReader::axis(const Json &given, size_t rank) {
  int64_t number = integerFrom(given);
  int64_t place = number < 0 ? number + int64_t(rank) : number;
  if (place < 0 || place >= int64_t(rank))
    refuse("there is no axis " + llvm::Twine(number));
  return unsigned(place);
}

std::vector<unsigned> NodeReader::axes(size_t rank) {
  std::vector<unsigned> over;
  for (const char *name : {"dim", "dims", "axes"})
    if (const Json *dims = setting(name); dims && over.empty()) {
      if (dims->is_number_integer())
        over.push_back(axis(*dims, rank));
      else
        for (const Json &each : *dims)
          over.push_back(axis(each, rank));
    }
  llvm::sort(over);
  if (over.empty())
    for (size_t i = 0; i < rank; ++i)
      over.push_back(unsigned(i));
  return over;
}

Polynomial NodeReader::place(const char *name, const Polynomial &size) {
  const Json *given = setting(name);
  if (!given)
    return 0;
  if (given->is_number_integer()) {
    int64_t number = given->get<int64_t>();
    return number < 0 ? size + number : Polynomial(number);
  }
  if (given->is_string())
    if (auto parsed = Polynomial::parse(given->get<std::string>()))
      return *parsed;
  refuse("`" + llvm::Twine(name) + "` is no size");
}
