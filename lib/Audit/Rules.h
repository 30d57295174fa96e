// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_RULES_H
#define NETC_LIB_AUDIT_RULES_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// What a rule is asked about: what one claim has for one row.
struct Subject {
  const Audit &audit;
  const Row &row;
  const Claim &claim;
  const RowClaim &has;
  /// Those of the forward product of a gradient; null without.
  const Row *forward;
  const RowClaim *ofForward;

  /// FLOP of the products that differ from what is exact.
  Rational difference() const { return has.flop - row.exact; }
};

/// A way in which a tool counts otherwise than netc.
struct Rule {
  llvm::StringLiteral id;
  llvm::StringLiteral meaning;
  /// What the rule would make of the difference between the claim and the exact
  /// count; none where it does not apply.
  std::optional<Rational> (*difference)(const Subject &);
};

/// All rules, in the order in which they are tried.
llvm::ArrayRef<Rule> allRules();

/// Names the rules that explain each claim of each row, to the FLOP.
void explain(Audit &audit);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_RULES_H
