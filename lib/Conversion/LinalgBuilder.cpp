// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Conversion/LinalgBuilder.h"
#include "lib/Conversion/BoundedIndex.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include <limits>

using namespace netc;
using namespace mlir;

LinalgBuilder::LinalgBuilder(func::FuncOp function, Type element,
                             bool reference)
    : ImplicitLocOpBuilder(function.getLoc(),
                           OpBuilder::atBlockEnd(&function.getBody().front())),
      function(function), floatElement(element), reference(reference) {}

Type LinalgBuilder::element(Type type) const {
  return type.isF32() || isFloat16(type) ? floatElement : type;
}

RankedTensorType LinalgBuilder::type(Value value) const {
  auto tensor = cast<RankedTensorType>(value.getType());
  return tensor.clone(element(tensor.getElementType()));
}

RankedTensorType LinalgBuilder::typeLike(Value value, Value tensor) const {
  return cast<RankedTensorType>(value.getType())
      .clone(getElementTypeOrSelf(tensor.getType()));
}

RankedTensorType LinalgBuilder::storedType(Value value, Type element) const {
  RankedTensorType computed = type(value);
  return isFloat16(element) ? computed.clone(element) : computed;
}

Value LinalgBuilder::stored(Value value) {
  return converted(get(value), storedType(value).getElementType());
}

Value LinalgBuilder::converted(Value tensor, Type element) {
  if (getElementTypeOrSelf(tensor.getType()) == element)
    return tensor;
  return map(
      tensor, [](ArrayRef<Element> x) { return x[0]; }, element);
}

/// A float in a wider type. Other elements stay as they are.
static Element widened(Element x, Type element) {
  if (!isa<FloatType>(x.type()) || x.type() == element)
    return x;
  return {x.b, x.b->create<arith::ExtFOp>(element, x.value)};
}

/// A value of this type that is exactly equal to `x`; null if that is not
/// known.
static Value exactly(Element x, Type element) {
  if (x.type() == element)
    return x;
  Operation *maker = x.value.getDefiningOp();
  if (auto wide = dyn_cast_or_null<arith::ExtFOp>(maker))
    return wide.getIn().getType() == element ? wide.getIn() : Value();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(maker)) {
    APFloat number = cast<FloatAttr>(constant.getValue()).getValue();
    bool loses;
    number.convert(cast<FloatType>(element).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &loses);
    if (!loses)
      return x.b->create<arith::ConstantOp>(
          cast<TypedAttr>(FloatAttr::get(element, number)));
  }
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(maker)) {
    Value yes = exactly({x.b, choice.getTrueValue()}, element);
    Value no = exactly({x.b, choice.getFalseValue()}, element);
    if (yes && no)
      return x.b->create<arith::SelectOp>(choice.getCondition(), yes, no);
  }
  return {};
}

/// An element rounded to the type in which it is stored.
static Value narrowed(Element x, Type element) {
  if (!isa<FloatType>(element) || x.type() == element)
    return x;
  if (Value same = exactly(x, element))
    return same;
  return x.b->create<arith::TruncFOp>(element, x.value);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

TypedValue<MemRefType> LinalgBuilder::slot(StringRef name,
                                           RankedTensorType type, Role role,
                                           program::Init init,
                                           FloatAttr theta) {
  auto memory = MemRefType::get(type.getShape(), type.getElementType());
  auto module = function->getParentOfType<ModuleOp>();
  std::string symbol = nameOf(role) + ("." + name).str();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder builder(function);
    auto global = builder.create<memref::GlobalOp>(
        getLoc(), symbol, builder.getStringAttr("private"), memory,
        builder.getUnitAttr(), /*constant=*/false, IntegerAttr());
    global->setAttr(SlotAttr::kOfGlobal,
                    SlotAttr::get(getContext(), name, role, init, theta,
                                  /*upperBound=*/0, /*sizes=*/{},
                                  /*strides=*/{},
                                  /*type=*/{}, /*offset=*/0,
                                  /*takesNegative=*/false));
  }
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&function.getBody().front());
  return create<memref::GetGlobalOp>(memory, symbol).getResult();
}

