// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/TracedStep.h"

#include "lib/Audit/Flop.h"
#include "lib/Audit/Join.h"
#include "lib/Audit/OpNames.h"
#include "lib/Audit/OpTree.h"
#include "lib/Audit/OpenEvents.h"
#include "lib/Audit/StepRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::StringRef;

namespace {
class Builder {
public:
  Builder(const Trace &trace, TracedStep &step)
      : trace(trace), step(step), tree(trace, step),
        productOf(trace.host.size(), nobody), holder(trace.host.size(), nobody),
        isOfHook(trace.host.size()), isOfShard(trace.host.size()) {}

  void build() {
    // There may be a million, which a vector would copy as it grows; and some
    // that are only suspected.
    size_t sure = findDuals();
    for (uint32_t i : tree.order)
      if (tree.around[i].node == nobody && tree.around[i].numbered == i)
        forwardNames.insert(trace.host[i].name);
    step.products.reserve(sure + sure / 16);
    // Parents precede their children.
    for (uint32_t i : tree.order)
      if (addToHolder(i))
        takeInner(i);
      else if (isOp(i) && !duals.contains(i))
        if (auto kind = productKindOf(trace, trace.host[i]))
          addProduct(i, *kind);
    addSuspected();
    findGradientsWithNumbers();
    eraseEmpty();
    llvm::sort(step.products, [&](auto &a, auto &b) {
      const HostEvent &one = trace.host[a.event], &other = trace.host[b.event];
      return std::tie(one.start, a.event) < std::tie(other.start, b.event);
    });
    for (auto [i, product] : llvm::enumerate(step.products)) {
      productOf[product.event] = i;
      product.parts = partsOf.lookup(product.event);
    }
    findRunAgain();
    findOuterRegions();
    findApart();
    addPaths();
    findHiddenGraphs();
    addMemory();
    findDropped();
    claim();
    addKernels();
    addCounted();
    findStopped();
  }

private:
  StringRef nameOf(uint32_t i) const { return trace.names[trace.host[i].name]; }
  bool isOp(uint32_t i) const { return trace.host[i].kind == HostEvent::Op; }

  /// Finds products of dual numbers (torch.func.jvp): the op that is called has
  /// those of the value and of its derivative inside, which take more FLOP.
  /// Returns the number of all products.
  size_t findDuals() {
    size_t all = 0;
    struct Inside {
      Rational flop;
      unsigned products = 0;
    };
    std::map<uint32_t, Inside> inside;
    for (uint32_t i : llvm::reverse(tree.order)) {
      auto found = inside.find(i);
      Inside own = found == inside.end() ? Inside() : found->second;
      if (isOp(i) && productKindOf(trace, trace.host[i])) {
        Rational flop = costAt(i)->flop.value_or(0);
        if (own.products > 1 && flop < own.flop)
          duals.insert(i);
        else
          own = {flop, 1};
      }
      if (found != inside.end())
        inside.erase(found);
      if (tree.parent[i] == nobody)
        all += own.products;
      if (!own.products || tree.parent[i] == nobody)
        continue;
      Inside &around = inside[tree.parent[i]];
      around.flop += own.flop;
      around.products += own.products;
    }
    return all;
  }

  /// The cost of the product that event `i` is. Events with equal inputs have
  /// one.
  std::shared_ptr<const EventCost> costAt(uint32_t i) {
    const HostEvent &event = trace.host[i];
    llvm::ArrayRef<int64_t> result;
    if (productKindOf(trace, event) == ProductKind::Windows)
      result = resultOf(i);
    std::shared_ptr<const EventCost> &cost =
        costs[{event.name, event.inputs, result.data(), result.size()}];
    if (!cost)
      cost = std::make_shared<EventCost>(costOf(trace, event, result));
    return cost;
  }

  /// Assigns an event to the product around it. False if there is none.
  bool addToHolder(uint32_t i) {
    uint32_t parent = tree.parent[i];
    if (parent == nobody || holder[parent] == nobody)
      return false;
    holder[i] = holder[parent];
    // Hooks of saved tensors call `detach` before the op runs. A dispatch mode
    // calls the op, or has its result from before.
    StringRef name = nameOf(i);
    isOfHook[i] =
        isOfHook[parent] || name == "detach" || name == "aten::detach";
    partsOf[holder[i]] += !isOfHook[i] && name != "PythonDispatchMode";
    isOfShard[i] = isOfShard[parent] || isOfSubclass(i);
    return true;
  }

