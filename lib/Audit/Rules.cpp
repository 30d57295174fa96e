// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Rules.h"

using namespace netc;
using namespace netc::audit;

using Explained = std::optional<Rational>;

static Explained when(bool holds, Rational difference) {
  return holds ? Explained(difference) : std::nullopt;
}

/// The claim divided by the exact count; 0 if that is no integer.
static Rational timesOf(const Subject &of) {
  Rational times =
      of.row.exact.isZero() ? Rational() : of.has.flop / of.row.exact;
  return times.isInteger() ? times : Rational();
}

/// Whether the claim is right for the shapes in the trace, which differ from
/// those of the specification.
static bool isAsTraced(const Subject &of) {
  return of.has.flop == of.row.traced && of.row.traced != of.row.exact;
}

static bool hasBatchOfItsOwn(const Subject &of) {
  std::optional<Rational> examples = of.audit.examples();
  return of.audit.run && examples && of.audit.asked &&
         *of.audit.asked != *examples;
}

static Rational share(int64_t one, int64_t of) {
  return Rational::fraction(one, of);
}

static const Rule rules[] = {
    // First, since two batches may differ by the factor of another rule.
    {"batch", "the trace has another batch than is asked for",
     [](const Subject &of) {
       return when(hasBatchOfItsOwn(of) && of.row.isSpecified &&
                       of.row.isTraced && isAsTraced(of),
                   of.row.traced - of.row.exact);
     }},
    {"shard", "the tensors of all ranks count, of which this one has shards",
     [](const Subject &of) {
       return when(of.row.shard != Rational(1),
                   of.row.exact / of.row.shard - of.row.exact);
     }},
    {"not-joined", "the counters lack some of its kernels",
     [](const Subject &of) {
       return when(of.claim.isMeasured() &&
                       of.row.joinedKernels < of.row.kernels &&
                       of.has.flop < of.row.exact,
                   of.difference());
     }},
    {"fma", "a multiply-add counts as 1",
     [](const Subject &of) {
       return when(of.claim.isHalf && of.row.isSpecified,
                   -of.row.exact * share(1, 2));
     }},
    {"no-op", "an op of this kind is not known to the tool",
     [](const Subject &of) {
       const RowClaim &first = of.ofForward ? *of.ofForward : of.has;
       return when(of.row.isSpecified && of.row.isTraced && !of.row.isStopped &&
                       !of.claim.isMeasured() && !first.isUnknown &&
                       (first.flop - first.other).isZero(),
                   -of.row.exact);
     }},
    {"no-backward", "gradients are not counted",
     [](const Subject &of) {
       return when(
           !of.claim.isMeasured() && of.row.isGradient() && of.row.isTraced &&
               of.ofForward &&
               (of.ofForward->isUnknown || !of.ofForward->flop.isZero()),
           -of.row.exact);
     }},
    {"no-input-gradient", "the gradient of the input is left out",
     [](const Subject &of) {
       // Of half of the forward product it is half of all.
       bool isHalf = of.ofForward && !of.ofForward->isUnknown &&
                     of.ofForward->flop * 2 == of.forward->exact;
       return when(
           !of.claim.isMeasured() && !of.row.input.isZero() && !isHalf &&
               (of.row.isTraced || (of.row.phase == "input" && of.forward &&
                                    of.forward->isTraced)),
           -of.row.input);
     }},
    {"counted-input-gradient",
     "a gradient of the input is counted that the run does not need",
     [](const Subject &of) {
       if (of.row.isGradient() && !of.row.isSpecified && !of.row.isRunAgain &&
           of.forward)
         return when(of.has.flop == of.forward->exact &&
                         !of.forward->hasInputGradient,
                     of.has.flop);
       if (!of.row.ofData.isZero())
         return Explained(of.row.ofData + (of.difference() == of.row.ofData
                                               ? Rational()
                                               : of.row.firstState));
       // FLOP that are recomputed by a tool's formulas follow the mask in the
       // trace.
       bool mayHave = of.claim.source != "recomputed" || isAsTraced(of);
       return when(mayHave && of.row.isGradient() && of.row.input.isZero() &&
                       !of.row.weight.isZero(),
                   of.row.weight);
     }},
    // Before `twice`, since the gradients of three groups may cost twice as
    // much.
    {"groups", "the gradient of a grouped weight counts once for each group",
     [](const Subject &of) {
       return when(of.row.groups > 1 && of.row.isGradient(),
                   of.row.weight * (of.row.groups - 1));
     }},
    {"twice", "counted twice: an op and what it calls, or two kernels",
     [](const Subject &of) {
       Rational rest = of.difference() - of.has.inner;
       if (!of.has.inner.isZero() && (rest.isZero() || rest == of.has.other))
         return Explained(of.has.inner);
       return when(timesOf(of) == 2 &&
                       !of.row.input.isZero() == !of.row.weight.isZero() &&
                       (of.row.kernels == 2 || of.row.parts > 0),
                   of.row.exact);
     }},
    {"k-times", "counted once for each of its kernels",
     [](const Subject &of) {
       Rational times = timesOf(of);
       return when(times >= 3 && times == Rational(of.row.kernels),
                   of.row.exact * (times - 1));
     }},
    {"per-group", "a grouped convolution counts as one of its groups",
     [](const Subject &of) {
       return when(of.row.groups > 1,
                   of.row.exact * (share(1, of.row.groups) - 1));
     }},
    {"recompute",
     "what checkpointing runs again counts, too: hardware FLOP, not model FLOP",
     [](const Subject &of) {
       Rational again =
           of.claim.isHalf ? of.row.traced * share(1, 2) : of.row.traced;
       return when(!of.row.isStopped && of.row.phase == "recompute",
                   of.claim.isMeasured() ? of.difference() : again);
     }},
    {"recompute",
     "backward, fused attention makes its scores again: 5 products, not 4",
     [](const Subject &of) {
       return when(!of.row.isStopped && of.row.isFusedAttention,
                   of.row.exact * share(1, 4));
     }},
    {"stopped", "an op that began and never ran, or whose result was saved",
     [](const Subject &of) { return when(of.row.isStopped, of.difference()); }},
    {"causal", "all of a square counts, of which a mask hides half",
     [](const Subject &of) {
       return when(isAsTraced(of) && of.audit.run &&
                       of.audit.run->conventions.causal == CountedMask::Half,
                   of.row.traced - of.row.exact);
     }},
    {"padding", "padded tokens count as real ones",
     [](const Subject &of) {
       return when(isAsTraced(of) && of.audit.run && of.audit.run->isAverage &&
                       of.row.traced > of.row.exact,
                   of.row.traced - of.row.exact);
     }},
    {"tile", "a kernel works in tiles that reach beyond the matrix",
     [](const Subject &of) {
       return when(of.claim.isMeasured() && of.has.flop >= of.row.exact &&
                       of.has.flop <= of.row.exact * share(13, 10),
                   of.difference());
     }},
    {"algorithm", "another algorithm, with fewer multiplications",
     [](const Subject &of) {
       return when(of.claim.isMeasured() && of.row.hasOtherAlgorithm &&
                       of.has.flop < of.row.exact,
                   of.difference());
     }},
    {"matrix-units", "the counters do not see matrix units",
     [](const Subject &of) {
       // What is counted is of other ops in the kernel, such as a softmax.
       return when(of.claim.isMeasured() && of.row.usesMatrixUnits &&
                       of.has.flop < of.row.exact * share(1, 10),
                   of.difference());
     }},
    {"not-products", "additions and scalings beside products count",
     [](const Subject &of) -> Explained {
       if (of.row.other && of.row.other != CountedEvent::InNetwork)
         return std::nullopt;
       if (!of.has.other.isZero())
         return of.has.other;
       // Tables give a few FLOP per element.
       constexpr int most = 8;
       if (!of.row.isSpecified || !of.row.isTraced ||
           of.difference() < Rational(0) || timesOf(of) > Rational(1))
         return std::nullopt;
       for (const Rational &elements : of.row.elements)
         if (elements > 0)
           if (Rational each = of.difference() / elements;
               each.isInteger() && each <= most && !each.isZero())
             return of.difference();
       return std::nullopt;
     }},
    {"first-state", "the first state of a recurrence needs no gradient",
     [](const Subject &of) {
       return when(!of.row.firstState.isZero() &&
                       of.difference() == of.row.firstState,
                   of.row.firstState);
     }},
    {"optimizer", "of the optimizer, not of forward and backward",
     [](const Subject &of) {
       bool isProduct = !of.row.isSpecified && of.row.phase == "update";
       return when(isProduct || of.row.other == CountedEvent::InOptimizer,
                   of.has.flop);
     }},
    {"loss", "of the loss, not of the network",
     [](const Subject &of) {
       return when(of.row.other == CountedEvent::InLoss, of.has.flop);
     }},
    {"data", "of what prepares the data",
     [](const Subject &of) {
       bool isProduct = !of.row.isSpecified && of.row.phase == "data";
       return when(isProduct || of.row.other == CountedEvent::InData,
                   of.has.flop);
     }},
    {"extra", "in the trace or in the counts alone",
     [](const Subject &of) {
       return when(!of.row.isSpecified && !of.row.other, of.has.flop);
     }},
    {"absent", "in the specification, and not in the trace",
     [](const Subject &of) {
       return when(!of.row.isTraced && !of.row.other, -of.row.exact);
     }},
    // No difference in FLOP. Only a note has this id.
    {"precision", "the trace multiplies in another format than the run",
     [](const Subject &) { return Explained(); }},
};

