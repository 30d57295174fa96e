// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/ElementName.h"
#include "lib/Analysis/Run.h"
#include "lib/Conversion/LinalgBuilder.h"
#include "lib/Conversion/OpTable.h"
#include "lib/Conversion/Passes.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Hardware/Precision.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_NETTOLINALG
#include "lib/Conversion/Passes.h.inc"
} // namespace netc

static void lowerParameter(ParameterOp op, LinalgBuilder &b) {
  b.set(op, b.read(op.getName(), b.storedType(op), Role::Parameter,
                   *program::initOf(op.getInit().str())));
}

/// A buffer with the initial value `step` is the number of the step.
static void lowerBuffer(BufferOp op, LinalgBuilder &b) {
  if (op.getInit() == "step")
    return b.set(op, b.read(op.getName(), b.storedType(op), Role::Step));
  Type format = statedFormat(op, kStateFormat, netc::elementOf(op.getValue()));
  b.set(op, b.read(op.getName(), b.storedType(op, format), Role::State,
                   *program::initOf(op.getInit().str())));
}

static void lowerReturn(ReturnOp op, LinalgBuilder &b) {
  for (auto [value, name] : llvm::zip_equal(op.getResults(), op.getNames()))
    b.write(b.get(value), b.slot(cast<StringAttr>(name).getValue(),
                                 b.storedType(value), Role::Result));
}

/// Visits the uses of an integer, and of integers computed from it.
static void forEachUse(Value value,
                       llvm::function_ref<void(Operation *user)> visit) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      visit(user);
      unsigned number = use.getOperandNumber();
      if (auto scan = dyn_cast<ScanOp>(user)) {
        // A slice of a sequence, or the initial value of a carried one.
        values.insert(scan.getBlock().getArgument(number));
      } else if (auto yield = dyn_cast<YieldOp>(user)) {
        auto scan = cast<ScanOp>(yield->getParentOp());
        values.insert(scan.getResult(number));
        if (number >= scan.getNumOutputs())
          values.insert(scan.getBlock().getArgument(
              scan.getSequences().size() + number - scan.getNumOutputs()));
      } else {
        for (Value result : user->getResults())
          if (Type element = netc::elementOf(result);
              isa<IntegerType>(element) && !element.isInteger(1))
            values.insert(result);
      }
    }
  }
}

/// Whether a user computes with an integer as a number instead of an index.
static bool isAmount(Operation *user) {
  return user->hasTrait<TakesAmounts>() && isFloat(user->getResult(0));
}

/// The least upper bound that users of an integer need: classes, or rows of a
/// table; 2 if they compute with it.
static int64_t boundOf(Value value) {
  unsigned bits = netc::elementOf(value).getIntOrFloatBitWidth();
  int64_t bound = bits < 64 ? std::min(Shape::maxSize, llvm::maxIntN(bits) + 1)
                            : Shape::maxSize;
  auto take = [&](int64_t limit) { bound = std::min(bound, limit); };
  forEachUse(value, [&](Operation *user) {
    if (auto indexed = dyn_cast<IndexOpInterface>(user))
      take(*indexed.getIndexBound().toInt64());
    else if (isAmount(user))
      take(2);
  });
  return bound;
}

/// Whether all users of an integer accept a negative one: an index may be out
/// of bounds, but a number to compute with is 0 or 1.
static bool takesNegative(Value value) {
  bool takes = true;
  forEachUse(value, [&](Operation *user) { takes &= !isAmount(user); });
  return takes;
}

/// Whether a program can store tensors of this type.
static bool isStored(Type element) {
  return program::elementOf(llvm::to_string(element)).has_value();
}

