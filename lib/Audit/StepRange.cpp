// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/StepRange.h"

#include "lib/Audit/OpNames.h"
#include "lib/Trace/Read.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::StringRef;

/// The start of the first event, and the end of the last.
static std::pair<int64_t, int64_t> spanOf(const Trace &trace) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  auto widen = [&](const auto &event) {
    begin = std::min(begin, event.start);
    end = std::max(end, event.end());
  };
  llvm::for_each(trace.host, widen);
  llvm::for_each(trace.kernels, widen);
  return begin <= end ? std::pair(begin, end) : std::pair<int64_t, int64_t>();
}

namespace {
struct Marked {
  int64_t start, end;
  std::string name;
};
} // namespace

/// The ranges with a name for which `is` holds.
template <typename Is>
static std::vector<Marked> markedBy(const Trace &trace, Is is) {
  std::vector<Marked> marked;
  for (const HostEvent &event : trace.host)
    if (StringRef name = trace.names[event.name];
        event.kind == HostEvent::Annotation && is(name))
      marked.push_back({event.start, event.end(), name.str()});
  return marked;
}

/// The steps with this number or name, or all if it is empty.
static std::vector<Marked> numberedBy(const Trace &trace, StringRef range) {
  std::vector<Marked> marked;
  for (const HostEvent &event : trace.host) {
    std::string number = std::to_string(event.sequence);
    if (event.kind == HostEvent::Step &&
        (range.empty() || range == number || range == trace.names[event.name]))
      marked.push_back({event.start, event.end(), "step " + number});
  }
  return marked;
}

namespace {
/// What tells whether a step is over.
struct Work {
  enum Kind { Node, Update, Forward };
  int64_t start, end;
  Kind kind;
};
} // namespace

/// The steps of optimizers, in order, and the ops and nodes of autograd of a
/// trace, by start.
static std::vector<Work> workOf(const Trace &trace,
                                llvm::ArrayRef<Marked> updates) {
  std::vector<Work> works;
  for (const Marked &update : updates)
    works.push_back({update.start, update.end, Work::Update});
  OncePerName<bool> isNode(
      trace.names, [](StringRef name) { return !nodeOf(name).empty(); });
  for (const HostEvent &event : trace.host)
    if (event.kind == HostEvent::Op)
      if (bool node = isNode[event.name];
          node || event.sequence >= 0 || !trace.hasSequence)
        works.push_back(
            {event.start, event.end(), node ? Work::Node : Work::Forward});
  llvm::sort(works, [](const Work &a, const Work &b) {
    return std::make_tuple(a.start, -a.end, a.kind) <
           std::make_tuple(b.start, -b.end, b.kind);
  });
  return works;
}

/// An optimizer may step in a backward pass, once for each parameter, by hooks
/// of gradients. Makes one of such steps, to the end of the pass.
static void joinWithinBackward(const Trace &trace,
                               std::vector<Marked> &updates) {
  std::vector<Marked> joined;
  int64_t endOfNodes = INT64_MIN, endOfUpdate = INT64_MIN;
  bool isOpen = false; // whether no forward op follows an update
  bool goesOn = false; // whether the backward pass does behind an update
  for (const Work &work : workOf(trace, updates))
    switch (work.kind) {
    case Work::Node:
      endOfNodes = std::max(endOfNodes, work.end);
      goesOn |= isOpen && work.end > endOfUpdate;
      if (isOpen && goesOn)
        joined.back().end = std::max(joined.back().end, work.end);
      break;
    case Work::Forward:
      // What a node runs again, or an optimizer by a closure, is no next step.
      isOpen &= work.start < std::max(endOfNodes, endOfUpdate);
      break;
    case Work::Update:
      if (isOpen && goesOn)
        joined.back().end = std::max(joined.back().end, work.end);
      else
        joined.push_back(
            {work.start, std::max(work.end, endOfNodes), updates.front().name});
      endOfUpdate = work.end;
      goesOn = endOfNodes > endOfUpdate;
      isOpen = true;
      break;
    }
  updates = std::move(joined);
}

/// Steps from the end of one optimizer's step to that of the next. What
/// precedes the first is left out, since the profiler may have cut it. None if
/// there are fewer than two optimizer's steps.
static std::vector<Marked> markedByOptimizer(const Trace &trace) {
  std::vector<Marked> updates = markedBy(trace, [](StringRef name) {
    return name.starts_with("Optimizer.step#");
  });
  std::vector<Marked> steps;
  if (updates.size() < 2)
    return steps;
  llvm::sort(updates, [](auto &a, auto &b) {
    return std::tie(a.end, a.start) < std::tie(b.end, b.start);
  });
  // Several optimizers may run in one step: take the last one.
  std::string name = updates.back().name;
  llvm::erase_if(updates,
                 [&](const Marked &each) { return each.name != name; });
  joinWithinBackward(trace, updates);
  for (size_t i = 1; i < updates.size(); ++i)
    steps.push_back({updates[i - 1].end, updates[i].end,
                     "optimizer step " + std::to_string(i + 1)});
  return steps;
}

