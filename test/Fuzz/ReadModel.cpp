// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What `netc import` reads.

#include "lib/Import/Import.h"
#include "test/Fuzz/MemoryFile.h"
#include "test/Fuzz/ReadAnything.h"
#include "test/Fuzz/ReadSpecification.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace netc;

/// The specification that a file is converted to; none if it is wrong.
static std::optional<std::string> converted(llvm::StringRef path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  bool hasProblem = false;
  auto report = [&](const import::Problem &) { hasProblem = true; };
  auto onRead = [](llvm::StringRef, llvm::StringRef) {};
  import::Host host;
  host.report = report;
  host.onRead = onRead;
  host.maxBytes = 1 << 20;
  host.context = &context;
  // A short text may expand up to the limits.
  host.frontend.limits.maxOps = 20'000;
  std::optional<std::string> text = import::importModel(path, host);
  if (text.has_value() == hasProblem)
    llvm::report_fatal_error("neither a specification nor an error, or both");
  return text;
}

bool importModel(llvm::StringRef bytes) {
  std::optional<std::string> text = converted(MemoryFile(bytes).path());
  if (text)
    for (const Fault &fault : readSpecification(*text))
      llvm::report_fatal_error(llvm::Twine("netc refuses its own text: ") +
                               fault.text);
  return text.has_value();
}

bool importWeights(llvm::StringRef bytes) {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("netc-weights", folder))
    llvm::report_fatal_error("no folder for the weights");
  auto write = [&](llvm::StringRef name, llvm::StringRef text) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    return path.str().str();
  };
  std::string config =
      write("config.json", R"({"model_type": "gpt2", "n_embd": 4, "n_head": 1,
          "n_layer": 1, "n_positions": 4, "vocab_size": 5})");
  // An index is text; a header begins with its length.
  write(bytes.starts_with("{\"") ? "model.safetensors.index.json"
                                 : "model.safetensors",
        bytes);
  bool isRight = converted(config).has_value();
  llvm::sys::fs::remove_directories(folder);
  return isRight;
}
