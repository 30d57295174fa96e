// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRANSFORMS_CHECKSIZES_H
#define NETC_LIB_TRANSFORMS_CHECKSIZES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace netc {

/// Infers or verifies every op of a network or step again, with the free axes
/// bound to their sizes in `axes`. Fails with an error at the first op that
/// cannot have its sizes, and a note at `run`, which states them.
mlir::LogicalResult checkSizes(mlir::Operation *graph,
                               mlir::DictionaryAttr axes, mlir::Location run);

} // namespace netc

#endif // NETC_LIB_TRANSFORMS_CHECKSIZES_H
