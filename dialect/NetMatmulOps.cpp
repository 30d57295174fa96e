// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products that contract an axis, and table look-ups.

#include "dialect/Einsum.h"
#include "dialect/ElementName.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace netc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// LinearOp
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(op.getX()), weight = shapeOf(op.getW());
  int64_t over = op.getOver();
  FailureOr<Type> element =
      elementOfProduct(loc, getOperationName(), op.getOperands());
  if (failed(element) ||
      failed(checkAxes(loc, getOperationName(), over, shape.rank())))
    return failure();
  if (weight.rank() != 2)
    return emitOptionalError(loc, "`linear` takes a weight of 2 axes, it has ",
                             weight.rank());
  if (shape[over] != weight[1])
    return emitOptionalError(loc, "`linear` takes ", weight[1].str(),
                             " features, axis ", over, " of its input has ",
                             shape[over].str());
  shape[over] = weight[0];
  return inferTensor(loc, getOperationName(), *element, shape, types);
}

static Value addAxis(Gradients &g, Value value) {
  Shape shape = shapeOf(value);
  shape.sizes.insert(shape.sizes.begin(), 1);
  return g.create<ReshapeOp>(tensorOf(elementOf(value), shape), value);
}

LogicalResult LinearOp::buildGradient(Gradients &g) {
  Value dy = g.ofProduct(), x = getX();
  size_t over = getOver(), rank = shapeOf(x).rank();
  if (g.wants(0)) {
    Value transposed = g.create<TransposeOp>(getW(), ArrayRef<int64_t>{1, 0});
    g.set(0, g.create<LinearOp>(dy, transposed, over));
  }
  if (!g.wants(1))
    return success();
  // A vector becomes a batch of one, so that its weight gradient is a
  // contraction too.
  if (rank == 1) {
    dy = addAxis(g, dy);
    x = addAxis(g, x);
    ++over;
    ++rank;
  }
  SmallVector<std::string> letters;
  for (size_t axis = 0; axis < rank; ++axis)
    letters.push_back("a" + std::to_string(axis));
  auto spell = [&](StringRef contracted) {
    letters[over] = contracted;
    return llvm::join(letters, " ");
  };
  g.set(1, g.create<EinsumOp>(spell("m") + ", " + spell("k") + " -> m k",
                              ValueRange{dy, x}));
  return success();
}

//===----------------------------------------------------------------------===//
// EinsumOp
//===----------------------------------------------------------------------===//

using Letters = EinsumSpec::Letters;

/// The letters of an operand or result. They must be distinct.
static FailureOr<Letters> parseLetters(std::optional<Location> loc,
                                       StringRef text) {
  Letters letters;
  llvm::SmallSet<StringRef, 16> seen;
  while (!(text = text.drop_while(llvm::isSpace)).empty()) {
    StringRef letter = text.take_until(llvm::isSpace);
    text = text.drop_front(letter.size());
    if (llvm::isDigit(letter.front()) || !llvm::all_of(letter, [](char c) {
          return llvm::isAlnum(c) || c == '_';
        }))
      return emitOptionalError(
          loc, "`einsum` takes one name an axis, `", letter, "` is none",
          letter.contains('(') ? "; groups are for `rearrange`" : "");
    if (!seen.insert(letter).second)
      return emitOptionalError(loc, "`einsum` names axis `", letter,
                               "` twice in one tensor");
    letters.push_back(letter);
  }
  return letters;
}

FailureOr<EinsumSpec> EinsumSpec::parse(std::optional<Location> loc,
                                        StringRef text) {
  EinsumSpec spec;
  if (text.count("->") != 1)
    return emitOptionalError(loc, "`einsum` needs one `->`, `", text, "` has ",
                             text.count("->"));
  auto [left, right] = text.split("->");
  SmallVector<StringRef> operands;
  left.split(operands, ',');
  llvm::SmallSet<StringRef, 16> seen;
  for (StringRef operand : operands) {
    FailureOr<Letters> letters = parseLetters(loc, operand);
    if (failed(letters))
      return failure();
    for (StringRef letter : *letters)
      seen.insert(letter);
    spec.operands.push_back(std::move(*letters));
  }
  if (seen.size() > Shape::maxRank)
    return emitOptionalError(loc, "`einsum` names ", seen.size(),
                             " axes, at most ", Shape::maxRank,
                             " are possible");
  FailureOr<Letters> result = parseLetters(loc, right);
  if (failed(result))
    return failure();
  for (StringRef letter : *result)
    if (!seen.contains(letter))
      return emitOptionalError(loc, "`einsum` has axis `", letter,
                               "` in its result, but in no operand; blanks "
                               "stand between axes, as in `n c, n c -> n`");
  spec.result = std::move(*result);
  return spec;
}

