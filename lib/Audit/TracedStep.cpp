// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/TracedStep.h"

#include "lib/Audit/Flop.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Chooses the step of median length, or the whole trace if it marks no steps.
static void chooseStep(const Trace &trace, TracedStep &step) {
  std::vector<const HostEvent *> marked;
  for (const HostEvent &event : trace.host)
    if (event.kind == HostEvent::Annotation &&
        trace.names[event.name].starts_with("ProfilerStep#"))
      marked.push_back(&event);
  if (marked.empty()) {
    step.start = INT64_MAX;
    step.end = INT64_MIN;
    auto widen = [&](int64_t start, int64_t end) {
      step.start = std::min(step.start, start);
      step.end = std::max(step.end, end);
    };
    for (const HostEvent &event : trace.host)
      widen(event.start, event.end());
    for (const DeviceEvent &event : trace.kernels)
      widen(event.start, event.end());
    if (step.start > step.end)
      step.start = step.end = 0;
    return;
  }
  llvm::sort(marked, [](auto *a, auto *b) {
    return std::tie(a->duration, a->start) < std::tie(b->duration, b->start);
  });
  const HostEvent &chosen = *marked[(marked.size() - 1) / 2];
  step.name = trace.names[chosen.name].str();
  step.steps = marked.size();
  step.start = chosen.start;
  step.end = chosen.end();
}

//===----------------------------------------------------------------------===//
// The tree of ops
//===----------------------------------------------------------------------===//

static constexpr uint32_t nobody = ~0u;

namespace {
/// The host events of a step as trees by nested intervals, for each thread.
struct Tree {
  std::vector<uint32_t> order;  ///< events by thread and start
  std::vector<uint32_t> parent; ///< by event; `nobody` for roots

  Tree(const Trace &trace, const TracedStep &step)
      : parent(trace.host.size(), nobody) {
    for (auto [i, event] : llvm::enumerate(trace.host))
      if (event.start >= step.start && event.start < step.end &&
          event.kind != HostEvent::Module)
        order.push_back(i);
    llvm::sort(order, [&](uint32_t i, uint32_t j) {
      const HostEvent &a = trace.host[i], &b = trace.host[j];
      return std::make_tuple(a.thread, a.start, -a.duration, a.external, i) <
             std::make_tuple(b.thread, b.start, -b.duration, b.external, j);
    });
    std::vector<uint32_t> open;
    for (uint32_t i : order) {
      const HostEvent &event = trace.host[i];
      while (!open.empty() && (trace.host[open.back()].thread != event.thread ||
                               trace.host[open.back()].end() < event.end() ||
                               trace.host[open.back()].end() <= event.start))
        open.pop_back();
      if (!open.empty())
        parent[i] = open.back();
      open.push_back(i);
    }
  }

  /// The innermost event that `is` holds for, among `i` and its ancestors.
  template <typename Is> uint32_t around(uint32_t i, Is is) const {
    while (i != nobody && !is(i))
      i = parent[i];
    return i;
  }
};
} // namespace

/// The name of an autograd node; empty if the event is none.
static StringRef nodeOf(StringRef name) {
  if (name.consume_front("autograd::engine::evaluate_function: "))
    return name;
  return !name.contains("::") && name.contains("Backward") ? name : "";
}

namespace {
class Builder {
public:
  Builder(const Trace &trace, TracedStep &step)
      : trace(trace), step(step), tree(trace, step),
        productOf(trace.host.size(), nobody),
        holder(trace.host.size(), nobody) {}

  void build() {
    // Parents precede their children.
    for (uint32_t i : tree.order) {
      uint32_t parent = tree.parent[i];
      if (parent != nobody && holder[parent] != nobody)
        ++partsOf[holder[i] = holder[parent]];
      else if (isProductAt(i))
        addProduct(holder[i] = i);
    }
    llvm::sort(step.products, [&](auto &a, auto &b) {
      const HostEvent &one = trace.host[a.event], &other = trace.host[b.event];
      return std::tie(one.start, a.event) < std::tie(other.start, b.event);
    });
    for (auto [i, product] : llvm::enumerate(step.products)) {
      productOf[product.event] = i;
      product.parts = partsOf.lookup(product.event);
    }
    claim();
    addKernels();
    addCounted();
  }

private:
  StringRef nameOf(uint32_t i) const { return trace.names[trace.host[i].name]; }
  bool isOp(uint32_t i) const { return trace.host[i].kind == HostEvent::Op; }