  /// Whether a subclass of tensors calls event `i`.
  bool isOfSubclass(uint32_t i) const {
    return nameOf(tree.parent[i]) == "PythonSubclass";
  }

  /// Adds ops that may be products, and have no product inside.
  void addSuspected() {
    std::vector<bool> hasProduct(trace.host.size());
    for (const TracedProduct &product : step.products)
      for (uint32_t i = product.event; i != nobody && !hasProduct[i];
           i = tree.parent[i])
        hasProduct[i] = true;
    for (uint32_t i : tree.order)
      if (!hasProduct[i] && holder[i] == nobody && !addToHolder(i) && isOp(i) &&
          nodeOf(nameOf(i)).empty())
        if (auto kind = suspectedKindOf(trace, trace.host[i]))
          addProduct(i, *kind);
  }

  /// Marks recomputed ops as stopped that called and launched nothing, if
  /// forward ops of the same name do: the recomputation ended, or the result
  /// was saved.
  void findStopped() {
    llvm::DenseSet<Name> calling;
    auto calls = [](const TracedProduct &product) {
      return product.parts + product.kernels > 0;
    };
    for (const TracedProduct &product : step.products)
      if (product.phase == TracedProduct::Forward && calls(product))
        calling.insert(trace.host[product.event].name);
    for (TracedProduct &product : step.products)
      if (product.phase == TracedProduct::Recompute && product.sequence >= 0 &&
          !calls(product) && calling.contains(trace.host[product.event].name)) {
        product.isStopped = true;
        product.ownCost().counter = 0;
      }
  }

  void addProduct(uint32_t i, ProductKind kind) {
    holder[i] = i;
    StringRef name = nameOf(i);
    TracedProduct product;
    product.event = i;
    product.kind = kind;
    setCost(product, i);
    // In traces of 2021, this event contains one for each gradient.
    if (name == "aten::cudnn_convolution_backward" && product.cost->flop) {
      int parts = 0;
      for (uint32_t j : tree.order)
        if (tree.parent[j] == i)
          parts += nameOf(j) == "aten::cudnn_convolution_backward_input" ||
                   nameOf(j) == "aten::cudnn_convolution_backward_weight";
      EventCost &cost = product.ownCost();
      cost.weight = *cost.flop;
      cost.flop = *cost.flop * parts;
      cost.counter = *cost.flop;
    }
    if (trace.hasTimes)
      product.nanoseconds = trace.host[i].duration;
    uint32_t node = tree.around[i].node;
    uint32_t numbered = tree.around[node == nobody ? i : node].numbered;
    if (numbered != nobody)
      product.sequence = trace.host[numbered].sequence;
    if (node != nobody) {
      product.node = nodeOf(nameOf(node));
      product.region = node;
      product.phase = TracedProduct::Backward;
      if (std::optional<uint32_t> again = recomputedBy(i)) {
        product.phase = TracedProduct::Recompute;
        product.sequence = trace.host[*again].sequence;
      } else if ((product.node == "CompiledFunctionBackward" ||
                  !trace.hasSequence) &&
                 isForwardAlone(trace, trace.host[i])) {
        // Ops of a compiled function have no sequence numbers.
        product.phase = TracedProduct::Recompute;
        product.sequence = -1;
      }
    }
    // An optimizer may run a closure, whose ops have numbers.
    if (product.phase == TracedProduct::Forward && product.sequence < 0 &&
        tree.around[i].has(OpTree::Around::Optimizer))
      product.phase = TracedProduct::Update;
    else if (product.phase == TracedProduct::Forward &&
             tree.around[i].has(OpTree::Around::Data))
      product.phase = TracedProduct::Data;
    product.ownPhase = ownPhaseOf(trace, trace.host[i]);
    if (!product.ownPhase.empty())
      product.name = trace.value(trace.host[i], 2);
    if (product.ownPhase == "recompute") {
      product.phase = TracedProduct::Recompute;
    } else if (product.ownPhase == "input" || product.ownPhase == "weight") {
      product.phase = TracedProduct::Backward;
    } else if (product.ownPhase == "update") {
      product.phase = TracedProduct::Update;
    }
    if (kind == ProductKind::Matrices)
      product.isOfWeight = transposesFirst(trace, trace.host[i]);
    productOf[i] = step.products.size();
    step.products.push_back(std::move(product));
  }

