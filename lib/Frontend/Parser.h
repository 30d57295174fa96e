// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_PARSER_H
#define NETC_LIB_FRONTEND_PARSER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "grammar/NetLexer.h"
#include "grammar/NetParser.h"
#include "lib/Frontend/Limits.h"
#include "lib/Frontend/NewlineFilter.h"

namespace netc {

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

  NetParser::FileContext *tree() const { return root; }
  /// The tree of what parseSetting reads.
  NetParser::SettingContext *setting() const { return settingRoot; }

  /// As diagnostics print it.
  const std::string path;

private:
  friend std::unique_ptr<SourceFile> parse(mlir::MLIRContext *, llvm::StringRef,
                                           llvm::StringRef, const Limits &);
  friend std::unique_ptr<SourceFile> parseSetting(mlir::MLIRContext *,
                                                  llvm::StringRef,
                                                  llvm::StringRef,
                                                  const Limits &);
  /// Null after an error. `readRoot` calls the parser.
  static std::unique_ptr<SourceFile>
  read(mlir::MLIRContext *context, llvm::StringRef path, llvm::StringRef text,
       const Limits &limits,
       llvm::function_ref<void(SourceFile &file)> readRoot);

  TextInput input;
  NetLexer lexer;
  NewlineFilter filter;
  antlr4::CommonTokenStream tokens;
  NetParser parser;
  NetParser::FileContext *root = nullptr;
  NetParser::SettingContext *settingRoot = nullptr;
};

/// Parses `text`. Errors go through the diagnostic engine of `context` with a
/// FileLineColLoc of `path`; then the result is null. At most
/// `limits.maxErrors` are emitted, one a line; a note on the last one counts
/// the others.
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

/// The tree as the class of one rule or labelled alternative, or null. As these
/// have no subclasses, this is a dynamic_cast that only compares types; and as
/// they are all of this program, by address, without their names.
template <typename Rule> Rule *ruleCast(antlr4::tree::ParseTree *tree) {
  return tree && &typeid(*tree) == &typeid(Rule) ? static_cast<Rule *>(tree)
                                                 : nullptr;
}

/// `expr` and its leftmost operands in turn, innermost first: for `a + b |> f`
/// these are `a`, `a + b` and `a + b |> f`. Folding over them needs no
/// recursion to the left; recursion into all other children is bounded.
llvm::SmallVector<NetParser::ExprContext *>
leftSpine(NetParser::ExprContext *expr);

/// A FileLineColLoc; line and column count from 1, columns in characters.
mlir::Location locationOf(antlr4::Token *token);

/// Where a reader should look: the operator of a binary operation, the name
/// after the dot of a member, else the first token.
mlir::Location locationOf(antlr4::ParserRuleContext *rule);

/// The text as it stands in the file, blanks included.
std::string sourceText(antlr4::ParserRuleContext *rule);

/// The names in a tree.
std::vector<antlr4::Token *> tokensOf(antlr4::ParserRuleContext *tree);

} // namespace netc

#endif // NETC_LIB_FRONTEND_PARSER_H
