// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Defaults.h"

#include "lib/Units/Units.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using llvm::StringRef;

/// The device-hours above which a run is taken for a company's.
static constexpr int companyHours = 10'000;
/// The first year in which training in 16 bits on matrix units was usual.
static constexpr int firstYearOf16Bits = 2019;

//===----------------------------------------------------------------------===//
// Frameworks
//===----------------------------------------------------------------------===//

namespace {
/// The years in which a framework ran f32 matmuls as tf32 by default, on
/// devices that support it.
struct Framework {
  StringRef name;
  int firstYear, lastYear;
};
} // namespace

// PyTorch 1.7 to 1.11, TensorFlow since 2.4, and all versions of JAX.
static constexpr Framework frameworks[] = {
    {"PyTorch", 2021, 2021}, {"TensorFlow", 2021, 9999}, {"JAX", 0, 9999}};

llvm::ArrayRef<StringRef> netc::knownFrameworks() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> names;
    for (const Framework &framework : frameworks)
      names.push_back(framework.name);
    return names;
  }();
  return names;
}

/// Whether the framework's default in the year of the run is tf32.
static bool runsAsTf32(const HardwareFacts &facts) {
  return llvm::any_of(frameworks, [&](const Framework &framework) {
    if (framework.name != facts.framework)
      return false;
    // Without a year, only a framework that always did so.
    return facts.year ? *facts.year >= framework.firstYear &&
                            *facts.year <= framework.lastYear
                      : framework.firstYear == 0 && framework.lastYear == 9999;
  });
}

//===----------------------------------------------------------------------===//
// Who, and when
//===----------------------------------------------------------------------===//

namespace {
/// Whether a run used the fastest format of its hardware, and the reason.
struct Effort {
  bool isFull;
  std::string reason;
};
} // namespace

static Effort effortOf(const HardwareFacts &facts) {
  if (facts.year && *facts.year < firstYearOf16Bits)
    return {false, "before " + std::to_string(firstYearOf16Bits) +
                       " few trained in 16 bits"};
  if (facts.isCompanys)
    return {*facts.isCompanys, *facts.isCompanys
                                   ? "companies train in the fastest format"
                                   : "universities train in f32"};
  if (facts.deviceHours && *facts.deviceHours > companyHours)
    return {true, formatQuantity(facts.deviceHours->floor(), {}) +
                      " device-hours are taken for a company's, which trains "
                      "in the fastest format"};
  return {false, "what a framework does unless told otherwise"};
}

//===----------------------------------------------------------------------===//
// Peaks
//===----------------------------------------------------------------------===//

namespace {
class Completion {
public:
  Completion(const HardwareFacts &facts, const AcceleratorTable &table)
      : facts(facts), table(table) {}

  HardwareGuess complete() {
    guess.format = facts.format;
    guess.peak = facts.peak;
    if (!guess.peak && facts.device && !facts.device->peaks.empty())
      takePeakOf(*facts.device);
    else if (!guess.peak && facts.year)
      takePeakOfYear(*facts.year);
    else if (!guess.peak && facts.device)
      guess.whyNoPeak = "`" + facts.device->name +
                        "` does not say which accelerator; give its make, the "
                        "`peak` or the `year`";
    takeUtilization();
    return std::move(guess);
  }

private:
  /// Adds an assumption. `others` are the other peaks that are possible.
  void assume(std::string key, std::string taken, std::string reason,
              llvm::ArrayRef<Rational> others) {
    Assumption assumption{std::move(key), std::move(taken), std::move(reason)};
    for (const Rational &other : others) {
      Rational factor = other / *guess.peak;
      assumption.low = std::min(assumption.low, factor);
      assumption.high = std::max(assumption.high, factor);
    }
    guess.assumptions.push_back(std::move(assumption));
  }

  void takePeakOf(const Accelerator &device);
  void takePeakOfYear(int year);
  void takeUtilization();

  const HardwareFacts &facts;
  const AcceleratorTable &table;
  HardwareGuess guess;
};
} // namespace

/// The fastest 16-bit peak, on `unit` if that is given; or null.
static const Peak *fastest16Bits(const Accelerator &device,
                                 std::optional<ArithmeticUnit> unit) {
  const Peak *best = nullptr;
  // bf16 comes first: at the same speed, it needs no loss scaling.
  for (NumberFormat format : {NumberFormat::BF16, NumberFormat::F16})
    for (const Peak &peak : device.peaks)
      if (peak.format == format && peak.unit != ArithmeticUnit::NarrowMatrix &&
          (!unit || peak.unit == *unit) &&
          (!best || best->flopPerSecond.value < peak.flopPerSecond.value))
        best = &peak;
  return best;
}

bool netc::isSamePeak(NumberFormat a, NumberFormat b) {
  auto widthOf = [](NumberFormat format) {
    return format == NumberFormat::F8E5M2 ? NumberFormat::F8E4M3 : format;
  };
  return widthOf(a) == widthOf(b);
}

