// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The language server: answers editors by the Language Server Protocol.

#include "lib/LanguageServer/Server.h"
#include "mlir/Tools/lsp-server-support/Logging.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Program.h"

using namespace mlir::lsp;

static llvm::cl::opt<bool>
    litTest("lit-test",
            llvm::cl::desc("read messages between lines `// -----`, write them "
                           "for people, and check each text at once"));

int main(int argc, char **argv) {
  if (!llvm::cl::ParseCommandLineOptions(
          argc, argv, "language server of netc, on stdin and stdout\n",
          &llvm::errs()))
    return 2;
  llvm::sys::ChangeStdinToBinary();
  JSONTransport transport(stdin, llvm::outs(),
                          litTest ? JSONStreamStyle::Delimited
                                  : JSONStreamStyle::Standard,
                          /*prettyOutput=*/litTest);
  return failed(netc::serve(transport, /*waits=*/litTest));
}
