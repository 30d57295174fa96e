// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/CudaDevice.h"
#include "lib/Program/DeviceArch.h"
#include "lib/Program/DeviceCode.h"
#include "lib/Runtime/Failure.h"

#include <algorithm>
#include <cstdio>

using namespace netc::program;
using namespace netc::runtime;

/// The most launches of a step that becomes a graph. To instantiate a larger
/// graph would take longer than it saves.
static const int64_t kGraphLaunches = 100000;

/// More nanoseconds than the host takes to launch a kernel and to record an
/// event.
static const int64_t kLaunchTime = 10'000;

static Gpu factsOf(const CudaDriver &driver, int device) {
  Gpu facts;
  char text[256] = "";
  driver.check(driver.deviceName(text, sizeof text, device), "cuDeviceGetName");
  facts.name = text;
  driver.check(driver.driverVersion(&facts.driver), "cuDriverGetVersion");
  facts.major = driver.attribute(CudaDriver::CapabilityMajor, device);
  facts.minor = driver.attribute(CudaDriver::CapabilityMinor, device);
  facts.multiprocessors = driver.attribute(CudaDriver::Multiprocessors, device);
  facts.l2 = driver.attribute(CudaDriver::L2Bytes, device);
  return facts;
}

/// From this version of CUDA on, a driver compiles with several threads.
static const int kDriverWithThreads = 13000;

/// `names` are the architectures that there is code for.
static Failure noCodeFor(const Gpu &gpu, const std::string &names) {
  return Failure(3, "the code is for " + names + "; " + gpu.name + " is sm_" +
                        std::to_string(gpu.capability()) +
                        ", and its driver is of CUDA " + gpu.driverText());
}

CudaDevice::CudaDevice(const Program &program, void (*step)(char *arena),
                       const char *code, const std::string &library)
    : driver(library), function(step), counted(program.counted),
      kernels(program.kernels) {
  int device = driver.firstDevice();
  facts = factsOf(driver, device);
  char text[256] = "";
  driver.check(driver.busId(text, sizeof text, device), "cuDeviceGetPCIBusId");
  bus = text;
  hertz = 1e3 * driver.attribute(CudaDriver::Clock, device);
  // The memory transfers twice per cycle.
  bandwidth = 2 * 1e3 * driver.attribute(CudaDriver::MemoryClock, device) *
              driver.attribute(CudaDriver::MemoryWidth, device) / 8;
  facts.arch = codeFor(code).arch;

  CudaDriver::Context context;
  driver.check(driver.retainContext(&context, device),
               "cuDevicePrimaryCtxRetain");
  driver.check(driver.setContext(context), "cuCtxSetCurrent");
  size_t available = 0, all = 0;
  driver.check(driver.memoryInfo(&available, &all), "cuMemGetInfo_v2");
  if (size_t(program.arena) > available)
    throw LackOfMemory("training needs " + std::to_string(program.arena) +
                           " bytes of memory, " + facts.name + " has " +
                           std::to_string(available) + " available",
                       program.arena, int64_t(available));
  load(program, code);
  driver.check(driver.createStream(&stream, /*flags=*/0), "cuStreamCreate");
  driver.check(driver.allocate(&arena, size_t(program.arena)), "cuMemAlloc_v2");
  driver.check(driver.fill(arena, 0, size_t(program.arena)), "cuMemsetD8_v2");
}

std::string CudaDevice::archToMeasure() {
  CudaDriver driver(traitsOf(TargetKind::Cuda).driver);
  int device = driver.firstDevice();
  if (driver.simulatorReport)
    throw Failure(3, "the CUDA driver is netc's simulator, by which nothing is "
                     "measured");
  Gpu gpu = factsOf(driver, device);
  std::string last, names;
  for (const DeviceArch &arch : deviceArchs) {
    names += (names.empty() ? "" : ", ") + std::string(arch.name);
    if (arch.runsOn(gpu.capability(), gpu.driver))
      last = arch.name;
  }
  if (last.empty())
    throw noCodeFor(gpu, names);
  return last;
}

CudaDevice::~CudaDevice() {
  // What fails here has failed before, and was reported.
  for (CudaDriver::Event event : events)
    driver.destroyEvent(event);
  if (graph)
    driver.destroyExecutable(graph);
  driver.destroyStream(stream);
  driver.unloadModule(module);
  driver.release(arena);
}

DeviceCode CudaDevice::codeFor(const char *code) const {
  std::optional<DeviceCode> chosen;
  std::string names;
  for (DeviceCode each : deviceCodes(code)) {
    names += (names.empty() ? "" : ", ") + std::string(each.arch);
    const DeviceArch *arch = deviceArchNamed(each.arch);
    if (arch && arch->runsOn(facts.capability(), facts.driver))
      chosen = each; // the most specific text is last
  }
  if (!chosen)
    throw noCodeFor(facts, names);
  return *chosen;
}

CudaDriver::Module CudaDevice::compile(const char *code) const {
  std::vector<char> log(1 << 14);
  // 0 threads are one for each processor.
  int keys[] = {CudaDriver::ErrorLog, CudaDriver::ErrorLogBytes,
                CudaDriver::CompilingThreads};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size()), nullptr};
  unsigned options = facts.driver >= kDriverWithThreads ? 3 : 2;
  CudaDriver::Module module = nullptr;
  if (CudaDriver::Result result =
          driver.loadModule(&module, codeFor(code).text, options, keys, values))
    throw Failure(3, "the CUDA driver cannot compile the kernels: " +
                         driver.nameOf(result) + (log[0] ? ": " : "") +
                         log.data());
  return module;
}

