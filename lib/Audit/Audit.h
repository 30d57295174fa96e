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

/// A tool that counted the step, in addition to netc.
struct Claim {
  std::string id;         ///< `torch.profiler`
  llvm::StringRef member; ///< its name in an `expect`
  std::string source; ///< `recomputed` by its formulas, `given`, or `counters`
  /// Whether it rounds. Then differences of up to 0.1 % are ignored.
  bool isRounded = false;
  Rational total;
  /// Whether every product has half of the exact FLOP.
  bool isHalf = false;

  bool isMeasured() const { return source == "counters"; }
};

struct Row;

/// The count of a claim for a row.
struct RowClaim {
  Rational flop;
  /// FLOP of `flop` for additions and scalings next to the product.
  Rational other;
  /// Whether shapes are missing that tell what the tool counts.
  bool isUnknown = false;
  /// The rules that explain the difference to the exact count; two if both are
  /// needed. Empty if the counts are equal, or if the difference is
  /// unexplained.
  llvm::SmallVector<const Rule *, 2> rules;

  /// Whether it is not the exact count, where that is known.
  bool differs(const Row &row) const;
  bool isUnexplained(const Row &row) const {
    return differs(row) && rules.empty();
  }
};

/// A product of the step in one phase, in the specification and in the trace.
struct Row {
  std::string
      layer; ///< of the specification, or the trace's modules without one
  std::string op;
  std::string phase; ///< `forward`, `input`, `weight`, `input+weight`, ..
  Confidence confidence = Confidence::None;
  /// By the specification; and the shares of gradients of inputs and of
  /// weights.
  Rational exact, input, weight;
  Rational ran;    ///< see SpecifiedProduct
  Rational traced; ///< by the shapes in the trace
  Elements elements;
  Rational made;
  /// FLOP that the gradient of a recurrence's first state would take.
  Rational firstState;
  int64_t groups = 1;
  bool isStopped = false; ///< see TracedProduct
  /// Neither the specification nor the shapes in the trace tell its FLOP.
  bool isUnknown = false;
  /// Gradients of attention that recompute the scores.
  bool isFusedAttention = false;
  bool isSpecified = false, isTraced = false;
  /// Set for ops that are no product of the network: an addition, a loss, an
  /// optimizer.
  std::optional<CountedEvent::Origin> other;
  llvm::SmallVector<unsigned, 2>
      products; ///< indices into TracedStep::products
  unsigned kernels = 0, parts = 0;
  unsigned joinedKernels = 0; ///< of `kernels`, those that have counters
  int64_t nanoseconds = 0;
  bool hasOtherAlgorithm = false,
       usesMatrixUnits = false;     ///< by the names of its kernels
  std::optional<unsigned> forward;  ///< row of the forward product
  std::optional<UnitLevels> levels; ///< of its kernels, from joined counters
  std::vector<RowClaim> claims;     ///< parallel to Audit::claims

  bool isGradient() const {
    return phase == "input" || phase == "weight" || phase == "input+weight";
  }
};

inline bool RowClaim::differs(const Row &row) const {
  return !row.isUnknown && !isUnknown && flop != row.exact;
}

/// Shares of the specification's FLOP, by the confidence of their match.
struct Coverage {
  std::array<Rational, 4> flop; ///< FLOP by Confidence
  /// Share of the time of the trace's products; none if they take none.
  std::optional<double> time;

  Rational total() const { return flop[0] + flop[1] + flop[2] + flop[3]; }
  Rational matched() const { return flop[0] + flop[1] + flop[2]; }
  /// Between 0 and 1; 1 if there are no FLOP.
  Rational share() const {
    return total().isZero() ? Rational(1) : matched() / total();
  }
};

/// The kernels of a step that bear one name.
struct KernelRow {
  std::string name; ///< without the arguments of templates and calls
  unsigned launches = 0;
  int64_t nanoseconds = 0;
  std::optional<UnitLevels> levels; ///< by joined counters
};

/// How much of a step counters were joined with.
struct JoinedCounters {
  size_t kernels = 0, all = 0;   ///< of the step, and all that it has
  size_t counted = 0, whole = 0; ///< of the kernels that were counted, and all
  double time = 0;               ///< share of the time of the step's kernels
};

/// What may multiply, and is in no count: its FLOP are not known.
struct Unknown {
  std::string name; ///< of an op, or of a kernel that no product launched
  bool isKernel = false;
  unsigned times = 0;
  int64_t nanoseconds = 0;
};

