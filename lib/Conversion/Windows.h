// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_WINDOWS_H
#define NETC_LIB_CONVERSION_WINDOWS_H

#include "lib/Conversion/LinalgBuilder.h"

namespace netc {

/// The axes of an op with sliding windows. The op is lowered with its axes in
/// the order batch, spatial, channels.
struct WindowAxes {
  llvm::SmallVector<int64_t> batch, spatial, channels;

  /// If `channel` is none, the last axis without windows is that of channels,
  /// unless it is the first axis.
  WindowAxes(int64_t rank, llvm::ArrayRef<int64_t> over,
             std::optional<int64_t> channel);

  /// The positions of these axes in a tensor of the op.
  llvm::SmallVector<int64_t> order() const;
  mlir::RankedTensorType toFront(mlir::RankedTensorType type) const;
  mlir::Value toFront(LinalgBuilder &b, mlir::Value tensor) const;
  /// The inverse of toFront().
  mlir::Value back(LinalgBuilder &b, mlir::Value tensor) const;
};

/// Slices `sizes` elements of x from `starts`, for the axes from `first` on.
/// Elements out of bounds are `outside`.
mlir::Value region(LinalgBuilder &b, mlir::Value x, unsigned first,
                   llvm::ArrayRef<int64_t> starts,
                   llvm::ArrayRef<int64_t> sizes, double outside);

/// Increments `point` within `bounds`; false after the last one.
bool nextPoint(llvm::MutableArrayRef<int64_t> point,
               llvm::ArrayRef<int64_t> bounds);

} // namespace netc

#endif // NETC_LIB_CONVERSION_WINDOWS_H