static StringRef symbolOf(Value memory) {
  return memory.getDefiningOp<memref::GetGlobalOp>().getName();
}

Value LinalgBuilder::read(StringRef name, RankedTensorType type, Role role,
                          program::Init init, FloatAttr theta) {
  Value memory = slot(name, type, role, init, theta);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointAfterValue(memory);
  Value tensor = create<bufferization::ToTensorOp>(memory, /*restrict=*/true,
                                                   /*writable=*/true);
  held[symbolOf(memory)] = tensor;
  return tensor;
}

void LinalgBuilder::write(Value tensor, TypedValue<MemRefType> slot) {
  MemRefType type = slot.getType();
  tensor = converted(tensor, type.getElementType());
  tensor = reshape(
      tensor, RankedTensorType::get(type.getShape(), type.getElementType()));
  if (condition) {
    Value before = held.lookup(symbolOf(slot));
    AffineMap each = identity(type.getRank());
    tensor = generic({condition, tensor, before}, before,
                     {project(type.getRank(), {}), each, each, each},
                     [](ArrayRef<Element> args) -> SmallVector<Element> {
                       return {select(args[0], args[1], args[2])};
                     })
                 .front();
  }
  create<bufferization::MaterializeInDestinationOp>(
      Type(), tensor, slot, /*restrict=*/true, /*writable=*/true);
}

/// The op that defines a parameter or buffer.
static Operation *holderOf(Value held) {
  while (auto view = held.getDefiningOp<ReshapeOp>())
    held = view.getX();
  return held.getDefiningOp();
}

bool LinalgBuilder::isHeld(Value value) {
  return isa_and_nonnull<ParameterOp, BufferOp>(holderOf(value));
}

StringRef LinalgBuilder::nameOfSlot(Value held) {
  Operation *holder = holderOf(held);
  if (auto parameter = dyn_cast<ParameterOp>(holder))
    return parameter.getName();
  return cast<BufferOp>(holder).getName();
}

TypedValue<MemRefType> LinalgBuilder::slotOf(Value held) {
  Operation *holder = holderOf(held);
  auto [entry, isNew] = slots.try_emplace(holder);
  if (isNew)
    entry->second = get(holder->getResult(0))
                        .getDefiningOp<bufferization::ToTensorOp>()
                        .getMemref();
  return cast<TypedValue<MemRefType>>(entry->second);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value LinalgBuilder::constant(Type element, double value) {
  if (isa<FloatType>(element))
    return create<arith::ConstantOp>(getFloatAttr(element, value));
  return create<arith::ConstantOp>(getIntegerAttr(element, int64_t(value)));
}

Value LinalgBuilder::empty(RankedTensorType type) {
  return create<tensor::EmptyOp>(type.getShape(), type.getElementType());
}

Value LinalgBuilder::filled(RankedTensorType type, double value) {
  Value element = constant(type.getElementType(), value);
  return create<linalg::FillOp>(element, empty(type)).getResult(0);
}

Element LinalgBuilder::scalar(ImplicitLocOpBuilder &payload, Value tensor,
                              ValueRange at) const {
  Element x{&payload, payload.create<tensor::ExtractOp>(tensor, at)};
  return widened(x, element(x.type()));
}

Value LinalgBuilder::insert(Value element, Value tensor, ValueRange at) {
  Type type = getElementTypeOrSelf(tensor.getType());
  return create<tensor::InsertOp>(narrowed({this, element}, type), tensor, at);
}

Value LinalgBuilder::reshape(Value tensor, RankedTensorType type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from == type)
    return tensor;
  // Reshape through one dimension if neither shape groups the axes of the
  // other.
  auto group = [&](RankedTensorType a, RankedTensorType b) {
    return getReassociationIndicesForReshape(a, b);
  };
  if (auto axes = group(from, type))
    return from.getRank() > type.getRank()
               ? create<tensor::CollapseShapeOp>(type, tensor, *axes)
                     .getResult()
               : create<tensor::ExpandShapeOp>(type, tensor, *axes).getResult();
  auto flat =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  return reshape(reshape(tensor, flat), type);
}

