// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_REPORTER_H
#define NETC_LIB_FRONTEND_REPORTER_H

#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Frontend/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace netc {

struct ErrorNote;
struct Frame;

/// Reports errors and warnings at trees, with notes that show the calls around
/// them.
class Reporter {
public:
  using Tree = antlr4::ParserRuleContext;

  /// Reports at most `most` errors.
  explicit Reporter(unsigned most) : most(most) {}
  virtual ~Reporter() = default;

  /// The location of a tree in the text.
  mlir::Location locationOf(Tree *tree);
  /// The location of `at`, or for code of the standard library, the location of
  /// its call.
  mlir::Location locationOfUse(Tree *at);
  /// Reports an error once for each position and text. Returns an unknown
  /// value.
  Value
  fail(Tree *at, const Message &message,
       llvm::ArrayRef<std::pair<mlir::LocationAttr, std::string>> notes = {});
  template <unsigned holes, typename... Args>
  Value fail(Tree *at, const error::Text<holes> &error, const Args &...args) {
    return fail(at, error(args...));
  }
  /// Counts an error that is reported otherwise.
  void countError() { ++errors; }
  unsigned errorCount() const { return errors; }
  /// Whether errors are still shown. If not, no suggestions are searched.
  bool showsErrors() const { return reported.size() < most; }
  /// `about` is the symbol of a network or run, or empty.
  void warn(Tree *at, llvm::StringRef about, WarningId id,
            const llvm::Twine &message);
  /// The end of a message, `; did you mean `x`?`, or empty. Finds the name in
  /// `known` by the names of other frameworks, or else by nearest().
  std::string didYouMean(llvm::StringRef name,
                         llvm::ArrayRef<std::string> known);
  /// The same; where no name is similar, the end lists all of `known` behind
  /// the words `has`: `; it takes `a`, `b` and `c``.
  std::string meantOrAll(llvm::StringRef name,
                         llvm::ArrayRef<std::string> known,
                         llvm::StringRef has);
  /// The same, where `known` may be long: more than eight are not listed.
  std::string meantOrFew(llvm::StringRef name,
                         llvm::ArrayRef<std::string> known,
                         llvm::StringRef has);
  /// The end of a message with the name in `known` that is spelt most like
  /// `name`, or empty.
  std::string nearest(llvm::StringRef name, llvm::ArrayRef<std::string> known);

  /// The body that is being evaluated, within those of its callers.
  Frame *frame = nullptr;

private:
  friend struct ErrorNote;

  /// The numbers and words with which a block is applied, without defaults:
  /// `out = 3, k = 64`.
  virtual std::string settingsOf(const Frame &inner) = 0;

  const unsigned most;
  unsigned errors = 0;
  const ErrorNote *innermost = nullptr;
  llvm::StringSet<> reported;
  llvm::DenseMap<Tree *, mlir::Location> locations;
};

/// Adds a note to errors while it lives.
struct ErrorNote {
  ErrorNote(Reporter &reporter, mlir::LocationAttr place, std::string text,
            bool isOfFiles = false)
      : place(place), text(std::move(text)), isOfFiles(isOfFiles),
        reporter(reporter), outer(std::exchange(reporter.innermost, this)) {}
  ErrorNote(const ErrorNote &) = delete;
  ~ErrorNote() { reporter.innermost = outer; }

  const mlir::LocationAttr place; ///< null if there is no note
  const std::string text;
  /// Whether errors of the command line are without the note.
  const bool isOfFiles;
  Reporter &reporter;
  const ErrorNote *const outer;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_REPORTER_H
