// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Train.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace netc::runtime;

static Recorder *recording;

extern "C" void netc_record(int64_t op) {
  if (recording)
    recording->record(size_t(op));
}

namespace {
/// A line on a terminal that shows how far training is.
class Progress {
public:
  explicit Progress(bool wanted) : shown(wanted && isatty(STDERR_FILENO)) {}
  ~Progress() {
    if (last)
      clear();
  }

  void show(size_t steps, const std::vector<double> &losses) {
    if (!shown || now() - last < 200'000'000)
      return;
    last = now();
    clear();
    std::fprintf(stderr, "step %zu", steps);
    if (!losses.empty())
      std::fprintf(stderr, " · loss %.6g", losses.back());
    std::fflush(stderr);
  }

private:
  static void clear() { std::fputs("\r\033[K", stderr); }

  bool shown;
  int64_t last = 0;
};
} // namespace

/// Stores an integer, as the element that the slot has.
static void storeScalar(const Slot *slot, int64_t value, char *arena) {
  if (!slot)
    return;
  char *to = arena + slot->offset;
  float single = float(value);
  double full = double(value);
  int32_t half = int32_t(value);
  switch (slot->element) {
  case Element::F32:
    std::memcpy(to, &single, sizeof single);
    break;
  case Element::F64:
    std::memcpy(to, &full, sizeof full);
    break;
  case Element::I64:
    std::memcpy(to, &value, sizeof value);
    break;
  case Element::I32:
    std::memcpy(to, &half, sizeof half);
    break;
  case Element::I8:
    *to = char(value);
    break;
  }
}

static double loadMean(const Slot &slot, const char *arena) {
  double sum = 0;
  for (int64_t i = 0; i < slot.count(); ++i) {
    const char *from = arena + slot.offset + i * bytesOf(slot.element);
    float single;
    double full;
    if (slot.element == Element::F32) {
      std::memcpy(&single, from, sizeof single);
      sum += single;
    } else {
      std::memcpy(&full, from, sizeof full);
      sum += full;
    }
  }
  return sum / double(slot.count());
}

static void checkLoss(const std::vector<double> &losses) {
  char text[160];
  double loss = losses.back(), first = losses.front();
  if (!std::isfinite(loss))
    std::snprintf(text, sizeof text, "the loss is %g in step %zu", loss,
                  losses.size());
  else if (std::abs(loss) > 1e6 * std::max(std::abs(first), 1.0))
    std::snprintf(text, sizeof text,
                  "the loss diverges: %g in step 1, %g in step %zu", first,
                  loss, losses.size());
  else
    return;
  throw Failure(1, text);
}

/// The first element that is not finite, or 0.
template <typename T>
static double notFinite(const Slot &slot, const char *arena) {
  const T *values = reinterpret_cast<const T *>(arena + slot.offset);
  const T *end = values + slot.count();
  const T *found =
      std::find_if(values, end, [](T value) { return !std::isfinite(value); });
  return found == end ? 0 : double(*found);
}

/// Looks at all that the steps leave: the loss tells of the weights before the
/// last update, and of no other result.
static void checkTensors(const Program &program, const char *arena,
                         size_t steps) {
  for (const Slot &slot : program.slots) {
    if (slot.role != Role::Parameter && slot.role != Role::State &&
        slot.role != Role::Result)
      continue;
    double found = slot.element == Element::F32 ? notFinite<float>(slot, arena)
                   : slot.element == Element::F64
                       ? notFinite<double>(slot, arena)
                       : 0;
    if (std::isfinite(found))
      continue;
    throw Failure(1, "`" + slot.name + "` holds " +
                         (std::isnan(found) ? "nan" : "inf") + " after step " +
                         std::to_string(steps));
  }
}

Training netc::runtime::train(const Program &program, const Options &options,
                              const Data &data, char *arena,
                              void (*step)(char *arena)) {
  Training training{Recorder(program.ops.size()), {}, 0, false, 0, {}};
  const std::vector<double> &times = training.recorder.steps();
  const Slot *loss = program.loss();
  const Slot *number = program.find(Role::Step);
  const Slot *seed = program.find(Role::Seed);
  Random seeds(options.seed, "steps");
  Progress progress(!options.quiet);
  std::optional<size_t> stable;
  size_t notStable = 0; // so many steps are known to be none
  size_t nextLook = 0;  // at the interval, which takes time

  int64_t begin = now();
  for (bool done = false; !done;) {
    size_t before = times.size();
    data.load(int64_t(before), arena);
    storeScalar(number, int64_t(before) + 1, arena);
    storeScalar(seed, int64_t(seeds.bits(before)), arena);
    recording = &training.recorder;
    training.recorder.beginStep();
    step(arena);
    training.recorder.endStep();
    recording = nullptr;
    if (loss) {
      training.losses.push_back(loadMean(*loss, arena));
      checkLoss(training.losses);
    }
    progress.show(times.size(), training.losses);

    if (!stable) {
      stable = firstStable(times, notStable);
      notStable = times.size() - std::min(times.size(), stableWindow);
    }
    if (options.steps) {
      done = int64_t(times.size()) == *options.steps;
      continue;
    }
    size_t first = options.warmup ? size_t(*options.warmup)
                                  : stable.value_or(times.size());
    size_t measured = times.size() - std::min(first, times.size());
    if (measured >= 10 && measured >= nextLook) {
      done = isKnown(summarize({times.begin() + ptrdiff_t(first), times.end()}),
                     measured);
      nextLook = measured + measured / 10 + 1;
    }
    bool any = !options.warmup || measured;
    done |= any && double(now() - begin) * 1e-9 >= options.seconds;
  }

  training.wall = double(now() - begin) * 1e-9;
  checkTensors(program, arena, times.size());
  training.warmup = options.warmup ? size_t(*options.warmup)
                                   : stable.value_or(times.size() / 2);
  training.stable = stable && *stable <= training.warmup;
  return training;
}
