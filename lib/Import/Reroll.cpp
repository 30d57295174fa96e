// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Reroll.h"

#include "lib/Import/Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

namespace {
/// Steps of one body, in which iterations of a loop are looked for. Each has
/// `length` steps, and the first one begins at `begin`.
class Rerolling {
public:
  Rerolling(const Graph &graph, StepBody &body) : body(body) {
    llvm::StringMap<unsigned> numbers;
    for (auto [i, step] : llvm::enumerate(body.steps)) {
      std::string key = formOf(step);
      if (step.form == Step::Loop) // which is like no other
        key += std::to_string(i);
      keys.push_back(numbers.try_emplace(key, numbers.size()).first->second);
      paths.push_back(pathIn(body, step, graph));
      for (int in : step.ins)
        readers[in].push_back(i);
      for (size_t j = 0; j < step.outs.size(); ++j)
        makers[step.outs[j]] = {i, j};
      if (!step.weight.empty())
        ++owners[step.weight];
    }
    for (auto &[value, at] : readers)
      if (graph.values[value].kind == GraphValue::Weight &&
          !makers.count(value))
        read.insert(graph.values[value].name);
    for (int out : body.outs)
      readers[out].push_back(body.steps.size());
  }

  std::vector<std::shared_ptr<StepBody>> run() {
    std::vector<std::shared_ptr<StepBody>> made;
    std::vector<Step> steps;
    for (begin = 0; begin < body.steps.size();) {
      if (!find()) {
        steps.push_back(std::move(body.steps[begin++]));
        continue;
      }
      for (size_t i = 0; i < count; ++i) {
        made.push_back(iteration(i));
        Step call;
        call.form = Step::Instance;
        call.fn = made.back()->kind;
        call.body = made.back();
        steps.push_back(std::move(call));
      }
      begin += count * length;
    }
    body.steps = std::move(steps);
    return made;
  }

private:
  /// Finds the shortest loop that begins here. None with more than `longest`
  /// steps is looked for, so that the time is linear.
  bool find() {
    constexpr size_t longest = 64;
    for (length = 2; length <= longest && begin + 3 * length <= keys.size();
         ++length) {
      if (!hasKeys(1) || !findLists())
        continue;
      for (count = 1; hasKeys(count) && hasPaths(count) && hasOperands(count);)
        ++count;
      dropRead();
      if (count >= 3)
        return true;
    }
    return false;
  }
  bool hasKeys(size_t number) const {
    auto all = llvm::ArrayRef(keys).drop_front(begin);
    return (number + 1) * length <= all.size() &&
           all.slice(number * length, length) == all.take_front(length);
  }

  /// The lists that steps of the loop are of: where the path of a step differs
  /// in the next iteration, which must be in one number. The first step is of
  /// one.
  bool findLists() {
    lists.assign(length, "");
    for (size_t i = 0; i < length; ++i) {
      StringRef path = paths[begin + i], next = paths[begin + length + i];
      if (path == next)
        continue;
      while (!path.empty() && path.split('.').first == next.split('.').first) {
        lists[i] += path.split('.').first.str() + ".";
        path = path.split('.').second;
        next = next.split('.').second;
      }
      auto isNumber = [](StringRef part) {
        return !part.empty() && llvm::all_of(part, llvm::isDigit);
      };
      if (!isNumber(path.split('.').first) || !isNumber(next.split('.').first))
        return false;
      lists[i] += "*"; // so that it is not empty
      // Of several elements of one list, as in a container, most are no loop.
      if (lists[i] == lists[0] &&
          elementOf(0, i).first != elementOf(0, 0).first)
        return false;
    }
    return !lists[0].empty();
  }
  /// Step `i` of an iteration: its element of a list, `layers.3`, and the path
  /// in that; no element, and the whole path, if it is in none.
  std::pair<StringRef, StringRef> elementOf(size_t number, size_t i) const {
    StringRef path = paths[begin + number * length + i];
    if (lists[i].empty())
      return {"", path};
    size_t size = path.find('.', lists[i].size() - 1);
    return {path.take_front(size), path.substr(size)};
  }
  bool hasPaths(size_t number) const {
    std::map<StringRef, StringRef> elements; // by lists
    for (size_t i = 0; i < length; ++i) {
      auto [element, rest] = elementOf(number, i);
      StringRef list = StringRef(lists[i]).drop_back(!lists[i].empty());
      if (rest != elementOf(0, i).second || !element.starts_with(list) ||
          (!list.empty() && element == elementOf(number - 1, i).first) ||
          elements.try_emplace(lists[i], element).first->second != element ||
          !isOwn(body.steps[begin + i]) ||
          !isOwn(body.steps[begin + number * length + i]))
        return false;
    }
    return true;
  }
  /// Whether nothing else has its weights.
  bool isOwn(const Step &step) const {
    return step.weight.empty() ||
           (owners.lookup(step.weight) == 1 && !read.count(step.weight));
  }

