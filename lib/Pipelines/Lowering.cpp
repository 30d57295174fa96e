// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Pipelines/Lowering.h"

#include "lib/Codegen/Passes.h"
#include "lib/Codegen/RewriteSteps.h"
#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Transforms/Passes.h"

using namespace netc;
using namespace mlir;

void netc::addLinalgPasses(OpPassManager &passes,
                           const LoweringOptions &options) {
  AccumulateGradientsOptions parts;
  parts.run = options.run;
  parts.axes = options.sizes;
  passes.addPass(createAccumulateGradients(parts));
  BindAxesOptions sizes;
  sizes.axes = options.sizes;
  passes.addPass(createBindAxes(sizes));
  NetToLinalgOptions conversion;
  conversion.run = options.run;
  conversion.reference = options.reference;
  conversion.doubles = options.doubles;
  passes.addPass(createNetToLinalg(conversion));
  if (options.unrounded) {
    WidenFloat16Options widen;
    widen.perturbed = options.perturbed;
    widen.inputs = options.perturbedInputs;
    passes.addPass(createWidenFloat16(widen));
  }
  // The reference executes ops as they are, without simplifications such as
  // dropping a division by 1.
  if (options.reference)
    return;
  passes.addPass(createCanonicalizerPass(rewritingSteps()));
  passes.addNestedPass<func::FuncOp>(createPropagateTransposes());
  passes.addNestedPass<func::FuncOp>(createFuseElementwise());
  passes.addNestedPass<func::FuncOp>(createMergeReductions());
  passes.addNestedPass<func::FuncOp>(createRematerializeOperands());
  passes.addNestedPass<func::FuncOp>(createDeferAccumulation());
  // Later passes do not fold slices of what was inserted.
  passes.addNestedPass<func::FuncOp>(createFusePadding());
}

void netc::addBufferPasses(OpPassManager &passes,
                           const LoweringOptions &options) {
  // Place results, so that bufferization does not copy them.
  passes.addNestedPass<func::FuncOp>(createPlaceResults());
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizationOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.setFunctionBoundaryTypeConversion(
      bufferization::LayoutMapOption::IdentityLayoutMap);
  passes.addPass(bufferization::createOneShotBufferizePass(bufferize));
  if (!options.reference) {
    passes.addPass(createCanonicalizerPass(rewritingSteps()));
    // Merge equal views of a buffer, so that a kernel has one argument for
    // them.
    passes.addPass(createCSEPass());
  }
}

void netc::addArenaPasses(OpPassManager &passes,
                          const LoweringOptions &options) {
  PlanMemoryOptions plan;
  plan.apart = options.guarded;
  passes.addPass(createPlanMemory(plan));
  if (options.guarded)
    passes.addPass(createGuardMemory());
}

namespace {
/// Upstream's prefetch has no effects interface; passes would assume that it
/// allocates.
struct PrefetchEffects
    : MemoryEffectOpInterface::ExternalModel<PrefetchEffects,
                                             memref::PrefetchOp> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    effects.emplace_back(MemoryEffects::Write::get());
  }
};
/// The same holds for intrinsics; ours are pure.
struct IntrinsicEffects
    : MemoryEffectOpInterface::ExternalModel<IntrinsicEffects,
                                             LLVM::CallIntrinsicOp> {
  void getEffects(Operation *,
                  SmallVectorImpl<MemoryEffects::EffectInstance> &) const {}
};
} // namespace

void netc::registerLoweringInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    memref::PrefetchOp::attachInterface<PrefetchEffects>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, LLVM::LLVMDialect *) {
    LLVM::CallIntrinsicOp::attachInterface<IntrinsicEffects>(*context);
  });
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
}
