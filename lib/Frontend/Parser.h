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

/// The characters of a text, which know where they are from.
struct TextInput : antlr4::ANTLRInputStream {
  TextInput(mlir::StringAttr path, llvm::StringRef text)
      : ANTLRInputStream(text.str()), path(path) {}
  const mlir::StringAttr path; ///< as diagnostics print it
};

/// A parsed text: it owns the text, the tokens and the tree, which stays inside
/// the front end.
struct SourceFile {
  SourceFile(mlir::StringAttr path, llvm::StringRef text);

  /// The tree of what `parse` reads, or `parseSetting`; of the other, null.
  /// After errors it lacks what could not be read: any child may be missing, or
  /// a rule be without its end.
  NetParser::FileContext *tree() const { return root; }
  NetParser::SettingContext *setting() const { return settingRoot; }
  /// Whether errors were reported.
  bool hasErrors() const { return isFaulty; }

  /// As diagnostics print it.
  const std::string path;

private:
  friend std::unique_ptr<SourceFile> parse(mlir::MLIRContext *, llvm::StringRef,
                                           llvm::StringRef, const Limits &);
  friend std::unique_ptr<SourceFile> parseSetting(mlir::MLIRContext *,
                                                  llvm::StringRef,
                                                  llvm::StringRef,
                                                  const Limits &);
  /// `readRoot` calls the parser, which may throw; the outermost rule is the
  /// root nevertheless.
  template <typename Root>
  static std::unique_ptr<SourceFile>
  read(mlir::MLIRContext *context, llvm::StringRef path, llvm::StringRef text,
       const Limits &limits, Root *SourceFile::*root,
       Root *(NetParser::*readRoot)());
  /// Reads the tokens and calls `readRoot`; the errors, in any order.
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

/// Parses `text`. Errors go through the diagnostic engine of `context` with a
/// FileLineColLoc of `path`; at most `limits.maxErrors` are emitted, one a
/// line, and a note on the last one counts the others. There is a tree
/// nevertheless, that of an empty text where `text` is too long or no text.
///
/// The nesting of the tree is bounded by `limits.maxDepth`, but a chain of
/// binary operators, calls and members (`a + b + ...`) is a tree as deep as the
/// chain is long, hanging from the leftmost operands: walk it with `leftSpine`.
std::unique_ptr<SourceFile> parse(mlir::MLIRContext *context,
                                  llvm::StringRef path, llvm::StringRef text,
                                  const Limits &limits = {});

/// The same of one setting of the command line, such as `run.batch=64`.
std::unique_ptr<SourceFile> parseSetting(mlir::MLIRContext *context,
                                         llvm::StringRef path,
                                         llvm::StringRef text,
                                         const Limits &limits);

/// A FileLineColLoc; line and column count from 1, columns in characters.
mlir::Location locationOf(antlr4::Token *token);

/// Where a reader should look: the operator of a binary operation, the name
/// after the dot of a member, else the first token.
mlir::Location locationOf(antlr4::ParserRuleContext *rule);

} // namespace netc

#endif // NETC_LIB_FRONTEND_PARSER_H
