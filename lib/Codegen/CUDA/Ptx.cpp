// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace netc;
using namespace mlir;

Value PtxBuilder::i32(int64_t value) {
  return b.create<arith::ConstantOp>(b.getI32IntegerAttr(int32_t(value)));
}
Value PtxBuilder::i32(Value index) {
  return b.create<arith::IndexCastUIOp>(b.getI32Type(), index);
}
Value PtxBuilder::thread() {
  return b.create<NVVM::ThreadIdXOp>(b.getI32Type());
}
Value PtxBuilder::lane() { return rem(thread(), 32); }
Value PtxBuilder::add(Value x, Value y) {
  return b.create<arith::AddIOp>(x, y);
}
Value PtxBuilder::mul(Value a, int64_t by) {
  return b.create<arith::MulIOp>(a, i32(by));
}
Value PtxBuilder::div(Value a, int64_t by) {
  return b.create<arith::DivUIOp>(a, i32(by));
}
Value PtxBuilder::rem(Value a, int64_t by) {
  return b.create<arith::RemUIOp>(a, i32(by));
}
Value PtxBuilder::index(Value value) {
  return b.create<arith::IndexCastUIOp>(b.getIndexType(), value);
}

Value PtxBuilder::addressOf(Value memory) {
  Value wide = b.create<memref::ExtractAlignedPointerAsIndexOp>(memory);
  return b.create<arith::IndexCastUIOp>(b.getI32Type(), wide);
}
Value PtxBuilder::addressOf(Value start, Value at, int64_t bytes) {
  Value narrow = b.create<arith::IndexCastUIOp>(b.getI32Type(), at);
  return add(start, mul(narrow, bytes));
}
Value PtxBuilder::globalAddressOf(Value memory, Value at, int64_t bytes) {
  Value start = memory;
  if (isa<MemRefType>(memory.getType()))
    start = b.create<arith::IndexCastUIOp>(
        b.getI64Type(),
        b.create<memref::ExtractAlignedPointerAsIndexOp>(memory));
  Value size = b.create<arith::ConstantIndexOp>(bytes);
  Value place = b.create<arith::IndexCastUIOp>(
      b.getI64Type(), b.create<arith::MulIOp>(at, size));
  return b.create<arith::AddIOp>(start, place);
}

