// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_PREDICTEDSTEP_H
#define NETC_LIB_ANALYSIS_PREDICTEDSTEP_H

#include "lib/Analysis/Run.h"

namespace netc {

/// An op of a predicted step. What a loop, or the parts of a batch, run several
/// times is one.
struct PredictedOp {
  mlir::Operation *op;
  Phase phase;
  /// FLOP of products that it executes, 2 for a multiply-add.
  int64_t flop;
  int64_t nanoseconds;
};

/// One step of a run on the device with the largest share of the batch, in the
/// order of the program; without views, and what exists before the step. A
/// product takes the FLOP that are counted for it, divided by the peak of its
/// number format. All else takes a nanosecond, the least time that a trace has:
/// what takes none lies inside of nothing. Fails, with an error, without a peak
/// or the size of an axis.
mlir::FailureOr<std::vector<PredictedOp>> predictStep(const Run &run);

/// Examples of a step on that device. Each part of an accumulated batch has
/// whole ones.
Rational examplesPerDevice(const Run &run);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_PREDICTEDSTEP_H
