// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_OPTABLE_H
#define NETC_LIB_CONVERSION_OPTABLE_H

#include "dialect/NetAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace netc {

class StepOp;

/// Numbers the ops of a step with bound axes: the number is put into each op's
/// location, and an OpRowAttr into the list of the module.
void numberOps(StepOp step);

/// The number of the net op that a location says; none for what serves no op.
std::optional<unsigned> opNumberOf(mlir::Location loc);

} // namespace netc

#endif // NETC_LIB_CONVERSION_OPTABLE_H