void PtxBuilder::effect(StringRef text, StringRef constraints,
                        ValueRange operands) {
  b.create<LLVM::InlineAsmOp>(
      TypeRange(), operands, (text + ";").str(), constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

Value PtxBuilder::pure(StringRef text, StringRef constraints, Type type,
                       ValueRange operands) {
  return b
      .create<LLVM::InlineAsmOp>(type, operands, (text + ";").str(),
                                 constraints, /*has_side_effects=*/false,
                                 /*is_align_stack=*/false,
                                 LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}

SmallVector<Value> PtxBuilder::results(StringRef text, StringRef constraints,
                                       Type type, size_t count,
                                       ValueRange operands, bool hasEffects) {
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              SmallVector<Type>(count, type));
  auto op = b.create<LLVM::InlineAsmOp>(
      TypeRange(all), operands, (text + ";").str(), constraints, hasEffects,
      /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(b.create<LLVM::ExtractValueOp>(op.getRes(), int64_t(i)));
  return values;
}

void PtxBuilder::beginCopy(Value to, Value from, Value bytes) {
  effect("cp.async.cg.shared.global [$0], [$1], 16, $2", "r,l,r,~{memory}",
         {to, from, bytes});
}
void PtxBuilder::commitCopies() {
  effect("cp.async.commit_group", "~{memory}", {});
}
void PtxBuilder::waitForCopies(int64_t open) {
  effect("cp.async.wait_group " + std::to_string(open), "~{memory}", {});
}

SmallVector<Value> PtxBuilder::loadMatrices(Value address, bool isTransposed) {
  std::string text = "ldmatrix.sync.aligned.m8n8.x4";
  text += isTransposed ? ".trans" : "";
  text += ".shared.b16 {$0, $1, $2, $3}, [$4]";
  return results(text, "=r,=r,=r,=r,r,~{memory}", b.getI32Type(), 4, address,
                 /*hasEffects=*/true);
}

Value PtxBuilder::roundToTF32(Value x) {
  return pure("cvt.rna.tf32.f32 $0, $1", "=r,f", b.getI32Type(), x);
}
Value PtxBuilder::roundToBF16(Value x) {
  Value bits = pure("cvt.rn.bf16.f32 $0, $1", "=h,f", b.getI16Type(), x);
  return b.create<arith::BitcastOp>(b.getBF16Type(), bits);
}
Value PtxBuilder::pack(FloatType format, Value low, Value high) {
  std::string type = llvm::to_string(format);
  return pure("cvt.rn." + type + "x2.f32 $0, $2, $1", "=r,f,f", b.getI32Type(),
              {low, high});
}
Value PtxBuilder::exp2(Value x) {
  return pure("ex2.approx.ftz.f32 $0, $1", "=f,f", b.getF32Type(), x);
}
Value PtxBuilder::log2(Value x) {
  return pure("lg2.approx.ftz.f32 $0, $1", "=f,f", b.getF32Type(), x);
}
Value PtxBuilder::shuffle(Value value, int32_t apart) {
  return b.create<NVVM::ShflOp>(value.getType(), i32(-1), value, i32(apart),
                                i32(31), NVVM::ShflKind::bfly, UnitAttr());
}

SmallVector<Value> PtxBuilder::addProduct(FloatType format, ValueRange left,
                                          ValueRange right, ValueRange sums) {
  std::string type = llvm::to_string(format);
  std::string shape = format.isTF32() ? "m16n8k8" : "m16n8k16";
  SmallVector<Value> operands(left);
  llvm::append_range(operands, right);
  llvm::append_range(operands, sums);
  return results("mma.sync.aligned." + shape + ".row.col.f32." + type + "." +
                     type +
                     ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                     "{$0, $1, $2, $3}",
                 "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3", b.getF32Type(), 4, operands,
                 /*hasEffects=*/false);
}

void PtxBuilder::fenceSharedWrites() {
  effect("fence.proxy.async.shared::cta", "~{memory}", {});
}
void PtxBuilder::fenceProducts() {
  effect("wgmma.fence.sync.aligned", "~{memory}", {});
}
void PtxBuilder::commitProducts() {
  effect("wgmma.commit_group.sync.aligned", "~{memory}", {});
}
void PtxBuilder::waitForProducts(int64_t open) {
  effect("wgmma.wait_group.sync.aligned " + std::to_string(open), "~{memory}",
         {});
}

/// The constraints of `count` results, and of operands in the same registers.
static std::pair<std::string, std::string> sameRegisters(size_t count) {
  std::string results, operands;
  for (size_t i = 0; i < count; ++i) {
    results += "=f,";
    operands += std::to_string(i) + ",";
  }
  return {results, operands};
}

SmallVector<Value> PtxBuilder::waitForProducts(ValueRange sums) {
  auto [outputs, inputs] = sameRegisters(sums.size());
  return results("wgmma.wait_group.sync.aligned 0",
                 outputs + inputs + "~{memory}", b.getF32Type(), sums.size(),
                 sums, /*hasEffects=*/true);
}

SmallVector<Value> PtxBuilder::beginProduct(bool isBF16, Value left,
                                            Value right,
                                            std::array<bool, 2> isAlongK,
                                            Value isAdded, ValueRange sums) {
  size_t count = sums.size();
  std::string format = isBF16 ? ".bf16" : ".f16", registers;
  for (size_t i = 0; i < count; ++i)
    registers += (i ? ", $" : "$") + std::to_string(i);
  // The operands that are tied to the sums come first.
  auto operand = [&](size_t number) {
    return ", $" + std::to_string(2 * count + number);
  };
  auto [outputs, inputs] = sameRegisters(count);
  SmallVector<Value> operands(sums);
  operands.append({left, right, isAdded});
  return results("wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(2 * count) + "k16.f32" + format + format +
                     " {" + registers + "}" + operand(0) + operand(1) +
                     operand(2) + ", 1, 1, " + (isAlongK[0] ? "0, " : "1, ") +
                     (isAlongK[1] ? "0" : "1"),
                 outputs + inputs + "l,l,b,~{memory}", b.getF32Type(), count,
                 operands, /*hasEffects=*/true);
}
