// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Schedules.h"

#include "lib/Conversion/OpTable.h"

using namespace netc;
using namespace mlir;

LogicalResult netc::printSchedules(PassManager &passes, ModuleOp module,
                                   llvm::raw_ostream &os) {
  auto rows = module->getAttrOfType<ArrayAttr>(OpRowAttr::kOfModule);
  auto print = [&](Diagnostic &schedule) {
    if (schedule.getSeverity() != DiagnosticSeverity::Remark)
      return failure();
    if (auto number = opNumberOf(schedule.getLocation())) {
      auto row = cast<OpRowAttr>(rows[*number]);
      os << row.getName() << ' ' << stringifyPhase(row.getPhase()) << ": ";
    }
    os << schedule << '\n';
    return success();
  };
  ScopedDiagnosticHandler handler(module.getContext(), print);
  return passes.run(module);
}
