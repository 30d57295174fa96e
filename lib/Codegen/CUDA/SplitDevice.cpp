// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/NetAttributes.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_SPLITDEVICE
#include "lib/Codegen/CUDA/Passes.h.inc"
} // namespace netc

void netc::markKernel(LLVM::LLVMFuncOp function, int64_t threads) {
  Builder types(function.getContext());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    types.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    types.getDenseI32ArrayAttr({int32_t(threads)}));
  function.setLinkage(LLVM::Linkage::External);
}

/// States how accesses to vectors are aligned: kernels have only such as start
/// at multiples of their size, or of the widest access. LLVM infers it from few
/// of the operations that compute an address, and parts other accesses.
static void alignVectors(LLVM::LLVMFuncOp kernel) {
  auto align = [](auto access, Type type) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      return;
    int64_t bytes =
        vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
    access.setAlignment(std::min(bytes, kAccessBytes));
  };
  kernel.walk([&](LLVM::LoadOp load) { align(load, load.getType()); });
  kernel.walk(
      [&](LLVM::StoreOp store) { align(store, store.getValue().getType()); });
}

/// Replaces a call of a kernel by a launch of kernel `number`, with the same
/// arguments.
static void launch(LLVM::CallOp call, LLVM::LLVMFuncOp launcher,
                   int64_t number) {
  // Allocate the stack once for the whole step, not in each iteration of a
  // loop.
  auto step = call->getParentOfType<LLVM::LLVMFuncOp>();
  auto top = ImplicitLocOpBuilder::atBlockBegin(call.getLoc(),
                                                &step.getBody().front());
  ImplicitLocOpBuilder b(call.getLoc(), call);
  auto pointer = LLVM::LLVMPointerType::get(call.getContext());
  auto place = [&](Type type, int64_t count) -> Value {
    Value size = top.create<LLVM::ConstantOp>(b.getI64IntegerAttr(count));
    return top.create<LLVM::AllocaOp>(pointer, type, size);
  };
  int64_t count = call.getNumOperands();
  Value arguments = place(pointer, std::max<int64_t>(count, 1));
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    Value value = place(operand.getType(), 1);
    b.create<LLVM::StoreOp>(operand, value);
    Value at = b.create<LLVM::GEPOp>(pointer, pointer, arguments,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    b.create<LLVM::StoreOp>(value, at);
  }
  Value which = b.create<LLVM::ConstantOp>(b.getI64IntegerAttr(number));
  b.create<LLVM::CallOp>(launcher, ValueRange{which, arguments});
  call.erase();
}

namespace {
struct SplitDevice : netc::impl::SplitDeviceBase<SplitDevice> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<LLVM::LLVMFuncOp>("netc_step");
    if (!step)
      return;
    Builder types(&getContext());
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto none = LLVM::LLVMVoidType::get(&getContext());
    auto launcher = top.create<LLVM::LLVMFuncOp>(
        step.getLoc(), "netc_launch",
        LLVM::LLVMFunctionType::get(
            none,
            {types.getI64Type(), LLVM::LLVMPointerType::get(&getContext())}));
    auto device = top.create<ModuleOp>(step.getLoc(), kDevice);

    llvm::StringMap<int64_t> numbers;
    SmallVector<Attribute> kernels;
    for (Operation &op :
         llvm::make_early_inc_range(module.getBody()->getOperations())) {
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      bool isKernel = function && function->hasAttr(kThreads);
      if (isKernel) {
        numbers[function.getName()] = kernels.size();
        auto threads =
            cast<IntegerAttr>(function->removeAttr(kThreads)).getInt();
        // The code of a single thread does not use its index.
        int64_t ofBlock = threads == 1 ? 1 : kBlockThreads;
        if (auto own = function->removeAttr(kThreadsPerBlock))
          ofBlock = cast<IntegerAttr>(own).getInt();
        int64_t blocks = llvm::divideCeil(threads, ofBlock), sharedBytes = 0;
        if (auto bytes = function->removeAttr(kSharedBytes))
          sharedBytes = cast<IntegerAttr>(bytes).getInt();
        kernels.push_back(KernelAttr::get(&getContext(), function.getName(),
                                          blocks, ofBlock, sharedBytes));
        markKernel(function, ofBlock);
        alignVectors(function);
      } else if (function && function != step && !function.isExternal())
        function.setLinkage(LLVM::Linkage::Internal);
      bool isHost = function && (function == step || function.isExternal());
      if (isKernel || (!isHost && isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op)))
        op.moveBefore(device.getBody(), device.getBody()->end());
    }
    module->setAttr(KernelAttr::kOfModule, types.getArrayAttr(kernels));
    step.walk([&](LLVM::CallOp call) {
      if (auto number = numbers.find(call.getCallee().value_or(""));
          number != numbers.end())
        launch(call, launcher, number->second);
    });
  }
};
} // namespace
