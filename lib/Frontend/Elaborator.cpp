// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Files, their top-level names, and how errors are reported.

#include "dialect/Spelling.h"
#include "lib/Frontend/ForeignNames.h"
#include "lib/Frontend/Input.h"
#include "lib/Frontend/RunBuilder.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace netc;
using llvm::StringRef;

Elaborator::Elaborator(mlir::MLIRContext *context,
                       const FrontendOptions &options)
    : context(context), options(options), builder(context),
      module(mlir::ModuleOp::create(builder.getUnknownLoc())) {}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

mlir::Location Elaborator::locationOf(Tree *tree) {
  auto known = locations.find(tree);
  if (known != locations.end())
    return known->second;
  mlir::Location location = netc::locationOf(tree);
  locations.try_emplace(tree, location);
  return location;
}

const std::string &Elaborator::wordOf(antlr4::Token *token) {
  auto [word, isNew] = words.try_emplace(token);
  if (isNew)
    word->second = token->getText();
  return word->second;
}

mlir::Location Elaborator::locationOfUse(Tree *at) {
  mlir::Location location = locationOf(at);
  for (Frame *inner = frame;
       inner && inner->calledFrom && standardLibrary(inner->file->path);
       inner = inner->caller)
    location = mlir::Location(inner->calledFrom);
  return location;
}

std::string Elaborator::settingsOf(const Frame &inner) {
  std::string text;
  if (!inner.block || !inner.scope)
    return text;
  llvm::ListSeparator comma;
  for (const Parameter &setting :
       parametersOf({inner.block->name, inner.block}).settings) {
    Value value = inner.scope->names.lookup(setting.name);
    std::optional<Number> number = numberOf(value);
    if (!number && !value.is<bool>() && !value.is<std::string>())
      continue;
    std::string given = number ? textOf(Value(*number)) : textOf(value);
    bool isDefault = setting.tree->ASSIGN() &&
                     setting.tree->expr().back()->getText() == given;
    if (!isDefault)
      text += StringRef(comma).str() + setting.name + " = " + given;
  }
  return text;
}

Value Elaborator::fail(
    Tree *at, const llvm::Twine &message,
    llvm::ArrayRef<std::pair<mlir::LocationAttr, std::string>> notes) {
  ++errors;
  // What is wrong inside the standard library is wrong where it was called.
  mlir::Location said = locationOf(at), location = locationOfUse(at);
  std::string text = message.str(), key = text;
  llvm::raw_string_ostream(key) << location;
  // A block that is applied many times says what is wrong with it once.
  if (!reported.insert(key).second)
    return {};
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(location, text);
  if (location != said) {
    mlir::Diagnostic &note = diagnostic.attachNote(said);
    note << "found here";
    if (std::string given = settingsOf(*frame); !given.empty())
      note << ", in `" << frame->block->name << "` with " << given;
  }
  for (auto &[where, note] : notes)
    if (where)
      diagnostic.attachNote(mlir::Location(where)) << note;
  unsigned shown = 0;
  for (Frame *inner = frame; inner && inner->calledFrom && shown < 8;
       inner = inner->caller) {
    bool byBlock = inner->caller && inner->caller->block;
    // A net is applied by nobody but the file.
    if (!inner->block || (inner->block->isNet && !byBlock) ||
        mlir::Location(inner->calledFrom) == location)
      continue;
    mlir::Diagnostic &note =
        diagnostic.attachNote(mlir::Location(inner->calledFrom));
    note << "in `" << inner->block->name << "`, applied here";
    if (byBlock)
      note << " by `" << inner->caller->block->name << "`";
    for (Identity *turn = inner->self; turn && turn != inner->caller->self;
         turn = turn->parent)
      if (turn->copies > 1)
        note << ", copy " << turn->turn + 1 << " of " << turn->copies;
    ++shown;
  }
  auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  for (ErrorNote *note = errorNote; note; note = note->outer)
    if (note->place &&
        (!note->isOfFiles || (place && place.getFilename() != commandLinePath)))
      diagnostic.attachNote(mlir::Location(note->place)) << note->text;
  return {};
}

