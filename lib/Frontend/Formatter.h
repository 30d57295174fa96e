// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_FORMATTER_H
#define NETC_LIB_FRONTEND_FORMATTER_H

#include "grammar/NetParser.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace netc {

/// `text` with the blanks of the style of `.net` files. `file` is its tree,
/// without errors. Tokens, comments and line breaks are kept, so the meaning is
/// the same. Formatting twice changes nothing more. The style:
///
/// - Indentation is two blanks for each open `{`, for a `(` or `[` at the end
///   of a line, and for a continued statement. Elements after another `(` or
///   `[` are aligned. At most one empty line in a row is kept, and none next to
///   a bracket or at the ends of the file.
/// - One blank is around operators and `=`, and none around `^`, `..` and `.`,
///   inside of `(` and `[`, and before a comma.
/// - Keys of sections and runs, constants, `expect`s, and runs, blocks and nets
///   of one line are aligned in columns with neighbouring lines of the same
///   shape. So are comments after them, two blanks from the longest line. A
///   line that would exceed column 120 is not aligned.
std::string formatted(llvm::StringRef text, NetParser::FileContext *file);

} // namespace netc

#endif // NETC_LIB_FRONTEND_FORMATTER_H
