// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Notes.h"

#include "lib/Analysis/Run.h"
#include "lib/Audit/OpNames.h"
#include "lib/Audit/Passes.h"
#include "lib/Audit/Sizes.h"
#include "lib/Audit/Utilization.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

void netc::audit::note(Audit &audit, StringRef id, const llvm::Twine &text) {
  audit.notes.push_back({id.str(), text.str()});
}

void netc::audit::noteDamage(Audit &audit, const trace::Trace &file,
                             StringRef name) {
  std::string whose = name.empty() ? "" : (name + ": ").str();
  if (file.cutAt)
    note(audit, "trace-cut",
         llvm::formatv("{0}byte {1}: {2}; what is in front of it was read, "
                       "{3} events, and nothing behind it",
                       whose, *file.cutAt, file.cutBy, file.read)
             .str());
  if (file.mended)
    note(audit, "trace-mended",
         llvm::formatv("{0}places that are no JSON, or too large or long a "
                       "number, were read all the same, the first at byte {1}, "
                       "NaN as null, damaged letters as `?` and such numbers "
                       "as smaller ones: {2}",
                       whose, *file.mendedAt, file.mended)
             .str());
  if (file.broken)
    note(audit, "broken-events",
         whose +
             (file.counts.empty()
                  ? "events without a time, a begin or an end, or with a time "
                    "out of range, are left out: "
                  : "rows that tell no FLOP are left out: ") +
             std::to_string(file.broken));
  if (file.brokenCounters)
    note(audit, "broken-counters",
         whose +
             "counters below 0, beyond 64 bits, or not written as the others "
             "are left out: " +
             std::to_string(file.brokenCounters));
}

/// The number of optimizer steps within the step.
static size_t updatesOf(const Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  const TracedStep &step = audit.step;
  return llvm::count_if(trace.host, [&](const trace::HostEvent &event) {
    return event.kind == trace::HostEvent::Annotation &&
           event.start >= step.start && event.start < step.end &&
           trace.names[event.name].starts_with("Optimizer.step#");
  });
}

/// ` of 3, 3 and 2 examples`, or of all passes, if they have equally many.
static std::string examplesText(const Audit &audit) {
  std::string text;
  bool areEqual = llvm::all_equal(audit.passes);
  for (auto [i, pass] : llvm::enumerate(audit.passes)) {
    auto size = pass.find(kBatchAxis.str());
    if (size == pass.end())
      return "";
    text += (i == 0                        ? " of "
             : i + 1 < audit.passes.size() ? ", "
                                           : " and ") +
            size->second.str();
    if (areEqual)
      break;
  }
  return text + " examples";
}

/// The number of backward passes in a step of a netc program, which marks each,
/// and forward passes in front of them.
static size_t markedPassesOf(const Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  const TracedStep &step = audit.step;
  size_t passes = 0;
  bool isBehindForward = false;
  if (step.isNamed())
    for (const trace::HostEvent &event : trace.host) {
      if (event.kind != trace::HostEvent::Annotation ||
          event.start < step.start || event.start >= step.end)
        continue;
      StringRef name = trace.names[event.name];
      passes += name == "backward" && isBehindForward;
      if (name == "forward" || name == "backward")
        isBehindForward = name == "forward";
    }
  return passes;
}

/// Whether gradients are cleared, or may be by the closure of an optimizer,
/// between passes.
static bool clearsBetween(const Audit &audit, llvm::ArrayRef<Pass> passes) {
  const trace::Trace &trace = *audit.trace;
  auto startOf = [&](const Pass &pass) {
    return trace.host[audit.step.products[pass.products.front()].event].start;
  };
  int64_t first = startOf(passes.front()), last = startOf(passes.back());
  return llvm::any_of(trace.host, [&](const trace::HostEvent &event) {
    StringRef name = trace.names[event.name];
    return event.kind == trace::HostEvent::Annotation &&
           ((name.starts_with("Optimizer.zero_grad#") && event.start > first &&
             event.start < last) ||
            (name.starts_with("Optimizer.step#") && event.start < first &&
             event.end() > last));
  });
}

