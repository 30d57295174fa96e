// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_RENAME_H
#define NETC_LIB_LANGUAGESERVER_RENAME_H

#include "lib/LanguageServer/Workspace.h"

namespace netc {

/// The mentions that a rename changes; or the reason why the name cannot be
/// renamed, as a text for a reader of the file `from`.
std::variant<std::vector<Place>, std::string>
placesToRename(Workspace &workspace, const Meaning &meaning,
               llvm::StringRef newName, llvm::StringRef from);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_RENAME_H
