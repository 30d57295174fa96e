// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/ContractionRoles.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;

/// For how many rows transposing B, vector by vector, pays.
static constexpr int64_t kTransposeRows = 48;

bool netc::isContraction(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  Block &body = *generic.getBody();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || std::distance(body.begin(), body.end()) != 3)
    return false;
  // Columns of both operands alike, each read once, or scaled: a reduction.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[0] == maps[1] && maps[0].getNumResults() > 0 &&
      maps[2].getNumResults() > 0 &&
      maps[0].getResults().back() == maps[2].getResults().back())
    return false;
  SmallVector<unsigned> sums;
  generic.getReductionDims(sums);
  if (llvm::any_of(ArrayRef(maps).drop_back(), [&](AffineMap map) {
        return llvm::none_of(
            sums, [&](unsigned sum) { return map.isFunctionOfDim(sum); });
      }))
    return false;
  auto mul = add.getRhs().getDefiningOp<arith::MulFOp>();
  return mul && add.getLhs() == body.getArgument(2) &&
         mul.getLhs() == body.getArgument(0) &&
         mul.getRhs() == body.getArgument(1);
}

int64_t netc::rowsBeside(linalg::GenericOp op, AffineMap operand) {
  int64_t rows = 1;
  auto iterators = op.getIteratorTypesArray();
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (iterators[loop] == utils::IteratorType::parallel &&
        !operand.isFunctionOfDim(loop))
      rows *= extent;
  return rows;
}

static void swapOperands(Loop &loop) {
  std::swap(loop.strides[A], loop.strides[B]);
}

std::optional<Roles> Roles::of(const LoopNest &nest) {
  Roles roles;
  auto classify = [&](bool swap) {
    roles = Roles();
    roles.isSwapped = swap;
    for (Loop loop : nest.loops) {
      if (swap)
        swapOperands(loop);
      bool a = loop.strides[A] != 0, b = loop.strides[B] != 0;
      if (!loop.isParallel)
        roles.sums.push_back(loop);
      else if (a && b)
        roles.batches.push_back(loop);
      else if (b)
        roles.columns.push_back(loop);
      else
        roles.rows.push_back(loop);
    }
  };
  auto unitColumn = [&](ArrayRef<Loop> loops) -> const Loop * {
    const Loop *best = nullptr;
    for (const Loop &loop : loops)
      if (loop.strides[B] == 1 && loop.strides[C] == 1 &&
          (!best || loop.extent > best->extent))
        best = &loop;
    return best;
  };
  // The vector loop is last of the columns.
  auto makeLast = [](SmallVectorImpl<Loop> &loops, const Loop *loop) {
    std::rotate(loops.begin() + (loop - loops.begin()),
                loops.begin() + (loop - loops.begin()) + 1, loops.end());
  };

  // Columns of either operand; the more there are, the better.
  std::optional<Roles> found;
  int64_t most = 0;
  for (bool swap : {false, true}) {
    classify(swap);
    if (const Loop *loop = unitColumn(roles.columns);
        loop && loop->extent > most) {
      most = loop->extent;
      makeLast(roles.columns, loop);
      found = roles;
    }
  }
  if (found && most >= 8)
    return found;
  // A batch that is next to itself everywhere: depthwise convolution.
  classify(false);
  if (!roles.columns.empty())
    classify(true);
  for (const Loop &loop : roles.batches)
    if (roles.columns.empty() &&
        llvm::all_of(loop.strides, [](int64_t s) { return s == 1; }) &&
        loop.extent > most) {
      roles.columns.push_back(loop);
      roles.isElementwise = true;
      roles.batches.erase(&loop);
      return roles;
    }
  // Columns of the result whose elements in B are next to the next sum's.
  for (bool swap : {false, true}) {
    classify(swap);
    int64_t rows = 1;
    for (const Loop &loop : roles.rows)
      rows *= loop.extent;
    const Loop *column = llvm::find_if(roles.columns, [](const Loop &loop) {
      return loop.strides[C] == 1 && loop.extent >= 8;
    });
    const Loop *sum = llvm::find_if(roles.sums, [](const Loop &loop) {
      return loop.strides[B] == 1 && loop.extent >= 8;
    });
    if (rows < kTransposeRows || column == roles.columns.end() ||
        sum == roles.sums.end())
      continue;
    makeLast(roles.columns, column);
    makeLast(roles.sums, sum);
    roles.isTransposed = true;
    return roles;
  }
  // Products of rows that lie next to each other.
  classify(false);
  if (!roles.columns.empty())
    classify(true);
  for (const Loop &loop : roles.sums)
    if (loop.strides[A] == 1 && loop.strides[B] == 1 && loop.extent >= 8) {
      makeLast(roles.sums, &loop);
      roles.isDot = true;
      return roles;
    }
  return found;
}
