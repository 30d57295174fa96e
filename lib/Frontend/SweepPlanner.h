// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_SWEEPPLANNER_H
#define NETC_LIB_FRONTEND_SWEEPPLANNER_H

#include "lib/Frontend/RunBuilder.h"

namespace netc {

/// Plans the points of the sweeps of runs. Elaborates runs at these points and
/// at the ends of their ranges.
class SweepPlanner {
public:
  explicit SweepPlanner(Evaluator &e) : e(e) {}

  /// Reports errors in the sweep of a run that has been elaborated as written.
  void check(NetParser::JobContext *job);
  /// See Specification::sweep, sweptSteps and corners.
  std::optional<std::vector<SweepPoint>> points(llvm::StringRef run);
  std::optional<std::vector<SweepPoint>> stepsAtPoints(llvm::StringRef run,
                                                       bool variesBatch);
  std::optional<std::vector<SweepPoint>> corners(llvm::StringRef run);

private:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  /// The names that a sweep varies, each with its values.
  struct Sweep {
    Tree *tree = nullptr;                    ///< null without a sweep
    std::vector<std::vector<Varied>> varied; ///< by name
    size_t points = 1;
  };

  /// The names that a sweep of the run may vary.
  std::vector<std::string> sweepable(NetParser::JobContext *job);
  /// Whether a value that is evaluated where it is used refers to a `between`.
  bool hasRange(Expr *expr);
  void failRange(Expr *expr);
  /// The points along one name. Empty after an error.
  std::vector<Varied> pointsOf(NetParser::VariedContext *each,
                               NetParser::JobContext *job);
  /// The sweep of a run that has been elaborated as written. None after errors.
  std::optional<Sweep> sweepOf(NetParser::JobContext *job);
  /// Whether `name` may change the computation of a step, and not only the
  /// duration, sizes and hardware.
  bool isStructural(llvm::StringRef name, NetParser::JobContext *job);
  /// Calls `elaborate` for the sweep of a run. Empty without a sweep, none
  /// after an error.
  std::optional<std::vector<SweepPoint>> elaborateSweep(
      llvm::StringRef run,
      llvm::function_ref<std::vector<SweepPoint>(Sweep &,
                                                 NetParser::JobContext *)>
          elaborate);
  /// Elaborates the run at all points; with `hasCorners`, at the ends of its
  /// ranges, too.
  std::vector<SweepPoint> elaborateAll(const Sweep &sweep,
                                       NetParser::JobContext *job, bool isFacts,
                                       bool hasCorners);
  /// Elaborates the run at a point. With `isFacts`, only facts, since the
  /// computation is the same there.
  SweepPoint elaborateAt(const Point &point, NetParser::JobContext *job,
                         Tree *at, bool isFacts);
  /// The run at the ends of its ranges, for one point.
  std::vector<SweepPoint> cornersAt(const Point &point,
                                    NetParser::JobContext *job);

  Evaluator &e;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_SWEEPPLANNER_H
