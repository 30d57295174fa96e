// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_TRACEDSTEP_H
#define NETC_LIB_AUDIT_TRACEDSTEP_H

#include "lib/Audit/EventCost.h"
#include "lib/Trace/Trace.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <memory>

namespace netc::audit {

/// Kinds of products; Windows are convolutions. A single product without known
/// FLOP matches only its own kind.
enum class ProductKind : uint8_t { Matrices, Windows, Attention, Recurrence };

/// The most gradients that one product has in its node of autograd. A node with
/// more is a compiled function.
constexpr unsigned kMostGradients = 2;

/// What torch.profiler counts for a product.
struct ProfilerCount {
  /// None if shapes that it needs are missing.
  std::optional<Rational> flop = Rational();
  /// The part of `flop` for additions and scalings around the product.
  Rational other;
  /// The largest part of `flop` for one event.
  Rational largest;
};

/// A product of a trace: the outermost event of a matrix product, a convolution
/// or similar.
struct TracedProduct {
  enum Phase { Forward, Backward, Recompute, Update, Data };
  uint32_t event; ///< index into Trace::host
  /// The event that the cost is of: under `vmap`, that of all examples inside.
  uint32_t costEvent = 0;
  Phase phase = Forward;
  ProductKind kind = ProductKind::Matrices;
  /// Its FLOP by the shapes in the trace, what FlopCounterMode counts for it,
  /// and its sizes. Equal products share it.
  std::shared_ptr<const EventCost> cost;
  /// FLOP of what this rank computes of it, a product of DTensors. None if it
  /// computes all.
  std::optional<Rational> ofShard;
  /// The shape of the first operand, as the outermost op around the product has
  /// it: `aten::linear` hands examples and positions on as rows of one matrix.
  llvm::ArrayRef<int64_t> operand;
  /// Of a gradient of matrices: whether it is that of a weight, by strides; see
  /// transposesFirst().
  std::optional<bool> isOfWeight;
  int64_t sequence = -1; ///< of its node of autograd; of a backward one, too
  /// Of netc's programs: the op of the specification, and `forward`, `input`,
  /// `weight`, `recompute`.
  llvm::StringRef name, ownPhase;
  llvm::StringRef node; ///< name of the backward node it runs in, if any
  uint32_t region = 0;  ///< event of that node
  /// The event of the node around it that recomputes products, if any: of a
  /// checkpoint within another.
  std::optional<uint32_t> outerRegion;
  /// The modules and user's ranges around it, outermost first:
  /// `Encoder_0/layer1/Linear_3`.
  std::string path;
  /// The innermost module around it, or the block in netc's own traces. Not a
  /// user's range, which may have the name of a machine or of a job.
  llvm::StringRef layer;
  /// What torch.profiler counts for it. Equal products share it.
  std::shared_ptr<const ProfilerCount> profiler;
  unsigned parts = 0; ///< number of events inside
  /// How many products of a specification it is: a fused kernel of attention is
  /// two.
  unsigned specified() const { return kind == ProductKind::Attention ? 2 : 1; }
  /// Whether an op that computes lies between it and the product before it on
  /// its thread, whose result it may read.
  bool isApart = false;
  /// Whether its node of autograd runs several times, and this is a run beside
  /// the one with most gradients; see findRunAgain().
  bool isRunAgain = false;
  /// Whether the op began but did not run: recomputation stops when it has all
  /// that it needs, and does not compute what is saved.
  bool isStopped = false;
  unsigned kernels = 0;
  int64_t nanoseconds = 0; ///< of its kernels, or of the op without a device

