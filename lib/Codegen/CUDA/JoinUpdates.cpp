// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/LinalgQueries.h"
#include "lib/Codegen/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

#include <limits>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_JOINUPDATES
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

/// Bytes of an access by a thread; each tensor starts at a multiple of this.
static constexpr int64_t kVectorBytes = 16;
/// The number of vectors that a thread computes.
static constexpr int64_t kVectorsOfThread = 4;

//===----------------------------------------------------------------------===//
// Accesses to the arena
//===----------------------------------------------------------------------===//

namespace {
/// Bytes of the arena that an op may access.
struct Access {
  int64_t from, to;
  bool isWrite;

  bool conflictsWith(const Access &other) const {
    return (isWrite || other.isWrite) && from < other.to && other.from < to;
  }
};
} // namespace

static Access accessOf(Value memory, bool isWrite) {
  auto buffer = bufferOf(memory).getDefiningOp<memref::ViewOp>();
  auto start = buffer ? getConstantIntValue(buffer.getByteShift())
                      : std::optional<int64_t>();
  if (!start)
    return {0, std::numeric_limits<int64_t>::max(), isWrite};
  return {*start, *start + sizeInBytes(buffer.getType()), isWrite};
}

/// The byte of the arena at which a memref starts; none if that is not known.
static std::optional<int64_t> placeInArena(Value memory) {
  while (isa_and_nonnull<memref::ExpandShapeOp, memref::CollapseShapeOp>(
      memory.getDefiningOp()))
    memory = memory.getDefiningOp()->getOperand(0);
  auto buffer = memory.getDefiningOp<memref::ViewOp>();
  if (!buffer || !isa<BlockArgument>(buffer.getSource()))
    return std::nullopt;
  return getConstantIntValue(buffer.getByteShift());
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

namespace {
/// An element-wise op whose operands are constants, single elements, or tensors
/// of which it only accesses elements at the same offset.
struct Update {
  static std::optional<Update> of(linalg::GenericOp op);

  linalg::GenericOp op;
  int64_t extent;
  /// By operand: whether it is a tensor, and its first byte in the arena, or 0
  /// for a constant.
  SmallVector<bool> areTensors;
  SmallVector<int64_t> places;
  /// Equal for ops that differ only in their tensors.
  std::string rule;
};
} // namespace

static bool isConstant(Value value) {
  return isa_and_nonnull<arith::ConstantOp>(value.getDefiningOp());
}

/// Describes a payload; equal payloads have equal descriptions. False if it has
/// memory effects, regions or a linalg.index.
static bool describe(Block &body, llvm::raw_ostream &os) {
  DenseMap<Value, unsigned> numbers;
  for (Value argument : body.getArguments())
    numbers.try_emplace(argument, numbers.size());
  for (Operation &op : body) {
    bool isKnown = isa<linalg::YieldOp>(op) ||
                   (isMemoryEffectFree(&op) && !isa<linalg::IndexOp>(op) &&
                    op.getNumRegions() == 0);
    if (!isKnown)
      return false;
    os << op.getName() << op.getAttrDictionary() << '(';
    for (Value operand : op.getOperands()) {
      if (auto known = numbers.find(operand); known != numbers.end())
        os << '%' << known->second << ' ';
      else if (isConstant(operand))
        os << operand.getDefiningOp<arith::ConstantOp>().getValue() << ' ';
      else
        return false;
    }
    os << ')';
    for (Value result : op.getResults()) {
      numbers.try_emplace(result, numbers.size());
      os << result.getType();
    }
  }
  return true;
}

std::optional<Update> Update::of(linalg::GenericOp op) {
  std::optional<LoopNest> nest = LoopNest::of(op);
  if (!nest || op.getNumReductionLoops() != 0 || op.hasIndexSemantics())
    return std::nullopt;
  nest->collapse();
  if (nest->loops.size() != 1)
    return std::nullopt;
  const LoopNest::Loop &loop = nest->loops.front();
  Update update{op, loop.extent, {}, {}, ""};
  llvm::raw_string_ostream os(update.rule);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    int64_t stride = loop.strides[number], place = 0;
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!isa<MemRefType>(operand.get().getType())) {
      if (!isConstant(operand.get()))
        return std::nullopt;
      os << operand.get().getDefiningOp<arith::ConstantOp>().getValue();
    } else {
      auto start = placeInArena(operand.get());
      if (!start || !element.isIntOrFloat() ||
          element.getIntOrFloatBitWidth() % 8 != 0)
        return std::nullopt;
      place =
          *start + nest->starts[number] * element.getIntOrFloatBitWidth() / 8;
    }
    bool isInit = number >= op.getNumDpsInputs();
    if ((stride != 0 && stride != 1) || (isInit && stride == 0) ||
        (stride == 1 && place % kVectorBytes != 0))
      return std::nullopt;
    update.areTensors.push_back(stride == 1);
    update.places.push_back(place);
    os << element << stride << (isInit ? "=" : ",");
  }
  if (!describe(*op.getBody(), os))
    return std::nullopt;
  return update;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// Builds the kernel that executes some updates. A table in memory has, for
