// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels that measure a device's peaks, on the simulator.

#include "lib/Program/PeakKernels.h"
#include "lib/Simulator/Simulator.h"
#include "lib/Target/CUDA.h"

#include "gtest/gtest.h"

using namespace netc;

namespace {
class PeakKernelsTest : public testing::Test {
protected:
  /// Loads the kernels of an architecture.
  void load(const program::DeviceArch &arch) {
    mlir::MLIRContext context;
    mlir::DialectRegistry registry;
    registerLoweringInterfaces(registry);
    context.appendDialectRegistry(registry);
    std::string ptx = llvm::cantFail(peakCode(&context, arch));
    device.load(ptx);
  }

  simulator::Counters run(const program::PeakKernel &kernel, int64_t iterations,
                          uint32_t blocks) {
    uint64_t to = device.allocate(8);
    const void *arguments[] = {&to, &iterations};
    simulator::Counters before = device.counters();
    device.launch(kernel.name, {blocks},
                  {uint32_t(program::PeakKernel::kThreads)}, 0, arguments);
    simulator::Counters counted = device.counters();
    counted.flop -= before.flop;
    counted.tensorFlop -= before.tensorFlop;
    counted.wavefronts -= before.wavefronts;
    counted.idealWavefronts -= before.idealWavefronts;
    return counted;
  }

  void expectNoFindings() {
    for (const simulator::Finding &finding : device.findings())
      ADD_FAILURE() << toString(finding);
  }

  simulator::Device device;
};
} // namespace

TEST_F(PeakKernelsTest, ExecuteTheFlopThatRatesAreComputedFrom) {
  for (const program::DeviceArch &arch : program::deviceArchs) {
    load(arch);
    for (const program::PeakKernel &kernel : program::peakKernels) {
      EXPECT_EQ(device.hasKernel(kernel.name),
                kernel.capability <= arch.capability)
          << kernel.name << " for " << arch.name;
      if (!device.hasKernel(kernel.name))
        continue;
      bool isOfMatrices = kernel.instruction != program::PeakInstruction::Fma;
      for (int64_t iterations : {1, 3}) {
        simulator::Counters counted = run(kernel, iterations, 2);
        uint64_t expected = uint64_t(2 * iterations * kernel.flop);
        EXPECT_EQ(counted.tensorFlop, isOfMatrices ? expected : 0)
            << kernel.name;
        EXPECT_EQ(counted.flop, isOfMatrices ? 0 : expected) << kernel.name;
        EXPECT_EQ(counted.wavefronts, counted.idealWavefronts) << kernel.name;
      }
    }
  }
  expectNoFindings();
}

TEST_F(PeakKernelsTest, StreamsMoveEveryElementOnce) {
  load(program::deviceArchs[0]);
  const uint32_t blocks = 3;
  const size_t count = blocks * program::StreamKernel::kThreads *
                       program::StreamKernel::kBytes / sizeof(float);
  std::vector<float> b(count), c(count), a(count);
  for (size_t i = 0; i < count; ++i) {
    b[i] = float(i);
    c[i] = float(i % 7);
  }
  const size_t bytes = count * sizeof(float);
  uint64_t arrays[] = {device.allocate(bytes), device.allocate(bytes),
                       device.allocate(bytes)};
  device.write(arrays[1], b.data(), bytes);
  device.write(arrays[2], c.data(), bytes);
  const void *arguments[] = {&arrays[0], &arrays[1], &arrays[2]};
  for (const program::StreamKernel &kernel :
       {program::triadKernel, program::copyKernel}) {
    uint64_t before = device.counters().sectors;
    device.launch(kernel.name, {blocks},
                  {uint32_t(program::StreamKernel::kThreads)}, 0, arguments);
    EXPECT_EQ(device.counters().sectors - before, kernel.arrays * bytes / 32);
    device.read(arrays[0], a.data(), bytes);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(a[i], kernel.arrays == 3 ? b[i] + 3 * c[i] : b[i]) << i;
  }
  expectNoFindings();
}

TEST_F(PeakKernelsTest, ClocksAdvanceFromLaunchToLaunch) {
  load(program::deviceArchs[0]);
  const uint32_t blocks = 4;
  std::vector<program::ClockReading> first(blocks), second(blocks);
  const size_t bytes = blocks * sizeof(program::ClockReading);
  uint64_t to = device.allocate(bytes);
  const void *arguments[] = {&to};
  for (std::vector<program::ClockReading> *readings : {&first, &second}) {
    device.launch(program::clockKernel, {blocks}, {1}, 0, arguments);
    device.read(to, readings->data(), bytes);
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    EXPECT_EQ(first[i].multiprocessor, i);
    EXPECT_GT(second[i].cycles, first[i].cycles);
    EXPECT_GT(second[i].nanoseconds, first[i].nanoseconds);
  }
  expectNoFindings();
}
