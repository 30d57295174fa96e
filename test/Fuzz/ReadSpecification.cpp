// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Fuzz/ReadSpecification.h"

#include "lib/Diagnostics/Activity.h"
#include "lib/Driver/CountedFile.h"
#include "lib/Driver/Session.h"

using namespace netc;

std::vector<Fault> readSpecification(llvm::StringRef text,
                                     llvm::StringRef path) {
  Activity activity("reading", text);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  DiagnosticPrinter printer(&context, llvm::nulls());
  std::vector<Fault> faults;
  mlir::ScopedDiagnosticHandler keep(&context, [&](mlir::Diagnostic &each) {
    auto place = each.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
    if (each.getSeverity() == mlir::DiagnosticSeverity::Error)
      faults.push_back({place ? place.getLine() : 0, each.str()});
    return mlir::failure(); // the printer takes it, too
  });
  FrontendOptions options;
  options.bufferOf = [&](llvm::StringRef read) -> std::optional<std::string> {
    return read == path ? std::optional(text.str()) : std::nullopt;
  };
  Progress progress(std::chrono::hours(1));
  Session session(context, std::move(options), progress, printer);
  countFile(session, path);
  return faults;
}