/// Notes passes whose gradients are added up or cleared, and evaluations.
/// Whether they are cleared.
static bool notePasses(Audit &audit, const SpecifiedStep &specified) {
  std::vector<Pass> passes = passesOf(audit.step.products, specified), others;
  llvm::copy_if(passes, std::back_inserter(others),
                [](const Pass &pass) { return pass.isEvaluation; });
  llvm::erase_if(passes, [](const Pass &pass) { return pass.isEvaluation; });
  size_t many = audit.passes.size();
  if (!others.empty())
    note(audit, "evaluation",
         llvm::formatv("forward passes without a backward pass behind them: "
                       "{0}; the specification has none, and their products "
                       "are `extra`",
                       others.size())
             .str());
  if (many > 1 && updatesOf(audit) > 1) {
    note(audit, "several-steps",
         llvm::formatv("the step has {0} passes forward and backward and {1} "
                       "steps of an optimizer: it is more than one",
                       many, updatesOf(audit))
             .str());
  } else if (many > 1 && clearsBetween(audit, passes)) {
    note(audit, "passes",
         llvm::formatv("the step has {0} passes forward and backward{1}; their "
                       "gradients are not added up, for an optimizer clears "
                       "them or asks for each",
                       many, examplesText(audit))
             .str());
    return true;
  } else if (size_t marked = many > 1 ? many : markedPassesOf(audit);
             marked > 1) {
    note(audit, "micro-batches",
         llvm::formatv("the step has {0} passes forward and backward, whose "
                       "gradients are added up: {0} micro-batches{1}",
                       marked, many > 1 ? examplesText(audit) : "")
             .str());
  }
  return false;
}

/// Notes if a run adds up the gradients of another number of passes.
static void noteAccumulation(Audit &audit) {
  size_t passes =
      std::max({audit.passes.size(), markedPassesOf(audit), size_t(1)});
  const std::optional<Rational> &parts = audit.run->accumulate;
  if (parts && audit.hasBackward && updatesOf(audit) < 2 &&
      *parts != Rational(passes))
    note(audit, "accumulate",
         llvm::formatv("passes forward and backward: the trace has {0}, the "
                       "run {1} (`accumulate`)",
                       passes, parts->str())
             .str());
}

static void noteSizes(Audit &audit, const SpecifiedStep &specified) {
  bool areCleared = notePasses(audit, specified);
  for (const auto &[axis, size] : audit.sizes) {
    auto written = specified.sizes().find(axis);
    bool isBatch = axis == kBatchAxis;
    Rational has = isBatch && !areCleared ? *audit.examples() : size;
    std::string name = isBatch ? "batch" : "`" + axis + "`";
    if (written == specified.sizes().end())
      note(audit, "size", name + " is " + size.str() + " by the trace");
    else if (written->second != has)
      note(audit, "batch",
           "the trace has " + name + " " + has.str() + ", the run " +
               written->second.str() +
               (isBatch && audit.asked ? "; counts are of " + audit.asked->str()
                                       : "; counts are of the trace's"));
  }
}

/// Notes if the run has no products in the format of most products of the
/// trace. That is the type of the first operand that has one.
static void notePrecision(Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  std::map<StringRef, unsigned> types;
  for (const TracedProduct &product : audit.step.products)
    for (unsigned i : {0, 1, 2}) {
      StringRef type = trace.type(trace.host[product.event], i);
      if (type.empty() || !product.cost->flop ||
          product.phase == TracedProduct::Update ||
          product.phase == TracedProduct::Data)
        continue;
      ++types[type];
      break;
    }
  if (types.empty())
    return;
  StringRef most =
      std::max_element(types.begin(), types.end(), [](auto &a, auto &b) {
        return a.second < b.second;
      })->first;
  constexpr std::pair<StringRef, NumberFormat> formats[] = {
      {"float", NumberFormat::F32},
      {"double", NumberFormat::F64},
      {"c10::BFloat16", NumberFormat::BF16},
      {"c10::Half", NumberFormat::F16}};
  auto traced = llvm::find_if(
      formats, [&](const auto &format) { return format.first == most; });
  if (traced == std::end(formats))
    return;
  Figures inFormat = audit.run->step().in(traced->second);
  if (!inFormat.model().matmul.isZero())
    return;
  note(audit, "precision",
       "the trace multiplies in " + traitsOf(traced->second).name.str() +
           ", the run in " + audit.run->namesOfFormats());
}

