// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CODEGEN_PRINTSCHEDULE_H
#define NETC_LIB_CODEGEN_PRINTSCHEDULE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace netc {

/// Emits a remark with the schedule that a target chose for `op`, if it chose
/// one.
template <typename Schedule>
void printSchedule(mlir::Operation *op,
                   const std::optional<Schedule> &schedule) {
  if (!schedule)
    return;
  std::string text;
  llvm::raw_string_ostream(text) << *schedule;
  mlir::emitRemark(op->getLoc()) << text;
}

} // namespace netc

#endif // NETC_LIB_CODEGEN_PRINTSCHEDULE_H
