// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/SimulatedReport.h"
#include "lib/Program/Json.h"

#include <cstdio>

using namespace netc::program;
using namespace netc::runtime;
using json = nlohmann::ordered_json;

std::string netc::runtime::findingLines(const std::string &counted) {
  std::string lines;
  const json report = json::parse(counted);
  for (const json &finding : report.at("findings"))
    lines += "\n    " + finding.get<std::string>();
  return lines;
}

static json countedBy(const SimulatedRun &run) {
  return json::parse(run.counted);
}

bool netc::runtime::hasFindings(const SimulatedRun &run) {
  return !countedBy(run).at("findings").empty();
}

std::string netc::runtime::toJson(const SimulatedRun &run) {
  json text = {{"format", 1}, {"simulated", true}};
  text.update(identityOf(run.program));
  text["weights"] = run.weights;
  text["steps"] = run.training.recorder.steps().size();
  text["losses"] = run.training.losses;
  text["simulator"] = countedBy(run);
  return text.dump(2) + "\n";
}

std::string netc::runtime::toTable(const SimulatedRun &run) {
  json counted = countedBy(run);
  auto number = [&](const char *name) {
    return std::to_string(counted.at(name).get<uint64_t>());
  };
  size_t steps = run.training.recorder.steps().size();
  std::string text = run.program.title() + "\n";
  text += "  machine   netc's simulator of a GPU: nothing was measured\n";
  text += "  steps     " + std::to_string(steps) + "\n";
  const std::vector<double> &losses = run.training.losses;
  if (!losses.empty()) {
    char line[80];
    std::snprintf(line, sizeof line, "  loss      %.6g, at last %.6g\n",
                  losses.front(), losses.back());
    text += line;
  }
  text += "  executed  " + number("launches") + " kernels, " +
          number("warp_instructions") + " instructions of warps, " +
          number("flop") + " FLOP\n";
  text += "  memory    " + number("sectors") + " sectors of 32 bytes, " +
          number("ideal_sectors") + " at least\n";
  size_t findings = counted.at("findings").size();
  text += "  findings  " + (findings ? std::to_string(findings) : "none");
  return text + findingLines(run.counted) + "\n";
}
