// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_VERIFY_CHECKS_H
#define NETC_LIB_DRIVER_VERIFY_CHECKS_H

#include "tools/netc-verify/Subject.h"

namespace netc {

/// Checks one run, and says on standard output what holds and what does not.
class Verifier {
public:
  Verifier(const Subject &subject, uint64_t seed, bool verbose, bool quiet)
      : subject(subject), seed(seed), verbose(verbose), quiet(quiet) {}

  /// The reference lowering executes the FLOP that are counted, op by op.
  bool verifyCounts();
  /// The gradients are the slopes of the loss, by central differences in f64.
  bool verifyGradients(Data data = Data::Valid);
  /// Fast code is as near to the exact result as the reference is.
  bool verifyFast(Data data = Data::Valid);
  /// Of simulated code, of either lowering: it leaves the same, whatever the
  /// order of its blocks and warps.
  bool verifyOrders();
  /// Both hold where integers point outside of tensors. Where AddressSanitizer
  /// is in the process, it ends it when either lowering leaves a tensor.
  bool verifyBounds();

private:
  llvm::raw_ostream &say() const;
  void confirm(const llvm::Twine &what) const;
  /// Whether the loss of the step is no number, which leaves nothing to
  /// compare; says so once.
  bool isLost(const JitStep &step);
  /// For the target of the subject.
  LoweringOptions options(bool isReference = false) const;
  /// Whether the simulator, if the step runs on one, has found nothing; says
  /// what it has.
  bool isClean(const JitStep &step) const;
  /// In f32, counting; made once.
  JitStep *reference();
  /// The same, on this processor.
  JitStep *hostReference();
  /// Whether fast code is as near to `exact`, a step in f64, as roundings leave
  /// the formula: with `roundsAlike` those of f32 alone, for `exact` has the
  /// others where fast code has them. For data from `dataSeed`. Prints what
  /// differs if `report`.
  bool compareFast(JitStep &fast, JitStep &exact, bool roundsAlike,
                   uint64_t dataSeed, Data data, bool report);
  /// Runs a step that AddressSanitizer watches.
  bool watch(bool isReference);

  const Subject &subject;
  const uint64_t seed;
  const bool verbose, quiet;
  std::optional<JitStep> counting, hostCounting;
  bool saidLost = false;
};

} // namespace netc

#endif // NETC_LIB_DRIVER_VERIFY_CHECKS_H
