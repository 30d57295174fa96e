// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_AUDITREPORT_H
#define NETC_LIB_REPORT_AUDITREPORT_H

#include "lib/Audit/Audit.h"
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

  Rational exact() const;
  /// The FLOP of all rows according to a claim.
  Rational flop(size_t claim) const;
};

/// Groups equal rows. Groups that a tool counts most wrongly come first.
std::vector<AuditRows> foldRows(const audit::Audit &audit);

/// The FLOP of a claim divided by the exact ones. None if too little is
/// matched.
std::optional<Rational> ratioOf(const audit::Audit &audit,
                                const audit::Claim &claim);

/// Model FLOP utilization: FLOP of the specification, or of a claim, divided by
/// the time of the step and the peak of the device. None if one is not known.
std::optional<Rational> modelUtilization(const audit::Audit &audit,
                                         const Rational &flop);

/// The FLOP by which a claim differs from the exact count due to one rule.
/// Sorted with the largest first; a null rule stands for what none explains.
struct RuleShare {
  const audit::Rule *rule;
  size_t rows = 0;
  Rational difference;
};
std::vector<RuleShare> sharesOfRules(const audit::Audit &audit, size_t claim);

void writeAudit(Page &page, const AuditReport &report,
                const TableOptions &options);
/// Prints JSON by docs/audit.schema.json.
void printAuditJson(llvm::raw_ostream &os, const AuditReport &report);
/// Prints a row for each product, by RFC 4180.
void printAuditCsv(llvm::raw_ostream &os, const AuditReport &report);

} // namespace netc

#endif // NETC_LIB_REPORT_AUDITREPORT_H
