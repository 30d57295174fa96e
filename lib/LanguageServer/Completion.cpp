// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Completion.h"

#include "lib/Frontend/Builtins.h"
#include "lib/Frontend/RunKeys.h"
#include "lib/Hardware/Defaults.h"
#include "lib/LanguageServer/Description.h"
#include "lib/LanguageServer/WritingContext.h"
#include "lib/Std/Std.h"
#include "lib/Units/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace netc;
using llvm::StringRef;
using mlir::lsp::CompletionItemKind;
namespace json = llvm::json;
namespace lsp = mlir::lsp;

Vocabulary::Vocabulary() : accelerators(AcceleratorTable::builtin()) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  Builtins::addBuiltinNames(&context, functions);
  for (const mlir::RegisteredOperationName &op :
       context.getRegisteredOperations())
    if (auto *language = op.getInterface<LanguageOpInterface>()) {
      const Signature &signature = language->getSignature();
      std::vector<std::string> &names = parameters[signature.name];
      for (const TensorSlot &tensor : signature.tensors)
        names.push_back(tensor.name.str());
      for (const Setting &setting : signature.settings)
        names.push_back(setting.name.str());
    }
  for (const std::string &name : functions)
    if (std::vector<std::string> &names = parameters[name]; names.empty()) {
      names = Builtins::settingsOf(name).vec();
      names.insert(names.begin(), ""); // for arguments by position
    }
  antlr4::ANTLRInputStream nothing("");
  NetLexer lexer(&nothing);
  const antlr4::dfa::Vocabulary &words = lexer.getVocabulary();
  for (size_t type = 0; type <= words.getMaxTokenType(); ++type)
    if (std::string quoted = words.getLiteralName(type);
        quoted.size() > 2 && llvm::isAlpha(quoted[1]))
      keywords.push_back(quoted.substr(1, quoted.size() - 2));
  CheckRequest request{"example.net", {}, {}};
  request.buffers[request.path] =
      "net Net(x: f32[N, 1]) { return y = x |> Linear(1) }\n"
      "train Net as run { loss = mean(y); batch = 1; duration = 1 step }\n";
  example = check(request).counts;
}

namespace {
/// Collects the completions at a position. Those that fit best come first:
/// editors sort by `sortText`.
class Completer {
public:
  Completer(const OpenFile &file, lsp::Position at, Workspace &workspace,
            const Vocabulary &vocabulary)
      : file(file), document(file.document), at(at), workspace(workspace),
        vocabulary(vocabulary), context(document->before(at)) {}

  json::Array complete();

private:
  void add(const llvm::Twine &name, CompletionItemKind kind,
           json::Object more = {});
  template <typename Names>
  void addAll(const Names &names, CompletionItemKind kind) {
    for (const auto &name : names)
      add(name, kind);
  }
  /// Adds the declarations of these kinds in a scope; of all kinds if none are
  /// given.
  void addDeclared(const DocumentRef &from, const NameScope &scope,
                   llvm::ArrayRef<Declaration::Kind> kinds = {});
  /// Adds the declarations at the top level of this file and of those that it
  /// imports.
  void addTopLevel(llvm::ArrayRef<Declaration::Kind> kinds);

  /// Adds the axes that a run or a dataset may size.
  void addFreeAxes(const DocumentRef &from, const NameScope &scope);

  void addImports();
  void addMembers();
  void addFigures(const std::vector<std::string> &owners);
  void addAxes(const Declaration &tensor);
  /// Adds the axes that are known at the position.
  void addAxes();
  void addParts(StringRef path);
  void addParameters(const std::string &callee);
  void addKeys(llvm::ArrayRef<WritingContext::Word> section);
  void addValues(StringRef key);
  void addOptimizers();
  /// Adds the runs that `like` may name in the run at the position.
  void addOtherRuns();
  void addDevices();
  /// Adds the names that `updates` takes.
  void addLearners();
  /// Adds everything that can be called.
  void addFunctions();
  void addResults();
  /// Adds what fits the position best.
  void addFitting();
  void addScopes();
  void addImportable();

  bool isInRun() const;
  /// The declaration that a path names: `Conv`, `vision.Patches`.
  Meaning meaningOf(StringRef path);
  /// The name after the first word, or after `on`, of the innermost run that
  /// has one there.
  Meaning netOfRun() { return inRun(0); }
  Meaning datasetOfRun() { return inRun(1); }
  Meaning inRun(unsigned index);
  /// The declaration of a name at the position.
  const Declaration *declared(StringRef name) const;
  const NameScope *scopeOf(const Meaning &meaning) const;

