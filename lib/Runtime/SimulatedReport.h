// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_SIMULATEDREPORT_H
#define NETC_LIB_RUNTIME_SIMULATEDREPORT_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Train.h"

#include <string>

namespace netc::runtime {

/// A training on the simulator. Its reports have no times, since those of a
/// simulator say nothing about a GPU.
struct SimulatedRun {
  const program::Program &program;
  const Training &training;
  const std::vector<std::string> &weights; ///< names that came from files
  const std::string &counted;              ///< JSON of the simulator's driver
};

/// JSON by docs/simulation.schema.json, and a newline.
std::string toJson(const SimulatedRun &run);
std::string toTable(const SimulatedRun &run);
/// The errors that the simulator found, each after a line break. `counted` is
/// the JSON of its driver.
std::string findingLines(const std::string &counted);
/// Whether the simulator found an error in the code.
bool hasFindings(const SimulatedRun &run);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_SIMULATEDREPORT_H
