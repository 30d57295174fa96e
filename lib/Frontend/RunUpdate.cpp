// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a run updates its weights, what it scales its loss by, and what it
// recomputes.

#include "lib/Frontend/OptimizerBuilder.h"
#include "lib/Frontend/RunBuilder.h"

using namespace netc;
using llvm::StringRef;

bool RunBuilder::addOptimizer() {
  std::optional<Value> value = valueOf("optimizer");
  if (!value)
    return true;
  return !value->isUnknown() &&
         OptimizerBuilder(e, step, run,
                          {placeOf("optimizer"), placeOf("accumulate"),
                           placeOf("loss_scale")})
             .build(*value);
}

/// A number of blocks.
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
  if (word && (*word == "full" || *word == "selective")) {
    run.recompute = *word;
    return true;
  }
  auto *record = value->as<Record>();
  bool fine = record && !record->fields->empty();
  if (fine)
    for (auto &[name, value] : *record->fields) {
      std::optional<int64_t> count = countOf(value);
      fine &= count && (name == "every" || name == "together");
      if (fine)
        (name == "every" ? run.recomputeEvery : run.recomputeTogether) = *count;
    }
  run.recompute = "full";
  if (!fine)
    e.fail(placeOf("recompute"), error::RecomputeArgument, textOf(*value));
  return fine;
}

bool RunBuilder::addLossScale() {
  std::optional<Number> scale = numberOf("loss_scale");
  if (!scale)
    return !valueOf("loss_scale");
  if (!scale->dimension.isNone() || *scale->exact.constant() <= Rational(0)) {
    e.fail(placeOf("loss_scale"), error::LossScaleArgument);
    return false;
  }
  run.lossScale = scale->exact.constant();
  return true;
}
