// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/Cost.h"

#include "dialect/Repetition.h"
#include "lib/Analysis/Causal.h"
#include "lib/Analysis/Decoding.h"
#include "lib/Analysis/ElementTypes.h"
#include "lib/Analysis/Memory.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Hardware/Precision.h"

using namespace netc;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

Axes::Axes(DictionaryAttr axes) {
  for (NamedAttribute axis : axes)
    moments.try_emplace(axis.getName(),
                        cast<MomentsAttr>(axis.getValue()).getValue());
}

void Axes::fix(StringRef axis, Rational size) { know(axis, Moments(size)); }

void Axes::know(StringRef axis, Moments size) {
  moments.insert_or_assign(axis, std::move(size));
}

bool Axes::haveDistributions() const {
  return llvm::any_of(moments,
                      [](auto &axis) { return !axis.second.isFixed(); });
}

unsigned Axes::numKnown(StringRef axis) const {
  auto known = moments.find(axis);
  return known == moments.end() ? 0 : known->second.values().size();
}

Polynomial Axes::evaluate(const Polynomial &value) {
  for (const auto &axis : moments)
    if (!axis.second.isFixed() && value.isInMinimum(axis.first()))
      inMinima.insert(axis.first().str());
  return value.evaluate(
      [&](StringRef axis, unsigned power) -> std::optional<Rational> {
        auto known = moments.find(axis);
        if (known == moments.end())
          return std::nullopt;
        if (!known->second.knows(power))
          guessed.try_emplace(axis.str(), power);
        return known->second.moment(power);
      });
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

Cost Figures::backward() const {
  Cost sum = (*this)[Phase::InputGradient];
  return sum += (*this)[Phase::WeightGradient];
}

Cost Figures::model() const {
  Cost sum = (*this)[Phase::Forward];
  sum += backward();
  return sum += (*this)[Phase::Update];
}

Cost Figures::hardware() const {
  Cost sum = model();
  return sum += (*this)[Phase::Recompute];
}

static Figures::Costs multiplied(Figures::Costs costs, const Polynomial &by) {
  for (Cost &cost : costs)
    cost = cost * by;
  return costs;
}

Figures Figures::repeated(const Rational &times) const {
  Figures sum;
  sum.costs = multiplied(costs, times);
  for (const auto &[format, part] : byFormat)
    sum.byFormat.emplace_back(format, multiplied(part, times));
  sum.read = read * times;
  sum.readAgain = readAgain * times;
  sum.written = written * times;
  sum.converted = converted * times;
  return sum;
}

static Cost difference(const Cost &a, const Cost &b) {
  return {a.matmul - b.matmul, a.other - b.other,
          a.transcendental - b.transcendental};
}

Figures::Costs &Figures::costsIn(NumberFormat format) {
  auto *place =
      llvm::lower_bound(byFormat, format, [](const auto &a, NumberFormat b) {
        return a.first < b;
      });
  if (place == byFormat.end() || place->first != format)
    place = byFormat.insert(place, {format, Costs()});
  return place->second;
}

Figures Figures::in(NumberFormat format) const {
  Figures part;
  const auto *found = llvm::find_if(
      byFormat, [&](const auto &costs) { return costs.first == format; });
  if (found != byFormat.end()) {
    part.costs = found->second;
  } else if (format == NumberFormat::F32) {
    part.costs = costs;
    for (const auto &[other, ofOther] : byFormat)
      for (auto [rest, cost] : llvm::zip(part.costs, ofOther))
        rest = difference(rest, cost);
  }
  return part;
}

std::vector<NumberFormat> Figures::formats() const {
  std::vector<NumberFormat> formats;
  if (!in(NumberFormat::F32).isZero())
    formats.push_back(NumberFormat::F32);
  for (const auto &[format, costs] : byFormat)
    formats.push_back(format);
  return formats;
}

llvm::ArrayRef<Polynomial Figures::*> Figures::movements() {
  static constexpr Polynomial Figures::*all[] = {
      &Figures::read,       &Figures::written,        &Figures::readAgain,
      &Figures::updateRead, &Figures::updateWritten,  &Figures::gradients,
      &Figures::converted,  &Figures::updateConverted};
  return all;
}

/// References to all numbers of `figures`.
template <typename FiguresT>
static SmallVector<decltype(&std::declval<FiguresT &>().parameters), 32>
numbersOf(FiguresT &figures) {
  SmallVector<decltype(&figures.parameters), 32> numbers{
      &figures.parameters, &figures.trainable, &figures.idle,
      &figures.activations};
  for (Polynomial Figures::*moved : Figures::movements())
    numbers.push_back(&(figures.*moved));
  auto add = [&](auto &costs) {
    for (auto &cost : costs)
      numbers.append({&cost.matmul, &cost.other, &cost.transcendental});
  };
  add(figures.costs);
  for (auto &[format, costs] : figures.byFormat)
    add(costs);
  return numbers;
}

/// Adds an entry to `figures` for each format of `other`.
static void haveFormatsOf(const Figures &other, Figures &figures) {
  for (const auto &[format, costs] : other.byFormat)
    figures.costsIn(format);
}

Figures &Figures::operator+=(const Figures &more) {
  haveFormatsOf(more, *this);
  if (byFormat.size() != more.byFormat.size()) {
    Figures other = more;
    haveFormatsOf(*this, other);
    return *this += other;
  }
  for (auto [sum, number] : llvm::zip(numbersOf(*this), numbersOf(more)))
    *sum += *number;
  return *this;
}

bool Figures::isValid() const {
  return llvm::all_of(numbersOf(*this), [](const Polynomial *number) {
    return number->isValid();
  });
}

bool Figures::isZero() const {
  return llvm::all_of(numbersOf(*this), [](const Polynomial *number) {
    return number->isZero();
  });
}

bool Figures::operator==(const Figures &other) const {
  return byFormat.size() == other.byFormat.size() &&
         llvm::all_of_zip(
             numbersOf(*this), numbersOf(other),
             [](const Polynomial *a, const Polynomial *b) { return *a == *b; });
}

//===----------------------------------------------------------------------===//
// PartTree
//===----------------------------------------------------------------------===//

bool Part::hasShapesOf(const Part &other) const {
  auto areAlike = [](RankedTensorType a, RankedTensorType b) {
    return a == b || (a && b && a.getShape() == b.getShape() &&
                      a.getEncoding() == b.getEncoding());
  };
  return areAlike(output, other.output) &&
         llvm::equal(inputs, other.inputs, areAlike);
}

bool PartTree::holdsRolledCopies(const Part &part) const {
  return llvm::any_of(part.children,
                      [&](unsigned i) { return parts[i].copies != 1; });
}

std::pair<const Part *, StringRef> PartTree::descend(StringRef path) const {
  const Part *part = &root();
  while (!path.empty()) {
    auto [name, rest] = path.split('.');
    const unsigned *child = llvm::find_if(
        part->children, [&](unsigned i) { return parts[i].name() == name; });
    if (child == part->children.end() || holdsRolledCopies(*part))
      break;
    part = &parts[*child];
    path = rest;
  }
  return {part, path};
}

/// Whether all children of an instance are ops.
static bool holdsOnlyOps(const PartTree &tree, const Part &part) {
  return !part.isLeaf() && &part != &tree.root() &&
         llvm::all_of(part.children, [&](unsigned child) {
           return tree.parts[child].isLeaf();
         });
}

bool PartTree::isLayer(const Part &part) const {
  if (!part.isLeaf())
    return holdsOnlyOps(*this, part);
  bool isEmpty = part.inputs.empty() && part.figures.isZero();
  return &part != &root() && !isEmpty &&
         !holdsOnlyOps(*this, parts[part.parent]);
}

std::vector<const Part *> PartTree::layers() const {
  std::vector<const Part *> layers;
  SmallVector<unsigned> work{0};
  while (!work.empty()) {
    const Part &part = parts[work.pop_back_val()];
    if (isLayer(part))
      layers.push_back(&part);
    else
      work.append(part.children.rbegin(), part.children.rend());
  }
  return layers;
}

void PartTree::evaluate(Axes &axes) {
  for (Part &part : parts)
    for (Polynomial *number : numbersOf(part.figures))
      if (!number->isConstant())
        *number = axes.evaluate(*number);
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

StringRef netc::nameOf(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : op->getName().stripDialect();
}

FloatType netc::widestFloat(ValueRange tensors) {
  FloatType widest;
  for (Value tensor : tensors)
    if (auto element = dyn_cast<FloatType>(elementOf(tensor)))
      if (!widest || widest.getWidth() < element.getWidth())
        widest = element;
  return widest;
}

Phase netc::enclosingPhase(Operation *op) {
  while (!op->getDiscardableAttr(kPhase) &&
         isa<ScanOp, WhenOp>(op->getParentOp()))
    op = op->getParentOp();
  return phaseOf(op);
}

/// The format of products whose operands are f32. Units that multiply in tf32
/// convert such operands themselves. A recipe has ops in the IR that convert to
/// 8 bits.
static NumberFormat productsOfF32(Operation *graph) {
  if (auto step = dyn_cast<StepOp>(graph))
    if (auto precision = parsePrecision(step.getRun().getFacts().precision))
      if (precision->low() == NumberFormat::F32)
        return precision->products;
  return NumberFormat::F32;
}

static NumberFormat widestFormat(ValueRange values) {
  FloatType widest = widestFloat(values);
  return widest ? numberFormatOf(widest).value_or(NumberFormat::F32)
                : NumberFormat::F32;
}

/// The format in which an op computes if it is a product: that of its operands.
static NumberFormat formatOfProduct(Operation *op, NumberFormat ofF32) {
  NumberFormat format = widestFormat(op->getOperands());
  return format == NumberFormat::F32 ? ofF32 : format;
}

/// The format in which another op computes: the widest of operands and results.
static NumberFormat formatOfOther(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return widestFormat(values);
}

namespace {
/// Builds the tree of a network or a step.
class Counter {
public:
  Counter(Operation *graph, const Conventions &conventions,
          function_ref<void(const CountedOp &)> onOp)
      : graph(graph), conventions(conventions), onOp(onOp),
        decoding(Decoding::of(graph)), products(productsOfF32(graph)) {
    tree.parts.emplace_back().parent = 0;
    builds.emplace_back();
    if (conventions.causal == CountedMask::Half)
      causalProducts = findCausalProducts(graph);
  }

  PartTree count() {
    Block &body = graph->getRegion(0).front();
    forEachExecution(body, 1, [&](Operation *op, const Polynomial &times) {
      visit(op, times);
    });
    forEachActivation(graph, [&](OpResult value) {
      tree.parts[leafOf(value.getOwner())].figures.activations +=
          bytesOf(value) * copiesOf(value.getOwner());
    });
    sumUp();
    assert(builds.size() == tree.parts.size() && "these are parallel");
    for (Value input : body.getArguments())
      tree.parts.front().inputs.push_back(typeOf(input));
    return std::move(tree);
  }

private:
  /// Orders ops to find the one that a part is named after: products come
  /// first, then ops that read a tensor.
  using Weight = std::tuple<Rational, Rational, bool>;

  /// Data of a part while the tree is built.
  struct Build {
    unsigned depth = 0;
    Weight weight;
    RankedTensorType lastType; ///< of the first result of an op
  };

  static RankedTensorType typeOf(Value tensor) {
    return cast<RankedTensorType>(tensor.getType());
  }

  /// The part with this path, created with its parents if it is new.
  unsigned partOf(StringRef path) {
    if (auto known = byPath.find(path); known != byPath.end())
      return known->second;
    size_t dot = path.rfind('.');
    unsigned parent = dot == StringRef::npos ? 0 : partOf(path.take_front(dot));
    unsigned part = tree.parts.size();
    assert(parent < part && "parents come first, as sums rely on");
    byPath[path] = part;
    tree.parts[parent].children.push_back(part);
    Part &added = tree.parts.emplace_back();
    added.path = path;
    added.parent = parent;
    builds.emplace_back().depth = builds[parent].depth + 1;
    return part;
  }

  unsigned leafOf(Operation *op) {
    auto [entry, isNew] = byLocation.try_emplace(op->getLoc());
    if (isNew)
      entry->second = partOf(nameOf(op));
    return entry->second;
  }

  void visit(Operation *op, const Polynomial &times) {
    // A weight belongs to the part that uses it first.
    if (isHeld(op))
      return;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && isHeld(maker) && held.insert(maker).second)
        countOp(maker, copiesOf(maker), Phase::Forward);
    Phase phase = enclosingPhase(op);
    if (!op->hasTrait<OpTrait::IsTerminator>())
      countOp(op, times, phase);
    if (phase == Phase::Forward)
      traceShapes(op);
  }

  /// The share of a weight that a row does not use: the experts that are not
  /// chosen, or the share that an opaque part states.
  static Rational idleShare(ParameterOp parameter) {
    return idleShare(parameter.getValue());
  }

  static Rational idleShare(Value weight) {
    Rational share;
    for (Operation *user : weight.getUsers()) {
      if (isFormatChange(user))
        share = std::max(share, idleShare(user->getResult(0)));
      if (auto opaque = dyn_cast<OpaqueOp>(user); opaque && opaque.getIdle())
        share = *opaque.getIdle()->getValue().constant();
      auto loop = dyn_cast<ScanOp>(user);
      if (!loop || !llvm::is_contained(loop.getSequences(), weight))
        continue;
      DispatchOp dispatch = dispatchOf(loop);
      if (!dispatch)
        continue;
      int64_t experts = dispatch.getExperts();
      Shape choices = shapeOf(dispatch.getChoices());
      if (std::optional<int64_t> chosen = choices.sizes.back().toInt64();
          chosen && *chosen < experts)
        share = Rational(experts - *chosen) / Rational(experts);
    }
    return share;
  }

  void countOp(Operation *op, const Polynomial &times, Phase phase) {
    Cost cost = cast<CostOpInterface>(op).getCost();
    if (times != 1)
      cost = cost * times;
    if (auto half = causalProducts.find(op); half != causalProducts.end()) {
      const CausalProduct &product = half->second;
      std::optional<int64_t> given;
      if (decoding && product.rows == product.columns)
        given = decoding->givenIn(product.rows);
      cost.matmul = cost.matmul / product.rows / product.columns *
                    (given ? decoding->pairs(*given) : product.seen);
    } else if (decoding && !cost.matmul.isZero()) {
      cost.matmul = decoding->inPasses(op, cost.matmul);
    }
    if (conventions.fma == 1)
      cost.matmul /= 2;

    unsigned leaf = leafOf(op);
    if (auto rolled =
            dyn_cast_or_null<DictionaryAttr>(op->getDiscardableAttr(kRolled)))
      noteCopies(rolled);
    Figures &figures = tree.parts[leaf].figures;
    figures.costs[unsigned(phase)] += cost;
    NumberFormat format = cost.matmul.isZero() ? formatOfOther(op)
                                               : formatOfProduct(op, products);
    if (format != NumberFormat::F32)
      if (!cost.matmul.isZero() || !cost.other.isZero())
        figures.costsIn(format)[unsigned(phase)] += cost;
    if (onOp)
      onOp({op, times, phase, cost, format, tree.parts[leaf]});
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      Polynomial elements = shapeOf(parameter.getValue()).elements() * times;
      figures.parameters += elements;
      if (parameter.getTrainable()) {
        figures.trainable += elements;
        figures.gradients += bytesIn(parameter.getValue()) * times;
      }
      figures.idle += elements * idleShare(parameter);
    }
    countTraffic(figures, op, times, phase);
    if (phase == Phase::Forward) {
      nameAfter(leaf, op->getName().stripDialect(), weigh(op, cost));
      if (op->getNumResults() != 0)
        builds[leaf].lastType = typeOf(op->getResult(0));
    }
  }

  void noteCopies(DictionaryAttr rolled) {
    if (noted.insert(rolled).second)
      for (NamedAttribute repeat : rolled)
        if (auto part = byPath.find(repeat.getName()); part != byPath.end())
          tree.parts[part->second].copies =
              cast<IntegerAttr>(repeat.getValue()).getInt();
  }

  /// Bytes of a tensor. Cached by type, since few types occur often.
  const Polynomial &bytesIn(Value value) {
    auto [entry, isNew] = bytesByType.try_emplace(value.getType());
    if (isNew)
      entry->second = bytesOf(value);
    return entry->second;
  }

  void countTraffic(Figures &figures, Operation *op, const Polynomial &times,
                    Phase phase) {
    Traffic traffic = trafficOf(
        op, [&](Value value) { return bytesIn(value); },
        decoding ? &*decoding : nullptr);
    if (times != 1) {
      traffic.read *= times;
      traffic.readAgain *= times;
      traffic.written *= times;
    }
    figures.read += traffic.read;
    figures.readAgain += traffic.readAgain;
    figures.written += traffic.written;
    bool isConversion = isFormatChange(op);
    if (isConversion)
      figures.converted += traffic.read + traffic.written;
    if (phase == Phase::Update) {
      figures.updateRead += traffic.read;
      figures.updateWritten += traffic.written;
      if (isConversion)
        figures.updateConverted += traffic.read + traffic.written;
    }
  }

  static Weight weigh(Operation *op, const Cost &cost) {
    auto atOne = [](const Polynomial &value) {
      return value.evaluate([](StringRef, unsigned) { return Rational(1); })
          .constant()
          .value_or(0);
    };
    return {atOne(cost.matmul), atOne(cost.other), !isHeld(op)};
  }

  void nameAfter(unsigned part, StringRef op, const Weight &weight) {
    if (tree.parts[part].op.empty() || builds[part].weight < weight) {
      tree.parts[part].op = op;
      builds[part].weight = weight;
    }
  }

  /// Records the inputs of the parts around `op`, and the outputs of the parts
  /// around the ops that compute its operands.
  void traceShapes(Operation *op) {
    // The terminator of a loop's body belongs to the parts of the loop.
    Operation *owner =
        op->hasTrait<OpTrait::IsTerminator>() ? op->getParentOp() : op;
    unsigned user = owner == graph ? 0 : leafOf(owner);
    for (Value operand : op->getOperands())
      traceShape(operand, user);
  }

  void traceShape(Value value, unsigned user) {
    Operation *maker = value.getDefiningOp();
    if (!maker)
      maker = value.getParentBlock()->getParentOp();
    else if (isHeld(maker) || enclosingPhase(maker) != Phase::Forward)
      return;
    unsigned source = maker == graph ? 0 : leafOf(maker);
    while (user != source) {
      if (builds[user].depth >= builds[source].depth) {
        Part &part = tree.parts[user];
        if (read.insert({user, value}).second)
          part.inputs.push_back(typeOf(value));
        user = part.parent;
      } else {
        Part &part = tree.parts[source];
        if (!part.output)
          part.output = typeOf(value);
        source = part.parent;
      }
    }
  }

  /// Adds children to their parents.
  void sumUp() {
    for (unsigned i = tree.parts.size() - 1; i != 0; --i) {
      Part &part = tree.parts[i], &parent = tree.parts[part.parent];
      if (!part.output)
        part.output = builds[i].lastType;
      parent.figures += part.figures;
      nameAfter(part.parent, part.op, builds[i].weight);
      if (!builds[part.parent].lastType)
        builds[part.parent].lastType = part.output;
    }
  }

  Operation *graph;
  const Conventions &conventions;
  function_ref<void(const CountedOp &)> onOp;
  std::optional<Decoding> decoding;
  const NumberFormat products; ///< the format of products of f32
  /// Empty if masked products count in full.
  DenseMap<Operation *, CausalProduct> causalProducts;
  PartTree tree;
  std::deque<Build> builds;                  ///< parallel to tree.parts
  DenseSet<std::pair<unsigned, Value>> read; ///< inputs of parts
  DenseMap<Type, Polynomial> bytesByType;
  /// Weights, buffers and constants that were counted.
  DenseSet<Operation *> held;
  DenseSet<Attribute> noted; ///< by noteCopies
  DenseMap<StringRef, unsigned> byPath;
  DenseMap<Location, unsigned> byLocation;
};
} // namespace

PartTree netc::countParts(Operation *graph, const Conventions &conventions,
                          function_ref<void(const CountedOp &)> onOp) {
  return Counter(graph, conventions, onOp).count();
}

std::set<NumberFormat> netc::formatsOfProducts(StepOp step) {
  const NumberFormat ofF32 = productsOfF32(step);
  std::set<NumberFormat> formats;
  step.walk([&](CostOpInterface op) {
    // What an op costs takes longer to say.
    NumberFormat format = formatOfProduct(op, ofF32);
    if (!formats.count(format) && !op.getCost().matmul.isZero())
      formats.insert(format);
  });
  return formats;
}

LogicalResult netc::verifyCounts(Operation *graph, const PartTree &tree) {
  if (tree.root().figures.isValid())
    return success();
  // The innermost part without a valid count, since parents come first.
  const Part *part = &tree.root();
  for (const Part &candidate : tree.parts)
    if (!candidate.figures.isValid())
      part = &candidate;
  return emitError(graph->getLoc(), error::CostOutOfRange, part->path,
                   Polynomial::maxTerms);
}
