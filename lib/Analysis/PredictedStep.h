// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_PREDICTEDSTEP_H
#define NETC_LIB_ANALYSIS_PREDICTEDSTEP_H

#include "lib/Analysis/Run.h"

namespace netc {

/// An op of a predicted step. All executions in a loop, or for the parts of a
/// batch, are one op.
struct PredictedOp {
  mlir::Operation *op;
  Phase phase;
  /// FLOP of products that it executes, 2 for a multiply-add.
  int64_t flop;
  int64_t nanoseconds;
};

/// One step of a run on the device with the largest share of the batch, in the
/// order of the program. Views, weights, buffers and constants are left out. A
/// product takes its counted FLOP / the peak of its format. Every other op
/// takes 1 ns, the shortest event of a trace, since an empty event would be
/// inside no range. Fails, with an error, without a peak or the size of an
/// axis.
mlir::FailureOr<std::vector<PredictedOp>> predictStep(const Run &run);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_PREDICTEDSTEP_H
