// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Description.h"

#include "lib/Report/HardwareTable.h"

using namespace netc;

namespace {
#include "lib/LanguageServer/Manual.inc"
} // namespace

ProtocolKinds netc::kindsOf(Declaration::Kind kind) {
  using mlir::lsp::CompletionItemKind;
  using mlir::lsp::SymbolKind;
  switch (kind) {
  case Declaration::Import:
    return {SymbolKind::Module, CompletionItemKind::Module};
  case Declaration::Block:
    return {SymbolKind::Function, CompletionItemKind::Function};
  case Declaration::Net:
    return {SymbolKind::Class, CompletionItemKind::Class};
  case Declaration::Dataset:
  case Declaration::Hardware:
    return {SymbolKind::Struct, CompletionItemKind::Struct};
  case Declaration::Run:
    return {SymbolKind::Event, CompletionItemKind::Event};
  case Declaration::Key:
    return {SymbolKind::Property, CompletionItemKind::Property};
  case Declaration::Setting:
    return {SymbolKind::Variable, CompletionItemKind::Property};
  case Declaration::Constant:
    return {SymbolKind::Constant, CompletionItemKind::Constant};
  default:
    return {SymbolKind::Variable, CompletionItemKind::Variable};
  }
}

/// What docs/Ops.md says of an op; empty of other names.
static std::string describeOp(llvm::StringRef name) {
  llvm::StringRef manual = texts[0];
  auto [before, section] = manual.split(("### `net." + name + "`\n").str());
  auto [heading, text] = section.split("\n");
  return text.take_front(std::min(text.find("\n## "), text.find("\n### ")))
      .str();
}

/// What the table of functions in docs/Language.md says of a name; empty of
/// other names.
static std::string describeFunction(llvm::StringRef name) {
  llvm::StringRef table =
      llvm::StringRef(texts[1]).split("\n### Functions\n").second;
  table = table.take_front(table.find("\n## "));
  while (!table.empty()) {
    llvm::StringRef row;
    std::tie(row, table) = table.split('\n');
    auto [call, what] = row.split("` | ");
    if (call.consume_front("| `") && call.split('(').first == name)
      return ("```net\n" + call + "\n```\n" + what.drop_back(2) + "\n").str();
  }
  return "";
}

/// The type of the tensor that a declaration names, as code; else empty.
static std::string typeOf(const std::map<TextPlace, std::string> &types,
                          const Declaration &declared) {
  auto found =
      declared.token ? types.find(beginOf(declared.token)) : types.end();
  return found == types.end()
             ? ""
             : "```net\n" + declared.name + ": " + found->second + "\n```\n";
}

std::string netc::pathOf(const Declaration &declared) {
  std::string path = declared.name;
  bool isRun = declared.kind == Declaration::Run;
  if (!isRun && declared.kind != Declaration::Net &&
      declared.kind != Declaration::Constant &&
      declared.kind != Declaration::Variable)
    return "";
  for (const NameScope *scope = declared.scope; scope; scope = scope->outer) {
    auto *block = ruleCast<NetParser::BlockDeclContext>(scope->tree);
    auto *job = ruleCast<NetParser::JobContext>(scope->tree);
    if (block && block->NET() && block->ID())
      return block->ID()->getText() + "." + path;
    if (block || (job && !isRun))
      return "";
    if (job && job->ID())
      path = job->ID()->getText() + "." + path;
  }
  return path;
}

/// The path of a part that stands in a question about figures, up to the name:
/// `Small.layer.0` at `layer` of `Small.params(layer[0].conv)`. Empty
/// elsewhere, and if there is no such part.
static std::string pathOfPart(const OpenFile &file, const Mention &mention) {
  antlr4::tree::ParseTree *tree = mention.tree;
  while (tree && !ruleCast<NetParser::ArgContext>(tree))
    tree = tree->parent;
  auto *arg = ruleCast<NetParser::ArgContext>(tree);
  NetParser::CallContext *call = callWith(arg);
  auto *figure =
      call ? ruleCast<NetParser::MemberContext>(call->expr()) : nullptr;
  if (!figure || !arg->expr())
    return "";
  std::string part = mention.token->getInputStream()->getText(
      antlr4::misc::Interval(arg->expr()->getStart()->getStartIndex(),
                             mention.token->getStopIndex()));
  llvm::erase(part, ']');
  std::replace(part.begin(), part.end(), '[', '.');
  std::string question = figure->getText();
  for (llvm::StringRef owner = question; owner.contains('.');) {
    owner = owner.rsplit('.').first;
    if (std::string path = (owner + "." + part).str();
        !file.costOf(path).empty())
      return path;
  }
  return "";
}

/// The value of a figure that a name ends: `run.step.forward` at `forward`.
/// Empty elsewhere.
static std::string describeFigure(const OpenFile &file,
                                  const Mention &mention) {
  auto *member = ruleCast<NetParser::MemberContext>(mention.tree->parent);
  std::string path = member ? member->getText() : "";
  std::string value =
      member && file.counts ? file.counts->valueOf(path) : std::string();
  return value.empty() ? "" : "`" + path + "`: " + value + "\n";
}

/// What a name costs where it stands, as a paragraph; else empty.
static std::string describeCost(const OpenFile &file, const Mention &mention) {
  auto made = file.parts.find(beginOf(mention.token));
  std::string part =
      made != file.parts.end() ? made->second : pathOfPart(file, mention);
  std::string cost = file.costOf(mention.declaration && part.empty()
                                     ? pathOf(*mention.declaration)
                                     : part);
  if (cost.empty())
    return "";
  return "\n" + (part.empty() ? "" : "`" + part + "`: ") + cost + "\n";
}

std::string netc::describe(const OpenFile &file, const Mention &mention,
                           Workspace &workspace,
                           const AcceleratorTable &table) {
  std::string text;
  if (mention.declaration)
    text = typeOf(file.types, *mention.declaration);
  if (Meaning meaning = workspace.meaningOf(file.document, mention)) {
    text += meaning.document->describe(*meaning.declaration);
  } else if (std::optional<Accelerator> device = table.find(mention.name)) {
    llvm::raw_string_ostream os(text);
    os << "```\n";
    printAccelerator(os, *device, table, /*colour=*/false);
    os << "```\n";
  } else if (mention.role != Mention::Labels) {
    text = describeOp(mention.name);
    if (text.empty())
      text = describeFunction(mention.name);
  } else {
    text = describeFigure(file, mention);
  }
  return text + describeCost(file, mention);
}
