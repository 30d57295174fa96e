// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Memory.h"

#include "dialect/Repetition.h"
#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Decoding.h"
#include "lib/Hardware/Precision.h"
#include "llvm/Support/raw_ostream.h"

using namespace netc;
using namespace mlir;

Traffic netc::trafficOf(Operation *op, function_ref<Polynomial(Value)> bytes,
                        const Decoding *decoding) {
  auto costed = cast<CostOpInterface>(op);
  bool moves = op->getNumResults() != 0 || !costed.getCost().total().isZero();
  if (!moves || isHeld(op) || isView(op) || op->getNumRegions() != 0 ||
      op->hasTrait<OpTrait::IsTerminator>())
    return {};
  auto touched = [&](unsigned operand) -> Polynomial {
    Value value = op->getOperand(operand);
    if (std::optional<Polynomial> elements = costed.getTouched(operand))
      return *elements * bytesOf(elementOf(value));
    if (UnfoldOp windows = unfoldOf(value))
      return bytes(windows.getX());
    return bytes(value);
  };
  Traffic traffic;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Polynomial read = touched(i);
    if (decoding)
      traffic.read += decoding->readAgain(op, i, read);
    traffic.read += read;
  }
  for (Value result : op->getResults())
    traffic.written += bytes(result);
  // An op that writes in place changes its first operand.
  if (hasEffect<MemoryEffects::Write>(op))
    traffic.written += touched(0);
  if (auto update = dyn_cast<UpdateOpInterface>(op)) {
    Polynomial states = touched(0) * update.getNumStates();
    traffic.read += states;
    traffic.written += states;
  }
  return traffic;
}

void netc::forEachActivation(Operation *graph,
                             function_ref<void(OpResult)> function) {
  SmallVector<Value> work;
  graph->walk([&](Operation *op) {
    if (op != graph && enclosingPhase(op) != Phase::Forward)
      llvm::append_range(work, op->getOperands());
  });
  // Visit the values in the order of the text.
  std::reverse(work.begin(), work.end());
  DenseSet<Value> seen;
  // A loop may yield one value several times.
  DenseSet<std::pair<Operation *, Value>> yielded;
  forEachBase(work, seen, [&](Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || isHeld(result.getOwner()) || isCopyOfHeld(value) ||
        enclosingPhase(result.getOwner()) != Phase::Forward)
      return;
    if (auto scan = dyn_cast<ScanOp>(result.getOwner()))
      if (!yielded
               .insert({scan,
                        scan.getYield()->getOperand(result.getResultNumber())})
               .second)
        return;
    function(result);
  });
}

/// The name of an element type in reports: `bf16`, `i1`, `f8e4m3`.
static std::string nameOfType(Type element) {
  if (isa<Float8E4M3FNType>(element))
    return traitsOf(NumberFormat::F8E4M3).name.str();
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return name;
}

std::vector<KeptValue> netc::keptValues(Operation *graph) {
  std::vector<KeptValue> kept;
  forEachActivation(graph, [&](OpResult value) {
    Rational copies = copiesOf(value.getOwner());
    kept.push_back(
        {nameOf(value.getOwner()).str(), nameOfType(elementOf(value)),
         shapeOf(value).elements() * copies, bytesOf(value) * copies});
  });
  return kept;
}

Memory &Memory::operator+=(const Memory &other) {
  for (auto [name, part] : parts())
    this->*part += other.*part;
  return *this;
}

/// The name of a weight, also if `value` is a reshaped one.
static std::string nameOfWeight(Value value) {
  std::string name;
  forEachSource(value, [&](Value base) {
    if (auto parameter = base.getDefiningOp<ParameterOp>())
      name = parameter.getName();
  });
  return name;
}

