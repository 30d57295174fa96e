// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Csv.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <set>

using namespace netc;

std::string netc::csvField(llvm::StringRef text) {
  if (text.find_first_of(",\"\r\n") == llvm::StringRef::npos)
    return text.str();
  std::string quoted = "\"";
  for (char letter : text)
    quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

/// An integer exactly, another number as a double; empty without a number.
static std::string number(const std::optional<Rational> &value) {
  if (!value)
    return "";
  return value->isInteger() ? value->str()
                            : fmt::format("{}", value->toDouble());
}

/// Empty if the value depends on a free axis, since the column is numeric.
static std::string number(const Polynomial &value) {
  return number(value.constant());
}

static std::string estimate(const std::optional<Rational> &value) {
  return value ? fmt::format("{:.6g}", value->toDouble()) : "";
}

namespace {
/// Writes a row, which ends when the object is destroyed.
class CsvRow {
public:
  CsvRow(llvm::raw_ostream &os, llvm::StringRef kind) : os(os) { os << kind; }
  ~CsvRow() { os << "\r\n"; }

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

/// Numbers of columns: forward and backward costs, costs of update and
/// recomputation, and columns that only runs have.
static constexpr unsigned costFields = 4, updateFields = 4, runFields = 24;
/// Columns of runs before and after `memory`.
static constexpr unsigned fieldsBeforeMemory = 16,
                          fieldsAfterMemory =
                              runFields - fieldsBeforeMemory - 1;

static std::string idsOf(llvm::ArrayRef<Warning> warnings,
                         llvm::StringRef about) {
  std::set<std::string> ids;
  for (const Warning &warning : warnings)
    if (warning.about == about)
      ids.insert(warning.id);
  return csvField(llvm::join(ids, " "));
}

static void print(llvm::raw_ostream &os, const Network &network,
                  llvm::ArrayRef<Warning> warnings) {
  std::string name = csvField(network.name());
  for (const Part *part : network.parts.layers()) {
    CsvRow row(os, "layer");
    row.add(name);
    row.add(csvField(part->path));
    row.add(csvField(part->op));
    row.add(number(part->figures.parameters));
    row.addCosts(part->figures);
    row.skip(updateFields + runFields + 1);
  }
  CsvRow row(os, "network");
  row.skip(1);
  row.add(name);
  row.skip(1);
  row.add(number(network.parts.root().figures.parameters));
  row.addCosts(network.parts.root().figures);
  row.skip(updateFields + runFields);
  row.add(idsOf(warnings, network.name()));
}

static void print(llvm::raw_ostream &os, llvm::StringRef kind,
                  llvm::StringRef of, llvm::StringRef name,
                  const RunReport &report, llvm::ArrayRef<Warning> warnings) {
  const Run &run = *report.run;
  {
    CsvRow row(os, kind);
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
    auto addRange = [&](const RunReport::Figure &figure) {
      std::optional<Rational> middle = figure(run);
      auto range = report.range(figure);
      row.add(number(middle));
      row.add(number(range ? range->first : middle));
      row.add(number(range ? range->second : middle));
    };
    row.add(number(run.steps));
    row.add(number(run.batch));
    row.add(number(run.tokensPerExample));
    row.add(number(run.tokensPerStep()));
    addRange(&Run::modelFlop);
    row.add(number(run.ruleOfThree));
    row.add(number(run.parameterRule));
    const std::optional<ComputeByTime> &time = report.computeByTime;
    row.add(time ? estimate(time->flop) : "");
    row.add(time ? estimate(time->low) : "");
    row.add(time ? estimate(time->high) : "");
    std::optional<Comparison> both = compareMethods(run);
    row.add(both ? estimate(both->ratio) : "");
    row.add(estimate(run.modelUtilization()));
    row.add(estimate(run.hardwareUtilization()));
    std::optional<Rational> seconds = run.deviceTime();
    row.add(seconds ? estimate(*seconds / 3600) : "");
    addRange(&Run::memoryPerDevice);
    row.add(number(run.deviceMemory));
    std::optional<MemoryVerdict> verdict = memoryVerdict(run);
    row.add(!verdict ? "" : verdict->fits ? "1" : "0");
    row.add(verdict ? verdict->largest : "");
    row.add(number(run.trafficOfStep()));
    row.add(run.hasStep() ? number(run.step().converted) : "");
    row.add(kind == "point" ? "" : idsOf(warnings, run.name()));
  }
  if (kind != "point" && run.hasStep() && !run.step().byFormat.empty())
    for (NumberFormat format : run.formats()) {
      Figures part = run.step().in(format);
      CsvRow row(os, "format");
      row.add(csvField(name));
      row.add(traitsOf(format).name.str());
      row.skip(2);
      row.addCosts(part);
      row.addCost(part[Phase::Update]);
      row.addCost(part[Phase::Recompute]);
      row.skip(runFields + 1);
    }
  if (kind != "point")
    for (auto [part, bytes] : Memory::parts())
      for (const auto &[type, ofType] : (run.memory.*bytes).types()) {
        CsvRow row(os, "memory");
        row.add(csvField(name));
        row.add(part.str());
        row.add(type);
        row.skip(1 + costFields + updateFields + fieldsBeforeMemory);
        row.add(number(ofType));
        row.skip(fieldsAfterMemory + 1);
      }
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    const Run &job = run.jobs[i];
    print(os, job.isTuning ? "tuning" : "job", name, job.name(),
          report.ofJob(i), warnings);
  }
}

static void print(llvm::raw_ostream &os, const RunReport &report,
                  llvm::ArrayRef<Warning> warnings) {
  llvm::StringRef name = report.run->name();
  print(os, "run", report.run->network(), name, report, warnings);
  for (const RunReport &point : report.sweep) {
    std::string values;
    for (auto &[key, value] : point.values)
      values += (values.empty() ? "" : " ") + key + "=" + value;
    print(os, "point", name, values, point, warnings);
  }
}

void netc::printCsv(llvm::raw_ostream &os, const Report &report) {
  os << "kind,of,name,op,parameters,forward_matmul,forward_other,"
        "backward_matmul,backward_other,optimizer_matmul,optimizer_other,"
        "recompute_matmul,recompute_other,steps,batch,tokens_per_example,"
        "tokens_per_step,compute,compute_low,compute_high,rule_of_three,"
        "parameter_rule,compute_by_time,compute_by_time_low,"
        "compute_by_time_high,ratio,utilization,hardware_utilization,"
        "device_hours,memory,memory_low,memory_high,device_memory,fits,"
        "largest_in_memory,bytes_moved,bytes_of_conversions,warnings\r\n";
  for (const RunReport &run : report.runs)
    print(os, run, report.warnings);
  for (const Network *network : report.networks)
    print(os, *network, report.warnings);
  for (const Warning &warning : report.warnings) {
    CsvRow row(os, "warning");
    row.add(csvField(warning.about));
    row.add(csvField(warning.id));
    row.skip(2 + costFields + updateFields + runFields);
    row.add(csvField(warning.text));
  }
}
