// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_TRAIN_H
#define NETC_LIB_RUNTIME_TRAIN_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Data.h"
#include "lib/Runtime/Options.h"
#include "lib/Runtime/Recorder.h"

#include <optional>
#include <vector>

namespace netc::runtime {

/// The results of a training.
struct Training {
  Recorder recorder;
  std::vector<double> losses; ///< of each step, if the program has a loss
  size_t warmup = 0;          ///< steps before the measured ones
  bool stable = false; ///< whether the measured steps begin with a stable one
  double wall = 0;     ///< seconds of all steps, including loading of data
  /// Executed operations, three numbers per op, over all steps; empty if the
  /// program does not count.
  std::vector<int64_t> counts;
  /// The times of ops, measured in further steps, if the recorder above has
  /// none.
  std::optional<Recorder> apart = {};

  const Recorder &timesOfOps() const { return apart ? *apart : recorder; }
  /// The first step whose op times count.
  size_t firstOfOps() const { return apart ? 0 : warmup; }
  /// All steps, those that measured the ops included.
  size_t numberOfSteps() const {
    return recorder.steps().size() + (apart ? apart->steps().size() : 0);
  }
};

/// Executes steps on a device that holds the initial parameters, for as long as
/// the options say. Without `--warmup`, the measured steps begin with the first
/// stable step, or with the second half if there is none. Throws a Failure if
/// the loss is not finite, or exceeds a million times the first loss (or a
/// million, if that is more). Also if a parameter, a state or a result has an
/// element that is not finite after the last step.
Training train(const program::Program &program, const Options &options,
               const Data &data, Device &device);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_TRAIN_H
