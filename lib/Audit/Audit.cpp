// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Audit.h"

#include "lib/Audit/Flop.h"
#include "lib/Audit/GivenCounts.h"
#include "lib/Audit/Kernels.h"
#include "lib/Audit/Notes.h"
#include "lib/Audit/OpNames.h"
#include "lib/Audit/Passes.h"
#include "lib/Audit/Repetition.h"
#include "lib/Audit/Rules.h"
#include "lib/Audit/Sizes.h"
#include "lib/Trace/Read.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

std::vector<Row *> Audit::rowsOfProducts() {
  std::vector<Row *> list(step.products.size());
  for (Row &row : rows)
    for (unsigned product : row.products)
      list[product] = &row;
  return list;
}

void Audit::addOther(size_t claim, const Rational &flop, std::string op) {
  Row row;
  row.claims.resize(claims.size());
  row.claims[claim].flop = row.claims[claim].other = flop;
  row.other = CountedEvent::InNetwork;
  row.op = std::move(op);
  row.phase = "forward";
  row.isTraced = true;
  rows.push_back(std::move(row));
}

std::tuple<bool, double, bool> Audit::fit() const {
  Rational all, found;
  for (const Row &row : rows)
    if (row.phase != "recompute") {
      all += row.traced;
      found += row.isSpecified ? row.traced : Rational();
    }
  double share = all.isZero() ? 1 : (found / all).toDouble();
  return {!lacksGradients(), coverage.share().toDouble() * share,
          run && run->isInference != hasBackward};
}

namespace {
class Auditor {
public:
  Auditor(Audit &audit, const Question &question)
      : audit(audit), trace(*audit.trace), step(audit.step),
        question(question) {}

  llvm::Error run() {
    audit.asked = question.batch;
    Kernels kernels(audit);
    if (audit.hasCountersAlone()) {
      kernels.countAlone(question.batch);
      noteDamage(audit, trace);
      return llvm::Error::success();
    }
    // The formulas of these tools need shapes.
    if (trace.hasShapes) {
      claim("torch.profiler", "profiler");
      claim("FlopCounterMode", "flop_counter");
    }
    if (audit.run) {
      own.emplace(*audit.run);
      takeLastRepetition();
      audit.sizes = findSizes(*own, trace, step, {});
      findPasses();
      audit.memory = own->memoryAt(audit.sizes);
    } else if (step.name.empty() && !step.isNamed()) {
      findRepetition();
    }
    compareGradients();
    std::vector<Match> matches =
        audit.run ? matchPasses() : matchesOfTraceAlone();
    if (audit.run) {
      doubtGuessedExamples(matches);
      noteAxisLikeExamples();
    }
    audit.rows.reserve(matches.size());
    for (const Match &match : matches)
      audit.rows.push_back(rowOf(match));
    for (const Row &row : audit.rows)
      if (row.forward && row.isTraced && !row.input.isZero())
        audit.rows[*row.forward].hasInputGradient = true;
    if (audit.run && llvm::none_of(audit.rows, [](const Row &row) {
          return row.isSpecified && row.isTraced;
        }))
      return matchesNothing();
    addOthers();
    kernels.nameInRows();
    kernels.addCounters(trace, step.counted);
    for (Row &row : audit.rows)
      row.joinedKernels = row.kernels;
    for (const trace::Trace *given : question.counts)
      if (llvm::Error error = addGiven(audit, *given))
        return error;
    kernels.addRows();
    if (question.counters) {
      if (llvm::Error error = kernels.join(*question.counters))
        return error;
    } else if (!trace.samples.empty()) {
      kernels.sample();
    }
    sumUp(matches);
    noteOtherSizes(audit, specified, matches);
    noteOutOfOrder(audit, specified, matches);
    addUnknown();
    explain(audit);
    addNotes(audit, own ? &*own : nullptr);
    return llvm::Error::success();
  }

private:
  llvm::Error matchesNothing() const {
    if (std::optional<StringRef> why = hiddenByCompiler(audit))
      return trace::fail({"trace-matches-nothing", why->str()});
    if (step.isAskedFor && step.products.empty())
      return trace::fail(
          {"trace-matches-nothing",
           llvm::formatv("`--range={0}` has no product to compare with those "
                         "of `{1}`",
                         question.range, audit.run->name())});
    return trace::fail(
        {"trace-matches-nothing",
         llvm::formatv(
             "none of its {0} products is one of the {1} that `{2}` "
             "has; see that the network is the same, and that the "
             "trace has shapes (record_shapes=True){3}",
             step.products.size(), specified.size(), audit.run->name(),
             trace.cutAt ? llvm::formatv("; byte {0} of it: {1}, and nothing "
                                         "behind it was read",
                                         *trace.cutAt, trace.cutBy)
                               .str()
                         : "")});
  }

