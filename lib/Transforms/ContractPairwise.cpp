// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Einsum.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace netc {
#define GEN_PASS_DEF_CONTRACTPAIRWISE
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

using namespace netc;
using namespace mlir;

namespace {
/// The cheapest order of pairwise contractions of an einsum's operands. Dynamic
/// programming over sets of operands, as bits (Pfeifer, Haegeman and
/// Verstraete, Faster identification of optimal contraction sequences for
/// tensor networks, 2014). The cost is the number of operations, with free axes
/// of 1,024.
class ContractionOrder {
public:
  using Set = uint32_t;
  static constexpr size_t maxOperands = 12;

  explicit ContractionOrder(EinsumOp op) : op(op), spec(op) {
    for (auto &[letter, size] : spec.sizes(op.getXs()))
      sizes[letter] = size.evaluate([](StringRef, unsigned power) {
                            return std::optional(Rational(1024).pow(power));
                          })
                          .constant()
                          .value_or(1)
                          .toDouble();
    all = (Set(1) << spec.operands.size()) - 1;
    best.resize(all + 1);
    for (Set set = 1; set <= all; ++set)
      find(set);
  }

  /// Whether it costs less than one loop nest over all letters.
  bool isCheaper() const {
    return best[all].cost < points(all) * spec.operands.size();
  }

  /// Builds the products, and returns the last one.
  Value build(OpBuilder &builder) const { return build(builder, all); }

private:
  struct Best {
    double cost = 0;
    Set left = 0; ///< first operand; the second one is the rest of the set
  };

  bool has(Set set, StringRef letter) const {
    for (auto [i, letters] : llvm::enumerate(spec.operands))
      if ((set >> i & 1) && llvm::is_contained(letters, letter))
        return true;
    return false;
  }
  /// The letters of the product of a set, in the order of the operands.
  EinsumSpec::Letters lettersOf(Set set) const {
    if (set == all)
      return spec.result;
    if (llvm::isPowerOf2_32(set))
      return spec.operands[llvm::Log2_32(set)];
    EinsumSpec::Letters letters;
    for (auto [i, ofOperand] : llvm::enumerate(spec.operands))
      for (StringRef letter : ofOperand)
        if ((set >> i & 1) && !llvm::is_contained(letters, letter) &&
            (has(all & ~set, letter) ||
             llvm::is_contained(spec.result, letter)))
          letters.push_back(letter);
    return letters;
  }
  /// Iterations of the loops over the letters of some operands.
  double points(Set set) const {
    double product = 1;
    for (const auto &entry : sizes)
      if (has(set, entry.first()))
        product *= entry.second;
    return product;
  }
  /// The cost of the product of two sets.
  double costOf(Set left, Set right) const {
    EinsumSpec::Letters a = lettersOf(left), b = lettersOf(right),
                        result = lettersOf(left | right);
    double points = 1;
    bool isSum = false;
    for (const auto &entry : sizes)
      if (llvm::is_contained(a, entry.first()) ||
          llvm::is_contained(b, entry.first())) {
        points *= entry.second;
        isSum |= !llvm::is_contained(result, entry.first());
      }
    return isSum ? 2 * points : points;
  }
  void find(Set set) {
    if (llvm::isPowerOf2_32(set))
      return;
    Best &found = best[set];
    found.cost = std::numeric_limits<double>::infinity();
    // Fix the first operand on the left. Of equal orders the first is chosen.
    Set lowest = set & -set;
    for (Set left = (set - 1) & set; left != 0; left = (left - 1) & set) {
      if (!(left & lowest))
        continue;
      Set right = set & ~left;
      double cost = best[left].cost + best[right].cost + costOf(left, right);
      if (cost < found.cost)
        found = {cost, left};
    }
  }
  Value build(OpBuilder &builder, Set set) const {
    if (llvm::isPowerOf2_32(set))
      return op.getXs()[llvm::Log2_32(set)];
    Set left = best[set].left, right = set & ~left;
    Value a = build(builder, left), b = build(builder, right);
    EinsumSpec pair;
    pair.operands = {lettersOf(left), lettersOf(right)};
    pair.result = lettersOf(set);
    std::string text = pair.str();
    auto product =
        builder.create<EinsumOp>(locationOf(text), text, ValueRange{a, b});
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return product;
  }
  /// A location in the same part, with the product's subscripts as the name.
  Location locationOf(StringRef text) const {
    auto named = op.getLoc()->findInstanceOf<NameLoc>();
    if (!named)
      return op.getLoc();
    return NameLoc::get(
        StringAttr::get(op.getContext(),
                        named.getName().getValue() + "." + text + ".einsum"),
        named.getChildLoc());
  }

  mutable EinsumOp op;
  EinsumSpec spec;
  llvm::StringMap<double> sizes;
  Set all;
  std::vector<Best> best;
};

struct ContractPairwise : netc::impl::ContractPairwiseBase<ContractPairwise> {
  void runOnOperation() override {
    getOperation()->walk([](EinsumOp op) {
      size_t operands = op.getXs().size();
      if (operands < 3 || operands > ContractionOrder::maxOperands ||
          !op.isContraction())
        return;
      ContractionOrder order(op);
      if (!order.isCheaper())
        return;
      OpBuilder builder(op);
      op.replaceAllUsesWith(order.build(builder));
      op.erase();
    });
  }
};
} // namespace
