// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
#include "dialect/Repetition.h"
#include "dialect/ReverseMode.h"
#include "mlir/IR/IRMapping.h"

using namespace netc;
using namespace mlir;

YieldOp ScanOp::getYield() { return cast<YieldOp>(getBlock().back()); }

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

SmallPtrSet<Operation *, 4> ScanOp::getOpsOmittedLast() {
  SmallPtrSet<Operation *, 4> omitted;
  auto carried = getResults().drop_front(getNumOutputs());
  if (llvm::none_of(carried, [](Value last) { return last.use_empty(); }))
    return omitted;
  Block &body = getBlock();
  DenseSet<Value> needed;
  for (auto [i, value] : llvm::enumerate(getYield().getValues()))
    if (i < getNumOutputs() || !getResult(i).use_empty())
      needed.insert(value);
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool isNeeded = hasEffect<MemoryEffects::Write>(&op) ||
                    llvm::any_of(op.getResults(), [&](Value result) {
                      return needed.contains(result);
                    });
    if (!isNeeded) {
      omitted.insert(&op);
      continue;
    }
    op.walk([&](Operation *reader) {
      needed.insert(reader->operand_begin(), reader->operand_end());
    });
  }
  return omitted;
}

//===----------------------------------------------------------------------===//
// Shape of the loop
//===----------------------------------------------------------------------===//

static Type withoutAxis(Type type, int64_t axis) {
  return tensorOf(cast<RankedTensorType>(type).getElementType(),
                  shapeOf(type).without(axis));
}

/// Inserts an axis of `size` at `axis`.
static Type withAxis(Type type, int64_t axis, const Polynomial &size) {
  Shape shape = shapeOf(type);
  shape.sizes.insert(shape.sizes.begin() + axis, size);
  return tensorOf(cast<RankedTensorType>(type).getElementType(), shape);
}

