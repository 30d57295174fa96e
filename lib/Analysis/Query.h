// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_QUERY_H
#define NETC_LIB_ANALYSIS_QUERY_H

#include "lib/Analysis/Analysis.h"
#include "lib/Diagnostics/Errors.h"

#include <variant>

namespace netc {

/// A number in base units.
struct Quantity {
  Rational value;
  /// `FLOP`, `bytes`, `s`, `device*s`, `steps`, `examples`, `tokens`, `epochs`;
  /// empty for a plain number.
  llvm::StringRef unit;
};

/// A figure by its name, as in an `expect`.
struct Query {
  /// The path of a part of the network; empty for all of it.
  llvm::StringRef part;
  /// The components after the subject: {"compute", "forward"}.
  llvm::ArrayRef<std::string> members;
  /// Parts given as arguments, `params(tables)`, whose figures are added.
  llvm::ArrayRef<std::string> parts;
  /// Named numbers of the query, in base units.
  llvm::ArrayRef<std::pair<std::string, Rational>> numbers;
};

/// The parts that a query names, or the root if it names none. Returns an error
/// if one does not exist, or is inside another one. `owner` is the name of the
/// root.
std::variant<std::vector<const Part *>, Message>
findParts(const PartTree &tree, llvm::StringRef owner, const Query &query);

/// The answer to a query about a network or a run. An error names an unknown
/// member and a similar one, or a missing key of the specification. FLOP and
/// bytes are exact, in the conventions of the network or run.
///
/// Networks have `params[.trainable .frozen .active]`, `forward`,
/// `backward[.input .weight]` of one example, and `activations`. Runs have
/// `steps`, `batch`, `examples`, `tokens`, `epochs`; `step` and `compute` (all
/// steps) `[.forward .backward .update .recompute .hardware]`;
/// `compute.by_time`, and `compute.rule_of_three`, three times the forward
/// pass; `memory_per_device[.weights .gradients .optimizer .activations
/// .constants]`; `bytes`, moved in a step; `time`, `device_time`,
/// `utilization[.hardware]`. Jobs of a run are addressed by name:
/// `run.critic.steps`. A FLOP figure is its matmul part, unless `.other`,
/// `.transcendental` or `.total` follows.
std::variant<Quantity, Message> answer(const Network &network,
                                       const Query &query);
std::variant<Quantity, Message> answer(const Run &run, const Query &query);

/// The names that may follow `members` in a query: after {"step", "backward"},
/// `input`, `weight` and others. Empty after members that are not a figure.
std::vector<std::string> membersOf(const Network &network,
                                   llvm::ArrayRef<std::string> members);
std::vector<std::string> membersOf(const Run &run,
                                   llvm::ArrayRef<std::string> members);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_QUERY_H
