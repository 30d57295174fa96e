// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Codegen/CUDA/EmitPeaks.h"

#include "lib/Codegen/CUDA/EmitWgmma.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Ptx.h"
#include "lib/Program/PeakKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace netc;
using namespace mlir;

using Matrix = MatrixSchedule;

namespace {
class PeakEmitter {
public:
  explicit PeakEmitter(ModuleOp module)
      : module(module), b(module.getLoc(), module.getContext()), ptx(b),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  void emitMultiplyAdds(const program::PeakKernel &kernel);
  void emitProductsOfWarps(const program::PeakKernel &kernel, FloatType format);
  void emitProductsOfWarpgroups(const program::PeakKernel &kernel,
                                FloatType format);
  void emitStream(const program::StreamKernel &kernel);
  void emitClocks();

private:
  /// Begins a function for blocks of `threads`, and returns its parameters.
  ValueRange begin(StringRef name, ArrayRef<Type> parameters, int64_t threads) {
    b.setInsertionPointToEnd(module.getBody());
    auto function =
        b.create<func::FuncOp>(name, b.getFunctionType(parameters, {}));
    function->setAttr(kThreadsPerBlock, b.getI64IntegerAttr(threads));
    b.setInsertionPointToStart(function.addEntryBlock());
    return function.getArguments();
  }
  void end() { b.create<func::ReturnOp>(); }

  /// The index of this thread in its launch, of 32 bits.
  Value number() {
    Value block = b.create<NVVM::BlockIdXOp>(b.getI32Type());
    return ptx.add(ptx.mul(block, program::PeakKernel::kThreads), ptx.thread());
  }
  Value i64(int64_t value) {
    return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value));
  }
  Value bits(Value x) { return b.create<arith::BitcastOp>(b.getI32Type(), x); }
  Value random(Value seed, int64_t number);
  Value randomOperand(FloatType format, Value seed, int64_t number);
  SmallVector<Value> randomOperands(FloatType format, Value seed, int64_t first,
                                    int64_t count);

  /// Repeats `body`, which gets the number of the iteration and the carried
  /// values and returns the next ones.
  SmallVector<Value>
  repeat(Value iterations, ValueRange carried,
         llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// Uses values, so that no compiler leaves out their computation.
  void keep(ValueRange values, Value to);

  ModuleOp module;
  ImplicitLocOpBuilder b;
  PtxBuilder ptx;
  Type pointer;
};
} // namespace

/// Power limits the clock, and products of equal numbers take less of it. So
/// all operands are random bits.
Value PeakEmitter::random(Value seed, int64_t number) {
  Value x = ptx.mul(ptx.add(seed, ptx.i32(number * 0x632be5ab)), 0x9e3779b1);
  for (int64_t factor : {0x85ebca6b, 0xc2b2ae35}) {
    Value high = b.create<arith::ShRUIOp>(x, ptx.i32(15));
    x = ptx.mul(b.create<arith::XOrIOp>(x, high), factor);
  }
  return b.create<arith::XOrIOp>(x, b.create<arith::ShRUIOp>(x, ptx.i32(13)));
}

/// 32 bits of numbers from 1/2 to 2 and their negatives: two of them for
/// formats of 16 bits.
Value PeakEmitter::randomOperand(FloatType format, Value seed, int64_t number) {
  // The bits of 1/2, and the sign, the last bit of the exponent and the rest.
  auto [half, free] =
      format.isBF16()  ? std::pair<int64_t, int64_t>(0x3f003f00, 0x80ff80ff)
      : format.isF16() ? std::pair<int64_t, int64_t>(0x38003800, 0x87ff87ff)
                       : std::pair<int64_t, int64_t>(0x3f000000, 0x80ffffff);
  Value some = b.create<arith::AndIOp>(random(seed, number), ptx.i32(free));
  return b.create<arith::OrIOp>(some, ptx.i32(half));
}

SmallVector<Value> PeakEmitter::randomOperands(FloatType format, Value seed,
                                               int64_t first, int64_t count) {
  SmallVector<Value> operands;
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(randomOperand(format, seed, first + i));
  return operands;
}

