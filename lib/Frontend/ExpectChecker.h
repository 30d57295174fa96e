// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_EXPECTCHECKER_H
#define NETC_LIB_FRONTEND_EXPECTCHECKER_H

#include "lib/Frontend/Evaluator.h"
#include <set>

namespace netc {

/// Decides the `expect`s of a file. `results` answers their questions.
class ExpectChecker : public ResultScope {
public:
  ExpectChecker(Evaluator &e, const Results &results)
      : e(e), results(results) {}

  /// The verdicts, in text order. See Specification::check.
  std::vector<Verdict> checkAll();

  bool isResult(llvm::StringRef name) const override;
  Value answer(antlr4::ParserRuleContext *at, const Subject &subject) override;

private:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  struct Decision {
    std::optional<Verdict> verdict; ///< none after an error
    Value value;                    ///< the left side of the comparison
  };
  /// The subjects of an expectation.
  struct Asked {
    std::set<std::string> runs;
    std::vector<std::string> traces; ///< of the run that has most
    bool ofLeftOut = false, ofOverridden = false;
    /// A run whose trace it asks about, if all traces are of other runs.
    std::string untraced;
    bool isWrong = false; ///< whether it asks for what there is not
  };

  /// The verdict. None if the expectation asks about something that is left
  /// out.
  std::optional<Verdict> check(const Expectation &expectation);
  /// A verdict without a decision yet.
  static Verdict verdictOn(const Expectation &expectation);
  Decision decide(const Expectation &expectation);
  /// Decides `value ~ expected within tolerance`.
  Decision decideAbout(const Expectation &expectation,
                       NetParser::CmpContext *comparison);
  std::optional<Number> toleranceOf(NetParser::CmpContext *comparison,
                                    Expr *within, const Number &expected);
  /// Decides `value ~ between(least, most)`.
  Decision decideBetween(const Expectation &expectation, const Value &figure,
                         NetParser::CallContext *range);
  /// Decides an expectation that depends on ranges: it must hold at all their
  /// ends. `verdict` is the one for their middle.
  void decideAtEnds(const Expectation &expectation, llvm::ArrayRef<Tree *> read,
                    Verdict &verdict);

  Evaluator &e;
  const Results &results;
  Asked asked;      ///< by the expectation that is being decided
  size_t trace = 0; ///< of several traces of a run, the one that is asked
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_EXPECTCHECKER_H
