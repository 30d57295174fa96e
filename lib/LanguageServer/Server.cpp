// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Server.h"

#include "lib/Driver/Session.h"
#include "lib/Frontend/Formatter.h"
#include "lib/LanguageServer/Completion.h"
#include "lib/LanguageServer/Description.h"
#include "lib/LanguageServer/Rename.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/thread.h"

using namespace netc;
using namespace mlir::lsp;
namespace lsp = mlir::lsp;
namespace json = llvm::json;

namespace {
/// The parameters of requests that mlir::lsp has no structures for.
struct RenameParams : TextDocumentPositionParams {
  std::string newName;
};
bool fromJSON(const json::Value &value, RenameParams &result, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return fromJSON(value, static_cast<TextDocumentPositionParams &>(result),
                  path) &&
         mapper && mapper.map("newName", result.newName);
}

/// Parameters about a text. One that has no file yet, such as
/// `untitled:Untitled-1`, has the path `/Untitled-1`.
template <typename Params> struct Rooted : Params {
  std::string uri; ///< as the client writes it
};
template <typename Params>
bool fromJSON(const json::Value &value, Rooted<Params> &result,
              json::Path path) {
  json::Value rooted = value;
  json::Object *params = rooted.getAsObject();
  json::Object *text = params ? params->getObject("textDocument") : nullptr;
  if (std::optional<llvm::StringRef> uri =
          text ? text->getString("uri") : std::nullopt) {
    result.uri = uri->str();
    llvm::StringRef name = *uri;
    if (name.consume_front("untitled:") && !name.starts_with("/"))
      (*text)["uri"] = "untitled:/" + name.str();
  }
  return fromJSON(rooted, static_cast<Params &>(result), path);
}

/// The files that have changed on disk, as the client reports them.
struct ChangedFiles {
  std::vector<URIForFile> files;
};
bool fromJSON(const json::Value &value, ChangedFiles &result, json::Path) {
  const json::Object *params = value.getAsObject();
  const json::Array *changes = params ? params->getArray("changes") : nullptr;
  if (!changes)
    return false;
  for (const json::Value &change : *changes) {
    const json::Object *of = change.getAsObject();
    std::optional<llvm::StringRef> uri =
        of ? of->getString("uri") : std::nullopt;
    llvm::Expected<URIForFile> file = URIForFile::fromURI(uri.value_or(""));
    if (file)
      result.files.push_back(*file);
    else
      llvm::consumeError(file.takeError());
  }
  return true;
}

/// The capabilities of a client.
struct ClientCapabilities {
  bool refreshesHints = false, refreshesLenses = false;
  bool watchesFiles = false; ///< on request
};
bool fromJSON(const json::Value &value, ClientCapabilities &result,
              json::Path) {
  const json::Object *params = value.getAsObject();
  const json::Object *all =
      params ? params->getObject("capabilities") : nullptr;
  const json::Object *workspace = all ? all->getObject("workspace") : nullptr;
  auto has = [&](llvm::StringRef what, llvm::StringRef ability) {
    const json::Object *of = workspace ? workspace->getObject(what) : nullptr;
    return of && of->getBoolean(ability).value_or(false);
  };
  result = {has("inlayHint", "refreshSupport"),
            has("codeLens", "refreshSupport"),
            has("didChangeWatchedFiles", "dynamicRegistration")};
  return true;
}

class Server {
public:
  Server(JSONTransport &transport, std::vector<std::string> includeFolders)
      : handler(transport), publish(handler.outgoingNotification<json::Value>(
                                "textDocument/publishDiagnostics")),
        refreshHints(requestOf("workspace/inlayHint/refresh")),
        refreshLenses(requestOf("workspace/codeLens/refresh")),
        registerAbility(requestOf("client/registerCapability")) {
    workspace.includeFolders = std::move(includeFolders);
    handler.method("initialize", this, &Server::initialize);
    handler.notification("initialized", this, &Server::watch);
    answer<&Server::shutDown>("shutdown");
    handler.notification("textDocument/didOpen", this, &Server::open);
    handler.notification("textDocument/didChange", this, &Server::change);
    handler.notification("textDocument/didClose", this, &Server::close);
    handler.notification("workspace/didChangeWatchedFiles", this,
                         &Server::recheck);
    answer<&Server::hover>("textDocument/hover");
    answer<&Server::define>("textDocument/definition");
    answer<&Server::references>("textDocument/references");
    answer<&Server::highlight>("textDocument/documentHighlight");
    answer<&Server::rename>("textDocument/rename");
    answer<&Server::symbols>("textDocument/documentSymbol");
    answer<&Server::complete>("textDocument/completion");
    answer<&Server::format>("textDocument/formatting");
    answer<&Server::costs>("textDocument/codeLens");
    answer<&Server::types>("textDocument/inlayHint");
    answer<&Server::fixes>("textDocument/codeAction");
  }