SmallVector<Value> PeakEmitter::repeat(
    Value iterations, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = b.create<scf::ForOp>(i64(0), iterations, i64(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  b.create<scf::YieldOp>(
      body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return loop.getResults();
}

void PeakEmitter::keep(ValueRange values, Value to) {
  Value all = bits(values.front());
  for (Value value : values.drop_front())
    all = b.create<arith::XOrIOp>(all, bits(value));
  Value isNever = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, all,
                                          ptx.i32(0x7fc12345));
  auto branch = b.create<scf::IfOp>(isNever, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<LLVM::StoreOp>(all, to);
}

void PeakEmitter::emitMultiplyAdds(const program::PeakKernel &kernel) {
  ValueRange parameters = begin(kernel.name, {pointer, b.getI64Type()},
                                program::PeakKernel::kThreads);
  Value seed = number();
  FloatType f32 = b.getF32Type();
  SmallVector<Value> sums;
  for (Value operand : randomOperands(f32, seed, 0, program::kPeakChains))
    sums.push_back(b.create<arith::BitcastOp>(f32, operand));
  // x^2 - 1.9 is chaotic, and stays between -1.9 and 1.71.
  Value summand = b.create<arith::ConstantOp>(b.getF32FloatAttr(-1.9f));
  sums = repeat(parameters[1], sums, [&](Value, ValueRange before) {
    SmallVector<Value> sums(before);
    for (int64_t step = 0; step < program::kPeakSteps; ++step)
      for (Value &sum : sums)
        sum = b.create<math::FmaOp>(sum, sum, summand);
    return sums;
  });
  keep(sums, parameters[0]);
  end();
}

void PeakEmitter::emitProductsOfWarps(const program::PeakKernel &kernel,
                                      FloatType format) {
  ValueRange parameters = begin(kernel.name, {pointer, b.getI64Type()},
                                program::PeakKernel::kThreads);
  // As in a product, each fragment of A meets each of B.
  const int64_t rows = 2, columns = program::kPeakChains / rows;
  Value seed = number();
  SmallVector<Value> left = randomOperands(format, seed, 0, 4 * rows),
                     right =
                         randomOperands(format, seed, 4 * rows, 2 * columns);
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(b.getF32Type()));
  SmallVector<Value> sums(4 * program::kPeakChains, zero);
  sums = repeat(parameters[1], sums, [&](Value, ValueRange before) {
    SmallVector<Value> sums(before);
    for (int64_t product = 0; product < program::kPeakProducts; ++product)
      for (int64_t i = 0; i < program::kPeakChains; ++i)
        llvm::copy(ptx.addProduct(format,
                                  ArrayRef(left).slice(i / columns * 4, 4),
                                  ArrayRef(right).slice(i % columns * 2, 2),
                                  ArrayRef(sums).slice(4 * i, 4)),
                   sums.begin() + 4 * i);
    return sums;
  });
  keep(sums, parameters[0]);
  end();
}

void PeakEmitter::emitProductsOfWarpgroups(const program::PeakKernel &kernel,
                                           FloatType format) {
  ValueRange parameters = begin(kernel.name, {pointer, b.getI64Type()},
                                program::PeakKernel::kThreads);
  Matrix matrix{
      {{1, program::kPeakM, program::kPeakN, program::kPeakK, 16, true, true},
       program::kPeakM,
       program::kPeakN,
       program::kPeakK},
      Matrix::kGroupElementBytes,
      program::kPeakWarps,
      1,
      1,
      true,
      true,
      MatrixInstruction::Wgmma};
  Value shared = sharedBuffer(b, "stage", b.getI32Type(),
                              matrix.sharedBytes() / 4, /*alignment=*/1024);
  Value seed = number();
  for (int64_t i = 0; i < matrix.sharedBytes() / 4;
       i += program::PeakKernel::kThreads)
    b.create<memref::StoreOp>(randomOperand(format, seed, i), shared,
                              ptx.index(ptx.add(ptx.thread(), ptx.i32(i))));
  ptx.fenceSharedWrites();
  b.create<NVVM::Barrier0Op>();

  WarpgroupBuilder group(b, matrix, format.isBF16());
  Value stage = ptx.addressOf(shared);
  // The first products do not read the sums.
  Value none = b.create<LLVM::UndefOp>(b.getF32Type());
  SmallVector<Value> sums(program::kPeakN / 2, none);
  sums = repeat(parameters[1], sums, [&](Value i, ValueRange before) {
    Value isAdded =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, i, i64(0));
    SmallVector<Value> sums = group.beginProducts(stage, isAdded, before);
    ptx.waitForProducts(/*open=*/1);
    return sums;
  });
  keep(ptx.waitForProducts(sums), parameters[0]);
  end();
}

void PeakEmitter::emitStream(const program::StreamKernel &kernel) {
  ValueRange arrays =
      begin(kernel.name, SmallVector<Type>(kernel.arrays, pointer),
            program::StreamKernel::kThreads);
  auto type =
      VectorType::get({program::StreamKernel::kBytes / 4}, b.getF32Type());
  Value thread = number();
  auto place = [&](Value array) {
    return b.create<LLVM::GEPOp>(pointer, type, array, ValueRange{thread});
  };
  auto load = [&](Value array) -> Value {
    return b.create<LLVM::LoadOp>(type, place(array),
                                  program::StreamKernel::kBytes);
  };
  Value value = load(arrays[1]);
  if (kernel.arrays == 3) {
    Value factor = b.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, b.getF32FloatAttr(3)));
    value = b.create<math::FmaOp>(factor, load(arrays[2]), value);
  }
  b.create<LLVM::StoreOp>(value, place(arrays[0]),
                          program::StreamKernel::kBytes);
  end();
}

