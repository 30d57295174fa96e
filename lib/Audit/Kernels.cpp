// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Kernels.h"

#include "lib/Audit/Notes.h"
#include "lib/Trace/Read.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::audit;
using llvm::StringRef;

/// Whether a name contains one of the words. Ignores case.
static bool namesAny(StringRef name, std::initializer_list<StringRef> words) {
  return llvm::any_of(
      words, [&](StringRef word) { return name.contains_insensitive(word); });
}

namespace {
/// What the name of a kernel tells.
struct Named {
  bool hasOtherAlgorithm = false, usesMatrixUnits = false;
  /// A product may also launch such kernels, to add a bias.
  bool isElementwise = false;

  static Named of(StringRef name) {
    return {namesAny(name, {"fft", "winograd"}),
            namesAny(name, {"tensorop", "hmma", "tf32", "s1688", "s16816",
                            "h1688", "h16816", "h884", "s884", "gmma"}),
            namesAny(name, {"elementwise_kernel", "epilogue::"})};
  }
};
} // namespace

static void nameKernel(Row &row, const Named &kernel) {
  row.hasOtherAlgorithm |= kernel.hasOtherAlgorithm;
  row.usesMatrixUnits |= kernel.usesMatrixUnits;
}

void Kernels::nameInRows() {
  std::vector<Row *> rowOf = audit.rowsOfProducts();
  trace::OncePerName<Named> named(trace.names, Named::of);
  for (const StepKernel &kernel : step.kernels)
    if (kernel.product && rowOf[*kernel.product])
      nameKernel(*rowOf[*kernel.product],
                 named[trace.kernels[kernel.kernel].name]);
}

void Kernels::addCounters(const trace::Trace &counters,
                          llvm::ArrayRef<StepKernel> kernels) {
  if (llvm::none_of(kernels, [&](const StepKernel &kernel) {
        return ordinaryFlop(counters, counters.counted[kernel.kernel]);
      }))
    return;
  audit.claims.push_back({"counters", "counters", "counters"});
  size_t claim = audit.claims.size() - 1;
  for (Row &row : audit.rows)
    row.claims.resize(claim + 1);
  audit.claims[claim].isPartial = noteMissingCounters(audit, counters, kernels);
  std::vector<Row *> rowOf = audit.rowsOfProducts();
  trace::OncePerName<Named> namedBy(counters.names, Named::of);
  Rational other;
  unsigned others = 0;
  for (const StepKernel &each : kernels) {
    const trace::CountedKernel &kernel = counters.counted[each.kernel];
    const Named &named = namedBy[kernel.name];
    Rational flop = ordinaryFlop(counters, kernel).value_or(0);
    if (each.product && rowOf[*each.product] && !named.isElementwise) {
      Row &row = *rowOf[*each.product];
      row.claims[claim].flop += flop;
      row.claims[claim].isUnknown |= !countersMissing(counters, kernel).empty();
      nameKernel(row, named);
      continue;
    }
    other += flop;
    others += !flop.isZero();
  }
  if (others)
    audit.addOther(claim, other, std::to_string(others) + " other kernels");
}

trace::Name Kernels::rowNameOf(trace::Name kernel) {
  auto [name, isNew] = rowNames.try_emplace(kernel);
  if (isNew) {
    std::string text = trace::shownName(kernelBaseName(trace.names[kernel]));
    name->second = shownNames.intern(text.empty() ? "?" : text);
  }
  return name->second;
}

void Kernels::addRows() {
  llvm::DenseMap<trace::Name, size_t> places;
  for (const StepKernel &each : step.kernels) {
    const trace::DeviceEvent &kernel = trace.kernels[each.kernel];
    trace::Name name = rowNameOf(kernel.name);
    auto [place, isNew] = places.try_emplace(name, audit.kernels.size());
    if (isNew)
      audit.kernels.push_back({shownNames[name].str(), 0, 0, nullptr});
    KernelRow &row = audit.kernels[place->second];
    ++row.launches;
    row.nanoseconds += kernel.duration;
  }
  llvm::stable_sort(audit.kernels, [](auto &a, auto &b) {
    return a.nanoseconds > b.nanoseconds;
  });
}

/// The kernels of each row.
std::vector<std::vector<uint32_t>> Kernels::kernelsOfRows() const {
  std::vector<size_t> rowOf(step.products.size(), audit.rows.size());
  for (auto [i, row] : llvm::enumerate(audit.rows))
    for (unsigned product : row.products)
      rowOf[product] = i;
  std::vector<std::vector<uint32_t>> lists(audit.rows.size());
  for (const StepKernel &kernel : step.kernels)
    if (kernel.product && rowOf[*kernel.product] < lists.size())
      lists[rowOf[*kernel.product]].push_back(kernel.kernel);
  return lists;
}
/// The kernels of each name.
std::vector<std::vector<uint32_t>> Kernels::kernelsOfNames() {
  llvm::DenseMap<trace::Name, size_t> places;
  for (auto [i, row] : llvm::enumerate(audit.kernels))
    places[shownNames.intern(row.name)] = i;
  std::vector<std::vector<uint32_t>> lists(audit.kernels.size());
  for (const StepKernel &kernel : step.kernels)
    lists[places[rowNameOf(trace.kernels[kernel.kernel].name)]].push_back(
        kernel.kernel);
  return lists;
}

