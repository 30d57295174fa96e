// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Spelling.h"
#include "lib/Frontend/Evaluator.h"
#include "lib/Frontend/ForeignNames.h"
#include "lib/Frontend/Input.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace netc;
using llvm::StringRef;

/// Whether `path` is below `root`, after following all links.
static bool isBelow(StringRef path, StringRef root) {
  llvm::SmallString<256> realPath, realRoot;
  if (llvm::sys::fs::real_path(path, realPath) ||
      llvm::sys::fs::real_path(root.empty() ? "." : root, realRoot))
    return false;
  StringRef below = realPath;
  return below.consume_front(realRoot) &&
         (below.starts_with("/") || realRoot == "/");
}

std::nullopt_t FileLoader::cannotRead(StringRef path, mlir::Location at,
                                      StringRef why) {
  e.countError();
  emitError(at, error::CannotRead, path, why);
  return std::nullopt;
}

std::optional<std::string> FileLoader::readText(StringRef path,
                                                mlir::Location at) {
  if (e.options.bufferOf)
    if (std::optional<std::string> text = e.options.bufferOf(path))
      return text;
  llvm::Expected<std::string> text =
      netc::readText(path, e.options.limits.maxInputBytes);
  if (!text)
    return cannotRead(path, at, llvm::toString(text.takeError()));
  return std::move(*text);
}

std::optional<std::string> FileLoader::pathBeside(Tree *at, StringRef name) {
  StringRef folder = llvm::sys::path::parent_path(e.frame->file->path);
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  if (!llvm::sys::path::is_absolute(name) && !name.contains("..") &&
      (!llvm::sys::fs::exists(path) || isBelow(path, folder)))
    return path.str().str();
  e.fail(at, error::FileOutsideFolder, name);
  return std::nullopt;
}

FileScope *FileLoader::readFile(StringRef path, mlir::LocationAttr importedAt) {
  auto [known, isNew] = filesByPath.insert({path, nullptr});
  if (!isNew)
    return known->second;
  mlir::Location at =
      importedAt ? mlir::Location(importedAt) : e.builder.getUnknownLoc();
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
  if (e.options.onRead)
    e.options.onRead(path, *text);
  return addFile(path, *text);
}

FileScope *FileLoader::addFile(StringRef path, StringRef text) {
  Limits limits = e.options.limits;
  if (standardLibrary(path)) // is no input
    limits.maxInputBytes = text.size();
  std::unique_ptr<SourceFile> source = parse(e.context, path, text, limits);
  if (source->hasErrors()) {
    e.countError();
    return nullptr;
  }
  FileScope &file =
      *all.emplace_back(std::make_unique<FileScope>(std::move(source)));
  filesByPath[path] = &file;
  return declare(file) ? &file : nullptr;
}

FileScope *FileLoader::preludeBlock(StringRef name) {
  auto [known, isNew] = prelude.insert({name, nullptr});
  if (!isNew)
    return known->second;
  const StandardBlock *block =
      llvm::find_if(standardBlocks(), [&](const StandardBlock &block) {
        return block.name == name;
      });
  if (block == standardBlocks().end())
    return nullptr;
  // Empty lines before the block keep its line numbers.
  FileScope *file = addFile(preludePath, std::string(block->line - 1, '\n') +
                                             block->text.str());
  return prelude[name] = file;
}

/// The names of importable files in these folders.
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
  // Folders list their files in no fixed order.
  llvm::sort(names);
  return names;
}

FileScope *FileLoader::import(NetParser::ImportDeclContext *tree,
                              FileScope &into) {
  std::string name = importedFile(tree);
  if (name.empty()) {
    e.fail(tree, error::ImportArgument);
    return nullptr;
  }
  mlir::Location at = e.locationOf(tree);
  if (standardLibrary(name))
    return readFile(name, at);
  if (StringRef(name).starts_with("std/")) {
    std::vector<std::string> known;
    for (StringRef file : standardLibraryPaths())
      known.push_back(file.str());
    std::string hint = hintForImport(name);
    e.fail(tree, error::UnknownStandardFile, name,
           hint.empty() ? e.didYouMean(name, known) : hint);
    return nullptr;
  }
  if (llvm::sys::path::is_absolute(name) || StringRef(name).contains("..")) {
    e.fail(tree, error::FileOutsideFolder, name);
    return nullptr;
  }
  std::vector<std::string> folders = {
      llvm::sys::path::parent_path(into.path).str()};
  folders.insert(folders.end(), e.options.includeFolders.begin(),
                 e.options.includeFolders.end());
  for (const std::string &folder : folders) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, name);
    bool isOnDisk = llvm::sys::fs::exists(path);
    if (!isOnDisk && !(e.options.bufferOf && e.options.bufferOf(path)))
      continue;
    if (isOnDisk && !isBelow(path, folder)) {
      e.fail(tree, error::ImportLink, name,
             folder.empty() ? "this folder" : "`" + folder + "`");
      return nullptr;
    }
    std::string resolved = path.str().str();
    if (llvm::is_contained(importing, resolved)) {
      std::string cycle;
      for (const std::string &file : importing)
        cycle += file + " -> ";
      e.fail(tree, error::ImportCycle, cycle, resolved);
      return nullptr;
    }
    return readFile(resolved, at);
  }
  std::string meant = hintForImport(name);
  if (meant.empty())
    meant = e.didYouMean(name, netFilesIn(folders));
  e.fail(tree, error::NoImportFile, name,
         meant.empty() ? "; folders are added by `-I`" : meant);
  return nullptr;
}

bool FileLoader::declare(FileScope &file) {
  Frame top;
  top.file = &file;
  InFrame in(e.frame, &top);
  importing.push_back(file.path);
  unsigned before = e.errorCount();
  if (antlr4::tree::TerminalNode *version = file.source->tree()->NUMBER();
      version && version->getText() != "1")
    e.fail(file.source->tree(), error::UnknownVersion, version->getText());
  auto add = [&](const Declaration &declared, Tree *tree) {
    TopLevel entry;
    entry.name = declared.name;
    entry.tree = tree;
    auto [known, isNew] = file.names.insert({entry.name, entry});
    if (!isNew)
      e.fail(tree, error::NameTaken(entry.name),
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
          e.fail(param, error::DuplicateParameter, param->name()->getText());
      break;
    }
    case Declaration::Constant:
      add(declared, static_cast<Tree *>(declared.tree->parent));
      break;
    case Declaration::Run:
      if (declared.token)
        add(declared, declared.tree);
      else if (!unnamed.insert(declared.name).second)
        e.fail(static_cast<Tree *>(declared.tree->parent), error::UnnamedRuns,
               declared.name);
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
  return e.errorCount() == before;
}