LogicalResult ScanOp::verify() {
  Block &block = getBlock();
  size_t sequences = getSequences().size(), inits = getInits().size();
  if (Shape(getTrip().getValue()).invalidAxis())
    return emitOpError() << "runs `" << getTrip().getValue().str() << "` times";
  if (getAxes().size() != sequences)
    return emitOpError() << "gives " << getAxes().size() << " axes for "
                         << sequences << " sequences";
  if (block.getNumArguments() != sequences + inits)
    return emitOpError() << "body takes " << block.getNumArguments()
                         << " values, expected " << sequences + inits;
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError() << "must end in `net.yield`";
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
    Type type = getResult(i).getType(), element = yield.getOperand(i).getType();
    int64_t axis = getOutAxes()[i];
    if (axis < 0 || axis > cast<RankedTensorType>(element).getRank() ||
        withAxis(element, axis, getTrip().getValue()) != type)
      return emitOpError() << "output " << i << " has type " << type
                           << ", its element " << element;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Gradient: the same loop in the other direction
//===----------------------------------------------------------------------===//

void ScanOp::forEachFlow(function_ref<void(Value, Value)> flow) {
  ValueRange arguments = getBlock().getArguments();
  ValueRange yielded = getYield().getValues();
  for (auto [operand, argument] : llvm::zip_equal(getOperands(), arguments))
    flow(operand, argument);
  for (auto [value, result] : llvm::zip_equal(yielded, getResults()))
    flow(value, result);
  for (auto [next, argument] :
       llvm::zip_equal(yielded.drop_front(getNumOutputs()),
                       arguments.drop_front(getSequences().size())))
    flow(next, argument);
}

namespace {
/// The operands, attributes and body of a net.scan, in the op's order.
struct Loop {
  Region body;
  SmallVector<Value> sequences, inits;
  SmallVector<int64_t> axes, outAxes;

  Loop() { body.emplaceBlock(); }
  /// Moves the parts out of an existing loop.
  explicit Loop(ScanOp scan)
      : sequences(scan.getSequences()), inits(scan.getInits()),
        axes(scan.getAxes()), outAxes(scan.getOutAxes()) {
    body.takeBody(scan.getBody());
  }

  Value addSequence(Value sequence, int64_t axis, Value like) {
    sequences.push_back(sequence);
    axes.push_back(axis);
    return body.insertArgument(sequences.size() - 1, like.getType(),
                               like.getLoc());
  }
  Value addCarried(Value init) {
    inits.push_back(init);
    return body.addArgument(init.getType(), init.getLoc());
  }
  void dropUnusedSequences() {
    for (size_t i = sequences.size(); i-- > 0;) {
      if (!body.getArgument(i).use_empty())
        continue;
      body.eraseArgument(i);
      sequences.erase(sequences.begin() + i);
      axes.erase(axes.begin() + i);
    }
  }
  ScanOp create(OpBuilder &builder, Location loc, PolynomialAttr trip,
                bool reversed) {
    SmallVector<Type> types;
    TypeRange yielded = body.front().back().getOperandTypes();
    for (auto [axis, type] : llvm::zip_first(outAxes, yielded))
      types.push_back(withAxis(type, axis, trip.getValue()));
    llvm::append_range(types, yielded.drop_front(outAxes.size()));
    auto scan = builder.create<ScanOp>(loc, types, sequences, inits, trip, axes,
                                       outAxes, reversed);
    scan.getBody().takeBody(body);
    return scan;
  }
};

/// An output of a loop, which stacks the values of an iteration along an axis.
struct Stack {
  Value sequence;
  int64_t axis;
};
} // namespace

/// Makes the loop return the stacked `values` of its body. Replaces the loop by
/// a longer one if it does not return all of them yet.
static SmallVector<Stack> handOut(ScanOp scan, ArrayRef<Value> values) {
  size_t numOutputs = scan.getNumOutputs();
  DenseMap<Value, size_t> places;
  for (auto [i, value] : llvm::enumerate(scan.getYield().getValues()))
    if (i < numOutputs)
      places.try_emplace(value, i);
  SmallVector<Value> more;
  for (Value value : values)
    if (places.try_emplace(value, numOutputs + more.size()).second)
      more.push_back(value);
  if (!more.empty()) {
    scan.getYield()->insertOperands(numOutputs, more);
    OpBuilder builder(scan);
    Loop loop(scan);
    loop.outAxes.append(more.size(), 0);
    ScanOp longer = loop.create(builder, scan.getLoc(), scan.getTripAttr(),
                                scan.getReversed());
    longer->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
    for (auto [i, result] : llvm::enumerate(scan.getResults()))
      result.replaceAllUsesWith(
          longer.getResult(i < numOutputs ? i : i + more.size()));
    scan.erase();
    scan = longer;
  }
  return llvm::map_to_vector(values, [&](Value value) {
    size_t place = places.lookup(value);
    return Stack{scan.getResult(place), scan.getOutAxes()[place]};
  });
}

void netc::dropUnusedOutputs(ScanOp scan) {
  unsigned numOutputs = scan.getNumOutputs();
  llvm::BitVector unused(scan.getNumResults());
  for (unsigned i = 0; i < numOutputs; ++i)
    unused[i] = scan.getResult(i).use_empty();
  if (unused.none())
    return;
  scan.getYield()->eraseOperands(unused);
  OpBuilder builder(scan);
  Loop loop(scan);
  loop.outAxes.clear();
  for (unsigned i = 0; i < numOutputs; ++i)
    if (!unused[i])
      loop.outAxes.push_back(scan.getOutAxes()[i]);
  ScanOp shorter = loop.create(builder, scan.getLoc(), scan.getTripAttr(),
                               scan.getReversed());
  shorter->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(scan.getResults()))
    if (!unused[i])
      result.replaceAllUsesWith(shorter.getResult(next++));
  scan.erase();
}

/// The values from outside of the loop that its body reads, each once.
static SetVector<Value> capturedBy(ScanOp scan) {
  SetVector<Value> captured;
  scan.getBody().walk([&](Operation *op) {
    for (Value value : op->getOperands())
      if (value.getParentRegion()->isProperAncestor(&scan.getBody()))
        captured.insert(value);
  });
  return captured;
}

static Value createZeros(OpBuilder &builder, Value like, Type element) {
  return builder.create<ConstantOp>(like.getLoc(),
                                    tensorOf(element, shapeOf(like)),
                                    builder.getF64FloatAttr(0));
}

static Value createZeros(OpBuilder &builder, Value like) {
  return createZeros(builder, like, elementOf(like));
}

