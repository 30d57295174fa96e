// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The language server: answers editors by the Language Server Protocol.

#include "lib/LanguageServer/Server.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace mlir::lsp;

static const char *const help =
    "netc-lsp: what netc knows of a specification, for editors\n\n"
    "usage: netc-lsp [-I FOLDER]..\n\n"
    "An editor starts it, and speaks the Language Server Protocol with it on "
    "stdin\nand stdout. docs/Editors.md shows settings for editors.\n\n"
    "  -I FOLDER  search imports there, too, as netc does\n"
    "  --help     print this\n"
    "  --version  print the version\n"
    "  --stdio    accepted, since editors give it\n";

// The options of netc, which it shares lib/Driver with, are none of its own.
int main(int argc, char **argv) {
  std::vector<std::string> includeFolders;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef option = argv[i];
    if (llvm::StringRef folder = option; folder.consume_front("-I")) {
      if (folder.empty() && i + 1 < argc)
        folder = argv[++i];
      llvm::SmallString<128> path(folder);
      llvm::sys::fs::make_absolute(path);
      includeFolders.push_back(path.str().str());
      continue;
    }
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
  netc::serve(transport, std::move(includeFolders));
}
