// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A CUDA driver whose only device is the simulator. Programs load it instead of
// NVIDIA's. It has the functions that lib/Runtime/CudaDriver.h declares.

#include "lib/Simulator/Simulator.h"

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

using namespace netc::simulator;

namespace {
/// Error numbers of CUDA.
enum Result {
  Success = 0,
  InvalidValue = 1,
  InvalidPtx = 218,
  NotFound = 500,
  NotSupported = 801,
};

struct Function {
  std::string name;
};

/// Recorded launches in their order.
using Graph = std::vector<std::function<void()>>;
struct Stream {
  bool isCapturing = false;
  Graph captured;
};

Device &device() {
  static Device device;
  return device;
}
} // namespace

/// Calls the body of a function of the C interface. An exception becomes an
/// error number.
template <typename Body> static int guarded(Body body) {
  try {
    body();
    return Success;
  } catch (const std::out_of_range &) {
    return InvalidValue;
  }
}

#define NETC_API extern "C" __attribute__((visibility("default")))

NETC_API int cuInit(unsigned) { return Success; }
NETC_API int cuDriverGetVersion(int *version) {
  *version = 12000;
  return Success;
}
NETC_API int cuDeviceGetCount(int *count) {
  *count = 1;
  return Success;
}
NETC_API int cuDeviceGet(int *number, int) {
  *number = 0;
  return Success;
}
NETC_API int cuDeviceGetName(char *name, int bytes, int) {
  std::snprintf(name, size_t(bytes), "simulator");
  return Success;
}
NETC_API int cuDeviceGetPCIBusId(char *id, int bytes, int) {
  std::snprintf(id, size_t(bytes), "none");
  return Success;
}
NETC_API int cuDeviceGetAttribute(int *value, int attribute, int) {
  // Compute capability 9.0.
  *value = attribute == 75 ? 9 : 0;
  return Success;
}
NETC_API int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &device();
  return Success;
}
NETC_API int cuCtxSetCurrent(void *) { return Success; }
NETC_API int cuMemGetInfo_v2(size_t *available, size_t *all) {
  *available = *all = size_t(4) << 30;
  return Success;
}
NETC_API int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  *address = device().allocate(bytes);
  return Success;
}
NETC_API int cuMemFree_v2(uint64_t address) {
  device().release(address);
  return Success;
}
NETC_API int cuMemsetD8_v2(uint64_t address, unsigned char value,
                           size_t bytes) {
  return guarded([&] { device().fill(address, value, bytes); });
}
NETC_API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  return guarded([&] { device().write(to, from, bytes); });
}
NETC_API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return guarded([&] { device().read(from, to, bytes); });
}

/// Whether the simulated device has a module; it has one at a time.
static bool hasModule = false;

NETC_API int cuModuleLoadDataEx(void **module, const void *code,
                                unsigned options, int *keys, void **values) {
  const int errorLog = 5, errorLogBytes = 6;
  auto refuse = [&](int error, const char *why) {
    char *log = nullptr;
    size_t bytes = 0;
    for (unsigned i = 0; i < options; ++i)
      if (keys[i] == errorLog)
        log = static_cast<char *>(values[i]);
      else if (keys[i] == errorLogBytes)
        bytes = reinterpret_cast<size_t>(values[i]);
    if (log)
      std::snprintf(log, bytes, "%s", why);
    return error;
  };
  if (hasModule)
    return refuse(NotSupported, "the simulator has a module already");
  try {
    device().load(static_cast<const char *>(code));
  } catch (const PtxError &error) {
    return refuse(InvalidPtx, error.what());
  }
  hasModule = true;
  *module = &device();
  return Success;
}
NETC_API int cuModuleUnload(void *) {
  hasModule = false;
  return Success;
}
NETC_API int cuModuleGetFunction(void **function, void *, const char *name) {
  if (!device().hasKernel(name))
    return NotFound;
  *function = new Function{name};
  return Success;
}
NETC_API int cuFuncSetAttribute(void *, int, int) { return Success; }
NETC_API int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *,
                                  const char *name) {
  try {
    std::tie(*address, *bytes) = device().variable(name);
    return Success;
  } catch (const std::out_of_range &) {
    return NotFound;
  }
}

NETC_API int cuStreamCreate(void **stream, unsigned) {
  *stream = new Stream;
  return Success;
}
NETC_API int cuStreamDestroy_v2(void *stream) {
  delete static_cast<Stream *>(stream);
  return Success;
}
NETC_API int cuStreamSynchronize(void *) { return Success; }

