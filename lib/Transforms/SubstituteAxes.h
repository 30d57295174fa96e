// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRANSFORMS_SUBSTITUTEAXES_H
#define NETC_LIB_TRANSFORMS_SUBSTITUTEAXES_H

#include "dialect/Polynomial.h"
#include "mlir/IR/Operation.h"
#include <functional>
#include <optional>

namespace netc {

/// Replaces free axes by their sizes in the types and attributes of `op` and of
/// the ops in it. An axis for which `size` returns nothing stays.
void substituteAxes(
    mlir::Operation *op,
    std::function<std::optional<Polynomial>(llvm::StringRef axis)> size);

} // namespace netc

#endif // NETC_LIB_TRANSFORMS_SUBSTITUTEAXES_H