/// Notes if utilization is measured against peaks of another device than the
/// traced one.
static void noteDevice(Audit &audit) {
  StringRef traced = audit.trace->device, ofRun = audit.run->device;
  std::optional<Accelerator> taken = acceleratorOf(ofRun);
  if (!taken)
    return;
  // netc's own traces are of no device, or of that of the run.
  if (traced.empty() && audit.trace->kernels.empty() && !audit.step.isNamed() &&
      modelUtilization(audit, audit.ranModel))
    return note(audit, "device",
                "the trace has no device, the run has " + ofRun +
                    ", whose peaks utilization is measured against");
  // `Tesla V100-DGXS-32GB` is a V100.
  for (StringRef word : llvm::split(traced, ' ')) {
    StringRef model = word.split('-').first;
    std::optional<Accelerator> device = acceleratorOf(model);
    if (!device)
      continue;
    if (!ofRun.contains_insensitive(model) && !device->hasPeaksOf(*taken))
      note(audit, "device",
           "the trace is of " + traced + ", the run of " + ofRun +
               ", whose peaks utilization is measured against");
    return;
  }
}

static void noteAbovePeak(Audit &audit) {
  std::optional<Rational> use = utilizationInKernels(audit);
  if (use && *use > Rational(1))
    note(audit, "above-peak",
         "kernels take less time than their FLOP do at the peak of " +
             audit.run->namesOfFormats() +
             ": they multiply in another format, such as tf32, or by another "
             "algorithm");
}

std::optional<StringRef> netc::audit::hiddenByCompiler(const Audit &audit) {
  const TracedStep &step = audit.step;
  bool isAllFound = audit.run && audit.coverage.share() == Rational(1);
  if (step.hiddenGraphs.empty() ||
      (!step.products.empty() && (isAllFound || step.levels.kernels)))
    return std::nullopt;
  return StringRef(
      "the step runs a compiled graph, and the trace does not show "
      "the ops inside: what it multiplies is not known; record it "
      "without torch.compile");
}

static bool hasOps(const trace::Trace &trace) {
  return llvm::any_of(trace.host, [](const trace::HostEvent &event) {
    return event.kind == trace::HostEvent::Op;
  });
}

/// Notes that the trace has no shapes, and how to record them.
static void noteShapes(Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  if (std::optional<StringRef> why = hiddenByCompiler(audit))
    return note(audit, "compiled", *why);
  if (trace.hasShapes ||
      llvm::any_of(audit.step.products, [](const TracedProduct &product) {
        return product.cost->flop.has_value();
      }))
    return;
  if (!hasOps(trace))
    return note(audit, "no-ops",
                trace.kernels.empty()
                    ? "the trace has neither ops nor kernels of a device"
                    : "the trace has kernels and no ops: what they multiply is "
                      "not known");
  StringRef hint =
      trace.format == "nsys-sqlite"
          ? "; emit_nvtx(record_shapes=True) writes them"
      : trace.format == "kineto" || trace.format == "execution-trace"
          ? "; record with record_shapes=True"
          : "";
  note(audit, "no-shapes",
       "the trace has no shapes: ops are matched by their order, and what "
       "tools count is not known" +
           hint);
}

/// Notes gradients that a second backward pass makes again.
static void noteRunAgain(Audit &audit) {
  size_t again =
      llvm::count_if(audit.rows, [](const Row &row) { return row.isRunAgain; });
  if (again && audit.run)
    note(audit, "run-again",
         "gradients that a backward pass makes again, since it goes through "
         "one graph several times (retain_graph or create_graph): " +
             llvm::Twine(again) + "; the specification has them once");
}

/// Notes products of several processes, as in a file that the traces of ranks
/// were merged into.
static void noteProcesses(Audit &audit) {
  const trace::Trace &trace = *audit.trace;
  std::set<StringRef> processes;
  for (const TracedProduct &product : audit.step.products)
    processes.insert(trace.threads[trace.host[product.event].thread].process);
  if (processes.size() > 1)
    note(audit, "several-processes",
         llvm::formatv("the step has products of {0} processes, such as ranks "
                       "whose traces are in one file: counts are of all that "
                       "falls into its time; name the trace of one of them",
                       processes.size())
             .str());
}

