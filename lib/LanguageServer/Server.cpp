// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Server.h"

#include "lib/Frontend/Formatter.h"
#include "lib/Frontend/RunBuilder.h"
#include "lib/LanguageServer/Completion.h"
#include "lib/LanguageServer/Description.h"
#include "lib/LanguageServer/Workspace.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"

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

/// What a client says of itself.
struct ClientCapabilities {
  bool refreshesHints = false, refreshesLenses = false;
};
bool fromJSON(const json::Value &value, ClientCapabilities &result,
              json::Path) {
  const json::Object *params = value.getAsObject();
  const json::Object *all =
      params ? params->getObject("capabilities") : nullptr;
  const json::Object *workspace = all ? all->getObject("workspace") : nullptr;
  auto refreshes = [&](llvm::StringRef what) {
    const json::Object *of = workspace ? workspace->getObject(what) : nullptr;
    return of && of->getBoolean("refreshSupport").value_or(false);
  };
  result = {refreshes("inlayHint"), refreshes("codeLens")};
  return true;
}

class Server {
public:
  explicit Server(JSONTransport &transport)
      : handler(transport), publish(handler.outgoingNotification<json::Value>(
                                "textDocument/publishDiagnostics")),
        refreshHints(requestOf("workspace/inlayHint/refresh")),
        refreshLenses(requestOf("workspace/codeLens/refresh")) {
    handler.method("initialize", this, &Server::initialize);
    handler.notification("initialized", this, &Server::ignore);
    handler.method("shutdown", this, &Server::shutDown);
    handler.notification("textDocument/didOpen", this, &Server::open);
    handler.notification("textDocument/didChange", this, &Server::change);
    handler.notification("textDocument/didClose", this, &Server::close);
    handler.method("textDocument/hover", this, &Server::hover);
    handler.method("textDocument/definition", this, &Server::define);
    handler.method("textDocument/references", this, &Server::references);
    handler.method("textDocument/documentHighlight", this, &Server::highlight);
    handler.method("textDocument/rename", this, &Server::rename);
    handler.method("textDocument/documentSymbol", this, &Server::symbols);
    handler.method("textDocument/completion", this, &Server::complete);
    handler.method("textDocument/formatting", this, &Server::format);
    handler.method("textDocument/codeLens", this, &Server::costs);
    handler.method("textDocument/inlayHint", this, &Server::types);
    handler.method("textDocument/codeAction", this, &Server::fixes);
  }

  MessageHandler handler;
  bool isShutDown = false;

private:
  using Reply = Callback<json::Value>;

  void initialize(const ClientCapabilities &said, Reply reply);
  void ignore(const InitializeParams &) {}
  void shutDown(const NoParams &, Callback<std::nullptr_t> reply) {
    isShutDown = true;
    reply(nullptr);
  }
  void open(const DidOpenTextDocumentParams &params);
  void change(const DidChangeTextDocumentParams &params);
  void close(const DidCloseTextDocumentParams &params);
  void hover(const TextDocumentPositionParams &params, Reply reply);
  void define(const TextDocumentPositionParams &params, Reply reply);
  void references(const ReferenceParams &params, Reply reply);
  void highlight(const TextDocumentPositionParams &params, Reply reply);
  void rename(const RenameParams &params, Reply reply);
  void symbols(const DocumentSymbolParams &params, Reply reply);
  void complete(const TextDocumentPositionParams &params, Reply reply);
  void format(const DocumentSymbolParams &params, Reply reply);
  void costs(const DocumentSymbolParams &params, Reply reply);
  void types(const InlayHintsParams &params, Reply reply);
  void fixes(const CodeActionParams &params, Reply reply);

  OpenFile *fileOf(const URIForFile &uri) { return workspace.find(uri.file()); }
  /// A file, and the name at a position of it; each null if there is none.
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
  /// What is declared that has its name at a position; nothing if there is no
  /// such name.
  Meaning meaningAt(const TextDocumentPositionParams &params) {
    auto [file, mention] = nameAt(params);
    return mention ? workspace.meaningOf(file->document, *mention) : Meaning();
  }
  std::vector<Place> placesAt(const TextDocumentPositionParams &params) {
    Meaning meaning = meaningAt(params);
    return meaning ? workspace.placesOf(meaning) : std::vector<Place>();
  }
  std::string uriOf(const Document &document) {
    OpenFile *open = workspace.find(document.path);
    return open ? open->uri.uri().str()
                : cantFail(URIForFile::fromFile(document.path)).uri().str();
  }

