// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_COMPLETION_H
#define NETC_LIB_LANGUAGESERVER_COMPLETION_H

#include "lib/Hardware/Hardware.h"
#include "lib/LanguageServer/Workspace.h"

namespace netc {

/// The words of the language that no file declares.
struct Vocabulary {
  Vocabulary();

  std::vector<std::string> functions; ///< including ops, types and constants
  std::vector<std::string> keywords;
  /// The parameters of each op, by its name: tensors before settings.
  llvm::StringMap<std::vector<std::string>> parameters;
  AcceleratorTable accelerators;
  /// The figures of a network `Net` and its run `run`. All networks and runs
  /// have the same ones.
  std::shared_ptr<const Counts> example;
};

/// The completions at a position, as items of the protocol.
llvm::json::Array complete(const OpenFile &file, mlir::lsp::Position at,
                           Workspace &workspace, const Vocabulary &vocabulary);

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_COMPLETION_H