  MessageHandler handler;
  bool isInitialized = false, isShutDown = false;

private:
  using Reply = Callback<json::Value>;

  /// Answers a request by a method, from `initialize` to `shutdown`.
  template <auto method> void answer(llvm::StringLiteral name) {
    answer<method>(name, method);
  }
  template <auto method, typename Params>
  void answer(llvm::StringLiteral name,
              void (Server::*)(const Params &, Reply)) {
    handler.method(name, this, &Server::answerWhileReady<method, Params>);
  }
  template <auto method, typename Params>
  void answerWhileReady(const Params &params, Reply reply) {
    if (!isInitialized)
      return reply(llvm::make_error<LSPError>("`initialize` comes first",
                                              ErrorCode::ServerNotInitialized));
    if (isShutDown)
      return reply(llvm::make_error<LSPError>("nothing follows `shutdown`",
                                              ErrorCode::InvalidRequest));
    (this->*method)(params, std::move(reply));
  }

  void initialize(const ClientCapabilities &said, Reply reply);
  /// Asks the client to report files that change on disk.
  void watch(const NoParams &);
  void recheck(const ChangedFiles &changed);
  void shutDown(const NoParams &, Reply reply) {
    std::lock_guard lock(mutex);
    isShutDown = true;
    reply(nullptr);
  }
  void open(const Rooted<DidOpenTextDocumentParams> &params);
  void change(const Rooted<DidChangeTextDocumentParams> &params);
  void close(const Rooted<DidCloseTextDocumentParams> &params);
  void hover(const Rooted<TextDocumentPositionParams> &params, Reply reply);
  void define(const Rooted<TextDocumentPositionParams> &params, Reply reply);
  void references(const Rooted<ReferenceParams> &params, Reply reply);
  void highlight(const Rooted<TextDocumentPositionParams> &params, Reply reply);
  void rename(const Rooted<RenameParams> &params, Reply reply);
  void symbols(const Rooted<DocumentSymbolParams> &params, Reply reply);
  void complete(const Rooted<TextDocumentPositionParams> &params, Reply reply);
  void format(const Rooted<DocumentSymbolParams> &params, Reply reply);
  void costs(const Rooted<DocumentSymbolParams> &params, Reply reply);
  void types(const Rooted<InlayHintsParams> &params, Reply reply);
  void fixes(const Rooted<CodeActionParams> &params, Reply reply);

  OpenFile *fileOf(const URIForFile &uri) { return workspace.find(uri.file()); }
  /// A file and the name at a position in it; each is null if there is none.
  struct Named {
    OpenFile *file = nullptr;
    const Mention *mention = nullptr;
  };
  Named nameAt(const TextDocumentPositionParams &params) {
    Named named{fileOf(params.textDocument.uri)};
    if (named.file)
      named.mention = named.file->document->mentionAt(
          named.file->document->placeOf(params.position));
    return named;
  }
  /// The declaration whose name is at a position; empty if there is none.
  Meaning meaningAt(const TextDocumentPositionParams &params) {
    auto [file, mention] = nameAt(params);
    return mention ? workspace.meaningOf(file->document, *mention) : Meaning();
  }
  std::string uriOf(const Document &document) {
    OpenFile *open = workspace.find(document.path);
    return open ? open->uri
                : cantFail(URIForFile::fromFile(document.path)).uri().str();
  }