/// What is to be said beside the rows.
struct Note {
  std::string id; ///< id of the rule, if it is about one
  std::string text;
};

/// Where the two sequences of products diverge, with neighbours.
struct Divergence {
  std::vector<std::string> specified, traced;
};

struct Question {
  /// Counts of tools that were given in addition to the trace.
  std::vector<const trace::Trace *> counts;
  /// Counters of the same step from another tool; null if there are none.
  const trace::Trace *counters = nullptr;
  /// The number of examples to count for; none for that of the trace.
  std::optional<Rational> batch;
  /// The step that is taken; see traceStep.
  std::string range;
};

/// A step of a trace, compared with that of a specification.
struct Audit {
  const trace::Trace *trace = nullptr;
  std::string file; ///< file name without folders
  TracedStep step;
  const Run *run = nullptr;      ///< null without a specification
  Sizes sizes;                   ///< of free axes in the trace
  std::optional<Rational> asked; ///< see Question::batch
  bool hasBackward = false;      ///< whether gradients are compared
  /// Passes forward and backward of the step, whose gradients are added up.
  /// `sizes` are those of one.
  size_t microBatches = 1;
  std::vector<Claim> claims;
  std::vector<Row> rows;
  std::vector<KernelRow> kernels; ///< those that take most time first
  std::vector<Unknown> unknown;   ///< those that take most time first
  Coverage coverage;
  /// Bytes that the specification holds at these sizes, on a device; none where
  /// a size is not known.
  std::optional<Rational> memory;
  Gpu gpu;
  /// Of the step, if counters were given.
  std::optional<SummedLevels> levels;
  /// If counters of another run were.
  std::optional<JoinedCounters> joined;
  std::optional<Divergence> divergence;
  std::vector<Note> notes;

  /// Examples of the step; none if the batch is not a size of it.
  std::optional<Rational> examples() const {
    auto size = sizes.find(kBatchAxis.str());
    return size == sizes.end()
               ? std::nullopt
               : std::optional(size->second * Rational(int64_t(microBatches)));
  }

  /// How well the run fits, to choose among several: the share of its FLOP that
  /// the trace has, times the share of the trace's that it has; then whether it
  /// has gradients where the trace has.
  std::pair<double, bool> fit() const;

  /// Whether the trace has counters of kernels, and neither their times in a
  /// step nor ops. Then `kernels` and `levels` are by the counting tool.
  bool hasCountersAlone() const {
    return trace->host.empty() && trace->kernels.empty() &&
           !trace->counted.empty();
  }
  /// Whether these are the sums of a timeline that ran as in training.
  bool hasSumsAlone() const {
    return hasCountersAlone() && trace->format == "nsys-stats";
  }
  /// What shares of time are of: the step, on each of its devices, or all
  /// counted kernels; ns.
  int64_t wholeTime() const {
    return hasCountersAlone() ? (levels ? levels->kernelTime : 0)
                              : step.deviceTime();
  }

  /// The share of the step with kernels of a row, as a sum over streams and a
  /// mean over devices. None of a row without kernels.
  std::optional<double> shareOfStep(const Row &row) const {
    return row.kernels && step.levels.kernels && step.duration() > 0
               ? std::optional(double(row.nanoseconds) /
                               double(step.deviceTime()))
               : std::nullopt;
  }

  /// The number of rows whose shapes do not tell what a claim has of them.
  size_t rowsUnknownTo(size_t claim) const {
    return llvm::count_if(
        rows, [&](const Row &row) { return row.claims[claim].isUnknown; });
  }

  /// By product of the step; null where it is in no row.
  std::vector<Row *> rowsOfProducts();
  /// Adds a row of FLOP that a claim has of ops that are no products.
  void addOther(size_t claim, const Rational &flop, std::string op);

  /// FLOP of the specification in the compared phases, without and with
  /// recomputation.
  Rational model, hardware;
  /// The same for the batch of the trace: what ran in its time.
  Rational ranModel, ranHardware;
  /// Whether enough is matched to compare totals.
  bool isComparable() const {
    return coverage.share() >= Rational::fraction(9, 10);
  }
};

/// Compares a step of a trace with the specification. Claims are sums over all
/// rows. Fails if nothing matches.
llvm::Expected<Audit> audit(const trace::Trace &trace, llvm::StringRef file,
                            const Run *run, const Question &question = {});

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_AUDIT_H
