// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_RESULTS_H
#define NETC_FRONTEND_RESULTS_H

#include "dialect/Polynomial.h"
#include "lib/Diagnostics/Errors.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace netc {

/// What an `expect` reads: `R.compute.forward`, `M.params(layer[0].conv)`,
/// `r.compute.by_time(utilization = 30%)`.
struct Question {
  /// The net.network or net.step that the path starts from.
  mlir::Operation *subject;
  /// The instance path that a part of the network has, such as
  /// `layer1.0.conv1`; empty for the whole.
  std::string part;
  /// The members asked for, outermost first: {"compute", "forward"}.
  std::vector<std::string> members;
  /// Instance paths given as arguments: `params(tables)`.
  std::vector<std::string> parts;
  /// Numbers given by name, in base units.
  std::vector<std::pair<std::string, Rational>> numbers;
  /// Which of the run's corners is meant, and not the run as written.
  std::optional<size_t> corner;
};

/// A number in base units (FLOP, bytes, seconds, FLOP/s, steps, examples,
/// tokens, epochs; empty for a plain number).
struct Answer {
  Rational value;
  llvm::StringRef unit;
};

/// Answers from the analyses of the finished IR. The error says what was
/// asked and what there is instead.
class Results {
public:
  virtual ~Results() = default;
  /// Whether `r.trace` of the run `r` can be asked for.
  virtual bool hasTrace(mlir::Operation *run) const { return false; }
  virtual std::variant<Answer, Message> ask(const Question &) const = 0;
};

} // namespace netc

#endif // NETC_FRONTEND_RESULTS_H