void PeakEmitter::emitClocks() {
  ValueRange parameters = begin(program::clockKernel, {pointer}, /*threads=*/1);
  Value block = b.create<NVVM::BlockIdXOp>(b.getI32Type());
  auto read = [&](StringRef name, Type type) -> Value {
    auto intrinsic = b.getStringAttr("llvm.nvvm.read.ptx.sreg." + name);
    return b.create<LLVM::CallIntrinsicOp>(type, intrinsic, ValueRange())
        .getResult(0);
  };
  Value values[] = {
      read("clock64", b.getI64Type()), read("globaltimer", b.getI64Type()),
      b.create<arith::ExtUIOp>(b.getI64Type(), read("smid", b.getI32Type()))};
  for (auto [i, value] : llvm::enumerate(values)) {
    Value at = ptx.add(ptx.mul(block, std::size(values)), ptx.i32(i));
    b.create<LLVM::StoreOp>(
        value, b.create<LLVM::GEPOp>(pointer, value.getType(), parameters[0],
                                     ValueRange{at}));
  }
  end();
}

static FloatType formatOf(const program::PeakKernel &kernel,
                          MLIRContext *context) {
  StringRef name = kernel.format;
  return name == "bf16"   ? FloatType(BFloat16Type::get(context))
         : name == "f16"  ? FloatType(Float16Type::get(context))
         : name == "tf32" ? FloatType(FloatTF32Type::get(context))
                          : FloatType(Float32Type::get(context));
}

OwningOpRef<ModuleOp> netc::emitPeaks(MLIRContext *context,
                                      const program::DeviceArch &arch) {
  context
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                    scf::SCFDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  PeakEmitter emitter(*module);
  for (const program::PeakKernel &kernel : program::peakKernels) {
    if (kernel.capability > arch.capability)
      continue;
    FloatType format = formatOf(kernel, context);
    switch (kernel.instruction) {
    case program::PeakInstruction::Fma:
      emitter.emitMultiplyAdds(kernel);
      break;
    case program::PeakInstruction::Mma:
      emitter.emitProductsOfWarps(kernel, format);
      break;
    case program::PeakInstruction::Wgmma:
      emitter.emitProductsOfWarpgroups(kernel, format);
      break;
    }
  }
  emitter.emitStream(program::triadKernel);
  emitter.emitStream(program::copyKernel);
  emitter.emitClocks();
  return module;
}