llvm::ArrayRef<Rule> netc::audit::allRules() { return rules; }

/// Whether two counts are equal, to 0.1 % if the tool rounds.
static bool isEqual(const Subject &of, const Rational &a, const Rational &b) {
  if (a == b)
    return true;
  return of.claim.isRounded &&
         (a - b).abs() * 1000 <= std::max(of.row.exact, of.has.flop);
}

/// The rule that explains the difference of a count, together with `other`
/// FLOP; null if none does.
static const Rule *explaining(const Subject &of, const Rational &other = 0) {
  for (const Rule &rule : rules)
    if (Explained explained = rule.difference(of);
        explained && isEqual(of, *explained + other, of.difference()))
      return &rule;
  return nullptr;
}

static const Rule *ruleOf(llvm::StringRef id) {
  return llvm::find_if(rules, [&](const Rule &rule) { return rule.id == id; });
}

/// The row as it would be if the trace's batch were asked for; none if it is.
static std::optional<Row> atOwnBatch(const Subject &of) {
  if (!hasBatchOfItsOwn(of) || !of.row.isSpecified || !of.row.isTraced ||
      of.row.exact.isZero())
    return std::nullopt;
  Row ran = of.row;
  Rational times = of.row.ran / of.row.exact;
  for (Rational *flop : {&ran.exact, &ran.input, &ran.weight})
    *flop *= times;
  return ran;
}

