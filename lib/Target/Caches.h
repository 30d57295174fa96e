// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_CACHES_H
#define NETC_LIB_TARGET_CACHES_H

#include "lib/Runtime/Machine.h"

#include <string>
#include <vector>

struct hwloc_topology;

namespace netc {

/// The caches of data in what hwloc says of a machine, from the nearest level
/// on. A level whose size it does not know ends them.
std::vector<runtime::Cache> cachesOf(hwloc_topology *machine);
/// Those that this process, and what it starts, may use; none if hwloc fails.
std::vector<runtime::Cache> cachesHere();

/// As programs take them with `--caches`: `2x32768,1x1048576`.
std::string textOf(const std::vector<runtime::Cache> &caches);

} // namespace netc

#endif // NETC_LIB_TARGET_CACHES_H
