// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_CUDAPEAKS_H
#define NETC_LIB_RUNTIME_CUDAPEAKS_H

#include "lib/Program/PeakKernels.h"
#include "lib/Runtime/CudaDevice.h"

namespace netc::runtime {

/// Measures a GPU by the kernels of lib/Program/PeakKernels.h.
class CudaPeaks {
public:
  /// `code` is as a CudaDevice takes it.
  CudaPeaks(const CudaDevice &device, const char *code);

  /// The peaks in a window of about a second.
  Peaks measure() const;

  /// Begins to count the cycles of multiprocessors.
  void beginCycles() { begin = readClocks(); }
  /// The cycles per second since; 0 if no multiprocessor is known from both
  /// times.
  double hertz() const;

private:
  CudaDriver::Function functionNamed(const char *name) const;
  void launch(CudaDriver::Function function, int64_t blocks, int64_t threads,
              void **arguments) const;
  /// The seconds of `times` launches, by events of the driver.
  double secondsOf(CudaDriver::Function function, int64_t blocks,
                   int64_t threads, void **arguments, int64_t times) const;
  PeakRate rateOf(const program::PeakKernel &kernel) const;
  /// Bytes/s; 0 if there is not enough memory.
  double bandwidthOf(const program::StreamKernel &kernel) const;
  std::vector<program::ClockReading> readClocks() const;

  const CudaDevice &device;
  const CudaDriver &driver;
  CudaDriver::Module module;
  CudaDriver::Event events[2];
  CudaDriver::Function clocks;
  CudaDriver::Address readings;
  std::vector<program::ClockReading> begin;
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_CUDAPEAKS_H
