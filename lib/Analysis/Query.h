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

/// The parts that a query is about, the root if it names none. An error if one
/// is not known, or lies in another. `owner` is the name of the root.
std::variant<std::vector<const Part *>, Message>
findParts(const PartTree &tree, llvm::StringRef owner, const Query &query);

/// The answer, or an error: the name that is not known and a similar one, or
/// the key of the specification that is missing.
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

/// The names that may follow `members` in a query: `input` and `weight` behind
/// {"step", "backward"}, and others. None behind what is no figure.
std::vector<std::string> membersOf(const Network &network,
                                   llvm::ArrayRef<std::string> members);
std::vector<std::string> membersOf(const Run &run,
                                   llvm::ArrayRef<std::string> members);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_QUERY_H
