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

/// Writes the steps of a view one by one, as they stand.
static void writeSteps(Step &view) {
  view.form = Step::Form_;
  view.fn = "%0";
  for (size_t i = 0; i < view.shapes.size(); ++i) {
    std::string number = "#" + std::to_string(view.arguments.size());
    if (view.permutations[i].empty()) {
      view.fn = "reshape(" + view.fn + ", " + number + ")";
      view.putSizes(view.shapes[i]);
      continue;
    }
    std::vector<std::string> order;
    for (int each : view.permutations[i])
      order.push_back(std::to_string(each));
    view.fn =
        "transpose(" + view.fn + ", order = [" + llvm::join(order, ", ") + "])";
  }
}

/// Writes a view that moves no axis. `had` are the labels of the operand,
/// `made` those of the result.
static void writeReshape(Step &view, const Sizes &from,
                         const std::vector<std::string> &had,
                         std::vector<std::string> &made) {
  const Sizes &to = view.shapes.back();
  if (to.size() == 2 && from.size() > 2 && to[0] == from[0]) {
    view.fn = "flatten";
    made[0] = had[0];
    return;
  }
  view.fn = "reshape";
  view.putSizes(to);
  made = symbolsOf(to);
}

namespace {
/// Writes a view that moves axes as a call of `rearrange`.
class Rearrangement {
public:
  Rearrangement(const Axes &axes, const std::vector<std::string> &had)
      : axes(axes), had(had), letters(lettersFor(axes, had)) {
    for (const std::vector<int> &each : axes.first)
      starts.push_back(axes.leaves(each));
    for (const std::vector<int> &each : axes.now)
      if (std::vector<int> leaves = axes.leaves(each); !leaves.empty())
        wanted.push_back(leaves);
    placeRest();
  }

  /// Adds the pattern and the sizes of its letters to the arguments.
  void write(Step &view) {
    std::vector<std::string> left, right;
    for (const std::vector<int> &each : starts)
      left.push_back(group(each));
    for (const std::vector<int> &each : wanted)
      right.push_back(group(each));
    view.form = Step::Pipe;
    view.fn = "rearrange";
    view.arguments.push_back(
        {"", "",
         "\"" + llvm::join(left, " ") + " -> " + llvm::join(right, " ") + "\"",
         "", false});
    for (const std::vector<int> &each : starts)
      writeSizes(view, each);
  }

  /// The number of axes of the result. Of size 1 there may be more.
  size_t rank() const { return wanted.size(); }

  /// Labels of the result: of an axis that stays whole, or whose parts are
  /// together again.
  std::vector<std::string> labels() const {
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
    return labels;
  }

private:
  /// What is split shows its letters on the left.
  static llvm::StringRef lettersFor(const Axes &axes,
                                    const std::vector<std::string> &had) {
    if (axes.first.size() == 4 && had[1] == "C")
      return "nchwabdefgijklmopqrstuvxyz";
    if (axes.first.size() == 4 && had[3] == "C" && axes.parts.empty())
      return "nhwcabdefgijklmopqrstuvxyz";
    return axes.parts.empty() ? "nhtkabcdefgijlmopqrsuvwxyz"
                              : "nthkabcdefgijlmopqrsuvwxyz";
  }

  /// An axis of size 1 that vanishes goes into the group that stands last. Axes
  /// of size 1 have letters of their own.
  void placeRest() {
    std::set<int> placed;
    for (const std::vector<int> &each : wanted)
      placed.insert(each.begin(), each.end());
    for (const std::vector<int> &each : starts)
      for (int leaf : each)
        if (!placed.count(leaf)) {
          if (wanted.empty())
            wanted.push_back({});
          wanted.back().push_back(leaf);
        }
  }

  std::string group(const std::vector<int> &leaves) {
    std::vector<std::string> words;
    for (int leaf : leaves) {
      auto [found, isNew] = names.try_emplace(leaf, "");
      if (isNew)
        found->second =
            std::string(1, letters[(names.size() - 1) % letters.size()]);
      words.push_back(found->second);
    }
    return words.size() == 1 ? words[0] : "(" + llvm::join(words, " ") + ")";
  }

  /// All but one part of an axis must be told: numbers before free axes, the
  /// last before the first.
  void writeSizes(Step &view, const std::vector<int> &split) {
    if (split.size() < 2)
      return;
    int free = -1;
    for (int leaf : split)
      if (!axes.sizes[leaf].isConstant())
        free = leaf;
    if (free < 0)
      free = split[0];
    for (int leaf : split)
      if (leaf != free)
        view.arguments.push_back({names[leaf], "width", axes.sizes[leaf].str(),
                                  "", axes.sizes[leaf].isConstant(),
                                  !axes.sizes[leaf].isConstant()});
  }

  const Axes &axes;
  const std::vector<std::string> &had;
  llvm::StringRef letters;
  std::map<int, std::string> names;
  std::vector<std::vector<int>> starts, wanted;
};
} // namespace

/// Lets a call of `rearrange` pass its result on to a reshape, which adds axes
/// of size 1.
static void reshapeAfter(Step &view, const Sizes &to) {
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
  view.putSizes(to);
}

void netc::import::writeView(Step &view, Graph &graph) {
  const Sizes &from = graph.shape(view.ins[0]);
  Sizes to = view.shapes.back();
  std::vector<std::string> had = graph.values[view.ins[0]].labels;
  std::vector<std::string> &made = graph.values[view.outs[0]].labels;
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
  if (!isMoved)
    return writeReshape(view, from, had, made);
  if (!isPattern)
    return writeSteps(view);
  Rearrangement rearrangement(axes, had);
  rearrangement.write(view);
  if (rearrangement.rank() == to.size())
    made = rearrangement.labels();
  else
    reshapeAfter(view, to);
}
