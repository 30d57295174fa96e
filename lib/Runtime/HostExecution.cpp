// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Execution.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/HostDevice.h"
#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Peak.h"
#include "lib/Runtime/Report.h"

#include <cstdlib>
#include <sys/resource.h>

using namespace netc::program;
using namespace netc::runtime;

extern "C" {
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

namespace {
class HostExecution : public Execution {
public:
  HostExecution(const Program &program, const Options &options)
      : Execution(program, options) {
    if (options.simulate || !options.driver.empty())
      throw Failure(
          2, std::string(options.simulate ? "`--simulate`" : "`--driver`") +
                 " is of programs for a GPU, made by `netc "
                 "--target=cuda`; `--help` lists the options");
    threads = wantedThreads(options);
  }

  Device &open() override {
    provideStack(program.stack);
    threads = startThreads(threads ? threads : machine.threads, options);
    device.emplace(program, netc_step, netc_counts);
    return *device;
  }

  // Measure before and after the steps, since other programs may disturb one of
  // the measurements.
  void begin() override {
    clock = detectClock();
    if (!options.peaks)
      return;
    peaks = datasheetPeaks(machine, clock, threads);
    if (!options.peaksFile.empty())
      peaks->raise(
          readPeaks(options.peaksFile, machine.cpu, threads, options.caches));
    clock.raise({peaks->hertz, clock.source, 0});
    if (peaks->isComplete(options.caches.size()))
      return;
    peaks->raise(measure(/*withBandwidth=*/restartPeakRss()));
    restartPeakRss();
    windows = 1;
  }

  void end(Training &training) override {
    training.counts = device->counts();
    rss = peakRss();
    if (peaks)
      settle(*peaks, fastestRate(program, training), productFormats(program),
             windows, [&] { return measure(/*withBandwidth=*/true); });
    else
      clock.raise(detectClock());
  }

  int report(const Data &data, Training &training,
             const std::vector<std::string> &weights) override {
    Measurement measurement{program, options, data,  training, machine, threads,
                            weights, rss,     clock, peaks,    {}};
    write(toJson(measurement), toTable(measurement));
    return 0;
  }

private:
  Peaks measure(bool withBandwidth) {
    clock.raise(detectClock());
    return measurePeaks(machine, clock, threads, options.caches, withBandwidth);
  }

  const Machine machine = Machine::detect();
  int threads; ///< before they are started, the wanted number or 0
  std::optional<HostDevice> device;
  Clock clock;
  std::optional<Peaks> peaks;
  int windows = 0; ///< in which the peaks were measured before the steps
  int64_t rss = 0;
};
} // namespace

Execution *netc_execute_cpu(const Program &program, const Options &options) {
  return new HostExecution(program, options);
}