void Elaborator::warn(Tree *at, StringRef about, StringRef id,
                      const llvm::Twine &message) {
  netc::warn(locationOf(at), about, id) << message;
}

std::string Elaborator::nearest(StringRef name,
                                llvm::ArrayRef<std::string> known) {
  // Of what is not shown, it is not asked what was meant.
  if (reported.size() >= options.limits.maxErrors)
    return "";
  StringRef meant = nearestName(
      name, llvm::SmallVector<StringRef>(known.begin(), known.end()));
  // Of two letters, the first is the right one, or they are swapped: `q1` is no
  // slip for `l1`.
  bool isOther = name.size() == 2 && meant.size() == 2 &&
                 llvm::toLower(name[0]) != llvm::toLower(meant[0]) &&
                 name[0] != meant[1];
  return netc::didYouMean(isOther ? StringRef() : meant);
}

std::string Elaborator::didYouMean(StringRef name,
                                   llvm::ArrayRef<std::string> known) {
  std::string foreign = hintForForeign(name, known);
  return foreign.empty() ? nearest(name, known) : foreign;
}

std::string Elaborator::unknownName(StringRef name) {
  std::string message = ("unknown name `" + name + "`").str();
  std::vector<std::string> visible = visibleNames();
  if (visible.empty())
    return message;
  if (std::string foreign = hintForForeign(name, visible); !foreign.empty())
    return message + foreign;
  for (auto &entry : frame->file->qualified)
    if (entry.second->names.count(name.str()))
      return message + netc::didYouMean((entry.first() + "." + name).str());
  auto needsImport = [](const StandardBlock &block) {
    std::string path = block.path.split('.').first.str();
    std::replace(path.begin(), path.end(), '/', '.');
    return " needs `import " + path + "`";
  };
  for (const StandardBlock &block : importableBlocks())
    if (block.name == name)
      return message + "; it" + needsImport(block);
  if (std::string near = nearest(name, visible); !near.empty())
    return message + near;
  for (const StandardBlock &block : importableBlocks())
    if (std::string meant = didYouMean(name, {block.name.str()});
        !meant.empty())
      return message + meant + " It" + needsImport(block);
  return message;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The `.net` file of a dotted path.
static std::string fileOf(NetParser::PathContext *path) {
  std::string file = path->ID()->getText();
  for (NetParser::NameContext *name : path->name())
    file += "/" + name->getText();
  return file + ".net";
}

/// Whether `path`, with every link followed, lies below `root`.
static bool isBelow(StringRef path, StringRef root) {
  llvm::SmallString<256> realPath, realRoot;
  if (llvm::sys::fs::real_path(path, realPath) ||
      llvm::sys::fs::real_path(root.empty() ? "." : root, realRoot))
    return false;
  StringRef below = realPath;
  return below.consume_front(realRoot) &&
         (below.starts_with("/") || realRoot == "/");
}

std::nullopt_t Elaborator::cannotRead(StringRef path, mlir::Location at,
                                      StringRef why) {
  ++errors;
  mlir::emitError(at) << "cannot read `" << path << "`: " << why;
  return std::nullopt;
}

std::optional<std::string> Elaborator::readText(StringRef path,
                                                mlir::Location at) {
  llvm::Expected<std::string> text =
      netc::readText(path, options.limits.maxInputBytes);
  if (!text)
    return cannotRead(path, at, llvm::toString(text.takeError()));
  return std::move(*text);
}

std::optional<std::string> Elaborator::pathBeside(Tree *at, StringRef name) {
  StringRef folder = llvm::sys::path::parent_path(frame->file->path);
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  if (!llvm::sys::path::is_absolute(name) && !name.contains("..") &&
      (!llvm::sys::fs::exists(path) || isBelow(path, folder)))
    return path.str().str();
  fail(at, "`" + name + "` is not below the folder of the file that names it");
  return std::nullopt;
}

FileScope *Elaborator::readFile(StringRef path, mlir::LocationAttr importedAt) {
  auto [known, isNew] = filesByPath.insert({path, nullptr});
  if (!isNew)
    return known->second;
  mlir::Location at =
      importedAt ? mlir::Location(importedAt) : builder.getUnknownLoc();
  std::optional<std::string> read;
  std::optional<StringRef> text = standardLibrary(path);
  if (!text) {
    read = readText(path, at);
    if (!read)
      return nullptr;
    text = *read;
    if (StringRef format = otherFormat(path, *text); !format.empty()) {
      cannotRead(path, at,
                 ("it is " + format +
                  "; a specification is text in the language of netc")
                     .str());
      return nullptr;
    }
  }
  if (options.onRead)
    options.onRead(path, *text);
  return addFile(path, *text);
}

FileScope *Elaborator::addFile(StringRef path, StringRef text) {
  std::unique_ptr<SourceFile> source =
      parse(context, path, text, options.limits);
  if (source->hasErrors()) {
    ++errors;
    return nullptr;
  }
  FileScope &file =
      *files.emplace_back(std::make_unique<FileScope>(std::move(source)));
  filesByPath[path] = &file;
  return declare(file) ? &file : nullptr;
}

FileScope *Elaborator::preludeBlock(StringRef name) {
  auto [known, isNew] = prelude.insert({name, nullptr});
  if (!isNew)
    return known->second;
  const StandardBlock *block =
      llvm::find_if(standardBlocks(), [&](const StandardBlock &block) {
        return block.name == name;
      });
  if (block == standardBlocks().end())
    return nullptr;
  // Its lines keep their numbers.
  FileScope *file = addFile(preludePath, std::string(block->line - 1, '\n') +
                                             block->text.str());
  return prelude[name] = file;
}

/// What an import of files in these folders may name.
static std::vector<std::string>
netFilesIn(llvm::ArrayRef<std::string> folders) {
  std::vector<std::string> names;
  for (const std::string &folder : folders) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator
             entry(folder.empty() ? "." : folder, error),
         end;
         !error && entry != end; entry.increment(error))
      if (llvm::sys::path::extension(entry->path()) == ".net")
        names.push_back(llvm::sys::path::filename(entry->path()).str());
  }
  // The order of a folder is no order.
  llvm::sort(names);
  return names;
}

