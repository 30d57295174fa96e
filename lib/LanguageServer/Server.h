// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_SERVER_H
#define NETC_LIB_LANGUAGESERVER_SERVER_H

#include "lib/LanguageServer/Checker.h"
#include "mlir/Tools/lsp-server-support/Transport.h"

namespace netc {

/// Answers an editor by the Language Server Protocol until it sends `exit`, and
/// ends the process, with status 1 if the editor disconnects without `exit`.
/// Imports are also searched in the folders.
[[noreturn]] void serve(mlir::lsp::JSONTransport &transport,
                        std::vector<std::string> includeFolders);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_SERVER_H
