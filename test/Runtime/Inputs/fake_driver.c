/* Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
   See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A CUDA driver that does nothing but what FAIL names. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fails(const char *what) {
  const char *wanted = getenv("FAIL");
  return wanted && !strcmp(wanted, what);
}

int cuInit(unsigned flags) { return fails("init") ? 100 : 0; }
int cuDeviceGetCount(int *count) {
  *count = !fails("count");
  return 0;
}
int cuDriverGetVersion(int *version) {
  *version = fails("version") ? 10020 : fails("threads") ? 13000 : 12000;
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute) {
  switch (attribute) {
  case 13: /* clock in kHz */
    *value = 1500000;
    return 0;
  case 16: /* multiprocessors */
    *value = 100;
    return 0;
  case 36: /* memory clock in kHz */
    *value = 2500000;
    return 0;
  case 37: /* memory width in bits */
    *value = 4096;
    return 0;
  case 38: /* bytes of L2 */
    *value = 50 << 20;
    return 0;
  }
  *value = attribute == 75 ? (fails("capability") ? 7 : 9) : 0;
  return 0;
}
int cuDeviceGetName(char *name, int bytes) {
  snprintf(name, (size_t)bytes, "fake GPU");
  return 0;
}
int cuDeviceGetPCIBusId(char *id, int bytes) {
  snprintf(id, (size_t)bytes, "0000:1b:00.0");
  return 0;
}
int cuMemGetInfo_v2(size_t *available, size_t *all) {
  *available = *all = fails("memory") ? 1000 : fails("small") ? 1 << 20 : 1 << 30;
  return 0;
}
int cuModuleLoadDataEx(void **module, const void *code, unsigned options, int *keys, void **values) {
  if (fails("compile")) {
    strcpy((char *)values[0], "ptxas error: wrong");
    return 218;
  }
  for (unsigned i = 0; i < options; ++i)
    if (keys[i] == 34) { /* threads that compile; 0: one for each processor */
      sprintf((char *)values[0], "%d threads", (int)(intptr_t)values[i]);
      return 218;
    }
  return fails("new") ? 222 : 0;
}
int cuGetErrorName(int error, const char **name) {
  *name = error == 100   ? "CUDA_ERROR_NO_DEVICE"
          : error == 218 ? "CUDA_ERROR_INVALID_PTX"
          : error == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
          : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : 0;
  return *name == 0;
}
/* Adds a line to the file KERNELS when peaks are measured. */
int cuModuleGetFunction(void **function, void *module, const char *name) {
  const char *kernels = getenv("KERNELS");
  if (strcmp(name, "fma_f32"))
    return 0;
  FILE *file = kernels ? fopen(kernels, "a") : 0;
  if (file) {
    fprintf(file, "%s\n", name);
    fclose(file);
  }
  return fails("peaks") ? 500 : 0;
}
int cuEventElapsedTime(float *milliseconds) {
  *milliseconds = 0.5f;
  return 0;
}
int cuStreamEndCapture(void *stream, void **graph) {
  *graph = graph;
  return 0;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
  *executable = graph;
  return 0;
}
#define STUB(name)                                                                                                             \
  int name() { return fails(#name) ? 999 : 0; }
STUB(cuDeviceGet)
STUB(cuDevicePrimaryCtxRetain)
STUB(cuCtxSetCurrent)
STUB(cuMemAlloc_v2)
STUB(cuMemFree_v2)
STUB(cuMemsetD8_v2)
STUB(cuMemcpyHtoD_v2)
STUB(cuMemcpyDtoH_v2)
STUB(cuModuleUnload)
STUB(cuFuncSetAttribute)
STUB(cuModuleGetGlobal_v2)
STUB(cuStreamCreate)
STUB(cuStreamDestroy_v2)
STUB(cuLaunchKernel)
STUB(cuStreamBeginCapture_v2)
STUB(cuGraphDestroy)
STUB(cuGraphExecDestroy)
STUB(cuGraphLaunch)
STUB(cuEventCreate)
STUB(cuEventDestroy_v2)
STUB(cuEventRecord)
#ifndef OLD
int cuStreamSynchronize() { return fails("run") ? 700 : 0; }
#endif