/// The row as it would be if this rank had all of its tensors.
static std::optional<Row> ofAllRanks(const Subject &of) {
  if (of.row.shard == Rational(1))
    return std::nullopt;
  Row all = of.row;
  for (Rational *flop : {&all.exact, &all.input, &all.weight, &all.traced})
    *flop /= of.row.shard;
  return all;
}

/// The row as it would be if all of a masked square counted.
static std::optional<Row> withoutMask(const Subject &of) {
  if (!of.audit.run || of.audit.run->conventions.causal != CountedMask::Half ||
      !of.row.isSpecified || of.row.traced == of.row.exact)
    return std::nullopt;
  Row whole = of.row;
  whole.exact = of.row.traced;
  return whole;
}

/// A recomputed row as it would be in the forward pass.
static std::optional<Row> atFirst(const Subject &of) {
  if (of.row.phase != "recompute" || of.row.isStopped)
    return std::nullopt;
  Row first = of.row;
  first.phase = "forward";
  first.exact = of.row.traced;
  return first;
}

/// Explains what a rule leaves of the difference: that to `rest`. False if no
/// other rule does.
static bool explainRest(const Subject &of, llvm::StringRef id,
                        const std::optional<Row> &rest, RowClaim &claim) {
  if (!rest)
    return false;
  const Subject second{of.audit, *rest,      of.claim,
                       of.has,   of.forward, of.ofForward};
  const Rule *rule = explaining(second);
  if (rule) {
    Rational ofSecond = second.difference();
    claim.rules = {{ruleOf(id), of.difference() - ofSecond}, {rule, ofSecond}};
  }
  return rule;
}

static void explain(const Subject &of, RowClaim &claim) {
  if (of.row.isUnknown || of.has.isUnknown || isEqual(of, of.difference(), 0))
    return;
  const Rule *rule = explaining(of);
  // Without its recomputation in the specification, a row is more than extra.
  if (rule && rule->id == "extra" &&
      explainRest(of, "recompute", atFirst(of), claim))
    return;
  if (rule) {
    claim.rules = {{rule, of.difference()}};
  } else if (!explainRest(of, "batch", atOwnBatch(of), claim) &&
             !explainRest(of, "shard", ofAllRanks(of), claim) &&
             !explainRest(of, "recompute", atFirst(of), claim) &&
             !explainRest(of, "causal", withoutMask(of), claim) &&
             !claim.other.isZero()) {
    // Additions next to a product may be counted in addition to another rule.
    if (const Rule *rule = explaining(of, claim.other))
      claim.rules = {{rule, of.difference() - claim.other},
                     {ruleOf("not-products"), claim.other}};
  }
}

void netc::audit::explain(Audit &audit) {
  for (auto [i, claim] : llvm::enumerate(audit.claims)) {
    claim.isHalf = !audit.rows.empty();
    bool isAny = false;
    for (const Row &row : audit.rows)
      if (row.isSpecified && row.isTraced && !row.claims[i].isUnknown) {
        isAny = true;
        claim.isHalf &= row.claims[i].flop * 2 == row.exact;
      }
    claim.isHalf &= isAny;
  }
  for (Row &row : audit.rows)
    for (auto [i, claim] : llvm::enumerate(audit.claims)) {
      const Row *forward = row.forward ? &audit.rows[*row.forward] : nullptr;
      Subject subject{audit,   row,
                      claim,   row.claims[i],
                      forward, forward ? &forward->claims[i] : nullptr};
      ::explain(subject, row.claims[i]);
    }
}
