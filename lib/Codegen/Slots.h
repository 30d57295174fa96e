// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_SLOTS_H
#define NETC_LIB_CODEGEN_SLOTS_H

#include "mlir/IR/Value.h"

namespace netc {

/// The memory that a tensor is read from: a parameter, say, that an update
/// changes in place. Null if it is computed.
mlir::Value slotOf(mlir::Value tensor);

/// Whether `slot` is written between `first` and a later op, which would read
/// what is new.
bool changesBetween(mlir::Value slot, mlir::Operation *first,
                    mlir::Operation *later);

} // namespace netc

#endif // NETC_LIB_CODEGEN_SLOTS_H