  /// Finds the passes whose gradients are added up, and the sizes of each: of
  /// micro-batches the last one may be smaller.
  void findPasses() {
    passes = passesOf(step.products, *own);
    audit.passes = {audit.sizes};
    if (passes.size() == 1)
      return;
    Sizes fixed = audit.sizes;
    fixed.erase(kBatchAxis.str());
    audit.passes.clear();
    for (const Pass &each : passes) {
      if (each.isEvaluation)
        continue;
      TracedStep pass;
      pass.start = step.start;
      pass.end = step.end;
      pass.products = productsOf(each);
      audit.passes.push_back(findSizes(*own, trace, pass, fixed));
    }
    audit.sizes = audit.passes.front();
  }
  std::vector<TracedProduct> productsOf(const Pass &pass) const {
    std::vector<TracedProduct> products;
    for (unsigned i : pass.products)
      products.push_back(step.products[i]);
    return products;
  }

  /// The products of the specification in a pass of these sizes.
  std::vector<SpecifiedProduct> specifiedAt(const Sizes &sizes) const {
    std::optional<Rational> asked = question.batch;
    auto examples = sizes.find(kBatchAxis.str());
    if (asked && examples != sizes.end())
      asked = *asked * examples->second / *audit.examples();
    std::vector<SpecifiedProduct> products = own->at(sizes, asked);
    if (!audit.hasBackward)
      llvm::erase_if(products, [](const SpecifiedProduct &product) {
        return product.phase != Phase::Forward;
      });
    return products;
  }

  /// Matches each pass with all products of the specification, which has no
  /// evaluation.
  std::vector<Match> matchPasses() {
    std::vector<Match> matches;
    auto sizes = audit.passes.begin();
    for (const Pass &pass : passes) {
      const std::vector<SpecifiedProduct> ours =
          pass.isEvaluation ? std::vector<SpecifiedProduct>()
                            : specifiedAt(*sizes++);
      size_t before = matches.size();
      // Most steps are one pass, whose products may be a million.
      for (Match &found : passes.size() == 1 ? match(ours, step.products)
                                             : match(ours, productsOf(pass))) {
        for (unsigned &product : found.specified)
          product += specified.size();
        for (unsigned &product : found.traced)
          product = pass.products[product];
        if (found.forward)
          *found.forward += before;
        matches.push_back(std::move(found));
      }
      llvm::append_range(specified, ours);
    }
    return matches;
  }

  /// If sizes other than those of the run fit, and no shape tells examples and
  /// the rest of a matrix' rows apart, others may fit as well.
  void doubtGuessedExamples(std::vector<Match> &matches) {
    std::optional<Rational> examples = audit.examples();
    if (!trace.hasShapes || step.isNamed() || !examples)
      return;
    Sizes sizes = audit.sizes;
    sizes[kBatchAxis.str()] = *examples;
    if (sizes == own->sizes() || tellsExamples(trace, step, specified, matches))
      return;
    bool isAny = false;
    for (Match &match : matches)
      if (match.confidence < Confidence::Order) {
        match.confidence = Confidence::Order;
        isAny = true;
      }
    if (isAny)
      note(audit, "guessed-examples",
           "no shape in the trace has examples as an axis of their own: N = " +
               examples->str() +
               " fits the number of rows, and other sizes may, too");
  }

