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

Counts::Owner Counts::ownerOf(StringRef path) const {
  auto [name, rest] = path.split('.');
  for (const Network &network : file.analysis.networks)
    if (network.name() == name)
      return {&network, nullptr, rest};
  Owner owner;
  for (llvm::ArrayRef<Run> runs = file.analysis.runs;;) {
    const Run *found = llvm::find_if(
        runs, [&](const Run &run) { return run.shortName() == name; });
    if (found == runs.end())
      return owner;
    owner = {nullptr, found, rest};
    runs = found->jobs;
    std::tie(name, rest) = rest.split('.');
  }
}

/// Of one of so many equal copies.
static std::string costOf(const Figures &figures, int64_t copies) {
  Rational share = Rational(1) / copies;
  const Cost model = figures.model();
  if (figures.parameters.isZero() && model.matmul.isZero())
    return "other " + flop(model.other * share);
  return exact(figures.parameters * share) + " parameters, forward " +
         flop(figures[Phase::Forward].matmul * share) + ", backward " +
         flop(figures.backward().matmul * share);
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

/// The child of a part with this name. The first of equal copies represents the
/// others.
static const Part *childOf(const PartTree &tree, const Part &part,
                           StringRef name) {
  const Part *found = nullptr;
  uint64_t number, other;
  bool isCopy = !name.getAsInteger(10, number);
  for (unsigned index : part.children) {
    const Part &child = tree.parts[index];
    if (child.name() == name)
      return &child;
    if (isCopy && !child.name().getAsInteger(10, other) && other < number)
      found = &child;
  }
  return found;
}

Counts::PartOfCopies Counts::partAt(StringRef path) const {
  Owner owner = ownerOf(path);
  const PartTree *tree = owner.network ? &owner.network->parts
                         : owner.run   ? &owner.run->parts
                                       : nullptr;
  if (!tree || tree->parts.empty())
    return {};
  PartOfCopies found{tree, &tree->root(), 1};
  for (StringRef name, rest = owner.rest; !rest.empty();) {
    std::tie(name, rest) = rest.split('.');
    found.part = childOf(*tree, *found.part, name);
    if (!found.part)
      return {};
    found.copies *= found.part->copies;
  }
  return found;
}

std::string Counts::costOf(StringRef path) const {
  Owner owner = ownerOf(path);
  if (owner.run && owner.rest.empty())
    return ::costOf(*owner.run);
  PartOfCopies found = partAt(path);
  if (!found.part)
    return "";
  // A network states its own inputs.
  std::string shapes = owner.rest.empty() ? "" : shapesOf(*found.part);
  return (shapes.empty() ? "" : "shape " + shapes + ", ") +
         ::costOf(found.part->figures, found.copies);
}

/// The components of a path.
static std::vector<std::string> membersIn(StringRef path) {
  llvm::SmallVector<StringRef> split;
  path.split(split, '.', -1, /*KeepEmpty=*/false);
  return {split.begin(), split.end()};
}

std::string Counts::valueOf(StringRef path) const {
  Owner owner = ownerOf(path);
  std::vector<std::string> members = membersIn(owner.rest);
  Query query{"", members, {}, {}};
  if (!owner.network && !owner.run)
    return "";
  auto found =
      owner.network ? answer(*owner.network, query) : answer(*owner.run, query);
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
  Owner owner = ownerOf(path);
  std::vector<std::string> members = membersIn(owner.rest);
  if (owner.network)
    return membersOf(*owner.network, members);
  return owner.run ? membersOf(*owner.run, members)
                   : std::vector<std::string>();
}

std::vector<std::string> Counts::partsOf(StringRef path) const {
  PartOfCopies found = partAt(path);
  std::vector<std::string> names;
  if (found.part)
    for (unsigned child : found.part->children)
      if (StringRef name = found.tree->parts[child].name();
          !llvm::isDigit(name.front()))
        names.push_back(name.str());
  return names;
}