Value LinalgBuilder::transpose(Value tensor, ArrayRef<int64_t> order) {
  // Upstream would fold a transpose to the same order even if it is a copy.
  if (llvm::is_sorted(order))
    return tensor;
  auto from = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> sizes;
  for (int64_t axis : order)
    sizes.push_back(from.getDimSize(axis));
  Value out = empty(RankedTensorType::get(sizes, from.getElementType()));
  return create<linalg::TransposeOp>(tensor, out, order)->getResult(0);
}

static SmallVector<OpFoldResult> attributes(OpBuilder &builder,
                                            ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(builder.getContext(), values);
}

Value LinalgBuilder::slice(Value tensor, ArrayRef<int64_t> starts,
                           ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1);
  return create<tensor::ExtractSliceOp>(
      tensor, attributes(*this, starts), attributes(*this, sizes),
      attributes(*this, strides.empty() ? ArrayRef<int64_t>(ones) : strides));
}

Value LinalgBuilder::place(Value part, Value whole, ArrayRef<int64_t> starts,
                           ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1);
  return create<tensor::InsertSliceOp>(
      part, whole, attributes(*this, starts),
      attributes(*this, cast<RankedTensorType>(part.getType()).getShape()),
      attributes(*this, strides.empty() ? ArrayRef<int64_t>(ones) : strides));
}

Value LinalgBuilder::pad(Value tensor, ArrayRef<int64_t> low,
                         ArrayRef<int64_t> high, double value) {
  if (llvm::all_of(low, [](int64_t n) { return n == 0; }) &&
      llvm::all_of(high, [](int64_t n) { return n == 0; }))
    return tensor;
  auto from = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> sizes(from.getShape());
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i] += low[i] + high[i];
  auto type = RankedTensorType::get(sizes, from.getElementType());
  if (isReference())
    return place(tensor, filled(type, value), low);
  // Fill only the borders. Those of an axis span the interior of the axes
  // before it.
  Value padded = empty(type);
  SmallVector<int64_t> starts(sizes.size()), widths(sizes);
  auto border = [&](size_t axis, int64_t start, int64_t width,
                    int64_t stride = 1) {
    if (width == 0)
      return;
    SmallVector<int64_t> at(starts), part(widths), strides(sizes.size(), 1);
    at[axis] = start;
    part[axis] = width;
    strides[axis] = stride;
    auto partType = RankedTensorType::get(part, from.getElementType());
    padded = place(filled(partType, value), padded, at, strides);
  };
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    int64_t last = low[axis] + from.getDimSize(axis);
    if (low[axis] == 1 && high[axis] == 1 && axis + 1 < sizes.size()) {
      border(axis, 0, 2, last); // both by one op, row by row
    } else {
      border(axis, 0, low[axis]);
      border(axis, last, high[axis]);
    }
    starts[axis] = low[axis];
    widths[axis] = from.getDimSize(axis);
  }
  return place(tensor, padded, low);
}

Value LinalgBuilder::index(int64_t value) {
  return create<arith::ConstantIndexOp>(value);
}

