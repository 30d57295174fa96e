// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/GivenCounts.h"

#include "lib/Audit/Flop.h"
#include "lib/Audit/Notes.h"
#include "lib/Trace/Read.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

namespace {
class Giver {
public:
  Giver(Audit &audit, const trace::Trace &given)
      : audit(audit), trace(*audit.trace), step(audit.step), given(given) {}

  llvm::Error run() {
    // A tool may have written several files: each is a claim.
    std::string id = given.tool + ", given";
    size_t before = llvm::count_if(audit.claims, [&](const Claim &claim) {
      return StringRef(claim.id).starts_with(id);
    });
    if (before)
      id += " " + std::to_string(before + 1);
    audit.claims.push_back({std::move(id), "given", "given"});
    claim = audit.claims.size() - 1;
    for (Row &row : audit.rows)
      row.claims.resize(claim + 1);
    rowOf = audit.rowsOfProducts();
    sortProducts();
    addUp();
    // If only the counts have shapes, they cannot match, whatever the program.
    if ((trace.hasShapes || !hasShapes) && isOfAnother())
      return trace::fail(
          {"counts-match-nothing",
           llvm::formatv("none of the {0} ops and shapes that were counted is "
                         "one of the step; see that both are of the same "
                         "program",
                         sums.size())},
          given.file);
    noteMeans();
    Rational rest = whole;
    for (const auto &[key, sum] : sums)
      for (size_t i = 0; i < sum.events.size(); ++i) {
        const trace::HostEvent &event = *sum.events[i].first;
        std::optional<unsigned> product = sum.events[i].second;
        if (!product)
          continue;
        Rational flop = flopOf(sum, i);
        RowClaim &has = rowOf[*product]->claims[claim];
        has.flop += flop;
        if (isElementwise(trace, event))
          has.other += flop;
        rest -= flop;
      }
    // Adding rows invalidates rowOf.
    addExtra(rest);
    if (!rest.isZero())
      audit.addOther(claim, rest, "the rest of the sum");
    return llvm::Error::success();
  }

private:
  /// What the tool counted for an op with the same shapes.
  struct Sum {
    Rational flop;
    int64_t calls = 0;
    /// The counts of single calls, in order; fewer than `calls` if the tool
    /// added some up.
    std::vector<int64_t> each;
    /// Events of the step, by start, and the product that each belongs to.
    std::vector<std::pair<const trace::HostEvent *, std::optional<unsigned>>>
        events;
    /// The sum over `events` of the FLOP by the tool's formulas.
    Rational weight;
  };

  bool isOfAnother() const {
    return llvm::all_of(
        sums, [](const auto &each) { return each.second.events.empty(); });
  }

  /// Adds a row for products that the step lacks, and subtracts them from
  /// `rest`, which is then that of ops that are not products.
  void addExtra(Rational &rest) {
    Rational extra;
    for (const auto &[key, sum] : sums)
      if (sum.events.empty() && multiplies(StringRef(key).split('[').first))
        extra += sum.flop;
    if (extra.isZero())
      return;
    audit.addOther(claim, extra, "other products");
    Row &row = audit.rows.back();
    row.other.reset();
    row.claims[claim].other = 0;
    rest -= extra;
  }

  void addUp() {
    for (const trace::Count &count : given.counts) {
      audit.claims[claim].isRounded |= count.unit > 1;
      StringRef module = given.names[count.module];
      if (!module.empty() && module != "Global")
        continue;
      isOfProfiler |= module.empty();
      Sum &sum = sums[keyOf(given, count.op, count.shapes)];
      sum.flop += count.flop;
      sum.calls += count.calls;
      sum.each.push_back(count.flop);
      hasShapes |= count.shapes.size != 0;
      whole += count.flop;
    }
    // Events and tables cover all recorded steps.
    Rational steps(
        std::max<int64_t>(given.countedSteps, isOfProfiler ? step.steps : 1));
    whole /= steps;
    takeEvents();
    for (auto &[key, sum] : sums) {
      for (auto [event, product] : sum.events)
        sum.weight += weightOf(*event, product);
      // The list may cover fewer steps than the trace.
      if ((hasShapes || isOfProfiler) && !sum.events.empty()) {
        whole -= sum.flop / steps;
        sum.flop *= Rational::fraction(sum.events.size(), sum.calls);
        whole += sum.flop;
      } else {
        sum.flop /= steps;
      }
    }
    divideBySteps();
  }

  /// Divides counts of which each is the same multiple of what the step has:
  /// they are of several steps.
  void divideBySteps() {
    std::optional<Rational> steps;
    for (const auto &[key, sum] : sums) {
      if (sum.weight.isZero() && sum.flop.isZero())
        continue;
      Rational ratio = sum.flop / sum.weight;
      if (!ratio.isInteger() || ratio < 2 || ratio != steps.value_or(ratio))
        return;
      steps = ratio;
    }
    if (!steps)
      return;
    for (auto &[key, sum] : sums)
      sum.flop /= *steps;
    whole /= *steps;
    note(audit, "counted-steps",
         audit.claims[claim].id + ": each op has " + steps->str() +
             " times what the step has; they are taken for counts of " +
             steps->str() + " steps");
  }

