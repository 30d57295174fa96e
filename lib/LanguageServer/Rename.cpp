// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Rename.h"

#include "lib/Frontend/RunBuilder.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;

/// Whether a text is a name of the language, and no keyword.
static bool isName(llvm::StringRef text) {
  Document binding("", (text + " = 1\n").str());
  return !binding.source->hasErrors() && binding.topLevel(text);
}

/// Why a name is what the language calls it; empty if it is not.
static std::string whyNotOurs(const Declaration &declared) {
  // Of axes with these, windows, features and positions are found.
  constexpr llvm::StringLiteral roles[] = {"N", "C", "D", "H", "W", "L", "T"};
  if (declared.kind == Declaration::Axis &&
      llvm::is_contained(roles, declared.name))
    return "`" + declared.name + "` says what the axis is for";
  if (declared.kind == Declaration::Result && declared.name == "loss")
    return "`loss` is what a run takes for its loss";
  bool isKey = llvm::is_contained(runKeys, declared.name) ||
               llvm::is_contained(datasetKeys, declared.name) ||
               llvm::is_contained(hardwareKeys, declared.name);
  if (declared.kind == Declaration::Key && isKey)
    return "`" + declared.name + "` is a key of the language";
  return "";
}

/// Whether a name is a field of a record outside of runs, which is in no scope.
static bool isField(const Document &document, const Mention &mention) {
  antlr4::tree::ParseTree *parent = mention.tree->parent;
  if (ruleCast<NetParser::FieldContext>(parent))
    return !ruleCast<NetParser::JobContext>(mention.scope->tree);
  auto *member = ruleCast<NetParser::MemberContext>(parent);
  auto *owner =
      member ? ruleCast<NetParser::RefContext>(leftOperand(member)) : nullptr;
  if (!owner)
    return false;
  llvm::ArrayRef<Mention> named = document.names.mentionsIn(owner);
  auto *bind = named.empty() || !named[0].declaration
                   ? nullptr
                   : ruleCast<NetParser::BindContext>(
                         named[0].declaration->tree->parent);
  return bind && ruleCast<NetParser::RecContext>(bind->expr());
}

/// Why the name of a block cannot be another in a text where a part has it, in
/// small letters; empty if it can.
static std::string whyNoPart(Workspace &workspace, const DocumentRef &document,
                             const Meaning &block) {
  const std::string &name = block.declaration->name;
  for (const Mention &other : document->names.mentions()) {
    llvm::StringRef number = other.name;
    bool isPart = other.name != name &&
                  number.consume_front(llvm::StringRef(name).lower()) &&
                  (number.empty() || (number.consume_front("_") &&
                                      llvm::all_of(number, llvm::isDigit)));
    if (!isPart || isField(*document, other))
      continue;
    Meaning meant = workspace.meaningOf(document, other);
    if (!meant || meant == block)
      return "`" + other.name + "` in line " +
             std::to_string(beginOf(other.token).line) +
             " may be a part that has its name from `" + name + "`";
  }
  return "";
}

/// Why a name cannot be another in a text where it stands, because of what else
/// stands there; empty if it can.
static std::string whyTaken(const Document &document, const Meaning &meaning,
                            llvm::StringRef newName) {
  auto *net =
      ruleCast<NetParser::BlockDeclContext>(meaning.declaration->scope->tree);
  bool isSeenByLoss = net && net->NET() &&
                      (meaning.declaration->kind == Declaration::Result ||
                       meaning.declaration->kind == Declaration::Tensor);
  for (const Mention &other : document.names.mentions()) {
    std::string place = "line " + std::to_string(beginOf(other.token).line);
    if (other.name == "like" && other.declaration && isSeenByLoss)
      return "a run that is like another, in " + place +
             ", may take over a loss that names it";
    if (other.name == newName)
      return "`" + newName.str() + "` stands already in " + place;
  }
  return "";
}

/// Why a name cannot be another in a text that may name it; empty if netc knows
/// what the same word means everywhere there.
static std::string whyUnclear(Workspace &workspace, const DocumentRef &document,
                              const Meaning &meaning) {
  const std::string &name = meaning.declaration->name;
  // Settings, results and parts have their names outside of their scope, too.
  for (const Mention &other : document->names.mentions()) {
    if (other.name != name && other.name != name + "'")
      continue;
    // A dataset sizes axes, and fills inputs, of the nets that learn from it.
    Meaning meant = workspace.meaningOf(document, other);
    bool isKey = meant && (meant.declaration->kind == Declaration::Key ||
                           meaning.declaration->kind == Declaration::Key);
    if (!meant && isField(*document, other))
      continue;
    if (!meant || (isKey && !(meant == meaning)))
      return "netc cannot tell whether `" + other.name + "` in line " +
             std::to_string(beginOf(other.token).line) + " is the same";
  }
  return "";
}

std::variant<std::vector<Place>, std::string>
netc::placesToRename(Workspace &workspace, const Meaning &meaning,
                     llvm::StringRef newName, llvm::StringRef from) {
  using Refusal = std::string;
  if (!meaning || standardLibrary(meaning.document->path))
    return Refusal("what stands here is declared in no file of yours");
  if (Refusal why = whyNotOurs(*meaning.declaration); !why.empty())
    return why;
  if (!isName(newName))
    return "`" + newName.str() + "` is no name";
  bool isBlock =
      ruleCast<NetParser::BlockDeclContext>(meaning.declaration->tree);
  std::vector<Place> all;
  for (const DocumentRef &document : workspace.textsThatName(meaning)) {
    if (document != meaning.document &&
        !workspace.importOf(*document, meaning.document->path))
      continue;
    bool isElsewhere = document->path != from;
    if (isElsewhere && document->source->hasErrors())
      return "netc cannot tell what names stand in " + document->path +
             ", which has errors";
    std::vector<Place> places = workspace.placesOf(meaning, document);
    Refusal why;
    if (isBlock)
      why = whyNoPart(workspace, document, meaning);
    if (why.empty() && !places.empty())
      why = whyTaken(*document, meaning, newName);
    if (why.empty())
      why = whyUnclear(workspace, document, meaning);
    if (!why.empty())
      return isElsewhere ? why + " of " + document->path : why;
    llvm::append_range(all, places);
  }
  return all;
}
