// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_NETENUMS_H
#define NETC_DIALECT_NETENUMS_H

#include "mlir/IR/DialectImplementation.h"

#include "dialect/NetEnums.h.inc"

#endif // NETC_DIALECT_NETENUMS_H
