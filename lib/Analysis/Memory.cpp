// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Memory.h"

#include "dialect/Repetition.h"
#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Decoding.h"
#include "lib/Hardware/Precision.h"

using namespace netc;
using namespace mlir;

/// The buffer with a kStateFormat that `value` is, or is a view of; else null.
static BufferOp stateBehind(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isView(op))
    op = op->getOperand(0).getDefiningOp();
  auto buffer = dyn_cast_or_null<BufferOp>(op);
  return buffer && buffer->hasAttr(kStateFormat) ? buffer : BufferOp();
}

/// Bytes of the states that an update keeps itself.
static Polynomial bytesOfStates(UpdateOpInterface update) {
  Value parameter = update->getOperand(0);
  return bytesOfState(update, shapeOf(parameter).elements(),
                      elementOf(parameter)) *
         update.getNumStates();
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

/// Whether `value` is a weight in 8 bits that the backward pass multiplies by,
/// so that a device holds kCopiesIn8Bits of it.
static bool hasCopiesIn8Bits(Value value) {
  auto isMultipliedBackward = [](Operation *user) {
    Phase phase = enclosingPhase(user);
    bool isBackward =
        phase == Phase::InputGradient || phase == Phase::WeightGradient;
    return isBackward && !isFormatChange(user);
  };
  return is8BitFloat(value) && !nameOfWeight(value).empty() &&
         llvm::any_of(value.getUsers(), isMultipliedBackward);
}

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
    if (BufferOp state = stateBehind(value))
      return bytesOfState(state, shapeOf(value).elements(), elementOf(value));
    if (UnfoldOp windows = unfoldOf(value))
      return bytes(windows.getX());
    return bytes(value);
  };
  Traffic traffic;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Polynomial read = touched(i) * copiesOf(op->getOpOperand(i));
    if (decoding)
      traffic.readAgain += decoding->readAgain(op, i, read);
    traffic.read += read;
  }
  traffic.read += traffic.readAgain;
  for (Value result : op->getResults())
    traffic.written +=
        bytes(result) * (hasCopiesIn8Bits(result) ? kCopiesIn8Bits : 1);
  // An op that writes in place changes its first operand.
  if (hasEffect<MemoryEffects::Write>(op))
    traffic.written += touched(0);
  if (auto update = dyn_cast<UpdateOpInterface>(op)) {
    Polynomial states = bytesOfStates(update);
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
  llvm::SmallDenseSet<Value, 4> seen;
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

namespace {
/// Counts the memory of a network or a step by the names of its weights.
class MemoryCounter {
public:
  explicit MemoryCounter(Operation *graph) : graph(graph) {}
  std::map<std::string, Memory> count();

private:
  void add(Operation *op);
  /// Adds the bytes of a part, for each copy of `op`.
  void add(Operation *op, StringRef weight, BytesByType Memory::*part,
           Type element, const Polynomial &bytes) {
    (memory[weight.str()].*part).add(element, bytes * copiesOf(op));
  }
  void add(Operation *op, StringRef weight, BytesByType Memory::*part,
           Value value) {
    add(op, weight, part, elementOf(value), bytesOf(value));
  }
  void addTable(TableOp table);
  void addParameter(ParameterOp parameter);
  /// Adds a copy of a weight or a constant in another format.
  void addCopy(Operation *op);
  void addBuffer(BufferOp buffer);
  void addUpdate(UpdateOpInterface update);

  /// Adds the copy of an 8-bit weight along another axis, if a product of the
  /// backward pass reads the weight.
  void addCopyIn8Bits(Operation *op, StringRef weight);

  /// Whether an update of the parameter is its first. Several updates of a
  /// parameter read the same gradient.
  bool isFirst(Value parameter);

  Operation *graph;
  std::map<std::string, Memory> memory;
  DenseSet<Value> updated;
  /// All users share one table of each kind and shape.
  DenseSet<std::tuple<Attribute, Attribute, Type>> tables;
};
} // namespace

bool MemoryCounter::isFirst(Value parameter) {
  bool first = false;
  forEachBase(parameter, [&](Value base) {
    first |= !isa_and_nonnull<BufferOp>(base.getDefiningOp()) &&
             updated.insert(base).second;
  });
  return first;
}

/// The gradient behind what an update reads, which it may have converted or
/// scaled, or averaged in a state: a value of the same size that the update
/// does not compute.
static Value gradientBehind(Value read) {
  Polynomial elements = shapeOf(read).elements();
  SmallVector<Value> work{read};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second)
      continue;
    if (isa<BufferOp>(op))
      for (Operation *user : value.getUsers())
        if (hasEffect<MemoryEffects::Write>(user))
          llvm::append_range(work, llvm::reverse(user->getOperands()));
    if (enclosingPhase(op) == Phase::Update)
      llvm::append_range(work, llvm::reverse(op->getOperands()));
    else if (!isa<ParameterOp>(op) && isFloat(value) &&
             shapeOf(value).elements() == elements)
      return value;
  }
  return read;
}

void MemoryCounter::addTable(TableOp table) {
  if (tables
          .insert({table.getInitAttr(), table.getThetaAttr(), table.getType()})
          .second)
    memory[""].constants.add(table.getY());
}

void MemoryCounter::addParameter(ParameterOp parameter) {
  Value value = parameter.getValue();
  bool isMaster = llvm::any_of(
      value.getUsers(), [](Operation *user) { return user->hasAttr(kWeight); });
  add(parameter, parameter.getName(),
      isMaster ? &Memory::master : &Memory::weights, value);
  addCopyIn8Bits(parameter, parameter.getName());
}

