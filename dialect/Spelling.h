// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_SPELLING_H
#define NETC_DIALECT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace netc {

/// Edits from one name to the other: letters put in, left out or replaced, and
/// two neighbours swapped where nothing else differs. Another case, the
/// likeliest slip, is none. More than `most` are `most + 1`.
inline unsigned editDistance(llvm::StringRef a, llvm::StringRef b,
                             unsigned most) {
  if (a.equals_insensitive(b))
    return 0;
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i])
    ++i;
  bool isSwap = a.size() == b.size() && i + 1 < a.size() && a[i] == b[i + 1] &&
                a[i + 1] == b[i] && a.substr(i + 2) == b.substr(i + 2);
  if (isSwap && most > 0)
    return 1;
  return a.edit_distance(b, true, most);
}

/// The candidate that `name` is most like, if it may have been meant: one edit
/// for each three letters away at most, and of shorter names one, if no other
/// is as near. Where a third of the letters or more differ, another that is as
/// near leaves the choice open. Else, and for more than 64 letters, empty.
inline llvm::StringRef nearestName(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef nearest;
  if (name.size() > 64)
    return nearest;
  unsigned size = name.size(), best = size < 3 ? size : size / 3 + 1;
  bool isOnly = true;
  for (llvm::StringRef candidate : candidates) {
    if (candidate.empty() || candidate == name || candidate == nearest)
      continue;
    unsigned distance = editDistance(name, candidate, best);
    // Of several, one that `name` is the beginning of.
    bool isLonger = distance == best && candidate.starts_with(name) &&
                    !nearest.starts_with(name);
    if (distance < best || isLonger) {
      best = distance;
      nearest = candidate;
      isOnly = true;
    } else if (distance == best && !nearest.starts_with(name)) {
      isOnly = false;
    }
  }
  return isOnly || 3 * best < size ? nearest : llvm::StringRef();
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
