// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Description.h"

#include "dialect/NetAttributes.h"
#include "lib/Codegen/CUDA/Kernels.h"
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

static program::Op opOf(OpRowAttr row) {
  return {row.getName().str(),
          row.getOp().str(),
          stringifyPhase(row.getPhase()).str(),
          row.getMatmul(),
          row.getOther(),
          row.getTranscendental(),
          row.getBytes()};
}

program::Program netc::describe(ModuleOp module, program::Program program) {
  auto of = module->getAttrOfType<ProgramAttr>(ProgramAttr::kOfModule);
  program.run = of.getRun().str();
  program.network = of.getNetwork().str();
  program.batch = of.getBatch();
  auto bytes = [&](StringRef name) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  };
  program.arena = bytes("net.arena");
  program.buffers = bytes("net.buffers");
  program.stack = bytes("net.stack");
  for (auto slot : module->getAttrOfType<ArrayAttr>(SlotAttr::kOfModule)
                       .getAsRange<SlotAttr>())
    program.slots.push_back(slotOf(slot));
  if (auto names = module->getAttrOfType<ArrayAttr>("net.negative"))
    for (auto name : names.getAsRange<StringAttr>())
      program.negative.push_back(name.str());
  for (auto row : module->getAttrOfType<ArrayAttr>(OpRowAttr::kOfModule)
                      .getAsRange<OpRowAttr>())
    program.ops.push_back(opOf(row));
  if (auto kernels = module->getAttrOfType<ArrayAttr>(kKernels))
    for (auto kernel : kernels.getAsRange<DictionaryAttr>())
      program.kernels.push_back(
          {kernel.getAs<StringAttr>("name").str(),
           kernel.getAs<IntegerAttr>("blocks").getInt(),
           kernel.getAs<IntegerAttr>("threads").getInt()});
  return program;
}