AffineMap LinalgBuilder::project(unsigned dims, ArrayRef<int64_t> loops) const {
  SmallVector<AffineExpr> exprs;
  for (int64_t loop : loops)
    exprs.push_back(mlir::getAffineDimExpr(loop, getContext()));
  return AffineMap::get(dims, 0, exprs, getContext());
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

SmallVector<Value> LinalgBuilder::generic(ValueRange operands, ValueRange outs,
                                          ArrayRef<AffineMap> maps,
                                          Payload payload) {
  // A loop is parallel if it advances in an output by itself. If an output is
  // indexed by a sum of loops, iterations write the same elements.
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineMap map : maps.take_back(outs.size()))
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        iterators[dim.getPosition()] = utils::IteratorType::parallel;
  SmallVector<Type> types(outs.getTypes());
  auto op = create<linalg::GenericOp>(
      types, operands, outs, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder b(loc, nested);
        // The payload works in the widest format.
        Type widest = floatElement;
        for (Value arg : args)
          if (arg.getType().isF64())
            widest = arg.getType();
        SmallVector<Element> elements;
        for (Value arg : args)
          elements.push_back(widened({&b, arg}, widest));
        SmallVector<Value> results;
        for (auto [result, type] : llvm::zip_equal(payload(elements), types))
          results.push_back(narrowed(result, getElementTypeOrSelf(type)));
        b.create<linalg::YieldOp>(results);
      });
  return op.getResults();
}

Value LinalgBuilder::mapTo(RankedTensorType type, ValueRange operands,
                           ArrayRef<AffineMap> maps, Payload1 payload) {
  SmallVector<AffineMap> all(maps);
  all.push_back(identity(type.getRank()));
  return generic(operands, empty(type), all,
                 [&](ArrayRef<Element> args) {
                   return SmallVector<Element>{payload(args)};
                 })
      .front();
}

Value LinalgBuilder::map(ValueRange operands, Payload1 payload, Type element) {
  RankedTensorType type = this->type(operands.front());
  if (element)
    type = RankedTensorType::get(type.getShape(), element);
  SmallVector<AffineMap> maps(operands.size(), identity(type.getRank()));
  return mapTo(type, operands, maps, payload);
}

SmallVector<int64_t> LinalgBuilder::others(int64_t rank,
                                           ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      kept.push_back(axis);
  return kept;
}

Value LinalgBuilder::reduce(ValueRange operands, ArrayRef<int64_t> axes,
                            double init, Payload1 payload, Type element) {
  RankedTensorType from = type(operands.front());
  SmallVector<int64_t> kept = others(from.getRank(), axes), sizes;
  for (int64_t axis : kept)
    sizes.push_back(from.getDimSize(axis));
  auto result =
      RankedTensorType::get(sizes, element ? element : from.getElementType());
  SmallVector<AffineMap> maps(operands.size(), identity(from.getRank()));
  maps.push_back(project(from.getRank(), kept));
  return generic(operands, filled(result, init), maps,
                 [&](ArrayRef<Element> args) {
                   return SmallVector<Element>{payload(args)};
                 })
      .front();
}

Value LinalgBuilder::sum(Value operand, ArrayRef<int64_t> axes) {
  return reduce(operand, axes, 0,
                [](ArrayRef<Element> x) { return x[1] + x[0]; });
}

Value LinalgBuilder::divide(Value operand, double divisor) {
  return map(operand, [&](ArrayRef<Element> x) { return x[0] / divisor; });
}

Value LinalgBuilder::largest(Value operand, int64_t axis) {
  return reduce(operand, axis, -std::numeric_limits<double>::infinity(),
                [](ArrayRef<Element> x) { return max(x[1], x[0]); });
}

Value LinalgBuilder::mapWith(ValueRange operands, ValueRange reduced,
                             ArrayRef<int64_t> axes, Payload1 payload) {
  RankedTensorType type = this->type(operands.front());
  SmallVector<AffineMap> maps(operands.size(), identity(type.getRank()));
  maps.append(reduced.size(),
              project(type.getRank(), others(type.getRank(), axes)));
  SmallVector<Value> all(operands);
  all.append(reduced.begin(), reduced.end());
  return mapTo(type, all, maps, payload);
}

Value LinalgBuilder::contract(ValueRange operands, Value init,
                              ArrayRef<AffineMap> maps) {
  bool isMarked =
      inputPrecision && llvm::all_of(operands, [&](Value operand) {
        return getElementTypeOrSelf(operand.getType()) == floatElement;
      });
  auto payload = [&](ArrayRef<Element> args) {
    Element product = args.front();
    for (Element factor : args.drop_front().drop_back()) {
      product = product * factor;
      if (isMarked)
        product.value.getDefiningOp()->setDiscardableAttr(
            kInputPrecision, TypeAttr::get(inputPrecision));
    }
    return SmallVector<Element>{args.back() + product};
  };
  return generic(operands, init, maps, payload).front();
}