EinsumSpec::EinsumSpec(EinsumOp op)
    : EinsumSpec(*parse(op.getLoc(), op.getSpec())) {}

std::string EinsumSpec::str() const {
  std::string text;
  llvm::ListSeparator comma;
  for (const Letters &letters : operands)
    text += StringRef(comma).str() + llvm::join(letters, " ");
  return text + " -> " + llvm::join(result, " ");
}

llvm::SmallDenseMap<StringRef, Polynomial, 8>
EinsumSpec::sizes(ValueRange values) const {
  llvm::SmallDenseMap<StringRef, Polynomial, 8> sizes;
  for (auto [letters, value] : llvm::zip_equal(operands, values))
    for (auto [letter, size] : llvm::zip_equal(letters, shapeOf(value).sizes))
      sizes.try_emplace(letter, size);
  return sizes;
}

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  ValueRange operands = op.getOperands();
  FailureOr<EinsumSpec> spec = EinsumSpec::parse(loc, op.getSpec());
  if (failed(spec))
    return failure();
  if (spec->operands.size() != operands.size())
    return emitOptionalError(loc, "`einsum` names the axes of ",
                             spec->operands.size(), " operands, it has ",
                             operands.size());
  FailureOr<Type> element = elementOfProduct(loc, getOperationName(), operands);
  if (failed(element))
    return failure();
  for (auto [i, letters, value] : llvm::enumerate(spec->operands, operands))
    if (letters.size() != shapeOf(value).rank())
      return emitOptionalError(loc, "`einsum` names ", letters.size(),
                               " axes of operand ", i + 1, ", it has ",
                               shapeOf(value).rank());
  auto sizes = spec->sizes(operands);
  for (auto [i, letters, value] : llvm::enumerate(spec->operands, operands))
    for (auto [letter, size] : llvm::zip_equal(letters, shapeOf(value).sizes))
      if (size != sizes[letter])
        return emitOptionalError(loc, "axis `", letter, "` of `einsum` is ",
                                 sizes[letter].str(), " before, ", size.str(),
                                 " in operand ", i + 1);
  Shape shape;
  for (StringRef letter : spec->result)
    shape.sizes.push_back(sizes[letter]);
  return inferTensor(loc, getOperationName(), *element, shape, types);
}

SmallVector<AxisSource> EinsumOp::getAxisSources(unsigned result,
                                                 unsigned axis) {
  EinsumSpec spec(*this);
  SmallVector<AxisSource> sources;
  for (auto [operand, letters] : llvm::enumerate(spec.operands))
    if (auto *it = llvm::find(letters, spec.result[axis]); it != letters.end())
      sources.push_back({unsigned(operand), unsigned(it - letters.begin())});
  return sources;
}

SmallVector<AffineMap> EinsumOp::getIndexingMaps() {
  EinsumSpec spec(*this);
  spec.operands.push_back(spec.result);
  llvm::StringMap<unsigned> loops;
  for (StringRef letter : spec.result)
    loops.try_emplace(letter, loops.size());
  for (const Letters &letters : spec.operands)
    for (StringRef letter : letters)
      loops.try_emplace(letter, loops.size());
  SmallVector<AffineMap> maps;
  for (const Letters &letters : spec.operands) {
    SmallVector<AffineExpr> axes;
    for (StringRef letter : letters)
      axes.push_back(getAffineDimExpr(loops.lookup(letter), getContext()));
    maps.push_back(AffineMap::get(loops.size(), 0, axes, getContext()));
  }
  return maps;
}

Polynomial EinsumOp::getPoints() {
  Polynomial points = 1;
  for (const auto &letter : EinsumSpec(*this).sizes(getXs()))
    points *= letter.second;
  return points;
}

