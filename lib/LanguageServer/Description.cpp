// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Description.h"

#include "lib/Frontend/Operators.h"
#include "lib/Report/Format.h"
#include "lib/Report/HardwareTable.h"
#include "llvm/ADT/StringExtras.h"

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

/// The text of docs/Ops.md about an op; empty for other names.
static std::string describeOp(llvm::StringRef name) {
  llvm::StringRef manual = texts[0];
  auto [before, section] = manual.split(("### `net." + name + "`\n").str());
  auto [heading, text] = section.split("\n");
  return text.take_front(std::min(text.find("\n## "), text.find("\n### ")))
      .str();
}

/// The text about a name in the table of functions in docs/Language.md; empty
/// for other names.
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

/// The most items of one kind that a hover shows.
constexpr size_t kShown = 3;

/// The line with the number of items that are not shown; empty if all are.
static std::string andOthers(size_t count) {
  return count == 0 ? "" : "and " + std::to_string(count) + " more\n";
}

/// The types that the tensor of a declaration has, as code; empty of others.
static std::string typesOf(const std::map<TextPlace, Texts> &types,
                           const Declaration &declared) {
  auto found =
      declared.token ? types.find(beginOf(declared.token)) : types.end();
  if (found == types.end())
    return "";
  std::string text = "```net\n";
  llvm::ArrayRef<std::string> all = found->second.getArrayRef();
  for (const std::string &type : all.take_front(kShown))
    text += declared.name + ": " + type + "\n";
  return text + "```\n" + andOthers(all.size() - std::min(all.size(), kShown));
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
    if (job && (job->ID() || !job->expr().empty()))
      path = nameOf(job) + "." + path;
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
  if (!figure || !arg->value)
    return "";
  NetParser::ExprContext *path = pathUpTo(mention);
  auto *again = path ? applicationOf(path) : nullptr;
  std::string part = mention.token->getInputStream()->getText(
      antlr4::misc::Interval(arg->value->getStart()->getStartIndex(),
                             again ? again->getStop()->getStopIndex()
                                   : mention.token->getStopIndex()));
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

/// What instances cost, as a list in which those that cost the same share a
/// line: ``- `Net.pair` and 3 more, each: 36 parameters, ..``.
static std::string costOfInstances(const Counts &counts, const Texts &paths) {
  // A large network has many instances, and a hover must be fast.
  constexpr size_t kCounted = 1000;
  struct Alike {
    std::string first, cost;
    size_t number;
  };
  std::vector<Alike> groups;
  for (const std::string &path : paths.getArrayRef().take_front(kCounted)) {
    std::string cost = counts.costOf(path);
    if (cost.empty())
      continue;
    auto known = llvm::find_if(
        groups, [&](const Alike &group) { return group.cost == cost; });
    if (known == groups.end())
      known = groups.insert(known, {path, cost, 0});
    known->number += counts.copiesOf(path);
  }
  size_t left = paths.size() - std::min(paths.size(), kCounted);
  bool isList = groups.size() > 1 || left != 0;
  std::string text;
  for (auto [index, group] : llvm::enumerate(groups)) {
    if (index >= kShown) {
      left += group.number;
      continue;
    }
    text += (isList ? "- `" : "`") + group.first + "`";
    if (group.number > 1)
      text += " and " + std::to_string(group.number - 1) + " more, each";
    text += ": " + group.cost + "\n";
  }
  return text + (left == 0 ? "" : "- " + andOthers(left));
}

/// Where the block is named whose instance a declaration binds: `Linear` of
/// `first = Linear(8)`.
static std::optional<TextPlace> blockOf(const Declaration &declared) {
  auto *bind = ruleCast<NetParser::BindContext>(declared.tree->parent);
  NetParser::ExprContext *expr = bind ? bind->expr() : nullptr;
  if (auto *call = ruleCast<NetParser::CallContext>(expr))
    expr = call->expr();
  bool isName = ruleCast<NetParser::RefContext>(expr) ||
                ruleCast<NetParser::MemberContext>(expr);
  if (!isName || !expr->getStop())
    return std::nullopt;
  return beginOf(expr->getStop());
}

/// What a name costs where it stands, as a paragraph; else empty.
static std::string describeCost(const OpenFile &file, const Mention &mention,
                                const Declaration *declared) {
  auto instancesAt = [&](TextPlace place) {
    auto made = file.parts.find(place);
    return made != file.parts.end() && file.counts
               ? costOfInstances(*file.counts, made->second)
               : std::string();
  };
  std::string cost = instancesAt(beginOf(mention.token));
  std::string part = cost.empty() ? pathOfPart(file, mention) : "";
  if (!part.empty())
    cost = "`" + part + "`: " + file.costOf(part);
  if (cost.empty() && declared) {
    cost = file.costOf(pathOf(*declared));
    std::optional<TextPlace> block = blockOf(*declared);
    if (cost.empty() && block)
      cost = instancesAt(*block);
  }
  return cost.empty() ? "" : "\n" + llvm::StringRef(cost).rtrim().str() + "\n";
}

std::string netc::describe(const OpenFile &file, const Mention &mention,
                           Workspace &workspace,
                           const AcceleratorTable &table) {
  std::string text;
  if (mention.declaration)
    text = typesOf(file.types, *mention.declaration);
  const Declaration *declared = mention.declaration;
  if (Meaning meaning = workspace.meaningOf(file.document, mention)) {
    // A job has its cost under its name in a path, too.
    if (meaning.document == file.document &&
        meaning.declaration->kind == Declaration::Run)
      declared = meaning.declaration;
    text += meaning.document->describe(*meaning.declaration);
  } else if (std::optional<Accelerator> device = table.find(mention.name)) {
    llvm::raw_string_ostream os(text);
    os << "```\n";
    printAccelerator(os, *device, table, /*colour=*/false);
    os << "```\n";
  } else if (mention.role != Mention::Labels) {
    text = describeOp(mention.name);
    // The text about an op is long.
    if (!text.empty())
      return describeCost(file, mention, declared) + "\n" + text;
    text = describeFunction(mention.name);
  } else {
    text = describeFigure(file, mention);
  }
  return text + describeCost(file, mention, declared);
}

/// The quantity that a unit of this dimension measures or counts.
static llvm::StringRef subjectOf(const Dimension &dimension) {
  if (dimension == Dimension::Time)
    return "time";
  if (dimension == Dimension::Data)
    return "data";
  if (dimension == Dimension::Flop || dimension == Dimension::Op)
    return "operations";
  if (dimension.isCount())
    return "counts";
  return dimension.power(Dimension::Time) < 0 ? "rates" : "device-time";
}

std::string netc::describe(NetParser::QuantityContext *quantity) {
  if (quantity->children.empty())
    return "";
  std::string text = sourceText(quantity);
  auto read = Operators::readLiteral(quantity);
  auto *literal = std::get_if<Literal>(&read);
  llvm::StringRef digits = digitsOf(text),
                  unit = llvm::StringRef(text).drop_front(digits.size()).trim();
  if (!literal || unit.empty())
    return "";
  auto inBase = [&](const Rational &value) {
    return exact(value) + (literal->dimension.isNone() ? "" : " ") +
           literal->dimension.str();
  };
  std::string said = "`" + text + "` = " + inBase(literal->value) + "\n";
  std::optional<Rational> number = Rational::parse(digits);
  if (!number || number->isZero() || literal->dimension.isNone())
    return said;
  Rational one = literal->value / *number;
  if (one == 1)
    return said;
  return said + "\n`" + unit.str() + "`, a unit of " +
         subjectOf(literal->dimension).str() + ": " + inBase(one) + "\n";
}