  void noteAxisLikeExamples() {
    auto axis = step.isNamed()
                    ? std::nullopt
                    : axisLikeExamples(*own, trace, step, audit.sizes);
    if (axis)
      note(audit, "exchanged-sizes",
           "no shape in the trace tells whether N = " +
               audit.sizes[kBatchAxis.str()].str() + " and " + *axis + " = " +
               audit.sizes[*axis].str() + ", or the other way round");
  }

  void claim(StringRef id, StringRef member) {
    audit.claims.push_back({id.str(), member, "recomputed"});
  }

  /// A trace without marks of steps and gradients may have the forward pass
  /// several times. Takes the last one.
  void takeLastRepetition() {
    const size_t specified = own->forwardAt(own->sizes(), ~size_t(0)).size();
    auto &products = step.products;
    size_t all = 0;
    for (const TracedProduct &product : products)
      all += product.specified();
    if (!step.name.empty() || specified == 0 || all % specified != 0 ||
        all <= specified)
      return;
    const size_t passes = all / specified, ours = products.size() / passes;
    if (products.size() % passes != 0 ||
        llvm::any_of(products, [](const TracedProduct &product) {
          return product.phase != TracedProduct::Forward;
        }))
      return;
    for (size_t i = ours; i < products.size(); ++i)
      if (products[i].kind != products[i - ours].kind ||
          products[i].cost->flop != products[i - ours].cost->flop)
        return;
    audit.notes.push_back({"repeated", "the forward pass stands in the trace " +
                                           std::to_string(passes) +
                                           " times; the last one is taken"});
    size_t first = products.size() - ours;
    step = traceStepFrom(trace, trace.host[products[first].event],
                         trace.host[products[first - 1].event],
                         trace.host[products.back().event]);
    step.steps = passes;
  }

  /// The same without a specification, which tells how long a pass is: where
  /// all ops are repeated, takes the last ones.
  void findRepetition() {
    std::optional<Repetition> found = repetitionOf(trace, step);
    if (!found)
      return;
    if (!found->begin)
      return note(
          audit, "may-repeat",
          llvm::formatv(
              "the same {0} in the trace {1} times: equal "
              "layers, micro-batches, or steps without "
              "marks, of which `--range` takes one",
              found->products == 1
                  ? "product stands"
                  : llvm::formatv("{0} products stand", found->products).str(),
              found->times));
    note(audit, "repeated",
         llvm::formatv("the same ops stand in the trace {0} times; the last "
                       "ones are taken",
                       found->times));
    step = traceStepFrom(trace, trace.host[*found->begin],
                         trace.host[*found->before],
                         trace.host[step.products.back().event]);
    step.steps = found->times;
  }

  /// Compares only forward passes if the trace has no backward pass.
  void compareGradients() {
    audit.hasBackward =
        llvm::any_of(step.products, [](const TracedProduct &product) {
          return product.phase == TracedProduct::Backward;
        });
    if (audit.lacksGradients())
      note(audit, "no-training",
           "the trace has a backward pass, and `" + audit.run->name() +
               "` is no run that trains: only its forward pass is compared");
    else if (audit.run && !audit.run->isInference && !audit.hasBackward)
      note(audit, "forward-only",
           "the trace has no backward pass: forward passes are compared alone");
  }