StringRef Kernels::deviceOfRun() const {
  bool isKnown = audit.run && !audit.run->hasOwnDevice;
  return isKnown ? StringRef(audit.run->device) : "";
}

llvm::Error Kernels::join(const trace::Trace &counters) {
  std::vector<uint32_t> kernels;
  for (const StepKernel &kernel : step.kernels)
    kernels.push_back(kernel.kernel);
  std::vector<JoinedKernels> joined = joinKernels(trace, kernels, counters);
  if (joined.empty())
    return trace::fail(
        {"counters-match-nothing",
         llvm::formatv("none of the {0} kernels that were counted is one of "
                       "the {1} of the step; see that both are of the same "
                       "program",
                       counters.counted.size(), step.levels.kernels)},
        counters.file);
  measureJoin(joined, counters);
  constexpr double least = 0.5;
  if (audit.joined->time < least)
    note(audit, "few-joined",
         "the counters have less than half of the kernels' time: they may be "
         "of another program, or of a part of the step");
  llvm::DenseMap<uint32_t, std::optional<uint32_t>> productOf;
  for (const StepKernel &kernel : step.kernels)
    productOf[kernel.kernel] = kernel.product;
  std::vector<StepKernel> counted;
  llvm::DenseMap<uint32_t, uint32_t> groupOf;
  for (auto [i, group] : llvm::enumerate(joined)) {
    std::optional<uint32_t> product;
    for (uint32_t kernel : group.kernels) {
      groupOf[kernel] = i;
      if (!product)
        product = productOf[kernel];
    }
    for (uint32_t kernel : group.counted)
      counted.push_back({kernel, product});
  }
  for (auto [row, own] : llvm::zip_equal(audit.rows, kernelsOfRows()))
    row.joinedKernels = llvm::count_if(
        own, [&](uint32_t kernel) { return groupOf.contains(kernel); });
  addCounters(counters, counted);
  audit.gpu = Gpu::of(trace, counters, deviceOfRun());
  audit.levels =
      sumLevels(trace, kernels, counters, joined, audit.gpu, step.deviceTime());
  // Those of a part are over the time of its kernels that were joined.
  auto levelsOf =
      [&](llvm::ArrayRef<uint32_t> own,
          int64_t nanoseconds) -> std::shared_ptr<const UnitLevels> {
    if (own.empty())
      return nullptr;
    llvm::SetVector<uint32_t> groups;
    for (uint32_t kernel : own)
      if (auto group = groupOf.find(kernel); group != groupOf.end())
        groups.insert(group->second);
    std::vector<JoinedKernels> parts;
    for (uint32_t group : groups)
      parts.push_back(joined[group]);
    SummedLevels of =
        sumLevels(trace, own, counters, parts, audit.gpu, nanoseconds);
    for (const Level &level : unitLevels())
      if (auto &value = of.levels.*level.value; value && !level.isOfKernelTime)
        *value /= *(of.joined.*level.value);
    return std::make_shared<UnitLevels>(of.levels);
  };
  for (auto [row, own] : llvm::zip_equal(audit.rows, kernelsOfRows())) {
    row.levels = levelsOf(own, row.nanoseconds);
    row.usesMatrixUnits |=
        row.levels && row.levels->tensorActive.value_or(0) > 0;
  }
  for (auto [row, own] : llvm::zip_equal(audit.kernels, kernelsOfNames()))
    row.levels = levelsOf(own, row.nanoseconds);
  if (std::optional<double> clock = clockOf(counters))
    note(audit, "clock",
         llvm::formatv("under the counters the clock was {0:F2} "
                       "GHz; that of the step is not known",
                       *clock / 1e9)
             .str());
  noteImpossible();
  noteLevels();
  return llvm::Error::success();
}

void Kernels::measureJoin(llvm::ArrayRef<JoinedKernels> joined,
                          const trace::Trace &counters) {
  JoinedCounters &of = audit.joined.emplace();
  of.whole = counters.counted.size();
  double time = 0, whole = 0;
  // Not all kernels of the trace, which may have several steps.
  for (const StepKernel &kernel : step.kernels) {
    ++of.all;
    whole += double(trace.kernels[kernel.kernel].duration);
  }
  for (const JoinedKernels &group : joined) {
    of.kernels += group.kernels.size();
    of.counted += group.counted.size();
    for (uint32_t kernel : group.kernels)
      time += double(trace.kernels[kernel].duration);
  }
  if (whole > 0)
    of.time = time / whole;
}

