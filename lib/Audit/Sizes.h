// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_SIZES_H
#define NETC_LIB_AUDIT_SIZES_H

#include "lib/Audit/Match.h"

namespace netc::audit {

/// What a shape in a trace says of one in the specification, where the order of
/// axes does not matter.
enum class Told {
  Nothing, ///< another operand, or axes of the specification are one axis
  Same,    ///< the same axes, or more of them that are parts of those
  Other    ///< as many elements, and other axes
};
Told compareShapes(llvm::ArrayRef<int64_t> specified,
                   llvm::ArrayRef<int64_t> traced);

/// What the shapes of the operands of a match say of each other.
Told compareOperands(llvm::ArrayRef<SpecifiedProduct> specified,
                     llvm::ArrayRef<TracedProduct> traced, const Match &match);

/// The first size of a match with equal FLOP that is another in the trace:
/// `reads examples of 8 x 2 x 2, in the run 8 x 4 x 4`. None if there is none,
/// or if the sizes are not known.
std::optional<std::string>
otherSizeIn(llvm::ArrayRef<SpecifiedProduct> specified,
            llvm::ArrayRef<TracedProduct> traced, const Match &match);

/// Whether a shape in the step has the number of examples as an axis. Where
/// examples are rows of a matrix, with positions, other sizes have as many
/// rows.
bool tellsExamples(const trace::Trace &trace, const TracedStep &step,
                   llvm::ArrayRef<SpecifiedProduct> specified,
                   llvm::ArrayRef<Match> matches);

/// The sizes of free axes for which most forward products have the FLOP and the
/// sizes of the trace. The specification's sizes win ties. Sizes in `fixed` are
/// kept.
Sizes findSizes(const SpecifiedStep &step, const trace::Trace &trace,
                const TracedStep &traced, const Sizes &fixed);

/// Another axis that has its size from the trace, as the batch has, and may as
/// well be the batch: no shape tells which of the two has the examples.
std::optional<std::string> axisLikeExamples(const SpecifiedStep &step,
                                            const trace::Trace &trace,
                                            const TracedStep &traced,
                                            const Sizes &sizes);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_SIZES_H
