// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_SERVER_H
#define NETC_LIB_LANGUAGESERVER_SERVER_H

#include "lib/LanguageServer/Checker.h"
#include "mlir/Tools/lsp-server-support/Transport.h"

namespace netc {

/// Answers an editor by the Language Server Protocol until it says goodbye.
/// With `waits`, a text is checked before the next message is read, so that
/// answers do not depend on time. Fails if the editor went without a goodbye.
mlir::LogicalResult serve(mlir::lsp::JSONTransport &transport, bool waits);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_SERVER_H