/// each update, its first block, its extent, and the offsets of its operands.
class UpdateKernel {
public:
  UpdateKernel(ArrayRef<Update> updates, func::FuncOp step, unsigned number)
      : updates(updates), step(step),
        b(updates.back().op->getLoc(), step.getContext()) {
    name = "updates_" + std::to_string(number);
    for (auto [operand, areTensors] :
         llvm::enumerate(updates.front().areTensors))
      if (areTensors)
        width = std::min<int64_t>(
            width, kVectorBytes * 8 / typeOf(operand).getIntOrFloatBitWidth());
  }

  void emit() {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    b.setInsertionPoint(step);
    auto kernel =
        b.create<func::FuncOp>(name, b.getFunctionType({pointer}, TypeRange()));
    kernel.setPrivate();
    makeTable();
    b.setInsertionPointToStart(kernel.addEntryBlock());
    arena = kernel.getArgument(0);
    body();
    b.create<func::ReturnOp>();
    kernel->setAttr(kThreads,
                    b.getI64IntegerAttr(firstBlocks.back() * kBlockThreads));
    call(kernel);
  }

private:
  Type typeOf(size_t operand) const {
    return getElementTypeOrSelf(updates[0].op->getOperand(operand).getType());
  }
  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(value); }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(x, y); }
  Value isBelow(Value x, Value y) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, x, y);
  }

  void makeTable() {
    int64_t ofBlock = kBlockThreads * kVectorsOfThread * width;
    SmallVector<int64_t> numbers;
    firstBlocks.push_back(0);
    for (const Update &update : updates) {
      numbers.push_back(firstBlocks.back());
      firstBlocks.push_back(firstBlocks.back() +
                            llvm::divideCeil(update.extent, ofBlock));
    }
    for (const Update &update : updates)
      numbers.push_back(update.extent);
    for (size_t operand = 0; operand < updates[0].places.size(); ++operand)
      for (const Update &update : updates)
        numbers.push_back(update.places[operand]);
    auto type =
        RankedTensorType::get({int64_t(numbers.size())}, b.getI64Type());
    b.setInsertionPoint(step);
    table = b.create<memref::GlobalOp>(
        name + "_table", b.getStringAttr("private"),
        MemRefType::get(type.getShape(), type.getElementType()),
        DenseIntElementsAttr::get(type, ArrayRef<int64_t>(numbers)),
        /*constant=*/true, IntegerAttr());
  }

  /// Loads a number of an update from a row of the table.
  Value read(int64_t row, Value update) {
    Value memory =
        b.create<memref::GetGlobalOp>(table.getType(), table.getName());
    Value at = add(update, index(row * int64_t(updates.size())));
    Value number = b.create<memref::LoadOp>(memory, at);
    return b.create<arith::IndexCastOp>(b.getIndexType(), number);
  }

  /// The last update whose first block is not after `block`.
  Value findUpdate(Value block) {
    int64_t count = updates.size();
    Value found = index(0);
    for (int64_t step = llvm::PowerOf2Ceil(count) / 2; step > 0; step /= 2) {
      Value later = add(found, index(step));
      Value isThere = isBelow(later, index(count));
      Value at = b.create<arith::SelectOp>(isThere, later, index(0));
      Value isBefore = b.create<arith::CmpIOp>(arith::CmpIPredicate::ule,
                                               read(0, at), block);
      found = b.create<arith::SelectOp>(
          b.create<arith::AndIOp>(isThere, isBefore), later, found);
    }
    return found;
  }

  Value addressOf(Value place, Value at, Type element) {
    Value size = index(element.getIntOrFloatBitWidth() / 8);
    Value byte = add(place, b.create<arith::MulIOp>(at, size));
    Value wide = b.create<arith::IndexCastOp>(b.getI64Type(), byte);
    return b.create<LLVM::GEPOp>(arena.getType(), b.getI8Type(), arena, wide);
  }

  void body() {
    auto narrow = b.create<NVVM::BlockIdXOp>(b.getI32Type());
    Value block = b.create<arith::IndexCastUIOp>(b.getIndexType(), narrow);
    auto threadNumber = b.create<NVVM::ThreadIdXOp>(b.getI32Type());
    Value thread =
        b.create<arith::IndexCastUIOp>(b.getIndexType(), threadNumber);
    Value update = findUpdate(block);
    Value extent = read(1, update);
    for (size_t operand = 0; operand < updates[0].places.size(); ++operand)
      places.push_back(read(2 + operand, update));
    Value inUpdate = b.create<arith::SubIOp>(block, read(0, update));
    Value first = b.create<arith::MulIOp>(inUpdate, index(kVectorsOfThread));
    for (size_t operand = 0; operand < places.size(); ++operand)
      numbers.push_back(updates[0].areTensors[operand] ? Value()
                                                       : numberOf(operand));
    auto vectors =
        b.create<scf::ForOp>(index(0), index(kVectorsOfThread), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(vectors.getBody());
    Value vector = add(first, vectors.getInductionVar());
    vector = add(b.create<arith::MulIOp>(vector, index(kBlockThreads)), thread);
    Value at = b.create<arith::MulIOp>(vector, index(width));
    Value end = add(at, index(width));
    Value isWhole =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ule, end, extent);
    auto branch = b.create<scf::IfOp>(isWhole, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    elements(at, width);
    b.setInsertionPointToStart(branch.elseBlock());
    auto rest = b.create<scf::ForOp>(at, extent, index(1));
    b.setInsertionPointToStart(rest.getBody());
    elements(rest.getInductionVar(), 1);
  }

  /// The element of an operand that is the same for all elements; null if it is
  /// not read.
  Value numberOf(size_t operand) {
    linalg::GenericOp op = updates[0].op;
    if (op.getBody()->getArgument(operand).use_empty())
      return {};
    Value value = op->getOperand(operand);
    if (!isa<MemRefType>(value.getType()))
      return b.clone(*value.getDefiningOp())->getResult(0);
    Value address = addressOf(places[operand], index(0), typeOf(operand));
    return b.create<LLVM::LoadOp>(typeOf(operand), address);
  }

  void elements(Value at, int64_t count) {
    linalg::GenericOp op = updates[0].op;
    Block &payload = *op.getBody();
    auto isRead = [&](size_t operand) {
      return !payload.getArgument(operand).use_empty();
    };
    auto vectorOf = [&](size_t operand) -> Type {
      if (count == 1)
        return typeOf(operand);
      return VectorType::get({count}, typeOf(operand));
    };
    auto bytesOf = [&](size_t operand) {
      return unsigned(count * typeOf(operand).getIntOrFloatBitWidth() / 8);
    };
    SmallVector<Value> inputs, outputs;
    for (size_t operand = 0; operand < places.size(); ++operand) {
      bool isLoaded = isRead(operand) && updates[0].areTensors[operand];
      inputs.push_back(
          isLoaded ? Value(b.create<LLVM::LoadOp>(
                         vectorOf(operand),
                         addressOf(places[operand], at, typeOf(operand)),
                         bytesOf(operand)))
                   : numbers[operand]);
    }
    for (int64_t i = 0; i < count; ++i) {
      IRMapping values;
      for (size_t operand = 0; operand < places.size(); ++operand)
        if (isRead(operand)) {
          bool isVector = updates[0].areTensors[operand] && count > 1;
          values.map(payload.getArgument(operand),
                     isVector ? b.create<vector::ExtractOp>(inputs[operand], i)
                              : inputs[operand]);
        }
      for (Operation &operation : payload.without_terminator()) {
        for (Value operand : operation.getOperands())
          if (isConstant(operand) && !values.contains(operand) &&
              operand.getParentBlock() != &payload)
            values.map(operand,
                       b.clone(*operand.getDefiningOp())->getResult(0));
        b.clone(operation, values);
      }
      for (auto [number, result] :
           llvm::enumerate(payload.getTerminator()->getOperands())) {
        Value element = values.lookupOrDefault(result);
        if (isConstant(result) && element == result)
          element = b.clone(*result.getDefiningOp())->getResult(0);
        if (count == 1) {
          outputs.push_back(element);
          continue;
        }
        if (i == 0)
          outputs.push_back(b.create<arith::ConstantOp>(
              b.getZeroAttr(vectorOf(op.getNumDpsInputs() + number))));
        outputs[number] =
            b.create<vector::InsertOp>(element, outputs[number], i);
      }
    }
    for (auto [number, output] : llvm::enumerate(outputs)) {
      size_t operand = op.getNumDpsInputs() + number;
      b.create<LLVM::StoreOp>(output,
                              addressOf(places[operand], at, typeOf(operand)),
                              bytesOf(operand));
    }
  }

  /// Calls the kernel before the last of the updates.
  void call(func::FuncOp kernel) {
    b.setInsertionPoint(updates.back().op);
    Value start =
        b.create<memref::ExtractAlignedPointerAsIndexOp>(step.getArgument(0));
    Value address = b.create<LLVM::IntToPtrOp>(
        arena.getType(), b.create<arith::IndexCastOp>(b.getI64Type(), start));
    b.create<func::CallOp>(kernel, address);
  }

  ArrayRef<Update> updates;
  func::FuncOp step;
  ImplicitLocOpBuilder b;
  std::string name;
  int64_t width = kVectorBytes;
  SmallVector<int64_t> firstBlocks; ///< of each update, and after the last
  memref::GlobalOp table;
  Value arena;
  SmallVector<Value> places, numbers; ///< of this block's update
};

