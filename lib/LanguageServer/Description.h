// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_DESCRIPTION_H
#define NETC_LIB_LANGUAGESERVER_DESCRIPTION_H

#include "lib/Hardware/Hardware.h"
#include "lib/LanguageServer/Workspace.h"

namespace netc {

/// What the protocol calls a kind of declaration, as a symbol of a document and
/// as an item of a completion.
struct ProtocolKinds {
  mlir::lsp::SymbolKind symbol;
  mlir::lsp::CompletionItemKind item;
};
ProtocolKinds kindsOf(Declaration::Kind kind);

/// What costs call what is declared: with the net or the run around it. Empty
/// of what has no cost.
std::string pathOf(const Declaration &declared);

/// What is known of a name where it stands, in Markdown: its declaration, its
/// type, what it costs. Empty if nothing is.
std::string describe(const OpenFile &file, const Mention &mention,
                     Workspace &workspace, const AcceleratorTable &table);

/// What a number with a unit is in base units, and its unit. Empty of a plain
/// number.
std::string describe(NetParser::QuantityContext *quantity);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_DESCRIPTION_H
