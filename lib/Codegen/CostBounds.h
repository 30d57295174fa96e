// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bounds by which the passes that all targets share decide what to fuse and
// what to compute again. None is the size of a machine's cache: linalg is the
// same for every target, so each has to hold, with room, on all of them. What
// depends on the machine is decided by a target's own passes, from TargetInfo
// or DeviceInfo.

#ifndef NETC_LIB_CODEGEN_COSTBOUNDS_H
#define NETC_LIB_CODEGEN_COSTBOUNDS_H

#include <cstdint>

namespace netc {

/// An operand with this many times fewer elements than another one stays in
/// some cache while the other one is read.
constexpr int64_t kCachedRatio = 8;

/// A tensor from this size on (256 KB of f32) is seldom in a cache near the
/// cores when another kernel reads it: recomputing an element by up to
/// `kMaxRecomputedOps` operations is as fast as loading it.
constexpr int64_t kMinRecomputedElements = 1 << 16, kMaxRecomputedOps = 6;

/// A tensor from this size on (4 MB of f32) comes from memory when another
/// kernel reads it: recomputing an element as a sum of up to
/// `kMaxRecomputedProducts` products is as fast as loading it.
constexpr int64_t kMinUncachedElements = 1 << 20, kMaxRecomputedProducts = 16;

/// A copy that transposes an operand costs little beside a product with at
/// least this many rows for each element, and sums at least this long.
constexpr int64_t kMinTransposedRows = 512, kMinTransposedSum = 64;

} // namespace netc

#endif // NETC_LIB_CODEGEN_COSTBOUNDS_H
