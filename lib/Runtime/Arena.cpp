// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Arena.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utility>

using namespace netc::runtime;

static const size_t hugePage = size_t(2) << 20;

/// The number in a line that begins with `key`, or 0.
static int64_t numberIn(const char *path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key, 0) == 0)
      return std::atoll(line.c_str() + key.size());
  return 0;
}

/// Bytes of memory of this process, from a line in /proc that is in kB.
static int64_t taken(const char *kind) {
  return numberIn("/proc/self/status", kind) * 1024;
}

int64_t netc::runtime::peakRss() { return taken("VmHWM:"); }

bool netc::runtime::restartPeakRss() {
  return bool(std::ofstream("/proc/self/clear_refs") << 5 << std::flush);
}

int64_t netc::runtime::availableMemory(bool toAnother) {
  int64_t available = std::numeric_limits<int64_t>::max();
  auto limitTo = [&](int64_t limit, int64_t used) {
    available = std::min(available, std::max(limit - used, int64_t(0)));
  };
  if (int64_t free = numberIn("/proc/meminfo", "MemAvailable:"))
    limitTo(free * 1024, 0);
  int64_t limit, used;
  std::ifstream max("/sys/fs/cgroup/memory.max");
  std::ifstream current("/sys/fs/cgroup/memory.current");
  const char *stat = "/sys/fs/cgroup/memory.stat";
  // `memory.current` includes cached files, which the kernel can drop.
  if (max >> limit && current >> used)
    limitTo(limit, used - numberIn(stat, "active_file ") -
                       numberIn(stat, "inactive_file "));
  rlimit most;
  for (auto [kind, used] :
       {std::pair(RLIMIT_AS, "VmSize:"), std::pair(RLIMIT_DATA, "VmData:")})
    if (!getrlimit(kind, &most) && most.rlim_cur != RLIM_INFINITY)
      limitTo(int64_t(most.rlim_cur), toAnother ? 0 : taken(used));
  return available;
}

static LackOfMemory needs(int64_t arena, int64_t data, int64_t available) {
  return {"training needs " + std::to_string(arena) + " bytes of memory" +
              (data ? " and " + std::to_string(data) + " for its data" : "") +
              ", " + std::to_string(available) + " are available",
          arena + data, available};
}

std::optional<LackOfMemory>
netc::runtime::lackOfMemory(int64_t arena, int64_t data, bool toAnother) {
  int64_t available = availableMemory(toAnother);
  if (arena <= available - data)
    return std::nullopt;
  return needs(arena, data, available);
}

Arena::Arena(int64_t bytes) {
  if (std::optional<LackOfMemory> lack = lackOfMemory(bytes, /*data=*/0))
    throw *lack;
  size = size_t(bytes) + hugePage;
  mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    throw needs(bytes, /*data=*/0, availableMemory());
  uintptr_t address = reinterpret_cast<uintptr_t>(mapping);
  start = static_cast<char *>(mapping) + (-address & (hugePage - 1));
  madvise(start, size_t(bytes), MADV_HUGEPAGE);
}

Arena::~Arena() { munmap(mapping, size); }
