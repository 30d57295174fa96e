// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_GUARDMEMORY
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

namespace {
struct GuardMemory : netc::impl::GuardMemoryBase<GuardMemory> {
  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("netc_step");
    if (!step)
      return;
    // The C ABI passes integers and pointers alike, so addresses can be
    // integers.
    OpBuilder top(step);
    auto declare = [&](StringRef name) {
      Type index = top.getIndexType();
      auto function = top.create<func::FuncOp>(
          step.getLoc(), name, top.getFunctionType({index, index}, {}));
      function.setPrivate();
      return function;
    };
    auto poison = declare("__asan_poison_memory_region");
    auto unpoison = declare("__asan_unpoison_memory_region");

    Block &block = step.getBody().front();
    auto arena = cast<TypedValue<MemRefType>>(block.getArgument(0));
    ImplicitLocOpBuilder b(step.getLoc(), &block, block.begin());
    Value start = b.create<memref::ExtractAlignedPointerAsIndexOp>(arena);
    auto mark = [&](func::FuncOp function, int64_t offset, int64_t size) {
      Value shift = b.create<arith::ConstantIndexOp>(offset);
      Value bytes = b.create<arith::ConstantIndexOp>(size);
      b.create<func::CallOp>(
          function, ValueRange{b.create<arith::AddIOp>(start, shift), bytes});
    };
    int64_t whole = sizeInBytes(arena.getType());
    mark(poison, 0, whole);
    for (Operation *user : arena.getUsers())
      if (auto tensor = dyn_cast<memref::ViewOp>(user)) {
        APInt offset;
        if (!matchPattern(tensor.getByteShift(), m_ConstantInt(&offset)))
          llvm_unreachable("a plan has its places as constants");
        mark(unpoison, offset.getSExtValue(), sizeInBytes(tensor.getType()));
      }
    b.setInsertionPoint(block.getTerminator());
    mark(unpoison, 0, whole);
  }
};
} // namespace
