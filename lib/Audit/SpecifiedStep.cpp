// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/SpecifiedStep.h"

#include "dialect/Net.h"
#include "lib/Analysis/DecodingPasses.h"
#include "lib/Audit/Flop.h"

using namespace netc;
using namespace netc::audit;

/// The path of the layer around an op, as reports show it; the op's name if
/// there is none.
static std::string layerOf(const PartTree &tree, llvm::StringRef name) {
  const Part *part = tree.find(name);
  while (part && part != &tree.root() && !tree.isLayer(*part))
    part = &tree.parts[part->parent];
  return part && part != &tree.root() ? part->path.str() : name.str();
}

/// The shape of an example that a forward convolution reads: behind the axes of
/// examples it has one axis less than the weight.
static std::vector<Polynomial> readBy(mlir::Operation *op) {
  if (!mlir::isa<ConvOp, ConvTransposeOp>(op))
    return {};
  Shape shape = shapeOf(op->getOperand(0));
  llvm::ArrayRef<Polynomial> sizes = shape.sizes;
  size_t axes = shapeOf(op->getOperand(1)).sizes.size();
  return axes > sizes.size() ? std::vector<Polynomial>()
                             : sizes.take_back(axes - 1).vec();
}

/// The sizes of a convolution's window.
static std::vector<Polynomial> windowOf(mlir::Operation *op) {
  if (!mlir::isa<ConvOp, ConvTransposeOp>(op))
    return {};
  return llvm::ArrayRef(shapeOf(op->getOperand(1)).sizes).drop_front(2).vec();
}

/// The dilations of a convolution; empty of another op.
static llvm::SmallVector<int64_t, 3> dilationOf(mlir::Operation *op) {
  auto dilation = op->getAttrOfType<mlir::DenseI64ArrayAttr>("dilation");
  return dilation ? llvm::SmallVector<int64_t, 3>(dilation.asArrayRef())
                  : llvm::SmallVector<int64_t, 3>();
}

/// The shape of the first operand that has examples, with the iterations of the
/// loops around it.
static std::vector<Polynomial> operandOf(mlir::Operation *op,
                                         const Polynomial &iterations) {
  for (mlir::Value operand : op->getOperands()) {
    Shape shape = shapeOf(operand);
    if (llvm::is_contained(shape.elements().symbols(), kBatchAxis)) {
      std::vector<Polynomial> sizes = {iterations};
      llvm::append_range(sizes, shape.sizes);
      return sizes;
    }
  }
  return {};
}

static int64_t convolutionGroups(mlir::Operation *op) {
  auto groups = op->getAttrOfType<mlir::IntegerAttr>("groups");
  return groups ? groups.getInt() : 1;
}

SpecifiedStep::SpecifiedStep(const Run &run) : of(run) {
  auto step = mlir::cast<StepOp>(run.op);
  std::set<std::string> symbols;
  // What a forward op reads, and whether it is a transposed convolution.
  std::map<std::string,
           std::tuple<std::vector<Polynomial>, std::vector<Polynomial>, bool>>
      readByName;
  llvm::DenseMap<mlir::Operation *, unsigned> depths; // of results
  countParts(step, run.conventions, [&](const CountedOp &counted) {
    mlir::Operation *op = counted.op;
    unsigned &depth = depths[op];
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation *maker = operand.getDefiningOp())
        depth = std::max(depth, depths.lookup(maker));
    if (op->getNumResults() == 0 || counted.cost.matmul.isZero())
      return;
    Product product;
    product.depth = depth++;
    product.op = op;
    product.name = netc::nameOf(op).str();
    product.phase = counted.phase;
    product.layer = layerOf(run.parts, product.name);
    product.iterations = counted.times;
    product.flop =
        mlir::cast<CostOpInterface>(op).getCost().matmul * counted.times;
    product.exact = counted.cost.matmul;
    product.made = shapeOf(op->getResult(0)).elements();
    product.elements = {0, 0, product.made};
    for (unsigned i = 0; i < 2 && i < op->getNumOperands(); ++i)
      product.elements[i] = shapeOf(op->getOperand(i)).elements();
    product.groups = convolutionGroups(op);
    // Gradients read other values than their forward op.
    auto &[read, window, isTransposed] = readByName[product.name];
    if (product.phase == Phase::Forward) {
      read = readBy(op);
      window = windowOf(op);
      isTransposed = mlir::isa<ConvTransposeOp>(op);
      product.operand = operandOf(op, counted.times);
    }
    product.read = read;
    product.window = window;
    product.isTransposed = isTransposed;
    product.dilation = dilationOf(op);
    for (std::string &symbol : product.flop.symbols())
      symbols.insert(std::move(symbol));
    products.push_back(std::move(product));
  });
  Axes axes(step.getAxes());
  for (const std::string &axis : symbols)
    if (auto size = axes.evaluate(Polynomial::symbol(axis)).constant())
      written[axis] = *size;
  if (run.batch)
    written[kBatchAxis.str()] = *run.batch;
  if (symbols.erase(kBatchAxis.str()))
    free.push_back(kBatchAxis.str());
  free.insert(free.end(), symbols.begin(), symbols.end());
}