  bool isProductAt(uint32_t i) const {
    return isOp(i) && productKindOf(trace, trace.host[i]).has_value();
  }

  void addProduct(uint32_t i) {
    StringRef name = nameOf(i);
    TracedProduct product;
    product.event = i;
    product.kind = *productKindOf(trace, trace.host[i]);
    product.groups = groupsOf(trace, trace.host[i]);
    EventCost cost = costOf(trace, trace.host[i], resultOf(i));
    // In traces of 2021: an event that contains one for each gradient.
    if (name == "aten::cudnn_convolution_backward" && cost.flop) {
      int parts = 0;
      for (uint32_t j : tree.order)
        if (tree.parent[j] == i)
          parts += nameOf(j) == "aten::cudnn_convolution_backward_input" ||
                   nameOf(j) == "aten::cudnn_convolution_backward_weight";
      cost.weight = *cost.flop;
      cost.flop = *cost.flop * parts;
      cost.counter = *cost.flop;
    }
    product.flop = cost.flop;
    product.elements = cost.elements;
    product.counter = cost.counter;
    product.made = cost.made;
    product.weight = cost.weight;
    product.nanoseconds = trace.host[i].duration;
    uint32_t node =
        tree.around(i, [&](uint32_t i) { return !nodeOf(nameOf(i)).empty(); });
    uint32_t numbered = tree.around(node == nobody ? i : node, [&](uint32_t i) {
      return trace.host[i].sequence >= 0;
    });
    if (numbered != nobody)
      product.sequence = trace.host[numbered].sequence;
    if (node != nobody) {
      product.node = nodeOf(nameOf(node)).str();
      product.region = node;
      product.phase = TracedProduct::Backward;
      // A forward op inside of a backward node is recomputed.
      if (trace.host[i].sequence >= 0) {
        product.phase = TracedProduct::Recompute;
        product.sequence = trace.host[i].sequence;
      }
    }
    if (StringRef phase = ownPhaseOf(trace, trace.host[i]);
        phase == "recompute") {
      product.phase = TracedProduct::Recompute;
    } else if (phase == "input" || phase == "weight") {
      product.phase = TracedProduct::Backward;
      product.isOfWeight = phase == "weight";
    }
    step.products.push_back(std::move(product));
  }

  /// The shape of a convolution's result, for an unknown stride: the shape that
  /// the next op reads first.
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

  /// Assigns the FLOP of torch.profiler to products: those of events around or
  /// inside of a product.
  void claim() {
    llvm::DenseMap<uint32_t, uint32_t>
        below; // first product inside of an event
    for (const TracedProduct &product : step.products)
      for (uint32_t i = tree.parent[product.event]; i != nobody;
           i = tree.parent[i])
        if (!below.try_emplace(i, product.event).second)
          break;
    for (uint32_t i : tree.order) {
      if (!isOp(i))
        continue;
      Rational flop = profilerFlop(trace, trace.host[i]);
      uint32_t event = holder[i];
      if (event == nobody)
        if (auto found = below.find(i); found != below.end())
          event = found->second;
      // Traces of 2021 lack the stride, which the profiler knew.
      if (nameOf(i) == "aten::conv2d" && trace.host[i].values.size == 0 &&
          event != nobody && trace.shape(trace.host[i], 0).size() == 4)
        flop = step.products[productOf[event]].flop.value_or(0);
      if (flop.isZero())
        continue;
      if (event == nobody) {
        step.others.push_back({i, originOf(i), flop});
        continue;
      }
      TracedProduct &product = step.products[productOf[event]];
      product.profiler += flop;
      if (nameOf(i) == "aten::add" || nameOf(i) == "aten::mul")
        product.profilerOther += flop;
    }
  }

