// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Workspace.h"

#include "lib/Frontend/Input.h"
#include "lib/Frontend/Limits.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace netc;
using llvm::StringRef;

SourceRange netc::rangeOfStem(const Mention &mention) {
  SourceRange range = rangeOf(mention);
  range.end.column = range.begin.column + stemOf(mention.name).size();
  return range;
}

bool Meaning::operator==(const Meaning &other) const {
  return declaration && other.declaration &&
         document->path == other.document->path &&
         stemOf(declaration->name) == stemOf(other.declaration->name) &&
         (declaration->scope == other.declaration->scope ||
          (!declaration->scope->outer && !other.declaration->scope->outer));
}

OpenFile *Workspace::find(StringRef path) {
  auto found = files.find(path.str());
  return found == files.end() ? nullptr : &found->second;
}

/// The text of a file on disk, if netc would read it.
static std::optional<std::string> readable(StringRef path) {
  size_t most = Limits().maxInputBytes;
  llvm::Expected<std::string> text = readText(path, most);
  if (!text) {
    llvm::consumeError(text.takeError());
    return std::nullopt;
  }
  return text->size() > most ? std::nullopt : std::optional(std::move(*text));
}

DocumentRef Workspace::document(StringRef path) {
  if (OpenFile *open = find(path))
    return open->document;
  KnownText &known = others[path];
  if (std::optional<StringRef> text = standardLibrary(path)) {
    if (!known.document)
      known.document = std::make_shared<Document>(path, text->str());
    return known.document;
  }
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) ||
      !llvm::sys::fs::is_regular_file(status)) {
    known = {};
  } else if (!known.document || known.size != status.getSize() ||
             known.modified != status.getLastModificationTime()) {
    std::optional<std::string> text = readable(path);
    known = {text ? std::make_shared<Document>(path, std::move(*text))
                  : nullptr,
             status.getLastModificationTime(), status.getSize()};
  }
  return known.document;
}

/// The path of a file in a folder, as it is without links on the way there: a
/// file has one path.
static std::string withoutLinks(StringRef folder, StringRef path) {
  llvm::SmallString<128> realFolder, realPath, result(folder);
  if (llvm::sys::fs::real_path(folder, realFolder) ||
      llvm::sys::fs::real_path(path, realPath))
    return path.str();
  StringRef below = realPath;
  if (!below.consume_front(realFolder))
    return path.str();
  llvm::sys::path::append(result, below);
  return result.str().str();
}

std::string Workspace::importedPath(const Document &from,
                                    const Declaration &import) {
  auto *tree = ruleCast<NetParser::ImportDeclContext>(import.tree);
  std::string name = tree ? importedFile(tree) : "";
  if (name.empty() || standardLibrary(name))
    return name;
  std::vector<std::string> folders = {
      llvm::sys::path::parent_path(from.path).str()};
  llvm::append_range(folders, includeFolders);
  auto in = [&](StringRef folder) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  for (const std::string &folder : folders)
    if (std::string path = in(folder); find(path))
      return path;
    else if (llvm::sys::fs::exists(path))
      return withoutLinks(folder, path);
  return in(folders.front());
}

DocumentRef Workspace::imported(const Document &from,
                                const Declaration &import) {
  std::string path = importedPath(from, import);
  return path.empty() ? nullptr : document(path);
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
  Meaning found;
  for (const DocumentRef &text : importedByName(*document)) {
    Meaning offered = exported(text, name);
    if (found && offered && !(found == offered))
      return {}; // an error
    found = offered ? offered : found;
  }
  return found ? found : exported(this->document(preludePath), name);
}

/// The declaration of a name inside a block or net; the last of several.
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
  while (true) {
    auto *repeat = ruleCast<NetParser::RepeatContext>(expr);
    auto *call = ruleCast<NetParser::CallContext>(expr);
    if (!repeat && !call)
      break;
    expr = repeat ? repeat->expr(1) : call->expr();
  }
  bool isName = ruleCast<NetParser::RefContext>(expr) ||
                ruleCast<NetParser::MemberContext>(expr);
  if (!isName)
    return {};
  llvm::ArrayRef<Mention> mentions = document->names.mentionsIn(expr);
  return mentions.empty() ? Meaning() : meaningOf(document, mentions.back());
}

