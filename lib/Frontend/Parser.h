// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_PARSER_H
#define NETC_LIB_FRONTEND_PARSER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "grammar/NetLexer.h"
#include "lib/Frontend/Limits.h"
#include "lib/Frontend/NewlineFilter.h"
#include "lib/Frontend/SyntaxTree.h"

namespace netc {

struct SyntaxError;

/// The characters of a text, and the path of its file.
struct TextInput : antlr4::ANTLRInputStream {
  TextInput(mlir::StringAttr path, llvm::StringRef text)
      : ANTLRInputStream(text.str()), path(path) {}
  const mlir::StringAttr path; ///< as diagnostics print it
};

/// A parsed text. It owns the text, the tokens and the tree, which is not used
/// outside of the front end.
struct SourceFile {
  SourceFile(mlir::StringAttr path, llvm::StringRef text);

  /// The tree of a text that `parse` or `parseSetting` read; null for the other
  /// one. After errors the tree is incomplete: any child may be missing, and a
  /// rule may have no end.
  NetParser::FileContext *tree() const { return root; }
  NetParser::SettingContext *setting() const { return settingRoot; }
  /// Whether parsing reported errors.
  bool hasErrors() const { return isFaulty; }

  /// The path as diagnostics print it.
  const std::string path;

private:
  friend std::unique_ptr<SourceFile> parse(mlir::MLIRContext *, llvm::StringRef,
                                           llvm::StringRef, const Limits &);
  friend std::unique_ptr<SourceFile> parseSetting(mlir::MLIRContext *,
                                                  llvm::StringRef,
                                                  llvm::StringRef,
                                                  const Limits &);
  /// `readRoot` calls the parser. If it throws, the outermost rule is still the
  /// root.
  template <typename Root>
  static std::unique_ptr<SourceFile>
  read(mlir::MLIRContext *context, llvm::StringRef path, llvm::StringRef text,
       const Limits &limits, Root *SourceFile::*root,
       Root *(NetParser::*readRoot)());
  /// Reads the tokens and calls `readRoot`. Returns the errors in any order.
  std::vector<SyntaxError> readTokens(const Limits &limits,
                                      llvm::function_ref<void()> readRoot,
                                      antlr4::ParserRuleContext *&root);

  TextInput input;
  NetLexer lexer;
  NewlineFilter filter;
  antlr4::CommonTokenStream tokens;
  NetParser parser;
  NetParser::FileContext *root = nullptr;
  NetParser::SettingContext *settingRoot = nullptr;
  bool isFaulty = false;
};

/// Parses `text`. Errors go to the diagnostic engine of `context`, with a
/// FileLineColLoc of `path`. At most `limits.maxErrors` are emitted, one per
/// line; a note on the last one counts the others. Always returns a tree. It is
/// empty if `text` is too long, or not text.
///
/// `limits.maxDepth` bounds the nesting of the tree. But a chain of binary
/// operators, calls and members (`a + b + ...`) is as deep as it is long, along
/// the left operands: use `leftSpine` to visit it.
std::unique_ptr<SourceFile> parse(mlir::MLIRContext *context,
                                  llvm::StringRef path, llvm::StringRef text,
                                  const Limits &limits = {});

/// Parses a setting of the command line, such as `run.batch=64`.
std::unique_ptr<SourceFile> parseSetting(mlir::MLIRContext *context,
                                         llvm::StringRef path,
                                         llvm::StringRef text,
                                         const Limits &limits);

/// A FileLineColLoc. Line and column start from 1, and columns count
/// characters.
mlir::Location locationOf(antlr4::Token *token);

/// The position to show: the operator of a binary operation, the name after the
/// dot of a member, else the first token.
mlir::Location locationOf(antlr4::ParserRuleContext *rule);

} // namespace netc

#endif // NETC_LIB_FRONTEND_PARSER_H
