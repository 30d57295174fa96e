// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Parser.h"

#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Frontend/Input.h"
#include "lib/Frontend/SyntaxErrors.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace antlr4;
using namespace llvm;
using namespace mlir;

namespace netc {

namespace {

/// Refuses deep nesting before it exhausts the stack. A chain of left-recursive
/// operators uses one frame: ANTLR exits its rule before entering it again.
class DepthGuard : public tree::ParseTreeListener {
public:
  explicit DepthGuard(unsigned maxDepth) : maxDepth(maxDepth) {}

  /// Thrown at the rule that exceeds the limit.
  struct TooDeep {
    Token *token;
  };

  void enterEveryRule(ParserRuleContext *rule) override {
    if (!outermost)
      outermost = rule;
    if (++depth > maxDepth)
      throw TooDeep{rule->start};
  }
  void exitEveryRule(ParserRuleContext *) override { --depth; }
  void visitTerminal(tree::TerminalNode *) override {}
  void visitErrorNode(tree::ErrorNode *) override {}

  ParserRuleContext *outermost = nullptr;

private:
  unsigned maxDepth;
  unsigned depth = 0;
};

} // namespace

/// Finds invalid UTF-8, and characters that are invisible or reorder the text,
/// so that readers would see another program.
static std::optional<SyntaxError> findBadText(StringRef text) {
  TextPlace place{1, 1};
  const UTF8 *next = text.bytes_begin(), *end = text.bytes_end();
  while (next != end) {
    UTF32 code;
    const UTF8 *begin = next;
    if (convertUTF8Sequence(&next, end, &code, strictConversion) !=
        conversionOK)
      return SyntaxError{place, error::NotUtf8(static_cast<unsigned>(*begin))};
    if (code == '\r' && (next == end || *next != '\n'))
      return SyntaxError{place, error::CarriageReturn()};
    bool isSpace = code == '\t' || code == '\n' || code == '\r';
    if ((code < 0x20 && !isSpace) || (code >= 0x7f && code < 0xa0))
      return SyntaxError{place, error::ControlCharacter(code)};
    if ((code >= 0x202a && code <= 0x202e) ||
        (code >= 0x2066 && code <= 0x2069))
      return SyntaxError{place, error::ReorderingCharacter(code)};
    place = code == '\n' ? TextPlace{place.line + 1, 1}
                         : TextPlace{place.line, place.column + 1};
  }
  return std::nullopt;
}

SourceFile::SourceFile(StringAttr pathAttr, StringRef text)
    : path(pathAttr.str()), input(pathAttr, text), lexer(&input), filter(lexer),
      tokens(&filter), parser(&tokens) {}

/// Emits `errors` in the order of the text, one per line.
static void report(StringAttr path, std::vector<SyntaxError> errors,
                   size_t maxErrors) {
  stable_sort(errors, [](const SyntaxError &a, const SyntaxError &b) {
    return a.place.line < b.place.line;
  });
  errors.erase(std::unique(errors.begin(), errors.end(),
                           [](const SyntaxError &a, const SyntaxError &b) {
                             return a.place.line == b.place.line;
                           }),
               errors.end());

  auto locate = [&](TextPlace place) {
    return FileLineColLoc::get(path, place.line, place.column);
  };
  size_t shown = 0;
  for (const SyntaxError &error : errors) {
    if (error.message.text.empty() || shown == maxErrors)
      break;
    ++shown;
    InFlightDiagnostic diagnostic =
        emitError(locate(error.place), error.message);
    if (error.note)
      diagnostic.attachNote(locate(error.note->place)) << error.note->message;
    if (shown == maxErrors && shown != errors.size())
      diagnostic.attachNote(locate({0, 0}))
          << errors.size() - shown
          << " more lines have syntax errors (`--max-errors`)";
  }
}

std::vector<SyntaxError>
SourceFile::readTokens(const Limits &limits,
                       llvm::function_ref<void()> readRoot,
                       ParserRuleContext *&root) {
  auto strategy =
      std::make_shared<SyntaxErrorStrategy>(std::max(limits.maxErrors, 1u));
  DepthGuard guard(limits.maxDepth);
  tokens.fill();
  parser.setErrorHandler(strategy);
  parser.removeErrorListeners();
  parser.addParseListener(&guard);
  // Such an error explains more than the parser's error that may follow from
  // it.
  std::vector<SyntaxError> errors = findSlips(tokens);
  try {
    readRoot();
    append_range(errors, strategy->errors);
  } catch (DepthGuard::TooDeep deep) {
    errors = {{beginOf(deep.token), error::NestedTooDeep(limits.maxDepth)}};
  }
  parser.removeParseListeners();
  root = guard.outermost;
  return errors;
}

template <typename Root>
std::unique_ptr<SourceFile>
SourceFile::read(MLIRContext *context, StringRef path, StringRef text,
                 const Limits &limits, Root *SourceFile::*root,
                 Root *(NetParser::*readRoot)()) {
  auto pathAttr = StringAttr::get(context, path);
  std::optional<SyntaxError> unreadable;
  bool isTooLong = text.size() > limits.maxInputBytes;
  text.consume_front("\ufeff");
  if (isTooLong)
    unreadable = SyntaxError{{1, 1}, longerThan(limits.maxInputBytes)};
  else
    unreadable = findBadText(text);
  auto file = std::make_unique<SourceFile>(pathAttr, unreadable ? "" : text);
  ParserRuleContext *outermost;
  std::vector<SyntaxError> errors = file->readTokens(
      limits, [&] { ((file->parser).*readRoot)(); }, outermost);
  (*file).*root = static_cast<Root *>(outermost);
  if (unreadable)
    errors = {*unreadable};
  file->isFaulty = !errors.empty();
  report(pathAttr, std::move(errors), std::max(limits.maxErrors, 1u));
  return file;
}

std::unique_ptr<SourceFile> parse(MLIRContext *context, StringRef path,
                                  StringRef text, const Limits &limits) {
  return SourceFile::read(context, path, text, limits, &SourceFile::root,
                          &NetParser::file);
}

std::unique_ptr<SourceFile> parseSetting(MLIRContext *context, StringRef path,
                                         StringRef text, const Limits &limits) {
  return SourceFile::read(context, path, text, limits, &SourceFile::settingRoot,
                          &NetParser::setting);
}

Location locationOf(Token *token) {
  TextPlace place = beginOf(token);
  auto *input = static_cast<TextInput *>(token->getInputStream());
  return FileLineColLoc::get(input->path, place.line, place.column);
}

Location locationOf(ParserRuleContext *rule) {
  if (auto *member = ruleCast<NetParser::MemberContext>(rule))
    return locationOf(member->name()->getStart());
  auto *expr = dynamic_cast<NetParser::ExprContext *>(rule);
  if (expr && expr->children.size() == 3 && leftOperand(expr) &&
      dynamic_cast<NetParser::ExprContext *>(expr->children[2]))
    if (auto *op = dynamic_cast<tree::TerminalNode *>(expr->children[1]))
      return locationOf(op->getSymbol());
  return locationOf(rule->getStart());
}

} // namespace netc
