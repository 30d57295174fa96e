// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/CUDA.h"

#include "lib/Codegen/CUDA/EmitPeaks.h"
#include "lib/Codegen/CUDA/Kernels.h"
#include "lib/Codegen/CUDA/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Target/DeviceCode.h"
#include "lib/Target/ObjectCode.h"
#include "lib/Target/Schedules.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace netc;
using namespace mlir;

static ModuleOp deviceOf(ModuleOp module) {
  return module.lookupSymbol<ModuleOp>(kDevice);
}

/// Adds a constant with `text` to the object.
static void addText(ModuleOp module, StringRef name, StringRef text) {
  auto b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
  b.create<LLVM::GlobalOp>(module.getLoc(), type, /*isConstant=*/true,
                           LLVM::Linkage::External, name,
                           b.getStringAttr(text));
}

/// Passes from the code of a thread to the LLVM dialect.
static void addKernelConversions(OpPassManager &passes) {
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  addLlvmDialectPasses(passes);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

llvm::Expected<std::string> netc::peakCode(MLIRContext *context,
                                           const program::DeviceArch &arch) {
  OwningOpRef<ModuleOp> peaks = emitPeaks(context, arch);
  PassManager passes((*peaks)->getName());
  addKernelConversions(passes);
  if (failed(passes.run(*peaks)))
    llvm_unreachable("all that is emitted can be converted");
  for (auto kernel : peaks->getOps<LLVM::LLVMFuncOp>())
    markKernel(
        kernel,
        cast<IntegerAttr>(kernel->removeAttr(kThreadsPerBlock)).getInt());
  return emitPtx(*peaks, arch);
}

namespace {
class CudaBackend : public Backend {
public:
  CudaBackend(std::unique_ptr<llvm::TargetMachine> host,
              std::vector<program::DeviceArch> archs)
      : host(std::move(host)), archs(std::move(archs)) {}

  program::Target target() const override {
    std::string names;
    for (const program::DeviceArch &arch : archs)
      names += (names.empty() ? "" : ",") + std::string(arch.name);
    return {program::TargetKind::Cuda, program::nameOf(isaOf(*host)), names};
  }

  void addLayoutPasses(OpPassManager &passes,
                       const LoweringOptions &options) const override {
    if (options.reference)
      return;
    FindAttentionOptions attention;
    attention.arch = archs.front().name;
    passes.addNestedPass<func::FuncOp>(createFindAttention(attention));
    passes.addNestedPass<func::FuncOp>(createRecomputeExponentials());
    passes.addNestedPass<func::FuncOp>(createSortRows());
    passes.addNestedPass<func::FuncOp>(createPadRows());
    SplitSumsOptions split;
    split.arch = archs.front().name;
    passes.addNestedPass<func::FuncOp>(createSplitSums(split));
    passes.addNestedPass<func::FuncOp>(createFuseTransposes());
    passes.addNestedPass<func::FuncOp>(createMergeElementwise());
  }

  void addGroupPasses(OpPassManager &passes,
                      const LoweringOptions &options) const override {
    if (options.reference)
      return;
    passes.addNestedPass<func::FuncOp>(createFuseAttention());
    passes.addNestedPass<func::FuncOp>(createFuseEpilogues(
        [device = DeviceInfo::of(archs.front())](linalg::LinalgOp product,
                                                 linalg::GenericOp epilogue) {
          return takesEpilogue(product, epilogue, device);
        }));
    passes.addNestedPass<func::FuncOp>(createFuseRows());
  }

  LogicalResult printSchedule(ModuleOp module,
                              llvm::raw_ostream &os) const override {
    OutlineKernelsOptions outline;
    outline.record = outline.merge = false;
    outline.selfContained = true;
    outline.alignment = kAccessBytes;
    TileKernelsOptions tile;
    tile.arch = archs.front().name;
    tile.printSchedules = true;
    PassManager passes(module->getName());
    passes.addPass(createOutlineKernels(outline));
    passes.addPass(createTileKernels(tile));
    return printSchedules(passes, module, os);
  }

  void addKernelPasses(OpPassManager &passes,
                       const LoweringOptions &options) const override {
    OutlineKernelsOptions outline;
    outline.record = outline.merge = !options.counted;
    outline.selfContained = true;
    outline.alignment = kAccessBytes;
    if (!options.reference)
      passes.addPass(createJoinUpdates());
    passes.addPass(createOutlineKernels(outline));
    if (options.counted) {
      CountArithmeticOptions count;
      count.atomic = true;
      passes.addPass(createCountArithmetic(count));
    }
    if (!options.reference) {
      TileKernelsOptions tile;
      tile.arch = archs.front().name;
      passes.addPass(createTileKernels(tile));
    }
    passes.addPass(createMapKernels());
    LowerDeviceMathOptions math;
    math.approximate = !options.reference;
    passes.addPass(createLowerDeviceMath(math));
    LowerFloat16Options float16;
    float16.convertsHalves = float16.convertsBfloats = true;
    passes.addPass(createLowerFloat16(float16));
    addLoopPasses(passes);
    addKernelConversions(passes);
    passes.addPass(createSplitDevice());
  }

  llvm::Error printDeviceCode(ModuleOp module,
                              llvm::raw_ostream &os) const override {
    llvm::Expected<std::string> text = emitPtx(deviceOf(module), archs.front());
    if (!text)
      return text.takeError();
    os << *text;
    return llvm::Error::success();
  }

  llvm::Expected<llvm::SmallVector<char, 0>>
  emit(ModuleOp module, StringRef description,
       const LoweringOptions &options) const override {
    // Zero-terminated strings: name and PTX of each architecture, and an empty
    // name.
    std::string code, peaks;
    auto add = [](std::string &codes, const program::DeviceArch &arch,
                  llvm::Expected<std::string> text) {
      if (text)
        codes += std::string(arch.name) + '\0' + *text + '\0';
      return text.takeError();
    };
    for (const program::DeviceArch &arch : archs) {
      if (auto error = add(code, arch, emitPtx(deviceOf(module), arch)))
        return error;
      if (auto error = add(peaks, arch, peakCode(module.getContext(), arch)))
        return error;
    }
    deviceOf(module).erase();
    addText(module, "netc_device_code", code + '\0');
    addText(module, "netc_peak_code", peaks + '\0');
    llvm::LLVMContext context;
    auto ir = translate(module, description, program::TargetKind::Cuda, *host,
                        context);
    if (!ir)
      return ir.takeError();
    return emitObject(**ir, *host);
  }

private:
  std::unique_ptr<llvm::TargetMachine> host;
  std::vector<program::DeviceArch> archs;
};
} // namespace

llvm::Expected<std::unique_ptr<Backend>>
netc::makeCudaBackend(const LoweringOptions &options) {
  // The host only launches kernels.
  auto host = hostMachine(llvm::CodeGenOptLevel::Default, options.isa);
  if (!host)
    return host.takeError();
  std::vector<program::DeviceArch> archs;
  for (const program::DeviceArch &arch : program::deviceArchs)
    if (options.arch.empty() || options.arch == arch.name)
      archs.push_back(arch);
  return std::make_unique<CudaBackend>(std::move(*host), std::move(archs));
}
