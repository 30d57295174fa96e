// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Csv.h"

#include <fmt/format.h>

using namespace netc;

std::string netc::csvField(llvm::StringRef text) {
  if (text.find_first_of(",\"\r\n") == llvm::StringRef::npos)
    return text.str();
  std::string quoted = "\"";
  for (char letter : text)
    quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

/// Whole numbers exactly, others as doubles.
static std::string number(const std::optional<Rational> &value) {
  if (!value)
    return "";
  return value->isInteger() ? value->str()
                            : fmt::format("{}", value->toDouble());
}

static std::string number(const Polynomial &value) {
  return value.isConstant() ? number(value.constant()) : csvField(value.str());
}

static std::string estimate(const std::optional<Rational> &value) {
  return value ? fmt::format("{:.6g}", value->toDouble()) : "";
}

namespace {
/// Fields of one line.
class Row {
public:
  Row(llvm::raw_ostream &os, llvm::StringRef kind) : os(os) { os << kind; }
  ~Row() { os << "\r\n"; }

  void add(const std::string &field) { os << ',' << field; }
  void skip(unsigned fields) {
    while (fields--)
      add("");
  }
  void addCosts(const Figures &figures) {
    addCost(figures[Phase::Forward]);
    addCost(figures.backward());
  }
  void addCost(const Cost &cost) {
    add(number(cost.matmul));
    add(number(cost.other));
  }

private:
  llvm::raw_ostream &os;
};
} // namespace

/// Of costs, and what only a run has.
static constexpr unsigned costFields = 4, updateFields = 4, runFields = 7;

static void print(llvm::raw_ostream &os, const Network &network) {
  std::string name = csvField(network.name());
  for (const Part *part : network.parts.layers()) {
    Row row(os, "layer");
    row.add(name);
    row.add(csvField(part->path));
    row.add(csvField(part->op));
    row.add(number(part->figures.parameters));
    row.addCosts(part->figures);
    row.skip(updateFields + runFields);
  }
  Row row(os, "network");
  row.skip(1);
  row.add(name);
  row.skip(1);
  row.add(number(network.parts.root().figures.parameters));
  row.addCosts(network.parts.root().figures);
  row.skip(updateFields + runFields);
}

static void print(llvm::raw_ostream &os, llvm::StringRef kind,
                  llvm::StringRef of, llvm::StringRef name,
                  const RunReport &report) {
  const Run &run = *report.run;
  {
    Row row(os, kind);
    row.add(csvField(of));
    row.add(csvField(name));
    row.skip(1);
    if (run.jobs.empty())
      row.add(number(run.step().parameters));
    else
      row.skip(1);
    if (run.hasStep()) {
      row.addCosts(run.step());
      row.addCost(run.step()[Phase::Update]);
      row.addCost(run.step()[Phase::Recompute]);
    } else {
      row.skip(costFields + updateFields);
    }
    row.add(number(run.steps));
    std::optional<Rational> compute = run.modelFlop();
    auto range = report.range(&Run::modelFlop);
    row.add(number(compute));
    row.add(number(range ? range->first : compute));
    row.add(number(range ? range->second : compute));
    const std::optional<HardwareTime> &time = report.hardwareTime;
    row.add(time ? estimate(time->flop) : "");
    row.add(time ? estimate(time->low) : "");
    row.add(time ? estimate(time->high) : "");
  }
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    const Run &job = run.jobs[i];
    print(os, job.isTuning ? "tuning" : "job", name, job.name(),
          report.ofJob(i));
  }
}

static void print(llvm::raw_ostream &os, const RunReport &report) {
  llvm::StringRef name = report.run->name();
  print(os, "run", report.run->network(), name, report);
  for (const RunReport &point : report.sweep) {
    std::string values;
    for (auto &[key, value] : point.values)
      values += (values.empty() ? "" : " ") + key + "=" + value;
    print(os, "point", name, values, point);
  }
}

void netc::printCsv(llvm::raw_ostream &os, const Report &report) {
  os << "kind,of,name,op,parameters,forward_matmul,forward_other,"
        "backward_matmul,backward_other,optimizer_matmul,optimizer_other,"
        "recompute_matmul,recompute_other,steps,compute,compute_low,"
        "compute_high,hardware_time,hardware_time_low,hardware_time_high\r\n";
  for (const Network *network : report.networks)
    print(os, *network);
  for (const RunReport &run : report.runs)
    print(os, run);
}