  /// Whether the operands of an iteration are its own values as in the first
  /// one, the one value that is carried, or what the first one takes, too.
  bool hasOperands(size_t number) {
    if (number == 1)
      carried.reset();
    for (size_t i = 0; i < length; ++i) {
      auto firsts = llvm::ArrayRef(body.steps[begin + i].ins);
      auto others = llvm::ArrayRef(body.steps[begin + number * length + i].ins);
      for (auto [first, other] : llvm::zip_equal(firsts, others)) {
        std::optional<Place> inFirst = placeIn(first, 0),
                             inOther = placeIn(other, number),
                             before = placeIn(other, number - 1);
        if (inFirst != inOther)
          return false;
        if (inFirst)
          continue;
        if (!before && other == first)
          continue;
        if (!before)
          return false;
        if (!carried)
          carried = {*before, first};
        if (carried->first != *before || carried->second != first)
          return false;
      }
    }
    return carried.has_value();
  }
  /// The step of an iteration that makes a value, and the result that it is.
  using Place = std::pair<size_t, size_t>;
  std::optional<Place> placeIn(int value, size_t number) const {
    auto found = makers.find(value);
    size_t start = begin + number * length;
    if (found == makers.end() || found->second.first < start ||
        found->second.first >= start + length)
      return std::nullopt;
    return Place{found->second.first - start, found->second.second};
  }

  /// The loop ends before values in it are read elsewhere, but for the carried
  /// one of the last iteration.
  void dropRead() {
    for (size_t number = 0; number < count; ++number) {
      size_t start = begin + number * length, end = start + length;
      for (size_t i = start; i < end; ++i)
        for (size_t j = 0; j < body.steps[i].outs.size(); ++j) {
          auto found = readers.find(body.steps[i].outs[j]);
          if (found == readers.end())
            continue;
          bool isCarried = carried && carried->first == Place{i - start, j};
          if (!isCarried && found->second.back() >= end)
            count = number;
          if (isCarried && found->second.back() >= end + length &&
              number + 1 < count)
            count = number + 1;
          if (number >= count)
            return;
        }
    }
  }

  /// Of a list: the last part of its path that is no number.
  static StringRef nameOf(StringRef list) {
    StringRef path = list.drop_back(); // the `*`
    while (!path.empty()) {
      path.consume_back(".");
      StringRef last = path.substr(path.rfind('.') + 1);
      if (!llvm::all_of(last, llvm::isDigit))
        return last;
      path = path.drop_back(last.size());
    }
    return "";
  }

  std::shared_ptr<StepBody> iteration(size_t number) {
    auto made = std::make_shared<StepBody>();
    std::string around = body.path.empty() ? "" : body.path + ".";
    made->path = around + elementOf(number, 0).first.str();
    for (size_t i = 1; i < length; ++i)
      if (lists[i] != lists[0] && !lists[i].empty())
        made->elements[around + elementOf(number, i).first.str()] =
            nameOf(lists[i]);
    // A `Layer` is what `layers` is a list of.
    StringRef name = nameOf(lists[0]);
    if (name.size() > 3 && name.ends_with("s") && !name.ends_with("ss"))
      name = name.drop_back();
    made->kind = name.empty() ? "Layer" : identifier(name);
    made->kind[0] = llvm::toUpper(made->kind[0]);
    llvm::move(llvm::MutableArrayRef(body.steps)
                   .slice(begin + number * length, length),
               std::back_inserter(made->steps));
    return made;
  }

  StepBody &body;
  // By steps.
  std::vector<unsigned> keys;
  std::vector<std::string> paths;
  // By values.
  std::map<int, std::vector<size_t>> readers; ///< in order
  std::map<int, Place> makers;
  std::set<StringRef> read;         ///< `embed.weight`, of another step
  llvm::StringMap<unsigned> owners; ///< how many steps have a weight

  size_t begin = 0, length = 0, count = 0;
  /// By steps of an iteration: `layers.*`, or empty if it is in none.
  std::vector<std::string> lists;
  /// What the next iteration takes, and what the first one has in its place.
  std::optional<std::pair<Place, int>> carried;
};
} // namespace

std::vector<std::shared_ptr<StepBody>> netc::import::reroll(const Graph &graph,
                                                            StepBody &body) {
  return Rerolling(graph, body).run();
}