struct JoinUpdates : netc::impl::JoinUpdatesBase<JoinUpdates> {
  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("netc_step");
    if (!step)
      return;
    llvm::MapVector<StringRef, SmallVector<Update>> byRule;
    std::vector<std::unique_ptr<std::string>> rules;
    for (auto op : step.getBody().front().getOps<linalg::GenericOp>())
      if (auto update = Update::of(op)) {
        auto known = byRule.find(update->rule);
        if (known == byRule.end()) {
          rules.push_back(std::make_unique<std::string>(update->rule));
          known = byRule.insert({StringRef(*rules.back()), {}}).first;
        }
        known->second.push_back(*update);
      }
    for (auto &[rule, updates] : byRule)
      join(updates, step);
  }

private:
  /// Joins consecutive updates that can move down to the last of them.
  void join(ArrayRef<Update> updates, func::FuncOp step) {
    size_t first = 0;
    SmallVector<Access> accesses;
    for (size_t i = 0; i <= updates.size(); ++i) {
      bool isEnd = i == updates.size();
      if (!isEnd && (i == first || canMoveDownTo(accesses, updates[i - 1].op,
                                                 updates[i].op))) {
        llvm::append_range(accesses, accessesOf(updates[i].op));
        continue;
      }
      replace(updates.slice(first, i - first), accesses, step);
      accesses.clear();
      first = i;
      if (!isEnd)
        accesses = accessesOf(updates[i].op);
    }
  }

  /// Whether ops with these accesses, up to `last`, can move down to `later`:
  /// they conflict with no op after `last`, including `later`.
  bool canMoveDownTo(ArrayRef<Access> accesses, Operation *last,
                     Operation *later) {
    for (Operation *op = last->getNextNode();; op = op->getNextNode()) {
      for (const Access &other : accessesOf(op))
        if (llvm::any_of(accesses, [&](const Access &access) {
              return access.conflictsWith(other);
            }))
          return false;
      if (op == later)
        return true;
    }
  }

  SmallVector<Access> accessesOf(Operation *op) {
    if (auto known = joined.find(op); known != joined.end())
      return known->second;
    SmallVector<Access> accesses;
    op->walk([&](Operation *inner) {
      if (isMemoryEffectFree(inner))
        return;
      auto linalg = dyn_cast<linalg::LinalgOp>(inner);
      for (OpOperand &operand : inner->getOpOperands()) {
        bool isRead = isa<memref::LoadOp>(inner) ||
                      (linalg && linalg.isDpsInput(&operand));
        bool isLiteral =
            isa_and_nonnull<memref::GetGlobalOp>(operand.get().getDefiningOp());
        if (isa<MemRefType>(operand.get().getType()) && !isLiteral)
          accesses.push_back(accessOf(operand.get(), !isRead));
      }
    });
    return accesses;
  }

  void replace(ArrayRef<Update> updates, ArrayRef<Access> accesses,
               func::FuncOp step) {
    if (updates.size() < 2)
      return;
    UpdateKernel(updates, step, ++count).emit();
    Operation *call = updates.back().op->getPrevNode();
    joined[call] = SmallVector<Access>(accesses);
    for (const Update &update : updates)
      linalg::GenericOp(update.op).erase();
  }

  unsigned count = 0;
  DenseMap<Operation *, SmallVector<Access>> joined; ///< by call
};
} // namespace
