// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_PRECISIONREADER_H
#define NETC_LIB_FRONTEND_PRECISIONREADER_H

#include "lib/Frontend/FileScope.h"
#include "lib/Hardware/Precision.h"

namespace netc {

class Evaluator;

/// Reads what stands for a precision: the value of the key, of a constant that
/// the key names, and what `-D`, `--set` and a sweep put in their place. Number
/// formats and presets are words there, not names.
class PrecisionReader {
public:
  using Expr = NetParser::ExprContext;

  explicit PrecisionReader(Evaluator &e) : e(e) {}

  /// Marks the constants that a `precision` names, directly or by another
  /// constant.
  void markConstants();
  void markConstantsIn(FileScope &file, Expr *expr);
  /// Whether an expression is a call of a preset, such as `mixed(bf16)`, whose
  /// name nothing else has.
  bool isPreset(Expr *expr);
  /// The value of an expression: the text of a precision, `none`, or what a
  /// name stands for. Unknown after an error.
  Value eval(Expr *expr);
  /// The precision that a value is. None after an error at `at`.
  std::optional<Precision> precisionOf(Expr *at, const Value &value);

private:
  bool isCallOfPreset(Expr *expr);
  /// Whether an expression is a text to read, not one to evaluate.
  bool isWritten(Expr *expr);
  std::string textOf(Expr *expr);

  Evaluator &e;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_PRECISIONREADER_H