void MemoryCounter::addCopy(Operation *op) {
  Value copy = op->getResult(0);
  std::string name = nameOfWeight(copy);
  BytesByType Memory::*part = name.empty()           ? &Memory::constants
                              : op->hasAttr(kWeight) ? &Memory::weights
                                                     : &Memory::copies;
  add(op, name, part, copy);
  addCopyIn8Bits(op, name);
}

void MemoryCounter::addCopyIn8Bits(Operation *op, StringRef weight) {
  Value value = op->getResult(0);
  if (hasCopiesIn8Bits(value))
    add(op, weight, &Memory::copies, elementOf(value),
        bytesOf(value) * (kCopiesIn8Bits - 1));
}

void MemoryCounter::addBuffer(BufferOp buffer) {
  Value value = buffer.getValue();
  // Running statistics belong to the network, and the state of the update to
  // the optimizer.
  bool isUpdate = enclosingPhase(buffer) == Phase::Update;
  add(buffer, buffer.getName(),
      isUpdate ? &Memory::optimizer : &Memory::weights,
      statedFormat(buffer, kStateFormat, elementOf(value)),
      bytesOfState(buffer, shapeOf(value).elements(), elementOf(value)));
}

void MemoryCounter::addUpdate(UpdateOpInterface update) {
  Operation *op = update;
  Value parameter = op->getOperand(0), gradient = op->getOperand(1);
  std::string name = nameOfWeight(parameter);
  add(op, name, &Memory::optimizer,
      statedFormat(op, kStateFormat, elementOf(parameter)),
      bytesOfStates(update));
  // A gradient of looked-up rows has one row per look-up.
  bool isOfRows = shapeOf(parameter) != shapeOf(gradient);
  if (isFirst(parameter) || isOfRows)
    add(op, name, &Memory::gradients, gradientBehind(gradient));
}

void MemoryCounter::add(Operation *op) {
  if (auto table = dyn_cast<TableOp>(op))
    addTable(table);
  else if (auto literal = dyn_cast<LiteralOp>(op))
    add(op, "", &Memory::constants, literal.getY());
  else if (auto parameter = dyn_cast<ParameterOp>(op))
    addParameter(parameter);
  else if (op->getNumResults() != 0 && isCopyOfHeld(op->getResult(0)) &&
           enclosingPhase(op) == Phase::Forward)
    addCopy(op);
  else if (auto buffer = dyn_cast<BufferOp>(op))
    addBuffer(buffer);
  else if (auto update = dyn_cast<UpdateOpInterface>(op))
    addUpdate(update);
  else if (auto gradient = dyn_cast<GradientOp>(op))
    add(op, nameOfWeight(gradient.getParameter()), &Memory::gradients,
        gradient.getGradient());
}

std::map<std::string, Memory> MemoryCounter::count() {
  graph->walk([&](Operation *op) { add(op); });
  BytesByType &activations = memory[""].activations;
  forEachActivation(graph, [&](OpResult value) {
    add(value.getOwner(), "", &Memory::activations, value);
  });
  if (std::optional<Decoding> decoding = Decoding::of(graph))
    activations += decoding->bytesKept(graph);
  return std::move(memory);
}

std::map<std::string, Memory> netc::countMemoryByName(Operation *graph) {
  return MemoryCounter(graph).count();
}

Memory netc::countMemory(Operation *graph) {
  Memory sum;
  for (auto &[name, memory] : countMemoryByName(graph))
    sum += memory;
  return sum;
}

std::vector<BytesByType> netc::countRecomputed(Operation *graph) {
  Block &body = graph->getRegion(0).front();
  auto isAgain = [](Operation *op) {
    return op && op->hasAttr(kPhase) && phaseOf(op) == Phase::Recompute;
  };
  if (llvm::none_of(body, [&](Operation &op) { return isAgain(&op); }))
    return {};
  DenseSet<Value> kept;
  BytesByType live;
  forEachActivation(graph, [&](OpResult value) {
    kept.insert(value);
    live.add(value, copiesOf(value.getOwner()));
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
  DenseMap<Operation *, BytesByType> freed; // after each user
  // The memory is largest in the first copy that the backward pass reaches. The
  // memory of the other copies, and of tensors that all copies read, is freed
  // after that.
  auto freeAfterCopies = [&](Attribute rolled, Operation *reader, Value value,
                             const Polynomial &copies) {
    Operation *last = lastOfCopies.lookup(rolled);
    freed[last && reader->isBeforeInBlock(last) ? last : reader].add(value,
                                                                     copies);
  };
  for (auto &[value, reader] : lastReader) {
    Operation *maker = value.getDefiningOp();
    Attribute made = maker ? maker->getAttr(kRolled) : nullptr,
              read = reader->getAttr(kRolled);
    if (read && !made) {
      freeAfterCopies(read, reader, value, 1);
      continue;
    }
    freed[reader].add(value);
    if (made && !isAgain(maker))
      freeAfterCopies(made, reader, value, copiesOf(maker) - 1);
  }
  std::vector<BytesByType> peaks;
  bool grows = false;
  for (Operation &op : body) {
    if (isAgain(&op))
      for (Value result : op.getResults())
        if (lastReader.contains(result)) {
          live.add(result);
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
