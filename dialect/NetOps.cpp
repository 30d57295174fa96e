// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks and steps.

#include "dialect/Net.h"
#include "llvm/ADT/StringSet.h"

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
  for (NamedAttribute axis : op.getAxes()) {
    auto moments = dyn_cast<MomentsAttr>(axis.getValue());
    if (!moments || !(moments.getValue().mean() > 0))
      return op.emitOpError()
             << "gives the axis `" << axis.getName().getValue() << "` the size "
             << axis.getValue() << ", expected moments of a size above 0";
  }
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
// OptimizerOp
//===----------------------------------------------------------------------===//

Shape OptimizerOp::shapeFor(const Shape &parameter) {
  Shape rule = shapeOf(getParameter());
  if (!hasAnySizes())
    return rule;
  if (rule.rank() == 1)
    return Shape(ArrayRef(parameter.elements()));
  Polynomial columns =
      parameter.rank() == 0 ? Polynomial(1) : parameter.sizes.back();
  return Shape(ArrayRef({parameter.elements() / columns, columns}));
}

LogicalResult OptimizerOp::verify() {
  if (!getParameters() &&
      *(*this)->getBlock()->getOps<OptimizerOp>().begin() != *this)
    return emitOpError() << "is the second one of its step";
  Block &block = getBlock();
  if (block.getNumArguments() != 3)
    return emitOpError() << "takes " << block.getNumArguments()
                         << " values, expected a parameter, its gradient and "
                            "the number of the step";
  Type type = getParameter().getType();
  llvm::StringSet<> symbols;
  auto isNewSymbol = [&](const Polynomial &size) {
    return size.symbols().size() == 1 &&
           Polynomial::symbol(size.symbols().front()) == size &&
           symbols.insert(size.symbols().front()).second;
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 ||
      tensor.getRank() > (hasAnySizes() ? 2 : 3) ||
      (hasAnySizes() && !llvm::all_of(shapeOf(tensor).sizes, isNewSymbol)))
    return emitOpError() << "takes a parameter of type " << type
                         << ", expected a vector whose size is a symbol, or a "
                            "matrix of two";
  if (getGradient().getType() != type)
    return emitOpError() << "takes a parameter of type " << type
                         << " and a gradient of type "
                         << getGradient().getType();
  auto step = dyn_cast<RankedTensorType>(getStep().getType());
  if (!step || step.getRank() != 0)
    return emitOpError() << "takes the step as " << getStep().getType()
                         << ", expected one number";
  return success();
}

//===----------------------------------------------------------------------===//
// OpaqueOp
//===----------------------------------------------------------------------===//

/// Whether `x` is a weight, or a copy of one in another format.
static bool isWeight(Value x) {
  while (auto copy = x.getDefiningOp<ConvertOp>())
    x = copy.getX();
  return x.getDefiningOp<ParameterOp>() != nullptr;
}

// The products of the input gradients, and those of the weight gradients, cost
// as much as the op. The layers inside need their input gradients even if the
// op itself needs none: then the weight gradients count twice.
LogicalResult OpaqueOp::buildGradient(Gradients &g) {
  PolynomialAttr flop = getFlopAttr();
  auto zero = PolynomialAttr::get(getContext(), Polynomial());
  auto twice = PolynomialAttr::get(getContext(), flop.getValue() * 2);
  bool hasInputGradient = false;
  for (auto [i, x] : llvm::enumerate(getXs()))
    if (g.wants(i) && !isWeight(x)) {
      g.set(i, g.create<OpaqueOp>(x.getType(), g.of(0),
                                  hasInputGradient ? zero : flop,
                                  PolynomialAttr()));
      hasInputGradient = true;
    }
  for (auto [i, x] : llvm::enumerate(getXs()))
    if (g.wants(i) && isWeight(x))
      g.set(i, g.create<OpaqueOp>(x.getType(), g.of(0),
                                  hasInputGradient ? flop : twice,
                                  PolynomialAttr()));
  return success();
}

LogicalResult LiteralOp::verify() {
  ShapedType values = getValues().getShapedType();
  if (values.getShape() != getY().getType().getShape() ||
      values.getElementType() != getY().getType().getElementType())
    return emitOpError() << "has values " << values << " for a result "
                         << getY().getType();
  return success();
}

#define GET_OP_CLASSES
#include "dialect/NetOps.cpp.inc"
