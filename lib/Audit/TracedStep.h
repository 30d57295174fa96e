// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_TRACEDSTEP_H
#define NETC_LIB_AUDIT_TRACEDSTEP_H

#include "dialect/Rational.h"
#include "lib/Trace/Trace.h"

#include <array>

namespace netc::audit {

/// Elements of the operands and of the result of a product, sorted: with its
/// FLOP they tell its shape, whatever the order of axes is.
using Elements = std::array<Rational, 3>;

/// What a product multiplies; of two kinds, none stands for the other.
enum class ProductKind : uint8_t { Matrices, Windows, Attention, Recurrence };

/// A matrix product, a convolution or the like that a trace has: the outermost
/// event of it, and what lies below.
struct TracedProduct {
  enum Phase { Forward, Backward, Recompute };
  uint32_t event; ///< of Trace::host
  Phase phase = Forward;
  ProductKind kind = ProductKind::Matrices;
  /// By its own shapes, 2 a multiply-add; none where the trace has none.
  std::optional<Rational> flop;
  Elements elements;
  std::optional<Rational> made, weight; ///< see EventCost
  std::optional<bool> isOfWeight;       ///< of a gradient, if the trace says it
  int64_t groups = 1;                   ///< of a convolution
  int64_t sequence = -1; ///< of its node of autograd; of a backward one, too
  std::string node;      ///< the name of the node that it runs in, if it does
  uint32_t region = 0;   ///< the event of that node
  /// What torch.profiler and FlopCounterMode count of it.
  Rational profiler, counter;
  /// The part of `profiler` that is of additions and scalings around it.
  Rational profilerOther;
  unsigned parts = 0; ///< events of ops in it
  unsigned kernels = 0;
  int64_t nanoseconds = 0; ///< of its kernels, or of itself without a device
};

/// What torch.profiler counts of an op that is no product.
struct CountedEvent {
  enum Place { InNetwork, InLoss, InOptimizer, InData };
  uint32_t event; ///< of Trace::host
  Place place;
  Rational flop;
};

/// A kernel, and the product that launched it.
struct StepKernel {
  uint32_t kernel;                 ///< of Trace::kernels
  std::optional<uint32_t> product; ///< of TracedStep::products
};

/// Shares of the time of the step.
struct Levels {
  unsigned kernels = 0;
  int64_t sum = 0, unionOfAll = 0, withoutCommunication = 0, copies = 0; ///< ns
  /// The profiler's estimates, weighted by time; none where it gave none.
  std::optional<double> smEfficiency, occupancy; ///< of the time of kernels
};

/// A step of a trace.
struct TracedStep {
  std::string name; ///< `ProfilerStep#6`; empty if the trace is one step
  size_t steps = 1; ///< that the trace has
  int64_t start = 0, end = 0;          ///< nanoseconds
  std::vector<TracedProduct> products; ///< in the order of their starts
  std::vector<CountedEvent> others;
  std::vector<StepKernel> kernels; ///< in the order of the trace
  std::vector<StepKernel> counted; ///< likewise, of Trace::counted
  Levels levels;

  int64_t duration() const { return end - start; }
};

/// Takes the step of median length, and nests its ops.
TracedStep traceStep(const trace::Trace &trace);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_TRACEDSTEP_H
