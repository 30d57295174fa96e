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
// works too. -lomp must follow the archive.

#include "lib/Program/Program.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/CudaDevice.h"
#include "lib/Runtime/CudaPeaks.h"
#include "lib/Runtime/Data.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/HostDevice.h"
#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Options.h"
#include "lib/Runtime/OutputFile.h"
#include "lib/Runtime/Peak.h"
#include "lib/Runtime/Report.h"
#include "lib/Runtime/SimulatedReport.h"
#include "lib/Runtime/StepTrace.h"
#include "lib/Runtime/Train.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/resource.h>

using namespace netc::program;
using namespace netc::runtime;

extern "C" {
extern const char netc_program[];
void netc_step(char *arena);
/// In programs for a GPU: names of architectures, and the PTX for each.
extern const char netc_device_code[] __attribute__((weak));
/// The same of the kernels that measure peaks.
extern const char netc_peak_code[] __attribute__((weak));
/// In programs that count: three numbers for each op.
extern int64_t netc_counts[] __attribute__((weak));
/// Functions of LLVM's OpenMP runtime. The stack size applies to threads that
/// are started later.
void omp_set_dynamic(int dynamic);
void omp_set_num_threads(int threads);
int omp_get_num_threads();
size_t kmp_get_stacksize_s();
void kmp_set_stacksize_s(size_t bytes);
}

/// The number of threads of `--threads`, or else OMP_NUM_THREADS; 0 without
/// either. The variable is removed, since OpenMP aborts if it is too large.
static int wantedThreads(const Options &options) {
  const char *variable = std::getenv("OMP_NUM_THREADS");
  std::string text = variable ? variable : "";
  unsetenv("OMP_NUM_THREADS");
  if (options.threads || text.empty())
    return options.threads.value_or(0);
  char *end;
  long threads = std::strtol(text.c_str(), &end, 10);
  while (*end == ' ')
    ++end;
  if ((*end && *end != ',') || threads < 1 || threads > Options::maxThreads)
    throw Failure(3, "the environment's `OMP_NUM_THREADS` takes an integer "
                     "from 1 to " +
                         std::to_string(Options::maxThreads) + ", not `" +
                         text + "`");
  return int(threads);
}

/// Starts the threads of the steps. Returns their number.
static int startThreads(int threads, const Options &options) {
  // A dynamic number of threads would depend on the load, loop by loop.
  omp_set_dynamic(false);
  omp_set_num_threads(threads);
  // OpenMP may start fewer: only a team knows its size.
#pragma omp parallel
#pragma omp master
  threads = omp_get_num_threads();
  if (options.threads && threads != *options.threads)
    throw Failure(3, "`--threads=" + std::to_string(*options.threads) +
                         "` is more than OpenMP starts, which is " +
                         std::to_string(threads) +
                         "; OMP_THREAD_LIMIT is one reason");
  return threads;
}

/// Sets the stack size of threads for `bytes` of packed operands. Throws a
/// Failure if `ulimit` does not allow it.
static void provideStack(int64_t bytes) {
  const size_t frames = size_t(256) << 10;
  size_t needed = size_t(bytes) + frames;
  rlimit limit;
  if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < needed) {
    rlim_t allowed = limit.rlim_max;
    limit.rlim_cur = needed;
    if (allowed < needed || setrlimit(RLIMIT_STACK, &limit))
      throw Failure(3, "a thread needs " + std::to_string(needed) +
                           " bytes of stack, " + std::to_string(allowed) +
                           " are allowed");
  }
  if (kmp_get_stacksize_s() < needed)
    kmp_set_stacksize_s(needed);
}

/// Writes a report where the options say.
static void writeReport(const Options &options, const std::string &json,
                        const std::string &table) {
  if (!options.jsonFile.empty())
    writeFile(options.jsonFile, {json});
  else if (options.json)
    writeOutput(json);
  else if (!options.quiet)
    writeOutput(table);
}

/// Trains on a device, and writes what the options ask for except reports.
static Training trainOn(Device &device, const Program &program,
                        const Options &options, const Data &data) {
  Training training = train(program, options, data, device);
  dump(program, options, device);
  if (!options.trace.empty())
    writeFile(options.trace, {traceOf(program, training.recorder)});
  return training;
}

/// The number of timed steps on a GPU.
static const int timedSteps = 5;

