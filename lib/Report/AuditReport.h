// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_AUDITREPORT_H
#define NETC_LIB_REPORT_AUDITREPORT_H

#include "lib/Audit/Utilization.h"
#include "lib/Report/Page.h"

namespace netc {

/// The contents of a report of traces. The audits must outlive it.
struct AuditReport {
  std::string version; ///< of netc
  std::vector<const audit::Audit *> audits;
  std::vector<Verdict> expects;
  std::vector<Warning> warnings;
};

/// Rows of an audit that differ only in their layers. If all tools agree, these
/// are the rows of one op and phase.
struct AuditRows {
  const audit::Row *first;
  std::vector<const audit::Row *> rows;

  /// The exact FLOP of all rows.
  Rational exact() const;
  /// The FLOP of all rows according to a claim.
  Rational flop(size_t claim) const;
};

/// Groups equal rows. Groups that a tool counts most wrongly come first.
std::vector<AuditRows> foldRows(const audit::Audit &audit);

/// The part of a claim's difference from the exact count that a rule explains,
/// in FLOP. `rule` is null for the unexplained part. The largest comes first.
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
  int64_t nanoseconds = 0; ///< of the time of kernels
  audit::UnitLevels levels;
};
/// The step, the products of each phase, and the layers in the order of the
/// program. For counters without a timeline, all kernels and those of each
/// name. Empty without kernels.
std::vector<LevelRow> levelRows(const audit::Audit &audit);

/// A trace of one batch size among several.
struct BatchRow {
  const audit::Audit *audit;
  Rational batch;
  Rational throughput;             ///< examples/s
  std::optional<int64_t> measured; ///< peak bytes by the profiler
  std::optional<Rational> specified;
};
/// The rows by ascending batch size. Empty if there is only one size, or no
/// specification.
std::vector<BatchRow> batchRows(llvm::ArrayRef<const audit::Audit *> audits);

/// Writes the report of traces on a page.
void writeAudit(Page &page, const AuditReport &report,
                const TableOptions &options);
/// Prints JSON by docs/audit.schema.json.
void printAuditJson(llvm::raw_ostream &os, const AuditReport &report);
/// Prints a row for each product, of a trace without products for each kernel,
/// by RFC 4180.
void printAuditCsv(llvm::raw_ostream &os, const AuditReport &report);

} // namespace netc

#endif // NETC_LIB_REPORT_AUDITREPORT_H
