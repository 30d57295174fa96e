// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NetAttributes.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_PLANMEMORY
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// Alignment of each buffer in bytes: a cache line, and the widest vector.
static constexpr int64_t kAlignment = 64;

namespace {
/// A buffer, and the numbers of the ops between which it is live.
struct Buffer {
  memref::AllocOp op;
  int64_t size = 0, first = 0, last = 0, offset = 0;

  bool overlaps(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Numbers the ops in textual order. An op with regions spans the numbers of
/// the ops in them.
class ProgramOrder {
public:
  explicit ProgramOrder(Operation *root) {
    root->walk<WalkOrder::PreOrder>([&](Operation *op) { begin[op] = next++; });
  }
  int64_t first(Operation *op) const { return begin.lookup(op); }
  int64_t last(Operation *op) const {
    int64_t last = first(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          last = std::max(last, this->last(&block.back()));
    return last;
  }

private:
  DenseMap<Operation *, int64_t> begin;
  int64_t next = 0;
};

struct PlanMemory : netc::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("netc_step");
    if (!step)
      return;
    simplify(step);
    int64_t end = placeSlots();
    SmallVector<Buffer> buffers = findBuffers(step);
    int64_t sum = end;
    for (Buffer &buffer : buffers)
      sum += llvm::alignTo(buffer.size, kAlignment);
    end = apart ? placeApart(buffers, end) : place(buffers, end);
    replace(step, buffers, end);
    getOperation()->setAttr(
        MemoryAttr::kOfModule,
        MemoryAttr::get(&getContext(), end, sum, /*stack=*/0));
  }

  /// Cleans up after bufferization: removes iteration arguments that are always
  /// the same buffer, and casts. Does not change arithmetic.
  static void simplify(func::FuncOp step) {
    MLIRContext *context = step.getContext();
    SmallVector<Operation *> ops;
    step.walk([&](Operation *op) {
      if (isa<scf::ForOp, linalg::LinalgOp, bufferization::ToTensorOp>(op) ||
          isa<memref::MemRefDialect>(op->getDialect()))
        ops.push_back(op);
    });
    RewritePatternSet patterns(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa<scf::SCFDialect, memref::MemRefDialect>(name.getDialect()))
        name.getCanonicalizationPatterns(patterns, context);
    GreedyRewriteConfig config;
    config.strictMode = GreedyRewriteStrictness::ExistingAndNewOps;
    (void)applyOpPatternsAndFold(ops, std::move(patterns), config);
  }

  /// Bytes that stay unused before and after a tensor.
  int64_t gapAround(int64_t size) const {
    return apart ? llvm::alignTo(size, kAlignment) : 0;
  }

  int64_t placeSlots() {
    Builder builder(&getContext());
    SmallVector<Attribute> slots;
    int64_t end = 0;
    for (auto global : getOperation().getOps<memref::GlobalOp>()) {
      if (isLiteral(global))
        continue;
      int64_t size = sizeInBytes(global.getType()), gap = gapAround(size);
      int64_t offset = end + gap;
      offsets[global.getSymName()] = offset;
      auto slot = global->getAttrOfType<SlotAttr>(SlotAttr::kOfGlobal);
      slots.push_back(slot.at(global.getType(), offset));
      end = llvm::alignTo(offset + size, kAlignment) + gap;
    }
    getOperation()->setAttr(SlotAttr::kOfModule, builder.getArrayAttr(slots));
    return end;
  }

  static SmallVector<Buffer> findBuffers(func::FuncOp step) {
    ProgramOrder order(step);
    BufferViewFlowAnalysis views(step);
    SmallVector<Buffer> buffers;
    step.walk([&](memref::AllocOp alloc) {
      // A kernel keeps the buffers that are allocated in it in registers.
      if (alloc->getParentOfType<scf::ExecuteRegionOp>())
        return;
      Buffer buffer{alloc, sizeInBytes(alloc.getType())};
      buffer.first = buffer.last = order.first(alloc);
      Region *home = alloc->getParentRegion();
      for (Value view : views.resolve(alloc)) {
        // A buffer that a loop carries is live in all iterations.
        if (auto argument = dyn_cast<BlockArgument>(view))
          widen(buffer, home, argument.getOwner()->getParentOp(), order);
        for (Operation *user : view.getUsers())
          widen(buffer, home, user, order);
      }
      buffers.push_back(buffer);
    });
    return buffers;
  }

  /// Extends the lifetime of a buffer, allocated in `home`, to `user` or to the
  /// op in `home` that contains `user`, such as a loop.
  static void widen(Buffer &buffer, Region *home, Operation *user,
                    const ProgramOrder &order) {
    Operation *inHome = home->findAncestorOpInRegion(*user);
    if (!inHome)
      return;
    buffer.first = std::min(buffer.first, order.first(inHome));
    buffer.last = std::max(buffer.last, order.last(inHome));
  }

  /// Gives each buffer memory of its own, with gaps around it.
  int64_t placeApart(MutableArrayRef<Buffer> buffers, int64_t end) const {
    for (Buffer &buffer : buffers) {
      int64_t gap = gapAround(buffer.size);
      buffer.offset = end + gap;
      end = llvm::alignTo(buffer.offset + buffer.size, kAlignment) + gap;
    }
    return end;
  }

  /// Places the largest buffers first, each at the lowest offset that is free
  /// during its lifetime. Returns the end of all buffers.
  static int64_t place(MutableArrayRef<Buffer> buffers, int64_t start) {
    SmallVector<Buffer *> bySize, placed;
    for (Buffer &buffer : buffers)
      bySize.push_back(&buffer);
    llvm::stable_sort(bySize, [](const Buffer *a, const Buffer *b) {
      return a->size > b->size;
    });
    int64_t end = start;
    for (Buffer *buffer : bySize) {
      int64_t offset = start;
      // `placed` is sorted by offset.
      for (const Buffer *other : placed) {
        if (!buffer->overlaps(*other))
          continue;
        if (offset + buffer->size <= other->offset)
          break;
        offset = std::max<int64_t>(
            offset, llvm::alignTo(other->offset + other->size, kAlignment));
      }
      buffer->offset = offset;
      placed.insert(llvm::upper_bound(placed, buffer,
                                      [](const Buffer *a, const Buffer *b) {
                                        return a->offset < b->offset;
                                      }),
                    buffer);
      end = std::max<int64_t>(end,
                              llvm::alignTo(offset + buffer->size, kAlignment));
    }
    return end;
  }

  void replace(func::FuncOp step, ArrayRef<Buffer> buffers, int64_t size) {
    Builder types(&getContext());
    auto arenaType = MemRefType::get({size}, types.getI8Type());
    step.insertArgument(0, arenaType, {}, step.getLoc());
    Value arena = step.getArgument(0);
    ImplicitLocOpBuilder b(step.getLoc(), &getContext());
    auto view = [&](MemRefType type, int64_t offset) -> Value {
      b.setInsertionPointToStart(&step.getBody().front());
      Value shift = b.create<arith::ConstantIndexOp>(offset);
      return b.create<memref::ViewOp>(type, arena, shift, ValueRange());
    };
    for (const Buffer &buffer : buffers) {
      memref::AllocOp alloc = buffer.op;
      alloc.replaceAllUsesWith(view(alloc.getType(), buffer.offset));
      alloc.erase();
    }
    step.walk([&](memref::GetGlobalOp get) {
      if (!offsets.contains(get.getName()))
        return;
      Value slot = view(get.getType(), offsets.lookup(get.getName()));
      get.replaceAllUsesWith(slot);
      get.erase();
    });
    step.walk([&](memref::DeallocOp dealloc) { dealloc.erase(); });
    for (auto global :
         llvm::make_early_inc_range(getOperation().getOps<memref::GlobalOp>()))
      if (!isLiteral(global))
        global.erase();
  }

  /// Whether a global is a constant, which lies outside of the arena.
  static bool isLiteral(memref::GlobalOp global) {
    return global.getConstant();
  }

  llvm::StringMap<int64_t> offsets;
};
} // namespace
