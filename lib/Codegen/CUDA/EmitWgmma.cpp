// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/EmitWgmma.h"

using namespace netc;
using namespace mlir;

using Matrix = MatrixSchedule;

/// In both layouts, 64 elements of the side take 64 rows of 128 bytes, and
/// eight rows are a group.
static constexpr int64_t kRowBytes = 2 * Matrix::kGroupElements,
                         kGroupBytes = 8 * kRowBytes,
                         kSideBytes = Matrix::kGroupRows * kRowBytes;

WarpgroupBuilder::WarpgroupBuilder(ImplicitLocOpBuilder &b,
                                   const MatrixSchedule &matrix, bool isBF16)
    : b(b), ptx(b), matrix(matrix), isBF16(isBF16),
      ofGroup(ptx.mul(ptx.div(ptx.thread(), 128), kSideBytes)) {}

Value WarpgroupBuilder::descriptor(Value address) {
  // Fields of 16 bytes: the start, the distance to the next 64 elements of the
  // side if they are contiguous along it, and that to the next group; then the
  // swizzle.
  uint64_t fields = uint64_t(kSideBytes / 16) << 16 |
                    uint64_t(kGroupBytes / 16) << 32 | uint64_t(1) << 62;
  Value start = b.create<arith::ExtUIOp>(b.getI64Type(), ptx.div(address, 16));
  return b.create<arith::OrIOp>(
      start, b.create<arith::ConstantOp>(b.getI64IntegerAttr(int64_t(fields))));
}

SmallVector<Value> WarpgroupBuilder::beginProducts(Value stage, Value isAdded,
                                                   ValueRange before) {
  std::array<bool, 2> isAlongK = {matrix.dims.isAAlongK, matrix.dims.isBAlongK};
  Value left = descriptor(ptx.add(stage, ofGroup)),
        right = descriptor(ptx.add(stage, ptx.i32(2 * matrix.bm * matrix.bk)));
  auto advanced = [&](Value from, int64_t k, bool isAlongK) -> Value {
    int64_t bytes = k * (isAlongK ? 2 : kRowBytes);
    return b.create<arith::AddIOp>(
        from, b.create<arith::ConstantOp>(b.getI64IntegerAttr(bytes / 16)));
  };
  SmallVector<Value> sums(before);
  ptx.fenceProducts();
  for (int64_t k = 0; k < matrix.bk; k += matrix.fragmentK()) {
    Value isMore =
        k == 0 ? isAdded
               : b.create<arith::ConstantOp>(b.getBoolAttr(true)).getResult();
    sums = ptx.beginProduct(isBF16, advanced(left, k, isAlongK[0]),
                            advanced(right, k, isAlongK[1]), isAlongK, isMore,
                            sums);
  }
  ptx.commitProducts();
  return sums;
}
