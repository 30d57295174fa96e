// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DIAGNOSTICS_DIAGNOSTICS_H
#define NETC_LIB_DIAGNOSTICS_DIAGNOSTICS_H

#include "lib/Diagnostics/Errors.h"
#include "lib/Diagnostics/Warnings.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace netc {

/// A location with the id of a diagnostic and the name of the network or run
/// that it is about. MLIR's diagnostics have no field for them.
inline mlir::Location withId(mlir::Location at, llvm::StringRef id,
                             llvm::StringRef about = "") {
  mlir::Builder builder(at.getContext());
  return mlir::FusedLoc::get(at.getContext(), {at},
                             builder.getStrArrayAttr({id, about}));
}

/// The id of a diagnostic and the network or run that it is about. Both are
/// empty if `at` is not from withId().
inline std::pair<llvm::StringRef, llvm::StringRef>
idAndSubject(mlir::Location at) {
  auto marked = at->findInstanceOf<mlir::FusedLocWith<mlir::ArrayAttr>>();
  if (!marked)
    return {};
  auto texts = marked.getMetadata().getAsValueRange<mlir::StringAttr>();
  return {*texts.begin(), *std::next(texts.begin())};
}

inline mlir::InFlightDiagnostic emitError(mlir::Location at,
                                          const Message &message) {
  return mlir::emitError(withId(at, message.id), message.text);
}
template <unsigned holes, typename... Args>
mlir::InFlightDiagnostic emitError(mlir::Location at,
                                   const error::Text<holes> &error,
                                   const Args &...args) {
  return emitError(at, error(args...));
}

/// Warns at `at`. `about` is the network or run, or empty.
inline mlir::InFlightDiagnostic warn(mlir::Location at, llvm::StringRef about,
                                     WarningId id) {
  return mlir::emitWarning(withId(at, warningTraits[int(id)].id, about));
}

} // namespace netc

#endif // NETC_LIB_DIAGNOSTICS_DIAGNOSTICS_H