std::map<std::string, Memory> netc::countMemoryByName(Operation *graph) {
  std::map<std::string, Memory> memory;
  DenseSet<Value> updated;
  // Several updates of a parameter read the same gradient.
  auto isFirst = [&](Value parameter) {
    bool first = false;
    forEachBase(parameter, [&](Value base) {
      first |= !isa_and_nonnull<BufferOp>(base.getDefiningOp()) &&
               updated.insert(base).second;
    });
    return first;
  };
  // Parameters that the step leaves different.
  DenseSet<Value> changed;
  graph->walk([&](Operation *op) {
    if (op->getNumOperands() != 0 && hasEffect<MemoryEffects::Write>(op))
      forEachBase(op->getOperand(0), [&](Value base) { changed.insert(base); });
  });
  std::optional<Precision> precision;
  if (auto step = dyn_cast<StepOp>(graph))
    precision = parsePrecision(step.getRun().getFacts().precision);
  // One of the copies of a weight in 8 bits may be the weight itself.
  bool hasWeightsIn8Bits =
      precision && traitsOf(precision->weights).storedBits == 8;
  auto bytesAs = [](Value value, NumberFormat format) {
    return shapeOf(value).elements() * (traitsOf(format).storedBits / 8);
  };
  auto bytesOfStates = [&](Value parameter) -> Polynomial {
    std::optional<Rational> elements = shapeOf(parameter).elements().constant();
    return precision && elements ? precision->bytesOfState(*elements)
                                 : bytesOf(parameter);
  };
  auto bytesOfGradient = [&](Value gradient) {
    if (precision)
      return bytesAs(gradient, precision->gradients);
    // An update may compute in a wider format.
    while (isFormatChange(gradient.getDefiningOp()))
      gradient = gradient.getDefiningOp()->getOperand(0);
    return bytesOf(gradient);
  };
  // All users share one table of each kind and shape.
  DenseSet<std::tuple<Attribute, Attribute, Type>> tables;
  graph->walk([&](Operation *op) {
    Rational copies = copiesOf(op);
    auto add = [&](StringRef weight, Polynomial Memory::*part,
                   const Polynomial &bytes) {
      memory[weight.str()].*part += bytes * copies;
    };
    if (auto table = dyn_cast<TableOp>(op)) {
      if (tables
              .insert(
                  {table.getInitAttr(), table.getThetaAttr(), table.getType()})
              .second)
        memory[""].constants += bytesOf(table.getY());
    } else if (auto literal = dyn_cast<LiteralOp>(op)) {
      add("", &Memory::constants, bytesOf(literal.getY()));
    } else if (auto parameter = dyn_cast<ParameterOp>(op)) {
      Value value = parameter.getValue();
      Polynomial bytes = bytesOf(value);
      // Under a master, uses read a narrower copy: the weight. The update
      // changes the parameter, which is the master; nothing else needs it.
      bool isCopied = precision && precision->master &&
                      elementOf(value).getIntOrFloatBitWidth() >
                          traitsOf(precision->weights).storedBits;
      add(parameter.getName(), &Memory::weights,
          isCopied ? bytesAs(value, precision->weights) : bytes);
      if (isCopied && changed.contains(value))
        add(parameter.getName(), &Memory::master, bytes);
    } else if (isCopyOfHeld(op->getResults().empty() ? Value()
                                                     : op->getResult(0)) &&
               enclosingPhase(op) == Phase::Forward) {
      std::string name = nameOfWeight(op->getResult(0));
      Polynomial bytes = bytesOf(op->getResult(0));
      if (name.empty())
        add("", &Memory::constants, bytes);
      else if (is8BitFloat(op->getResult(0)))
        add(name, &Memory::copies,
            bytes * (kCopiesIn8Bits - hasWeightsIn8Bits));
      else if (!precision || !precision->master)
        add(name, &Memory::copies, bytes);
    } else if (auto buffer = dyn_cast<BufferOp>(op)) {
      // Running statistics belong to the network, and the state of the update
      // to the optimizer.
      bool isUpdate = enclosingPhase(op) == Phase::Update;
      bool isNumber = shapeOf(buffer.getValue()).rank() ==
                      0; // a number of the step, such as its count
      bool hasFormatOfStates = isUpdate && !isNumber && !buffer.getTyped();
      add(buffer.getName(), isUpdate ? &Memory::optimizer : &Memory::weights,
          hasFormatOfStates ? bytesOfStates(buffer.getValue())
                            : bytesOf(buffer.getValue()));
    } else if (auto update = dyn_cast<UpdateOpInterface>(op)) {
      std::string name = nameOfWeight(op->getOperand(0));
      add(name, &Memory::optimizer,
          bytesOfStates(op->getOperand(0)) * update.getNumStates());
      // A gradient of looked-up rows has one row per look-up.
      bool isOfRows = shapeOf(op->getOperand(0)) != shapeOf(op->getOperand(1));
      if (isFirst(op->getOperand(0)) || isOfRows)
        add(name, &Memory::gradients, bytesOfGradient(op->getOperand(1)));
    } else if (auto gradient = dyn_cast<GradientOp>(op)) {
      add(nameOfWeight(gradient.getParameter()), &Memory::gradients,
          bytesOfGradient(gradient.getGradient()));
    }
  });
  forEachActivation(graph, [&](OpResult value) {
    memory[""].activations += bytesOf(value) * copiesOf(value.getOwner());
  });
  if (std::optional<Decoding> decoding = Decoding::of(graph))
    memory[""].activations += decoding->bytesKept(graph);
  return memory;
}

