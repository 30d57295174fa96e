// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Thresholds of the passes that all targets share, for fusion and
// recomputation. They are not the sizes of one machine's caches: the linalg ops
// are the same for every target, so each threshold must suit all of them, with
// a margin. What depends on the machine is decided by a target's own passes,
// from TargetInfo or DeviceInfo.

#ifndef NETC_LIB_CODEGEN_COSTBOUNDS_H
#define NETC_LIB_CODEGEN_COSTBOUNDS_H

#include <cstdint>

namespace netc {

/// An operand with this many times fewer elements than another one is assumed
/// to stay in a cache while the other one is read.
constexpr int64_t kCachedRatio = 8;

/// A tensor of this size or more (256 KB of f32) is seldom in a cache near the
/// cores when another kernel reads it. Recomputing an element by up to
/// `kMaxRecomputedOps` operations is as fast as loading it.
constexpr int64_t kMinRecomputedElements = 1 << 16, kMaxRecomputedOps = 6;

/// A tensor of this size or more (4 MB of f32) comes from memory when another
/// kernel reads it. Recomputing an element as a sum of up to
/// `kMaxRecomputedProducts` products is as fast as loading it.
constexpr int64_t kMinUncachedElements = 1 << 20, kMaxRecomputedProducts = 16;

/// A copy that transposes an operand costs little compared to a contraction in
/// which this many elements of the result or more use each of its elements, and
/// sums have this many products or more.
constexpr int64_t kMinTransposedRows = 512, kMinTransposedSum = 64;

} // namespace netc

#endif // NETC_LIB_CODEGEN_COSTBOUNDS_H