SmallVector<Value> LinalgBuilder::loops(
    ArrayRef<Value> bounds, ValueRange inits,
    function_ref<SmallVector<Value>(ValueRange, ValueRange)> body,
    unsigned independent) {
  OpBuilder::InsertionGuard guard(*this);
  Value zero = index(0), one = index(1);
  SmallVector<Value> zeros(bounds.size(), zero), ones(bounds.size(), one);
  scf::LoopNest nest = scf::buildLoopNest(
      *this, getLoc(), zeros, bounds, ones, inits,
      [&](OpBuilder &nested, Location, ValueRange indices, ValueRange carried) {
        OpBuilder::InsertionGuard inner(*this);
        setInsertionPoint(nested.getInsertionBlock(),
                          nested.getInsertionPoint());
        return body(indices, carried);
      });
  for (scf::ForOp loop : ArrayRef(nest.loops).take_front(independent))
    loop->setDiscardableAttr(kIndependent, getUnitAttr());
  return nest.results;
}

SmallVector<Value> LinalgBuilder::bounds(ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector(
      sizes, [&](int64_t size) -> Value { return index(size); });
}

Value LinalgBuilder::addAt(const BoundedIndex &place, ValueRange at,
                           Value tensor, Element more) {
  Element old{this, scalar(tensor, at)};
  return insert(place.updated(old, old + more), tensor, at);
}

Value LinalgBuilder::updateRows(
    Value values, Value ids, Value table,
    function_ref<Element(Element, Element)> payload) {
  auto type = cast<RankedTensorType>(values.getType());
  unsigned idAxes = cast<RankedTensorType>(ids.getType()).getRank();
  int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0);
  return loops(bounds(type.getShape()), table,
               [&](ValueRange indices, ValueRange carried) {
                 Value id = scalar(ids, indices.take_front(idAxes));
                 BoundedIndex row = BoundedIndex::of(*this, id, rows);
                 SmallVector<Value> at{row.index};
                 llvm::append_range(at, indices.drop_front(idAxes));
                 Element old{this, scalar(carried[0], at)};
                 Element value{this, scalar(values, indices)};
                 Element updated = row.updated(old, payload(old, value));
                 return SmallVector<Value>{insert(updated, carried[0], at)};
               })
      .front();
}

//===----------------------------------------------------------------------===//
// Lowerings
//===----------------------------------------------------------------------===//

/// Rounds the results of an op to their format, once. A constant that is only
/// moved keeps the precision in which it is written.
static void roundResults(Operation *op, LinalgBuilder &b) {
  auto isStored = [&](Value value) {
    return b.get(value) &&
           isFloat16(getElementTypeOrSelf(b.get(value).getType()));
  };
  bool handsOn = isMemoryEffectFree(op) && !isa<ConvertOp>(op);
  if (op->getNumRegions() != 0 ||
      (handsOn && llvm::none_of(op->getOperands(), isStored)))
    return;
  for (Value result : op->getResults())
    if (isFloat16(b.storedType(result).getElementType()))
      b.set(result, b.stored(result));
}

LogicalResult
Lowerings::lower(Block &block, LinalgBuilder &b,
                 const SmallPtrSetImpl<Operation *> &omitted) const {
  for (Operation &op : block) {
    if (omitted.contains(&op))
      continue;
    auto lowering = byName.find(op.getName().getStringRef());
    if (lowering == byName.end())
      return op.emitError() << "`" << op.getName().stripDialect()
                            << "` cannot be run yet: it has no lowering";
    b.setLoc(op.getLoc());
    if (failed(lowering->second(&op, b)))
      return failure();
    roundResults(&op, b);
  }
  return success();
}