FileScope *Elaborator::import(NetParser::ImportDeclContext *tree,
                              FileScope &into) {
  std::string name;
  if (tree->path()) {
    name = fileOf(tree->path());
  } else {
    std::string quoted = tree->STRING()->getText();
    name = quoted.substr(1, quoted.size() - 2);
  }
  if (name.empty()) {
    fail(tree, "an import names a file, such as `import \"blocks.net\"`");
    return nullptr;
  }
  mlir::Location at = locationOf(tree);
  if (standardLibrary(name))
    return readFile(name, at);
  if (StringRef(name).starts_with("std/")) {
    std::vector<std::string> known;
    for (StringRef file : standardLibraryPaths())
      known.push_back(file.str());
    fail(tree, "the standard library has no `" + name + "`" +
                   didYouMean(name, known));
    return nullptr;
  }
  if (llvm::sys::path::is_absolute(name) || StringRef(name).contains("..")) {
    fail(tree, "`" + name + "` is not below the importing file's folder");
    return nullptr;
  }
  std::vector<std::string> folders = {
      llvm::sys::path::parent_path(into.path).str()};
  folders.insert(folders.end(), options.includeFolders.begin(),
                 options.includeFolders.end());
  for (const std::string &folder : folders) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, name);
    if (!llvm::sys::fs::exists(path))
      continue;
    if (!isBelow(path, folder)) {
      fail(tree, "`" + name + "` is a link that leads out of " +
                     (folder.empty() ? "this folder" : "`" + folder + "`"));
      return nullptr;
    }
    std::string resolved = path.str().str();
    if (llvm::is_contained(importing, resolved)) {
      std::string cycle;
      for (const std::string &file : importing)
        cycle += file + " -> ";
      fail(tree, "files import each other: " + cycle + resolved);
      return nullptr;
    }
    return readFile(resolved, at);
  }
  std::string meant = didYouMean(name, netFilesIn(folders));
  fail(tree, "there is no file `" + name + "` to import" +
                 (meant.empty() ? "; folders are added by `-I`" : meant));
  return nullptr;
}

