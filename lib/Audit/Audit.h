// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_AUDIT_H
#define NETC_LIB_AUDIT_AUDIT_H

#include "lib/Audit/Levels.h"
#include "lib/Audit/Match.h"

#include <deque>

namespace netc::audit {

struct Rule;

/// A tool's count of the step.
struct Claim {
  std::string id;         ///< `torch.profiler`
  llvm::StringRef member; ///< its name in `expect`
  std::string source; ///< `recomputed` by its formulas, `given`, or `counters`
  /// Whether the tool rounds, so that differences of up to 0.1 % are ignored.
  bool isRounded = false;
  Rational total = {};
  /// The part of `total` for rows whose FLOP are unknown.
  Rational ofUnknown = {};
  /// Whether it has half of the exact FLOP of every product.
  bool isHalf = false;
  /// Whether kernels lack a counter beside others: the total is at least this.
  bool isPartial = false;

  bool isMeasured() const { return source == "counters"; }
};

struct Row;

/// A rule, and the part of a difference that it explains.
struct Explanation {
  const Rule *rule;
  Rational difference;

  bool operator==(const Explanation &other) const {
    return rule == other.rule && difference == other.difference;
  }
};

/// A claim's count of a row.
struct RowClaim {
  Rational flop;
  /// The part of `flop` for additions and scalings beside the product.
  Rational other;
  /// The part of `flop` for ops inside of another one that counts.
  Rational inner;
  /// Whether the trace lacks shapes that the tool's formula needs.
  bool isUnknown = false;
  /// The rules that explain the difference to the exact count; two if only both
  /// together do. Empty if the counts are equal, or if the difference is
  /// unexplained.
  std::vector<Explanation> rules;

  /// Whether it differs from the FLOP of the model, if both are known.
  bool differs(const Row &row) const;
  bool isUnexplained(const Row &row) const {
    return differs(row) && rules.empty();
  }
};

/// A product of the step in one phase, in the specification and in the trace.
struct Row {
  std::string layer; ///< of the specification; without one, the trace's modules
  std::string op;
  llvm::StringRef phase; ///< `forward`, `input`, `weight`, `input+weight`, ..
  Confidence confidence = Confidence::None;
  /// FLOP by the specification, and their parts for the gradients of inputs and
  /// of weights.
  Rational exact, input, weight;
  Rational ran;    ///< see SpecifiedProduct
  Rational traced; ///< FLOP by the shapes in the trace, of what ran
  /// The part that this rank computes of a product of DTensors, else 1. It is
  /// in all the FLOP above.
  Rational shard = 1;
  Elements elements;
  /// FLOP of the gradient of a recurrence's initial state.
  Rational firstState;
  /// FLOP of gradients of data that an op of a recurrence computes, and that
  /// nothing needs.
  Rational ofData;
  int64_t groups = 1;
  bool isStopped = false, isRunAgain = false; ///< see TracedProduct
  /// Whether neither the specification nor the shapes in the trace tell its
  /// FLOP.
  bool isUnknown = false;
  /// Whether it is the gradient of fused attention, which recomputes the
  /// scores.
  bool isFusedAttention = false;
  /// Whether the gradient of its input is in another row.
  bool hasInputGradient = false;
  bool isSpecified = false, isTraced = false;
  /// The origin of ops that are not products of the network: an addition, a
  /// loss, an optimizer. None for a product.
  std::optional<CountedEvent::Origin> other;
  llvm::SmallVector<unsigned, 2>
      products; ///< indices into TracedStep::products
  unsigned kernels = 0, parts = 0;
  unsigned joinedKernels = 0; ///< those of `kernels` with counters
  int64_t nanoseconds = 0;
  bool hasOtherAlgorithm = false,
       usesMatrixUnits = false;    ///< by names or levels of its kernels
  std::optional<unsigned> forward; ///< index of the forward product's row
  std::shared_ptr<const UnitLevels> levels; ///< from joined counters, or null
  std::vector<RowClaim> claims;             ///< parallel to Audit::claims

  /// The part of `exact` that the model needs: nothing is run again.
  Rational model() const { return phase == "recompute" ? Rational() : exact; }
  bool isGradient() const {
    return phase == "input" || phase == "weight" || phase == "input+weight";
  }
};

inline bool RowClaim::differs(const Row &row) const {
  return !row.isUnknown && !isUnknown && flop != row.model();
}

/// FLOP of the specification, by the confidence of their match.
struct Coverage {
  std::array<Rational, 4> flop; ///< FLOP by Confidence
  /// The matched share of the time of the trace's products; none if they take
  /// no time.
  std::optional<double> time;

