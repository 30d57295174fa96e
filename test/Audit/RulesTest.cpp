// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Rules.h"

#include <functional>
#include <gtest/gtest.h>

using namespace netc;
using namespace netc::audit;

namespace {

/// An audit of a forward row and one behind it, the subject, whose claims a
/// case sets.
struct Made {
  Made() {
    audit.claims.resize(1);
    audit.rows.resize(2);
    for (Row &row : audit.rows) {
      row.isSpecified = row.isTraced = true;
      row.exact = row.traced = 1200;
      row.phase = "forward";
      row.confidence = Confidence::Exact;
      row.parts = 1;
      row.claims.resize(1);
    }
    forward().claims[0].flop = 1200;
    subject().forward = 0;
  }

  Row &forward() { return audit.rows[0]; }
  Row &subject() { return audit.rows[1]; }
  void makeGradient(Rational input, Rational weight) {
    subject().input = input;
    subject().weight = weight;
    subject().exact = subject().traced = input + weight;
    subject().phase = input.isZero()    ? "weight"
                      : weight.isZero() ? "input"
                                        : "input+weight";
  }
  void has(Rational flop, Rational other = 0) {
    subject().claims[0].flop = flop;
    subject().claims[0].other = other;
  }
  void areCounters() { audit.claims[0].source = "counters"; }
  void beOther(CountedEvent::Origin origin) {
    subject() = Row();
    subject().other = origin;
    subject().isTraced = true;
    subject().claims.resize(1);
    has(7, 7);
  }
  /// Asks for other counts than those of the trace, which has 4 examples.
  void ask(Rational batch) {
    audit.run = &run;
    audit.asked = batch;
    audit.sizes["N"] = 4;
  }
  void specifyHalf() {
    run.conventions.causal = CountedMask::Half;
    audit.run = &run;
    subject().exact = 650;
  }

