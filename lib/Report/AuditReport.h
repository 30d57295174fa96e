// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_AUDITREPORT_H
#define NETC_LIB_REPORT_AUDITREPORT_H

#include "lib/Audit/Audit.h"
#include "lib/Report/Page.h"

namespace netc {

/// What a report of traces shows. Owns nothing of the audits.
struct AuditReport {
  std::string version; ///< of netc
  std::vector<const audit::Audit *> audits;
  std::vector<Verdict> expects;
  std::vector<Warning> warnings;
};

/// Rows of an audit that are equal in all but their layers; where all tools are
/// right, those of one op and phase.
struct AuditRows {
  const audit::Row *first;
  std::vector<const audit::Row *> rows;

  Rational exact() const;
  /// The FLOP that a claim has of all rows.
  Rational flop(size_t claim) const;
};

/// The rows, equal ones together: those of which a tool is farthest off first.
std::vector<AuditRows> foldRows(const audit::Audit &audit);

/// What a claim has of all FLOP; none where too little is matched.
std::optional<Rational> ratioOf(const audit::Audit &audit,
                                const audit::Claim &claim);

/// Model FLOP by the time of the step and the peak of the device, of the FLOP
/// of the specification or of a claim; none where one is not known.
std::optional<Rational> modelUtilization(const audit::Audit &audit,
                                         const Rational &flop);

/// The same by the time in which a kernel runs.
std::optional<Rational> utilizationInKernels(const audit::Audit &audit);

/// The difference of a claim by rule, the largest first; what no rule explains
/// is under a null one.
struct RuleShare {
  const audit::Rule *rule;
  size_t rows = 0;
  Rational difference;
};
std::vector<RuleShare> sharesOfRules(const audit::Audit &audit, size_t claim);

/// How busy the device was in a part of the step.
struct LevelRow {
  std::string name;
  bool isLayer = false;
  int64_t nanoseconds = 0; ///< of kernels
  audit::UnitLevels levels;
};
/// The step, the products of each phase, and the layers in the order of the
/// program. Empty without kernels.
std::vector<LevelRow> levelRows(const audit::Audit &audit);

/// A trace of one batch size among several.
struct BatchRow {
  const audit::Audit *audit;
  Rational batch;
  Rational throughput;             ///< examples/s
  std::optional<int64_t> measured; ///< most bytes at once, by the profiler
  std::optional<Rational> specified;
};
/// By batch. Empty if there is but one batch, or no specification.
std::vector<BatchRow> batchRows(llvm::ArrayRef<const audit::Audit *> audits);

void writeAudit(Page &page, const AuditReport &report,
                const TableOptions &options);
/// As docs/audit.schema.json says.
void printAuditJson(llvm::raw_ostream &os, const AuditReport &report);
/// A row for each product, by RFC 4180.
void printAuditCsv(llvm::raw_ostream &os, const AuditReport &report);

} // namespace netc

#endif // NETC_LIB_REPORT_AUDITREPORT_H
