// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/Passes.h"

#include "lib/Conversion/LinalgBuilder.h"
#include "lib/Conversion/OpTable.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_COUNTARITHMETIC
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

namespace {
/// The counters of an op in `netc_counts`.
enum Kind { Matmul, Other, Transcendental, NumKinds };
using Counts = std::array<int64_t, NumKinds>;
} // namespace

/// Whether an op counts as FLOP: arithmetic on floats and comparisons of them.
/// Selects and conversions do not count.
static bool isArithmetic(Operation *op) {
  if (op->hasAttr(kUncounted))
    return false;
  if (isa<math::MathDialect>(op->getDialect()))
    return true;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::CmpFOp>(op);
}

static bool isTranscendental(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) && !isa<math::AbsFOp>(op);
}

namespace {
struct CountArithmetic : netc::impl::CountArithmeticBase<CountArithmetic> {
  using CountArithmeticBase::CountArithmeticBase;

  void runOnOperation() override {
    auto ops = getOperation()->getAttrOfType<ArrayAttr>(OpRowAttr::kOfModule);
    if (!ops)
      return;
    auto type = MemRefType::get({int64_t(ops.size()) * NumKinds},
                                IntegerType::get(&getContext(), 64));
    OpBuilder top(getOperation().getBodyRegion());
    auto zeros = DenseElementsAttr::get(
        RankedTensorType::get(type.getShape(), type.getElementType()),
        APInt(64, 0));
    top.create<memref::GlobalOp>(getOperation().getLoc(), "netc_counts",
                                 StringAttr(), type, zeros, false,
                                 IntegerAttr());
    // By number of the net op. Its cost formula counts either all of its
    // operations as matmul, or none.
    SmallVector<bool> isMatmul;
    for (auto row : ops.getAsRange<OpRowAttr>())
      isMatmul.push_back(row.getMatmul() != 0);

    getOperation().walk([&](Block *block) {
      std::map<unsigned, Counts> counts;
      for (Operation &op : *block)
        if (isArithmetic(&op))
          if (std::optional<unsigned> number = opNumberOf(op.getLoc())) {
            Counts &count = counts.try_emplace(*number).first->second;
            ++count[isMatmul[*number] ? Matmul : Other];
            count[Transcendental] += isTranscendental(&op);
          }
      if (counts.empty())
        return;
      ImplicitLocOpBuilder b(getOperation().getLoc(), block->getTerminator());
      Value memory = b.create<memref::GetGlobalOp>(type, "netc_counts");
      for (auto &[number, count] : counts)
        for (unsigned kind = 0; kind < NumKinds; ++kind)
          if (count[kind] != 0)
            add(b, memory, number * NumKinds + kind, count[kind]);
    });
  }

  void add(ImplicitLocOpBuilder &b, Value memory, int64_t place,
           int64_t count) {
    Value at = b.create<arith::ConstantIndexOp>(place);
    Value old = atomic ? Value() : b.create<memref::LoadOp>(memory, at);
    Value more = b.create<arith::ConstantOp>(b.getI64IntegerAttr(count));
    if (atomic) {
      b.create<memref::AtomicRMWOp>(arith::AtomicRMWKind::addi, more, memory,
                                    at);
      return;
    }
    b.create<memref::StoreOp>(b.create<arith::AddIOp>(old, more), memory, at);
  }
};
} // namespace