  /// The forward op in a node of autograd that event `i` is, or is in: it is
  /// recomputed. None if it is a gradient. Ops in a function of the user have
  /// no number, but that has; a gradient may call one, too, which no forward
  /// pass calls.
  std::optional<uint32_t> recomputedBy(uint32_t i) const {
    uint32_t node = tree.around[i].node, numbered = tree.around[i].numbered;
    if (numbered == nobody || !nodeOf(nameOf(numbered)).empty() ||
        trace.host[numbered].start < trace.host[node].start ||
        nameOf(i).contains("backward") ||
        (numbered != i && !forwardNames.contains(trace.host[numbered].name)))
      return std::nullopt;
    return numbered;
  }

  /// Sets the cost of a product, which is that of event `i`.
  void setCost(TracedProduct &product, uint32_t i) {
    product.costEvent = i;
    product.cost = costAt(i);
    product.operand = unfolded(i, product.cost->operand);
    if (tree.around[i].has(OpTree::Around::Hidden))
      product.ownCost().counter = 0;
    if (tree.around[i].has(OpTree::Around::Sparse))
      forgetCost(product);
  }

  /// A product with a sparse operand takes less than one of its shapes.
  static void forgetCost(TracedProduct &product) {
    EventCost &cost = product.ownCost();
    cost.flop.reset();
    cost.made.reset();
    cost.elements = {};
  }

  /// Under `vmap` an op of one example has the op of all examples inside, one
  /// of DTensors that of a shard: that is what runs.
  void takeInner(uint32_t i) {
    TracedProduct &product = step.products[productOf[holder[i]]];
    if (tree.around[i].has(OpTree::Around::Sparse))
      forgetCost(product);
    if (!isOp(i) || productKindOf(trace, trace.host[i]) != product.kind)
      return;
    const std::optional<Rational> &flop = product.cost->flop;
    std::optional<Rational> inner = costAt(i)->flop;
    if (!inner || !flop)
      return;
    if (*flop < *inner)
      setCost(product, i);
    else if (isOfSubclass(i) && !isOfShard[tree.parent[i]])
      product.ofShard = product.ofShard.value_or(0) + *inner;
  }

  /// Gradients that are differentiated again have numbers, as recomputed ops
  /// have. But the node of a product makes one or two gradients, the last that
  /// it calls.
  void findGradientsWithNumbers() {
    llvm::DenseMap<uint32_t, unsigned> gradientsOf; // by node
    for (const TracedProduct &product : step.products)
      gradientsOf[product.region] += product.phase == TracedProduct::Backward;
    llvm::DenseMap<uint32_t, unsigned> found;
    for (TracedProduct &product : llvm::reverse(step.products)) {
      StringRef op = product.node.split("Backward").first;
      if (product.phase != TracedProduct::Recompute ||
          gradientsOf.lookup(product.region) ||
          !multiplies("aten::" + op.lower()) ||
          nodeOf(nameOf(tree.parent[product.event])).empty() ||
          found[product.region]++ == kMostGradients)
        continue;
      product.phase = TracedProduct::Backward;
      product.sequence = trace.host[product.region].sequence;
    }
  }

  /// Removes products of nothing, such as `convolution_backward` for the
  /// gradient of a bias alone.
  void eraseEmpty() {
    auto isEmpty = [](const TracedProduct &product) {
      return product.cost->flop && product.cost->flop->isZero();
    };
    for (uint32_t i : tree.order)
      if (holder[i] != nobody && isEmpty(step.products[productOf[holder[i]]]))
        holder[i] = nobody;
    llvm::erase_if(step.products, isEmpty);
  }

