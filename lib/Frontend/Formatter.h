// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_FORMATTER_H
#define NETC_FRONTEND_FORMATTER_H

#include "grammar/NetParser.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace netc {

/// `text` with the blanks of the one style of `.net` files; `file` is its tree,
/// without errors. Tokens, comments and line breaks stay as they are, so that
/// the result means the same, and formatting it again changes nothing:
///
/// - Two blanks of indentation for each open `{`, for a `(` or `[` at the end
/// of
///   a line, and for a statement that goes on. Elements behind another `(` or
///   `[` stand one below the other. Of several empty lines one stays, and none
///   next to a bracket or at the ends of the file.
/// - One blank around operators and `=`; none around `^`, `..` and `.`, inside
///   of `(` and `[`, and before a comma.
/// - Keys of sections and runs, constants, `expect`s, and runs, blocks and nets
///   of one line stand in columns, with those of the same shape on the next
///   lines; and so do comments behind them, two blanks from the longest line.
///   What would pass column 120 by that does not.
std::string formatted(llvm::StringRef text, NetParser::FileContext *file);

} // namespace netc

#endif // NETC_FRONTEND_FORMATTER_H
