// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_SPELLING_H
#define NETC_DIALECT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace netc {

/// The candidate that `name` is most like, if it may have been meant: one edit
/// for each three letters and `more` away at most. Else, and for more than 64
/// letters, empty.
inline llvm::StringRef nearestName(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates,
                                   unsigned more = 1) {
  llvm::StringRef nearest;
  if (name.size() > 64)
    return nearest;
  unsigned best = name.size() / 3 + more + 1;
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

/// The end of a message about an unknown name, `; did you mean `x`?`, or empty
/// if nothing was meant.
inline std::string didYouMean(llvm::StringRef meant) {
  return meant.empty() ? "" : ("; did you mean `" + meant + "`?").str();
}
inline std::string didYouMean(llvm::StringRef name,
                              llvm::ArrayRef<llvm::StringRef> candidates) {
  return didYouMean(nearestName(name, candidates));
}

} // namespace netc

#endif // NETC_DIALECT_SPELLING_H
