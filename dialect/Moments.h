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

/// The known moments E[n], E[n^2], ... of the size n of a free axis. All
/// moments of a fixed size are known, and some of a distribution.
class Moments {
public:
  /// A fixed size.
  explicit Moments(Rational size) : fixed(true), known{size} {}
  /// A distribution with these moments, from the mean on. There must be one at
  /// least.
  explicit Moments(llvm::ArrayRef<Rational> known)
      : fixed(false), known(known.begin(), known.end()) {}

  bool isFixed() const { return fixed; }
  Rational mean() const { return known.front(); }
  /// The known moments from E[n] on; of a fixed size, the size alone.
  llvm::ArrayRef<Rational> values() const { return known; }
  /// Whether E[n^power] is known.
  bool knows(unsigned power) const { return fixed || power <= known.size(); }
  /// E[n^power]. If it is not known, the mean to that power, which is too low.
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
