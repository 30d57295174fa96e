// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/CudaPeaks.h"
#include "lib/Program/DeviceArch.h"

#include <algorithm>

using namespace netc::program;
using namespace netc::runtime;

/// The length of a window in seconds, and their number.
static const double windowSeconds = 0.1;
static const int windows = 2;
/// Iterations of a kernel, by which the length of a window is estimated.
static const int64_t firstIterations = 1000;
/// The blocks of each multiprocessor.
static const int blocksPerProcessor = 2;
/// Bytes of the arrays of a stream together: far more than caches hold.
static const int64_t mostStreamBytes = int64_t(4) << 30,
                     leastStreamBytes = int64_t(256) << 20;

/// The cycles per second between two readings: the mean of the multiprocessors
/// that are in both. 0 if there is none.
static double hertzBetween(const std::vector<ClockReading> &before,
                           const std::vector<ClockReading> &after) {
  double sum = 0;
  int count = 0;
  for (const ClockReading &first : before)
    for (const ClockReading &last : after)
      if (first.multiprocessor == last.multiprocessor &&
          last.nanoseconds > first.nanoseconds) {
        sum += double(last.cycles - first.cycles) /
               double(last.nanoseconds - first.nanoseconds) * 1e9;
        ++count;
      }
  return count ? sum / count : 0;
}

double CudaPeaks::hertz() const { return hertzBetween(begin, readClocks()); }

CudaPeaks::CudaPeaks(const CudaDevice &device, const char *code)
    : device(device), driver(device.api()), module(device.compile(code)),
      clocks(functionNamed(clockKernel)) {
  for (CudaDriver::Event &event : events)
    driver.check(driver.createEvent(&event, /*flags=*/0), "cuEventCreate");
  driver.check(driver.allocate(&readings, size_t(device.gpu().multiprocessors) *
                                              sizeof(ClockReading)),
               "cuMemAlloc_v2");
}

CudaDriver::Function CudaPeaks::functionNamed(const char *name) const {
  CudaDriver::Function function;
  driver.check(driver.getFunction(&function, module, name),
               "cuModuleGetFunction");
  return function;
}

void CudaPeaks::launch(CudaDriver::Function function, int64_t blocks,
                       int64_t threads, void **arguments) const {
  driver.check(driver.launch(function, unsigned(blocks), 1, 1,
                             unsigned(threads), 1, 1, /*sharedBytes=*/0,
                             /*stream=*/nullptr, arguments, nullptr),
               "cuLaunchKernel");
}

double CudaPeaks::secondsOf(CudaDriver::Function function, int64_t blocks,
                            int64_t threads, void **arguments,
                            int64_t times) const {
  auto record = [&](CudaDriver::Event event) {
    driver.check(driver.recordEvent(event, /*stream=*/nullptr),
                 "cuEventRecord");
  };
  record(events[0]);
  for (int64_t i = 0; i < times; ++i)
    launch(function, blocks, threads, arguments);
  record(events[1]);
  driver.check(driver.synchronize(/*stream=*/nullptr), "cuStreamSynchronize");
  float milliseconds = 0;
  driver.check(driver.elapsedTime(&milliseconds, events[0], events[1]),
               "cuEventElapsedTime");
  return std::max(double(milliseconds) * 1e-3, 1e-6);
}

PeakRate CudaPeaks::rateOf(const PeakKernel &kernel) const {
  CudaDriver::Function function = functionNamed(kernel.name);
  int64_t blocks = blocksPerProcessor * device.gpu().multiprocessors;
  int64_t iterations = firstIterations;
  CudaDriver::Address to = readings;
  void *arguments[] = {&to, &iterations};
  auto seconds = [&] {
    return secondsOf(function, blocks, PeakKernel::kThreads, arguments, 1);
  };
  iterations = int64_t(double(iterations) * windowSeconds / seconds()) + 1;
  const double flop = double(iterations) * double(blocks) * double(kernel.flop);
  PeakRate rate{kernel.name, kernel.format, 0};
  for (int window = 0; window < windows; ++window) {
    std::vector<ClockReading> before = readClocks();
    double flops = flop / seconds();
    if (flops > rate.flops) {
      rate.flops = flops;
      rate.hertz = hertzBetween(before, readClocks());
    }
  }
  return rate;
}

double CudaPeaks::bandwidthOf(const StreamKernel &kernel) const {
  size_t available = 0, all = 0;
  driver.check(driver.memoryInfo(&available, &all), "cuMemGetInfo_v2");
  const int64_t ofBlock = StreamKernel::kThreads * StreamKernel::kBytes;
  int64_t bytes = std::min(int64_t(available / 2), mostStreamBytes);
  int64_t blocks = bytes / kernel.arrays / ofBlock;
  CudaDriver::Address memory;
  if (bytes < leastStreamBytes ||
      driver.allocate(&memory, size_t(kernel.arrays * blocks * ofBlock)))
    return 0;
  CudaDriver::Address arrays[3];
  void *arguments[3];
  for (int i = 0; i < kernel.arrays; ++i) {
    arrays[i] = memory + CudaDriver::Address(i * blocks * ofBlock);
    arguments[i] = &arrays[i];
  }
  CudaDriver::Function function = functionNamed(kernel.name);
  auto seconds = [&](int64_t times) {
    return secondsOf(function, blocks, StreamKernel::kThreads, arguments,
                     times);
  };
  int64_t times = int64_t(windowSeconds / seconds(1)) + 1;
  double shortest = seconds(times);
  for (int window = 1; window < windows; ++window)
    shortest = std::min(shortest, seconds(times));
  driver.check(driver.release(memory), "cuMemFree_v2");
  return double(times) * double(kernel.arrays * blocks * ofBlock) / shortest;
}

Peaks CudaPeaks::measure() const {
  Peaks peaks = device.datasheet();
  const DeviceArch *arch = deviceArchNamed(device.gpu().arch);
  for (const PeakKernel &kernel : peakKernels)
    if (kernel.capability <= arch->capability)
      peaks.measured.push_back(rateOf(kernel));
  peaks.bandwidth = bandwidthOf(triadKernel);
  peaks.copy = bandwidthOf(copyKernel);
  return peaks;
}

std::vector<ClockReading> CudaPeaks::readClocks() const {
  // A block for each multiprocessor; some may get several, others none.
  std::vector<ClockReading> clocks(size_t(device.gpu().multiprocessors));
  CudaDriver::Address to = readings;
  void *arguments[] = {&to};
  launch(this->clocks, int64_t(clocks.size()), 1, arguments);
  driver.check(driver.download(clocks.data(), readings,
                               clocks.size() * sizeof(ClockReading)),
               "cuMemcpyDtoH_v2");
  return clocks;
}