static Axes fixedAt(mlir::DictionaryAttr written, const Sizes &sizes) {
  Axes axes(written);
  for (const auto &[axis, size] : sizes)
    axes.fix(axis, size);
  return axes;
}

Axes SpecifiedStep::axesAt(const Sizes &sizes) const {
  Axes axes = fixedAt(mlir::cast<StepOp>(of.op).getAxes(), sizes);
  decodeInPasses(of, axes);
  return axes;
}

static Rational valueOf(const Polynomial &value, Axes &axes) {
  return axes.evaluate(value).constant().value_or(Rational::invalid());
}

/// Evaluates the sizes of a product.
template <typename Product>
static void setSizes(const Product &product, Axes &axes, SpecifiedProduct &at) {
  for (unsigned i = 0; i < 3; ++i)
    at.elements[i] = valueOf(product.elements[i], axes);
  llvm::sort(at.elements);
  auto evaluate = [&](llvm::ArrayRef<Polynomial> sizes, auto &values) {
    for (const Polynomial &size : sizes)
      values.push_back(valueOf(size, axes).toInt64().value_or(-1));
  };
  evaluate(product.read, at.read);
  evaluate(product.window, at.window);
  if (!at.window.empty())
    at.dilation = withoutIdle(product.dilation, at.window);
  evaluate(product.operand, at.operand);
}

std::vector<SpecifiedProduct>
SpecifiedStep::at(const Sizes &sizes, std::optional<Rational> asked) const {
  auto step = mlir::cast<StepOp>(of.op);
  Axes traced = axesAt(sizes);
  // Lengths with a distribution keep it, so that padding does not count.
  Sizes own = sizes;
  Axes distributed(step.getAxes());
  for (const std::string &axis : free)
    if (distributed.numKnown(axis) != 0 &&
        !mlir::cast<MomentsAttr>(step.getAxes().get(axis)).getValue().isFixed())
      own.erase(axis);
  Axes ran = axesAt(own);
  if (asked)
    own[kBatchAxis.str()] = *asked;
  Axes counted = axesAt(own);
  std::vector<SpecifiedProduct> result;
  for (const Product &product : products) {
    SpecifiedProduct &at = result.emplace_back();
    at.name = product.name;
    at.layer = product.layer;
    at.op = product.op->getName().stripDialect();
    at.phase = product.phase;
    at.kind = at.op.starts_with("conv") ? ProductKind::Windows
                                        : ProductKind::Matrices;
    at.flop = valueOf(product.flop, traced);
    at.expected = valueOf(product.flop, ran);
    at.exact = valueOf(product.exact, counted);
    at.ran = asked ? valueOf(product.exact, ran) : at.exact;
    at.made = valueOf(product.made, traced);
    at.iterations = valueOf(product.iterations, traced);
    at.groups = product.groups;
    at.depth = product.depth;
    if (at.kind == ProductKind::Windows)
      at.isTransposed = product.isTransposed;
    setSizes(product, traced, at);
  }
  return result;
}

std::vector<SpecifiedProduct> SpecifiedStep::forwardAt(
    const Sizes &sizes, size_t limit,
    llvm::function_ref<bool(const Rational &)> needsSizes) const {
  Axes axes = axesAt(sizes);
  std::vector<SpecifiedProduct> forward;
  for (const Product &product : products) {
    if (product.phase != Phase::Forward || forward.size() == limit)
      continue;
    SpecifiedProduct &at = forward.emplace_back();
    at.flop = valueOf(product.flop, axes);
    at.iterations = valueOf(product.iterations, axes);
    if (needsSizes &&
        (needsSizes(at.flop) || needsSizes(at.flop / at.iterations)))
      setSizes(product, axes, at);
  }
  return forward;
}

std::optional<Rational> SpecifiedStep::memoryAt(const Sizes &sizes) const {
  // With recomputation there is no formula: which op needs most depends on
  // sizes.
  if (sizes == written)
    return of.memoryPerDevice();
  if (!of.counted->recomputed.empty() || !of.decodeAxis.empty())
    return std::nullopt;
  Polynomial bytes;
  for (const auto &[name, memory] : of.counted->byName)
    bytes += memory.total();
  Axes axes = fixedAt(mlir::cast<StepOp>(of.op).getAxes(), sizes);
  return axes.evaluate(bytes).constant();
}