NETC_API int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                            unsigned gridZ, unsigned blockX, unsigned blockY,
                            unsigned blockZ, unsigned sharedBytes,
                            void *streamOf, void **arguments, void **) {
  const std::string &name = static_cast<Function *>(function)->name;
  // As in CUDA, arguments are copied when the kernel is launched.
  auto values = std::make_shared<std::vector<std::vector<char>>>();
  for (uint32_t bytes : device().parametersOf(name)) {
    const char *from = static_cast<const char *>(arguments[values->size()]);
    values->emplace_back(from, from + bytes);
  }
  auto launch = [=] {
    std::vector<const void *> pointers;
    for (const std::vector<char> &value : *values)
      pointers.push_back(value.data());
    device().launch(name, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                    sharedBytes, pointers.data());
  };
  auto *stream = static_cast<Stream *>(streamOf);
  if (stream && stream->isCapturing)
    stream->captured.push_back(launch);
  else
    launch();
  return Success;
}

NETC_API int cuTensorMapEncodeTiled(void *map, int type, uint32_t axes,
                                    uint64_t address, const uint64_t *sizes,
                                    const uint64_t *strides,
                                    const uint32_t *box, const uint32_t *,
                                    int interleave, int swizzle, int,
                                    int fill) {
  const int f16 = 6, bf16 = 9, swizzle128Bytes = 3;
  if ((type != f16 && type != bf16) || interleave || fill ||
      swizzle != swizzle128Bytes)
    return NotSupported;
  auto encoded = encodeTensorMap(2, axes, address, sizes, strides, box);
  if (!encoded)
    return InvalidValue;
  std::memcpy(map, &*encoded, sizeof *encoded);
  return Success;
}

NETC_API int cuStreamBeginCapture_v2(void *stream, int) {
  static_cast<Stream *>(stream)->isCapturing = true;
  return Success;
}
NETC_API int cuStreamEndCapture(void *streamOf, void **graph) {
  auto *stream = static_cast<Stream *>(streamOf);
  stream->isCapturing = false;
  *graph = new Graph(std::move(stream->captured));
  stream->captured.clear();
  return Success;
}
NETC_API int cuGraphInstantiateWithFlags(void **executable, void *graph,
                                         unsigned long long) {
  *executable = new Graph(*static_cast<Graph *>(graph));
  return Success;
}
NETC_API int cuGraphDestroy(void *graph) {
  delete static_cast<Graph *>(graph);
  return Success;
}
NETC_API int cuGraphExecDestroy(void *graph) { return cuGraphDestroy(graph); }
NETC_API int cuGraphLaunch(void *graph, void *) {
  for (const std::function<void()> &launch : *static_cast<Graph *>(graph))
    launch();
  return Success;
}

// The simulator does not model time.
NETC_API int cuEventCreate(void **, unsigned) { return NotSupported; }
NETC_API int cuEventDestroy_v2(void *) { return NotSupported; }
NETC_API int cuEventRecord(void *, void *) { return NotSupported; }
NETC_API int cuEventElapsedTime(float *, void *, void *) {
  return NotSupported;
}

NETC_API int cuGetErrorName(int error, const char **name) {
  *name = error == InvalidPtx     ? "CUDA_ERROR_INVALID_PTX"
          : error == NotFound     ? "CUDA_ERROR_NOT_FOUND"
          : error == InvalidValue ? "CUDA_ERROR_INVALID_VALUE"
          : error == NotSupported ? "CUDA_ERROR_NOT_SUPPORTED"
                                  : nullptr;
  return *name ? Success : InvalidValue;
}

static nlohmann::ordered_json toJson(const Counters &counted) {
  return {{"launches", counted.launches},
          {"warp_instructions", counted.instructions},
          {"flop", counted.flop},
          {"tensor_flop", counted.tensorFlop},
          {"sectors", counted.sectors},
          {"ideal_sectors", counted.idealSectors},
          {"wavefronts", counted.wavefronts},
          {"ideal_wavefronts", counted.idealWavefronts}};
}

/// Counters and findings as JSON. Programs recognize the simulator by this
/// function.
NETC_API const char *netc_simulator_report() {
  static std::string text;
  nlohmann::ordered_json report = toJson(device().counters());
  report["kernels"] = nlohmann::ordered_json::object();
  for (const auto &[name, counted] : device().countersByKernel())
    report["kernels"][name] = toJson(counted);
  report["findings"] = nlohmann::ordered_json::array();
  for (const Finding &finding : device().findings())
    report["findings"].push_back(toString(finding));
  text = report.dump();
  return text.c_str();
}