  /// Marks gradients of nodes that run several times, since a backward pass
  /// keeps its graph (retain_graph) or is differentiated (create_graph). The
  /// first run with most gradients is the one of the step.
  void findRunAgain() {
    llvm::DenseMap<uint32_t, unsigned> gradientsOf; // by run
    for (const TracedProduct &product : step.products)
      gradientsOf[product.region] += product.phase == TracedProduct::Backward;
    auto numberOf = [&](const TracedProduct &product) {
      return product.phase == TracedProduct::Backward
                 ? trace.host[product.region].sequence
                 : -1;
    };
    std::map<int64_t, uint32_t> chosen; // the run, by number of the node
    for (const TracedProduct &product : step.products)
      if (int64_t number = numberOf(product); number >= 0) {
        uint32_t &run =
            chosen.try_emplace(number, product.region).first->second;
        if (gradientsOf[product.region] > gradientsOf[run])
          run = product.region;
      }
    for (TracedProduct &product : step.products)
      if (int64_t number = numberOf(product); number >= 0)
        product.isRunAgain = chosen[number] != product.region;
  }

  void findOuterRegions() {
    llvm::DenseSet<uint32_t> regions;
    for (const TracedProduct &product : step.products)
      if (product.phase == TracedProduct::Recompute)
        regions.insert(product.region);
    for (TracedProduct &product : step.products) {
      if (product.phase != TracedProduct::Recompute)
        continue;
      // Nodes of a broken trace may nest as deep as there are events.
      unsigned left = 64;
      for (uint32_t i = tree.nodeAround(product.region); i != nobody && left--;
           i = tree.nodeAround(i))
        if (regions.contains(i)) {
          product.outerRegion = i;
          break;
        }
    }
  }

  /// Marks products that may read what an op has computed from the result of
  /// the product before.
  void findApart() {
    std::vector<bool> isAround(trace.host.size());
    for (const TracedProduct &product : step.products)
      for (uint32_t i = product.event; i != nobody && !isAround[i];
           i = tree.parent[i])
        isAround[i] = true;
    const TracedProduct *before = nullptr;
    bool isComputed = false;
    for (uint32_t i : tree.order) {
      if (before && trace.host[i].thread != trace.host[before->event].thread)
        isComputed = true;
      if (holder[i] == i) {
        TracedProduct &product = step.products[productOf[i]];
        bool mayRead = !before || !before->cost->made ||
                       product.operand.empty() ||
                       elementsOf(product.operand) == *before->cost->made;
        product.isApart = isComputed && mayRead;
        before = &product;
        isComputed = false;
      } else if (holder[i] == nobody && !isAround[i] && isOp(i)) {
        isComputed |= !movesData(nameOf(i));
      }
    }
  }

  /// The shape of an operand in the outermost op around event `i` that has an
  /// operand of as many elements. A function that autograd or a compiler made
  /// has other operands, such as all weights.
  llvm::ArrayRef<int64_t> unfolded(uint32_t i,
                                   llvm::ArrayRef<int64_t> operand) const {
    Rational elements = elementsOf(operand);
    // Ops of a broken trace may nest as deep as there are events.
    unsigned left = 64;
    for (i = tree.parent[i];
         i != nobody && left-- && isOp(i) && nameOf(i).contains("::") &&
         nodeOf(nameOf(i)).empty();
         i = tree.parent[i])
      for (unsigned k = 0; k < trace.inputsOf(trace.host[i]).shapes.size; ++k)
        if (llvm::ArrayRef<int64_t> shape = trace.shape(trace.host[i], k);
            shape.size() >= operand.size() && elementsOf(shape) == elements) {
          operand = shape;
          break;
        }
    return operand;
  }

  /// The shape of a convolution's result, in case the stride is unknown: the
  /// first operand of a following op that has as many axes.
  llvm::ArrayRef<int64_t> resultOf(uint32_t i) const {
    const HostEvent &event = trace.host[i];
    auto next = std::partition_point(
        tree.order.begin(), tree.order.end(), [&](uint32_t j) {
          const HostEvent &other = trace.host[j];
          return std::tie(other.thread, other.start) <
                 std::make_tuple(event.thread, event.end());
        });
    llvm::ArrayRef<int64_t> input = trace.shape(event, 0);
    for (int tries = 0; next != tree.order.end() && tries < 64;
         ++next, ++tries) {
      if (trace.host[*next].thread != event.thread)
        break;
      if (trace.shape(trace.host[*next], 0).size() == input.size())
        return trace.shape(trace.host[*next], 0);
    }
    return {};
  }

