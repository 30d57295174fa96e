// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Caches.h"

#include <gtest/gtest.h>
#include <hwloc.h>

using namespace netc;

/// What is passed on of a machine in hwloc's notation.
static std::string cachesOf(const char *machine) {
  hwloc_topology_t topology;
  EXPECT_EQ(hwloc_topology_init(&topology), 0);
  EXPECT_EQ(hwloc_topology_set_synthetic(topology, machine), 0);
  EXPECT_EQ(hwloc_topology_load(topology), 0);
  std::string text = textOf(cachesOf(topology));
  hwloc_topology_destroy(topology);
  return text;
}

TEST(Caches, AreThoseThatHwlocKnows) {
  // Two packages, each with an L3; threads of a core share its caches, and
  // instructions have their own.
  EXPECT_EQ(cachesOf("pack:2 l3:1(size=33554432) l2:4(size=1048576) "
                     "l1d:1(size=32768) l1i:1(size=65536) core:1 pu:2"),
            "8x32768,8x1048576,2x33554432");
  // Cores that share an L2, which is the last.
  EXPECT_EQ(cachesOf("pack:1 l2:2(size=4194304) l1d:4(size=65536) core:1 pu:1"),
            "8x65536,2x4194304");
  EXPECT_EQ(cachesOf("pack:1 core:4 pu:1"), "");
}

TEST(Caches, OfThisMachineHaveSizes) {
  for (const runtime::Cache &cache : cachesHere()) {
    EXPECT_GE(cache.count, 1);
    EXPECT_GE(cache.bytes, 1024);
  }
}

TEST(Caches, OfThreadsAreThoseThatTheyReach) {
  runtime::Cache cache{4, 1000};
  EXPECT_EQ(cache.of(1), 1000);
  EXPECT_EQ(cache.of(4), 4000);
  EXPECT_EQ(cache.of(8), 4000);
}
