// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_ELEMENTNAME_H
#define NETC_DIALECT_ELEMENTNAME_H

#include "mlir/IR/Types.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace netc {

/// An element type as the language writes it: `bool` for MLIR's i1.
inline std::string elementName(mlir::Type element) {
  if (element.isInteger(1))
    return "bool";
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return name;
}

} // namespace netc

#endif // NETC_DIALECT_ELEMENTNAME_H