/// Replaces what `loop` reads from the body of `forward`. It reads the same
/// sequences, and repeats ops that only rename or move their elements. For each
/// of the other values, which are returned, `loop` gets one more sequence,
/// still null.
static SmallVector<Value> readForward(Loop &loop, ScanOp forward) {
  Block &body = forward.getBlock();
  IRMapping again;
  for (auto [i, sequence] : llvm::enumerate(forward.getSequences())) {
    Value element = body.getArgument(i);
    again.map(element,
              loop.addSequence(sequence, forward.getAxes()[i], element));
  }
  OpBuilder builder(forward.getContext());
  builder.setInsertionPointToStart(&loop.body.front());
  SmallVector<Operation *> copies;
  for (Operation &op : body.without_terminator())
    if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        llvm::all_of(op.getOperands(), [&](Value value) {
          return value.getParentBlock() != &body || again.contains(value);
        }))
      copies.push_back(builder.clone(op, again));

  SmallVector<Value> kept;
  loop.body.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      Value value = use.get();
      if (value.getParentBlock() != &body)
        continue;
      if (!again.contains(value)) {
        kept.push_back(value);
        again.map(value, loop.addSequence(nullptr, 0, value));
      }
      use.set(again.lookup(value));
    }
  });
  for (Operation *copy : llvm::reverse(copies))
    if (copy->use_empty())
      copy->erase();
  return kept;
}

LogicalResult ScanOp::buildGradient(Gradients &g) {
  ReverseMode &outer = g.block;
  Block &body = getBlock();
  ValueRange yielded = getYield().getValues();
  ValueRange carried = body.getArguments().drop_front(getSequences().size());
  Loop loop;
  OpBuilder builder(getContext());
  builder.setInsertionPointToStart(&loop.body.front());
  ReverseMode inner(outer.graph, builder);

  // An iteration reads the gradients of its outputs and carried values.
  for (auto [i, axis] : llvm::enumerate(getOutAxes()))
    if (Value gradient = g.of(i))
      inner.add(yielded[i], loop.addSequence(gradient, axis, yielded[i]));
  SmallVector<unsigned> differentiated;
  for (unsigned i = 0; i < carried.size(); ++i) {
    Value gradient = g.of(getNumOutputs() + i);
    if (!gradient && !outer.wants(carried[i]))
      continue;
    if (!gradient)
      gradient = createZeros(g.builder, carried[i]);
    differentiated.push_back(i);
    inner.add(yielded[getNumOutputs() + i], loop.addCarried(gradient));
  }
  if (failed(inner.run(body)))
    return failure();

  // The loop yields the gradients of its arguments. It also yields those of
  // outer tensors that it reads, summed over the iterations.
  SmallVector<Value> sources, outputs, next;
  for (auto [i, sequence] : llvm::enumerate(getSequences())) {
    if (Value gradient = inner.of(body.getArgument(i))) {
      sources.push_back(sequence);
      outputs.push_back(gradient);
      loop.outAxes.push_back(getAxes()[i]);
    }
  }
  for (unsigned i : differentiated) {
    Value gradient = inner.of(carried[i]);
    sources.push_back(getInits()[i]);
    next.push_back(gradient ? gradient : createZeros(builder, carried[i]));
  }
  for (Value value : capturedBy(*this)) {
    if (Value gradient = inner.of(value)) {
      // The gradient of an 8-bit weight has the format of the product.
      Value sum =
          loop.addCarried(createZeros(g.builder, value, elementOf(gradient)));
      sources.push_back(value);
      next.push_back(builder.create<AddOp>(value.getLoc(), sum, gradient));
    }
  }
  builder.create<YieldOp>(getLoc(),
                          llvm::to_vector(llvm::concat<Value>(outputs, next)));

  SmallVector<Value> kept = readForward(loop, *this);
  PolynomialAttr trip = getTripAttr();
  bool reversed = getReversed();
  Location loc = getLoc();
  size_t place = loop.sequences.size() - kept.size();
  for (Stack stack : handOut(*this, kept)) {
    loop.sequences[place] = stack.sequence;
    loop.axes[place++] = stack.axis;
  }
  loop.dropUnusedSequences();
  ScanOp backward = loop.create(g.builder, loc, trip, !reversed);
  for (auto [source, gradient] :
       llvm::zip_equal(sources, backward.getResults()))
    outer.add(source, gradient);
  return success();
}
