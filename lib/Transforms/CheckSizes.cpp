// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Transforms/CheckSizes.h"

#include "dialect/Net.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

#include <map>
#include <set>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_CHECKSIZES
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

namespace {
/// Checks each distinct op once, since layers repeat.
class Checker {
public:
  Checker(Operation *graph, DictionaryAttr axes, Location run)
      : graph(graph), run(run) {
    for (NamedAttribute axis : axes)
      sizes.emplace(axis.getName(),
                    cast<MomentsAttr>(axis.getValue()).getValue());
    replacer.addReplacement([&](PolynomialAttr attr) -> Attribute {
      return PolynomialAttr::get(attr.getContext(), bind(attr.getValue()));
    });
  }

  LogicalResult check() {
    if (sizes.empty())
      return success();
    ScopedDiagnosticHandler notes(graph->getContext(), [&](Diagnostic &error) {
      note(error);
      return failure(); // the next handler prints it
    });
    Region &body = graph->getRegion(0);
    for (BlockArgument input : body.getArguments())
      if (failed(checkType(input.getLoc(), "the input", input.getType())))
        return failure();
    WalkResult result = body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The sizes of a gradient follow from the forward pass.
      if (phaseOf(op) != Phase::Forward)
        return WalkResult::skip();
      current = op;
      return WalkResult(check(op));
    });
    return failure(result.wasInterrupted());
  }

