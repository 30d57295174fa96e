// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_PLACE_H
#define NETC_DIALECT_PLACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace netc {

/// Where a net.step or net.job is given `key`, if that is noted, or the run.
inline mlir::Location placeOf(mlir::Operation *run, llvm::StringRef key) {
  auto settings = run->getAttrOfType<mlir::DictionaryAttr>("run");
  auto place = settings.getAs<mlir::LocationAttr>((key + "_at").str());
  return place ? mlir::Location(place) : run->getLoc();
}

} // namespace netc

#endif // NETC_DIALECT_PLACE_H