/// Whether programs compute and keep values in the formats of the step.
/// Products in tf32 round factors of f32, or are computed in f32.
static bool isRun(StepOp step, const Precision &precision) {
  bool isPeakAlone = precision.low() == NumberFormat::F32 &&
                     precision.products != NumberFormat::F32 &&
                     !precision.isF64() &&
                     precision.products != NumberFormat::TF32;
  bool has8Bits =
      step.walk([](Operation *op) {
            auto state = op->getAttrOfType<TypeAttr>(kStateFormat);
            bool isIn8Bits = (state && state.getValue().isInteger()) ||
                             llvm::any_of(op->getResults(), is8BitFloat);
            return isIn8Bits ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return !isPeakAlone && !has8Bits;
}

/// Refuses steps whose counts do not describe what a program would execute.
static LogicalResult checkIsRun(StepOp step) {
  std::string formats = step.getRun().getFacts().precision;
  if (std::optional<Precision> precision = parsePrecision(formats))
    if (!isRun(step, *precision))
      return emitError(placeOf(step, "precision"), error::PrecisionNotRun,
                       formats);
  if (step.getRun().getFacts().decode)
    return emitError(step.getLoc(), error::DecodeNotRun);
  if (!step.getOps<GradientOp>().empty())
    return emitError(step.getLoc(), error::RunWithoutOptimizer);
  SmallVector<Value> stored(step.getBlock().getArguments());
  for (auto parameter : step.getOps<ParameterOp>())
    stored.push_back(parameter.getValue());
  llvm::append_range(stored, step.getReturn().getOperands());
  for (Value value : stored)
    if (Type element = netc::elementOf(value); !isStored(element))
      return emitError(value.getLoc(), error::TypeOfProgram,
                       elementName(element));
  return success();
}

namespace {
struct NetToLinalg : netc::impl::NetToLinalgBase<NetToLinalg> {
  using NetToLinalgBase::NetToLinalgBase;

  void runOnOperation() override {
    FailureOr<StepOp> step = findStep(getOperation(), run);
    if (failed(step) || failed(checkIsRun(*step)) || failed(lower(*step)))
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (isa<NetworkOp, StepOp, JobOp>(op))
        op.erase();
  }

  /// Sets the attributes of the module that describe the program.
  void describe(StepOp step) {
    const RunFacts &run = step.getRun().getFacts();
    // Bound with the axes. A step without one has no axis of examples.
    int64_t batch = run.batch.value_or(1).toInt64().value_or(1);
    getOperation()->setAttr(ProgramAttr::kOfModule,
                            ProgramAttr::get(&getContext(), step.getSymName(),
                                             step.getNetwork(), batch));
  }

  LogicalResult lower(StepOp step) {
    numberOps(step);
    describe(step);
    OpBuilder builder(step);
    auto function = builder.create<func::FuncOp>(
        step.getLoc(), "netc_step", builder.getFunctionType({}, {}));
    function.addEntryBlock();
    Type element = doubles ? builder.getF64Type() : builder.getF32Type();
    LinalgBuilder b(function, element, reference);
    auto precision = parsePrecision(step.getRun().getFacts().precision);
    if (precision && precision->products == NumberFormat::TF32)
      b.inputPrecision = builder.getTF32Type();
    for (auto [name, input] :
         llvm::zip_equal(step.getInputs(), step.getBlock().getArguments())) {
      StringRef slot = cast<StringAttr>(name).getValue();
      RankedTensorType type = b.storedType(input);
      b.set(input, b.read(slot, type, Role::Input));
      if (isa<IntegerType>(type.getElementType())) {
        Operation *global =
            getOperation().lookupSymbol(("input." + slot).str());
        auto facts = global->getAttrOfType<SlotAttr>(SlotAttr::kOfGlobal);
        global->setAttr(SlotAttr::kOfGlobal,
                        facts.withRange(boundOf(input), takesNegative(input)));
      }
    }

    Lowerings lowerings;
    lowerings.add(lowerParameter);
    lowerings.add(lowerBuffer);
    lowerings.add(lowerReturn);
    addElementwiseLowerings(lowerings);
    addMatmulLowerings(lowerings);
    addConvolutionLowerings(lowerings);
    addPoolingLowerings(lowerings);
    addReduceLowerings(lowerings);
    addShapeLowerings(lowerings);
    addIndexLowerings(lowerings);
    addLossLowerings(lowerings);
    addOptimizerLowerings(lowerings);
    addScanLowering(lowerings);
    if (failed(lowerings.lower(step.getBlock(), b)))
      return failure();
    b.create<func::ReturnOp>();
    return success();
  }
};
} // namespace
