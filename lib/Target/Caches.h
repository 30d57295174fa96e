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

/// The data caches of a machine by hwloc, from L1 to the last level before one
/// of unknown size.
std::vector<runtime::Cache> cachesOf(hwloc_topology *machine);
/// The caches of the cores that this process may use; none if hwloc fails.
std::vector<runtime::Cache> cachesHere();

/// The argument of a program's `--caches`: `2x32768,1x1048576`.
std::string textOf(const std::vector<runtime::Cache> &caches);

} // namespace netc

#endif // NETC_LIB_TARGET_CACHES_H
