// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_MOMENTS_H
#define NETC_DIALECT_MOMENTS_H

#include "dialect/Rational.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

namespace netc {

/// What is known of the size of a free axis: its moments E[n], E[n^2], ... A
/// fixed size has them all; of an axis with a distribution some are known.
class Moments {
public:
  /// A fixed size.
  explicit Moments(Rational size) : fixed(true), known{size} {}
  /// A distribution; at least the mean.
  explicit Moments(llvm::ArrayRef<Rational> known)
      : fixed(false), known(known.begin(), known.end()) {}

  bool isFixed() const { return fixed; }
  Rational mean() const { return known.front(); }
  llvm::ArrayRef<Rational> values() const { return known; }
  bool knows(unsigned power) const { return fixed || power <= known.size(); }
  /// E[n^power]; where it is not known, the mean to that power, which is low.
  Rational moment(unsigned power) const {
    if (!fixed && power >= 1 && power <= known.size())
      return known[power - 1];
    return mean().pow(power);
  }
  bool operator==(const Moments &other) const {
    return fixed == other.fixed && known == other.known;
  }

private:
  bool fixed;
  llvm::SmallVector<Rational, 2> known;
};

inline llvm::hash_code hash_value(const Moments &moments) {
  llvm::hash_code code = moments.isFixed();
  for (const Rational &value : moments.values())
    code = llvm::hash_combine(code, value);
  return code;
}

} // namespace netc

#endif // NETC_DIALECT_MOMENTS_H