  /// Replaces the text of an open file.
  void update(OpenFile &file, int64_t version, DocumentRef document);
  /// Sends the client a request whose answer is empty.
  OutgoingRequest<json::Value> requestOf(llvm::StringLiteral method) {
    return handler.outgoingRequest<json::Value, std::nullptr_t>(
        method, [](json::Value, llvm::Expected<std::nullptr_t> answer) {
          // A client that refuses it shows old figures for longer.
          if (!answer)
            llvm::consumeError(answer.takeError());
        });
  }
  /// Counts files on a thread of its own.
  void check(std::vector<OpenFile *> files);
  void accept(const CheckRequest &request, const CheckedFile &checked);
  void publishProblems(const OpenFile &file);
  json::Object toJson(const OpenFile &file, const Problem &problem);

  OutgoingNotification<json::Value> publish;
  OutgoingRequest<json::Value> refreshHints, refreshLenses, registerAbility;
  int requests = 0; ///< number of requests sent to the client
  ClientCapabilities client;
  const Vocabulary vocabulary;
  /// Guards the members below, which the checker also changes, and sending.
  std::mutex mutex;
  Workspace workspace;
  Checker checker{
      [this](const CheckRequest &request, const CheckedFile &checked) {
        accept(request, checked);
      }};
};
} // namespace

/// A Location as JSON that owns its text; that of mlir::lsp refers to the URI.
static json::Object location(std::string uri, lsp::Range range) {
  return json::Object{{"uri", std::move(uri)}, {"range", range}};
}
static lsp::Range rangeOf(const Place &place) {
  return place.document->rangeOf(netc::rangeOf(*place.mention));
}

//===----------------------------------------------------------------------===//
// Texts and their problems
//===----------------------------------------------------------------------===//

void Server::initialize(const ClientCapabilities &said, Reply reply) {
  client = said;
  isInitialized = true;
  reply(json::Object{
      {"serverInfo", json::Object{{"name", "netc-lsp"}}},
      {"capabilities",
       json::Object{
           {"textDocumentSync",
            json::Object{{"openClose", true},
                         {"change", int(TextDocumentSyncKind::Incremental)}}},
           {"hoverProvider", true},
           {"definitionProvider", true},
           {"referencesProvider", true},
           {"documentHighlightProvider", true},
           {"renameProvider", true},
           {"documentSymbolProvider", true},
           {"completionProvider",
            json::Object{
                {"triggerCharacters", json::Array{".", "(", ",", "=", "\""}}}},
           {"documentFormattingProvider", true},
           {"codeLensProvider", json::Object{}},
           {"codeActionProvider", true},
           {"inlayHintProvider", true},
       }}});
}

void Server::watch(const NoParams &) {
  if (!client.watchesFiles)
    return;
  json::Object options{
      {"watchers", json::Array{json::Object{{"globPattern", "**/*.net"}}}}};
  registerAbility(
      json::Object{
          {"registrations", json::Array{json::Object{
                                {"id", "files"},
                                {"method", "workspace/didChangeWatchedFiles"},
                                {"registerOptions", std::move(options)}}}}},
      ++requests);
}

void Server::recheck(const ChangedFiles &changed) {
  std::lock_guard lock(mutex);
  std::vector<OpenFile *> stale;
  for (const URIForFile &file : changed.files)
    // The text in an editor takes precedence over the one on disk.
    if (!fileOf(file))
      for (OpenFile *importer : workspace.importersOf(file.file()))
        if (!llvm::is_contained(stale, importer))
          stale.push_back(importer);
  check(std::move(stale));
}

void Server::open(const Rooted<DidOpenTextDocumentParams> &params) {
  const TextDocumentItem &item = params.textDocument;
  auto document = std::make_shared<Document>(item.uri.file(), item.text);
  std::lock_guard lock(mutex);
  OpenFile &file = workspace.files[document->path];
  file.uri = params.uri;
  file.isOnDisk = item.uri.scheme() == "file";
  update(file, item.version, std::move(document));
}