  /// Sets the path of each product. Modules begin and end a little apart from
  /// their ops, so they are not in the tree.
  void addPaths() {
    std::vector<std::pair<uint32_t, TracedProduct *>> order;
    for (auto [i, event] : llvm::enumerate(trace.host))
      if (event.start >= step.start && event.start < step.end &&
          (event.kind == HostEvent::Module ||
           (event.kind == HostEvent::Annotation && isNamedByUser(i))))
        order.push_back({uint32_t(i), nullptr});
    if (order.empty())
      return;
    for (TracedProduct &product : step.products)
      order.push_back({product.event, &product});
    auto keyOf = [&](uint32_t i) {
      const HostEvent &event = trace.host[i];
      return std::make_tuple(event.thread, event.start, -event.duration);
    };
    llvm::stable_sort(order, [&](const auto &a, const auto &b) {
      return keyOf(a.first) < keyOf(b.first);
    });
    OpenEvents open(trace);
    for (auto [i, product] : order) {
      llvm::ArrayRef<uint32_t> events = open.around(trace.host[i]);
      if (!product) {
        open.push(i);
        continue;
      }
      for (uint32_t around : events) {
        product->path +=
            (product->path.empty() ? "" : "/") + nameOf(around).str();
        if (trace.host[around].kind == HostEvent::Module || product->isNamed())
          product->layer = nameOf(around);
      }
    }
  }

  void addMemory() {
    bool isOnDevice =
        llvm::any_of(trace.allocations,
                     [](const Allocation &each) { return each.isOnDevice; });
    for (const Allocation &each : trace.allocations)
      if (each.time >= step.start && each.time < step.end &&
          each.isOnDevice == isOnDevice)
        step.memory = std::max(step.memory.value_or(0), each.bytes);
  }

  bool isNamedByUser(uint32_t i) const {
    StringRef name = nameOf(i);
    // PyTorch names steps, and what its compiler generates.
    return !name.contains("ProfilerStep#") && !name.contains("Optimizer.") &&
           !isCompiledGraph(name);
  }

  /// Finds graphs whose code calls kernels that are no ops, as the C++ of a
  /// compiler does.
  void findHiddenGraphs() {
    OncePerName<bool> isGraph(trace.names, isCompiledGraph);
    OncePerName<bool> movesOnly(trace.names, movesData);
    std::vector<bool> shows(trace.host.size());
    for (uint32_t i : llvm::reverse(tree.order)) {
      Name name = trace.host[i].name;
      if (isGraph[name] && !shows[i])
        step.hiddenGraphs.push_back(i);
      if (uint32_t parent = tree.parent[i]; parent != nobody)
        shows[parent] = shows[parent] || shows[i] || isGraph[name] ||
                        (isOp(i) && !movesOnly[name]);
    }
  }

  void findDropped() {
    std::vector<uint32_t> children(trace.host.size());
    for (uint32_t i : tree.order)
      if (tree.parent[i] != nobody)
        ++children[tree.parent[i]];
    for (uint32_t i : tree.order)
      if (uint32_t parent = tree.parent[i]; parent != nobody &&
                                            children[parent] == 1 &&
                                            nameOf(i) == nameOf(parent))
        step.dropped.insert(i);
  }

