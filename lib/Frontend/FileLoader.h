// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_FILELOADER_H
#define NETC_LIB_FRONTEND_FILELOADER_H

#include "lib/Frontend/FileScope.h"

namespace netc {

class Evaluator;

/// Reads the main file, its imports, and blocks of the standard library.
class FileLoader {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit FileLoader(Evaluator &e) : e(e) {}

  /// The text of a regular file or of the standard input, within the limit.
  /// None after an error.
  std::optional<std::string> readText(llvm::StringRef path, mlir::Location at);
  /// Parses a file and declares its names, once per path. Null after an error.
  FileScope *readFile(llvm::StringRef path, mlir::LocationAttr importedAt);
  /// The path of a file that the present file names. It must be below the
  /// folder of the present file; else reports an error and returns none.
  std::optional<std::string> pathBeside(Tree *at, llvm::StringRef name);
  /// The file of a standard block that needs no import, or null. Each block is
  /// read on first use, since reading all takes a fifth of an estimate.
  FileScope *preludeBlock(llvm::StringRef name);

  std::vector<std::unique_ptr<FileScope>> all;
  FileScope *main = nullptr;

private:
  /// Reports that a file cannot be read.
  std::nullopt_t cannotRead(llvm::StringRef path, mlir::Location at,
                            llvm::StringRef why);
  FileScope *addFile(llvm::StringRef path, llvm::StringRef text);
  FileScope *import(NetParser::ImportDeclContext *tree, FileScope &into);
  bool declare(FileScope &file);

  Evaluator &e;
  llvm::StringMap<FileScope *> filesByPath;
  std::vector<std::string> importing;   ///< files being read, outermost first
  llvm::StringMap<FileScope *> prelude; ///< by the name of its only block
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_FILELOADER_H