void Kernels::noteImpossible() {
  for (const LevelNote &reason : audit.levels->impossible)
    note(audit, "impossible-level",
         reason.id + " is left out where it cannot be: " + reason.text);
}

void Kernels::sample() {
  audit.gpu = Gpu::of(trace, trace, deviceOfRun());
  audit.levels.emplace();
  audit.levels->levels =
      sampledLevels(trace, {step.isLongerOnDevice()
                                ? std::pair(step.kernelsStart, step.kernelsEnd)
                                : std::pair(step.start, step.end)});
  audit.levels->kernelTime = step.levels.sum;
  auto levelsOf = [&](llvm::ArrayRef<uint32_t> own) {
    std::vector<std::pair<int64_t, int64_t>> intervals;
    for (uint32_t kernel : own)
      intervals.push_back(
          {trace.kernels[kernel].start, trace.kernels[kernel].end()});
    return std::make_shared<UnitLevels>(sampledLevels(trace, intervals));
  };
  for (auto [row, own] : llvm::zip_equal(audit.rows, kernelsOfRows()))
    row.levels = levelsOf(own);
  for (auto [row, own] : llvm::zip_equal(audit.kernels, kernelsOfNames()))
    row.levels = levelsOf(own);
  note(audit, "sampled",
       "levels below the GPU are means of samples of the whole "
       "device; of a kernel, of those that fall into it");
  double gpu = step.duration() > 0
                   ? double(step.levels.unionOfAll) / step.deviceTime()
                   : 0;
  audit.levels->impossible = eraseImpossible(audit.levels->levels, gpu);
  noteImpossible();
  noteLevels();
}

/// The specification's step at its own sizes.
void Kernels::addCountedStep(std::optional<Rational> asked) {
  SpecifiedStep own(*audit.run);
  audit.sizes = own.sizes();
  for (const SpecifiedProduct &product : own.at(audit.sizes, asked))
    (product.phase == Phase::Recompute ? audit.hardware : audit.model) +=
        product.exact;
  audit.hardware += audit.model;
  audit.coverage.flop[unsigned(Confidence::None)] = audit.hardware;
  audit.memory = own.memoryAt(audit.sizes);
}

void Kernels::countAlone(std::optional<Rational> asked) {
  if (audit.run)
    addCountedStep(asked);
  std::vector<uint32_t> all;
  llvm::MapVector<trace::Name, std::vector<uint32_t>> byName;
  std::optional<Rational> flop;
  std::vector<StepKernel> each;
  for (auto [i, kernel] : llvm::enumerate(trace.counted)) {
    all.push_back(i);
    each.push_back({uint32_t(i), std::nullopt});
    byName[rowNameOf(kernel.name)].push_back(i);
    if (std::optional<Rational> one = ordinaryFlop(trace, kernel))
      flop = flop.value_or(0) + *one * Rational(kernel.invocations);
  }
  bool isPartial = noteMissingCounters(audit, trace, each);
  audit.gpu = Gpu::of(trace, trace, deviceOfRun());
  audit.levels = levelsOf(trace, all, audit.gpu);
  for (const auto &[name, kernels] : byName) {
    SummedLevels of = levelsOf(trace, kernels, audit.gpu);
    KernelRow &row = audit.kernels.emplace_back();
    row.name = shownNames[name].str();
    for (uint32_t i : kernels)
      row.launches += trace.counted[i].invocations;
    row.nanoseconds = of.kernelTime;
    row.levels = std::make_shared<UnitLevels>(of.levels);
  }
  llvm::stable_sort(audit.kernels, [](auto &a, auto &b) {
    return a.nanoseconds > b.nanoseconds;
  });
  if (flop) {
    Claim &claim =
        audit.claims.emplace_back(Claim{"counters", "counters", "counters"});
    claim.total = *flop;
    claim.isPartial = isPartial;
  }
  if (audit.hasSumsAlone())
    note(audit, "sums-alone",
         "sums alone: when each kernel ran is not known, so neither is the "
         "share of a step with kernels; `nsys stats --report "
         "cuda_gpu_trace` lists the kernels");
  else
    note(audit, "no-timeline",
         "counters alone: each kernel ran by itself, so the share of a step "
         "with kernels is not known, and no op; name a timeline of the same "
         "step, too");
  if (audit.levels->kernelTime == 0)
    note(audit, "no-kernel-times",
         "not each kernel has a time (gpu__time_duration.sum): they weigh by "
         "their cycles, or all the same where these are not counted");
  noteImpossible();
  noteLevels();
}

void Kernels::noteLevels() {
  for (const LevelNote &level : levelNotes(audit.levels->levels, audit.gpu))
    note(audit, level.id, level.text);
}
