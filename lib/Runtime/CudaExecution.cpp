// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Arena.h"
#include "lib/Runtime/CudaDevice.h"
#include "lib/Runtime/CudaPeaks.h"
#include "lib/Runtime/Execution.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Report.h"
#include "lib/Runtime/SimulatedReport.h"

using namespace netc::program;
using namespace netc::runtime;

extern "C" {
/// Names of architectures, and the PTX for each.
extern const char netc_device_code[] __attribute__((weak));
/// The same of the kernels that measure peaks.
extern const char netc_peak_code[] __attribute__((weak));
}

/// The number of steps whose ops are timed.
static const int timedSteps = 5;

namespace {
/// Trains on a GPU, or on its simulator, which measures nothing.
class CudaExecution : public Execution {
public:
  CudaExecution(const Program &program, const Options &options)
      : Execution(program, options) {
    if (options.threads || !options.caches.empty())
      throw Failure(
          2, std::string(options.threads ? "`--threads`" : "`--caches`") +
                 " is of the processor, and this program is for a "
                 "GPU; `--help` lists the options");
  }

  Device &open() override {
    std::string library = options.simulate ? "libnetc-simulator.so"
                          : options.driver.empty()
                              ? traitsOf(TargetKind::Cuda).driver
                              : options.driver;
    device.emplace(program, netc_step, netc_device_code, library);
    if (device->isSimulated() && (options.peaks || !options.trace.empty()))
      throw Failure(2,
                    options.peaks
                        ? "`--peaks` measures times, and a simulator has none"
                        : "`--trace` writes times, and a simulator has none");
    return *device;
  }

  void begin() override {
    if (device->isSimulated())
      return;
    sampler.emplace(device->busId());
    peaks = device->datasheet();
    if (options.peaks) {
      meter.emplace(*device, netc_peak_code);
      if (!options.peaksFile.empty())
        peaks.raise(readPeaks(options.peaksFile, device->gpu().name,
                              /*threads=*/1, options.caches));
      if (!peaks.isComplete(/*levels=*/0)) {
        peaks.raise(meter->measure());
        windows = 1;
      }
      meter->beginCycles();
    }
    firstSample = sampler->sample();
  }

  void end(Training &training) override {
    training.counts = device->counts();
    if (device->isSimulated())
      return;
    sampler->sample();
    gpu = device->gpu();
    gpu.telemetry = sampler->since(firstSample);
    if (meter)
      gpu.hertz = meter->hertz();
  }

  int report(const Data &data, Training &training,
             const std::vector<std::string> &weights) override {
    return device->isSimulated() ? reportCounters(training, weights)
                                 : reportTimes(data, training, weights);
  }

  std::string findings() const override {
    return device->isSimulated() ? findingLines(device->simulatorReport()) : "";
  }

private:
  int reportTimes(const Data &data, Training &training,
                  const std::vector<std::string> &weights) {
    if (!program.counted) {
      training.apart.emplace(program.ops.size());
      if (!options.trace.empty())
        training.apart->keepCalls();
      for (int step = 0; step < timedSteps; ++step)
        device->timeOps(*training.apart);
    }
    if (meter) {
      settle(peaks, fastestRate(program, training), productFormats(program),
             windows, [&] { return meter->measure(); });
      if (std::string why = sampler->since(0).whyNotComparable(); !why.empty())
        throw Failure(3, why + ", so utilization would say nothing; without "
                               "`--peaks`, the times are stated");
    }
    Measurement measurement{program,           options, data,    training,
                            Machine::detect(), 1,       weights, peakRss(),
                            Clock(),           peaks,   gpu};
    write(toJson(measurement), toTable(measurement));
    return 0;
  }

  int reportCounters(const Training &training,
                     const std::vector<std::string> &weights) {
    SimulatedRun run{program, training, weights, device->simulatorReport()};
    write(toJson(run), toTable(run));
    return hasFindings(run) ? 1 : 0;
  }

  std::optional<CudaDevice> device;
  std::optional<Sampler> sampler;
  size_t firstSample = 0;
  Peaks peaks;
  std::optional<CudaPeaks> meter; ///< for `--peaks`
  int windows = 0; ///< in which the peaks were measured before the steps
  Gpu gpu;
};
} // namespace

Execution *netc_execute_cuda(const Program &program, const Options &options) {
  return new CudaExecution(program, options);
}