Memory netc::countMemory(Operation *graph) {
  Memory sum;
  for (auto &[name, memory] : countMemoryByName(graph))
    sum += memory;
  return sum;
}

std::vector<Polynomial> netc::countRecomputed(Operation *graph) {
  Block &body = graph->getRegion(0).front();
  auto isAgain = [](Operation *op) {
    return op && op->hasAttr(kPhase) && phaseOf(op) == Phase::Recompute;
  };
  if (llvm::none_of(body, [&](Operation &op) { return isAgain(&op); }))
    return {};
  DenseSet<Value> kept;
  Polynomial live;
  forEachActivation(graph, [&](OpResult value) {
    kept.insert(value);
    live += bytesOf(value) * copiesOf(value.getOwner());
  });
  DenseMap<Value, Operation *> lastReader;
  // The last op with each kRolled.
  DenseMap<Attribute, Operation *> lastOfCopies;
  for (Operation &op : body) {
    if (Attribute rolled = op.getAttr(kRolled);
        rolled && enclosingPhase(&op) != Phase::Update)
      lastOfCopies[rolled] = &op;
    op.walk([&](Operation *reader) {
      for (Value operand : reader->getOperands())
        forEachBase(operand, [&](Value base) {
          bool isMadeAgain = isAgain(base.getDefiningOp());
          if (isMadeAgain ? !isAgain(&op) : kept.contains(base))
            lastReader[base] = &op;
        });
    });
  }
  DenseMap<Operation *, Polynomial> freed; // after each user
  // The memory is largest in the first copy that the backward pass reaches. The
  // memory of the other copies, and of tensors that all copies read, is freed
  // after that.
  auto freeAfterCopies = [&](Attribute rolled, Operation *reader,
                             const Polynomial &bytes) {
    Operation *last = lastOfCopies.lookup(rolled);
    freed[last && reader->isBeforeInBlock(last) ? last : reader] += bytes;
  };
  for (auto &[value, reader] : lastReader) {
    Operation *maker = value.getDefiningOp();
    Attribute made = maker ? maker->getAttr(kRolled) : nullptr,
              read = reader->getAttr(kRolled);
    if (read && !made) {
      freeAfterCopies(read, reader, bytesOf(value));
      continue;
    }
    freed[reader] += bytesOf(value);
    if (made && !isAgain(maker))
      freeAfterCopies(made, reader, bytesOf(value) * (copiesOf(maker) - 1));
  }
  std::vector<Polynomial> peaks;
  bool grows = false;
  for (Operation &op : body) {
    if (isAgain(&op))
      for (Value result : op.getResults())
        if (lastReader.contains(result)) {
          live += bytesOf(result);
          grows = true;
        }
    auto found = freed.find(&op);
    if (found == freed.end())
      continue;
    if (std::exchange(grows, false) && !llvm::is_contained(peaks, live))
      peaks.push_back(live);
    live -= found->second;
  }
  return peaks;
}