Meaning Workspace::blockBehind(const Meaning &meaning) {
  Meaning behind = meaning;
  // Bindings may form a cycle.
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

NetParser::ExprContext *netc::pathUpTo(const Mention &mention) {
  if (auto *ref = ruleCast<NetParser::RefContext>(mention.tree))
    return ref;
  return ruleCast<NetParser::MemberContext>(mention.tree->parent);
}

NetParser::MulContext *netc::applicationOf(NetParser::ExprContext *path) {
  auto *pair = ruleCast<NetParser::MulContext>(path->parent);
  return pair && pair->op->getText() == "@" && pair->expr(0) == path ? pair
                                                                     : nullptr;
}

Meaning Workspace::netOf(const Meaning &asked) {
  if (!asked || asked.declaration->kind != Declaration::Run)
    return asked;
  antlr4::tree::ParseTree *tree = asked.declaration->tree;
  // A job has the net of the run around it, unless it names another.
  for (const NameScope *scope = asked.declaration->scope;;
       tree = scope->tree, scope = scope->outer) {
    auto *job = ruleCast<NetParser::JobContext>(tree);
    if (!job || !job->expr().empty())
      return job ? namedBy(asked.document, job->expr(0)) : Meaning();
  }
}

Meaning Workspace::partWithoutName(const Meaning &block, StringRef name) {
  auto [stem, number] = name.rsplit('_');
  if (!number.empty() && llvm::all_of(number, llvm::isDigit))
    name = stem;
  if (!block)
    return {};
  Meaning part;
  for (const Mention &mention :
       block.document->names.mentionsIn(block.declaration->tree)) {
    if (StringRef(mention.name).lower() != name)
      continue;
    // What it means in a question does not matter, and might lead back here.
    auto *member = ruleCast<NetParser::MemberContext>(mention.tree->parent);
    Meaning called = mention.role != Mention::Labels
                         ? lookUp(block.document, mention.name)
                     : member ? meaningOfMember(block.document, member)
                              : Meaning();
    if (!called ||
        !ruleCast<NetParser::BlockDeclContext>(called.declaration->tree))
      continue;
    if (part && !(part == called))
      return {}; // the names differ in case
    part = called;
  }
  return part;
}

Meaning Workspace::partInQuestion(const DocumentRef &document,
                                  const Mention &mention) {
  NetParser::ExprContext *upTo = pathUpTo(mention);
  if (!upTo)
    return {};
  NetParser::ExprContext *path = upTo;
  while (ruleCast<NetParser::MemberContext>(path->parent) ||
         ruleCast<NetParser::IndexContext>(path->parent) || applicationOf(path))
    path = static_cast<NetParser::ExprContext *>(path->parent);
  NetParser::CallContext *call =
      callWith(ruleCast<NetParser::ArgContext>(path->parent));
  if (!call || !ruleCast<NetParser::MemberContext>(call->expr()))
    return {};
  Meaning part;
  for (NetParser::ExprContext *owner :
       llvm::reverse(leftSpine(leftOperand(call->expr()))))
    if ((part = netOf(namedBy(document, owner))))
      break;
  for (NetParser::ExprContext *step : leftSpine(upTo)) {
    auto *member = ruleCast<NetParser::MemberContext>(step);
    if (ruleCast<NetParser::IndexContext>(step))
      continue;
    std::string name =
        member && member->name() ? member->name()->getText() : step->getText();
    Meaning block = blockBehind(part);
    part = declaredIn(block, name);
    if (!part)
      part = partWithoutName(block, name);
    else if (part.declaration->kind != Declaration::Variable)
      return {};
  }
  return part;
}

Meaning Workspace::meaningOfArgument(const DocumentRef &document,
                                     const Mention &mention,
                                     NetParser::ArgContext *arg) {
  NetParser::CallContext *call = callWith(arg);
  Meaning found = call
                      ? declaredIn(blockBehind(namedBy(document, call->expr())),
                                   mention.name)
                      : Meaning();
  return found && ruleCast<NetParser::ParamContext>(found.declaration->tree)
             ? found
             : Meaning();
}

Meaning Workspace::meaningOfMember(const DocumentRef &document,
                                   NetParser::MemberContext *member) {
  llvm::SmallVector<NetParser::ExprContext *> steps = leftSpine(member);
  auto *first = ruleCast<NetParser::RefContext>(steps.front());
  llvm::ArrayRef<Mention> named =
      first ? document->names.mentionsIn(first) : llvm::ArrayRef<Mention>();
  if (named.empty() || !named.front().declaration)
    return {};
  Meaning owner{document, named.front().declaration};
  for (NetParser::ExprContext *step : llvm::drop_begin(steps)) {
    auto *next = ruleCast<NetParser::MemberContext>(step);
    if (!next || !next->name())
      return {};
    std::string name = next->name()->getText();
    if (owner.declaration->kind == Declaration::Import)
      owner = exported(imported(*owner.document, *owner.declaration), name);
    else if (owner.declaration->kind == Declaration::Run)
      owner = declaredIn(owner, name);
    else
      return {};
    bool isJob = owner && owner.declaration->kind == Declaration::Run;
    if (!owner || (owner.declaration->scope->outer && !isJob))
      return {};
  }
  return owner;
}

Meaning Workspace::meaningOfLabel(const DocumentRef &document,
                                  const Mention &mention) {
  antlr4::tree::ParseTree *parent = mention.tree->parent;
  if (auto *arg = ruleCast<NetParser::ArgContext>(parent))
    return meaningOfArgument(document, mention, arg);
  if (ruleCast<NetParser::QuantityContext>(mention.tree)) {
    Meaning device = lookUp(document, mention.name);
    return device && device.declaration->kind == Declaration::Hardware
               ? device
               : Meaning();
  }
  auto *member = ruleCast<NetParser::MemberContext>(parent);
  if (!member)
    return {};
  if (Meaning part = partInQuestion(document, mention))
    return part;
  return meaningOfMember(document, member);
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
  if (isKey)
    return {document, declared};
  Meaning found = lookUp(document, mention.name);
  // Where a block does not see the run, an op is meant.
  return found && found.declaration->kind == Declaration::Run ? Meaning()
                                                              : found;
}

static bool isLegalUtf8(StringRef text) {
  auto *begin = text.bytes_begin();
  return llvm::isLegalUTF8String(&begin, text.bytes_end());
}

/// The specifications in the folder of a file, and in those above it: an import
/// leads to the folder of its file or to one below.
static std::vector<std::string> filesUpwards(StringRef path) {
  std::vector<std::string> paths;
  for (StringRef folder = llvm::sys::path::parent_path(path); !folder.empty();
       folder = llvm::sys::path::parent_path(folder)) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator entry(folder, error), end;
         !error && entry != end; entry.increment(error))
      if (llvm::sys::path::extension(entry->path()) == ".net")
        paths.push_back(entry->path());
  }
  return paths;
}