void Completion::takePeakOf(const Accelerator &device) {
  auto take = [&](const Peak &peak) {
    guess.peak = peak.flopPerSecond.value;
    guess.format = peak.format;
  };
  if (facts.format) {
    // A device without a figure for the format has no peak, but operations are
    // counted.
    llvm::Expected<PeakChoice> choice = device.peakFor(*facts.format);
    if (!choice) {
      guess.whyNoPeak = llvm::toString(choice.takeError());
      return;
    }
    take(choice->peak);
    if (!isSamePeak(choice->peak.format, *facts.format)) {
      auto [taken, why] = StringRef(choice->reason).split("; ");
      assume("precision", taken.str(), why.str(), {});
    }
    return;
  }
  llvm::Expected<PeakChoice> plain = device.peakFor(NumberFormat::F32);
  const Peak *fast = fastest16Bits(device, std::nullopt);
  const Peak *matrix = fastest16Bits(device, ArithmeticUnit::Matrix);
  if (!plain) {
    std::string why = llvm::toString(plain.takeError());
    if (!fast) {
      guess.whyNoPeak = std::move(why);
      return;
    }
  }
  std::vector<Rational> others;
  if (plain)
    others.push_back(plain->peak.flopPerSecond.value);
  if (fast)
    others.push_back(fast->flopPerSecond.value);

  auto settle = [&](PeakChoice choice, const std::string &why) {
    take(choice.peak);
    assume("precision", choice.reason, why, others);
  };
  Effort effort = effortOf(facts);
  if (plain && device.f32RunsAs)
    return settle(*plain, "what a framework does unless told otherwise");
  if (plain && !matrix)
    return settle(*plain, "it has no matrix units for 16 bits");
  if (matrix && (effort.isFull || !plain)) {
    StringRef name = traitsOf(matrix->format).name;
    const Peak *vector = fastest16Bits(device, ArithmeticUnit::Vector);
    if (vector && facts.alignedShare &&
        facts.alignedShare() < Rational::fraction(1, 2))
      return settle(
          {*vector, (traitsOf(vector->format).name + " on vector units").str()},
          effort.reason + "; matrix units ask for sizes that are multiples of "
                          "8, which most products here have not");
    return settle({*matrix, (name + " on matrix units").str()}, effort.reason);
  }
  if (!plain)
    return settle(
        {*fast, (traitsOf(fast->format).name + " on vector units").str()},
        "it has no peak for f32");
  llvm::Expected<PeakChoice> tf32 = device.peakFor(NumberFormat::TF32);
  bool isUniversitys = facts.isCompanys == std::optional(false);
  if (tf32 && !isUniversitys && runsAsTf32(facts))
    return settle(*tf32,
                  facts.framework +
                      (facts.year ? " in " + std::to_string(*facts.year) : "") +
                      " ran f32 as tf32 unless told otherwise");
  if (!tf32)
    llvm::consumeError(tf32.takeError());
  settle(*plain, effort.reason);
}

void Completion::takePeakOfYear(int year) {
  Effort effort = effortOf(facts);
  bool isBest =
      facts.format ? traitsOf(*facts.format).storedBits <= 16 : effort.isFull;
  auto peakOf = [&](const TypicalPeak &typical) {
    return isBest ? typical.bestFlopPerSecond : typical.f32FlopPerSecond;
  };
  auto [nearest, typical] = table.nearestTypical(year);
  auto [before, older] = table.nearestTypical(nearest - 2);
  auto [after, newer] = table.nearestTypical(nearest + 2);
  if (!typical)
    return;
  guess.peak = peakOf(*typical);
  // Where the table ends, take the same factor as on the other side.
  Rational low = peakOf(*older), high = peakOf(*newer);
  std::string range = "low and high are " + std::to_string(before) + " and " +
                      std::to_string(after);
  if (after == nearest) {
    high = *guess.peak * *guess.peak / low;
    range = "low is " + std::to_string(before) + ", high as far above";
  } else if (before == nearest) {
    low = *guess.peak * *guess.peak / high;
    range = "high is " + std::to_string(after) + ", low as far below";
  }
  if (!facts.format && !isBest)
    guess.format = NumberFormat::F32;

  assume(
      "hardware",
      formatQuantity(*guess.peak, Dimension(Dimension::Flop) / Dimension::Time),
      "the mean of " + std::to_string(typical->models) + " notable models of " +
          std::to_string(nearest) +
          (nearest == year ? "" : ", the nearest year that is known") +
          ", on " + typical->chips + (typical->models < 5 ? ": a guess" : "") +
          "; " + range,
      {low, high});
  if (!facts.format)
    assume("precision", isBest ? "16 bits on matrix units" : "f32",
           effort.reason,
           {typical->f32FlopPerSecond, typical->bestFlopPerSecond});
}

void Completion::takeUtilization() {
  if (facts.utilization) {
    guess.utilization = *facts.utilization;
    return;
  }
  // The utilizations of GPT-3 and of LaMDA. The low end is reported for runs
  // that nobody optimized, the high end is the highest seen on one device.
  auto take = [&](int percent, int low, int high, const char *reason) {
    guess.utilization = Rational::fraction(percent, 100);
    guess.assumptions.push_back({"utilization", std::to_string(percent) + " %",
                                 reason, Rational::fraction(low, percent),
                                 Rational::fraction(high, percent)});
  };
  if (facts.readsTokens)
    take(30, 20, 57,
         "what large language models reach; 20 % to 57 % are known");
  else
    take(40, 10, 75,
         "what other networks reach; 10 % without effort, 75 % on one device");
}

HardwareGuess netc::completeHardware(const HardwareFacts &facts,
                                     const AcceleratorTable &table) {
  return Completion(facts, table).complete();
}
