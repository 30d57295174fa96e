// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Attention.h"

#include "lib/Codegen/LinalgQueries.h"

#include "mlir/IR/Matchers.h"

using namespace netc;
using namespace mlir;

using Loop = LoopNest::Loop;
using Role = AttentionRole;

static constexpr StringRef kNames[kAttentionRoles] = {"scores",
                                                      "elements",
                                                      "largest",
                                                      "exponentials",
                                                      "sums",
                                                      "weights",
                                                      "rounded",
                                                      "results",
                                                      "weight_gradients",
                                                      "rounded_gradients",
                                                      "corrections",
                                                      "score_gradients",
                                                      "value_gradients",
                                                      "query_gradients",
                                                      "key_gradients"};

StringRef netc::nameOf(Role role) { return kNames[size_t(role)]; }

bool netc::isResult(Role role) {
  return role == Role::Results || role >= Role::ValueGradients;
}

std::optional<Role> netc::attentionRoleOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kAttention);
  const auto *found =
      name ? llvm::find(kNames, name.getValue()) : std::end(kNames);
  if (found == std::end(kNames))
    return std::nullopt;
  return Role(found - std::begin(kNames));
}

namespace {
/// The operands of an op that has a role.
struct Access {
  Role role;
  unsigned scores; ///< the operand with the axes of the scores
  /// Others, by their number.
  SmallVector<std::pair<unsigned, AttentionOperand>, 2> others;
  bool isOfDepth = false; ///< whether its loop beside those axes is over d
};
} // namespace

static const Access accesses[] = {
    {Role::Scores, 2, {{0, Q}, {1, K}}, true},
    {Role::Largest, 0, {{1, Maximum}}},
    {Role::Exponentials, 0, {{1, Maximum}}},
    {Role::Sums, 0, {{1, Sum}}},
    {Role::Weights, 0, {{1, Sum}}},
    {Role::Results, 0, {{1, V}, {2, O}}},
    {Role::WeightGradients, 2, {{0, DO}, {1, V}}},
    {Role::ValueGradients, 0, {{1, DO}, {2, DV}}},
    {Role::QueryGradients, 0, {{1, K}, {2, DQ}}, true},
    {Role::KeyGradients, 0, {{1, Q}, {2, DK}}, true},
};

bool Attention::add(Role role, MutableArrayRef<Loop> axes) {
  const auto *access = llvm::find_if(
      accesses, [&](const Access &access) { return access.role == role; });
  linalg::GenericOp op = this->op(role);
  if (!op || access == std::end(accesses))
    return true;
  auto *rounding = llvm::find_if(roundings, [&](linalg::GenericOp rounding) {
    return rounding.getInputs()[0] == resultOf(role);
  });
  const bool isRounded = rounding != roundings.end();
  auto nest = LoopNest::of(op, isRounded ? *rounding : linalg::GenericOp());
  if (!nest)
    return false;
  AffineMap scores = op.getIndexingMapsArray()[access->scores];
  for (auto [ofOp, operand] : access->others) {
    const bool isLast = isRounded && ofOp == 2;
    // The operands of the rounding follow those of the op.
    const unsigned number = isLast ? op->getNumOperands() + 1 : ofOp;
    memory[operand] =
        isLast ? rounding->getDpsInits()[0] : op->getOperand(number);
    starts[operand] = nest->starts[number];
    for (auto [loop, of] : llvm::enumerate(nest->loops)) {
      int64_t stride = of.strides[number];
      if (auto axis = scores.getResultPosition(
              getAffineDimExpr(loop, op.getContext()))) {
        axes[*axis].extent = of.extent;
        axes[*axis].strides[operand] = stride;
        continue;
      }
      Loop &inner = access->isOfDepth ? depth : columns;
      inner.extent = of.extent;
      inner.strides[operand] = stride;
    }
  }
  return true;
}

std::optional<Attention> Attention::of(ArrayRef<Operation *> ops) {
  Attention attention;
  for (Operation *op : ops) {
    if (auto role = attentionRoleOf(op))
      attention.ops[size_t(*role)] = cast<linalg::GenericOp>(op);
    else if (auto rounding = dyn_cast<linalg::GenericOp>(op))
      attention.roundings.push_back(rounding);
  }
  linalg::GenericOp scores = attention.op(Role::Scores);
  Loop none{1, true, {}, {}};
  none.strides.assign(kAttentionOperands, 0);
  attention.depth = attention.columns = none;
  AffineMap ofScores = scores.getIndexingMapsArray()[2];
  SmallVector<Loop> axes(ofScores.getNumResults(), none);
  for (size_t role = 0; role < kAttentionRoles; ++role)
    if (!attention.add(Role(role), axes))
      return std::nullopt;
  AffineMap ofKeys = scores.getIndexingMapsArray()[1],
            ofRows = attention.op(Role::Weights).getIndexingMapsArray()[1];
  for (auto [axis, loop] : llvm::enumerate(axes)) {
    loop.dims = {{unsigned(axis), loop.extent}};
    if (!ofRows.isFunctionOfDim(axis))
      attention.keys.push_back(loop);
    else if (ofKeys.isFunctionOfDim(ofScores.getDimPosition(axis)))
      attention.batch.push_back(loop);
    else
      attention.rows.push_back(loop);
  }
  return attention;
}

bool Attention::isOfLaterKeys(arith::CmpIOp compare) const {
  auto isAxis = [](Value number, const Loop &loop) {
    auto index = number.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == loop.dims[0].first;
  };
  return compare.getPredicate() == arith::CmpIPredicate::ugt &&
         isAxis(compare.getLhs(), keys.front()) &&
         // Other axes of the rows have one element.
         llvm::any_of(rows, [&](const Loop &row) {
           return isAxis(compare.getRhs(), row) &&
                  llvm::all_of(rows, [&](const Loop &other) {
                    return &other == &row || other.extent == 1;
                  });
         });
}

/// Whether the elements are -inf where the number of the key exceeds that of
/// the row.
bool Attention::isCausal() const {
  auto isMask = [&](Value term) {
    auto choice = term.getDefiningOp<arith::SelectOp>();
    FloatAttr hidden;
    if (!choice || !matchPattern(choice.getTrueValue(), m_Constant(&hidden)))
      return false;
    auto compare = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    return hidden.getValue().isInfinity() && hidden.getValue().isNegative() &&
           compare && isOfLaterKeys(compare);
  };
  auto sum =
      converted(op(Role::Elements).getBody()->getTerminator()->getOperand(0))
          .getDefiningOp<arith::AddFOp>();
  return sum && (isMask(sum.getLhs()) || isMask(sum.getRhs()));
}

AttentionDims Attention::sizes() const {
  auto points = [](ArrayRef<Loop> loops) {
    int64_t points = 1;
    for (const Loop &loop : loops)
      points *= loop.extent;
    return points;
  };
  AttentionDims dims{points(batch), points(rows), points(keys), depth.extent,
                     columns.extent};
  if (isCausal())
    dims.hidden = isOfKeys() ? AttentionDims::Before : AttentionDims::After;
  if (isOfKeys())
    std::swap(dims.rows, dims.keys);
  return dims;
}

AttentionWork Attention::work() const {
  return op(Role::Results)          ? AttentionWork::results()
         : op(Role::QueryGradients) ? AttentionWork::queryGradients()
                                    : AttentionWork::keyGradients();
}