void Server::change(const Rooted<DidChangeTextDocumentParams> &params) {
  OpenFile *file = fileOf(params.textDocument.uri);
  if (!file)
    return;
  std::string text = file->document->text;
  for (const TextDocumentContentChangeEvent &change : params.contentChanges)
    text = changed(text, change);
  auto document =
      std::make_shared<Document>(file->document->path, std::move(text));
  std::lock_guard lock(mutex);
  update(*file, params.textDocument.version, std::move(document));
}

void Server::close(const Rooted<DidCloseTextDocumentParams> &params) {
  std::lock_guard lock(mutex);
  llvm::StringRef path = params.textDocument.uri.file();
  workspace.files.erase(path.str());
  publish(json::Object{{"uri", params.uri}, {"diagnostics", json::Array{}}});
  check(workspace.importersOf(path));
}

void Server::update(OpenFile &file, int64_t version, DocumentRef document) {
  file.version = version;
  file.document = std::move(document);
  file.problems = file.document->syntaxErrors;
  file.types.clear();
  file.parts.clear();
  std::vector<OpenFile *> stale = workspace.importersOf(file.document->path);
  if (file.document->source->hasErrors())
    publishProblems(file);
  else
    stale.insert(stale.begin(), &file);
  check(std::move(stale));
}

void Server::check(std::vector<OpenFile *> files) {
  CheckRequest request;
  request.includeFolders = workspace.includeFolders;
  for (auto &[path, file] : workspace.files)
    request.buffers[path] = file.document->text;
  for (OpenFile *file : files) {
    // Of a text with syntax errors, these are known already.
    if (file->document->source->hasErrors())
      continue;
    request.path = file->document->path;
    checker.request(request);
  }
}

/// Takes over what a check found, unless the text has changed meanwhile.
void Server::accept(const CheckRequest &request, const CheckedFile &checked) {
  std::lock_guard lock(mutex);
  OpenFile *found = workspace.find(request.path);
  if (!found || found->document->text != request.buffers.lookup(request.path))
    return;
  OpenFile &file = *found;
  file.problems = checked.problems;
  file.types = checked.types;
  for (const Mention &mention : file.document->names.mentions())
    if (auto type = file.types.find(beginOf(mention.token));
        type != file.types.end())
      file.lastTypes[mention.name] = type->second.front();
  file.parts = checked.parts;
  if (checked.counts)
    file.counts = checked.counts;
  publishProblems(file);
  if (client.refreshesHints)
    refreshHints(nullptr, ++requests);
  if (client.refreshesLenses)
    refreshLenses(nullptr, ++requests);
}

json::Object Server::toJson(const OpenFile &file, const Problem &problem) {
  const Document &document = *file.document;
  bool isHere = problem.path == document.path && problem.place.line != 0;
  // Problems of another file are shown at the import that leads to it.
  const Declaration *import =
      isHere ? nullptr : workspace.importOf(document, problem.path);
  json::Object result{
      {"range", isHere   ? document.rangeAt(problem.place)
                : import ? document.rangeOf(netc::rangeOf(import->tree))
                         : lsp::Range()},
      {"severity", int(problem.severity == mlir::DiagnosticSeverity::Error
                           ? DiagnosticSeverity::Error
                           : DiagnosticSeverity::Warning)},
      {"source", "netc"},
      {"message", isHere || problem.path.empty()
                      ? problem.text
                      : problem.path + ": " + problem.text}};
  if (!problem.id.empty())
    result["code"] = problem.id;
  json::Array notes;
  for (const Problem &note : problem.notes)
    if (note.path == file.document->path)
      notes.push_back(json::Object{
          {"location", location(file.uri, document.rangeAt(note.place))},
          {"message", note.text}});
  if (!notes.empty())
    result["relatedInformation"] = std::move(notes);
  return result;
}

