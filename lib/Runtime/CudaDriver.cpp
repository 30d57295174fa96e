// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/CudaDriver.h"
#include "lib/Runtime/Failure.h"

#include <dlfcn.h>

using namespace netc::runtime;

CudaDriver::CudaDriver(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Failure(3, std::string("there is no CUDA driver: ") + dlerror());
#define NETC_LOOK_UP(member, name, parameters)                                 \
  member = reinterpret_cast<Result(*) parameters>(dlsym(handle, #name));       \
  if (!member)                                                                 \
    throw Failure(3, "the CUDA driver is too old: it has no `" #name "`");
  NETC_CUDA_FUNCTIONS(NETC_LOOK_UP)
#undef NETC_LOOK_UP
  simulatorReport = reinterpret_cast<const char *(*)()>(
      dlsym(handle, "netc_simulator_report"));
}

std::string CudaDriver::nameOf(Result result) const {
  const char *name = nullptr;
  return !errorName(result, &name) && name ? name
                                           : "error " + std::to_string(result);
}

int CudaDriver::attribute(Attribute which, int device) const {
  int value = 0;
  check(deviceAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

int CudaDriver::firstDevice() const {
  if (Result result = init(0))
    throw Failure(3, "the CUDA driver finds no device: " + nameOf(result));
  int count = 0, device = 0;
  check(deviceCount(&count), "cuDeviceGetCount");
  if (!count)
    throw Failure(3, "the CUDA driver finds no device");
  check(deviceGet(&device, 0), "cuDeviceGet");
  return device;
}

void CudaDriver::check(Result result, const char *function) const {
  if (result)
    throw Failure(3, std::string("the CUDA driver fails in `") + function +
                         "`: " + nameOf(result));
}