  bool isNamed() const { return !name.empty(); }
  /// FLOP of what ran; none if they are not known.
  std::optional<Rational> ran() const { return ofShard ? ofShard : cost->flop; }
  /// A copy of the cost that no other product shares.
  EventCost &ownCost() {
    auto own = std::make_shared<EventCost>(*cost);
    cost = own;
    return *own;
  }
};

/// An op that is not a product, but has FLOP by torch.profiler.
struct CountedEvent {
  enum Origin { InNetwork, InLoss, InOptimizer, InData };
  uint32_t event; ///< index into Trace::host
  Origin origin;
  Rational flop;
};

/// A kernel, and the product whose op launched it.
struct StepKernel {
  uint32_t kernel;                 ///< index into Trace::kernels
  std::optional<uint32_t> product; ///< index into TracedStep::products
};

/// Times of kernels in ns: their sum, and their union over streams.
struct KernelTimes {
  unsigned kernels = 0;
  int64_t sum = 0, unionOfAll = 0, withoutCommunication = 0;
};

/// Times of the kernels of one device.
struct DeviceTimes : KernelTimes {
  int32_t device = 0; ///< its number in the trace
};

/// Times of a step's kernels, summed over devices, and their activity.
struct Levels : KernelTimes {
  int64_t copies = 0;               ///< ns
  std::vector<DeviceTimes> devices; ///< those that ran kernels, by number
  /// Kineto's estimates, weighted by the time of kernels; none if it gave none.
  std::optional<double> smEfficiency, occupancy;
};

/// A step of a trace.
struct TracedStep {
  std::string name;        ///< `ProfilerStep#6`; empty if the trace is one step
  size_t steps = 1;        ///< complete steps in the trace, or repeated passes
  size_t cutSteps = 0;     ///< steps that the profiler saw only a part of
  bool isAskedFor = false; ///< by name or times
  bool hasTimes = true;    ///< else times tell only the order of ops
  int64_t start = 0, end = 0; ///< ns, on the host
  /// From the start of the first kernel to the end of the last, ns.
  int64_t kernelsStart = 0, kernelsEnd = 0;
  std::vector<TracedProduct> products; ///< by start
  std::vector<CountedEvent> others;
  /// Events of compiled graphs that show no op that computes.
  std::vector<uint32_t> hiddenGraphs;
  /// Events that torch.profiler drops: each is all of one with the same name.
  llvm::DenseSet<uint32_t> dropped;
  std::vector<StepKernel> kernels; ///< in the order of the trace
  std::vector<StepKernel> counted; ///< the same for Trace::counted
  Levels levels;
  size_t unlaunched = 0; ///< kernels without a launch, whose step is unknown
  /// The most bytes allocated at once, on the device if there are such
  /// allocations. None if the trace has no allocations.
  std::optional<int64_t> memory;

  /// Whether it is of a program of netc, which names its products.
  bool isNamed() const {
    return llvm::any_of(products, [](const TracedProduct &product) {
      return product.isNamed();
    });
  }
  /// Whether the kernels take longer than the host, which runs ahead of them.
  bool isLongerOnDevice() const {
    return kernelsEnd - kernelsStart > end - start;
  }
  /// The time of the step in ns, on the host or on the device, whichever is
  /// longer. 0 without times.
  int64_t duration() const {
    if (!hasTimes)
      return 0;
    return isLongerOnDevice() ? kernelsEnd - kernelsStart : end - start;
  }
  /// The duration times the number of devices, ns.
  int64_t deviceTime() const {
    int64_t time;
    return llvm::MulOverflow<int64_t>(
               duration(), std::max<size_t>(levels.devices.size(), 1), time)
               ? INT64_MAX
               : time;
  }
};

/// The events of Trace::host that launch kernels, by start.
std::vector<uint32_t> kernelLaunches(const trace::Trace &trace);

/// Finds launches by their correlation with what they launched.
class Launches {
public:
  explicit Launches(const trace::Trace &trace);

  bool empty() const { return launches.empty(); }
  /// The first such event of Trace::host; none if there is none.
  std::optional<uint32_t> find(int64_t correlation) const;

private:
  /// Sorted by correlation. Not a map, since there may be millions.
  std::vector<std::pair<int64_t, uint32_t>> launches;
};

/// Takes a step and nests its ops. Of several it is the one of median length:
/// of those that are complete and marked `ProfilerStep#K`, else of those that
/// end where an optimizer has stepped; else all of the trace is one.
TracedStep traceStep(const trace::Trace &trace);

/// The same for another step: K of a marked one, the name of a user's range
/// (the median one of several), or `10ms-25ms` since the trace begins. Fails if
/// there is no such step.
llvm::Expected<TracedStep> traceStep(const trace::Trace &trace,
                                     llvm::StringRef range);

/// The same from `op` to the end of `last` and of all ops, with the ranges
/// around `op` that began after `before`, an earlier op.
TracedStep traceStepFrom(const trace::Trace &trace, const trace::HostEvent &op,
                         const trace::HostEvent &before,
                         const trace::HostEvent &last);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_TRACEDSTEP_H
