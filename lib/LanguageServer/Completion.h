// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_COMPLETION_H
#define NETC_LIB_LANGUAGESERVER_COMPLETION_H

#include "lib/LanguageServer/Document.h"

namespace netc {

/// The names with dots that a text ends with: `run.step.fo` of
/// `expect 2 * run.step.fo`. Empty if it ends with none.
llvm::StringRef pathAtEnd(llvm::StringRef text);

/// What is called where a text ends, in parentheses that are open: `Conv` of
/// `x |> Conv(64, `. Empty if nothing is.
llvm::StringRef calleeAtEnd(llvm::StringRef text);

/// The names of a block's settings; empty of what is no block.
std::vector<std::string> settingsOf(const Declaration &declared);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_COMPLETION_H
