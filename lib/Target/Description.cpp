// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Description.h"

#include "dialect/NetAttributes.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace netc;
using namespace mlir;

static program::Slot slotOf(SlotAttr attr) {
  program::Slot slot;
  slot.name = attr.getName().str();
  slot.role = attr.getRole();
  slot.init = attr.getInit();
  if (attr.getTheta())
    slot.theta = attr.getTheta().getValueAsDouble();
  // Lowering has refused all other types.
  slot.element =
      *program::elementOf(llvm::to_string(attr.getType().getElementType()));
  slot.shape = attr.getType().getShape().vec();
  slot.offset = attr.getOffset();
  slot.upperBound = attr.getUpperBound();
  if (attr.getSizes()) {
    slot.sizes = attr.getSizes().asArrayRef().vec();
    slot.strides = attr.getStrides().asArrayRef().vec();
  }
  return slot;
}

/// Only fast code for some targets rounds factors to tf32.
static std::string formatOf(FloatType format, const program::Program &program) {
  if (!format)
    return "";
  bool rounds =
      program.lowering == "fast" && traitsOf(program.target.kind).roundsToTF32;
  return format.isTF32() && !rounds ? "f32" : llvm::to_string(format);
}

static program::Op opOf(OpRowAttr row, const program::Program &program) {
  return {row.getName().str(),
          row.getOp().str(),
          stringifyPhase(row.getPhase()).str(),
          row.getMatmul(),
          row.getOther(),
          row.getTranscendental(),
          row.getBytes(),
          formatOf(row.getFormat(), program)};
}

program::Program netc::describe(ModuleOp module, program::Program program) {
  auto of = module->getAttrOfType<ProgramAttr>(ProgramAttr::kOfModule);
  program.run = of.getRun().str();
  program.network = of.getNetwork().str();
  program.batch = of.getBatch();
  if (auto memory = module->getAttrOfType<MemoryAttr>(MemoryAttr::kOfModule)) {
    program.arena = memory.getArena();
    program.buffers = memory.getBuffers();
    program.stack = memory.getStack();
  }
  for (auto slot : module->getAttrOfType<ArrayAttr>(SlotAttr::kOfModule)
                       .getAsRange<SlotAttr>()) {
    program.slots.push_back(slotOf(slot));
    if (slot.getTakesNegative())
      program.negative.push_back(slot.getName().str());
  }
  for (auto row : module->getAttrOfType<ArrayAttr>(OpRowAttr::kOfModule)
                      .getAsRange<OpRowAttr>())
    program.ops.push_back(opOf(row, program));
  if (auto kernels = module->getAttrOfType<ArrayAttr>(KernelAttr::kOfModule))
    for (auto kernel : kernels.getAsRange<KernelAttr>())
      program.kernels.push_back({kernel.getName().str(), kernel.getBlocks(),
                                 kernel.getThreads(), kernel.getSharedBytes()});
  return program;
}
