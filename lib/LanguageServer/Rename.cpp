// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Rename.h"

#include "lib/Frontend/RunKeys.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;

/// Whether a text is a valid name, and no keyword.
static bool isName(llvm::StringRef text) {
  Document binding("", (text + " = 1\n").str());
  return !binding.source->hasErrors() && !text.ends_with("'") &&
         binding.topLevel(text);
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
  if (declared.kind == Declaration::Tensor &&
      llvm::is_contained(optimizerTensors, declared.name) &&
      declared.scope->names.contains(optimizerTensors[0]))
    return "`" + declared.name + "` is what an optimizer gets by this name";
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

namespace {
/// Renames a name: holds the texts before and after.
class Renaming {
public:
  Renaming(Workspace &before, const Meaning &meaning, llvm::StringRef newName,
           llvm::StringRef from)
      : before(before), after(before), meaning(meaning), newName(newName),
        from(from) {}

  /// Why what stands in a text is no name that gets another there; empty if it
  /// is one.
  std::string whyNot(const DocumentRef &document,
                     llvm::ArrayRef<Place> places) const;
  /// Writes the new name at these places of a text.
  void write(llvm::ArrayRef<Place> places);
  /// The same declaration in the texts after.
  Meaning renamed();
  /// Why a text would not mean what it does; empty if it would.
  std::string whyOther(const std::string &path);

private:
  std::string lineIn(const Document &document, antlr4::Token *token) const {
    return "line " + std::to_string(beginOf(token).line) +
           (document.path == from ? "" : " of " + document.path);
  }
  std::string whyUnclear(Workspace &workspace, const DocumentRef &document,
                         const Meaning &meaning) const;

  Workspace &before;
  Workspace after;
  Meaning meaning;
  llvm::StringRef newName;
  llvm::StringRef from; ///< the file in which the rename is requested
};
} // namespace

/// Why a name of a text may be the one that gets another, or already has it;
/// empty if netc knows what this word means everywhere there.
std::string Renaming::whyUnclear(Workspace &workspace,
                                 const DocumentRef &document,
                                 const Meaning &meaning) const {
  // Settings, results and parts have their names outside of their scope, too.
  for (const Mention &other : document->names.mentions()) {
    if (stemOf(other.name) != stemOf(meaning.declaration->name))
      continue;
    // A dataset sizes axes, and fills inputs, of the nets that learn from it.
    Meaning meant = workspace.meaningOf(document, other);
    bool isKey = meant && (meant.declaration->kind == Declaration::Key ||
                           meaning.declaration->kind == Declaration::Key);
    if (!meant && isField(*document, other))
      continue;
    if (!meant || (isKey && !(meant == meaning)))
      return "netc cannot tell whether `" + other.name + "` in " +
             lineIn(*document, other.token) + " is the same";
  }
  return "";
}

std::string Renaming::whyNot(const DocumentRef &document,
                             llvm::ArrayRef<Place> places) const {
  // The new name must not be visible yet at any of the places.
  for (const Place &place : places)
    for (const NameScope *scope = place.mention->scope;
         scope && place.mention->role != Mention::Labels; scope = scope->outer)
      if (auto taken = scope->names.find(newName); taken != scope->names.end())
        return "`" + newName.str() + "` stands already in " +
               lineIn(*document, taken->second.front()->tree->getStart());
  auto *net =
      ruleCast<NetParser::BlockDeclContext>(meaning.declaration->scope->tree);
  bool isSeenByLoss = net && net->NET() && !places.empty() &&
                      (meaning.declaration->kind == Declaration::Result ||
                       meaning.declaration->kind == Declaration::Tensor);
  for (const Mention &other : document->names.mentions())
    if (isSeenByLoss && other.name == "like" && other.declaration)
      return "a run that is like another, in " +
             lineIn(*document, other.token) +
             ", may take over a loss that names it";
  return whyUnclear(before, document, meaning);
}

void Renaming::write(llvm::ArrayRef<Place> places) {
  if (places.empty())
    return;
  const Document &document = *places.front().document;
  llvm::StringRef text = document.text;
  std::string changed;
  size_t done = 0;
  for (const Place &place : places) {
    auto range = document.rangeOf(rangeOfStem(*place.mention));
    changed += text.slice(done, document.before(range.start).size());
    changed += newName;
    done = document.before(range.end).size();
  }
  changed += text.drop_front(done);
  after.files[document.path].document =
      std::make_shared<Document>(document.path, std::move(changed));
}

/// A declaration as it is found again in a text where names are others: its
/// file, and the index of its token.
static std::pair<llvm::StringRef, size_t> idOf(const Meaning &meaning) {
  if (!meaning)
    return {"", 0};
  const Declaration &declared = *meaning.declaration;
  antlr4::Token *token =
      declared.token ? declared.token : declared.tree->getStart();
  return {meaning.document->path, token->getTokenIndex()};
}

Meaning Renaming::renamed() {
  DocumentRef document = after.document(meaning.document->path);
  for (const Declaration &each : document->names.declarations())
    if (idOf({document, &each}) == idOf(meaning))
      return {document, &each};
  return {};
}

std::string Renaming::whyOther(const std::string &path) {
  DocumentRef was = before.document(path), is = after.document(path);
  llvm::ArrayRef<Mention> old = was->names.mentions(),
                          now = is->names.mentions();
  if (old.size() != now.size())
    return "`" + newName.str() + "` is no name in " + path;
  for (auto [mention, same] : llvm::zip_equal(old, now))
    if (idOf(before.meaningOf(was, mention)) != idOf(after.meaningOf(is, same)))
      return "`" + mention.name + "` in " + lineIn(*was, mention.token) +
             " would mean something else";
  return whyUnclear(after, is, renamed());
}

std::variant<std::vector<Place>, std::string>
netc::placesToRename(Workspace &workspace, const Meaning &meaning,
                     llvm::StringRef newName, llvm::StringRef from) {
  using Refusal = std::string;
  if (!meaning || standardLibrary(meaning.document->path))
    return Refusal("what stands here is declared in no file of yours");
  if (Refusal why = whyNotOurs(*meaning.declaration); !why.empty())
    return why;
  Refusal noName = "`" + newName.str() + "` is no name";
  if (!isName(newName))
    return noName;
  Renaming renaming(workspace, meaning, newName, from);
  std::vector<DocumentRef> texts = workspace.textsThatName(meaning, newName);
  std::vector<Place> all;
  for (const DocumentRef &document : texts) {
    if (document->path != from && document->source->hasErrors())
      return "netc cannot tell what names stand in " + document->path +
             ", which has errors";
    std::vector<Place> places = workspace.placesOf(meaning, document);
    if (Refusal why = renaming.whyNot(document, places); !why.empty())
      return why;
    renaming.write(places);
    llvm::append_range(all, places);
  }
  Meaning renamed = renaming.renamed();
  if (!renamed)
    return noName;
  if (Refusal why = whyNotOurs(*renamed.declaration); !why.empty())
    return why;
  for (const DocumentRef &document : texts)
    if (Refusal why = renaming.whyOther(document->path); !why.empty())
      return why;
  return all;
}
