// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_RULES_H
#define NETC_LIB_AUDIT_RULES_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// The count of a claim for a row, to which rules are applied.
struct Subject {
  const Audit &audit;
  const Row &row;
  const Claim &claim;
  const RowClaim &has;
  /// For a gradient, the row of its forward product; else null.
  const Row *forward;
  const RowClaim *ofForward;

  /// The count minus the FLOP of the model.
  Rational difference() const { return has.flop - row.model(); }
};

/// A way in which a tool may count differently from netc.
struct Rule {
  llvm::StringLiteral id;
  llvm::StringLiteral meaning;
  /// The difference of the claim to the exact count by this rule. None if the
  /// rule does not apply.
  std::optional<Rational> (*difference)(const Subject &);
};

/// All rules, in the order in which they are applied.
llvm::ArrayRef<Rule> allRules();

/// Finds the rules that explain each claim of each row, exactly or within the
/// rounding of the tool.
void explain(Audit &audit);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_RULES_H
