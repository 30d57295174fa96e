// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_ONEEXAMPLE_H
#define NETC_DIALECT_ONEEXAMPLE_H

#include "dialect/Polynomial.h"

namespace netc {

/// Whether a size is negative for a batch of one example, of which the counts
/// of a network are.
inline bool isNegativeOfOne(const Polynomial &size) {
  std::optional<Rational> number =
      size.substitute([](llvm::StringRef axis) -> std::optional<Polynomial> {
            if (axis == kBatchAxis)
              return Polynomial(1);
            return std::nullopt;
          })
          .constant();
  return number && number->isNegative();
}

} // namespace netc

#endif // NETC_DIALECT_ONEEXAMPLE_H
