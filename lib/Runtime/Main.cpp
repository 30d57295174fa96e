// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The main program of an executable. It is linked with an object file from
// netc, which has a description of the program and the code of a step:
//
//   c++ -o PROG PROG.o libnetc-runtime.a -static-libstdc++ -static-libgcc
//       -Wl,--gc-sections -L/usr/lib/llvm-19/lib -lomp -lm -lpthread
//
// `cc` with -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic in place of -static-libstdc++
// works too. -lomp must follow the archive; a program for a GPU needs none.

#include "lib/Program/Program.h"
#include "lib/Runtime/Data.h"
#include "lib/Runtime/Execution.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Options.h"
#include "lib/Runtime/OutputFile.h"
#include "lib/Runtime/Report.h"
#include "lib/Runtime/StepTrace.h"
#include "lib/Runtime/Train.h"

#include <cstdio>
#include <new>

using namespace netc::program;
using namespace netc::runtime;

extern "C" {
extern const char netc_program[];
/// Makes the execution of the program's target.
extern Execute *const netc_execution;
}

void Execution::write(const std::string &json, const std::string &table) const {
  if (!options.jsonFile.empty())
    writeFile(options.jsonFile, {json});
  else if (options.json)
    writeOutput(json);
  else if (!options.quiet)
    writeOutput(table);
}

/// Trains. A failure is stated with what the device found wrong before it.
static Training trainOn(Execution &execution, const Program &program,
                        const Options &options, const Data &data,
                        Device &device) {
  try {
    return train(program, options, data, device);
  } catch (const Failure &failure) {
    throw Failure(failure.status, failure.what() + execution.findings());
  }
}

/// Trains, and writes what the options ask for. Returns the exit status.
static int run(const Program &program, Execution &execution,
               const Options &options) {
  checkIsa(program.target.isa, Machine::detect());
  // Fail before the training rather than after it.
  for (const std::string &output :
       {options.dump, options.results, options.jsonFile, options.trace})
    if (!output.empty())
      expectWritable(output);
  Data data(program, options);
  Device &device = execution.open();
  std::vector<std::string> weights = loadWeights(program, options, device);
  execution.begin();
  Training training = trainOn(execution, program, options, data, device);
  execution.end(training);
  dump(program, options, device);
  int status = execution.report(data, training, weights);
  // A report may time the ops.
  if (!options.trace.empty())
    writeFile(options.trace, {traceOf(program, training)});
  return status;
}

/// The same. A lack of memory is stated as JSON, too.
static int run(const Options &options) {
  Program program = parseProgram(netc_program);
  if (program.counted && !options.trace.empty())
    throw Failure(2, "`--trace` writes when ops ran, and a program that counts "
                     "times none");
  std::unique_ptr<Execution> execution(netc_execution(program, options));
  try {
    return run(program, *execution, options);
  } catch (const LackOfMemory &lack) {
    execution->write(toJson(lack), /*table=*/"");
    throw;
  }
}

int main(int argc, char **argv) {
  endOnSignals();
  int status = 0;
  std::string message;
  try {
    Options options = Options::parse(argc, argv);
    if (options.help)
      writeOutput(std::string("Trains a network and measures it.\n\n") +
                  Options::usage);
    else
      status = run(options);
  } catch (const Failure &failure) {
    status = failure.status;
    message = failure.what();
  } catch (const FormatError &error) {
    status = 1;
    message = error.what();
  } catch (const std::bad_alloc &) {
    status = 3;
    message = "out of memory";
  }
  if (!message.empty())
    std::fprintf(stderr, "%s: error: %s\n", argv[0], message.c_str());
  return status;
}
