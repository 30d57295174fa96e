/* Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
   See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A management library whose device has what NVML_FAIL names. */

#include <stdlib.h>
#include <string.h>

static int fails(const char *what) {
  const char *wanted = getenv("NVML_FAIL");
  return wanted && !strcmp(wanted, what);
}

int nvmlInit_v2(void) { return fails("init"); }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device) {
  *device = &device;
  return fails("device") || strcmp(id, "0000:1b:00.0");
}
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *megahertz) {
  *megahertz = clock == 1 ? 1400 : 2500;
  return fails("clock");
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  *milliwatts = 400000;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
  static unsigned long long used;
  *millijoules = used += 2000000;
  return 0;
}
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
  *celsius = 60;
  return sensor;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
  *reasons = fails("thermal") ? 0x44 : 0x4;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *infos) {
  *count = fails("shared") ? 2 : 1;
  return 7; /* there is no space for them */
}
