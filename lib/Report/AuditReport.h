// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_AUDITREPORT_H
#define NETC_LIB_REPORT_AUDITREPORT_H

#include "lib/Audit/Utilization.h"
#include "lib/Report/Page.h"

namespace netc {

/// The contents of a report of traces. It refers to the audits.
struct AuditReport {
  std::string version; ///< of netc
  std::vector<const audit::Audit *> audits;
  std::vector<Verdict> expects;
  std::vector<Warning> warnings;
};

/// Rows of an audit that are shown as one. They differ only in their layers, or
/// if all claims are exact, have the same op, phase and confidence.
struct AuditRows {
  const audit::Row *first;
  std::vector<const audit::Row *> rows;

  Rational exact() const;
  /// The FLOP of all rows by a claim.
  Rational flop(size_t claim) const;
};

/// Groups the rows of an audit. Groups with the largest error of a claim come
/// first.
std::vector<AuditRows> foldRows(const audit::Audit &audit);

/// The part of a claim's difference from the exact count that a rule explains,
/// in FLOP. `rule` is null for the unexplained part.
struct RuleShare {
  const audit::Rule *rule;
  size_t rows = 0;
  Rational difference;
};
/// The shares of all rules in a claim's difference, the largest first.
std::vector<RuleShare> sharesOfRules(const audit::Audit &audit, size_t claim);

/// How busy the device was in a part of the step.
struct LevelRow {
  std::string name;
  bool isLayer = false;
  int64_t nanoseconds = 0; ///< sum of the kernels' times
  audit::UnitLevels levels;
};
/// The step, the products of each phase, and the layers in program order. For
/// counters without a timeline, all kernels, then those of each name. Empty
/// without kernels.
std::vector<LevelRow> levelRows(const audit::Audit &audit);

/// A trace with one of several batch sizes.
struct BatchRow {
  const audit::Audit *audit;
  Rational batch;
  Rational throughput;             ///< examples/s
  std::optional<int64_t> measured; ///< peak bytes, from the profiler
  /// Bytes by the specification.
  std::optional<Rational> specified;
};
/// The rows by ascending batch size. Empty if there is only one size, no
/// specification, or if the traces are of several ranks of one job.
std::vector<BatchRow> batchRows(llvm::ArrayRef<const audit::Audit *> audits);
/// What pictures show of them.
std::vector<BatchFigures> figuresOf(llvm::ArrayRef<BatchRow> rows);

/// Writes the report of traces on a page.
void writeAudit(Page &page, const AuditReport &report,
                const TableOptions &options);
/// Prints JSON by docs/audit.schema.json.
void printAuditJson(llvm::raw_ostream &os, const AuditReport &report);
/// Prints a row for each product, or if the trace has none, for each kernel, by
/// RFC 4180.
void printAuditCsv(llvm::raw_ostream &os, const AuditReport &report);

} // namespace netc

#endif // NETC_LIB_REPORT_AUDITREPORT_H
