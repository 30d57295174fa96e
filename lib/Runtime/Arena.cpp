// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Failure.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <sys/mman.h>

using namespace netc::runtime;

static const size_t hugePage = size_t(2) << 20;

/// Bytes, of a line `key: 12 kB`, or `otherwise`.
static int64_t bytesIn(const char *path, const std::string &key,
                       int64_t otherwise) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0)
      return std::stoll(line.substr(key.size())) * 1024;
  return otherwise;
}

int64_t netc::runtime::peakRss() {
  return bytesIn("/proc/self/status", "VmHWM:", 0);
}

int64_t netc::runtime::availableMemory() {
  int64_t available = bytesIn(
      "/proc/meminfo", "MemAvailable:", std::numeric_limits<int64_t>::max());
  int64_t limit, used;
  std::ifstream max("/sys/fs/cgroup/memory.max");
  std::ifstream current("/sys/fs/cgroup/memory.current");
  if (max >> limit && current >> used)
    available = std::min(available, std::max(limit - used, int64_t(0)));
  return available;
}

Arena::Arena(int64_t bytes) {
  int64_t available = availableMemory();
  auto fail = [&] {
    return Failure(3, "training needs " + std::to_string(bytes) +
                          " bytes of memory, " + std::to_string(available) +
                          " are available");
  };
  if (bytes > available)
    throw fail();
  size = size_t(bytes) + hugePage;
  mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    throw fail();
  uintptr_t address = reinterpret_cast<uintptr_t>(mapping);
  start = static_cast<char *>(mapping) + (-address & (hugePage - 1));
  madvise(start, size_t(bytes), MADV_HUGEPAGE);
}

Arena::~Arena() { munmap(mapping, size); }
