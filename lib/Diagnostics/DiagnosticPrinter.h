// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DIAGNOSTICS_DIAGNOSTICPRINTER_H
#define NETC_LIB_DIAGNOSTICS_DIAGNOSTICPRINTER_H

#include "lib/Diagnostics/Warnings.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"

namespace netc {

enum class DiagnosticFormat {
  Text, ///< clang's layout, with the source line and a caret
  Json, ///< one object per line
};

/// Prints the diagnostics of a context while it lives. The position of a
/// compound location is that of its innermost FileLineColLoc. Columns count
/// characters. A diagnostic with the position and text of an earlier one is
/// dropped.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  /// Prints to `os`. After `maxErrors` errors nothing more is printed, and
  /// after `maxWarnings` warnings no more warnings. The destructor prints how
  /// many there were.
  DiagnosticPrinter(mlir::MLIRContext *context, llvm::raw_ostream &os,
                    unsigned maxErrors = 20, unsigned maxWarnings = 100,
                    bool colour = false,
                    DiagnosticFormat format = DiagnosticFormat::Text);
  ~DiagnosticPrinter();

  /// Adds the text of the file `path`, so that diagnostics can show its lines.
  /// The text is copied.
  void addSource(llvm::StringRef path, llvm::StringRef text);

  /// The distinct warnings so far, including those that were not printed.
  llvm::ArrayRef<Warning> warnings() const { return warned; }

private:
  void keep(const mlir::Diagnostic &warning);
  void print(const mlir::Diagnostic &diagnostic);
  void printJson(const mlir::Diagnostic &diagnostic);
  void printExcerpt(mlir::FileLineColLoc place);
  void printTotal(size_t number, unsigned shown, llvm::StringRef kind);

  llvm::raw_ostream &os;
  const unsigned maxErrors, maxWarnings;
  const bool colour;
  const DiagnosticFormat format;
  /// Distinct errors, including those that were not printed.
  unsigned errors = 0;
  llvm::SourceMgr texts;
  /// The number of each file in `texts`, by path.
  llvm::StringMap<unsigned> sources;
  llvm::StringSet<> printed;
  std::vector<Warning> warned;
};

} // namespace netc

#endif // NETC_LIB_DIAGNOSTICS_DIAGNOSTICPRINTER_H
