// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Caches.h"

#include <hwloc.h>

#include <cstdlib>

using namespace netc;
using runtime::Cache;

std::vector<Cache> netc::cachesOf(hwloc_topology *machine) {
  std::vector<Cache> caches;
  for (hwloc_obj_type_t level :
       {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
        HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    int count = 0;
    int64_t bytes = 0;
    for (hwloc_obj_t cache = nullptr;
         (cache = hwloc_get_next_obj_by_type(machine, level, cache)); ++count)
      bytes += int64_t(cache->attr->cache.size);
    if (!bytes)
      break;
    // Different kinds of cores may have caches of different sizes.
    caches.push_back({count, bytes / count});
  }
  return caches;
}

std::vector<Cache> netc::cachesHere() {
  std::vector<Cache> caches;
  // A system that does not describe its caches is no error: memory is the only
  // level then. Do not let hwloc print about it.
  setenv("HWLOC_HIDE_ERRORS", "2", /*overwrite=*/0);
  hwloc_topology_t machine;
  if (hwloc_topology_init(&machine))
    return caches;
  hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_cache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  if (!hwloc_topology_load(machine) &&
      !hwloc_get_cpubind(machine, allowed, HWLOC_CPUBIND_PROCESS) &&
      !hwloc_topology_restrict(machine, allowed, 0))
    caches = cachesOf(machine);
  hwloc_bitmap_free(allowed);
  hwloc_topology_destroy(machine);
  return caches;
}

std::string netc::textOf(const std::vector<Cache> &caches) {
  std::string text;
  for (const Cache &cache : caches)
    text += (text.empty() ? "" : ",") + std::to_string(cache.count) + "x" +
            std::to_string(cache.bytes);
  return text;
}
