// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_DESCRIPTION_H
#define NETC_LIB_LANGUAGESERVER_DESCRIPTION_H

#include "lib/Hardware/Hardware.h"
#include "lib/LanguageServer/Workspace.h"

namespace netc {

/// The kinds that the protocol has for a declaration: as a symbol of a
/// document, and as a completion.
struct ProtocolKinds {
  mlir::lsp::SymbolKind symbol;
  mlir::lsp::CompletionItemKind item;
};
ProtocolKinds kindsOf(Declaration::Kind kind);

/// The path under which a declaration has figures, which begins with its net or
/// run. Empty if it has none.
std::string pathOf(const Declaration &declared);

/// Markdown about a name: its declaration, its type and its cost. Empty if
/// nothing is known.
std::string describe(const OpenFile &file, const Mention &mention,
                     Workspace &workspace, const AcceleratorTable &table);

/// Markdown about a number with a unit: its value in base units, and the unit.
/// Empty for a plain number.
std::string describe(NetParser::QuantityContext *quantity);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_DESCRIPTION_H