  void update(const URIForFile &uri, int64_t version, std::string text);
  /// Asks the client for something that it answers with nothing.
  OutgoingRequest<json::Value> requestOf(llvm::StringLiteral method) {
    return handler.outgoingRequest<json::Value, std::nullptr_t>(
        method, [](json::Value, llvm::Expected<std::nullptr_t> answer) {
          // A client that refuses it shows old figures for longer.
          if (!answer)
            llvm::consumeError(answer.takeError());
        });
  }
  /// Counts files beside.
  void check(std::vector<OpenFile *> files);
  void accept(const CheckRequest &request, const CheckedFile &checked);
  void publishProblems(const OpenFile &file);
  json::Object toJson(const OpenFile &file, const Problem &problem);

  OutgoingNotification<json::Value> publish;
  OutgoingRequest<json::Value> refreshHints, refreshLenses;
  int requests = 0; ///< so far, of the client
  ClientCapabilities client;
  const Vocabulary vocabulary;
  std::mutex mutex; ///< of what follows, which the checker changes, too
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
  return place.document->rangeOf(netc::rangeOf(place.mention->token));
}

//===----------------------------------------------------------------------===//
// Texts and their problems
//===----------------------------------------------------------------------===//

void Server::initialize(const ClientCapabilities &said, Reply reply) {
  client = said;
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

void Server::open(const DidOpenTextDocumentParams &params) {
  const TextDocumentItem &item = params.textDocument;
  update(item.uri, item.version, item.text);
}

void Server::change(const DidChangeTextDocumentParams &params) {
  OpenFile *file = fileOf(params.textDocument.uri);
  if (!file)
    return;
  std::string text = file->document->text;
  for (const TextDocumentContentChangeEvent &change : params.contentChanges)
    text = changed(text, change);
  update(params.textDocument.uri, params.textDocument.version, std::move(text));
}

void Server::close(const DidCloseTextDocumentParams &params) {
  std::unique_lock lock(mutex);
  llvm::StringRef path = params.textDocument.uri.file();
  // It may be on disk no more, so that later no import leads to it.
  std::vector<OpenFile *> importers = workspace.importersOf(path);
  workspace.files.erase(path.str());
  lock.unlock();
  publish(json::Object{{"uri", params.textDocument.uri.uri().str()},
                       {"diagnostics", json::Array{}}});
  check(std::move(importers));
}

void Server::update(const URIForFile &uri, int64_t version, std::string text) {
  auto document = std::make_shared<Document>(uri.file(), std::move(text));
  std::unique_lock lock(mutex);
  OpenFile &file = workspace.files[document->path];
  file.uri = uri;
  file.version = version;
  file.document = std::move(document);
  file.problems = file.document->syntaxErrors;
  file.types.clear();
  file.parts.clear();
  std::vector<OpenFile *> stale = workspace.importersOf(uri.file());
  if (file.document->source->hasErrors())
    publishProblems(file);
  else
    stale.insert(stale.begin(), &file);
  lock.unlock();
  check(std::move(stale));
}

void Server::check(std::vector<OpenFile *> files) {
  CheckRequest request;
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
      file.lastTypes[mention.name] = type->second;
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
  // What is wrong in another file stands at the import that leads there.
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
      notes.push_back(
          json::Object{{"location", location(file.uri.uri().str(),
                                             document.rangeAt(note.place))},
                       {"message", note.text}});
  if (!notes.empty())
    result["relatedInformation"] = std::move(notes);
  return result;
}

void Server::publishProblems(const OpenFile &file) {
  json::Array problems;
  for (const Problem &problem : file.problems)
    problems.push_back(toJson(file, problem));
  publish(json::Object{{"uri", file.uri.uri().str()},
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
/// A word of a text, and what an error says was meant by it; with an import, if
/// it needs one.
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

/// The edit that writes what was meant: for a word, or for the file of an
/// import; nothing if neither stands there.
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
    meant.consume_back(".net");
    std::string path = meant.str();
    std::replace(path.begin(), path.end(), '/', '.');
    return TextEdit{document.rangeOf(netc::rangeOf(import->path())), path};
  }
  return std::nullopt;
}

void Server::fixes(const CodeActionParams &params, Reply reply) {
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
    lsp::Range word = replaced->range;
    if (word.end < params.range.start || params.range.end < word.start)
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
    actions.push_back(json::Object{
        {"title", title},
        {"kind", "quickfix"},
        {"diagnostics", json::Array{toJson(*file, problem)}},
        {"edit", editOf({{file->uri.uri().str(), std::move(edits)}})}});
  }
  reply(std::move(actions));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The import whose path stands at a place; null if none does.
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

void Server::define(const TextDocumentPositionParams &params, Reply reply) {
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

void Server::references(const ReferenceParams &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array places;
  for (const Place &each : placesAt(params))
    if (!standardLibrary(each.document->path) &&
        (each.mention->role != Mention::Declares ||
         params.context.includeDeclaration))
      places.push_back(location(uriOf(*each.document), rangeOf(each)));
  reply(std::move(places));
}

void Server::highlight(const TextDocumentPositionParams &params, Reply reply) {
  std::lock_guard lock(mutex);
  json::Array places;
  for (const Place &each : placesAt(params))
    if (each.document->path == params.textDocument.uri.file())
      places.push_back(json::Object{
          {"range", rangeOf(each)},
          {"kind",
           each.mention->role == Mention::Declares ? 3 : 2}}); // write, read
  reply(std::move(places));
}

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
                             const Declaration &block) {
  for (const Mention &other : document->names.mentions()) {
    llvm::StringRef number = other.name;
    bool isPart = number.consume_front(llvm::StringRef(block.name).lower()) &&
                  (number.empty() || (number.consume_front("_") &&
                                      llvm::all_of(number, llvm::isDigit)));
    if (isPart && !isField(*document, other) &&
        !workspace.meaningOf(document, other))
      return "`" + other.name + "` in line " +
             std::to_string(beginOf(other.token).line) +
             " may be a part that has its name from `" + block.name + "`";
  }
  return "";
}

/// Why a name cannot be another in a text where it stands; empty if it can.
static std::string whyNotRenamed(Workspace &workspace,
                                 const DocumentRef &document,
                                 const Meaning &meaning,
                                 llvm::StringRef newName) {
  const std::string &name = meaning.declaration->name;
  auto *net =
      ruleCast<NetParser::BlockDeclContext>(meaning.declaration->scope->tree);
  bool isSeenByLoss = net && net->NET() &&
                      (meaning.declaration->kind == Declaration::Result ||
                       meaning.declaration->kind == Declaration::Tensor);
  // Settings, results and parts have their names outside of their scope, too.
  for (const Mention &other : document->names.mentions()) {
    std::string place = "line " + std::to_string(beginOf(other.token).line);
    if (other.name == "like" && other.declaration && isSeenByLoss)
      return "a run that is like another, in " + place +
             ", may take over a loss that names it";
    if (other.name == newName)
      return "`" + newName.str() + "` stands already in " + place;
    if (other.name != name && other.name != name + "'")
      continue;
    // A dataset sizes axes, and fills inputs, of the nets that learn from it.
    Meaning meant = workspace.meaningOf(document, other);
    bool isKey = meant && (meant.declaration->kind == Declaration::Key ||
                           meaning.declaration->kind == Declaration::Key);
    if (!meant && isField(*document, other))
      continue;
    if (!meant || (isKey && !(meant == meaning)))
      return "netc cannot tell whether `" + other.name + "` in " + place +
             " is the same";
  }
  return "";
}

void Server::rename(const RenameParams &params, Reply reply) {
  std::lock_guard lock(mutex);
  auto refuse = [&](const llvm::Twine &why) {
    reply(llvm::make_error<LSPError>(why.str(), ErrorCode::InvalidParams));
  };
  Meaning meaning = meaningAt(params);
  if (!meaning || standardLibrary(meaning.document->path))
    return refuse("what stands here is declared in no file of yours");
  if (std::string why = whyNotOurs(*meaning.declaration); !why.empty())
    return refuse(why);
  if (!isName(params.newName))
    return refuse("`" + params.newName + "` is no name");
  auto naming = [&](const std::string &why, const DocumentRef &document) {
    return document->path == params.textDocument.uri.file()
               ? why
               : why + " of " + document->path;
  };
  if (ruleCast<NetParser::BlockDeclContext>(meaning.declaration->tree)) {
    std::vector<DocumentRef> documents = {meaning.document};
    for (OpenFile *importer : workspace.importersOf(meaning.document->path))
      documents.push_back(importer->document);
    for (const DocumentRef &document : documents)
      if (std::string why =
              whyNoPart(workspace, document, *meaning.declaration);
          !why.empty())
        return refuse(naming(why, document));
  }
  std::map<std::string, std::vector<TextEdit>> edits;
  for (const Place &each : workspace.placesOf(meaning)) {
    std::vector<TextEdit> &ofFile = edits[uriOf(*each.document)];
    std::string why = ofFile.empty() ? whyNotRenamed(workspace, each.document,
                                                     meaning, params.newName)
                                     : "";
    if (!why.empty())
      return refuse(naming(why, each.document));
    bool isNext = llvm::StringRef(each.mention->name).ends_with("'");
    ofFile.push_back({rangeOf(each), params.newName + (isNext ? "'" : "")});
  }
  reply(editOf(std::move(edits)));
}

/// Where the name of a declaration stands; of one without, its first word.
static lsp::Range nameRange(const Document &document,
                            const Declaration &declared) {
  return document.rangeOf(netc::rangeOf(
      declared.token ? declared.token : declared.tree->getStart()));
}

/// Of what a text declares at its top level, and of the jobs in a run.
static DocumentSymbol symbolOf(const Document &document,
                               const Declaration &declared) {
  lsp::Range name = nameRange(document, declared);
  lsp::Range whole = document.rangeOf(netc::rangeOf(declared.tree));
  // A text with errors may have a declaration without its end.
  whole.start = std::min(whole.start, name.start);
  whole.end = std::max(whole.end, name.end);
  DocumentSymbol symbol(declared.name, kindsOf(declared.kind).symbol, whole,
                        name);
  for (const Declaration &job : document.names.declarations())
    if (job.kind == Declaration::Run && job.scope->tree == declared.tree)
      symbol.children.push_back(symbolOf(document, job));
  return symbol;
}

void Server::symbols(const DocumentSymbolParams &params, Reply reply) {
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

void Server::hover(const TextDocumentPositionParams &params, Reply reply) {
  std::lock_guard lock(mutex);
  auto [file, mention] = nameAt(params);
  if (!mention)
    return reply(nullptr);
  Hover hover(file->document->rangeOf(netc::rangeOf(mention->token)));
  hover.contents.value =
      describe(*file, *mention, workspace, vocabulary.accelerators);
  if (hover.contents.value.empty())
    return reply(nullptr);
  reply(json::Value(hover));
}

void Server::costs(const DocumentSymbolParams &params, Reply reply) {
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

void Server::types(const InlayHintsParams &params, Reply reply) {
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
      hint.label = ": " + type->second;
      hints.push_back(hint);
    }
  reply(std::move(hints));
}

void Server::complete(const TextDocumentPositionParams &params, Reply reply) {
  std::lock_guard lock(mutex);
  OpenFile *file = fileOf(params.textDocument.uri);
  if (!file)
    return reply(nullptr);
  reply(netc::complete(*file, params.position, workspace, vocabulary));
}

void Server::format(const DocumentSymbolParams &params, Reply reply) {
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

void netc::serve(JSONTransport &transport) {
  // Of texts that have no file yet.
  URIForFile::registerSupportedScheme("untitled");
  Server server(transport);
  bool isLost = false;
  if (llvm::Error error = transport.run(server.handler)) {
    Logger::error("{0}", llvm::toString(std::move(error)));
    isLost = true;
  }
  llvm::outs().flush();
  // A check may go on for seconds, for nobody.
  std::_Exit(isLost || !server.isShutDown);
}
