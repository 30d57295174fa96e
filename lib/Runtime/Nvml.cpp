// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Nvml.h"

#include <dlfcn.h>

using namespace netc::runtime;

/// Clocks of the library.
static const int ofMultiprocessors = 1, ofMemory = 2;

Nvml::Nvml(const std::string &busId)
    : handle(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (!handle) {
    missing = dlerror();
    return;
  }
#define NETC_LOOK_UP(member, name, parameters)                                 \
  member = reinterpret_cast<Result(*) parameters>(dlsym(handle, #name));
  NETC_NVML_FUNCTIONS(NETC_LOOK_UP)
#undef NETC_LOOK_UP
  if (!init || init())
    missing = "NVML cannot be initialized";
  else if (!find || find(busId.c_str(), &device))
    missing = "NVML does not know the device " + busId;
}

DeviceState Nvml::state() const {
  DeviceState state;
  if (!missing.empty())
    return state;
  // The result of a function of one number, in units of `unit`.
  auto ask = [&](auto function, double unit, auto... which) {
    std::optional<double> value;
    if (unsigned number = 0; function && !function(device, which..., &number))
      value = number * unit;
    return value;
  };
  state.hertz = ask(clock, 1e6, ofMultiprocessors);
  state.memoryHertz = ask(clock, 1e6, ofMemory);
  state.watts = ask(power, 1e-3);
  state.celsius = ask(temperature, 1, /*sensor=*/0);
  unsigned long long wide = 0;
  if (energy && !energy(device, &wide))
    state.joules = double(wide) * 1e-3;
  if (wide = 0; reasons && !reasons(device, &wide))
    state.slowdowns = wide;
  // Without space for them, it returns their number and an error.
  unsigned count = 0;
  if (processes)
    processes(device, &count, nullptr);
  state.processes = int(count);
  return state;
}
