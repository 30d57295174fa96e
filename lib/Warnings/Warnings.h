// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_WARNINGS_WARNINGS_H
#define NETC_LIB_WARNINGS_WARNINGS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <string>

namespace netc {

/// The figure of a run that a warning is about.
enum class Beside { Compute, ComputeByTime, Comparison, Utilization, Memory };

enum class WarningId {
#define WARNING(enumerator, id, figure, meaning) enumerator,
#include "lib/Warnings/Warnings.def"
};

struct WarningTraits {
  const char *id;
  Beside figure;
};
constexpr WarningTraits warningTraits[] = {
#define WARNING(enumerator, id, figure, meaning) {id, Beside::figure},
#include "lib/Warnings/Warnings.def"
};

/// A warning as reports show it.
struct Warning {
  std::string id;    ///< `impossible-time`; shown as `[-Wimpossible-time]`
  std::string about; ///< the network or the run; empty if it is neither
  std::string file;  ///< as printed in diagnostics; may be empty
  unsigned line = 0; ///< 1-based; 0 without a file
  std::string text;
};

/// Warns at a place of a network or run, or of neither. Diagnostics have no
/// room for the id and for what it is about, so the location carries both.
inline mlir::InFlightDiagnostic warn(mlir::Location at, llvm::StringRef about,
                                     WarningId id) {
  mlir::Builder builder(at.getContext());
  return mlir::emitWarning(mlir::FusedLoc::get(
      at.getContext(), {at},
      builder.getStrArrayAttr({warningTraits[int(id)].id, about})));
}

/// The id of a warning and what it is about; empty if it has none.
inline std::pair<llvm::StringRef, llvm::StringRef>
idAndSubject(mlir::Location at) {
  auto marked = at->findInstanceOf<mlir::FusedLocWith<mlir::ArrayAttr>>();
  if (!marked)
    return {};
  auto texts = marked.getMetadata().getAsValueRange<mlir::StringAttr>();
  return {*texts.begin(), *std::next(texts.begin())};
}

} // namespace netc

#endif // NETC_LIB_WARNINGS_WARNINGS_H
