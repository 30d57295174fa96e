// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Writers.h"

#include "llvm/ADT/StringSwitch.h"

#include <fmt/format.h>
#include <set>

using namespace netc;
using llvm::StringRef;

static Beside figureOf(const Warning &warning) {
  return llvm::StringSwitch<Beside>(warning.id)
      .Cases("released-later", "no-device-time", "no-peak", "changed-run",
             Beside::ComputeByTime)
      .Case("methods-apart", Beside::Comparison)
      .Cases("impossible-time", "jobs-took-longer", Beside::Utilization)
      .Case("unknown-placement", Beside::Memory)
      .Default(Beside::Compute);
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
