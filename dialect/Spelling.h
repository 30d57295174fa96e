// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_SPELLING_H
#define NETC_DIALECT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace netc {

/// The number of edits between two names: inserted, deleted or replaced
/// letters. Two swapped neighbours are one edit, if nothing else differs. Case
/// does not count, since it is the likeliest slip. Returns `most + 1` if there
/// are more than `most`.
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

/// The candidate that is most similar to `name`, or empty. It may differ by one
/// edit per three letters, or by one if `name` has two letters. Empty if two
/// candidates are equally near, unless less than a third of the letters differ.
/// Also empty for a name of more than 64 letters.
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
    // Of several, prefer a candidate that starts with `name`.
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

/// The end of a message about an unknown name, `; did you mean `x`?`; empty
/// without a similar name.
inline std::string didYouMean(llvm::StringRef meant) {
  return meant.empty() ? "" : ("; did you mean `" + meant + "`?").str();
}
inline std::string didYouMean(llvm::StringRef name,
                              llvm::ArrayRef<llvm::StringRef> candidates) {
  return didYouMean(nearestName(name, candidates));
}

} // namespace netc

#endif // NETC_DIALECT_SPELLING_H
