// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chains of views and transposes as one `rearrange`.

#include "lib/Import/Step.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;

namespace {
/// The axes of a chain, of which views split some and merge others.
class Axes {
public:
  explicit Axes(const Sizes &start) {
    for (const Polynomial &size : start)
      now.push_back({make(size)});
    first = now;
  }

  void permute(const std::vector<int> &order) {
    std::vector<std::vector<int>> next;
    for (int each : order)
      next.push_back(now[each]);
    now = std::move(next);
  }

  /// False where axes mix.
  bool view(const Sizes &wanted) {
    std::vector<int> rest;
    for (const std::vector<int> &group : now)
      rest.insert(rest.end(), group.begin(), group.end());
    size_t next = 0;
    std::vector<std::vector<int>> made;
    for (Polynomial want : wanted) {
      std::vector<int> group;
      while (!(want == 1)) {
        while (next < rest.size() && sizes[rest[next]] == 1)
          ++next;
        if (next == rest.size())
          return false;
        int axis = rest[next];
        Polynomial left = want / sizes[axis];
        if (left.isValid() && isWhole(left)) {
          group.push_back(axis);
          want = left;
          ++next;
          continue;
        }
        Polynomial right = sizes[axis] / want;
        if (!right.isValid() || !isWhole(right))
          return false;
        int a = make(want), b = make(right);
        parts[axis] = {a, b};
        rest[next] = a;
        rest.insert(rest.begin() + next + 1, b);
      }
      made.push_back(std::move(group));
    }
    now = std::move(made);
    return true;
  }

  std::vector<int> leaves(int axis) const {
    auto found = parts.find(axis);
    if (found == parts.end())
      return {axis};
    std::vector<int> all = leaves(found->second.first);
    llvm::append_range(all, leaves(found->second.second));
    return all;
  }
  std::vector<int> leaves(const std::vector<int> &group) const {
    std::vector<int> all;
    for (int axis : group)
      llvm::append_range(all, leaves(axis));
    return all;
  }

  std::vector<Polynomial> sizes;
  std::map<int, std::pair<int, int>> parts;
  std::vector<std::vector<int>> first, now;

private:
  static bool isWhole(const Polynomial &size) {
    std::optional<Rational> number = size.constant();
    return !number || size.toInt64();
  }
  int make(const Polynomial &size) {
    sizes.push_back(size);
    return int(sizes.size()) - 1;
  }
};
} // namespace

static bool hasSymbols(const Sizes &sizes) {
  return llvm::any_of(
      sizes, [](const Polynomial &size) { return !size.isConstant(); });
}

