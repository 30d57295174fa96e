// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_IMPORT_H
#define NETC_LIB_IMPORT_IMPORT_H

#include "lib/Diagnostics/Errors.h"
#include "lib/Frontend/Specification.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace netc::import {

/// An error in an imported file.
struct Problem {
  std::string path;
  unsigned line = 1, column = 1; ///< from 1; columns count characters
  Message message;
};

struct Host {
  llvm::function_ref<void(const Problem &)> report;
  /// Called with each text that is read, so that errors can quote it.
  llvm::function_ref<void(llvm::StringRef path, llvm::StringRef text)> onRead;
  size_t maxBytes = 0; ///< largest size of the file
  /// What a graph becomes is elaborated, to be compared.
  mlir::MLIRContext *context = nullptr;
  FrontendOptions frontend = {};
  /// Ops of a graph of which only the shapes of results are taken.
  llvm::ArrayRef<std::string> opaque = {};
};

/// Why netc does not take a specification; empty if it does.
std::string elaborationError(const std::string &text, const Host &host);

/// Reads a graph (docs/graph.schema.json), and writes its modules as blocks. Or
/// reads a `config.json` of transformers, and writes a specification that calls
/// the net of its family with its sizes. If there are weights next to it,
/// `model.safetensors` or the files of `model.safetensors.index.json`, their
/// headers must have the names and shapes that follow from the config; the
/// weights themselves are not read. None after an error, which is reported.
std::optional<std::string> importModel(llvm::StringRef path, const Host &host);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_IMPORT_H
