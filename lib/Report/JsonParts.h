// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_JSONPARTS_H
#define NETC_LIB_REPORT_JSONPARTS_H

#include "lib/Diagnostics/Warnings.h"
#include "lib/Frontend/Verdict.h"
#include "llvm/Support/JSON.h"

namespace netc {

/// Writes an exact number of any size, or null.
void number(llvm::json::OStream &json, llvm::StringRef key,
            const std::optional<Rational> &value);
/// Writes an estimate, rounded to six digits, or null.
void estimate(llvm::json::OStream &json, llvm::StringRef key,
              const std::optional<Rational> &value);
/// Writes an `expect` and whether it holds.
void expect(llvm::json::OStream &json, const Verdict &verdict);
void warning(llvm::json::OStream &json, const Warning &warning);

} // namespace netc

#endif // NETC_LIB_REPORT_JSONPARTS_H
