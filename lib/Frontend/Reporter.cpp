// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Reporter.h"
#include "dialect/Spelling.h"
#include "lib/Frontend/CommandLine.h"
#include "lib/Frontend/ForeignNames.h"
#include "lib/Frontend/Frame.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

mlir::Location Reporter::locationOf(Tree *tree) {
  auto known = locations.find(tree);
  if (known != locations.end())
    return known->second;
  mlir::Location location = netc::locationOf(tree);
  locations.try_emplace(tree, location);
  return location;
}

mlir::Location Reporter::locationOfUse(Tree *at) {
  mlir::Location location = locationOf(at);
  for (Frame *inner = frame;
       inner && inner->calledFrom && standardLibrary(inner->file->path);
       inner = inner->caller)
    location = mlir::Location(inner->calledFrom);
  return location;
}

Value Reporter::fail(
    Tree *at, const Message &message,
    llvm::ArrayRef<std::pair<mlir::LocationAttr, std::string>> notes) {
  countError();
  // Report an error inside the standard library at the call.
  mlir::Location said = locationOf(at), location = locationOfUse(at);
  std::string key = message.text;
  llvm::raw_string_ostream(key) << location;
  // Report an error in a block once, even if the block is applied many times.
  if (!reported.insert(key).second)
    return {};
  mlir::InFlightDiagnostic diagnostic = emitError(location, message);
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
    // Only the file applies a net.
    if (!inner->block || (inner->block->isNet && !byBlock) ||
        mlir::Location(inner->calledFrom) == location)
      continue;
    mlir::Diagnostic &note =
        diagnostic.attachNote(mlir::Location(inner->calledFrom));
    note << "in `" << inner->block->name << "`, applied here";
    if (byBlock)
      note << " by `" << inner->caller->block->name << "`";
    for (Identity *iteration = inner->self;
         iteration && iteration != inner->caller->self;
         iteration = iteration->parent)
      if (iteration->copies > 1)
        note << ", copy " << iteration->iteration + 1 << " of "
             << iteration->copies;
    ++shown;
  }
  auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  for (const ErrorNote *note = innermost; note; note = note->outer)
    if (note->place &&
        (!note->isOfFiles || (place && place.getFilename() != commandLinePath)))
      diagnostic.attachNote(mlir::Location(note->place)) << note->text;
  return {};
}

void Reporter::warn(Tree *at, StringRef about, WarningId id,
                    const llvm::Twine &message) {
  netc::warn(locationOf(at), about, id) << message;
}

std::string Reporter::nearest(StringRef name,
                              llvm::ArrayRef<std::string> known) {
  // Do not search suggestions for errors that are not shown.
  if (!showsErrors())
    return "";
  StringRef meant = nearestName(
      name, llvm::SmallVector<StringRef>(known.begin(), known.end()));
  // Names of two letters must have the same first letter, or be swapped: `q1`
  // is not a misspelt `l1`.
  bool isOther = name.size() == 2 && meant.size() == 2 &&
                 llvm::toLower(name[0]) != llvm::toLower(meant[0]) &&
                 name[0] != meant[1];
  return netc::didYouMean(isOther ? StringRef() : meant);
}

std::string Reporter::meantOrAll(StringRef name,
                                 llvm::ArrayRef<std::string> known,
                                 StringRef has) {
  std::string meant = didYouMean(name, known);
  if (!meant.empty() || known.empty() || !showsErrors())
    return meant;
  meant = ("; " + has + " ").str();
  for (const std::string &each : known)
    meant += (&each == &known.front()  ? "`"
              : &each == &known.back() ? " and `"
                                       : ", `") +
             each + "`";
  return meant;
}

std::string Reporter::meantOrFew(StringRef name,
                                 llvm::ArrayRef<std::string> known,
                                 StringRef has) {
  return known.size() > 8 ? didYouMean(name, known)
                          : meantOrAll(name, known, has);
}

std::string Reporter::didYouMean(StringRef name,
                                 llvm::ArrayRef<std::string> known) {
  std::string foreign = hintForForeign(name, known);
  return foreign.empty() ? nearest(name, known) : foreign;
}