  const OpenFile &file;
  const DocumentRef document;
  const lsp::Position at;
  Workspace &workspace;
  const Vocabulary &vocabulary;
  const WritingContext context;
  bool fits = true; ///< whether the items being added fit best
  llvm::StringSet<> added;
  json::Array items;
};
} // namespace

void Completer::add(const llvm::Twine &name, CompletionItemKind kind,
                    json::Object more) {
  std::string label = name.str();
  if (!added.insert(label).second)
    return;
  json::Object item{{"label", label},
                    {"kind", int(kind)},
                    {"sortText", (fits ? "0" : "1") + label}};
  for (auto &[key, value] : more)
    item[key] = std::move(value);
  items.push_back(std::move(item));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const Declaration *Completer::declared(StringRef name) const {
  for (const NameScope *scope = &document->names.scopeAt(document->placeOf(at));
       scope; scope = scope->outer)
    if (auto found = scope->names.find(name); found != scope->names.end())
      return found->second.back();
  return nullptr;
}

const NameScope *Completer::scopeOf(const Meaning &meaning) const {
  if (meaning)
    for (const Declaration &each : meaning.document->names.declarations())
      if (each.scope->tree == meaning.declaration->tree)
        return each.scope;
  return nullptr;
}

Meaning Completer::meaningOf(StringRef path) {
  auto [first, rest] = path.split('.');
  Meaning meaning = workspace.lookUp(document, first);
  if (rest.empty())
    return meaning;
  return meaning && meaning.declaration->kind == Declaration::Import
             ? Workspace::exported(
                   workspace.imported(*document, *meaning.declaration), rest)
             : Meaning();
}

Meaning Completer::inRun(unsigned index) {
  for (llvm::ArrayRef<WritingContext::Word> head : context.sections()) {
    std::string names[2];
    unsigned present = 0;
    for (const WritingContext::Word &word : head.drop_front()) {
      if (word.type == NetLexer::AS || present > 1)
        break;
      if (word.type == NetLexer::ON)
        ++present;
      else if (word.type == NetLexer::ID || word.type == NetLexer::DOT)
        names[present] += word.text;
    }
    // A job has the net of the run around it.
    if (!names[index].empty())
      return index == 0 ? workspace.blockBehind(meaningOf(names[index]))
                        : meaningOf(names[index]);
  }
  return {};
}

void Completer::addDeclared(const DocumentRef &from, const NameScope &scope,
                            llvm::ArrayRef<Declaration::Kind> kinds) {
  for (const Declaration &each : from->names.declarations())
    if (each.scope == &scope && !each.name.empty() &&
        !StringRef(each.name).ends_with("'") &&
        (kinds.empty() || llvm::is_contained(kinds, each.kind)))
      add(each.name, kindsOf(each.kind).item);
}

void Completer::addFreeAxes(const DocumentRef &from, const NameScope &scope) {
  for (const Declaration &each : from->names.declarations()) {
    auto *axis = ruleCast<NetParser::AxisContext>(each.tree);
    if (each.scope == &scope && each.kind == Declaration::Axis && axis &&
        !axis->label && each.name != kBatchAxis)
      add(each.name, CompletionItemKind::Property);
  }
}

void Completer::addTopLevel(llvm::ArrayRef<Declaration::Kind> kinds) {
  addDeclared(document, document->names.fileScope(), kinds);
  for (const DocumentRef &text : workspace.importedByName(*document))
    for (const Declaration &each : text->names.declarations())
      if (Workspace::exported(text, each.name) &&
          (kinds.empty() || llvm::is_contained(kinds, each.kind)))
        add(each.name, kindsOf(each.kind).item);
}

void Completer::addScopes() {
  for (const NameScope *scope = &document->names.scopeAt(document->placeOf(at));
       scope->outer; scope = scope->outer)
    addDeclared(document, *scope);
  addTopLevel({});
}

void Completer::addImportable() {
  for (const StandardBlock &block : importableBlocks()) {
    // Those of `std.models` describe whole models.
    std::string name = importNameOf(block.path);
    if (block.path.count('/') == 1)
      add(block.name, CompletionItemKind::Function,
          json::Object{
              {"detail", "import " + name},
              {"additionalTextEdits", json::Array{document->importing(name)}}});
  }
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

/// The paths of what an import may name, `std/vision.net`, `parts/blocks.net`.
static std::vector<std::string> importablePaths(const Document &document,
                                                const Workspace &workspace,
                                                bool isOnDisk) {
  std::vector<std::string> paths;
  for (StringRef path : standardLibraryPaths())
    paths.push_back(path.str());
  if (!isOnDisk)
    return paths;
  StringRef folder = llvm::sys::path::parent_path(document.path);
  auto addIfBelow = [&](StringRef path) {
    if (path != document.path && path.consume_front(folder) &&
        path.consume_front("/") && path.ends_with(".net"))
      paths.push_back(path.str());
  };
  // A specification may lie in a folder with a great deal else.
  constexpr unsigned mostFiles = 1000;
  unsigned files = 0;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end && files++ < mostFiles; entry.increment(error)) {
    if (entry.level() >= 2)
      entry.no_push();
    addIfBelow(entry->path());
  }
  for (auto &[path, open] : workspace.files)
    addIfBelow(path);
  return paths;
}

void Completer::addImports() {
  std::vector<std::string> paths =
      importablePaths(*document, workspace, file.isOnDisk);
  if (context.string) {
    // For editors a word ends at a dot or a slash, so replace the whole path.
    lsp::Position begin = at;
    for (unsigned char byte : *context.string)
      begin.character -= (byte < 0x80 || byte >= 0xc0) + (byte >= 0xf0);
    for (const std::string &path : paths)
      add(path, CompletionItemKind::File,
          json::Object{{"textEdit", lsp::TextEdit{{begin, at}, path}}});
    return;
  }
  StringRef written = context.path;
  std::string folder = written.take_front(written.rfind('.') + 1).str();
  std::replace(folder.begin(), folder.end(), '.', '/');
  for (StringRef path : paths)
    if (path.consume_front(folder) && path.consume_back(".net")) {
      StringRef next = path.split('/').first;
      bool isName = llvm::all_of(
          next, [](char c) { return llvm::isAlnum(c) || c == '_'; });
      if (isName && !next.empty() && !llvm::isDigit(next.front()))
        add(next, next == path ? CompletionItemKind::File
                               : CompletionItemKind::Folder);
    }
}

//===----------------------------------------------------------------------===//
// What follows a dot
//===----------------------------------------------------------------------===//

void Completer::addFigures(const std::vector<std::string> &owners) {
  const Declaration *subject = document->topLevel(owners.front());
  if (!subject)
    return;
  std::vector<std::string> names;
  std::string path = llvm::join(owners, ".");
  if (file.counts)
    names = file.counts->figuresOf(path);
  // Before the text is counted, only the text itself shows what there is.
  if (names.empty() && subject->kind == Declaration::Run) {
    std::vector<const Declaration *> jobs = document->jobsIn(*subject);
    llvm::ArrayRef<std::string> members = llvm::ArrayRef(owners).drop_front();
    for (; !members.empty(); members = members.drop_front()) {
      auto next = llvm::find_if(jobs, [&](const Declaration *job) {
        return job->name == members.front();
      });
      if (next == jobs.end())
        break;
      jobs = document->jobsIn(**next);
    }
    if (members.empty())
      for (const Declaration *job : jobs)
        names.push_back(job->name);
    std::vector<std::string> alike = {"run"};
    llvm::append_range(alike, members);
    llvm::append_range(names,
                       vocabulary.example->figuresOf(llvm::join(alike, ".")));
  } else if (names.empty() && workspace.blockBehind({document, subject})) {
    std::vector<std::string> alike = owners;
    alike.front() = "Net";
    names = vocabulary.example->figuresOf(llvm::join(alike, "."));
  }
  for (auto [i, name] : llvm::enumerate(names))
    add(name, CompletionItemKind::Field,
        json::Object{{"sortText", llvm::formatv("{0,4}", i).str()}});
}

/// The labels in `f32[N, C = 3, 7]`.
static std::vector<std::string> labelsIn(StringRef type) {
  std::vector<std::string> labels;
  llvm::SmallVector<StringRef> axes;
  type.split('[').second.split(']').first.split(axes, ',');
  for (StringRef axis : axes) {
    StringRef label = axis.trim().take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (!label.empty() && !llvm::isDigit(label.front()))
      labels.push_back(label.str());
  }
  return labels;
}

void Completer::addAxes(const Declaration &tensor) {
  auto *param = ruleCast<NetParser::ParamContext>(tensor.tree);
  if (param && param->COLON())
    return addAll(labelsIn(param->expr(0)->getText()),
                  CompletionItemKind::Field);
  if (auto known = file.lastTypes.find(tensor.name);
      known != file.lastTypes.end())
    addAll(labelsIn(known->second), CompletionItemKind::Field);
}

void Completer::addAxes() {
  for (const NameScope *scope = &document->names.scopeAt(document->placeOf(at));
       scope; scope = scope->outer)
    addDeclared(document, *scope, {Declaration::Axis});
  for (const auto &known : file.lastTypes)
    addAll(labelsIn(known.second), CompletionItemKind::Field);
}

void Completer::addMembers() {
  std::vector<std::string> owners = context.owners();
  std::string callee = context.callee();
  const Declaration *asked =
      document->topLevel(StringRef(callee).split('.').first);
  bool isQuestion =
      asked && callee.find('.') != std::string::npos &&
      (asked->kind == Declaration::Net || asked->kind == Declaration::Run ||
       asked->kind == Declaration::Constant);
  if (isQuestion)
    addParts(llvm::join(owners, "."));
  const Declaration *owner = declared(owners.front());
  if (!owner)
    return;
  if (owner->kind == Declaration::Import && owners.size() == 1) {
    if (DocumentRef imported = workspace.imported(*document, *owner))
      for (const Declaration &each : imported->names.declarations())
        if (Workspace::exported(imported, each.name))
          add(each.name, kindsOf(each.kind).item);
    return;
  }
  addFigures(owners);
  auto *bind = ruleCast<NetParser::BindContext>(owner->tree->parent);
  auto *record = bind ? ruleCast<NetParser::RecContext>(bind->expr()) : nullptr;
  if (record && record->record() && owners.size() == 1)
    for (NetParser::FieldContext *field : record->record()->field())
      if (field->name())
        add(field->name()->getText(), CompletionItemKind::Field);
  if (owner->scope->outer && owners.size() == 1)
    addAxes(*owner);
}

//===----------------------------------------------------------------------===//
// What fits a place
//===----------------------------------------------------------------------===//

void Completer::addParts(StringRef path) {
  std::string callee = context.callee();
  for (StringRef owner = callee; owner.contains('.');) {
    owner = owner.rsplit('.').first;
    std::vector<std::string> known;
    if (file.counts)
      known = file.counts->partsOf(
          (owner + (path.empty() ? "" : ".") + path).str());
    addAll(known, CompletionItemKind::Field);
    // Until the text is counted, what a net binds may be parts.
    Meaning net = meaningOf(owner);
    const NameScope *scope = scopeOf(net);
    if (known.empty() && scope && path.empty() &&
        net.declaration->kind == Declaration::Net)
      addDeclared(net.document, *scope, {Declaration::Variable});
  }
}

/// The texts in a list that says what a setting may be: `mode: ["pre",
/// "post"]`.
static std::vector<std::string> wordsOf(NetParser::ParamContext *param) {
  std::vector<std::string> words;
  if (auto *list = ruleCast<NetParser::ListContext>(param->type))
    for (NetParser::AxisContext *each : list->axis())
      if (ruleCast<NetParser::StrContext>(each->expr()))
        words.push_back(StringRef(each->getText()).trim('"').str());
  return words;
}

void Completer::addParameters(const std::string &callee) {
  std::vector<std::string> names;
  Meaning meaning = meaningOf(callee);
  auto *tree = meaning ? meaning.declaration->tree : nullptr;
  auto *block = ruleCast<NetParser::BlockDeclContext>(tree);
  auto *dataset = ruleCast<NetParser::SectionContext>(tree);
  NetParser::ParamsContext *params = block     ? block->params()
                                     : dataset ? dataset->params()
                                               : nullptr;
  llvm::ArrayRef<WritingContext::Word> words = context.statement;
  bool isValue = words.size() > 1 && context.lastType() == NetLexer::ASSIGN;
  StringRef setting = isValue ? words.drop_back().back().text : StringRef();
  if (setting == "over")
    return addAxes();
  if (params) {
    if (dataset)
      names.push_back(""); // nothing is piped into one
    for (NetParser::ParamContext *param : params->param())
      if (param->name() && param->name()->getText() == setting)
        return addAll(wordsOf(param), CompletionItemKind::EnumMember);
      else if (param->name())
        names.push_back(param->name()->getText());
  } else if (!meaning) {
    names = vocabulary.parameters.lookup(callee);
  }
  if (isValue)
    return;
  auto isGiven = [&](StringRef name) {
    for (auto [word, next] : llvm::zip(words, words.drop_front(!words.empty())))
      if (word.text == name && next.type == NetLexer::ASSIGN)
        return true;
    return false;
  };
  // The first tensor is piped in, or given to an optimizer by the step.
  for (const std::string &name : llvm::drop_begin(names, !names.empty()))
    if (name != "gradient" && !isGiven(name))
      add(name, CompletionItemKind::Property);
}

void Completer::addKeys(llvm::ArrayRef<WritingContext::Word> section) {
  switch (section.front().type) {
  case NetLexer::HARDWARE:
    addAll(hardwareKeys, CompletionItemKind::Property);
    break;
  case NetLexer::DATASET:
    addAll(datasetKeys, CompletionItemKind::Property);
    for (const Declaration &net : document->names.declarations())
      if (net.kind == Declaration::Net)
        if (const NameScope *scope = scopeOf({document, &net})) {
          addDeclared(document, *scope, {Declaration::Tensor});
          addFreeAxes(document, *scope);
        }
    break;
  case NetLexer::TRAIN:
  case NetLexer::INFER: {
    bool isInference = section.front().type == NetLexer::INFER;
    for (StringRef key : runKeys)
      if (!isInference || !whyNotOfInference(key))
        add(key, CompletionItemKind::Property);
    Meaning net = netOfRun();
    if (const NameScope *scope = scopeOf(net))
      addFreeAxes(net.document, *scope);
    addAll(llvm::ArrayRef<StringRef>(
               {"train", "infer", "sweep", "require", "expect"}),
           CompletionItemKind::Keyword);
    break;
  }
  default:
    addAll(llvm::ArrayRef<StringRef>({"return", "if", "for", "require"}),
           CompletionItemKind::Keyword);
    break;
  }
}

void Completer::addResults() {
  Meaning net = netOfRun();
  auto *block =
      net ? ruleCast<NetParser::BlockDeclContext>(net.declaration->tree)
          : nullptr;
  const NameScope *inNet = scopeOf(net);
  if (inNet)
    addDeclared(net.document, *inNet,
                {Declaration::Result, Declaration::Tensor});
  // `return y` gives its variable's name to the result.
  if (block && block->statements)
    for (NetParser::StmtContext *stmt : block->statements->stmt())
      if (auto *result = ruleCast<NetParser::ReturnContext>(stmt))
        for (NetParser::Item2Context *item : result->item2())
          if (!item->target() && ruleCast<NetParser::RefContext>(item->expr()))
            add(item->expr()->getText(), CompletionItemKind::Variable);
  Meaning dataset = datasetOfRun();
  // An entry with the name of an axis sizes the axis. It is no field.
  if (const NameScope *scope = scopeOf(dataset))
    for (const Declaration &field : dataset.document->names.declarations())
      if (field.scope == scope &&
          !llvm::is_contained(datasetKeys, field.name) &&
          !(inNet && inNet->names.contains(field.name)))
        add(field.name, CompletionItemKind::Field);
}

void Completer::addOptimizers() {
  auto addOf = [&](const DocumentRef &from) {
    for (const Declaration &each : from->names.declarations()) {
      auto *block = ruleCast<NetParser::BlockDeclContext>(each.tree);
      if (each.kind == Declaration::Block && block->params() &&
          StringRef(block->params()->getText()).starts_with("(parameter"))
        add(each.name, CompletionItemKind::Function);
    }
  };
  addOf(document);
  llvm::for_each(workspace.importedByName(*document), addOf);
  addOf(workspace.document(preludePath));
}

void Completer::addOtherRuns() {
  for (llvm::ArrayRef<WritingContext::Word> head : context.sections())
    for (auto [word, next] : llvm::zip(head, head.drop_front()))
      if (word.type == NetLexer::AS)
        added.insert(next.text);
  addTopLevel({Declaration::Run});
}

void Completer::addFunctions() {
  addTopLevel({Declaration::Block});
  for (const StandardBlock &block : standardBlocks())
    add(block.name, CompletionItemKind::Function);
  addAll(vocabulary.functions, CompletionItemKind::Function);
}

void Completer::addLearners() {
  Meaning net = netOfRun();
  if (const NameScope *scope = scopeOf(net))
    addDeclared(net.document, *scope, {Declaration::Variable});
  if (net && file.counts)
    addAll(file.counts->partsOf(net.declaration->name),
           CompletionItemKind::Field);
  addTopLevel({Declaration::Constant, Declaration::Block});
}

void Completer::addDevices() {
  addTopLevel({Declaration::Hardware});
  for (const Accelerator &device : vocabulary.accelerators.accelerators()) {
    add(device.name, CompletionItemKind::EnumMember);
    addAll(device.aliases, CompletionItemKind::EnumMember);
  }
}

bool Completer::isInRun() const {
  std::vector<llvm::ArrayRef<WritingContext::Word>> sections =
      context.sections();
  return !sections.empty() &&
         (sections.front().front().type == NetLexer::TRAIN ||
          sections.front().front().type == NetLexer::INFER);
}

void Completer::addValues(StringRef key) {
  if (key == "loss")
    addResults();
  else if (key == "optimizer")
    addOptimizers();
  else if (key == "like")
    addOtherRuns();
  else if (key == "updates")
    addLearners();
  else if (key == "framework")
    addAll(knownFrameworks(), CompletionItemKind::EnumMember);
  else
    addAll(wordsIn(key), CompletionItemKind::EnumMember);
}

void Completer::addFitting() {
  addParameters(context.callee());
  addParts("");
  // In a question about parts, or the call of an optimizer, nothing else fits.
  bool isAnswered = !items.empty();
  llvm::ArrayRef<WritingContext::Word> statement = context.wholeStatement();
  bool isKey = isInRun() && statement.size() > 1 &&
               statement[1].type == NetLexer::ASSIGN;
  if (context.lastType() == NetLexer::NUMBER)
    return isKey && statement.front().type == NetLexer::HARDWARE
               ? addDevices()
               : addAll(unitNames(), CompletionItemKind::Unit);
  if (statement.empty() && context.open.empty())
    return addAll(llvm::ArrayRef<StringRef>({"import", "block", "net",
                                             "dataset", "hardware", "train",
                                             "infer", "require", "expect"}),
                  CompletionItemKind::Keyword);
  if (statement.empty()) {
    std::vector<llvm::ArrayRef<WritingContext::Word>> sections =
        context.sections();
    if (!sections.empty() &&
        sections.front().data() == context.open.back().head.data())
      addKeys(sections.front());
    return;
  }
  if (context.lastType() == NetLexer::PIPE) {
    // The value that is piped in is no parameter.
    fits = false;
    addOptimizers();
    fits = true;
    return addFunctions();
  }
  if (context.lastType() == NetLexer::ON)
    return addTopLevel({Declaration::Dataset});
  switch (statement.front().type) {
  case NetLexer::TRAIN:
  case NetLexer::INFER:
    return isAnswered ? void() : addTopLevel({Declaration::Net});
  case NetLexer::SWEEP: {
    addAll(runKeys, CompletionItemKind::Property);
    Meaning net = netOfRun();
    if (const NameScope *scope = scopeOf(net)) {
      addDeclared(net.document, *scope, {Declaration::Setting});
      addFreeAxes(net.document, *scope);
    }
    return addTopLevel({Declaration::Constant});
  }
  case NetLexer::EXPECT:
  case NetLexer::REQUIRE:
    if (!isAnswered)
      addTopLevel({Declaration::Net, Declaration::Run, Declaration::Constant});
    return;
  default:
    if (isKey && (!isAnswered || statement.front().text == "loss"))
      addValues(statement.front().text);
  }
}

json::Array Completer::complete() {
  bool isImport = !context.statement.empty() &&
                  context.statement.front().type == NetLexer::IMPORT;
  if (context.isInComment || (context.string && !isImport))
    return {};
  size_t last = context.lastType();
  bool isImported =
      isImport && (context.statement.size() > 1) && !context.string;
  // A new name is being written here.
  bool isNew = last == NetLexer::AS || last == NetLexer::FOR ||
               ((last == NetLexer::BLOCK || last == NetLexer::NET ||
                 last == NetLexer::DATASET || last == NetLexer::HARDWARE) &&
                context.statement.size() == 1);
  if (isNew || isImported)
    return {};
  if (isImport)
    addImports();
  else if (!context.owners().empty())
    addMembers();
  else {
    addFitting();
    fits = false;
    addScopes();
    addFunctions();
    addAll(vocabulary.keywords, CompletionItemKind::Keyword);
    if (isInRun())
      addDevices();
    addAll(unitNames(), CompletionItemKind::Unit);
    addImportable();
  }
  return std::move(items);
}

json::Array netc::complete(const OpenFile &file, lsp::Position at,
                           Workspace &workspace, const Vocabulary &vocabulary) {
  return Completer(file, at, workspace, vocabulary).complete();
}
