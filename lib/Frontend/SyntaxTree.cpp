// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/SyntaxTree.h"

#include "grammar/NetLexer.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace antlr4;

namespace netc {

TextPlace beginOf(const Token *token) {
  return {token->getLine(), token->getCharPositionInLine() + 1};
}

TextPlace endOf(const Token *token) {
  auto [line, column] = beginOf(token);
  return {line, column + token->getStopIndex() + 1 - token->getStartIndex()};
}

SourceRange rangeOf(const Token *token) {
  return {beginOf(token), endOf(token)};
}

SourceRange rangeOf(ParserRuleContext *rule) {
  TextPlace begin = beginOf(rule->getStart());
  Token *stop = rule->getStop();
  return {begin, !stop || stop->getTokenIndex() < rule->start->getTokenIndex()
                     ? begin
                     : endOf(stop)};
}

NetParser::CallContext *callWith(NetParser::ArgContext *arg) {
  return arg ? ruleCast<NetParser::CallContext>(arg->parent->parent) : nullptr;
}

NetParser::ExprContext *leftOperand(NetParser::ExprContext *expr) {
  if (expr->children.empty())
    return nullptr;
  // Most expressions begin with a token, and a cast to a base class is slow.
  tree::ParseTree &first = *expr->children.front();
  return &typeid(first) == &typeid(tree::TerminalNodeImpl)
             ? nullptr
             : dynamic_cast<NetParser::ExprContext *>(&first);
}

llvm::SmallVector<NetParser::ExprContext *>
leftSpine(NetParser::ExprContext *expr) {
  llvm::SmallVector<NetParser::ExprContext *> spine;
  for (; expr; expr = leftOperand(expr))
    spine.push_back(expr);
  std::reverse(spine.begin(), spine.end());
  return spine;
}

std::string sourceText(ParserRuleContext *rule) {
  std::string text;
  size_t end = rule->getStart()->getStartIndex();
  llvm::SmallVector<tree::ParseTree *> pending{rule};
  while (!pending.empty()) {
    tree::ParseTree *next = pending.pop_back_val();
    pending.append(next->children.rbegin(), next->children.rend());
    auto *leaf = dynamic_cast<tree::TerminalNode *>(next);
    if (!leaf || leaf->getSymbol()->getType() == NetLexer::NL)
      continue;
    text += leaf->getSymbol()->getStartIndex() == end ? "" : " ";
    text += leaf->getText();
    end = leaf->getSymbol()->getStopIndex() + 1;
  }
  return text;
}

std::vector<Token *> tokensOf(ParserRuleContext *rule) {
  std::vector<Token *> tokens;
  std::vector<tree::ParseTree *> pending{rule};
  while (!pending.empty()) {
    tree::ParseTree *next = pending.back();
    pending.pop_back();
    if (auto *leaf = dynamic_cast<tree::TerminalNode *>(next))
      if (leaf->getSymbol()->getType() == NetLexer::ID)
        tokens.push_back(leaf->getSymbol());
    pending.insert(pending.end(), next->children.begin(), next->children.end());
  }
  return tokens;
}

std::string importedFile(NetParser::ImportDeclContext *import) {
  if (import->path()) {
    std::string path = import->path()->getText();
    std::replace(path.begin(), path.end(), '.', '/');
    return path + ".net";
  }
  if (!import->STRING())
    return "";
  std::string quoted = import->STRING()->getText();
  llvm::SmallString<128> path(llvm::StringRef(quoted).drop_front().drop_back());
  // One file has one path.
  llvm::sys::path::remove_dots(path);
  return path.str().str();
}

std::string nameOf(NetParser::JobContext *job) {
  return job->ID() ? job->ID()->getText() : job->expr(0)->getText() + "_run";
}

std::vector<NetParser::JobContext *> jobsIn(NetParser::JobContext *job) {
  std::vector<NetParser::JobContext *> jobs;
  if (job->body())
    for (NetParser::StmtContext *stmt : job->body()->stmt())
      if (auto *inner = ruleCast<NetParser::JobStmtContext>(stmt))
        jobs.push_back(inner->job());
  return jobs;
}

bool isIn(antlr4::tree::ParseTree *job, NetParser::JobContext *around) {
  while (job && job != around)
    job = job->parent;
  return job;
}

} // namespace netc