bool Elaborator::declare(FileScope &file) {
  Frame top;
  top.file = &file;
  Frame *outer = std::exchange(frame, &top);
  importing.push_back(file.path);
  unsigned before = errors;
  if (antlr4::tree::TerminalNode *version = file.source->tree()->NUMBER();
      version && version->getText() != "1")
    fail(file.source->tree(), "this is version " + version->getText() +
                                  " of the language, netc reads `net 1`");
  auto add = [&](const Declaration &declared, Tree *tree) {
    TopLevel entry;
    entry.name = declared.name;
    entry.tree = tree;
    auto [known, isNew] = file.names.insert({entry.name, entry});
    if (!isNew)
      fail(tree,
           "`" + entry.name +
               "` is already the name of something else in this file",
           {{netc::locationOf(known->second.tree), "it is declared here"}});
  };
  llvm::StringSet<> unnamed;
  for (const Declaration &declared : file.resolver.declarations()) {
    if (declared.scope->outer)
      continue;
    switch (declared.kind) {
    case Declaration::Import: {
      auto *tree = static_cast<NetParser::ImportDeclContext *>(declared.tree);
      FileScope *imported = import(tree, file);
      if (imported && declared.token)
        file.qualified[declared.name] = imported;
      else if (imported)
        file.imports.push_back(imported);
      break;
    }
    case Declaration::Block:
    case Declaration::Net: {
      auto *tree = static_cast<NetParser::BlockDeclContext *>(declared.tree);
      add(declared, tree);
      llvm::StringSet<> parameters;
      for (NetParser::ParamContext *param : tree->params()->param())
        if (!parameters.insert(param->name()->getText()).second)
          fail(param,
               "`" + param->name()->getText() + "` is a parameter twice");
      break;
    }
    case Declaration::Constant:
      add(declared, static_cast<Tree *>(declared.tree->parent));
      break;
    case Declaration::Run:
      if (declared.token)
        add(declared, declared.tree);
      else if (!unnamed.insert(declared.name).second)
        fail(static_cast<Tree *>(declared.tree->parent),
             "two runs without a name are both `" + declared.name +
                 "`; give this one a name of its own, with `as`");
      break;
    case Declaration::Dataset:
    case Declaration::Hardware:
      add(declared, declared.tree);
      break;
    default: // of a pattern of the top level
      break;
    }
  }
  importing.pop_back();
  frame = outer;
  return errors == before;
}

