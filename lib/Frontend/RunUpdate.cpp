// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The update of a run's weights, its loss scale, and its recomputation.

#include "lib/Frontend/OptimizerBuilder.h"
#include "lib/Frontend/RunBuilder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace netc;
using llvm::StringRef;

bool RunBuilder::addOptimizer() {
  std::optional<Value> value = valueOf("optimizer");
  if (!value)
    return true;
  return !value->isUnknown() &&
         OptimizerBuilder(e, step, run,
                          {placeOf("optimizer"), placeOf("accumulate")})
             .build(*value);
}

/// The value as a number of blocks; none if it is another value.
static std::optional<int64_t> countOf(const Value &value) {
  std::optional<Number> number = netc::numberOf(value);
  std::optional<int64_t> count =
      number && !number->real ? number->exact.toInt64() : std::nullopt;
  return count && *count >= 1 ? count : std::nullopt;
}

bool RunBuilder::addRecomputation() {
  std::optional<Value> value = valueOf("recompute");
  if (!value || value->isUnknown())
    return !value;
  auto *word = value->as<std::string>();
  if (word && *word == "none")
    return true;
  note("recompute");
  if (word)
    run.recompute = symbolizeRecomputed(*word);
  if (run.recompute)
    return true;
  auto *record = value->as<Record>();
  bool fine = record && !record->fields->empty();
  if (fine)
    for (auto &[name, value] : *record->fields) {
      std::optional<int64_t> count = countOf(value);
      fine &= count && (name == "every" || name == "together");
      if (fine)
        (name == "every" ? run.recomputeEvery : run.recomputeTogether) = *count;
    }
  run.recompute = Recomputed::Full;
  e.needCopies(); // the parts are numbered
  if (!fine)
    e.fail(placeOf("recompute"), error::RecomputeArgument, textOf(*value));
  return fine;
}

/// The value as a plain number above zero; none if it is another value.
static std::optional<Rational> positiveIn(const Value &value) {
  std::optional<Number> number = netc::numberOf(value);
  if (!number || number->real || !number->dimension.isNone())
    return std::nullopt;
  std::optional<Rational> exact = number->exact.constant();
  return exact && *exact > Rational(0) ? exact : std::nullopt;
}

/// Reads a dynamic loss scale. Names and defaults are those of PyTorch's
/// GradScaler.
static bool readDynamicScale(const Record &record, RunFacts &run) {
  for (const auto &[name, value] : *record.fields) {
    RunFacts::Number *number = llvm::StringSwitch<RunFacts::Number *>(name)
                                   .Case("start", &run.lossScale)
                                   .Case("growth", &run.lossScaleGrowth)
                                   .Case("backoff", &run.lossScaleBackoff)
                                   .Case("interval", &run.lossScaleInterval)
                                   .Default(nullptr);
    std::optional<Rational> given = positiveIn(value);
    if (!number || !given)
      return false;
    *number = given;
  }
  return run.lossScaleInterval->isInteger() && *run.lossScaleGrowth > 1 &&
         *run.lossScaleBackoff < 1;
}

bool RunBuilder::addLossScale() {
  std::optional<Value> value = valueOf("loss_scale");
  if (!value || value->isUnknown())
    return !value;
  auto *word = value->as<std::string>();
  auto *record = value->as<Record>();
  if ((word && *word == "dynamic") || record) {
    run.lossScale = Rational(65536);
    run.lossScaleGrowth = Rational(2);
    run.lossScaleBackoff = Rational::fraction(1, 2);
    run.lossScaleInterval = Rational(2000);
  } else {
    run.lossScale = positiveIn(*value);
  }
  if (run.lossScale && (!record || readDynamicScale(*record, run)))
    return true;
  e.fail(placeOf("loss_scale"), error::LossScaleArgument);
  return false;
}
