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

using namespace netc::program;
using namespace netc::runtime;

namespace {
/// A progress line on a terminal.
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

/// Stores an integer as the slot's element type.
static void storeScalar(const Slot *slot, int64_t value, Device &device) {
  if (!slot)
    return;
  visitType(slot->element, [&](auto any) {
    auto element = decltype(any)(value);
    char bytes[sizeof element];
    std::memcpy(bytes, &element, sizeof element);
    device.write(*slot, bytes);
  });
}

/// Calls `visit` with the elements of a slot.
template <typename Visit>
static void forEachElement(const Slot &slot, const Device &device,
                           Visit visit) {
  std::vector<char> rows = device.read(slot);
  visitType(slot.element, [&](auto value) {
    for (size_t at = 0; at < rows.size(); at += sizeof value) {
      std::memcpy(&value, rows.data() + at, sizeof value);
      visit(double(value));
    }
  });
}

static double loadMean(const Slot &slot, const Device &device) {
  double sum = 0;
  forEachElement(slot, device, [&](double value) { sum += value; });
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

/// Checks all tensors after the last step. The loss alone does not show a bad
/// last update, or another result that is not finite.
static void checkTensors(const Program &program, const Device &device,
                         size_t steps) {
  for (const Slot &slot : program.slots) {
    if (slot.role != Role::Parameter && slot.role != Role::State &&
        slot.role != Role::Result)
      continue;
    auto check = [&](double value) {
      if (!std::isfinite(value))
        throw Failure(1, "`" + slot.name + "` holds " +
                             (std::isnan(value) ? "nan" : "inf") +
                             " after step " + std::to_string(steps));
    };
    if (isFloat(slot.element))
      forEachElement(slot, device, check);
  }
}

Training netc::runtime::train(const Program &program, const Options &options,
                              const Data &data, Device &device) {
  Training training{Recorder(program.ops.size()), {}, 0, false, 0, {}};
  if (!options.trace.empty())
    training.recorder.keepCalls();
  const std::vector<double> &times = training.recorder.steps();
  const Slot *loss = program.loss();
  const Slot *number = program.find(Role::Step);
  const Slot *seed = program.find(Role::Seed);
  Random seeds(options.seed, "steps");
  Progress progress(!options.quiet);
  std::optional<size_t> stable;
  size_t notStable = 0; // number of steps that are known to be unstable
  size_t nextLook = 0;  // when to compute the interval again, which takes time

  int64_t begin = now();
  for (bool done = false; !done;) {
    size_t before = times.size();
    data.load(int64_t(before), device);
    storeScalar(number, int64_t(before) + 1, device);
    storeScalar(seed, int64_t(seeds.bits(before)), device);
    device.step(&training.recorder);
    if (loss) {
      training.losses.push_back(loadMean(*loss, device));
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
  checkTensors(program, device, times.size());
  training.warmup = options.warmup ? size_t(*options.warmup)
                                   : stable.value_or(times.size() / 2);
  training.stable = stable && *stable <= training.warmup;
  return training;
}
