// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/WritingContext.h"

#include "lib/Frontend/NewlineFilter.h"
#include "lib/Frontend/Tokens.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

/// The text before the bracket that the last character closes.
static StringRef beforeBracket(StringRef text) {
  unsigned depth = 0;
  for (size_t i = text.size(); i-- != 0;)
    if (StringRef(")]").contains(text[i]))
      ++depth;
    else if (StringRef("([").contains(text[i]) && --depth == 0)
      return text.take_front(i);
    else if (text[i] == '\n')
      break;
  return "";
}

/// The names with dots that a text ends with, with indices and arguments in
/// between: `run.step(layer[0]).fo` of `expect 2 * run.step(layer[0]).fo`.
static StringRef pathAtEnd(StringRef text) {
  StringRef rest = text;
  while (!rest.empty()) {
    char last = rest.back();
    bool isBehindDot = rest.size() < text.size() && text[rest.size()] == '.';
    if (llvm::isAlnum(last) || StringRef("_.@'").contains(last))
      rest = rest.drop_back();
    else if (isBehindDot && StringRef(")]").contains(last) &&
             !beforeBracket(rest).empty())
      rest = beforeBracket(rest);
    else
      break;
  }
  StringRef path = text.drop_front(rest.size());
  // `0.5` is a number, and `..` makes a range.
  size_t range = path.rfind("..");
  path = range == StringRef::npos ? path : path.drop_front(range + 2);
  return !path.empty() && llvm::isDigit(path.front()) ? "" : path;
}

/// Whether a word begins a declaration at the top level.
static bool declares(size_t type) {
  switch (type) {
  case NetLexer::IMPORT:
  case NetLexer::BLOCK:
  case NetLexer::NET:
  case NetLexer::DATASET:
  case NetLexer::HARDWARE:
  case NetLexer::TRAIN:
  case NetLexer::INFER:
  case NetLexer::EXPECT:
  case NetLexer::REQUIRE:
    return true;
  default:
    return false;
  }
}

/// The names with dots that a statement ends with.
static std::string calleeOf(const std::vector<WritingContext::Word> &words) {
  std::string callee;
  bool wantsName = true;
  for (const WritingContext::Word &word : llvm::reverse(words)) {
    bool isName = llvm::isAlpha(word.text.front()) || word.text[0] == '_';
    if (wantsName ? !isName : word.type != NetLexer::DOT)
      break;
    callee = word.text + callee;
    wantsName = !wantsName;
  }
  return StringRef(callee).ltrim('.').str();
}

WritingContext::WritingContext(StringRef before) : path(pathAtEnd(before)) {
  antlr4::ANTLRInputStream input(before.drop_back(path.size()).str());
  NetLexer lexer(&input);
  lexer.removeErrorListeners();
  std::vector<std::unique_ptr<antlr4::Token>> tokens = lexer.getAllTokens();
  if (!tokens.empty()) {
    size_t type = tokens.back()->getType();
    std::string last = tokens.back()->getText();
    bool isClosed = last.size() > 1 && StringRef(last).ends_with("\"");
    isInComment = type == NetLexer::COMMENT;
    // A blank after a string that is not closed belongs to the string.
    if (type == NetLexer::BADSTRING && !isClosed)
      string = last.substr(1) + path;
  }
  lexer.reset();
  NewlineFilter filter(lexer);
  for (auto token = filter.nextToken(); token->getType() != antlr4::Token::EOF;
       token = filter.nextToken())
    read(*token);
}

void WritingContext::read(const antlr4::Token &token) {
  size_t type = token.getType();
  // At the beginning of a line, it closes everything that is open.
  if (declares(type) && token.getCharPositionInLine() == 0) {
    open.clear();
    statement.clear();
  }
  bool isInParentheses = !open.empty() && open.back().type != NetLexer::LBRACE;
  if (type == NetLexer::NL || type == NetLexer::SEMI) {
    // One behind the last token stands for the end, and has no text.
    bool isEnd = token.getStopIndex() + 1 == token.getStartIndex();
    if (!isInParentheses && !isEnd)
      statement.clear();
    return;
  }
  if (isOpener(type)) {
    std::string callee =
        type == NetLexer::LPAREN ? calleeOf(statement) : std::string();
    open.push_back({type, callee, std::move(statement)});
    statement.clear();
  } else if (isCloser(type)) {
    if (open.empty())
      return;
    // A closed pair of brackets is one word of the statement around it.
    statement = std::move(open.back().head);
    open.pop_back();
    statement.push_back({type, token.getText()});
  } else {
    statement.push_back({type, token.getText()});
  }
}

std::vector<std::string> WritingContext::owners() const {
  std::string plain;
  unsigned depth = 0;
  for (char c : path) {
    depth -= c == ')';
    if (depth == 0 && c != ')' && c != '(' && c != ']')
      plain += c == '[' ? '.' : c;
    depth += c == '(';
  }
  llvm::SmallVector<StringRef> components;
  StringRef(plain).split(components, '.');
  return {components.begin(), std::prev(components.end())};
}

std::vector<llvm::ArrayRef<WritingContext::Word>>
WritingContext::sections() const {
  std::vector<llvm::ArrayRef<Word>> sections;
  for (const Bracket &bracket : llvm::reverse(open)) {
    // A key may have such a name.
    if (bracket.type == NetLexer::LBRACE && bracket.head.size() > 1 &&
        declares(bracket.head[0].type) &&
        bracket.head[1].type != NetLexer::ASSIGN)
      sections.push_back(bracket.head);
  }
  return sections;
}

llvm::ArrayRef<WritingContext::Word> WritingContext::wholeStatement() const {
  llvm::ArrayRef<Word> whole = statement;
  for (const Bracket &bracket : llvm::reverse(open)) {
    if (bracket.type == NetLexer::LBRACE)
      break;
    whole = bracket.head;
  }
  return whole;
}

std::string WritingContext::callee() const {
  return open.empty() ? "" : open.back().callee;
}