/// Parses `10ms-25ms`, to nanoseconds.
static std::optional<std::pair<int64_t, int64_t>> timesIn(StringRef text) {
  auto timeIn = [](StringRef text) -> std::optional<int64_t> {
    constexpr std::pair<StringRef, double> units[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (auto [unit, nanoseconds] : units)
      if (StringRef number = text; number.consume_back(unit)) {
        double value;
        if (number.getAsDouble(value) || !(value >= 0 && value < 1e6))
          continue;
        return int64_t(std::llround(value * nanoseconds));
      }
    return std::nullopt;
  };
  auto [from, to] = text.split('-');
  auto start = timeIn(from), end = timeIn(to);
  if (!start || !end)
    return std::nullopt;
  return std::pair(*start, *end);
}

/// Removes steps that have less than half of the most events in a step: the
/// profiler saw only the beginning or the end of them. Returns their number.
static size_t eraseCut(const Trace &trace, std::vector<Marked> &marked) {
  llvm::sort(marked, [](auto &a, auto &b) { return a.start < b.start; });
  std::vector<size_t> events(marked.size());
  for (const HostEvent &event : trace.host) {
    if (event.kind != HostEvent::Op && event.kind != HostEvent::Launch)
      continue;
    size_t behind = llvm::partition_point(marked,
                                          [&](const Marked &each) {
                                            return each.start <= event.start;
                                          }) -
                    marked.begin();
    if (behind && event.start < marked[behind - 1].end)
      ++events[behind - 1];
  }
  size_t most = *std::max_element(events.begin(), events.end()), kept = 0;
  for (size_t i = 0; i < marked.size(); ++i)
    if (events[i] * 2 >= most)
      marked[kept++] = marked[i];
  size_t cut = marked.size() - kept;
  marked.resize(kept);
  return cut;
}

llvm::Error netc::audit::chooseStep(const Trace &trace, StringRef range,
                                    TracedStep &step) {
  step.hasTimes = trace.hasTimes;
  auto [begin, end] = spanOf(trace);
  std::vector<Marked> marked;
  if (auto times = timesIn(range)) {
    if (times->second < times->first)
      return fail(
          {"trace-without-range",
           llvm::formatv("`--range={0}` ends before it begins", range)});
    int64_t from = begin + times->first,
            to = begin + std::min(times->second, end - begin);
    auto begins = [&](const auto &event) {
      return event.start >= from && event.start < to;
    };
    if (llvm::none_of(trace.host, begins) &&
        llvm::none_of(trace.kernels, begins))
      return fail({"trace-without-range",
                   llvm::formatv("no event begins in `--range={0}`; the events "
                                 "of the trace lie from 0ms to {1}ms",
                                 range, (end - begin) * 1e-6)});
    marked = {{from, to, range.str()}};
  } else if (!range.empty()) {
    marked = markedBy(trace, [&](StringRef name) {
      return name == range ||
             (name.consume_front("ProfilerStep#") && name == range);
    });
    llvm::append_range(marked, numberedBy(trace, range));
  } else {
    marked = markedBy(trace, [](StringRef name) {
      return name.starts_with("ProfilerStep#");
    });
    if (marked.empty())
      marked = numberedBy(trace, "");
    if (marked.empty())
      marked = markedByOptimizer(trace);
    if (!marked.empty())
      step.cutSteps = eraseCut(trace, marked);
  }
  if (marked.empty() && !range.empty())
    return fail(
        {"trace-without-range",
         llvm::formatv("the trace has no range `{0}`; `--range` takes the "
                       "number of a ProfilerStep, the name of a range of the "
                       "user, or times from where the trace begins, "
                       "`10ms-25ms`",
                       range)});
  if (marked.empty()) {
    std::tie(step.start, step.end) = std::pair(begin, end);
    return llvm::Error::success();
  }
  llvm::sort(marked, [](auto &a, auto &b) {
    return std::make_tuple(a.end - a.start, a.start) <
           std::make_tuple(b.end - b.start, b.start);
  });
  const Marked &chosen = marked[(marked.size() - 1) / 2];
  step.name = chosen.name;
  step.steps = marked.size();
  step.start = chosen.start;
  step.end = chosen.end;
  step.isAskedFor = !range.empty();
  return llvm::Error::success();
}

void netc::audit::chooseStepFrom(const Trace &trace, const HostEvent &op,
                                 const HostEvent &before, const HostEvent &last,
                                 TracedStep &step) {
  step.hasTimes = trace.hasTimes;
  const HostEvent *range = nullptr;
  for (const HostEvent &event : trace.host)
    if (event.kind == HostEvent::Annotation && event.thread == op.thread &&
        event.start > before.start && event.start <= op.start &&
        event.end() >= last.end() &&
        (!range || event.duration < range->duration))
      range = &event;
  if (range) {
    step.start = range->start;
    step.end = range->end();
    return;
  }
  step.start = op.start;
  // What frees memory behind the last op is no part of the step.
  step.end = last.end();
  for (const HostEvent &event : trace.host) {
    if (event.kind == HostEvent::Op)
      step.end = std::max(step.end, event.end());
    if (event.thread == op.thread && event.start > before.start &&
        event.start <= op.start && event.end() >= op.end())
      step.start = std::min(step.start, event.start);
  }
}