/// Trains on a GPU and measures it.
static void measureOnGpu(const Program &program, const Options &options,
                         const Data &data, CudaDevice &device,
                         const std::vector<std::string> &weights) {
  Sampler sampler(device.busId());
  Peaks peaks = device.datasheet();
  std::optional<CudaPeaks> meter;
  if (options.peaks) {
    meter.emplace(device, netc_peak_code);
    peaks.raise(meter->measure());
    meter->beginCycles();
  }
  size_t first = sampler.sample();
  Training training = trainOn(device, program, options, data);
  sampler.sample();
  Gpu gpu = device.gpu();
  gpu.telemetry = sampler.since(first);
  if (meter)
    gpu.hertz = meter->hertz();
  if (program.counted)
    training.counts = device.counts();
  else {
    training.apart.emplace(program.ops.size());
    for (int step = 0; step < timedSteps; ++step)
      device.timeOps(*training.apart);
  }
  if (meter) {
    settle(peaks, fastestRate(program, training),
           [&] { return meter->measure(); });
    if (std::string why = sampler.since(0).whyNotComparable(); !why.empty())
      throw Failure(3, why + ", so utilization would say nothing; without "
                             "`--peaks`, the times are stated");
  }
  Measurement measurement{program,           options, data,    training,
                          Machine::detect(), 1,       weights, peakRss(),
                          Clock(),           peaks,   gpu};
  writeReport(options, toJson(measurement), toTable(measurement));
}

/// Trains on a GPU, or on its simulator. Returns the exit status.
static int runOnGpu(const Program &program, const Options &options) {
  if (options.threads || !options.caches.empty())
    throw Failure(2,
                  std::string(options.threads ? "`--threads`" : "`--caches`") +
                      " is of the processor, and this program is for a "
                      "GPU; `--help` lists the options");
  for (const std::string &output :
       {options.dump, options.results, options.jsonFile, options.trace})
    if (!output.empty())
      expectWritable(output);
  checkIsa(program.target.isa, Machine::detect());
  Data data(program, options);
  std::string library = options.simulate         ? "libnetc-simulator.so"
                        : options.driver.empty() ? "libcuda.so.1"
                                                 : options.driver;
  CudaDevice device(program, netc_step, netc_device_code, library);
  std::vector<std::string> weights = loadWeights(program, options, device);
  if (!device.isSimulated()) {
    measureOnGpu(program, options, data, device, weights);
    return 0;
  }
  Training training = trainOn(device, program, options, data);
  SimulatedRun run{program, training, weights, device.simulatorReport()};
  writeReport(options, toJson(run), toTable(run));
  return hasFindings(run) ? 1 : 0;
}

/// Trains on this machine. Returns the exit status.
static int runOnHost(const Program &program, const Options &options,
                     int wanted) {
  if (options.simulate || !options.driver.empty())
    throw Failure(
        2, std::string(options.simulate ? "`--simulate`" : "`--driver`") +
               " is of programs for a GPU, made by `netc "
               "--target=cuda`; `--help` lists the options");
  Machine machine = Machine::detect();
  checkIsa(program.target.isa, machine);
  // Fail before the training rather than after it.
  for (const std::string &output :
       {options.dump, options.results, options.jsonFile})
    if (!output.empty())
      expectWritable(output);
  provideStack(program.stack);
  int threads = startThreads(wanted ? wanted : machine.threads, options);
  Data data(program, options);
  HostDevice device(program.arena, netc_step);
  std::vector<std::string> weights = loadWeights(program, options, device);

  Clock clock = detectClock();
  auto measure = [&](bool withBandwidth) {
    clock.raise(detectClock());
    return measurePeaks(machine, clock, threads, options.caches, withBandwidth);
  };
  // Measure before and after the steps, since other programs may disturb one of
  // the measurements.
  std::optional<Peaks> peaks;
  if (options.peaks) {
    peaks = measure(/*withBandwidth=*/restartPeakRss());
    restartPeakRss();
  }

  Training training = train(program, options, data, device);
  if (program.counted && netc_counts)
    training.counts.assign(netc_counts, netc_counts + 3 * program.ops.size());
  int64_t rss = peakRss();
  if (peaks)
    settle(*peaks, fastestRate(program, training),
           [&] { return measure(/*withBandwidth=*/true); });
  else
    clock.raise(detectClock());
  dump(program, options, device);
  if (!options.trace.empty())
    writeFile(options.trace, {traceOf(program, training.recorder)});

  Measurement measurement{program, options, data,  training, machine, threads,
                          weights, rss,     clock, peaks,    {}};
  writeReport(options, toJson(measurement), toTable(measurement));
  return 0;
}

static int run(const Options &options) {
  int wanted = wantedThreads(options);
  Program program = parseProgram(netc_program);
  switch (program.target.kind) {
  case TargetKind::Cpu:
    break;
  case TargetKind::Cuda:
    return runOnGpu(program, options);
  }
  return runOnHost(program, options, wanted);
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
