// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_COMPLETION_H
#define NETC_LIB_LANGUAGESERVER_COMPLETION_H

#include "lib/Hardware/Hardware.h"
#include "lib/LanguageServer/Workspace.h"

namespace netc {

/// The words that no file declares.
struct Vocabulary {
  Vocabulary();

  std::vector<std::string> functions; ///< and ops, types and constants
  std::vector<std::string> keywords;
  /// What an op takes, by its name: tensors before settings.
  llvm::StringMap<std::vector<std::string>> parameters;
  AcceleratorTable accelerators;
  /// Of a network `Net` and its run `run`, which have the figures that any
  /// others have.
  std::shared_ptr<const Counts> example;
};

/// What can be written at a place: items of the protocol.
llvm::json::Array complete(const OpenFile &file, mlir::lsp::Position at,
                           Workspace &workspace, const Vocabulary &vocabulary);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_COMPLETION_H