  Rational total() const { return flop[0] + flop[1] + flop[2] + flop[3]; }
  Rational matched() const { return flop[0] + flop[1] + flop[2]; }
  /// The matched share of FLOP, from 0 to 1; 1 if there are none.
  Rational share() const {
    return total().isZero() ? Rational(1) : matched() / total();
  }
};

/// The kernels of a step that have the same name.
struct KernelRow {
  std::string name; ///< without the arguments of templates and calls
  unsigned launches = 0;
  int64_t nanoseconds = 0;
  std::shared_ptr<const UnitLevels> levels; ///< from joined counters, or null
};

/// How many kernels of a step, and which share of their time, were joined with
/// counters of another run.
struct JoinedCounters {
  size_t kernels = 0, all = 0;   ///< kernels of the step: joined, and all
  size_t counted = 0, whole = 0; ///< counted kernels: joined, and all
  double time = 0;               ///< share of the time of the step's kernels
};

/// An op or kernel that may multiply, but is in no count: its FLOP are unknown.
struct Unknown {
  std::string name; ///< of an op, or of a kernel that no product launched
  bool isKernel = false;
  unsigned times = 0;
  int64_t nanoseconds = 0;
};

/// A remark on the audit.
struct Note {
  std::string id; ///< id; that of the rule, if it is about one
  std::string text;
};

/// Where the products of specification and trace first differ, with neighbours.
struct Divergence {
  std::vector<std::string> specified, traced;
};

/// What an audit gets in addition to the trace and the run.
struct Question {
  /// Counts of tools.
  std::vector<const trace::Trace *> counts;
  /// Hardware counters of the same step from another run; null if there are
  /// none.
  const trace::Trace *counters = nullptr;
  /// The number of examples to count for. By default, that of the trace.
  std::optional<Rational> batch;
  /// The name of the range that is the step; see traceStep.
  std::string range;
};

/// A step of a trace, compared with that of a specification.
struct Audit {
  const trace::Trace *trace = nullptr;
  std::string file; ///< file name without folders
  TracedStep step;
  const Run *run = nullptr;      ///< null without a specification
  Sizes sizes;                   ///< of free axes, from the trace
  std::optional<Rational> asked; ///< see Question::batch
  bool hasBackward = false;      ///< whether gradients are compared
  /// The sizes of the forward and backward passes whose gradients are
  /// accumulated; one if it is one. `sizes` are those of the first.
  std::vector<Sizes> passes;
  std::vector<Claim> claims;
  std::vector<Row> rows;
  std::vector<KernelRow> kernels; ///< longest time first
  std::vector<Unknown> unknown;   ///< longest time first
  Coverage coverage;
  /// Bytes that the specification needs on a device at these sizes; none if a
  /// size is unknown.
  std::optional<Rational> memory;
  Gpu gpu;
  /// Of the step, if there are counters or samples.
  std::optional<SummedLevels> levels;
  /// Set if counters of another run were given.
  std::optional<JoinedCounters> joined;
  std::optional<Divergence> divergence;
  std::vector<Note> notes;

  /// The examples of the step; none if it has no axis of the batch.
  std::optional<Rational> examples() const {
    auto size = sizes.find(kBatchAxis.str());
    if (size == sizes.end())
      return std::nullopt;
    Rational sum;
    for (const Sizes &pass : passes)
      if (auto own = pass.find(kBatchAxis.str()); own != pass.end())
        sum += own->second;
    return passes.empty() ? size->second : sum;
  }

  /// Whether the trace has gradients, and the run none.
  bool lacksGradients() const { return run && run->isInference && hasBackward; }
  /// How well the run fits, to choose among several. First, whether it has
  /// gradients if the trace has; then the matched share of its FLOP times that
  /// of the trace's FLOP; then whether both have gradients, or neither.
  std::tuple<bool, double, bool> fit() const;

  /// Whether the trace has counters of kernels, but neither a timeline nor ops.
  /// Then `kernels` and `levels` are those under the counting tool.
  bool hasCountersAlone() const {
    return trace->host.empty() && trace->kernels.empty() &&
           !trace->counted.empty();
  }
  /// Whether the trace has only the sums of a timeline, whose kernels ran as in
  /// training.
  bool hasSumsAlone() const {
    return hasCountersAlone() && trace->format == "nsys-stats";
  }
  /// The time that shares of time refer to, in ns: that of the step on all
  /// devices, or that of all counted kernels.
  int64_t wholeTime() const {
    return hasCountersAlone() ? (levels ? levels->kernelTime : 0)
                              : step.deviceTime();
  }

  /// The kernel time of a row as a share of the step, summed over streams and
  /// averaged over devices. None for a row without kernels.
  std::optional<double> shareOfStep(const Row &row) const {
    return row.kernels && step.levels.kernels && step.duration() > 0
               ? std::optional(double(row.nanoseconds) /
                               double(step.deviceTime()))
               : std::nullopt;
  }

  /// The number of rows for which the shapes or the counters do not tell a
  /// claim's count.
  size_t rowsUnknownTo(size_t claim) const {
    return llvm::count_if(
        rows, [&](const Row &row) { return row.claims[claim].isUnknown; });
  }

  /// By product of the step, its row; null if it has none. Adding a row
  /// invalidates the pointers.
  std::vector<Row *> rowsOfProducts();
  /// Adds a row for FLOP that a claim has of ops that are not products.
  void addOther(size_t claim, const Rational &flop, std::string op);

  /// FLOP of the specification in the compared phases, without (model) and with
  /// recomputation (hardware).
  Rational model, hardware;
  /// The same for the batch of the trace, whatever batch was asked for.
  Rational ranModel, ranHardware;
  /// Whether enough FLOP are matched to compare totals.
  bool isComparable() const {
    return coverage.share() >= Rational::fraction(9, 10);
  }
};

/// Compares a step of a trace with a run of a specification, or counts it alone
/// if `run` is null. Fails if nothing matches.
llvm::Expected<Audit> audit(const trace::Trace &trace, llvm::StringRef file,
                            const Run *run, const Question &question = {});

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_AUDIT_H
