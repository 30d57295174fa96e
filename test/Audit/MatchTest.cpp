// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Audit.h"
#include "lib/Trace/Read.h"

#include <gtest/gtest.h>

using namespace netc;
using namespace netc::audit;

namespace {

SpecifiedProduct specified(llvm::StringRef name, int64_t flop,
                           Phase phase = Phase::Forward) {
  SpecifiedProduct product;
  product.name = product.layer = name;
  product.op = "linear";
  product.phase = phase;
  product.kind = ProductKind::Matrices;
  product.flop = product.exact = flop;
  product.made = flop;
  product.elements = {flop, flop, flop};
  return product;
}

TracedProduct traced(int64_t flop, int64_t sequence = -1,
                     TracedProduct::Phase phase = TracedProduct::Forward) {
  TracedProduct product;
  product.event = 0;
  EventCost cost;
  cost.flop = flop;
  cost.elements = {flop, flop, flop};
  product.cost = std::make_shared<EventCost>(cost);
  product.sequence = sequence;
  product.phase = phase;
  return product;
}

/// `a=0 b=1 +2`: the products of the trace that each of the specification is,
/// and those that are in the trace alone.
std::string textOf(llvm::ArrayRef<SpecifiedProduct> ours,
                   llvm::ArrayRef<TracedProduct> theirs) {
  std::string text;
  for (const Match &match : match(ours, theirs)) {
    std::string names, numbers;
    for (unsigned i : match.specified)
      names += (names.empty() ? "" : ",") + ours[i].name.str();
    for (unsigned i : match.traced)
      numbers += (numbers.empty() ? "" : ",") + std::to_string(i);
    text +=
        (text.empty() ? "" : " ") + (names.empty()     ? "+" + numbers
                                     : numbers.empty() ? "-" + names
                                                       : names + "=" + numbers);
  }
  return text;
}

TEST(Match, ForwardProductsAreAlignedInOrder) {
  std::vector<SpecifiedProduct> ours = {specified("a", 10), specified("b", 20),
                                        specified("c", 20), specified("d", 40)};
  EXPECT_EQ(textOf(ours, {traced(10), traced(20), traced(20), traced(40)}),
            "a=0 b=1 c=2 d=3");
  // What is dropped is known by its place, what is added has none.
  EXPECT_EQ(textOf(ours, {traced(10), traced(20), traced(40)}),
            "a=0 -b c=1 d=2");
  EXPECT_EQ(
      textOf(ours, {traced(10), traced(7), traced(20), traced(20), traced(40)}),
      "a=0 b=2 c=3 d=4 +1");
}

TEST(Match, BranchesMayRunInAnyOrder) {
  std::vector<SpecifiedProduct> ours = {specified("a", 10), specified("b", 20),
                                        specified("c", 40)};
  ours[2].depth = 1;
  std::vector<TracedProduct> theirs = {traced(20), traced(10), traced(40)};
  EXPECT_EQ(textOf(ours, theirs), "a=1 b=0 c=2");
  std::vector<Match> matches = match(ours, theirs);
  EXPECT_EQ(llvm::count_if(matches,
                           [](const Match &match) {
                             return match.isOutOfOrder &&
                                    match.confidence == Confidence::Order;
                           }),
            1);
  // What needs the result of another runs behind it.
  ours[1].depth = 1;
  ours[2].depth = 2;
  EXPECT_EQ(textOf(ours, theirs), "a=1 -b c=2 +0");
  // The layers of a branch follow each other.
  ours = {specified("a", 40), specified("b", 41), specified("c", 42),
          specified("d", 12), specified("e", 11)};
  for (unsigned depth : {0, 1, 2})
    ours[depth].depth = depth;
  ours[4].depth = 1;
  EXPECT_EQ(textOf(ours, {traced(12), traced(11), traced(40), traced(41),
                          traced(42)}),
            "a=2 b=3 c=4 d=0 e=1");
  // Which of two is left out is not known.
  ours = {specified("a", 23), specified("b", 23), specified("c", 10),
          specified("d", 31), specified("e", 17)};
  theirs = {traced(10), traced(31), traced(17), traced(23)};
  EXPECT_EQ(textOf(ours, theirs), "-a -b c=0 d=1 e=2 +3");
  theirs.push_back(traced(23));
  EXPECT_EQ(textOf(ours, theirs), "a=3 b=4 c=0 d=1 e=2");
}

TEST(Match, SeveralAreOneWhereTheirFlopAddUp) {
  std::vector<SpecifiedProduct> ours = {specified("q", 10), specified("k", 10),
                                        specified("v", 10), specified("o", 7)};
  EXPECT_EQ(textOf(ours, {traced(30), traced(7)}), "q,k,v=0 o=1");
  EXPECT_EQ(textOf({specified("a", 30), specified("b", 7)},
                   {traced(10), traced(20), traced(7)}),
            "a=0,1 b=2");
  // One of the same sizes is not left out for several that add up.
  EXPECT_EQ(textOf({specified("a", 20), specified("b", 7)},
                   {traced(20), traced(5), traced(10), traced(10), traced(7)}),
            "a=0 b=4 +1 +2 +3");
  EXPECT_EQ(textOf({specified("a", 20), specified("b", 20)},
                   {traced(20), traced(20), traced(10), traced(10)}),
            "a=0 b=1 +2 +3");
  // A loop of two products that are one after the other in each iteration.
  EXPECT_EQ(textOf({specified("x", 30), specified("h", 75)},
                   {traced(10), traced(25), traced(10), traced(25), traced(10),
                    traced(25)}),
            "x,h=0,1,2,3,4,5");
}

TEST(Match, PartsMakeThePartsOrTermsOfOneResult) {
  std::vector<SpecifiedProduct> ours = {specified("a", 30)};
  std::vector<TracedProduct> theirs = {traced(10), traced(20)};
  auto textFor = [&](int64_t first, int64_t second) {
    theirs[0].ownCost().made = first;
    theirs[1].ownCost().made = second;
    return textOf(ours, theirs);
  };
  EXPECT_EQ(textFor(10, 20), "a=0,1");
  EXPECT_EQ(textFor(30, 30), "a=0,1");
  EXPECT_EQ(textFor(11, 20), "-a +0 +1");
  // Products of matrices are a convolution only if they have its sizes.
  ours[0].kind = ProductKind::Windows;
  EXPECT_EQ(textFor(10, 20), "a=0,1");
  theirs[1].ownCost().made.reset();
  EXPECT_EQ(textOf(ours, theirs), "-a +0 +1");
}

TEST(Match, LayersThatFollowEachOtherAreNotOne) {
  std::vector<SpecifiedProduct> ours = {specified("a", 30), specified("b", 7)};
  std::vector<TracedProduct> theirs = {traced(15), traced(15), traced(7)};
  EXPECT_EQ(textOf(ours, theirs), "a=0,1 b=2");
  theirs[0].ownCost().elements = theirs[1].ownCost().elements = {15, 15, 30};
  theirs[1].isApart = true;
  EXPECT_EQ(textOf(ours, theirs), "-a b=2 +0 +1");
  ours[0].iterations = 2;
  ours[0].made = 15;
  EXPECT_EQ(textOf(ours, theirs), "a=0,1 b=2");
  // Rows that are multiplied by one matrix may be in several products.
  ours = {specified("a", 48)};
  ours[0].operand = {1, 3, 2};
  ours[0].elements = {6, 8, 12};
  ours[0].made = 12;
  theirs = {traced(16), traced(32)};
  theirs[1].isApart = true;
  theirs[0].ownCost().elements = {2, 4, 8};
  theirs[1].ownCost().elements = {4, 8, 8};
  EXPECT_EQ(textOf(ours, theirs), "a=0,1");
  theirs[1].ownCost().elements = {4, 4, 16};
  EXPECT_EQ(textOf(ours, theirs), "-a +0 +1");
  // So may several pairs of matrices, such as heads.
  theirs[0].ownCost().elements = {2, Rational::fraction(8, 3), 4};
  theirs[1].ownCost().elements = {4, Rational::fraction(16, 3), 8};
  EXPECT_EQ(textOf(ours, theirs), "a=0,1");
  // One that reads the result of the other is not beside it.
  ours = {specified("a", 15), specified("b", 15)};
  theirs = {traced(30)};
  theirs[0].ownCost().elements = {15, 30, 30};
  EXPECT_EQ(textOf(ours, theirs), "a,b=0");
  ours[1].depth = 1;
  EXPECT_EQ(textOf(ours, theirs), "-a -b +0");
}

TEST(Match, TwoOfTheTraceAreNotOneOfTwoThatAreAlike) {
  std::vector<SpecifiedProduct> ours = {specified("k", 20), specified("v", 20),
                                        specified("o", 7)};
  EXPECT_EQ(textOf(ours, {traced(10), traced(10), traced(7)}),
            "-k -v o=2 +0 +1");
}

TEST(Match, ProductsWithGradientsAreThoseThatHaveThem) {
  auto back = TracedProduct::Backward;
  std::vector<SpecifiedProduct> ours = {
      specified("a", 10), specified("a", 10, Phase::WeightGradient)};
  EXPECT_EQ(textOf(ours, {traced(10, 1), traced(10), traced(10, 1, back)}),
            "a=0 a=2 +1");
  EXPECT_EQ(textOf(ours, {traced(10), traced(10, 1), traced(10, 1, back)}),
            "a=1 a=2 +0");
  // The gradient of a product that is none of ours is none, either.
  EXPECT_EQ(textOf(ours, {traced(5, 1), traced(10, 1, back)}), "-a -a +0 +1");
}

TEST(Match, NamesTellApartWhatShapesDoNot) {
  std::vector<SpecifiedProduct> ours = {specified("blocks.0.query", 10),
                                        specified("blocks.1.query", 10),
                                        specified("blocks.2.query", 10)};
  std::vector<TracedProduct> theirs = {traced(10)};
  EXPECT_EQ(textOf(ours, theirs).find("blocks.1.query=0"), std::string::npos);
  theirs[0].path = "Model_0/Blocks/1/Query_1";
  EXPECT_EQ(textOf(ours, theirs),
            "-blocks.0.query blocks.1.query=0 -blocks.2.query");
  // They break ties alone: FLOP that differ are not the same.
  theirs[0].ownCost().flop = 11;
  EXPECT_EQ(textOf(ours, theirs),
            "-blocks.0.query -blocks.1.query -blocks.2.query +0");
}

/// Of a hundred thousand, all pairs would take 20 GB.
TEST(Match, LongSequencesTakeLittleMemory) {
  constexpr unsigned many = 100'000;
  std::vector<SpecifiedProduct> ours;
  std::vector<TracedProduct> theirs;
  for (unsigned i = 0; i < many; ++i) {
    ours.push_back(specified("a", 10 + i % 7));
    if (i != many / 2)
      theirs.push_back(traced(10 + i % 7));
  }
  std::vector<Match> matches = match(ours, theirs);
  EXPECT_EQ(matches.size(), many);
  EXPECT_EQ(llvm::count_if(matches,
                           [](const Match &match) {
                             return match.confidence == Confidence::Exact;
                           }),
            many - 1);
}

/// Few beside many: the costs of all pairs would take 800 MB if as many rows of
/// them were kept as a block may be long.
TEST(Match, AFewProductsAreFoundAmongMany) {
  constexpr unsigned many = 400'000;
  std::vector<TracedProduct> theirs(many, traced(7));
  theirs[1'000] = traced(10);
  theirs[300'000] = traced(20);
  std::vector<Match> matches =
      match({specified("a", 10), specified("b", 20)}, theirs);
  ASSERT_EQ(matches.size(), many);
  EXPECT_EQ(matches[0].traced.front(), 1'000u);
  EXPECT_EQ(matches[1].traced.front(), 300'000u);
}

TEST(Match, GradientsFollowTheNumbersOfAutograd) {
  std::vector<SpecifiedProduct> ours = {
      specified("a", 10), specified("b", 10),
      specified("b", 10, Phase::InputGradient),
      specified("b", 10, Phase::WeightGradient),
      specified("a", 10, Phase::WeightGradient)};
  auto back = TracedProduct::Backward;
  std::vector<TracedProduct> theirs = {
      traced(10, 5), traced(10, 6), traced(10, 5, back), traced(20, 6, back)};
  EXPECT_EQ(textOf(ours, theirs), "a=0 b=1 b,b=3 a=2");
  // Without numbers, by the order.
  std::vector<TracedProduct> compiled = {
      traced(10), traced(10), traced(10, -1, back), traced(10, -1, back),
      traced(10, -1, back)};
  EXPECT_EQ(textOf(ours, compiled), "a=0 b=1 b=2 b=3 a=4");
}

TEST(Match, GradientsOfACompilerMayStandInAnotherOrder) {
  std::vector<SpecifiedProduct> ours = {
      specified("a", 10), specified("b", 20),
      specified("b", 20, Phase::InputGradient),
      specified("b", 20, Phase::WeightGradient),
      specified("a", 10, Phase::WeightGradient)};
  auto back = TracedProduct::Backward;
  EXPECT_EQ(textOf(ours, {traced(10), traced(20), traced(20, -1, back),
                          traced(10, -1, back), traced(20, -1, back)}),
            "a=0 b=1 b=2 b=4 a=3");
  // What has other FLOP is another.
  EXPECT_EQ(textOf(ours, {traced(10), traced(20), traced(20, -1, back),
                          traced(10, -1, back), traced(21, -1, back)}),
            "a=0 b=1 b=2 -b a=3 +4");
}

TEST(Match, AFusedKernelOfAttentionIsNoLinearLayer) {
  std::vector<TracedProduct> theirs = {traced(40)};
  theirs[0].kind = ProductKind::Attention;
  EXPECT_EQ(textOf({specified("a", 40)}, theirs), "-a +0");
  std::vector<SpecifiedProduct> ours = {specified("a", 20), specified("b", 20)};
  EXPECT_EQ(textOf(ours, theirs), "a,b=0");
}

TEST(Match, GradientsThatMakeTheWeightAreTold) {
  std::vector<SpecifiedProduct> ours = {
      specified("a", 10), specified("a", 10, Phase::InputGradient),
      specified("a", 10, Phase::WeightGradient)};
  ours[1].made = 3;
  ours[2].made = 4;
  auto back = TracedProduct::Backward;
  std::vector<TracedProduct> theirs = {traced(10, 1), traced(10, 1, back),
                                       traced(10, 1, back)};
  theirs[1].ownCost().made = 4;
  theirs[2].ownCost().made = 3;
  EXPECT_EQ(textOf(ours, theirs), "a=0 a=2 a=1");
  // One side may have one of them alone.
  EXPECT_EQ(textOf(ours, {theirs[0], theirs[1]}), "a=0 -a a=1");
  EXPECT_EQ(textOf({ours[0], ours[2]}, theirs), "a=0 a=1 +2");
  EXPECT_EQ(textOf({ours[0], ours[2]}, {theirs[0], theirs[2]}), "a=0 -a +1");
}

TEST(Match, AGradientOfPackedWeightsIsNoneOfTheirInput) {
  std::vector<SpecifiedProduct> ours = {specified("q", 10), specified("k", 10),
                                        specified("v", 10)};
  for (int i = 0; i < 3; ++i)
    ours.push_back(specified(ours[i].name, 10, Phase::WeightGradient));
  std::vector<TracedProduct> theirs = {traced(30, 1),
                                       traced(30, 1, TracedProduct::Backward)};
  for (int i = 3; i < 6; ++i)
    ours[i].made = 4;
  theirs[1].ownCost().made = 12;
  EXPECT_EQ(textOf(ours, theirs), "q,k,v=0 q,k,v=1");
  theirs[1].ownCost().made = 5;
  EXPECT_EQ(textOf(ours, theirs), "q,k,v=0 -q -k -v +1");
}

TEST(Match, StridesTellGradientsOfOneShape) {
  std::vector<SpecifiedProduct> ours;
  for (Phase phase :
       {Phase::Forward, Phase::InputGradient, Phase::WeightGradient})
    for (const char *name : {"q", "k"}) {
      ours.push_back(specified(name, 10, phase));
      ours.back().made = phase == Phase::WeightGradient ? 4 : 8;
    }
  auto back = TracedProduct::Backward;
  std::vector<TracedProduct> theirs = {traced(20, 1), traced(20, 1, back),
                                       traced(20, 1, back)};
  for (bool isFirst : {true, false}) {
    theirs[1].ownCost().made = theirs[2].ownCost().made = 8;
    theirs[1].isOfWeight = isFirst;
    theirs[2].isOfWeight = !isFirst;
    EXPECT_EQ(textOf(ours, theirs),
              isFirst ? "q,k=0 q,k=2 q,k=1" : "q,k=0 q,k=1 q,k=2");
    EXPECT_EQ(textOf(ours, {theirs[0], theirs[1]}),
              isFirst ? "q,k=0 -q -k q,k=1" : "q,k=0 q,k=1 -q -k");
  }
}

TEST(Match, GradientsThatAreMadeAgainAreInTheTraceAlone) {
  std::vector<SpecifiedProduct> ours = {
      specified("a", 10), specified("a", 10, Phase::WeightGradient)};
  auto back = TracedProduct::Backward;
  std::vector<TracedProduct> theirs = {traced(10, 1), traced(10, 1, back),
                                       traced(10, 1, back)};
  theirs[1].isRunAgain = true;
  EXPECT_EQ(textOf(ours, theirs), "a=0 a=2 +1");
}

TEST(Match, WhatIsRunAgainFollowsWhatItRepeats) {
  auto again = TracedProduct::Recompute, back = TracedProduct::Backward;
  std::vector<SpecifiedProduct> ours = {
      specified("a", 10),
      specified("b", 20),
      specified("c", 10),
      specified("d", 20),
      specified("d", 20, Phase::WeightGradient),
      specified("b", 20, Phase::WeightGradient)};
  std::vector<TracedProduct> theirs = {
      traced(10, 1),        traced(20, 2),         traced(10, 3),
      traced(20, 4),        traced(10, 11, again), traced(20, 12, again),
      traced(20, 12, back), traced(10, 13, again), traced(20, 14, again),
      traced(20, 14, back)};
  theirs[4].region = theirs[5].region = 100;
  theirs[7].region = theirs[8].region = 200;
  std::vector<Match> matches = match(ours, theirs);
  // The last block is run again first; its gradient is that of `d`.
  std::string text;
  for (const Match &one : matches)
    if (one.forward && !one.traced.empty())
      text += " " + std::to_string(one.traced.front()) + ":" +
              ours[matches[*one.forward].specified.front()].name.str();
  EXPECT_EQ(text, " 6:d 9:b 4:c 5:d 7:a 8:b");
}

TEST(Match, GradientsInALoopAreMatchedBesideOthers) {
  std::vector<SpecifiedProduct> ours = {
      specified("a", 30), specified("e", 9),
      specified("e", 9, Phase::InputGradient),
      specified("a", 30, Phase::InputGradient),
      specified("a", 30, Phase::WeightGradient)};
  for (SpecifiedProduct &product : ours) {
    product.iterations = 3;
    product.made = product.phase == Phase::WeightGradient ? 4 : 5;
    product.elements = {product.flop / 3, product.flop / 3, product.flop / 3};
  }
  auto back = TracedProduct::Backward;
  std::vector<TracedProduct> theirs;
  for (int number : {1, 3, 5})
    theirs.insert(theirs.end(), {traced(10, number), traced(3, number + 1)});
  // The last of each is one that the specification has not.
  for (int number : {5, 3, 1})
    for (auto [flop, made, from] :
         {std::tuple(3, 5, 1), {10, 5, 0}, {10, 4, 0}, {3, 6, 1}}) {
      theirs.push_back(traced(flop, number + from, back));
      theirs.back().ownCost().made = made;
      theirs.back().region = 10 * number + from;
    }
  EXPECT_EQ(textOf(ours, theirs), "a,e=0,1,2,3,4,5 e=6,10,14 a=7,11,15 "
                                  "a=8,12,16 +9 +13 +17");
}

TEST(Match, RegionsThatAreRunAgainDoNotOverlap) {
  auto again = TracedProduct::Recompute, back = TracedProduct::Backward;
  std::vector<SpecifiedProduct> ours;
  for (const char *name : {"a", "b", "c", "d"})
    ours.push_back(specified(name, 10));
  for (const char *name : {"d", "c", "b", "a"})
    ours.push_back(specified(name, 10, Phase::WeightGradient));
  std::vector<TracedProduct> theirs = {traced(10),
                                       traced(10),
                                       traced(10),
                                       traced(10, 4),
                                       traced(10, 4, back),
                                       traced(10, 11, again),
                                       traced(10, 11, back),
                                       traced(10, 12, again),
                                       traced(10, 13, again),
                                       traced(10, 13, back),
                                       traced(10, 12, back)};
  for (auto [i, region] : {std::pair(5, 100), {7, 200}, {8, 200}})
    theirs[i].region = region;
  for (int i : {4, 6, 9, 10})
    theirs[i].region = i;
  EXPECT_EQ(textOf(ours, theirs), "a=0 b=1 c=2 d=3 d=4 c=6 b=9 a=10 +5 +7 +8");
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

trace::Trace readTrace(const std::string &name) {
  llvm::Expected<trace::Trace> trace = trace::read(INPUTS + name);
  if (trace)
    return std::move(*trace);
  ADD_FAILURE() << llvm::toString(trace.takeError());
  return trace::Trace();
}

/// The rows of a trace alone, without times.
std::string auditOf(const trace::Trace &trace) {
  llvm::Expected<Audit> made = audit::audit(trace, "t", nullptr);
  if (!made)
    return llvm::toString(made.takeError());
  std::string text;
  for (const Row &row : made->rows) {
    text += row.op + " " + row.phase.str() + " " + row.exact.str();
    for (const RowClaim &claim : row.claims)
      text += " " + claim.flop.str();
    text += "\n";
  }
  return text;
}

TEST(Audit, TheOrderOfEventsAndTheScaleOfTimesDoNotMatter) {
  trace::Trace trace = readTrace("groups.kineto.json.gz");
  std::string before = auditOf(trace);
  std::reverse(trace.host.begin(), trace.host.end());
  EXPECT_EQ(auditOf(trace), before);
  for (trace::HostEvent &event : trace.host) {
    event.start *= 3;
    event.duration *= 3;
    if (event.sequence >= 0)
      event.sequence += 1000;
  }
  EXPECT_EQ(auditOf(trace), before);
}

TEST(Audit, ADroppedEventTakesItsFlopAlong) {
  trace::Trace trace = readTrace("lenet300.kineto.json.gz");
  llvm::Expected<Audit> before = audit::audit(trace, "t", nullptr);
  ASSERT_TRUE(bool(before));
  // Of a gradient: `aten::linear` has the shapes of the product inside of it.
  const TracedProduct &dropped = before->step.products.back();
  Rational all = before->model, flop = *dropped.cost->flop;
  trace.host.erase(trace.host.begin() + dropped.event);
  llvm::Expected<Audit> after = audit::audit(trace, "t", nullptr);
  ASSERT_TRUE(bool(after));
  EXPECT_EQ(after->model, all - flop);
}

} // namespace
