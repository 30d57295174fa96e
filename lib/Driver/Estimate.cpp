// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Estimate.h"

#include "lib/Driver/Output.h"
#include "lib/Report/Csv.h"
#include "lib/Report/Json.h"

using namespace netc;
using namespace netc::flags;

static RunReport reportOf(const Run &run,
                          llvm::ArrayRef<CountedPoint> corners) {
  std::vector<const Run *> atEnds;
  for (const CountedPoint &corner : corners)
    atEnds.push_back(&corner.run);
  return RunReport(run, std::move(atEnds));
}

/// The report of the files.
static Report makeReport(const Session &session,
                         llvm::ArrayRef<CountedFile> files) {
  Report report;
  report.warnings = session.diagnostics.warnings();
  report.version = NETC_VERSION;
  ConventionFlags flags = conventionFlags();
  report.conventions.fma = flags.fma.value_or(report.conventions.fma);
  report.conventions.causal = flags.causal.value_or(report.conventions.causal);
  for (const CountedFile &file : files) {
    if (action != Action::Check) {
      for (const Network &network : file.analysis.networks)
        report.networks.push_back(&network);
      for (const Run &run : file.analysis.runs) {
        RunReport &shown = report.runs.emplace_back(
            reportOf(run, file.corners.at(run.name())));
        for (const CountedPoint &point : file.sweeps.at(run.name())) {
          shown.sweep.push_back(reportOf(point.run, point.corners));
          shown.sweep.back().values = point.point.values;
        }
        shown.plans = file.plans;
      }
    }
    llvm::append_range(report.expects, file.expects);
  }
  return report;
}

void netc::printReport(llvm::raw_ostream &os, const Session &session,
                       llvm::ArrayRef<CountedFile> files) {
  Report report = makeReport(session, files);
  TableOptions options = tableOptions(os);
  if (format == Format::Json)
    return printJson(os, report, symbolic);
  if (format == Format::Csv)
    return printCsv(os, report);
  std::unique_ptr<Page> page = makePage(os);
  if (action == Action::Compare)
    writeDifference(*page, makeReport(session, files.take_front()),
                    makeReport(session, files.take_back()), options);
  else
    writeReport(*page, report, options);
}

Exit netc::estimate(Session &session, PlanRun planRun) {
  if (action == Action::Compare && inputs.size() != 2)
    return complain(WrongUsage, "`--compare` takes two files");
  if (action == Action::Compare &&
      (format == Format::Json || format == Format::Csv))
    return complain(WrongUsage,
                    "`--compare` prints a table, markdown or html; of each "
                    "file alone, `--format` prints the figures for a program");
  if (format == Format::Svg)
    return complain(WrongUsage,
                    "`--format=svg` is for `--measure` and `--audit`");
  if (batches.size() > 1 || (!batches.empty() && !planRun))
    return complain(WrongUsage, "an estimate takes one `--batch`, with "
                                "`--target`, to plan memory for; to count a "
                                "run with other batches, write `--set "
                                "run.batch=64,128`");
  auto &files =
      *new std::vector<CountedFile>; // They must live as long as the context.
  bool listsLayers = action != Action::Check &&
                     (format == Format::Json || format == Format::Csv);
  for (auto [i, path] : llvm::enumerate(inputs)) {
    session.progress.show(double(i) / inputs.size(), "counting `" + path + "`");
    if (std::optional<CountedFile> file =
            listsLayers || planRun ? countFile(session, path, planRun)
                                   : countWhole(session, path))
      files.push_back(std::move(*file));
  }
  session.progress.clear();
  if (files.size() != inputs.size())
    return WrongInput;
  std::vector<Specification *> specifications;
  for (const CountedFile &file : files)
    specifications.push_back(file.specification.get());
  if (!areKnown(specifications))
    return WrongUsage;

  Exit status =
      write([&](llvm::raw_ostream &os) { printReport(os, session, files); });
  bool allHold = llvm::all_of(files, [](const CountedFile &file) {
    return llvm::all_of(file.expects,
                        [](const Verdict &verdict) { return verdict.holds; });
  });
  return status != Fine ? status : allHold ? Fine : WrongInput;
}
