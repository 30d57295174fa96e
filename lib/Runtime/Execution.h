// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_EXECUTION_H
#define NETC_LIB_RUNTIME_EXECUTION_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Data.h"
#include "lib/Runtime/Device.h"
#include "lib/Runtime/Options.h"
#include "lib/Runtime/Train.h"

#include <memory>
#include <string>
#include <vector>

namespace netc::runtime {

/// The parts of a program that depend on its target: it makes the device, and
/// measures it while it trains.
class Execution {
public:
  /// Throws a Failure for an option that is for other targets.
  Execution(const program::Program &program, const Options &options)
      : program(program), options(options) {}
  virtual ~Execution() = default;

  /// Makes the device, which lives as long as this.
  virtual Device &open() = 0;
  /// Called right before the first step, and right after the last one.
  virtual void begin() = 0;
  virtual void end(Training &training) = 0;
  /// Finishes the measurements, and writes the report. `weights` are names of
  /// parameters that came from files. Returns the exit status.
  virtual int report(const Data &data, Training &training,
                     const std::vector<std::string> &weights) = 0;

  /// Lines on what the device found wrong until now, each after a line break,
  /// for a training that fails.
  virtual std::string findings() const { return ""; }

  /// Writes a report where the options say.
  void write(const std::string &json, const std::string &table) const;

protected:
  const program::Program &program;
  const Options &options;
};

/// Makes an execution, which the caller owns.
using Execute = Execution *(const program::Program &program,
                            const Options &options);

} // namespace netc::runtime

extern "C" {
/// The code of the program's step.
void netc_step(char *arena);

/// Those of the targets. The program's object has `netc_execution` point to
/// one; the others are not linked.
netc::runtime::Execute netc_execute_cpu, netc_execute_cuda;
}

#endif // NETC_LIB_RUNTIME_EXECUTION_H