void Server::publishProblems(const OpenFile &file) {
  json::Array problems;
  for (const Problem &problem : file.problems)
    problems.push_back(toJson(file, problem));
  publish(json::Object{{"uri", file.uri},
                       {"version", file.version},
                       {"diagnostics", std::move(problems)}});
}

static json::Value
editOf(std::map<std::string, std::vector<TextEdit>> changes) {
  WorkspaceEdit edit;
  edit.changes = std::move(changes);
  return edit;
}

namespace {
/// A word of a text, its correction according to an error, and the import that
/// the correction needs, if any.
struct Slip {
  llvm::StringRef seen, meant, import;
};
} // namespace

/// The text in the next backticks of a message.
static llvm::StringRef quotedIn(llvm::StringRef message) {
  return message.split('`').second.split('`').first;
}

/// `widht` and `width` of "unknown name `widht`; did you mean `width`?"; and
/// `std.vision` of "`Patches`; it needs `import std.vision`".
static std::optional<Slip> slipIn(llvm::StringRef message) {
  llvm::StringRef import = quotedIn(
      message.substr(std::min(message.find("t needs `"), message.size())));
  import.consume_front("import ");
  size_t at = message.find("did you mean `");
  if (at != llvm::StringRef::npos)
    return Slip{message.take_front(at).rsplit('`').first.rsplit('`').second,
                quotedIn(message.substr(at)), import};
  if (import.empty())
    return std::nullopt;
  return Slip{quotedIn(message), quotedIn(message), import};
}

/// The edit that writes the correction of a word or of the file of an import;
/// none if neither is at that place.
static std::optional<TextEdit> fixOf(const Document &document, const Slip &slip,
                                     TextPlace place) {
  if (std::optional<lsp::Range> word = document.find(slip.seen, place))
    return TextEdit{*word, slip.meant.str()};
  for (const Declaration &each : document.names.declarations()) {
    auto *import = ruleCast<NetParser::ImportDeclContext>(each.tree);
    if (!import || !(netc::rangeOf(import).begin == place))
      continue;
    llvm::StringRef meant = slip.meant;
    if (import->STRING())
      return TextEdit{
          document.rangeOf(netc::rangeOf(import->STRING()->getSymbol())),
          ("\"" + meant + "\"").str()};
    if (!import->path())
      continue;
    return TextEdit{document.rangeOf(netc::rangeOf(import->path())),
                    importNameOf(meant)};
  }
  return std::nullopt;
}

