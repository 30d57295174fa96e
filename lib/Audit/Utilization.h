// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_UTILIZATION_H
#define NETC_LIB_AUDIT_UTILIZATION_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// The FLOP of a claim divided by the exact ones. None if too little is
/// matched.
std::optional<Rational> ratioOf(const Audit &audit, const Claim &claim);

/// Model FLOP utilization: FLOP of the specification, or of a claim, divided by
/// the time of the step and the peaks of its devices. None if one is not known.
std::optional<Rational> modelUtilization(const Audit &audit,
                                         const Rational &flop);

/// The same by the time in which a kernel runs; of counters alone, under them.
std::optional<Rational> utilizationInKernels(const Audit &audit);

/// The exact FLOP of a run whose products are in f16 or bf16, divided by what
/// tensor cores do in the time of the counted kernels and at their clock.
std::optional<double> utilizationAtClock(const Audit &audit);

/// Levels of a sum of rows: of those that are known, by the times of the rows.
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
