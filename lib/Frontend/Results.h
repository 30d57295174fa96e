// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_RESULTS_H
#define NETC_LIB_FRONTEND_RESULTS_H

#include "dialect/Polynomial.h"
#include "lib/Diagnostics/Errors.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace netc {

/// A question of an `expect`: `R.compute.forward`, `M.params(layer[0].conv)`,
/// `r.compute.by_time(utilization = 30%)`.
struct Question {
  /// The net.network or net.step at the start of the path.
  mlir::Operation *subject;
  /// The instance path of a part of the network, such as `layer1.0.conv1`;
  /// empty for the whole network.
  std::string part;
  /// The members, outermost first: {"compute", "forward"}.
  std::vector<std::string> members;
  /// The instance paths in the arguments, as in `params(tables)`.
  std::vector<std::string> parts;
  /// The named numbers in the arguments, in base units.
  std::vector<std::pair<std::string, Rational>> numbers;
  /// The corner of the run; none for the run as written.
  std::optional<size_t> corner;
  /// Which of the run's traces is meant.
  size_t trace = 0;
};

/// A number in base units: FLOP, bytes, seconds, FLOP/s, steps, examples,
/// tokens, epochs. The unit is empty for a plain number.
struct Answer {
  Rational value;
  llvm::StringRef unit;
};

/// Answers questions from the analyses of the finished IR. An error says what
/// was asked and what exists instead.
class Results {
public:
  virtual ~Results() = default;
  /// The files that `r.trace` of the run `r` can be asked of.
  virtual std::vector<std::string> tracesOf(mlir::Operation *run) const {
    return {};
  }
  /// Whether there are traces, be they of other runs.
  virtual bool haveTraces() const { return false; }
  virtual std::variant<Answer, Message> ask(const Question &) const = 0;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_RESULTS_H
