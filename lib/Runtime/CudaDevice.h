// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_CUDADEVICE_H
#define NETC_LIB_RUNTIME_CUDADEVICE_H

#include "lib/Program/DeviceCode.h"
#include "lib/Program/Program.h"
#include "lib/Runtime/CudaDriver.h"
#include "lib/Runtime/Device.h"
#include "lib/Runtime/Gpu.h"
#include "lib/Runtime/Peak.h"

#include <string>
#include <vector>

namespace netc::runtime {

/// The first device of the CUDA driver. The first step launches its kernels one
/// by one. Later steps are launched as a CUDA graph, unless there are too many
/// kernels.
class CudaDevice : public Device {
public:
  /// `step` launches kernels. `code` is a list of zero-terminated strings: the
  /// name of an architecture, its PTX, the next name and so on, and an empty
  /// string. Throws a Failure with status 3 if the driver is missing or too
  /// old, if there is no device, no code for it, or too little memory on it.
  CudaDevice(const program::Program &program, void (*step)(char *arena),
             const char *code, const std::string &library);
  CudaDevice(const CudaDevice &) = delete;
  ~CudaDevice() override;

  void upload(int64_t offset, const char *from, int64_t bytes) override;
  void download(int64_t offset, char *to, int64_t bytes) const override;
  void step(Recorder *recorder) override;
  std::vector<int64_t> counts() const override;

  /// The name of the last architecture whose code this machine's device runs.
  /// Throws a Failure with status 3 if there is no such code, or no device that
  /// can be measured.
  static std::string archToMeasure();
  /// Executes a step kernel by kernel, and adds the times of its ops.
  void timeOps(Recorder &recorder);
  /// The driver compiles the code for this device in a list as the constructor
  /// takes it. Throws a Failure with status 3 if it cannot.
  CudaDriver::Module compile(const char *code) const;
  /// The FLOP per cycle of the device's units, its clock, and the bandwidth of
  /// its memory; 0 for what the driver does not report.
  Peaks datasheet() const;
  const CudaDriver &api() const { return driver; }
  const Gpu &gpu() const { return facts; }
  /// The address of the device on the PCI bus.
  const std::string &busId() const { return bus; }
  bool isSimulated() const { return driver.simulatorReport; }
  /// Counters and findings of a simulated device, as JSON.
  std::string simulatorReport() const { return driver.simulatorReport(); }

private:
  /// The text in `code` for this device. Throws a Failure with status 3 if
  /// there is none.
  program::DeviceCode codeFor(const char *code) const;
  void load(const program::Program &program, const char *code);
  void capture();
  void run();
  /// Records the next event of the step.
  void mark();
  void ended(size_t op) override;
  void launched(int64_t kernel, void **arguments) override;

  CudaDriver driver;
  Gpu facts;
  std::string bus;
  double hertz = 0, bandwidth = 0; ///< bandwidth in bytes/s
  void (*function)(char *arena);
  CudaDriver::Module module = nullptr;
  CudaDriver::Stream stream = nullptr;
  CudaDriver::ExecutableGraph graph = nullptr;
  CudaDriver::Address arena = 0;
  const bool counted;
  std::vector<program::Kernel> kernels;
  std::vector<CudaDriver::Function> functions;
  int64_t steps = 0;
  int64_t lastStep = 0; ///< nanoseconds
  std::vector<CudaDriver::Event> events;
  /// Events in the running step; 0 if it is not timed.
  size_t marks = 0;
  /// The op that ended at each event but the first.
  std::vector<size_t> timed;
  CudaDriver::Result failed = 0; ///< of the first call that failed in a step
  const char *failedIn = "";     ///< the function of that call
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_CUDADEVICE_H
