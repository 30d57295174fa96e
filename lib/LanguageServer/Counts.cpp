// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Counts.h"

#include "lib/Analysis/Query.h"
#include "lib/Report/Format.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace netc;
using llvm::StringRef;

const Network *Counts::network(StringRef name) const {
  for (const Network &network : file.analysis.networks)
    if (network.name() == name)
      return &network;
  return nullptr;
}

const Run *Counts::run(llvm::ArrayRef<Run> runs, StringRef path) {
  for (const Run &run : runs) {
    if (run.name() == path)
      return &run;
    if (const Run *job = Counts::run(run.jobs, path))
      return job;
  }
  return nullptr;
}

static std::string costOf(const Figures &figures) {
  return exact(figures.parameters) + " parameters, forward " +
         flop(figures[Phase::Forward].matmul) + ", backward " +
         flop(figures.backward().matmul);
}

static std::string costOf(const Run &run) {
  std::string text;
  if (run.hasStep())
    text = "a step " + flop(run.step().model().matmul);
  if (std::optional<Rational> model = run.modelFlop())
    text += (text.empty() ? "" : ", in all ") + inFlop(*model);
  if (std::optional<Rational> bytes = run.memoryPerDevice())
    text += ", memory " + inBytes(*bytes);
  return text;
}

const PartTree *Counts::treeOf(StringRef path) const {
  StringRef name = path.split('.').first;
  if (const Network *owner = network(name))
    return &owner->parts;
  const Run *owner = run(file.analysis.runs, name);
  return owner ? &owner->parts : nullptr;
}

std::string Counts::costOf(StringRef path) const {
  if (const Run *named = run(file.analysis.runs, path))
    return ::costOf(*named);
  const PartTree *tree = treeOf(path);
  const Part *found = tree && !tree->parts.empty()
                          ? tree->find(path.split('.').second)
                          : nullptr;
  return found ? ::costOf(found->figures) : "";
}

/// The names behind the first in a path.
static std::vector<std::string> membersIn(StringRef path) {
  llvm::SmallVector<StringRef> split;
  path.split('.').second.split(split, '.', -1, /*KeepEmpty=*/false);
  return {split.begin(), split.end()};
}

std::string Counts::valueOf(StringRef path) const {
  std::vector<std::string> members = membersIn(path);
  Query query{"", members, {}, {}};
  StringRef name = path.split('.').first;
  const Network *owner = network(name);
  const Run *named = owner ? nullptr : run(file.analysis.runs, name);
  if (!owner && !named)
    return "";
  auto found = owner ? answer(*owner, query) : answer(*named, query);
  auto *value = std::get_if<Quantity>(&found);
  if (!value)
    return "";
  if (value->unit == "FLOP")
    return inFlop(value->value);
  if (value->unit == "bytes")
    return inBytes(value->value);
  std::string number = value->value.isInteger()
                           ? exact(value->value)
                           : fmt::format("{:.4g}", value->value.toDouble());
  return value->unit.empty() ? number : number + " " + value->unit.str();
}

std::vector<std::string> Counts::figuresOf(StringRef path) const {
  StringRef name = path.split('.').first;
  std::vector<std::string> members = membersIn(path);
  if (const Network *owner = network(name))
    return membersOf(*owner, members);
  const Run *owner = run(file.analysis.runs, name);
  return owner ? membersOf(*owner, members) : std::vector<std::string>();
}

std::vector<std::string> Counts::partsOf(StringRef path) const {
  const PartTree *tree = treeOf(path);
  if (!tree || tree->parts.empty())
    return {};
  const Part *part = &tree->root();
  for (const std::string &component : membersIn(path)) {
    if (!part)
      break;
    // Of equal copies, the first says what is in them.
    bool isCopy = llvm::all_of(component, llvm::isDigit);
    const unsigned *child = llvm::find_if(part->children, [&](unsigned i) {
      return tree->parts[i].name() == (isCopy ? "0" : component);
    });
    part = child == part->children.end() ? nullptr : &tree->parts[*child];
  }
  std::vector<std::string> names;
  if (part)
    for (unsigned child : part->children)
      if (!llvm::isDigit(tree->parts[child].name().front()))
        names.push_back(tree->parts[child].name().str());
  return names;
}
