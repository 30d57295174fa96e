// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_SPELLING_H
#define NETC_DIALECT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace netc {

/// The candidate that `name` is most like, if it may have been meant: at most
/// one edit for each three letters away. Else empty.
inline llvm::StringRef nearestName(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef nearest;
  unsigned best = name.size() / 3 + 2;
  for (llvm::StringRef candidate : candidates) {
    if (candidate.empty() || candidate == name)
      continue;
    // Another case is the likeliest slip.
    unsigned distance = name.equals_insensitive(candidate)
                            ? 0
                            : name.edit_distance(candidate, true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

} // namespace netc

#endif // NETC_DIALECT_SPELLING_H