void Server::fixes(const Rooted<CodeActionParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array actions;
  OpenFile *file = fileOf(params.textDocument.uri);
  for (const Problem &problem :
       file ? llvm::ArrayRef(file->problems) : llvm::ArrayRef<Problem>()) {
    std::optional<Slip> slip = slipIn(problem.text);
    if (!slip || problem.path != file->document->path)
      continue;
    std::optional<TextEdit> replaced =
        fixOf(*file->document, *slip, problem.place);
    if (!replaced)
      continue;
    auto isAsked = [&](const lsp::Range &range) {
      return !(range.end < params.range.start ||
               params.range.end < range.start);
    };
    // An editor asks at the position of the error, which may precede the word.
    if (!isAsked(replaced->range) &&
        !isAsked(file->document->rangeAt(problem.place)))
      continue;
    std::string title;
    std::vector<TextEdit> edits;
    if (slip->meant != slip->seen) {
      title = "replace by `" + replaced->newText + "`";
      edits.push_back(*replaced);
    }
    if (!slip->import.empty()) {
      title +=
          (title.empty() ? "" : " and ") + ("import " + slip->import).str();
      edits.push_back(file->document->importing(slip->import));
    }
    actions.push_back(
        json::Object{{"title", title},
                     {"kind", "quickfix"},
                     {"diagnostics", json::Array{toJson(*file, problem)}},
                     {"edit", editOf({{file->uri, std::move(edits)}})}});
  }
  reply(std::move(actions));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The import whose path is at a place; null if there is none.
static const Declaration *importAt(const Document &document, TextPlace place) {
  for (const Declaration &each : document.names.declarations()) {
    auto *tree = ruleCast<NetParser::ImportDeclContext>(each.tree);
    if (!tree)
      continue;
    bool isPath = tree->path() && netc::rangeOf(tree->path()).contains(place);
    bool isString = tree->STRING() &&
                    netc::rangeOf(tree->STRING()->getSymbol()).contains(place);
    if (isPath || isString)
      return &each;
  }
  return nullptr;
}

void Server::define(const Rooted<TextDocumentPositionParams> &params,
                    Reply reply) {
  std::lock_guard lock(mutex);
  OpenFile *file = fileOf(params.textDocument.uri);
  const Declaration *import =
      file ? importAt(*file->document, file->document->placeOf(params.position))
           : nullptr;
  if (import) {
    DocumentRef imported = workspace.imported(*file->document, *import);
    if (!imported || standardLibrary(imported->path))
      return reply(nullptr);
    return reply(location(uriOf(*imported), lsp::Range(Position())));
  }
  Meaning meaning = meaningAt(params);
  // The standard library is part of the program, and has no place on disk.
  if (!meaning || !meaning.declaration->token ||
      standardLibrary(meaning.document->path))
    return reply(nullptr);
  reply(location(
      uriOf(*meaning.document),
      meaning.document->rangeOf(netc::rangeOf(meaning.declaration->token))));
}

void Server::references(const Rooted<ReferenceParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array places;
  if (Meaning meaning = meaningAt(params))
    for (const DocumentRef &document : workspace.textsThatName(meaning))
      for (const Place &each : workspace.placesOf(meaning, document))
        if (!standardLibrary(document->path) &&
            (each.mention->role != Mention::Declares ||
             params.context.includeDeclaration))
          places.push_back(location(uriOf(*document), rangeOf(each)));
  reply(std::move(places));
}

void Server::highlight(const Rooted<TextDocumentPositionParams> &params,
                       Reply reply) {
  std::lock_guard lock(mutex);
  json::Array places;
  if (Meaning meaning = meaningAt(params))
    for (const Place &each :
         workspace.placesOf(meaning, fileOf(params.textDocument.uri)->document))
      places.push_back(json::Object{
          {"range", rangeOf(each)},
          {"kind",
           each.mention->role == Mention::Declares ? 3 : 2}}); // write, read
  reply(std::move(places));
}

void Server::rename(const Rooted<RenameParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  auto found = placesToRename(workspace, meaningAt(params), params.newName,
                              params.textDocument.uri.file());
  if (auto *why = std::get_if<std::string>(&found))
    return reply(llvm::make_error<LSPError>(*why, ErrorCode::InvalidParams));
  std::map<std::string, std::vector<TextEdit>> edits;
  for (const Place &each : std::get<std::vector<Place>>(found))
    edits[uriOf(*each.document)].push_back(
        {each.document->rangeOf(rangeOfStem(*each.mention)), params.newName});
  reply(editOf(std::move(edits)));
}

/// The range of the name of a declaration, or of its first word if it has none.
static lsp::Range nameRange(const Document &document,
                            const Declaration &declared) {
  return document.rangeOf(netc::rangeOf(
      declared.token ? declared.token : declared.tree->getStart()));
}

/// Symbols of the declarations at the top level of a text, and of the jobs in a
/// run.
static DocumentSymbol symbolOf(const Document &document,
                               const Declaration &declared) {
  lsp::Range name = nameRange(document, declared);
  lsp::Range whole = document.rangeOf(netc::rangeOf(declared.tree));
  // A text with errors may have a declaration without its end.
  whole.start = std::min(whole.start, name.start);
  whole.end = std::max(whole.end, name.end);
  DocumentSymbol symbol(declared.name, kindsOf(declared.kind).symbol, whole,
                        name);
  for (const Declaration *job : document.jobsIn(declared))
    symbol.children.push_back(symbolOf(document, *job));
  return symbol;
}

void Server::symbols(const Rooted<DocumentSymbolParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array symbols;
  if (OpenFile *file = fileOf(params.textDocument.uri))
    for (const Declaration &declared : file->document->names.declarations())
      if (!declared.scope->outer && !declared.name.empty())
        symbols.push_back(symbolOf(*file->document, declared));
  reply(std::move(symbols));
}

//===----------------------------------------------------------------------===//
// What things are and cost
//===----------------------------------------------------------------------===//

void Server::hover(const Rooted<TextDocumentPositionParams> &params,
                   Reply reply) {
  std::lock_guard lock(mutex);
  auto [file, mention] = nameAt(params);
  if (!file)
    return reply(nullptr);
  const Document &document = *file->document;
  auto say = [&](const SourceRange &where, std::string what) {
    Hover hover(document.rangeOf(where));
    hover.contents.value = std::move(what);
    reply(json::Value(hover));
  };
  std::string said =
      mention ? describe(*file, *mention, workspace, vocabulary.accelerators)
              : std::string();
  if (!said.empty())
    return say(netc::rangeOf(*mention), std::move(said));
  auto *quantity = document.quantityAt(document.placeOf(params.position));
  said = quantity ? describe(quantity) : std::string();
  if (said.empty())
    return reply(nullptr);
  say(netc::rangeOf(quantity), std::move(said));
}

void Server::costs(const Rooted<DocumentSymbolParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array lenses;
  if (OpenFile *file = fileOf(params.textDocument.uri))
    for (const Declaration &declared : file->document->names.declarations()) {
      bool isInside =
          declared.scope->outer && declared.kind != Declaration::Run;
      std::string cost = isInside ? "" : file->costOf(pathOf(declared));
      if (!cost.empty())
        lenses.push_back(json::Object{
            {"range", nameRange(*file->document, declared)},
            {"command", json::Object{{"title", cost}, {"command", ""}}}});
    }
  reply(std::move(lenses));
}

void Server::types(const Rooted<InlayHintsParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array hints;
  if (OpenFile *file = fileOf(params.textDocument.uri))
    for (const Mention &mention : file->document->names.mentions()) {
      auto type = file->types.find(beginOf(mention.token));
      Position end = file->document->positionOf(endOf(mention.token));
      if (mention.role != Mention::Declares || type == file->types.end() ||
          !params.range.contains(end))
        continue;
      InlayHint hint(InlayHintKind::Type, end);
      hint.label = ": " + type->second.front();
      if (type->second.size() > 1)
        hint.label += " ..";
      hints.push_back(hint);
    }
  reply(std::move(hints));
}

void Server::complete(const Rooted<TextDocumentPositionParams> &params,
                      Reply reply) {
  std::lock_guard lock(mutex);
  OpenFile *file = fileOf(params.textDocument.uri);
  if (!file)
    return reply(nullptr);
  reply(netc::complete(*file, params.position, workspace, vocabulary));
}

void Server::format(const Rooted<DocumentSymbolParams> &params, Reply reply) {
  std::lock_guard lock(mutex);
  OpenFile *file = fileOf(params.textDocument.uri);
  if (!file || file->document->source->hasErrors())
    return reply(nullptr);
  const Document &document = *file->document;
  std::string better = formatted(document.text, document.source->tree());
  json::Array edits;
  if (better != document.text)
    edits.push_back(TextEdit{document.wholeRange(), std::move(better)});
  reply(std::move(edits));
}

void netc::serve(JSONTransport &transport,
                 std::vector<std::string> includeFolders) {
  // For texts that have no file yet.
  URIForFile::registerSupportedScheme("untitled");
  Server server(transport, std::move(includeFolders));
  bool isLost = false;
  // Reading JSON takes as much stack as it is nested.
  llvm::thread reader(std::optional<unsigned>(kStackBytes), [&] {
    if (llvm::Error error = transport.run(server.handler)) {
      Logger::error("{0}", llvm::toString(std::move(error)));
      isLost = true;
    }
  });
  reader.join();
  llvm::outs().flush();
  // Do not wait for a check, which may take seconds.
  leave(isLost || !server.isShutDown);
}
