// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Parser.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace antlr4;
using namespace llvm;
using namespace mlir;

namespace netc {

namespace {

/// Refuses deep nesting before it exhausts the stack. A chain of left-recursive
/// operators runs on one frame: ANTLR exits its rule before entering it again.
class DepthGuard : public tree::ParseTreeListener {
public:
  explicit DepthGuard(unsigned maxDepth) : maxDepth(maxDepth) {}

  /// The rule at which the limit was passed.
  struct TooDeep {
    Token *token;
  };

  void enterEveryRule(ParserRuleContext *rule) override {
    if (++depth > maxDepth)
      throw TooDeep{rule->start};
  }
  void exitEveryRule(ParserRuleContext *) override { --depth; }
  void visitTerminal(tree::TerminalNode *) override {}
  void visitErrorNode(tree::ErrorNode *) override {}

private:
  unsigned maxDepth;
  unsigned depth = 0;
};

/// What a text must not contain.
struct BadText {
  size_t offset;
  std::string message;
};

class ErrorListener : public BaseErrorListener {
public:
  ErrorListener(const SourceFile &file, unsigned &errors)
      : file(file), errors(errors) {}
  void syntaxError(Recognizer *, Token *token, size_t, size_t,
                   const std::string &message, std::exception_ptr) override {
    if (++errors <= 20)
      emitError(locationOf(file, token)) << message;
  }

private:
  const SourceFile &file;
  unsigned &errors;
};

} // namespace

/// The first byte sequence that is not text, if any: invalid UTF-8, or a
/// character that shows nothing or reorders what is shown.
static std::optional<BadText> findBadText(StringRef text) {
  auto *begin = reinterpret_cast<const UTF8 *>(text.data());
  auto *valid = begin, *end = begin + text.size();
  bool isValid = isLegalUTF8String(&valid, end);
  StringRef legal = text.take_front(valid - begin);
  for (size_t i = 0; i != legal.size(); ++i) {
    unsigned char c = legal[i];
    StringRef rest = legal.substr(i);
    if (c == '\r' && !rest.starts_with("\r\n"))
      return BadText{i, "a carriage return without a newline"};
    if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
      return BadText{i,
                     formatv("control character U+{0:X-4} is not allowed", c)};
    if (c == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0)
      return BadText{i, formatv("control character U+{0:X-4} is not allowed",
                                static_cast<unsigned char>(rest[1]))};
    if (rest.starts_with("\u202a") || rest.starts_with("\u202b") ||
        rest.starts_with("\u202c") || rest.starts_with("\u202d") ||
        rest.starts_with("\u202e") || rest.starts_with("\u2066") ||
        rest.starts_with("\u2067") || rest.starts_with("\u2068") ||
        rest.starts_with("\u2069"))
      return BadText{i, "a character that reorders the text around it is not "
                        "allowed"};
  }
  if (!isValid)
    return BadText{legal.size(),
                   formatv("byte 0x{0:x-2} is not valid UTF-8", *valid)};
  return std::nullopt;
}

SourceFile::SourceFile(MLIRContext *context, StringRef path, StringRef text)
    : path(path), pathAttr(StringAttr::get(context, path)), input(text.str()),
      lexer(&input), filter(lexer), tokens(&filter), parser(&tokens) {}

std::unique_ptr<SourceFile> parse(MLIRContext *context, StringRef path,
                                  StringRef text, const Limits &limits) {
  if (text.size() > limits.maxInputBytes) {
    emitError(FileLineColLoc::get(context, path, 1, 1))
        << "the file has " << text.size() << " bytes; the limit is "
        << limits.maxInputBytes << " (`--max-input`)";
    return nullptr;
  }
  if (std::optional<BadText> bad = findBadText(text)) {
    StringRef before = text.take_front(bad->offset);
    StringRef line = before.take_back(before.size() - (before.rfind('\n') + 1));
    size_t column =
        1 + count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    emitError(
        FileLineColLoc::get(context, path, before.count('\n') + 1, column))
        << bad->message;
    return nullptr;
  }

  auto file = std::make_unique<SourceFile>(context, path, text);
  unsigned errors = 0;
  ErrorListener listener(*file, errors);
  DepthGuard guard(limits.maxDepth);
  file->parser.removeErrorListeners();
  file->parser.addErrorListener(&listener);
  file->parser.addParseListener(&guard);
  try {
    file->root = file->parser.file();
  } catch (DepthGuard::TooDeep deep) {
    emitError(locationOf(*file, deep.token))
        << "nested more than " << limits.maxDepth
        << " rules deep (`--max-depth`)";
    return nullptr;
  }
  file->parser.removeParseListeners();
  file->parser.removeErrorListeners();
  return errors ? nullptr : std::move(file);
}

/// The child of a binary operation, member or call that is its left operand.
static NetParser::ExprContext *leftOperand(NetParser::ExprContext *expr) {
  return dynamic_cast<NetParser::ExprContext *>(expr->children.front());
}

SmallVector<NetParser::ExprContext *> leftSpine(NetParser::ExprContext *expr) {
  SmallVector<NetParser::ExprContext *> spine;
  for (; expr; expr = leftOperand(expr))
    spine.push_back(expr);
  std::reverse(spine.begin(), spine.end());
  return spine;
}

Location locationOf(const SourceFile &file, Token *token) {
  return FileLineColLoc::get(file.pathAttr, token->getLine(),
                             token->getCharPositionInLine() + 1);
}

Location locationOf(const SourceFile &file, ParserRuleContext *rule) {
  if (auto *member = dynamic_cast<NetParser::MemberContext *>(rule))
    return locationOf(file, member->name()->getStart());
  auto *expr = dynamic_cast<NetParser::ExprContext *>(rule);
  // Calls and indexing have four children, or three and no second operand.
  if (expr && expr->children.size() == 3 && leftOperand(expr) &&
      dynamic_cast<NetParser::ExprContext *>(expr->children[2]))
    if (auto *op = dynamic_cast<tree::TerminalNode *>(expr->children[1]))
      return locationOf(file, op->getSymbol());
  return locationOf(file, rule->getStart());
}

} // namespace netc
