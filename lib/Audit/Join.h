// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_JOIN_H
#define NETC_LIB_AUDIT_JOIN_H

#include "lib/Trace/Trace.h"

namespace netc::audit {

/// Kernels of a timeline, and counted kernels that did the same work in another
/// run. One of each, if they are the same kernel; several, if only the op is
/// the same and the libraries chose other kernels.
struct JoinedKernels {
  llvm::SmallVector<uint32_t, 1> kernels; ///< indices into Trace::kernels
  llvm::SmallVector<uint32_t, 1>
      counted; ///< indices into the other's Trace::counted
  /// The op that launched them, an index into Trace::host. None if the op is
  /// not recorded.
  std::optional<uint32_t> op;
};

/// Joins the kernels of one step of a timeline with counted kernels. The two
/// runs may have different kernels, since libraries choose algorithms by
/// timing. So ops are aligned first, and within an op, kernels by name, grid
/// and block. If one of the traces has no ops, kernels are aligned over the
/// whole step. Kernels without a counterpart are in no group.
std::vector<JoinedKernels> joinKernels(const trace::Trace &timeline,
                                       llvm::ArrayRef<uint32_t> kernels,
                                       const trace::Trace &counters);

/// A kernel's name without parts that tools write differently: return type,
/// arguments of templates and calls, `(anonymous namespace)` or `<unnamed>`;
/// and without folders.
std::string kernelBaseName(llvm::StringRef name);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_JOIN_H