  Audit audit;
  Run run;
};

struct Case {
  const char *rules;
  std::function<void(Made &)> make;
};

const Case cases[] = {
    {"groups",
     [](Made &made) {
       made.makeGradient(600, 600);
       made.subject().groups = 3;
       made.has(2400);
     }},
    {"", [](Made &made) { made.has(1200); }},
    {"unexplained",
     [](Made &made) {
       made.subject().elements = {11, 13, 17};
       made.has(1199);
     }},
    {"fma",
     [](Made &made) {
       made.forward().claims[0].flop = 600;
       made.has(600);
     }},
    {"no-op",
     [](Made &made) {
       made.forward().claims[0].flop = 0;
       made.has(0);
     }},
    {"no-op not-products",
     [](Made &made) {
       made.forward().claims[0].flop = 0;
       made.has(5, 5);
     }},
    {"no-backward",
     [](Made &made) {
       made.makeGradient(1200, 1200);
       made.has(0);
     }},
    {"no-input-gradient",
     [](Made &made) {
       made.makeGradient(1200, 1300);
       made.has(1300);
     }},
    {"counted-input-gradient",
     [](Made &made) {
       made.makeGradient(0, 1200);
       made.subject().traced = 2400;
       made.has(2400);
     }},
    {"twice",
     [](Made &made) {
       made.subject().kernels = 2;
       made.has(2400);
     }},
    {"k-times",
     [](Made &made) {
       made.subject().kernels = 16;
       made.has(16 * 1200);
     }},
    {"groups",
     [](Made &made) {
       made.makeGradient(1200, 1200);
       made.subject().groups = 32;
       made.has(33 * 1200);
     }},
    {"per-group",
     [](Made &made) {
       made.subject().groups = 3;
       made.has(400);
     }},
    {"recompute",
     [](Made &made) {
       made.subject().phase = "recompute";
       made.subject().exact = 0;
       made.has(1200);
     }},
    {"recompute",
     [](Made &made) {
       made.makeGradient(1200, 0);
       made.subject().isFusedAttention = true;
       made.has(1500);
     }},
    {"stopped",
     [](Made &made) {
       made.subject().phase = "forward";
       made.subject().isStopped = true;
       made.subject().exact = 0;
       made.has(1200);
     }},
    {"causal",
     [](Made &made) {
       made.specifyHalf();
       made.has(1200);
     }},
    {"causal recompute",
     [](Made &made) {
       made.specifyHalf();
       made.subject().isFusedAttention = true;
       made.has(1500);
     }},
    {"padding",
     [](Made &made) {
       made.run.isAverage = true;
       made.audit.run = &made.run;
       made.subject().exact = 700;
       made.has(1200);
     }},
    {"tile",
     [](Made &made) {
       made.areCounters();
       made.has(1275);
     }},
    {"not-joined",
     [](Made &made) {
       made.areCounters();
       made.subject().kernels = 2;
       made.subject().joinedKernels = 1;
       made.has(1100);
     }},
    {"algorithm",
     [](Made &made) {
       made.areCounters();
       made.subject().hasOtherAlgorithm = true;
       made.has(130);
     }},
    {"matrix-units",
     [](Made &made) {
       made.areCounters();
       made.subject().usesMatrixUnits = true;
       made.has(1);
     }},
    {"not-products", [](Made &made) { made.beOther(CountedEvent::InNetwork); }},
    // One more an element for the offset, as TraceLens has it.
    {"not-products",
     [](Made &made) {
       made.subject().elements = {30, 40, 50};
       made.has(1250);
     }},
    {"first-state",
     [](Made &made) {
       made.makeGradient(1080, 1200);
       made.subject().firstState = 120;
       made.has(2400);
     }},
    {"shard",
     [](Made &made) {
       made.subject().shard = Rational::fraction(1, 2);
       made.has(2400);
     }},
    {"optimizer", [](Made &made) { made.beOther(CountedEvent::InOptimizer); }},
    {"loss", [](Made &made) { made.beOther(CountedEvent::InLoss); }},
    {"data", [](Made &made) { made.beOther(CountedEvent::InData); }},
    {"extra",
     [](Made &made) {
       made.subject().isSpecified = false;
       made.subject().exact = 0;
       made.has(1200);
     }},
    {"absent",
     [](Made &made) {
       made.subject().isTraced = false;
       made.has(0);
     }},
    {"batch",
     [](Made &made) {
       made.ask(32);
       made.subject().exact = 9600;
       made.has(1200);
     }},
    // Twice as many, which could be half of each or two of each.
    {"batch",
     [](Made &made) {
       made.ask(8);
       for (Row &row : made.audit.rows)
         row.exact = 2400;
       made.has(1200);
     }},
    {"batch",
     [](Made &made) {
       made.ask(2);
       made.subject().exact = 600;
       made.has(1200);
     }},
};

std::string rulesOf(const Case &made) {
  Made of;
  made.make(of);
  explain(of.audit);
  const RowClaim &claim = of.subject().claims[0];
  std::string text;
  for (const Explanation &each : claim.rules)
    text += (text.empty() ? "" : " ") + each.rule->id.str();
  return text.empty() && claim.flop != of.subject().exact ? "unexplained"
                                                          : text;
}

TEST(Rules, EachNamesWhatWasMadeForIt) {
  for (const Case &made : cases) {
    SCOPED_TRACE(made.rules);
    EXPECT_EQ(rulesOf(made), made.rules);
  }
}

TEST(Rules, EachHasACase) {
  for (const Rule &rule : allRules())
    EXPECT_TRUE(
        rule.id == "precision" ||
        llvm::any_of(cases,
                     [&](const Case &made) { return made.rules == rule.id; }))
        << rule.id.str();
}

TEST(Rules, WhatARoundingToolHasWithinAThousandthIsEqual) {
  Made made;
  made.audit.claims[0].isRounded = true;
  made.subject().elements = {11, 13, 17};
  made.subject().exact = 1'000'000;
  made.has(1'000'999);
  explain(made.audit);
  EXPECT_TRUE(made.subject().claims[0].rules.empty());
}

/// What reports say of each, in the order in which they are tried.
constexpr const char *meanings[] = {
    "the trace has another batch than is asked for",
    "the tensors of all ranks count, of which this one has shards",
    "the counters lack some of its kernels",
    "a multiply-add counts as 1",
    "an op of this kind is not known to the tool",
    "gradients are not counted",
    "the gradient of the input is left out",
    "a gradient of the input is counted that the run does not need",
    "the gradient of a grouped weight counts once for each group",
    "counted twice: an op and what it calls, or two kernels",
    "counted once for each of its kernels",
    "a grouped convolution counts as one of its groups",
    "what checkpointing runs again counts, too: hardware FLOP, not model FLOP",
    "backward, fused attention makes its scores again: 5 products, not 4",
    "an op that began and never ran, or whose result was saved",
    "all of a square counts, of which a mask hides half",
    "padded tokens count as real ones",
    "a kernel works in tiles that reach beyond the matrix",
    "another algorithm, with fewer multiplications",
    "the counters do not see matrix units",
    "additions and scalings beside products count",
    "the first state of a recurrence needs no gradient",
    "of the optimizer, not of forward and backward",
    "of the loss, not of the network",
    "of what prepares the data",
    "in the trace or in the counts alone",
    "in the specification, and not in the trace",
    "the trace multiplies in another format than the run",
};

TEST(Rules, EachSaysWhatItMeans) {
  ASSERT_EQ(allRules().size(), std::size(meanings));
  for (auto [rule, meaning] : llvm::zip(allRules(), meanings))
    EXPECT_EQ(rule.meaning.str(), meaning);
}

} // namespace
