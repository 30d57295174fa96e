// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Workspace.h"

#include "lib/Std/Std.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace netc;
using llvm::StringRef;

bool Meaning::isExported() const {
  return !declaration->scope->outer ||
         ruleCast<NetParser::ParamContext>(declaration->tree);
}

/// Without the mark of the next value of a carried name.
static StringRef stem(const Declaration &declaration) {
  return StringRef(declaration.name).rtrim('\'');
}

bool Meaning::operator==(const Meaning &other) const {
  return declaration && other.declaration &&
         document->path == other.document->path &&
         stem(*declaration) == stem(*other.declaration) &&
         (declaration->scope == other.declaration->scope ||
          (!declaration->scope->outer && !other.declaration->scope->outer));
}

OpenFile *Workspace::find(StringRef path) {
  auto found = files.find(path.str());
  return found == files.end() ? nullptr : &found->second;
}

DocumentRef Workspace::document(StringRef path) {
  if (OpenFile *open = find(path))
    return open->document;
  DocumentRef &known = others[path];
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::optional<StringRef> text = standardLibrary(path);
  if (!text) {
    auto read = llvm::MemoryBuffer::getFile(path);
    if (!read)
      return known = nullptr;
    buffer = std::move(*read);
    text = buffer->getBuffer();
  }
  if (!known || known->text != *text)
    known = std::make_shared<Document>(path, text->str());
  return known;
}

DocumentRef Workspace::imported(const Document &from,
                                const Declaration &import) {
  auto *tree = ruleCast<NetParser::ImportDeclContext>(import.tree);
  std::string name = tree ? importedFile(tree) : "";
  if (name.empty())
    return nullptr;
  if (standardLibrary(name))
    return document(name);
  llvm::SmallString<128> path(llvm::sys::path::parent_path(from.path));
  llvm::sys::path::append(path, name);
  return document(path);
}

std::vector<DocumentRef> Workspace::importedByName(const Document &document) {
  std::vector<DocumentRef> texts;
  for (const Declaration &each : document.names.declarations())
    if (each.kind == Declaration::Import && !each.token)
      if (DocumentRef text = imported(document, each))
        texts.push_back(std::move(text));
  return texts;
}

Meaning Workspace::exported(const DocumentRef &from, StringRef name) {
  const Declaration *found = from ? from->topLevel(name) : nullptr;
  if (!found || found->kind == Declaration::Import)
    return {};
  return {from, found};
}

Meaning Workspace::lookUp(const DocumentRef &document, StringRef name) {
  if (const Declaration *here = document->topLevel(name))
    return {document, here};
  for (const DocumentRef &text : importedByName(*document))
    if (Meaning found = exported(text, name))
      return found;
  return exported(this->document(preludePath), name);
}

/// What a block or net declares inside, last if more than once.
static Meaning declaredIn(const Meaning &block, StringRef name) {
  Meaning found;
  if (block)
    for (const Declaration &each : block.document->names.declarations())
      if (each.scope->tree == block.declaration->tree && each.name == name)
        found = {block.document, &each};
  return found;
}

Meaning Workspace::namedBy(const DocumentRef &document,
                           NetParser::ExprContext *expr) {
  while (auto *call = ruleCast<NetParser::CallContext>(expr))
    expr = call->expr();
  bool isName = ruleCast<NetParser::RefContext>(expr) ||
                ruleCast<NetParser::MemberContext>(expr);
  if (!isName)
    return {};
  llvm::ArrayRef<Mention> mentions = document->names.mentionsIn(expr);
  return mentions.empty() ? Meaning() : meaningOf(document, mentions.back());
}

Meaning Workspace::blockBehind(const Meaning &meaning) {
  Meaning behind = meaning;
  // Names may be bound in a ring.
  for (unsigned steps = 0; behind && steps < 10; ++steps) {
    if (ruleCast<NetParser::BlockDeclContext>(behind.declaration->tree))
      return behind;
    auto *bind =
        ruleCast<NetParser::BindContext>(behind.declaration->tree->parent);
    behind = bind ? namedBy(behind.document, bind->expr()) : Meaning();
  }
  return {};
}

Meaning Workspace::aroundRun(const DocumentRef &document,
                             const Mention &mention, unsigned index) {
  for (const NameScope *scope = mention.scope; scope; scope = scope->outer) {
    auto *job = ruleCast<NetParser::JobContext>(scope->tree);
    if (job && job->expr().size() > index)
      return namedBy(document, job->expr(index));
  }
  return {};
}

