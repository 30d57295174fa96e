// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Writers.h"

#include <fmt/format.h>
#include <set>

using namespace netc;
using llvm::StringRef;

/// The figure that a warning is shown beside.
static Beside figureOf(const Warning &warning) {
  for (const WarningTraits &known : warningTraits)
    if (warning.id == known.id)
      return known.figure;
  return Beside::Compute;
}

std::string netc::textOf(const Warning &warning) {
  return warning.text + (warning.id.empty() ? "" : " [-W" + warning.id + "]");
}

void netc::addWarnings(Lines &lines, const Run &run, Beside figure,
                       llvm::ArrayRef<Warning> warnings) {
  forEachRun(run, [&](const Run &part) {
    for (const Warning &warning : warnings)
      if (warning.about == part.name() && figureOf(warning) == figure)
        lines.add("warning", textOf(warning), Style::Bad);
  });
}

void netc::writeOtherWarnings(Page &page, const Report &report) {
  std::set<StringRef> shown;
  for (const Network *network : report.networks)
    shown.insert(network->name());
  for (const RunReport &run : report.runs)
    forEachRun(*run.run, [&](const Run &part) { shown.insert(part.name()); });
  Lines lines;
  for (const Warning &warning : report.warnings)
    if (!shown.count(warning.about))
      lines.add(fmt::format("{}:{}", warning.file, warning.line),
                textOf(warning), Style::Bad);
  if (lines.asGrid().lines().empty() || shown.empty())
    return;
  page.section("warnings", "");
  page.lines(lines);
}
