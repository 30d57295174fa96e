// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_UTILIZATION_H
#define NETC_LIB_AUDIT_UTILIZATION_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// The FLOP of a claim divided by the exact FLOP, both without rows whose FLOP
/// are unknown. None if too few are matched.
std::optional<Rational> ratioOf(const Audit &audit, const Claim &claim);

/// Model FLOP utilization: `flop` divided by the time of the step and the peak
/// of its devices. None if a peak or time is unknown, or too few FLOP are
/// matched.
std::optional<Rational> modelUtilization(const Audit &audit,
                                         const Rational &flop);

/// The same for the time in which a kernel runs. For counters alone, that is
/// the kernels' time under them.
std::optional<Rational> utilizationInKernels(const Audit &audit);

/// The FLOP of a run in f16 or bf16, divided by what tensor cores do in the
/// time of the counted kernels, at their clock. None for other formats.
std::optional<double> utilizationAtClock(const Audit &audit);

/// The mean levels of rows, weighted by their times. A row without a level does
/// not count for it.
class LevelSum {
public:
  void add(const Row &row);
  UnitLevels levels() const;
  int64_t nanoseconds() const { return time; }

private:
  static constexpr size_t most = 8;
  int64_t time = 0;
  std::array<double, most> values{}, times{};
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_UTILIZATION_H