void netc::import::writeView(Step &view, Graph &graph) {
  int source = view.ins[0], result = view.outs[0];
  const Sizes &from = graph.shape(source);
  Sizes to = view.shapes.back();
  std::vector<std::string> had = graph.values[source].labels;
  std::vector<std::string> &made = graph.values[result].labels;
  made.assign(to.size(), "");
  bool isMoved = false;
  Axes axes(from);
  bool isPattern = true;
  for (size_t i = 0; i < view.shapes.size() && isPattern; ++i) {
    if (view.permutations[i].empty())
      isPattern = axes.view(view.shapes[i]);
    else {
      isMoved = true;
      axes.permute(view.permutations[i]);
    }
  }
  view.form = Step::Pipe;
  view.arguments.clear();
  auto reshape = [&](const Sizes &sizes) {
    StepArgument sizesOf{"", "size", sizesText(sizes),
                         "", false,  hasSymbols(sizes)};
    view.arguments.push_back(sizesOf);
  };
  if (!isMoved || !isPattern) {
    if (isMoved) {
      // One by one, as they stand.
      view.form = Step::Form_;
      view.fn = "%0";
      for (size_t i = 0; i < view.shapes.size(); ++i) {
        std::string number = "#" + std::to_string(view.arguments.size());
        if (view.permutations[i].empty()) {
          view.fn = "reshape(" + view.fn + ", " + number + ")";
          reshape(view.shapes[i]);
        } else {
          std::vector<std::string> order;
          for (int each : view.permutations[i])
            order.push_back(std::to_string(each));
          view.fn = "transpose(" + view.fn + ", order = [" +
                    llvm::join(order, ", ") + "])";
        }
      }
      return;
    }
    if (to.size() == 2 && from.size() > 2 && to[0] == from[0]) {
      view.fn = "flatten";
      made[0] = had[0];
      return;
    }
    view.fn = "reshape";
    reshape(to);
    for (size_t i = 0; i < to.size() && i < from.size() && to[i] == from[i];
         ++i)
      if (!to[i].isConstant())
        made[i] = had[i];
    return;
  }

  // The letters: what is split shows them on the left.
  std::map<int, std::string> names;
  bool isSplit = !axes.parts.empty();
  llvm::StringRef letters =
      isSplit ? "nthkabcdefgijlmopqrsuvwxyz" : "nhtkabcdefgijlmopqrsuvwxyz";
  if (from.size() == 4 && had[1] == "C")
    letters = "nchwabdefgijklmopqrstuvxyz";
  auto group = [&](const std::vector<int> &leaves) {
    std::vector<std::string> words;
    for (int leaf : leaves) {
      auto [found, isNew] = names.try_emplace(leaf, "");
      if (isNew)
        found->second =
            std::string(1, letters[(names.size() - 1) % letters.size()]);
      words.push_back(found->second);
    }
    return words.size() == 1 ? words[0] : "(" + llvm::join(words, " ") + ")";
  };
  // Axes of size 1 have letters of their own, and vanish or come in a reshape.
  std::vector<std::string> left, right;
  std::set<int> placed;
  Sizes kept;
  std::vector<std::vector<int>> wanted;
  for (const std::vector<int> &each : axes.now)
    if (std::vector<int> leaves = axes.leaves(each); !leaves.empty()) {
      placed.insert(leaves.begin(), leaves.end());
      wanted.push_back(leaves);
    }
  std::vector<std::vector<int>> starts;
  for (const std::vector<int> &each : axes.first)
    starts.push_back(axes.leaves(each));
  // One that vanishes goes into the group that stands last.
  for (const std::vector<int> &each : starts)
    for (int leaf : each)
      if (!placed.count(leaf)) {
        if (wanted.empty())
          wanted.push_back({});
        wanted.back().push_back(leaf);
      }
  for (const std::vector<int> &each : starts)
    left.push_back(group(each));
  for (const std::vector<int> &each : wanted) {
    right.push_back(group(each));
    Polynomial size = 1;
    for (int leaf : each)
      size *= axes.sizes[leaf];
    kept.push_back(size);
  }
  view.form = Step::Pipe;
  view.fn = "rearrange";
  view.arguments.push_back(
      {"", "",
       "\"" + llvm::join(left, " ") + " -> " + llvm::join(right, " ") + "\"",
       "", false});
  for (const std::vector<int> &each : starts) {
    if (each.size() < 2)
      continue;
    // All but one part must be told: numbers before free axes, the last before
    // the first.
    int free = -1;
    for (int leaf : each)
      if (!axes.sizes[leaf].isConstant())
        free = leaf;
    if (free < 0)
      free = each[0];
    for (int leaf : each)
      if (leaf != free)
        view.arguments.push_back({names[leaf], "width", axes.sizes[leaf].str(),
                                  "", axes.sizes[leaf].isConstant(),
                                  !axes.sizes[leaf].isConstant()});
  }
  // Labels: of an axis that stays whole, or whose parts are together again.
  std::vector<std::string> labels;
  for (const std::vector<int> &each : wanted) {
    std::string label;
    for (size_t i = 0; i < starts.size(); ++i) {
      std::vector<int> a = starts[i], b = each;
      llvm::sort(a);
      llvm::sort(b);
      if (a == b)
        label = had[i];
    }
    labels.push_back(label);
  }
  if (kept.size() == to.size()) {
    made = labels;
    return;
  }
  // New axes of size 1.
  view.form = Step::Form_;
  std::string call = "rearrange(%0";
  for (size_t i = 0; i < view.arguments.size(); ++i)
    call +=
        ", " +
        (view.arguments[i].key.empty() ? "" : view.arguments[i].key + " = ") +
        "#" + std::to_string(i);
  view.fn =
      "reshape(" + call + "), #" + std::to_string(view.arguments.size()) + ")";
  for (StepArgument &each : view.arguments)
    each.key.clear();
  reshape(to);
}