private:
  /// Rounds a mean that is not an integer up, as for execution.
  Polynomial bind(const Polynomial &value) const {
    return value.substitute([&](StringRef axis) -> std::optional<Polynomial> {
      auto known = sizes.find(axis);
      if (known == sizes.end())
        return std::nullopt;
      return known->second.mean().ceil();
    });
  }

  /// A type with its free axes bound, and the first axis that cannot have its
  /// size. There is no type if the mean or the share of an axis gives a size
  /// that is not an integer; execution rounds it up.
  struct BoundType {
    Type type;
    std::optional<size_t> wrong;
    std::optional<size_t> rounded; ///< the first axis that is rounded up
  };

  const BoundType &bind(Type type) {
    auto [entry, isNew] = types.try_emplace(type);
    BoundType &bound = entry->second;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!isNew)
      return bound;
    bound.type = type;
    if (!tensor || !tensor.getEncoding())
      return bound;
    Shape shape = shapeOf(type), whole;
    for (auto [axis, size] : llvm::enumerate(shape.sizes)) {
      Polynomial value = bind(size);
      std::optional<Rational> number = value.constant();
      if (number && !number->isInteger() && !bound.rounded)
        bound.rounded = axis;
      whole.sizes.push_back(value.ceil());
    }
    bound.wrong = whole.invalidAxis();
    bound.type = bound.rounded || bound.wrong
                     ? Type()
                     : tensorOf(tensor.getElementType(), whole);
    return bound;
  }

  LogicalResult refuse(Location loc, StringRef what, Type type, size_t axis) {
    Polynomial size = shapeOf(type)[axis];
    return emitError(loc, error::SizeInRun, axis, what, size.str(),
                     bind(size).str());
  }

  LogicalResult checkType(Location loc, StringRef what, Type type) {
    const BoundType &bound = bind(type);
    return bound.wrong ? refuse(loc, what, type, *bound.wrong) : success();
  }

  /// A reshape cuts an axis into equal parts, and has no share to round. Where
  /// a size is an average, so is the number of parts.
  LogicalResult checkParts(ReshapeOp reshape) {
    std::optional<size_t> axis = bind(reshape.getType()).rounded;
    if (!axis)
      return success();
    SmallVector<std::string> symbols = shapeOf(reshape)[*axis].symbols();
    if (llvm::any_of(symbols, [&](StringRef symbol) {
          auto known = sizes.find(symbol);
          return known != sizes.end() && !known->second.isFixed();
        }))
      return success();
    return refuse(reshape.getLoc(), "the result", reshape.getType(), *axis);
  }

  /// Whether an equal op was checked before.
  bool isKnown(Operation *op, DictionaryAttr attributes) {
    std::vector<const void *> key{op->getName().getAsOpaquePointer(),
                                  attributes.getAsOpaquePointer()};
    for (Type type : op->getOperandTypes())
      key.push_back(type.getAsOpaquePointer());
    for (Type type : op->getResultTypes())
      key.push_back(type.getAsOpaquePointer());
    return !known.insert(std::move(key)).second;
  }

  LogicalResult check(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return success();
    DictionaryAttr attributes = op->getAttrDictionary();
    if (isKnown(op, attributes))
      return success();
    Attribute boundAttributes = replacer.replace(attributes);
    auto isFixed = [&](Type type) { return bind(type).type == type; };
    if (boundAttributes == attributes &&
        llvm::all_of(op->getOperandTypes(), isFixed) &&
        llvm::all_of(op->getResultTypes(), isFixed))
      return success();
    Block scratch;
    IRMapping mapping;
    bool isBound = op->getNumRegions() == 0;
    for (Value operand : op->getOperands()) {
      Type type = bind(operand.getType()).type;
      isBound &= bool(type);
      if (isBound && !mapping.contains(operand))
        mapping.map(operand, scratch.addArgument(type, op->getLoc()));
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && isBound)
      if (failed(checkParts(reshape)))
        return failure();
    Operation *bound = nullptr;
    if (isBound) {
      bound = op->cloneWithoutRegions(mapping);
      scratch.push_back(bound);
      bound->setAttrs(cast<DictionaryAttr>(boundAttributes));
      if (auto inferring = dyn_cast<InferTypeOpInterface>(bound)) {
        SmallVector<Type> inferred;
        return inferring.inferReturnTypes(
            op->getContext(), op->getLoc(), bound->getOperands(),
            bound->getRawDictionaryAttrs(), bound->getPropertiesStorage(),
            bound->getRegions(), inferred);
      }
    }
    for (Type type : op->getResultTypes()) {
      if (failed(checkType(op->getLoc(), "the result", type)))
        return failure();
      isBound &= bool(bind(type).type);
    }
    if (!isBound)
      return success();
    for (OpResult result : bound->getResults())
      result.setType(bind(result.getType()).type);
    return verify(bound, /*verifyRecursively=*/false);
  }

  /// Adds a note about the run: the op itself is correct.
  void note(Diagnostic &error) {
    Diagnostic &note = error.attachNote(run);
    if (auto name =
            current ? current->getLoc()->findInstanceOf<NameLoc>() : NameLoc())
      note << "`" << name.getName().getValue() << "` of ";
    else
      note << "in ";
    note << "`" << SymbolTable::getSymbolName(graph).getValue() << "`, where ";
    StringRef separator;
    for (const auto &[axis, size] : sizes) {
      if (axis == kBatchAxis && sizes.size() > 1)
        continue;
      note << separator << "`" << axis << "` is " << size.mean().str();
      separator = ", ";
    }
  }

  Operation *graph;
  Location run;
  std::map<StringRef, Moments> sizes;
  AttrTypeReplacer replacer;
  DenseMap<Type, BoundType> types;
  std::set<std::vector<const void *>> known;
  Operation *current = nullptr;
};

template <typename GraphOp> LogicalResult checkOwnSizes(GraphOp graph) {
  return checkSizes(graph, graph.getAxes(), graph.getLoc());
}

struct CheckSizes : netc::impl::CheckSizesBase<CheckSizes> {
  void runOnOperation() override {
    bool isFine = true;
    // Runs have better errors for the networks that they use.
    for (auto step : getOperation().getOps<StepOp>())
      isFine &= succeeded(checkOwnSizes(step));
    for (auto network : getOperation().getOps<NetworkOp>())
      isFine &= succeeded(checkOwnSizes(network));
    if (!isFine)
      signalPassFailure();
  }
};
} // namespace

LogicalResult netc::checkSizes(Operation *graph, DictionaryAttr axes,
                               Location run) {
  return Checker(graph, axes, run).check();
}