void CudaDevice::load(const Program &program, const char *code) {
  int64_t begin = now();
  module = compile(code);
  facts.compiling = double(now() - begin) * 1e-9;
  for (const Kernel &kernel : program.kernels) {
    functions.emplace_back();
    driver.check(
        driver.getFunction(&functions.back(), module, kernel.name.c_str()),
        "cuModuleGetFunction");
    if (kernel.sharedBytes)
      driver.check(driver.setFunction(functions.back(),
                                      CudaDriver::MostDynamicSharedBytes,
                                      int(kernel.sharedBytes)),
                   "cuFuncSetAttribute");
  }
}

void CudaDevice::upload(int64_t offset, const char *from, int64_t bytes) {
  driver.check(driver.upload(arena + uint64_t(offset), from, size_t(bytes)),
               "cuMemcpyHtoD_v2");
}

void CudaDevice::download(int64_t offset, char *to, int64_t bytes) const {
  driver.check(driver.download(to, arena + uint64_t(offset), size_t(bytes)),
               "cuMemcpyDtoH_v2");
}

void CudaDevice::launched(int64_t number, void **arguments) {
  const Kernel &kernel = kernels[size_t(number)];
  ++facts.launches;
  // Exceptions must not propagate through compiled code.
  if (failed)
    return;
  failed =
      driver.launch(functions[size_t(number)], unsigned(kernel.blocks), 1, 1,
                    unsigned(kernel.threads), 1, 1,
                    unsigned(kernel.sharedBytes), stream, arguments, nullptr);
  failedIn = "cuLaunchKernel";
}

void CudaDevice::run() {
  facts.launches = 0;
  running = this;
  function(reinterpret_cast<char *>(arena));
  running = nullptr;
  driver.check(failed, failedIn);
}

void CudaDevice::capture() {
  CudaDriver::Graph captured;
  // Capture only launches by this thread.
  driver.check(driver.beginCapture(stream, /*mode=*/1),
               "cuStreamBeginCapture_v2");
  run();
  driver.check(driver.endCapture(stream, &captured), "cuStreamEndCapture");
  driver.check(driver.instantiate(&graph, captured, /*flags=*/0),
               "cuGraphInstantiateWithFlags");
  driver.check(driver.destroyGraph(captured), "cuGraphDestroy");
}

void CudaDevice::step(Recorder *recorder) {
  if (steps++ == 1 && facts.launches <= kGraphLaunches)
    capture();
  if (recorder)
    recorder->beginStep();
  int64_t begin = now();
  if (graph)
    driver.check(driver.launchGraph(graph, stream), "cuGraphLaunch");
  else
    run();
  driver.check(driver.synchronize(stream), "cuStreamSynchronize");
  lastStep = now() - begin;
  if (recorder)
    recorder->endStep();
}

void CudaDevice::mark() {
  if (failed)
    return;
  failedIn = "cuEventCreate";
  if (events.size() == marks) {
    events.emplace_back();
    failed = driver.createEvent(&events.back(), /*flags=*/0);
  }
  if (failed)
    return;
  failedIn = "cuEventRecord";
  failed = driver.recordEvent(events[marks++], stream);
}

void CudaDevice::ended(size_t op) {
  if (!marks)
    return;
  mark();
  timed.push_back(op);
}

void CudaDevice::timeOps(Recorder &recorder) {
  // Keep the device busy while the step is launched. Otherwise events would
  // measure the intervals between launches.
  if (graph)
    for (int64_t covered = 0; covered < facts.launches * kLaunchTime;
         covered += std::max<int64_t>(lastStep, kLaunchTime))
      driver.check(driver.launchGraph(graph, stream), "cuGraphLaunch");
  timed.clear();
  mark();
  run();
  driver.check(driver.synchronize(stream), "cuStreamSynchronize");
  marks = 0;
  recorder.beginStep();
  for (size_t i = 0; i < timed.size(); ++i) {
    float milliseconds = 0;
    driver.check(driver.elapsedTime(&milliseconds, events[i], events[i + 1]),
                 "cuEventElapsedTime");
    recorder.add(timed[i], int64_t(double(milliseconds) * 1e6));
  }
  recorder.endStep();
}

namespace {
/// Multiply-adds of a multiprocessor per cycle: of f32, and of matrices of 16
/// bits and tf32, by the manufacturer's documents.
struct Units {
  int capability, f32, halves, tf32;
};
} // namespace
static const Units unitsOfDevices[] = {{80, 64, 1024, 512},
                                       {90, 128, 2048, 1024}};

Peaks CudaDevice::datasheet() const {
  // Of other devices, matrices are unknown.
  Units units = {0, 128, 0, 0};
  for (const Units &known : unitsOfDevices)
    if (known.capability == facts.capability())
      units = known;
  Peaks peaks;
  peaks.hertz = hertz;
  for (auto [format, count] : {std::pair<const char *, int>{"f32", units.f32},
                               {"bf16", units.halves},
                               {"f16", units.halves},
                               {"tf32", units.tf32}})
    if (count)
      peaks.perCycle[format] = 2.0 * count * facts.multiprocessors;
  char text[80];
  std::snprintf(text, sizeof text,
                "%d SMs x %d multiply-adds a cycle at %.3g GHz",
                facts.multiprocessors, units.f32, hertz * 1e-9);
  peaks.assumed = text;
  peaks.datasheetBandwidth = bandwidth;
  return peaks;
}

std::vector<int64_t> CudaDevice::counts() const {
  if (!counted)
    return {};
  CudaDriver::Address address;
  size_t bytes;
  driver.check(driver.getVariable(&address, &bytes, module, "netc_counts"),
               "cuModuleGetGlobal_v2");
  std::vector<int64_t> counts(bytes / sizeof(int64_t));
  driver.check(driver.download(counts.data(), address, bytes),
               "cuMemcpyDtoH_v2");
  return counts;
}