  void takeEvents() {
    for (auto [i, event] : llvm::enumerate(trace.host)) {
      if (event.start < step.start || event.start >= step.end ||
          (isOfProfiler && step.dropped.contains(i)))
        continue;
      auto found = sums.find(
          keyOf(trace, event.name,
                hasShapes ? trace.inputsOf(event).shapes : trace::Slice()));
      if (found == sums.end())
        continue;
      std::optional<unsigned> product = holderOf(event);
      if (product && !rowOf[*product])
        product.reset();
      found->second.events.push_back({&event, product});
    }
    for (auto &[key, sum] : sums)
      llvm::stable_sort(sum.events, [](auto &a, auto &b) {
        return a.first->start < b.first->start;
      });
  }

  /// Notes which counts are means: if the list ends within a step, calls cannot
  /// be assigned to events.
  void noteMeans() {
    size_t means = 0;
    const Sum *first = nullptr;
    for (const auto &[key, sum] : sums)
      if (hasShapes && !sum.events.empty() && sum.calls % sum.events.size()) {
        ++means;
        if (!first)
          first = &sum;
      }
    if (!first)
      return;
    StringRef op = trace.names[first->events.front().first->name];
    note(audit, "mean-counts",
         llvm::formatv("{0}: no whole number of steps has {1} calls of `{2}`, "
                       "of which the step has {3}; the list may end within a "
                       "step. What it says of {4} of its {5} ops and shapes is "
                       "a mean",
                       audit.claims[claim].id, first->calls,
                       trace::shownName(op), first->events.size(), means,
                       sums.size())
             .str());
  }

  /// FLOP that the tool counted for event `i` of `sum`.
  Rational flopOf(const Sum &sum, size_t i) const {
    size_t events = sum.events.size();
    // Calls may differ in arguments that are not shapes, such as a stride. So
    // each event has a count of its own: the mean over the recorded steps.
    if (hasShapes && sum.each.size() == size_t(sum.calls) &&
        sum.each.size() % events == 0) {
      Rational flop;
      for (size_t j = i; j < sum.each.size(); j += events)
        flop += sum.each[j];
      return flop * Rational::fraction(events, sum.each.size());
    }
    // Events share a sum in proportion to the tool's formulas. Without a
    // formula, events with equal shapes share it equally; of others, it stays
    // in the rest.
    if (!sum.weight.isZero())
      return sum.flop * weightOf(*sum.events[i].first, sum.events[i].second) /
             sum.weight;
    return hasShapes ? sum.flop / Rational(int64_t(events)) : Rational();
  }

  /// FLOP of an event by the tool's formulas: those of torch.profiler, or if
  /// the counts name modules, those of FlopCounterMode.
  Rational weightOf(const trace::HostEvent &event,
                    std::optional<unsigned> product) const {
    if (isOfProfiler)
      return profilerFlop(trace, event).value_or(0);
    if (!product)
      return Rational();
    const TracedProduct &holder = step.products[*product];
    return &event == &trace.host[holder.costEvent]
               ? holder.cost->counter.value_or(0)
               : Rational();
  }

  /// The key of an op with its shapes. FlopCounterMode writes `aten.mm` for
  /// `aten::mm`.
  static std::string keyOf(const trace::Trace &of, trace::Name op,
                           trace::Slice shapes) {
    StringRef name = of.names[op];
    std::string key = name.str();
    if (name.consume_front("aten."))
      key = "aten::" + name.str();
    for (uint32_t i = 0; i < shapes.size; ++i) {
      trace::Slice sizes = of.tensors[shapes.begin + i];
      key += '[';
      for (int64_t size :
           llvm::ArrayRef(of.sizes).slice(sizes.begin, sizes.size))
        key += std::to_string(size) + ",";
    }
    return key;
  }

  const trace::HostEvent &eventOf(unsigned product) const {
    return trace.host[step.products[product].event];
  }

  /// Sorts the products by thread and start.
  void sortProducts() {
    byTime.resize(step.products.size());
    for (unsigned i = 0; i < byTime.size(); ++i)
      byTime[i] = i;
    llvm::sort(byTime, [&](unsigned i, unsigned j) {
      const trace::HostEvent &a = eventOf(i), &b = eventOf(j);
      return std::tie(a.thread, a.start, i) < std::tie(b.thread, b.start, j);
    });
  }

  /// The product that is the event, contains it, or is the first one in it.
  std::optional<unsigned> holderOf(const trace::HostEvent &event) const {
    auto next = llvm::partition_point(byTime, [&](unsigned i) {
      return std::tie(eventOf(i).thread, eventOf(i).start) <=
             std::tie(event.thread, event.start);
    });
    // Products do not nest: only the last that began before can contain the
    // event.
    if (next != byTime.begin())
      if (const auto &before = eventOf(*std::prev(next));
          before.thread == event.thread &&
          (event.end() <= before.end() ||
           (before.start == event.start && before.end() <= event.end())))
        return *std::prev(next);
    if (next != byTime.end() && eventOf(*next).thread == event.thread &&
        eventOf(*next).end() <= event.end())
      return *next;
    return std::nullopt;
  }

  Audit &audit;
  const trace::Trace &trace;
  const TracedStep &step;
  const trace::Trace &given;
  size_t claim = 0;
  std::vector<Row *> rowOf;
  std::vector<unsigned> byTime; ///< indices of products
  std::map<std::string, Sum> sums;
  Rational whole; ///< FLOP of one step
  bool hasShapes = false;
  /// Whether the counts are those of torch.profiler. FlopCounterMode names
  /// modules.
  bool isOfProfiler = false;
};
} // namespace

llvm::Error netc::audit::addGiven(Audit &audit, const trace::Trace &given) {
  return Giver(audit, given).run();
}