static bool hasSum(EinsumOp op) {
  EinsumSpec spec(op);
  return llvm::any_of(spec.operands, [&](const Letters &letters) {
    return llvm::any_of(letters, [&](StringRef letter) {
      return !llvm::is_contained(spec.result, letter);
    });
  });
}

bool EinsumOp::isContraction() { return getXs().size() > 1 && hasSum(*this); }

Polynomial EinsumOp::getElementwiseCost() {
  return hasSum(*this) ? getPoints() : getPoints() * (getXs().size() - 1);
}

/// Transposes `value` from the axis order `from` to the order `to`.
static Value reorder(Gradients &g, Value value, const Letters &from,
                     const Letters &to) {
  if (from == to)
    return value;
  SmallVector<int64_t> order;
  for (StringRef letter : to)
    order.push_back(llvm::find(from, letter) - from.begin());
  return g.create<TransposeOp>(value, order);
}

// The gradient of an operand is the einsum of the result's gradient with the
// other operands. A letter that only this operand has was summed over, so the
// gradient is equal along it.
LogicalResult EinsumOp::buildGradient(Gradients &g) {
  EinsumSpec spec(*this);
  Value dy = g.ofProduct();
  for (auto [i, x] : llvm::enumerate(getXs())) {
    if (!g.wants(i))
      continue;
    EinsumSpec gradient = spec;
    gradient.operands[i] = spec.result;
    SmallVector<Value> operands(getXs());
    operands[i] = dy;
    auto known = gradient.sizes(operands);
    gradient.result.clear();
    SmallVector<int64_t> axes;
    for (auto [axis, letter] : llvm::enumerate(spec.operands[i]))
      if (known.contains(letter)) {
        gradient.result.push_back(letter);
        axes.push_back(axis);
      }
    Value value = operands.size() == 1
                      ? reorder(g, dy, spec.result, gradient.result)
                      : g.create<EinsumOp>(gradient.str(), operands);
    if (axes.size() < spec.operands[i].size())
      value = g.create<BroadcastOp>(tensorOf(elementOf(value), shapeOf(x)),
                                    value, axes);
    g.set(i, value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// EmbeddingOp
//===----------------------------------------------------------------------===//

/// The shape of the rows of `table` that `ids` selects. Fails, with an error,
/// for operands that do not fit.
static FailureOr<Shape> rowsShape(std::optional<Location> loc, Value ids,
                                  Value table) {
  Shape shape = shapeOf(ids), rows = shapeOf(table);
  if (Type element = elementOf(ids);
      !isa<IntegerType>(element) || element.isInteger(1))
    return emitOptionalError(
        loc, "`embedding` takes whole numbers, such as `i32`, not `",
        elementName(element), "`");
  if (rows.rank() != 2)
    return emitOptionalError(
        loc, "`embedding` takes a table of 2 axes, it has ", rows.rank());
  shape.sizes.push_back(rows[1]);
  return shape;
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor op,
                                            SmallVectorImpl<Type> &types) {
  FailureOr<Shape> shape = rowsShape(loc, op.getIds(), op.getTable());
  if (failed(shape))
    return failure();
  return inferTensor(loc, getOperationName(), elementOf(op.getTable()), *shape,
                     types);
}

SmallVector<AxisSource> EmbeddingOp::getAxisSources(unsigned result,
                                                    unsigned axis) {
  if (axis == shapeOf(getIds()).rank())
    return {};
  return {AxisSource{0, axis}};
}

std::optional<Polynomial> EmbeddingOp::getTouched(unsigned operand) {
  if (operand == 1) // only the rows that are looked up
    return shapeOf(getY()).elements();
  return std::nullopt;
}

Polynomial EmbeddingOp::getIndexBound() { return shapeOf(getTable())[0]; }

LogicalResult EmbeddingOp::buildGradient(Gradients &g) {
  Type type = tensorOf(elementOf(g.of(0)), shapeOf(getTable()));
  g.set(1, g.create<EmbeddingGradOp>(type, g.of(0), getIds()));
  return success();
}

LogicalResult EmbeddingGradOp::verify() {
  FailureOr<Shape> shape = rowsShape(getLoc(), getIds(), getDtable());
  if (failed(shape))
    return failure();
  return verifyGradient(*this, getDy(), *shape);
}
