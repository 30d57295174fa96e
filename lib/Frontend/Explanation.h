// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_EXPLANATION_H
#define NETC_LIB_FRONTEND_EXPLANATION_H

#include "lib/Frontend/SyntaxErrors.h"

namespace netc {

/// Explains a syntax error at the token `found`, from the tokens around it and
/// the open rules of the parser. None if `earlier`, the error before it, may
/// have caused it; `earlier` may be null.
std::optional<SyntaxError> explain(antlr4::Parser *parser, antlr4::Token *found,
                                   const SyntaxError *earlier);

} // namespace netc

#endif // NETC_LIB_FRONTEND_EXPLANATION_H
