// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Mentions.h"

#include "lib/Frontend/RunKeys.h"

using namespace netc;

void Mentions::add(const std::string &name) {
  if (known.insert(name).second)
    list.push_back(name);
}

void Mentions::add(antlr4::ParserRuleContext *tree) {
  for (antlr4::Token *token : tokensOf(tree))
    add(token->getText());
}

void Mentions::addStructure(NetParser::JobContext *job) {
  for (NetParser::ExprContext *expr : job->expr())
    add(expr);
  if (!job->body())
    return;
  for (NetParser::StmtContext *stmt : job->body()->stmt()) {
    if (auto *inner = ruleCast<NetParser::JobStmtContext>(stmt))
      addStructure(inner->job());
    auto *bind = ruleCast<NetParser::BindContext>(stmt);
    std::string key = bind ? bind->target(0)->getStart()->getText() : "";
    if (llvm::is_contained(structuralKeys, key) || key == "like")
      add(bind->expr());
  }
}

void Mentions::follow(const FileScope &file) {
  for (size_t i = 0; i < list.size(); ++i) {
    auto entry = file.names.find(list[i]);
    if (entry == file.names.end())
      continue;
    if (auto *job = ruleCast<NetParser::JobContext>(entry->second.tree))
      addStructure(job);
    else
      add(entry->second.tree);
  }
}
