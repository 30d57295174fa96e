// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_SWEEPPLANNER_H
#define NETC_FRONTEND_SWEEPPLANNER_H

#include "lib/Frontend/RunBuilder.h"

namespace netc {

/// Plans the points of the sweeps of runs, and elaborates runs there and at the
/// ends of their ranges.
class SweepPlanner {
public:
  explicit SweepPlanner(Evaluator &e) : e(e) {}

  /// Reports what is wrong with the sweep of a run that has been elaborated as
  /// written.
  void check(NetParser::JobContext *job);
  /// See Specification::sweep and Specification::corners.
  std::optional<std::vector<SweepPoint>> points(llvm::StringRef run);
  std::optional<std::vector<SweepPoint>> corners(llvm::StringRef run);

private:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  /// What the sweep of a run varies, each name over its values.
  struct Sweep {
    Tree *tree = nullptr;                    ///< null without a sweep
    std::vector<std::vector<Varied>> varied; ///< by name
    size_t points = 1;
  };

  /// The names that a sweep of the run may vary.
  std::vector<std::string> sweepable(NetParser::JobContext *job);
  /// Whether a value that is read where it is used names a `between`.
  bool hasRange(Expr *expr);
  void failRange(Expr *expr);
  /// The points along one name; empty after an error.
  std::vector<Varied> pointsOf(NetParser::VariedContext *each,
                               NetParser::JobContext *job);
  /// None after errors. The run has been elaborated as written.
  std::optional<Sweep> sweepOf(NetParser::JobContext *job);
  /// Whether `name` may change what a step of the run does, and not only how
  /// long it goes on, at which sizes and on what.
  bool isStructural(llvm::StringRef name, NetParser::JobContext *job);
  /// Elaborates the run with what the point sets; its facts alone, if what it
  /// does is the same there.
  SweepPoint elaborateAt(const Point &point, NetParser::JobContext *job,
                         Tree *at, bool isFacts);
  /// The run at the ends of its ranges, with what the point sets.
  std::vector<SweepPoint> cornersAt(const Point &point,
                                    NetParser::JobContext *job);

  Evaluator &e;
};

} // namespace netc

#endif // NETC_FRONTEND_SWEEPPLANNER_H