/// Whether files that import its file may name a declaration.
static bool isVisibleOutside(const Declaration &declared) {
  return declared.kind != Declaration::Import &&
         declared.kind != Declaration::LoopVariable &&
         declared.kind != Declaration::Carried;
}

bool Workspace::mayImport(const Document &document, StringRef path) {
  // Nothing is read of a text in another encoding.
  return importOf(document, path) || !isLegalUtf8(document.text);
}

std::vector<DocumentRef> Workspace::textsThatName(const Meaning &meaning,
                                                  StringRef orName) {
  const std::string &declaring = meaning.document->path;
  std::vector<DocumentRef> texts = {meaning.document};
  if (!isVisibleOutside(*meaning.declaration))
    return texts;
  bool isStandard = standardLibrary(declaring).has_value();
  for (auto &[path, file] : files)
    if (path != declaring &&
        (isStandard || mayImport(*file.document, declaring)))
      texts.push_back(file.document);
  if (isStandard)
    return texts;
  // A part has the name of its block in small letters. Without an import, a
  // text need not be parsed.
  StringRef name = stemOf(meaning.declaration->name);
  for (const std::string &path : filesUpwards(declaring)) {
    std::optional<std::string> read =
        path == declaring || find(path) ? std::nullopt : readable(path);
    StringRef text = read ? StringRef(*read) : "";
    bool hasName = text.contains_insensitive(name) ||
                   (!orName.empty() && text.contains_insensitive(orName));
    DocumentRef importer =
        hasName && text.contains("import") ? document(path) : nullptr;
    if (importer && mayImport(*importer, declaring))
      texts.push_back(std::move(importer));
  }
  return texts;
}

std::vector<Place> Workspace::placesOf(const Meaning &meaning,
                                       const DocumentRef &document) {
  std::vector<Place> places;
  for (const Mention &mention : document->names.mentions())
    if (stemOf(mention.name) == stemOf(meaning.declaration->name) &&
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
    std::vector<std::string> pending = {importedPath(document, import)};
    while (!pending.empty()) {
      std::string next = std::move(pending.back());
      pending.pop_back();
      if (next == path)
        return &import;
      DocumentRef text = next.empty() || !seen.insert(next).second
                             ? nullptr
                             : this->document(next);
      if (!text)
        continue;
      for (const Declaration &each : text->names.declarations())
        if (each.kind == Declaration::Import)
          pending.push_back(importedPath(*text, each));
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