Meaning Workspace::partInQuestion(const DocumentRef &document,
                                  const Mention &mention) {
  antlr4::tree::ParseTree *path = mention.tree;
  if (!ruleCast<NetParser::RefContext>(path))
    return {};
  while (ruleCast<NetParser::MemberContext>(path->parent) ||
         ruleCast<NetParser::IndexContext>(path->parent))
    path = path->parent;
  NetParser::CallContext *call =
      callWith(ruleCast<NetParser::ArgContext>(path->parent));
  if (!call || !ruleCast<NetParser::MemberContext>(call->expr()))
    return {};
  NetParser::ExprContext *owner = leftSpine(call->expr()).front();
  Meaning asked = namedBy(document, owner);
  if (!asked)
    return {};
  auto *job = ruleCast<NetParser::JobContext>(asked.declaration->tree);
  if (job && !job->expr().empty())
    asked = namedBy(asked.document, job->expr(0));
  Meaning part = declaredIn(blockBehind(asked), mention.name);
  return part && part.declaration->kind == Declaration::Variable ? part
                                                                 : Meaning();
}

Meaning Workspace::meaningOfLabel(const DocumentRef &document,
                                  const Mention &mention) {
  antlr4::tree::ParseTree *parent = mention.tree->parent;
  if (auto *arg = ruleCast<NetParser::ArgContext>(parent)) {
    NetParser::CallContext *call = callWith(arg);
    Meaning found =
        call ? declaredIn(blockBehind(namedBy(document, call->expr())),
                          mention.name)
             : Meaning();
    return found && ruleCast<NetParser::ParamContext>(found.declaration->tree)
               ? found
               : Meaning();
  }
  if (ruleCast<NetParser::QuantityContext>(mention.tree)) {
    Meaning device = lookUp(document, mention.name);
    return device && device.declaration->kind == Declaration::Hardware
               ? device
               : Meaning();
  }
  auto *member = ruleCast<NetParser::MemberContext>(parent);
  auto *owner =
      member ? ruleCast<NetParser::RefContext>(leftOperand(member)) : nullptr;
  if (!owner)
    return {};
  for (const Mention &named : document->names.mentionsIn(owner)) {
    if (named.declaration && named.declaration->kind == Declaration::Import)
      return exported(imported(*document, *named.declaration), mention.name);
    Meaning job =
        named.declaration && named.declaration->kind == Declaration::Run
            ? declaredIn({document, named.declaration}, mention.name)
            : Meaning();
    if (job && job.declaration->kind == Declaration::Run)
      return job;
  }
  return {};
}

Meaning Workspace::meaningOf(const DocumentRef &document,
                             const Mention &mention) {
  const Declaration *declared = mention.declaration;
  if (!declared && mention.role == Mention::Labels)
    return meaningOfLabel(document, mention);
  if (Meaning part = partInQuestion(document, mention))
    return part;
  bool isKey = declared && declared->kind == Declaration::Key;
  if (declared && !isKey)
    return {document, declared};
  // A run sees what its net returns, sizes its axes, and sweeps its settings.
  Meaning inNet = declaredIn(netAround(document, mention), mention.name);
  if (inNet && (!isKey || inNet.declaration->kind == Declaration::Axis))
    return inNet;
  Meaning field =
      isKey ? Meaning()
            : declaredIn(datasetAround(document, mention), mention.name);
  if (field && field.declaration->kind == Declaration::Key)
    return field;
  return isKey ? Meaning{document, declared} : lookUp(document, mention.name);
}

std::vector<Place> Workspace::placesOf(const Meaning &meaning) {
  std::vector<DocumentRef> documents = {meaning.document};
  if (meaning.isExported())
    for (auto &[path, file] : files)
      if (path != meaning.document->path)
        documents.push_back(file.document);
  std::vector<Place> places;
  for (const DocumentRef &document : documents)
    for (const Mention &mention : document->names.mentions())
      if (StringRef(mention.name).starts_with(stem(*meaning.declaration)) &&
          meaningOf(document, mention) == meaning)
        places.push_back({document, &mention});
  return places;
}

const Declaration *Workspace::importOf(const Document &document,
                                       StringRef path) {
  llvm::StringSet<> seen;
  for (const Declaration &import : document.names.declarations()) {
    if (import.kind != Declaration::Import)
      continue;
    std::vector<DocumentRef> pending = {imported(document, import)};
    while (!pending.empty()) {
      DocumentRef next = pending.back();
      pending.pop_back();
      if (!next || !seen.insert(next->path).second)
        continue;
      if (next->path == path)
        return &import;
      for (const Declaration &each : next->names.declarations())
        if (each.kind == Declaration::Import)
          pending.push_back(imported(*next, each));
    }
  }
  return nullptr;
}

std::vector<OpenFile *> Workspace::importersOf(StringRef path) {
  std::vector<OpenFile *> importers;
  for (auto &[name, file] : files)
    if (name != path && importOf(*file.document, path))
      importers.push_back(&file);
  return importers;
}
