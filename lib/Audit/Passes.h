// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_PASSES_H
#define NETC_LIB_AUDIT_PASSES_H

#include "lib/Audit/SpecifiedStep.h"

namespace netc::audit {

/// A forward pass of a step with its backward pass.
struct Pass {
  std::vector<unsigned> products; ///< indices, in order
  bool isEvaluation =
      false; ///< without a backward pass, beside others with one
};

/// The passes of a step. There are several if gradients of micro-batches are
/// accumulated, or if it evaluates: their forward products are the same, or all
/// of the same part of the first one's FLOP, as of a smaller last micro-batch.
/// Those of a pipeline may overlap: then they are as many as the run
/// accumulates, told apart by the numbers of autograd. Else all is one pass.
std::vector<Pass> passesOf(llvm::ArrayRef<TracedProduct> traced,
                           const SpecifiedStep &own);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_PASSES_H
