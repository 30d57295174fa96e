// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads each file of the command line in a process of its own, and prints the
// process id. A file whose name begins with `format` is formatted, and one
// whose name begins with `graph` is imported. Under Valgrind, each process logs
// how many steps it took.

#include "lib/Frontend/Formatter.h"
#include "lib/Frontend/Parser.h"
#include "test/Fuzz/ReadAnything.h"
#include "test/Fuzz/ReadSpecification.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace netc;

static void read(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  llvm::StringRef text = file.get()->getBuffer(),
                  name = llvm::sys::path::filename(path);
  if (name.starts_with("graph")) {
    if (!importModel(text))
      llvm::report_fatal_error(llvm::Twine(name) + " is no graph");
    return;
  }
  if (!name.starts_with("format")) {
    readSpecification(text);
    return;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::unique_ptr<SourceFile> source = parse(&context, path, text, {});
  formatted(text, source->tree());
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    pid_t child = fork();
    if (child == 0) {
      read(argv[i]);
      _exit(0);
    }
    llvm::outs() << child << '\n';
    llvm::outs().flush();
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
      return 1;
    if (i == 1) // later processes inherit the code that Valgrind translated
      read(argv[1]);
  }
  return 0;
}
