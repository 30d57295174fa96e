// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions of the CUDA driver that programs use, by its binary interface
// since CUDA 11.4. The library is loaded when a program starts, so that
// building and linking need nothing of CUDA.

#ifndef NETC_LIB_RUNTIME_CUDADRIVER_H
#define NETC_LIB_RUNTIME_CUDADRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace netc::runtime {

/// The CUDA driver's functions, loaded from its library.
class CudaDriver {
public:
  using Result = int; ///< 0, or an error number; see errorName()
  using Address = uint64_t;
  struct ContextOf;
  struct ModuleOf;
  struct FunctionOf;
  struct StreamOf;
  struct GraphOf;
  struct ExecutableGraphOf;
  struct EventOf;
  using Context = ContextOf *;
  using Module = ModuleOf *;
  using Function = FunctionOf *;
  using Stream = StreamOf *;
  using Graph = GraphOf *;
  using ExecutableGraph = ExecutableGraphOf *;
  using Event = EventOf *;

  /// Attributes of a device. Clocks are in kHz, and the width is in bits.
  enum Attribute {
    Clock = 13,
    Multiprocessors = 16,
    MemoryClock = 36,
    MemoryWidth = 37,
    L2Bytes = 38,
    CapabilityMajor = 75,
    CapabilityMinor = 76
  };
  /// Attributes of a function.
  enum FunctionAttribute { MostDynamicSharedBytes = 8 };
  /// Keys of options of cuModuleLoadDataEx.
  enum LoadOption { ErrorLog = 5, ErrorLogBytes = 6, CompilingThreads = 34 };

  /// Throws a Failure with status 3 if the library or one of its functions is
  /// missing.
  explicit CudaDriver(const std::string &library);
  /// Throws a Failure with status 3 if `result`, of a call of `function`, is an
  /// error.
  void check(Result result, const char *function) const;
  std::string nameOf(Result result) const;
  int attribute(Attribute which, int device) const;
  /// Initializes the driver, and returns its first device. Throws a Failure
  /// with status 3 if there is none.
  int firstDevice() const;

#define NETC_CUDA_FUNCTIONS(X)                                                 \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverVersion, cuDriverGetVersion, (int *version))                         \
  X(deviceCount, cuDeviceGetCount, (int *count))                               \
  X(deviceGet, cuDeviceGet, (int *device, int number))                         \
  X(deviceName, cuDeviceGetName, (char *name, int bytes, int device))          \
  X(deviceAttribute, cuDeviceGetAttribute,                                     \
    (int *value, int attribute, int device))                                   \
  X(busId, cuDeviceGetPCIBusId, (char *id, int bytes, int device))             \
  X(retainContext, cuDevicePrimaryCtxRetain, (Context * context, int device))  \
  X(setContext, cuCtxSetCurrent, (Context context))                            \
  X(memoryInfo, cuMemGetInfo_v2, (size_t * available, size_t * all))           \
  X(allocate, cuMemAlloc_v2, (Address * address, size_t bytes))                \
  X(release, cuMemFree_v2, (Address address))                                  \
  X(fill, cuMemsetD8_v2, (Address address, unsigned char value, size_t bytes)) \
  X(upload, cuMemcpyHtoD_v2, (Address to, const void *from, size_t bytes))     \
  X(download, cuMemcpyDtoH_v2, (void *to, Address from, size_t bytes))         \
  X(loadModule, cuModuleLoadDataEx,                                            \
    (Module * module, const void *code, unsigned options, int *keys,           \
     void **values))                                                           \
  X(unloadModule, cuModuleUnload, (Module module))                             \
  X(getFunction, cuModuleGetFunction,                                          \
    (Function * function, Module module, const char *name))                    \
  X(setFunction, cuFuncSetAttribute,                                           \
    (Function function, int attribute, int value))                             \
  X(getVariable, cuModuleGetGlobal_v2,                                         \
    (Address * address, size_t * bytes, Module module, const char *name))      \
  X(createStream, cuStreamCreate, (Stream * stream, unsigned flags))           \
  X(destroyStream, cuStreamDestroy_v2, (Stream stream))                        \
  X(synchronize, cuStreamSynchronize, (Stream stream))                         \
  X(launch, cuLaunchKernel,                                                    \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ,        \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     Stream stream, void **arguments, void **extra))                           \
  X(beginCapture, cuStreamBeginCapture_v2, (Stream stream, int mode))          \
  X(endCapture, cuStreamEndCapture, (Stream stream, Graph * graph))            \
  X(instantiate, cuGraphInstantiateWithFlags,                                  \
    (ExecutableGraph * executable, Graph graph, unsigned long long flags))     \
  X(destroyGraph, cuGraphDestroy, (Graph graph))                               \
  X(destroyExecutable, cuGraphExecDestroy, (ExecutableGraph graph))            \
  X(launchGraph, cuGraphLaunch, (ExecutableGraph graph, Stream stream))        \
  X(createEvent, cuEventCreate, (Event * event, unsigned flags))               \
  X(destroyEvent, cuEventDestroy_v2, (Event event))                            \
  X(recordEvent, cuEventRecord, (Event event, Stream stream))                  \
  X(elapsedTime, cuEventElapsedTime,                                           \
    (float *milliseconds, Event start, Event end))                             \
  X(errorName, cuGetErrorName, (Result error, const char **name))
#define NETC_MEMBER(member, name, parameters) Result(*member) parameters;
  NETC_CUDA_FUNCTIONS(NETC_MEMBER)
#undef NETC_MEMBER

  /// JSON with the counters and findings of the simulator's library; null for
  /// other libraries.
  const char *(*simulatorReport)();
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_CUDADRIVER_H
