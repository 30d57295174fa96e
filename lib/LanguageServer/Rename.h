// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_RENAME_H
#define NETC_LIB_LANGUAGESERVER_RENAME_H

#include "lib/LanguageServer/Workspace.h"

namespace netc {

/// All places of a name that becomes another; or why it cannot, as it is told
/// in the file `from`.
std::variant<std::vector<Place>, std::string>
placesToRename(Workspace &workspace, const Meaning &meaning,
               llvm::StringRef newName, llvm::StringRef from);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_RENAME_H
