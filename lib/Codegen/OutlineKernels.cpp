// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/Passes.h"

#include "lib/Conversion/OpTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/RegionUtils.h"

#include <numeric>
#include <unordered_map>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "lib/Codegen/Passes.h.inc"
} // namespace netc

/// The same type and strides at offset 0.
static MemRefType atStart(MemRefType type) {
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  if (!layout)
    return type;
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, layout.getStrides()));
}

/// The address of the first element of a view of the arena, or of a literal.
/// MLIR's ExtractAlignedPointerAsIndex ignores the shift of a memref.view.
static Value addressOf(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value base = bufferOf(memref);
  auto buffer = base.getDefiningOp<memref::ViewOp>();
  Value start = b.create<memref::ExtractAlignedPointerAsIndexOp>(
      buffer ? buffer.getSource() : base);
  if (buffer)
    start = b.create<arith::AddIOp>(start, buffer.getByteShift());
  if (memref != base) {
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    Value offset =
        b.create<memref::ExtractStridedMetadataOp>(memref).getOffset();
    Value size = b.create<arith::ConstantIndexOp>(bytes);
    start =
        b.create<arith::AddIOp>(start, b.create<arith::MulIOp>(offset, size));
  }
  Value integer = b.create<arith::IndexCastOp>(b.getI64Type(), start);
  return b.create<LLVM::IntToPtrOp>(LLVM::LLVMPointerType::get(b.getContext()),
                                    integer);
}

/// The known alignment of a memref's first element, in bytes: at most `most`,
/// to which the arena is aligned.
static int64_t knownAlignmentOf(Value memref, int64_t most) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  int64_t known = most;
  auto shift = [&](int64_t by) { known = std::gcd(known, by); };
  for (Operation *view = memref.getDefiningOp(); view;
       view = view->getOperand(0).getDefiningOp()) {
    if (auto buffer = dyn_cast<memref::ViewOp>(view)) {
      auto at = getConstantIntValue(buffer.getByteShift());
      return at ? (shift(*at), known) : bytes;
    }
    if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
            view))
      continue;
    auto part = dyn_cast<memref::SubViewOp>(view);
    if (!part)
      return bytes;
    auto [strides, offset] = getStridesAndOffset(part.getSourceType());
    for (auto [stride, at] : llvm::zip_equal(strides, part.getMixedOffsets())) {
      if (ShapedType::isDynamic(stride))
        return bytes;
      shift(stride * bytes * getConstantIntValue(at).value_or(1));
    }
  }
  return bytes; // a literal
}

/// A memref of a static type at an address. Builds the descriptor by which
/// lowering to LLVM represents memrefs.
static Value memrefAt(ImplicitLocOpBuilder &b, Value address, MemRefType type) {
  MLIRContext *context = b.getContext();
  auto [strides, offset] = getStridesAndOffset(type);
  Type i64 = b.getI64Type(), pointer = address.getType();
  SmallVector<Type> fields{pointer, pointer, i64};
  auto list = LLVM::LLVMArrayType::get(i64, type.getRank());
  if (type.getRank() > 0)
    fields.append({list, list});
  auto structType = LLVM::LLVMStructType::getLiteral(context, fields);
  Value descriptor = b.create<LLVM::UndefOp>(structType);
  auto set = [&](Value value, ArrayRef<int64_t> place) {
    descriptor = b.create<LLVM::InsertValueOp>(descriptor, value, place);
  };
  auto constant = [&](int64_t value) -> Value {
    return b.create<LLVM::ConstantOp>(i64, b.getI64IntegerAttr(value));
  };
  set(address, 0);
  set(address, 1);
  set(constant(0), 2);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    set(constant(type.getDimSize(axis)), {3, axis});
    set(constant(strides[axis]), {4, axis});
  }
  return b.create<UnrealizedConversionCastOp>(type, descriptor).getResult(0);
}

