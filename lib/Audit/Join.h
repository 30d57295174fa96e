// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_JOIN_H
#define NETC_LIB_AUDIT_JOIN_H

#include "lib/Trace/Trace.h"

namespace netc::audit {

/// Kernels of a timeline, and those of a tool that counts which did the same
/// work in another run. One of each where they are the same kernel; several
/// where only the op is the same, for which the libraries chose other kernels.
struct JoinedKernels {
  llvm::SmallVector<uint32_t, 1> kernels; ///< of Trace::kernels
  llvm::SmallVector<uint32_t, 1> counted; ///< of the other's Trace::counted
  /// The event of Trace::host that launched them; none where the tool of
  /// counters does not say what launched its kernels.
  std::optional<uint32_t> op;
};

/// Joins kernels of a timeline to counters. Two runs have other kernels:
/// libraries choose algorithms by timing. So ops are aligned first, and kernels
/// within an op by name, grid and block; where the counters come without ops,
/// kernels are aligned over the whole step. What has no counterpart is in none
/// of the groups. `kernels` are of one step.
std::vector<JoinedKernels> joinKernels(const trace::Trace &timeline,
                                       llvm::ArrayRef<uint32_t> kernels,
                                       const trace::Trace &counters);

/// A kernel's name without what tools write in different ways: the return type,
/// template and call arguments, `(anonymous namespace)` or `<unnamed>`.
std::string kernelBaseName(llvm::StringRef name);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_JOIN_H