  /// Assigns FLOP by torch.profiler to products. Those of an event go to the
  /// product around it, or to the first product inside of it.
  void claim() {
    llvm::DenseMap<uint32_t, uint32_t>
        below; // first product inside of an event
    for (const TracedProduct &product : step.products)
      for (uint32_t i = tree.parent[product.event]; i != nobody;
           i = tree.parent[i])
        if (!below.try_emplace(i, product.event).second)
          break;
    std::vector<ProfilerCount> counts(step.products.size());
    for (uint32_t i : tree.order) {
      if (!isOp(i) || step.dropped.contains(i))
        continue;
      std::optional<Rational> flop = profilerFlop(trace, trace.host[i]);
      uint32_t event = holder[i];
      if (event == nobody)
        if (auto found = below.find(i); found != below.end())
          event = found->second;
      // Traces of 2021 lack the stride, which the profiler knew.
      if (nameOf(i) == "aten::conv2d" &&
          trace.inputsOf(trace.host[i]).values.size == 0 && event != nobody &&
          trace.shape(trace.host[i], 0).size() == 4)
        flop = step.products[productOf[event]].cost->flop;
      if (flop && flop->isZero())
        continue;
      if (event == nobody) {
        if (flop)
          step.others.push_back({i, tree.around[i].origin(), *flop});
        continue;
      }
      ProfilerCount &count = counts[productOf[event]];
      if (!flop || !count.flop) {
        count.flop.reset();
        continue;
      }
      *count.flop += *flop;
      if (isElementwise(trace, trace.host[i]))
        count.other += *flop;
      else
        count.largest = std::max(count.largest, *flop);
    }
    std::map<std::tuple<std::optional<Rational>, Rational, Rational>,
             std::shared_ptr<const ProfilerCount>>
        shared;
    for (auto [product, count] : llvm::zip(step.products, counts)) {
      auto &known = shared[{count.flop, count.other, count.largest}];
      if (!known)
        known = std::make_shared<ProfilerCount>(count);
      product.profiler = known;
    }
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  static bool isCommunication(StringRef name) {
    return communicatesByName(kernelBaseName(name));
  }

  /// The time of a kernel.
  struct Interval {
    int64_t from, to;
    bool isCommunication;
  };

  /// The length of the union of intervals, which are sorted by their begin.
  static int64_t cover(llvm::ArrayRef<Interval> intervals,
                       bool withCommunication) {
    int64_t sum = 0, end = INT64_MIN;
    for (const Interval &each : intervals) {
      if (each.isCommunication && !withCommunication)
        continue;
      sum += std::max<int64_t>(each.to - std::max(each.from, end), 0);
      end = std::max(end, each.to);
    }
    return sum;
  }

  /// Assigns kernels to the step and the op that launched them. Their own times
  /// do not tell, since the device may be steps behind.
  void addKernels() {
    if (trace.kernels.empty())
      return;
    for (TracedProduct &product : step.products)
      product.nanoseconds = 0;
    const Launches launches(trace);
    struct Intervals {
      DeviceTimes times;
      std::vector<Interval> intervals;
    };
    std::map<int32_t, Intervals> byDevice;
    OncePerName<bool> communicates(trace.names, isCommunication);
    double seconds = 0, efficient = 0, occupied = 0;
    Levels &levels = step.levels;
    for (auto [index, kernel] : llvm::enumerate(trace.kernels)) {
      std::optional<uint32_t> launch = launches.find(kernel.correlation);
      int64_t time = launch ? trace.host[*launch].start : kernel.start;
      if (!launches.empty() && !launch && !step.name.empty()) {
        step.unlaunched += kernel.kind == DeviceEvent::Kernel;
        continue;
      }
      if (time < step.start || time >= step.end)
        continue;
      if (kernel.kind != DeviceEvent::Kernel) {
        levels.copies += kernel.duration;
        continue;
      }
      Intervals &device = byDevice[kernel.device];
      ++device.times.kernels;
      device.times.sum += kernel.duration;
      device.intervals.push_back(
          {kernel.start, kernel.end(), communicates[kernel.name]});
      bool isFirst = step.kernels.empty();
      step.kernelsStart =
          isFirst ? kernel.start : std::min(step.kernelsStart, kernel.start);
      step.kernelsEnd =
          isFirst ? kernel.end() : std::max(step.kernelsEnd, kernel.end());
      if (kernel.blocksPerSm >= 0 && kernel.occupancy >= 0) {
        seconds += kernel.duration;
        efficient += kernel.duration * std::min(1.f, kernel.blocksPerSm);
        occupied += double(kernel.duration) * kernel.occupancy / 100;
      }
      uint32_t event = launch ? holder[*launch] : nobody;
      StepKernel &added =
          step.kernels.emplace_back(StepKernel{uint32_t(index), std::nullopt});
      if (event == nobody)
        continue;
      added.product = productOf[event];
      TracedProduct &product = step.products[productOf[event]];
      ++product.kernels;
      product.nanoseconds += kernel.duration;
    }
    for (auto &[number, device] : byDevice) {
      DeviceTimes &times = levels.devices.emplace_back(device.times);
      times.device = number;
      llvm::sort(device.intervals, [](const Interval &a, const Interval &b) {
        return a.from < b.from;
      });
      times.unionOfAll = cover(device.intervals, true);
      times.withoutCommunication = cover(device.intervals, false);
      levels.kernels += times.kernels;
      levels.sum += times.sum;
      levels.unionOfAll += times.unionOfAll;
      levels.withoutCommunication += times.withoutCommunication;
    }
    if (seconds > 0) {
      levels.smEfficiency = efficient / seconds;
      levels.occupancy = occupied / seconds;
    }
  }

  /// Assigns counted kernels, which have neither time nor correlation, to
  /// launches in order, if there are as many.
  void addCounted() {
    std::vector<uint32_t> launches = kernelLaunches(trace);
    if (launches.size() != trace.counted.size())
      return;
    for (auto [kernel, launch] : llvm::enumerate(launches)) {
      const HostEvent &event = trace.host[launch];
      if (event.start < step.start || event.start >= step.end)
        continue;
      StepKernel &added =
          step.counted.emplace_back(StepKernel{uint32_t(kernel), std::nullopt});
      if (holder[launch] == nobody)
        continue;
      added.product = productOf[holder[launch]];
      ++step.products[*added.product].kernels;
    }
  }

  const Trace &trace;
  TracedStep &step;
  OpTree tree;
  std::vector<uint32_t>
      productOf; ///< index into TracedStep::products, by event
  /// The outermost product around each event, as an event.
  std::vector<uint32_t> holder;
  /// By event in a product: whether it is a hook of saved tensors, or in one.
  std::vector<bool> isOfHook;
  /// The same for what a subclass of tensors calls.
  std::vector<bool> isOfShard;
  llvm::DenseSet<uint32_t> duals; ///< see findDuals()
  /// Names of events with a number that no node of autograd is around.
  llvm::DenseSet<Name> forwardNames;
  /// By name and inputs of an event, and the shape behind it; see costAt().
  std::map<std::tuple<Name, uint32_t, const int64_t *, size_t>,
           std::shared_ptr<const EventCost>>
      costs;
  llvm::DenseMap<uint32_t, unsigned> partsOf; ///< number of events in a product
};
} // namespace

Launches::Launches(const Trace &trace) {
  for (auto [i, event] : llvm::enumerate(trace.host))
    if (event.kind == HostEvent::Launch)
      launches.push_back({event.correlation, uint32_t(i)});
  llvm::sort(launches);
}

std::optional<uint32_t> Launches::find(int64_t correlation) const {
  auto launch = llvm::lower_bound(launches, std::pair(correlation, 0u));
  if (launch == launches.end() || launch->first != correlation)
    return std::nullopt;
  return launch->second;
}

std::vector<uint32_t> netc::audit::kernelLaunches(const Trace &trace) {
  std::vector<uint32_t> launches;
  for (auto [i, event] : llvm::enumerate(trace.host))
    if (event.kind == HostEvent::Launch &&
        (trace.names[event.name].contains("LaunchKernel") ||
         trace.names[event.name].contains("LaunchCooperativeKernel")))
      launches.push_back(i);
  llvm::stable_sort(launches, [&](uint32_t i, uint32_t j) {
    return trace.host[i].start < trace.host[j].start;
  });
  return launches;
}

TracedStep netc::audit::traceStep(const Trace &trace) {
  return llvm::cantFail(traceStep(trace, ""));
}

llvm::Expected<TracedStep> netc::audit::traceStep(const Trace &trace,
                                                  StringRef range) {
  TracedStep step;
  if (llvm::Error error = chooseStep(trace, range, step))
    return error;
  Builder(trace, step).build();
  return step;
}

TracedStep netc::audit::traceStepFrom(const Trace &trace, const HostEvent &op,
                                      const HostEvent &before,
                                      const HostEvent &last) {
  TracedStep step;
  chooseStepFrom(trace, op, before, last, step);
  Builder(trace, step).build();
  return step;
}
