// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Evaluator.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

Evaluator::Evaluator(mlir::MLIRContext *context, const FrontendOptions &options)
    : Reporter(options.limits.maxErrors), context(context), options(options),
      builder(context),
      module(mlir::ModuleOp::create(builder.getUnknownLoc())) {}

const std::string &Evaluator::wordOf(antlr4::Token *token) {
  auto [word, isNew] = words.try_emplace(token);
  if (isNew)
    word->second = token->getText();
  return word->second;
}

std::string Evaluator::settingsOf(const Frame &inner) {
  std::string text;
  if (!inner.block || !inner.scope)
    return text;
  llvm::ListSeparator comma;
  for (const Parameter &setting :
       calls.parametersOf({inner.block->name, inner.block}).settings) {
    Value value = inner.scope->names.lookup(setting.name);
    std::optional<Number> number = numberOf(value);
    if (!number && !value.is<bool>() && !value.is<std::string>())
      continue;
    std::string given = number ? textOf(Value(*number)) : textOf(value);
    bool isDefault =
        setting.tree->fallback && setting.tree->fallback->getText() == given;
    if (!isDefault)
      text += StringRef(comma).str() + setting.name + " = " + given;
  }
  return text;
}

Evaluator::TopScope::TopScope(Evaluator &e, FileScope &file)
    : frame(e.frame), in(e.frame, &frame) {
  frame.file = &file;
  frame.scope = &scope;
}

Evaluator::GraphScope::GraphScope(Evaluator &e, FileScope &file,
                                  mlir::Block *entry)
    : TopScope(e, file), guard(e.builder), in(e.graph, &graph) {
  graph.id = ++e.graphs;
  graph.entry = entry;
  graph.file = std::make_shared<Identity>();
  graph.root = graph.file;
  frame.self = graph.root.get();
  e.builder.setInsertionPointToEnd(entry);
}