  CountedEvent::Origin originOf(uint32_t i) const {
    auto isIn = [&](auto is) {
      return tree.around(i, [&](uint32_t i) { return is(nameOf(i)); }) !=
             nobody;
    };
    if (isIn([](StringRef name) { return name.starts_with("Optimizer."); }))
      return CountedEvent::InOptimizer;
    if (isIn([](StringRef name) {
          return name.contains("_loss") || name.contains("cross_entropy") ||
                 name.contains("NllLoss");
        }))
      return CountedEvent::InLoss;
    if (isIn([](StringRef name) { return name.contains("DataLoader"); }))
      return CountedEvent::InData;
    return CountedEvent::InNetwork;
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  static bool isCommunication(StringRef name) {
    return name.contains("nccl") || name.contains("rccl");
  }

  /// The length of the union of the intervals.
  static int64_t cover(std::vector<std::pair<int64_t, int64_t>> intervals) {
    llvm::sort(intervals);
    int64_t sum = 0, end = INT64_MIN;
    for (auto [from, to] : intervals) {
      from = std::max(from, end);
      if (to > from)
        sum += to - from;
      end = std::max(end, to);
    }
    return sum;
  }

  /// Assigns a kernel to the step and the op that launched it, since the device
  /// may be steps behind.
  void addKernels() {
    if (trace.kernels.empty())
      return;
    for (TracedProduct &product : step.products)
      product.nanoseconds = 0;
    llvm::DenseMap<int64_t, uint32_t> launches;
    bool hasLaunches = false;
    for (auto [i, event] : llvm::enumerate(trace.host))
      if (event.kind == HostEvent::Launch) {
        launches.try_emplace(event.correlation, i);
        hasLaunches = true;
      }
    std::vector<std::pair<int64_t, int64_t>> all, apart;
    double seconds = 0, efficient = 0, occupied = 0;
    Levels &levels = step.levels;
    for (auto [index, kernel] : llvm::enumerate(trace.kernels)) {
      auto launch = launches.find(kernel.correlation);
      bool isLaunched = launch != launches.end();
      int64_t time =
          isLaunched ? trace.host[launch->second].start : kernel.start;
      if ((hasLaunches && !isLaunched && !step.name.empty()) ||
          time < step.start || time >= step.end)
        continue;
      if (kernel.kind != DeviceEvent::Kernel) {
        levels.copies += kernel.duration;
        continue;
      }
      ++levels.kernels;
      levels.sum += kernel.duration;
      all.push_back({kernel.start, kernel.end()});
      if (!isCommunication(trace.names[kernel.name]))
        apart.push_back(all.back());
      if (kernel.blocksPerSm >= 0 && kernel.occupancy >= 0) {
        seconds += kernel.duration;
        efficient += kernel.duration * std::min(1.f, kernel.blocksPerSm);
        occupied += double(kernel.duration) * kernel.occupancy / 100;
      }
      uint32_t event = isLaunched ? holder[launch->second] : nobody;
      StepKernel &added =
          step.kernels.emplace_back(StepKernel{uint32_t(index), std::nullopt});
      if (event == nobody)
        continue;
      added.product = productOf[event];
      TracedProduct &product = step.products[productOf[event]];
      ++product.kernels;
      product.nanoseconds += kernel.duration;
    }
    levels.unionOfAll = cover(std::move(all));
    levels.withoutCommunication = cover(std::move(apart));
    if (seconds > 0) {
      levels.smEfficiency = efficient / seconds;
      levels.occupancy = occupied / seconds;
    }
  }

  /// Assigns counted kernels, which have no time and no correlation, to
  /// launches in order, if there are as many.
  void addCounted() {
    std::vector<uint32_t> launches;
    for (auto [i, event] : llvm::enumerate(trace.host))
      if (event.kind == HostEvent::Launch &&
          trace.names[event.name].contains("LaunchKernel"))
        launches.push_back(i);
    if (launches.size() != trace.counted.size())
      return;
    llvm::stable_sort(launches, [&](uint32_t i, uint32_t j) {
      return trace.host[i].start < trace.host[j].start;
    });
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
  Tree tree;
  std::vector<uint32_t>
      productOf; ///< by event: index into TracedStep::products
  /// By event: the outermost product that contains it.
  std::vector<uint32_t> holder;
  llvm::DenseMap<uint32_t, unsigned> partsOf; ///< number of events in a product
};
} // namespace

TracedStep netc::audit::traceStep(const Trace &trace) {
  TracedStep step;
  chooseStep(trace, step);
  Builder(trace, step).build();
  return step;
}