  /// Without a specification, each product of the trace matches itself.
  std::vector<Match> matchesOfTraceAlone() const {
    std::vector<Match> matches;
    std::map<int64_t, unsigned> bySequence;
    std::map<uint32_t, unsigned> gradientsOf; // by node
    for (auto [i, product] : llvm::enumerate(step.products)) {
      if (product.phase == TracedProduct::Backward)
        ++gradientsOf[product.region];
      else if (product.sequence >= 0)
        bySequence[product.sequence] = i;
    }
    for (auto [i, product] : llvm::enumerate(step.products)) {
      Match &match = matches.emplace_back();
      match.traced = {unsigned(i)};
      match.phase = product.phase;
      match.confidence =
          product.cost->flop ? Confidence::Exact : Confidence::None;
      auto maker = bySequence.find(product.sequence);
      // A compiled function is one node of autograd with many products.
      if (product.phase == TracedProduct::Backward &&
          maker != bySequence.end() &&
          gradientsOf[product.region] <= kMostGradients)
        match.forward = maker->second;
    }
    return matches;
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  Row rowOf(const Match &match) const {
    Row row;
    row.confidence = match.confidence;
    row.forward = match.forward;
    for (unsigned i : match.specified)
      addTo(row, specified[i]);
    row.claims.resize(audit.claims.size());
    row.isStopped = row.isUnknown = !match.traced.empty();
    for (unsigned i : match.traced) {
      row.products.push_back(i);
      addTo(row, step.products[i]);
    }
    takeShard(row, match);
    if (!row.weight.isZero() && llvm::any_of(match.traced, [&](unsigned i) {
          return step.products[i].kind == ProductKind::Recurrence;
        }))
      row.ofData = std::max(row.traced - row.ran - row.firstState, Rational());
    row.phase = phaseOf(row, match);
    if (!audit.run)
      takeFromTrace(row, match);
    // A gradient has the op of the forward product, whose row comes first.
    if (match.forward && audit.rows.size() > *match.forward) {
      const Row &forward = audit.rows[*match.forward];
      row.op = forward.op;
      if (match.specified.empty())
        row.layer = forward.layer;
    }
    return row;
  }

  static void addTo(Row &row, const SpecifiedProduct &product) {
    row.isSpecified = true;
    row.layer = row.layer.empty() ? product.layer.str()
                                  : commonPart(row.layer, product.layer);
    if (row.op.empty())
      row.op = product.op.str();
    row.exact += product.exact;
    row.ran += product.ran;
    if (product.phase == Phase::InputGradient)
      row.input += product.exact;
    else if (product.phase == Phase::WeightGradient)
      row.weight += product.exact;
    row.elements = product.elements;
    row.groups = std::max(row.groups, product.groups);
    if (product.phase == Phase::InputGradient && product.iterations > 1)
      row.firstState += product.flop / product.iterations;
  }

  void addTo(Row &row, const TracedProduct &product) const {
    row.isTraced = true;
    row.isStopped &= product.isStopped;
    row.isRunAgain |= product.isRunAgain;
    row.isUnknown &= !row.isSpecified && !product.cost->flop;
    if (!product.isStopped)
      row.traced += product.ran().value_or(0);
    row.kernels += product.kernels;
    row.parts += product.parts;
    row.nanoseconds += product.nanoseconds;
    row.groups = std::max(row.groups, product.cost->groups);
    row.isFusedAttention |= product.kind == ProductKind::Attention &&
                            product.phase == TracedProduct::Backward;
    if (trace.hasShapes) {
      const ProfilerCount &profiler = *product.profiler;
      row.claims[0].flop += profiler.flop.value_or(0);
      row.claims[0].other += profiler.other;
      row.claims[0].inner +=
          profiler.flop.value_or(0) - profiler.other - profiler.largest;
      row.claims[0].isUnknown |= !profiler.flop;
      row.claims[1].flop += product.cost->counter.value_or(0);
      row.claims[1].isUnknown |= !product.cost->counter;
    }
    if (!row.isSpecified) {
      StringRef name = trace.names[trace.host[product.event].name];
      name.consume_front("aten::");
      row.op = trace::shownName(name);
      row.elements = product.cost->elements;
    }
  }

  /// Of products of DTensors a rank has a part, by the ops that it runs.
  void takeShard(Row &row, const Match &match) const {
    Rational all, ran;
    for (unsigned i : match.traced) {
      const TracedProduct &product = step.products[i];
      all += product.cost->flop.value_or(0);
      ran += product.ran().value_or(0);
    }
    if (all == ran)
      return;
    row.shard = ran / all;
    for (Rational *flop :
         {&row.exact, &row.ran, &row.input, &row.weight, &row.firstState})
      *flop *= row.shard;
  }

  StringRef phaseOf(const Row &row, const Match &match) const {
    if (!match.traced.empty())
      if (StringRef own = step.products[match.traced[0]].ownPhase; !own.empty())
        return own;
    bool hasInput = !row.input.isZero(), hasWeight = !row.weight.isZero();
    return match.phase == TracedProduct::Forward     ? "forward"
           : match.phase == TracedProduct::Recompute ? "recompute"
           : match.phase == TracedProduct::Update    ? "update"
           : match.phase == TracedProduct::Data      ? "data"
           : hasInput && !hasWeight                  ? "input"
           : hasWeight && !hasInput                  ? "weight"
                                                     : "input+weight";
  }

  /// Without a specification, the FLOP by the trace's shapes count as exact.
  void takeFromTrace(Row &row, const Match &match) const {
    const TracedProduct &product = step.products[match.traced.front()];
    row.isSpecified = product.cost->flop.has_value();
    row.layer = trace::shownName(product.layer);
    row.exact = row.ran = row.traced;
    if (row.phase == "input+weight" && product.cost->weight) {
      row.weight = *product.cost->weight * row.shard;
      row.input = row.exact - row.weight;
    }
  }

  /// The common prefix of two paths: `layer.0` for `layer.0.query` and
  /// `layer.0.key`. Both paths, if they have none.
  static std::string commonPart(StringRef a, StringRef b) {
    if (a == b)
      return a.str();
    llvm::SmallVector<StringRef, 8> one, other, common;
    a.split(one, '.');
    b.split(other, '.');
    for (auto [x, y] : llvm::zip(one, other)) {
      if (x != y)
        break;
      common.push_back(x);
    }
    return common.empty() ? (a + ", " + b).str() : llvm::join(common, ".");
  }

  /// Adds a row for each origin of counted ops that are not products.
  void addOthers() {
    std::map<CountedEvent::Origin, Row> rows;
    for (const CountedEvent &counted : step.others) {
      Row &row = rows[counted.origin];
      row.claims.resize(audit.claims.size());
      row.claims[0].flop += counted.flop;
      row.claims[0].other += counted.flop;
      ++row.parts;
    }
    constexpr StringRef phases[] = {"forward", "loss", "update", "data"};
    for (auto &[origin, row] : rows) {
      row.other = origin;
      row.op = counted(row.parts);
      row.phase = phases[origin];
      row.isTraced = true;
      audit.rows.push_back(std::move(row));
    }
  }

  static std::string counted(unsigned ops) {
    return std::to_string(ops) + (ops == 1 ? " other op" : " other ops");
  }

  //===--------------------------------------------------------------------===//
  // Sums
  //===--------------------------------------------------------------------===//

  void sumUp(llvm::ArrayRef<Match> matches) {
    double time = 0, matched = 0;
    for (const Row &row : audit.rows) {
      for (auto [claim, has] : llvm::zip(audit.claims, row.claims)) {
        claim.total += has.flop;
        claim.ofUnknown += row.isUnknown ? has.flop : Rational();
      }
      audit.coverage
          .flop[unsigned(row.isTraced ? row.confidence : Confidence::None)] +=
          row.exact;
      bool isAgain = row.phase == "recompute";
      (isAgain ? audit.hardware : audit.model) += row.exact;
      (isAgain ? audit.ranHardware : audit.ranModel) += row.ran;
      if (row.products.empty())
        continue;
      time += row.nanoseconds;
      // A recomputed product is matched by its forward product.
      if (row.isSpecified || (row.phase == "recompute" && row.forward))
        matched += row.nanoseconds;
    }
    audit.hardware += audit.model;
    audit.ranHardware += audit.ranModel;
    if (time > 0)
      audit.coverage.time = matched / time;
    if (audit.run && !audit.isComparable())
      audit.divergence = divergenceOf(matches);
  }

  void addUnknown() {
    // By name in the trace, of which several may be shown as one.
    std::map<std::pair<bool, trace::Name>, Unknown> times;
    auto add = [&](bool isKernel, trace::Name name, int64_t nanoseconds) {
      Unknown &unknown = times[{isKernel, name}];
      ++unknown.times;
      unknown.nanoseconds += nanoseconds;
    };
    for (const Row &row : audit.rows)
      if (row.isUnknown)
        for (unsigned i : row.products)
          add(false, trace.host[step.products[i].event].name,
              step.products[i].nanoseconds);
    if (hiddenByCompiler(audit) && step.kernels.empty())
      for (uint32_t graph : step.hiddenGraphs)
        add(false, trace.host[graph].name, trace.host[graph].duration);
    for (const StepKernel &kernel : step.kernels) {
      const trace::DeviceEvent &event = trace.kernels[kernel.kernel];
      if (!kernel.product)
        add(true, event.name, event.duration);
    }
    std::map<std::pair<bool, std::string>, Unknown> found;
    for (const auto &[key, all] : times) {
      auto [isKernel, name] = key;
      std::string text = isKernel ? kernelBaseName(trace.names[name])
                         : isCompiledGraph(trace.names[name])
                             ? "compiled graph"
                             : trace.names[name].str();
      if (isKernel && !multipliesByName(text))
        continue;
      text = trace::shownName(text);
      Unknown &unknown = found[{isKernel, text}];
      unknown.name = text;
      unknown.isKernel = isKernel;
      unknown.times += all.times;
      unknown.nanoseconds += all.nanoseconds;
    }
    for (auto &[key, unknown] : found)
      audit.unknown.push_back(std::move(unknown));
    llvm::stable_sort(audit.unknown, [](auto &a, auto &b) {
      return a.nanoseconds > b.nanoseconds;
    });
  }

  /// The first unmatched product of the specification and that of the trace,
  /// each with three neighbours on both sides.
  Divergence divergenceOf(llvm::ArrayRef<Match> matches) const {
    constexpr unsigned around = 3;
    Divergence divergence;
    std::optional<unsigned> ours, theirs;
    for (const Match &match : matches)
      if (match.confidence == Confidence::None) {
        if (!match.specified.empty() && !ours)
          ours = match.specified.front();
        if (!match.traced.empty() && !theirs)
          theirs = match.traced.front();
      }
    auto addAround = [&](std::optional<unsigned> at, size_t size, auto textOf,
                         std::vector<std::string> &lines) {
      if (!at)
        return;
      for (unsigned i = *at < around ? 0 : *at - around;
           i < size && i <= *at + around; ++i)
        lines.push_back((i == *at ? "> " : "  ") + textOf(i));
    };
    addAround(
        ours, specified.size(),
        [&](unsigned i) {
          return specified[i].name.str() + " " + specified[i].flop.str();
        },
        divergence.specified);
    addAround(
        theirs, step.products.size(),
        [&](unsigned i) {
          const TracedProduct &product = step.products[i];
          return trace::shownName(trace.names[trace.host[product.event].name]) +
                 " " + (product.cost->flop ? product.cost->flop->str() : "?");
        },
        divergence.traced);
    return divergence;
  }

  Audit &audit;
  const trace::Trace &trace;
  TracedStep &step;
  const Question &question;
  std::optional<SpecifiedStep> own; ///< owns the names of `specified`
  std::vector<Pass> passes;
  std::vector<SpecifiedProduct> specified;
};
} // namespace

llvm::Expected<Audit> netc::audit::audit(const trace::Trace &trace,
                                         StringRef file, const Run *run,
                                         const Question &question) {
  Audit audit;
  audit.trace = &trace;
  audit.file = trace::shownFile(file);
  audit.run = run;
  llvm::Expected<TracedStep> step = traceStep(trace, question.range);
  if (!step)
    return step.takeError();
  audit.step = std::move(*step);
  if (llvm::Error error = Auditor(audit, question).run())
    return error;
  return audit;
}
