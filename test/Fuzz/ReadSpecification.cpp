// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Fuzz/ReadSpecification.h"

#include "lib/Diagnostics/Activity.h"
#include "lib/Driver/Estimate.h"
#include "lib/Frontend/Formatter.h"
#include "lib/Frontend/Parser.h"
#include "test/Fuzz/ReadAnything.h"
#include "llvm/Support/Regex.h"

using namespace netc;

std::vector<Fault>
readSpecification(llvm::StringRef text, llvm::StringRef path,
                  llvm::function_ref<void(const Session &, CountedFile)> use) {
  Activity activity("reading", text);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  DiagnosticPrinter printer(&context, llvm::nulls());
  std::vector<Fault> faults;
  mlir::ScopedDiagnosticHandler keep(&context, [&](mlir::Diagnostic &each) {
    auto place = each.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
    if (each.getSeverity() == mlir::DiagnosticSeverity::Error)
      faults.push_back({place ? place.getLine() : 0, each.str()});
    return mlir::failure(); // the printer gets it, too
  });
  FrontendOptions options;
  // A short text may expand up to the limits, and a report lists all of it.
  if (use) {
    options.limits.maxOps = 20'000;
    options.limits.maxSweepPoints = 300;
  }
  options.bufferOf = [&](llvm::StringRef read) -> std::optional<std::string> {
    return read == path ? std::optional(text.str()) : std::nullopt;
  };
  Progress progress(std::chrono::hours(1));
  Session session(context, std::move(options), progress, printer);
  std::optional<CountedFile> file = countFile(session, path);
  if (file && use)
    use(session, std::move(*file));
  return faults;
}

/// The elaborated specification as text, without places in the file.
static std::string elaborated(const CountedFile &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  file.specification->module().print(os);
  const llvm::Regex places("places = \\{[^}]*\\}|#loc[0-9]* = loc\\([^)]*\\)");
  std::string rest;
  for (llvm::SmallVector<llvm::StringRef> found; places.match(text, &found);) {
    size_t begin = found[0].data() - text.data(), size = found[0].size();
    rest += text.substr(0, begin);
    text.erase(0, begin + size);
  }
  return rest + text;
}

/// Checks that formatting again changes nothing, and that it keeps the meaning.
static void format(llvm::StringRef text, const std::string &before) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string once =
      formatted(text, parse(&context, "text.net", text, {})->tree());
  std::string twice =
      formatted(once, parse(&context, "text.net", once, {})->tree());
  if (once != twice)
    llvm::report_fatal_error("formatted again, a text changes");
  std::string after;
  readSpecification(once, "text.net",
                    [&](const Session &, const CountedFile &file) {
                      after = elaborated(file);
                    });
  if (before != after)
    llvm::report_fatal_error("formatted, a text means something else");
}

bool reportSpecification(llvm::StringRef bytes) {
  using flags::Action, flags::Format;
  std::string before;
  auto report = [&](const Session &session, CountedFile file) {
    before = elaborated(file);
    std::vector<CountedFile> files;
    files.push_back(std::move(file));
    for (Format each : {Format::Table, Format::Json, Format::Csv,
                        Format::Markdown, Format::Html})
      for (bool isSymbolic : {false, true}) {
        flags::format = each;
        flags::symbolic = isSymbolic;
        printReport(llvm::nulls(), session, files);
      }
  };
  readSpecification(bytes, "text.net", report);
  if (before.empty())
    return false;
  format(bytes, before);
  return true;
}