bool Elaborator::load(StringRef path) {
  if (options.onRead)
    options.onRead(preludePath, *standardLibrary(preludePath));
  main = readFile(path, {});
  if (!main || !readOptions())
    return false;
  return elaborateFile(*main) && errors == 0;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::optional<Value> Elaborator::lookupBody(StringRef name) {
  for (Scope *scope = frame->scope; scope; scope = scope->outer) {
    auto found = scope->names.find(name);
    if (found != scope->names.end())
      return found->second;
  }
  return std::nullopt;
}

std::optional<Value> Elaborator::lookupFile(FileScope &file, StringRef name) {
  if (frame->results && &file == main && frame->results->isResult(name))
    return Subject{name.str(), {}, {}, {}};
  auto found = file.names.find(name.str());
  if (found != file.names.end())
    return valueOf(file, found->second);
  auto space = file.qualified.find(name);
  if (space != file.qualified.end())
    return Namespace{space->second};
  return std::nullopt;
}

std::optional<Value> Elaborator::lookup(StringRef name) {
  if (std::optional<Value> value = lookupBody(name))
    return value;
  if (name.ends_with("'") && frame->scope && frame->scope->isScan) {
    auto found = frame->scope->next.find(name.drop_back());
    if (found != frame->scope->next.end())
      return found->second;
  }
  FileScope &file = *frame->file;
  if (std::optional<Value> value = lookupFile(file, name))
    return value;
  FileScope *offeredBy = nullptr;
  for (FileScope *imported : file.imports) {
    if (!imported->names.count(name.str()))
      continue;
    if (offeredBy && offeredBy != imported)
      return ambiguous(name, *offeredBy, *imported);
    offeredBy = imported;
  }
  if (offeredBy)
    return lookupFile(*offeredBy, name);
  if (FileScope *block = preludeBlock(name))
    return lookupFile(*block, name);
  return lookupBuiltin(name);
}

std::vector<std::string> Elaborator::visibleNames() {
  std::vector<std::string> names;
  // Of what is not shown, it is not asked what was meant: in a file with an
  // error on each line that takes time quadratic in its length.
  if (reported.size() >= options.limits.maxErrors)
    return names;
  for (Scope *scope = frame->scope; scope; scope = scope->outer)
    for (auto &entry : scope->names)
      names.push_back(entry.first().str());
  auto addNames = [&](FileScope &file) {
    for (auto &entry : file.names)
      names.push_back(entry.first);
  };
  addNames(*frame->file);
  for (auto &entry : frame->file->qualified)
    names.push_back(entry.first().str());
  for (FileScope *imported : frame->file->imports)
    addNames(*imported);
  for (const StandardBlock &block : standardBlocks())
    names.push_back(block.name.str());
  addBuiltinNames(names);
  names.insert(names.end(), {"true", "false"});
  llvm::sort(names);
  return names;
}

Value Elaborator::valueOf(FileScope &file, TopLevel &entry) {
  if (auto *tree = ruleCast<NetParser::BlockDeclContext>(entry.tree)) {
    if (entry.state != TopLevel::Done) {
      file.blocks.push_back(
          {&file, tree, entry.name, tree->kind->getText() == "net"});
      entry.value = Function{entry.name, &file.blocks.back()};
      entry.state = TopLevel::Done;
    }
    return entry.value;
  }
  if (auto *tree = ruleCast<NetParser::SectionContext>(entry.tree))
    return Section{&file, tree, entry.name, nullptr};
  if (ruleCast<NetParser::JobContext>(entry.tree))
    return Subject{entry.name, {}, {}, {}};

  unsigned present = graph ? graph->id : 0;
  if (entry.state == TopLevel::Done &&
      (!entry.isPerGraph || entry.graph == present))
    return used(entry);
  if (entry.state == TopLevel::InProgress) {
    std::string cycle;
    for (const std::string &name : computing)
      cycle += "`" + name + "` -> ";
    fail(entry.tree, "the value of `" + entry.name +
                         "` needs itself: " + cycle + "`" + entry.name + "`");
    return {};
  }
  entry.state = TopLevel::InProgress;
  computing.push_back(entry.name);
  auto *bind = static_cast<NetParser::BindContext *>(entry.tree);
  Scope scope;
  Frame top(frame);
  top.file = &file;
  top.scope = &scope;
  top.self = graph ? graph->root.get() : nullptr;
  top.hint = entry.name;
  Frame *outer = std::exchange(frame, &top);
  Value outerLeft = std::move(left);
  {
    Ranges::Reads reads(ranges);
    visitBind(bind);
    entry.ranges = reads.all().vec();
  }
  entry.value = scope.names.lookup(entry.name);
  if (&file == main)
    overrideSettings(entry.name, entry.value);
  left = std::move(outerLeft);
  frame = outer;
  computing.pop_back();
  entry.graph = present;
  entry.isPerGraph = netc::isPerGraph(entry.value);
  entry.state = TopLevel::Done;
  return used(entry);
}

Value Elaborator::used(const TopLevel &entry) {
  ranges.noteRead(entry.ranges);
  if (!entry.ranges.empty() && frame->block)
    return fail(use ? use : entry.tree,
                "`" + entry.name +
                    "` is a range of values, `between` two; a "
                    "net is made for one");
  return entry.value;
}

Value Elaborator::ambiguous(StringRef name, FileScope &a, FileScope &b) {
  auto placeIn = [&](FileScope &file) {
    return netc::locationOf(file.names.find(name.str())->second.tree);
  };
  return fail(use ? use : frame->file->source->tree(),
              "`" + name + "` is offered by two imports, `" + a.path +
                  "` and `" + b.path +
                  "`; import one of them under a name of its own, with `as`",
              {{placeIn(a), "one is here"}, {placeIn(b), "the other is here"}});
}
