// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The language server: answers editors by the Language Server Protocol.

#include "lib/LanguageServer/Server.h"
#include "llvm/Support/Program.h"

using namespace mlir::lsp;

static const char *const help =
    "netc-lsp: what netc knows of a specification, for editors\n\n"
    "usage: netc-lsp\n\n"
    "An editor starts it, and speaks the Language Server Protocol with it on "
    "stdin\nand stdout. docs/Editors.md shows settings for editors.\n\n"
    "  --help     print this\n"
    "  --version  print the version\n"
    "  --stdio    accepted, since editors give it\n";

// The options of netc, which it shares lib/Driver with, are none of its own.
int main(int argc, char **argv) {
  for (llvm::StringRef option : llvm::ArrayRef(argv + 1, argc - 1)) {
    if (option == "--help" || option == "--version") {
      llvm::outs() << (option == "--help" ? help
                                          : "netc-lsp " NETC_VERSION "\n");
      return 0;
    }
    if (option != "--stdio") {
      llvm::errs() << "error: there is no option `" << option
                   << "`; `netc-lsp --help` lists them\n";
      return 2;
    }
  }
  llvm::sys::ChangeStdinToBinary();
  JSONTransport transport(stdin, llvm::outs());
  netc::serve(transport);
}
