// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_VERIFY_CHECKS_H
#define NETC_TOOLS_NETC_VERIFY_CHECKS_H

#include "tools/netc-verify/Subject.h"

namespace netc {

/// Checks a run, and prints to standard output which checks hold.
class Verifier {
public:
  Verifier(const Subject &subject, uint64_t seed, bool verbose, bool quiet)
      : subject(subject), seed(seed), verbose(verbose), quiet(quiet) {}

  /// Whether the reference lowering executes the counted FLOP, op by op.
  bool verifyCounts();
  /// Whether gradients are the slopes of the loss, by central differences in
  /// f64.
  bool verifyGradients(Data data = Data::Valid);
  /// Whether fast code is as near to the exact result as the reference is.
  bool verifyFast(Data data = Data::Valid);
  /// Lets fast code be compiled anew, for other vectors of the subject.
  void dropFast() { fast.reset(); }
  /// For simulated code, of either lowering: whether results do not depend on
  /// the order of blocks and warps.
  bool verifyOrders();
  /// Whether both lowerings stay within tensors if integers are out of bounds.
  /// With AddressSanitizer in the process, an access outside ends it.
  bool verifyBounds();

private:
  llvm::raw_ostream &say() const;
  void confirm(const llvm::Twine &what) const;
  /// Whether the step's loss is no finite number, or what it leaves holds NaN,
  /// so that there is nothing to compare. Prints so once if `report`.
  bool isLost(const JitStep &step, bool report);
  /// The lowering options for the subject's target.
  LoweringOptions options(bool isReference = false) const;
  /// Whether the simulator, if the step runs on one, has no findings. Prints
  /// them.
  bool isClean(const JitStep &step) const;
  /// The reference in f32, with counts. Compiled on first use.
  JitStep *reference();
  /// The fast code in f32. Compiled on first use.
  JitStep *fastCode();
  /// The reference for the host in f32, with counts. Compiled on first use.
  JitStep *hostReference();
  /// The number of steps that fast code is compared for: two, or one if the
  /// second would divide by roots of squares that f16 has lost. The error of a
  /// quotient by a number near 0 has no variance, so no number of runs bounds
  /// it.
  int64_t stepsToCompare() const;
  /// What these steps in f64 leave for each tensor, and the effect of rounding
  /// on it. Depends on no fast code.
  struct Exact {
    bool isLost = false; ///< see isLost()
    std::vector<std::vector<double>> truths;
    std::vector<double> bounds;
  };
  /// Computes it from `plain`, which holds the data, once for all fast code.
  const Exact &exactOf(JitStep &plain, JitStep &exact, bool roundsAlike,
                       uint64_t dataSeed, Data data, bool report);
  /// The step in f64, which rounds to 16 bits where fast code does with
  /// `roundsAlike`. Compiled on first use.
  JitStep *exactStep(bool roundsAlike);
  /// Whether the error of fast code is at most kFastFactor times that of
  /// rounding. With `roundsAlike`, only roundings to f32 count. For data from
  /// `dataSeed`. Prints differences if `report`.
  bool compareFast(JitStep &fast, JitStep &exact, bool roundsAlike,
                   uint64_t dataSeed, Data data, bool report);
  /// Runs a step that AddressSanitizer watches.
  bool watch(bool isReference);

  const Subject &subject;
  const uint64_t seed;
  const bool verbose, quiet;
  std::optional<JitStep> counting, hostCounting, fast;
  std::optional<JitStep> exactSteps[2]; ///< by `roundsAlike`
  std::map<std::tuple<bool, uint64_t, Data>, Exact> exacts;
  bool saidLost = false, saidOneStep = false;
};

} // namespace netc

#endif // NETC_TOOLS_NETC_VERIFY_CHECKS_H
