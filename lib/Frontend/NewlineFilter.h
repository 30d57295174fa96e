// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_NEWLINEFILTER_H
#define NETC_LIB_FRONTEND_NEWLINEFILTER_H

#include "antlr4-runtime.h"

namespace netc {

/// The tokens of a lexer, with only those newlines that end a statement. A
/// newline is dropped if the token before it cannot end a statement, or the
/// token after it cannot begin one. So a line that ends or begins with an
/// operator or a comma is joined with its neighbour. An opening bracket never
/// continues the line above. Several newlines become one; there is none at the
/// start, and one at the end of the file.
///
/// Brackets are not tracked: a newline after a complete expression is kept
/// inside of them, so a missing `)` is reported on its own line.
class NewlineFilter : public antlr4::ListTokenSource {
public:
  /// Reads `lexer` to its end. Tokens on hidden channels are dropped.
  explicit NewlineFilter(antlr4::TokenSource &lexer);
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_NEWLINEFILTER_H
