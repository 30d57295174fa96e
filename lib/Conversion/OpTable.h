// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_OPTABLE_H
#define NETC_LIB_CONVERSION_OPTABLE_H

#include "dialect/NetAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

class StepOp;

/// Numbers the ops of a step with bound axes. Each op's number is put into its
/// location, and an OpRowAttr into the module's list.
void numberOps(StepOp step);

/// The number of the net op in a location; none if it belongs to no op.
std::optional<unsigned> opNumberOf(mlir::Location loc);

} // namespace netc

#endif // NETC_LIB_CONVERSION_OPTABLE_H
