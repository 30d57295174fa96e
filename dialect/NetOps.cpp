// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks, steps, parameters and loops.

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// NetworkOp, StepOp
//===----------------------------------------------------------------------===//

template <typename GraphOp>
static void nameInputs(GraphOp op, Region &region,
                       OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  for (auto [argument, name] :
       llvm::zip(region.getArguments(),
                 op.getInputs().template getAsRange<StringAttr>()))
    setName(argument, name);
}

template <typename GraphOp> static LogicalResult verifyGraph(GraphOp op) {
  Block &block = op.getBlock();
  if (op.getInputs().size() != block.getNumArguments())
    return op.emitOpError()
           << "names " << op.getInputs().size() << " inputs, its body takes "
           << block.getNumArguments();
  if (block.empty() || !isa<ReturnOp>(block.back()))
    return op.emitOpError() << "must end in `net.return`";
  ReturnOp last = op.getReturn();
  if (last.getNames().size() != last.getNumOperands())
    return last.emitOpError() << "names " << last.getNames().size()
                              << " results, returns " << last.getNumOperands();
  return success();
}

void NetworkOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  nameInputs(*this, region, setName);
}
LogicalResult NetworkOp::verify() { return verifyGraph(*this); }
ReturnOp NetworkOp::getReturn() { return cast<ReturnOp>(getBlock().back()); }

void StepOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  nameInputs(*this, region, setName);
}
LogicalResult StepOp::verify() { return verifyGraph(*this); }
ReturnOp StepOp::getReturn() { return cast<ReturnOp>(getBlock().back()); }

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

YieldOp ScanOp::getYield() { return cast<YieldOp>(getBlock().getTerminator()); }

/// The type with the axis at `axis` taken away.
static Type withoutAxis(Type type, int64_t axis) {
  return tensorOf(cast<RankedTensorType>(type).getElementType(),
                  shapeOf(type).without(axis));
}

LogicalResult ScanOp::verify() {
  Block &block = getBlock();
  size_t sequences = getSequences().size(), inits = getInits().size();
  if (getAxes().size() != sequences)
    return emitOpError() << "gives " << getAxes().size() << " axes for "
                         << sequences << " sequences";
  if (block.getNumArguments() != sequences + inits)
    return emitOpError() << "body takes " << block.getNumArguments()
                         << " values, expected " << sequences + inits;
  YieldOp yield = getYield();
  if (yield.getNumOperands() != getNumOutputs() + inits ||
      getNumResults() != getNumOutputs() + inits)
    return emitOpError() << "yields " << yield.getNumOperands()
                         << " values and has " << getNumResults()
                         << " results, expected " << getNumOutputs()
                         << " outputs and " << inits << " carried values";
  for (auto [i, sequence] : llvm::enumerate(getSequences())) {
    Shape shape = shapeOf(sequence);
    if (getAxes()[i] < 0 || size_t(getAxes()[i]) >= shape.rank() ||
        shape[getAxes()[i]] != getTrip().getValue())
      return emitOpError() << "sequence " << i << " has no axis "
                           << getAxes()[i] << " of size `"
                           << getTrip().getValue().str() << "`";
    if (block.getArgument(i).getType() !=
        withoutAxis(sequence.getType(), getAxes()[i]))
      return emitOpError() << "body takes sequence " << i << " as "
                           << block.getArgument(i).getType();
  }
  for (auto [i, init] : llvm::enumerate(getInits())) {
    Type type = init.getType();
    if (block.getArgument(sequences + i).getType() != type ||
        yield.getOperand(getNumOutputs() + i).getType() != type ||
        getResult(getNumOutputs() + i).getType() != type)
      return emitOpError() << "carried value " << i << " changes its type from "
                           << type;
  }
  for (unsigned i = 0; i < getNumOutputs(); ++i) {
    Type type = getResult(i).getType();
    int64_t axis = getOutAxes()[i];
    if (axis < 0 || axis >= cast<RankedTensorType>(type).getRank() ||
        withoutAxis(type, axis) != yield.getOperand(i).getType())
      return emitOpError() << "output " << i << " has type " << type
                           << ", its element " << yield.getOperand(i).getType();
  }
  return success();
}

#define GET_OP_CLASSES
#include "dialect/NetOps.cpp.inc"

#include "dialect/NetCosts.cpp.inc"
#include "dialect/NetSignatures.cpp.inc"
