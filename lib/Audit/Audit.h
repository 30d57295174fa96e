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

/// Who counted a step, beside netc.
struct Claim {
  std::string id;         ///< `torch.profiler`
  llvm::StringRef member; ///< by which an `expect` asks for it
  std::string source; ///< `recomputed` by its formulas, `given`, or `counters`
  /// It may round: a difference of one in a thousand is none.
  bool isRounded = false;
  Rational total;
  /// Every product has half of what is exact.
  bool isHalf = false;

  bool isMeasured() const { return source == "counters"; }
};

/// What a claim has for a row.
struct RowClaim {
  Rational flop;
  /// The part of `flop` that is of additions and scalings beside the product.
  Rational other;
  /// What makes the difference to the exact count, where there is one; two, if
  /// it takes both. Empty and not equal: unexplained.
  llvm::SmallVector<const Rule *, 2> rules;
};

/// A product of the step, in one phase, on both sides.
struct Row {
  std::string layer; ///< of the specification; of a trace alone, of its modules
  std::string op;
  std::string phase; ///< `forward`, `input`, `weight`, `input+weight`, ..
  Confidence confidence = Confidence::None;
  /// By the specification; the parts of it that are gradients of inputs and of
  /// weights.
  Rational exact, input, weight;
  Rational traced; ///< by the shapes in the trace
  Elements elements;
  Rational made;
  /// What the gradient of the first state of a recurrence would cost.
  Rational firstState;
  int64_t groups = 1;
  /// It began and never ran: what is run again stops when it has all.
  bool isStopped = false;
  /// Gradients of attention whose scores are made again.
  bool isFusedAttention = false;
  bool isSpecified = false, isTraced = false;
  /// It is no product of the network: an addition, a loss, an optimizer.
  std::optional<CountedEvent::Place> other;
  llvm::SmallVector<unsigned, 2> products; ///< of TracedStep::products
  unsigned kernels = 0, parts = 0;
  int64_t nanoseconds = 0;
  bool hasOtherAlgorithm = false,
       usesMatrixUnits = false;     ///< by kernels' names
  std::optional<unsigned> forward;  ///< row of the forward product
  std::optional<UnitLevels> levels; ///< of its kernels, by joined counters
  std::vector<RowClaim> claims;     ///< beside Audit::claims

  bool isGradient() const {
    return phase == "input" || phase == "weight" || phase == "input+weight";
  }
};

/// Shares of the FLOP of the specification, by how sure their match is.
struct Coverage {
  std::array<Rational, 4> flop; ///< by Confidence, in FLOP
  /// Of the time that products of the trace take.
  double time = 0;

  Rational total() const { return flop[0] + flop[1] + flop[2] + flop[3]; }
  Rational matched() const { return flop[0] + flop[1] + flop[2]; }
  /// Of 1; 1 of nothing.
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

/// What is to be said beside the rows.
struct Note {
  std::string id; ///< that of a rule, where it is one
  std::string text;
};

/// Where the two sequences part, with what stands around it.
struct Divergence {
  std::vector<std::string> specified, traced;
};

struct Question {
  /// What tools counted, handed in beside the trace.
  std::vector<const trace::Trace *> counts;
  /// Counters of the same step under another tool; null without.
  const trace::Trace *counters = nullptr;
  /// Examples that are counted; those of the trace, if none.
  std::optional<Rational> batch;
  /// The step that is taken; see traceStep.
  std::string range;
};

/// A step of a trace beside that of a specification.
struct Audit {
  const trace::Trace *trace = nullptr;
  std::string file; ///< the last part of its path
  TracedStep step;
  const Run *run = nullptr;      ///< null without a specification
  Sizes sizes;                   ///< of free axes, as the trace has them
  std::optional<Rational> asked; ///< see Question::batch
  bool hasBackward = false;      ///< gradients are compared
  std::vector<Claim> claims;
  std::vector<Row> rows;
  std::vector<KernelRow> kernels; ///< those that take most time first
  Coverage coverage;
  /// Bytes that the specification holds at these sizes, on a device; none where
  /// a size is not known.
  std::optional<Rational> memory;
  Gpu gpu;
  /// Of the step, where counters were handed in.
  std::optional<SummedLevels> levels;
  std::optional<Divergence> divergence;
  std::vector<Note> notes;

  /// FLOP of the specification, in the phases that are compared, without what
  /// is run again, and with it.
  Rational model, hardware;
  /// Whether enough is matched to compare totals.
  bool isComparable() const {
    return coverage.share() >= Rational::fraction(9, 10);
  }
};

/// A claim is the sum over all rows. Fails if nothing matches.
llvm::Expected<Audit> audit(const trace::Trace &trace, llvm::StringRef file,
                            const Run *run, const Question &question = {});

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_AUDIT_H