namespace {
struct OutlineKernels : netc::impl::OutlineKernelsBase<OutlineKernels> {
  using OutlineKernelsBase::OutlineKernelsBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("netc_step");
    if (!step)
      return;
    OpBuilder top(step);
    auto i64 = top.getI64Type();
    if (record) {
      recorder = top.create<func::FuncOp>(step.getLoc(), "netc_record",
                                          top.getFunctionType({i64}, {}));
      recorder.setPrivate();
    }
    step.walk([](memref::CopyOp copy) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
    });
    outline(step.getBody().front());
  }

  void outline(Block &block) {
    Operation *next;
    for (Operation *op = &block.front(); op; op = next) {
      next = op->getNextNode();
      if (isa<linalg::FillOp>(op) && startsNext(op))
        continue; // becomes part of the next op's kernel
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
        SmallVector<Operation *> ops = fillsBefore(linalgOp);
        ops.push_back(op);
        makeKernel(ops);
      } else if (isa<scf::ExecuteRegionOp>(op)) {
        makeKernel(op);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        bool hasKernels =
            loop->walk([](linalg::LinalgOp) { return WalkResult::interrupt(); })
                .wasInterrupted();
        if (hasKernels) {
          outline(*loop.getBody());
          continue;
        }
        SmallVector<Operation *> ops = withUsers(loop);
        next = ops.back()->getNextNode();
        makeKernel(ops);
      } else if (selfContained && isa<memref::LoadOp>(op)) {
        SmallVector<Operation *> ops = withUsers(op);
        next = ops.back()->getNextNode();
        makeKernel(ops);
      }
    }
  }

  /// An op and those after it, up to the last user of its scalar results. It
  /// has such results if the loops around it had one iteration. Ops in between
  /// that neither use these nor touch memory stay where they are.
  static SmallVector<Operation *> withUsers(Operation *first) {
    SetVector<Operation *> ops;
    Operation *last = first;
    for (Operation *op = first;; op = op->getNextNode()) {
      bool belongs = op == first || !isMemoryEffectFree(op) ||
                     llvm::any_of(op->getOperands(), [&](Value operand) {
                       return ops.contains(operand.getDefiningOp());
                     });
      if (belongs) {
        ops.insert(op);
        for (Operation *user : op->getUsers())
          if (Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
              last->isBeforeInBlock(at))
            last = at;
      }
      if (op == last)
        return ops.takeVector();
    }
  }

  /// The fills right before an op that accumulates, if they initialize all of
  /// its results.
  SmallVector<Operation *> fillsBefore(linalg::LinalgOp op) const {
    SmallVector<Value> results = op.getDpsInits();
    if (op.getNumReductionLoops() == 0 ||
        (results.size() > 1 && !selfContained))
      return {};
    SmallVector<Operation *> fills;
    Operation *before = op->getPrevNode();
    while (auto fill = dyn_cast_or_null<linalg::FillOp>(before)) {
      auto *result = llvm::find(results, fill.getDpsInits()[0]);
      if (result == results.end())
        break;
      results.erase(result);
      fills.insert(fills.begin(), fill);
      before = fill->getPrevNode();
    }
    if (!results.empty())
      return {};
    return fills;
  }

  /// Whether a fill is one of those before the next op that is none.
  bool startsNext(Operation *fill) const {
    Operation *next = fill;
    while (isa_and_nonnull<linalg::FillOp>(next))
      next = next->getNextNode();
    auto op = dyn_cast_or_null<linalg::LinalgOp>(next);
    return op && llvm::is_contained(fillsBefore(op), fill);
  }

  /// Moves `ops` into a function of their own, unless there is an equal one,
  /// and calls it.
  void makeKernel(ArrayRef<Operation *> ops) {
    Operation *op = ops.back();
    SetVector<Value> used;
    for (Operation *op : ops) {
      used.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), used);
    }
    used.remove_if([&](Value value) {
      return llvm::is_contained(ops, value.getDefiningOp());
    });

    ImplicitLocOpBuilder caller(op->getLoc(), op);
    SmallVector<Value> arguments;
    SmallVector<Type> types;
    SmallVector<Value> passed;
    SetVector<Value> copied;
    for (Value value : used) {
      if (collectCopied(value, copied))
        continue;
      passed.push_back(value);
      arguments.push_back(
          isa<MemRefType>(value.getType()) ? addressOf(caller, value) : value);
      types.push_back(arguments.back().getType());
    }

    auto module = getOperation();
    OpBuilder top(module.getBodyRegion());
    top.setInsertionPoint(op->getParentOfType<func::FuncOp>());
    auto kernel = top.create<func::FuncOp>(op->getLoc(), "kernel",
                                           top.getFunctionType(types, {}));
    kernel.setPrivate();
    Block *body = kernel.addEntryBlock();
    ImplicitLocOpBuilder b(op->getLoc(), OpBuilder::atBlockEnd(body));
    IRMapping inside;
    for (Value value : copied)
      b.clone(*value.getDefiningOp(), inside);
    for (auto [value, argument] : llvm::zip(passed, body->getArguments())) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type) {
        inside.map(value, argument);
        continue;
      }
      inside.map(value, memrefAt(b, argument, atStart(type)));
      if (alignment)
        kernel.setArgAttr(
            argument.getArgNumber(), LLVM::LLVMDialect::getAlignAttrName(),
            b.getI64IntegerAttr(knownAlignmentOf(value, alignment)));
      bool isAlone = llvm::none_of(passed, [&](Value other) {
        return other != value && isa<MemRefType>(other.getType()) &&
               bufferOf(other) == bufferOf(value);
      });
      if (isAlone)
        kernel.setArgAttr(argument.getArgNumber(),
                          LLVM::LLVMDialect::getNoAliasAttrName(),
                          b.getUnitAttr());
    }
    for (Operation *op : ops)
      b.clone(*op, inside);
    b.create<func::ReturnOp>();
    kernel = unique(kernel);

    caller.create<func::CallOp>(kernel, arguments);
    if (recorder)
      if (std::optional<unsigned> number = opNumberOf(op->getLoc())) {
        Value which =
            caller.create<arith::ConstantOp>(caller.getI64IntegerAttr(*number));
        caller.create<func::CallOp>(recorder, which);
      }
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  }

  /// Whether a kernel can compute a value itself: a constant, or, if kernels
  /// are self-contained, a view of a literal. Adds the ops that compute it to
  /// `copied`, in their order.
  bool collectCopied(Value value, SetVector<Value> &copied) const {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    bool isView = selfContained && isa<ViewLikeOpInterface>(op);
    if (!isa<arith::ConstantOp>(op) && !isView &&
        !(selfContained && isa<memref::GetGlobalOp>(op)))
      return false;
    SetVector<Value> before = copied;
    for (Value operand : op->getOperands())
      if (!collectCopied(operand, before))
        return false;
    copied = std::move(before);
    copied.insert(value);
    return true;
  }

  /// The first kernel with the same body; erases `kernel` if it is a duplicate.
  func::FuncOp unique(func::FuncOp kernel) {
    // Kernels are compared by a hash first. To print and compare their text
    // took a fifth of the time of lowering.
    SmallVector<func::FuncOp> &alike = kernels[hashOf(kernel)];
    // Executed operations are counted by net op, so each one needs a kernel of
    // its own.
    auto known = llvm::find_if(alike, [&](func::FuncOp other) {
      return merge && areEqual(other, kernel);
    });
    if (known != alike.end()) {
      kernel.erase();
      return *known;
    }
    alike.push_back(kernel);
    kernel.setName(("kernel_" + Twine(++count)).str());
    return kernel;
  }

  static size_t hashOf(func::FuncOp kernel) {
    llvm::hash_code hash = mlir::hash_value(kernel.getFunctionType());
    kernel.getBody().walk([&](Operation *op) {
      hash = llvm::hash_combine(hash,
                                OperationEquivalence::computeHash(
                                    op, OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::IgnoreLocations));
    });
    return hash;
  }

  static bool areEqual(func::FuncOp a, func::FuncOp b) {
    return a.getFunctionType() == b.getFunctionType() &&
           a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
           OperationEquivalence::isRegionEquivalentTo(
               &a.getBody(), &b.getBody(),
               OperationEquivalence::IgnoreLocations);
  }

  std::unordered_map<size_t, SmallVector<func::FuncOp>> kernels; ///< by hash
  size_t count = 0;
  func::FuncOp recorder;
};
} // namespace