/// Notes rows for which a tool's count is unknown.
static void noteUnknownCounts(Audit &audit) {
  for (auto [i, claim] : llvm::enumerate(audit.claims))
    if (size_t rows = audit.rowsUnknownTo(i); rows && !claim.isPartial)
      note(audit, "unknown-counts",
           llvm::formatv(
               "rows whose shapes do not tell what {0} counts: {1}; its "
               "total is without them",
               claim.id, rows)
               .str());
}

void netc::audit::noteOtherSizes(Audit &audit,
                                 llvm::ArrayRef<SpecifiedProduct> specified,
                                 llvm::ArrayRef<Match> matches) {
  size_t others = 0;
  std::string first;
  for (const Match &match : matches) {
    if (match.confidence != Confidence::Order)
      continue;
    auto other = otherSizeIn(specified, audit.step.products, match);
    if (!other || others++)
      continue;
    first = "`" + specified[match.specified[0]].name.str() + "` " + *other;
  }
  if (others)
    note(audit, "other-sizes",
         llvm::formatv("rows whose FLOP are those of the run, and whose sizes "
                       "are not: {0}; {1}",
                       others, first)
             .str());
}

void netc::audit::noteOutOfOrder(Audit &audit,
                                 llvm::ArrayRef<SpecifiedProduct> specified,
                                 llvm::ArrayRef<Match> matches) {
  auto isOutOfOrder = [](const Match &match) { return match.isOutOfOrder; };
  auto first = llvm::find_if(matches, isOutOfOrder);
  if (first != matches.end())
    note(audit, "out-of-order",
         llvm::formatv("products with the FLOP and sizes of the run that stand "
                       "elsewhere in the trace: {0}; the first is `{1}`",
                       llvm::count_if(matches, isOutOfOrder),
                       specified[first->specified[0]].name)
             .str());
}

bool netc::audit::noteMissingCounters(Audit &audit,
                                      const trace::Trace &counters,
                                      llvm::ArrayRef<StepKernel> kernels) {
  std::map<StringRef, size_t> missing;
  for (const StepKernel &each : kernels)
    for (StringRef counter :
         countersMissing(counters, counters.counted[each.kernel]))
      ++missing[counter];
  for (const auto &[counter, times] : missing)
    note(audit, "missing-counter",
         llvm::formatv("{0} of {1} kernels have no counter of {2} beside "
                       "others: their FLOP are at least those counted",
                       times, kernels.size(), counter)
             .str());
  return !missing.empty();
}

void netc::audit::addNotes(Audit &audit, const SpecifiedStep *specified) {
  const trace::Trace &trace = *audit.trace;
  noteShapes(audit);
  noteUnknownCounts(audit);
  noteProcesses(audit);
  noteRunAgain(audit);
  if (trace.shapesAdded)
    note(audit, "added-shapes",
         "ops that have their shapes from the execution trace: " +
             llvm::Twine(trace.shapesAdded));
  noteDamage(audit, trace);
  if (audit.step.unlaunched)
    note(audit, "no-launch",
         "kernels that belong to no step, since the trace has no launch of "
         "them: " +
             llvm::Twine(audit.step.unlaunched));
  if (trace.rank && trace.ranks > 1)
    note(audit, "rank",
         llvm::formatv("the trace is of rank {0} of {1} that run the step "
                       "together: counts are of its part alone",
                       *trace.rank, trace.ranks)
             .str());
  if (!trace.hasTimes)
    note(audit, "no-times",
         "the trace has no times: it tells the order of ops");
  else if (trace.kernels.empty() && hasOps(trace))
    note(audit, "no-kernels",
         "the trace has no kernels of a device: times are "
         "those of ops on the host");
  if (specified) {
    noteSizes(audit, *specified);
    noteAccumulation(audit);
    notePrecision(audit);
    noteDevice(audit);
    noteAbovePeak(audit);
  }
}
