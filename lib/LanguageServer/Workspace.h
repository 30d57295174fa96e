// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_WORKSPACE_H
#define NETC_LIB_LANGUAGESERVER_WORKSPACE_H

#include "lib/LanguageServer/Checker.h"
#include "llvm/Support/Chrono.h"

namespace netc {

/// Documents live as long as someone reads them, whatever is typed meanwhile.
using DocumentRef = std::shared_ptr<const Document>;

/// A file that the editor has open. The last check that it passed may be of
/// an earlier text.
struct OpenFile {
  std::string uri; ///< as the editor writes it
  bool isOnDisk = true;
  int64_t version = 0;
  DocumentRef document;
  std::vector<Problem> problems; ///< of its text
  /// Of the last text that could be counted; null if none could.
  std::shared_ptr<const Counts> counts;
  /// Of its text, as CheckedFile has them; empty until it is checked.
  std::map<TextPlace, Texts> types, parts;

  /// The types of tensors by their names, as they were known last.
  llvm::StringMap<std::string> lastTypes;

  std::string costOf(llvm::StringRef path) const {
    return counts ? counts->costOf(path) : "";
  }
};

/// A declaration, and the text that it stands in; null where nothing is meant.
struct Meaning {
  DocumentRef document;
  const Declaration *declaration = nullptr;

  explicit operator bool() const { return declaration; }
  /// Whether both are the same name, which may be bound again in its scope.
  bool operator==(const Meaning &other) const;
};

/// A name without the mark of the next value of a carried one.
inline llvm::StringRef stemOf(llvm::StringRef name) { return name.rtrim('\''); }
/// Where that stands of a mention.
SourceRange rangeOfStem(const Mention &mention);

/// A mention in a text.
struct Place {
  DocumentRef document;
  const Mention *mention;
};

/// The path that a mention ends: `pair[0].first` at `first` of
/// `pair[0].first.linear`. Null where it is in no path.
NetParser::ExprContext *pathUpTo(const Mention &mention);
/// `first@2` around the path `first`, its second application; else null.
NetParser::MulContext *applicationOf(NetParser::ExprContext *path);

/// The files that an editor has open, and those that they import.
class Workspace {
public:
  /// Null if it is not open.
  OpenFile *find(llvm::StringRef path);
  /// The text of a path as an editor holds it, or else of the standard library
  /// or on disk; null if there is none.
  DocumentRef document(llvm::StringRef path);
  /// The path of the file that an import of `from` names, whether there is one
  /// or not; empty if it names none.
  std::string importedPath(const Document &from, const Declaration &import);
  /// The text that an import of `from` names; null if there is none.
  DocumentRef imported(const Document &from, const Declaration &import);
  /// The texts whose names `document` has without a qualifier, by imports
  /// without `as`.
  std::vector<DocumentRef> importedByName(const Document &document);
  /// What another file that imports this one gets by a name.
  static Meaning exported(const DocumentRef &from, llvm::StringRef name);

  /// What is meant at a mention: in the file, in what it imports, in the
  /// prelude; in a run, in its net; of an argument, in the block that is
  /// called.
  Meaning meaningOf(const DocumentRef &document, const Mention &mention);
  /// The same of a name of the top level.
  Meaning lookUp(const DocumentRef &document, llvm::StringRef name);
  /// The block or net that what is meant was made of, by a call that it is
  /// bound to; what is meant itself, if that is one.
  Meaning blockBehind(const Meaning &meaning);
  /// The texts that may name it: where it is declared, and those that import
  /// that one, as far as they are open or have its name or another one.
  std::vector<DocumentRef> textsThatName(const Meaning &meaning,
                                         llvm::StringRef orName = "");
  /// All mentions of it in a text.
  std::vector<Place> placesOf(const Meaning &meaning,
                              const DocumentRef &document);
  /// The import of a text that leads to a file, directly or not; null if none
  /// does. The file may be gone.
  const Declaration *importOf(const Document &document, llvm::StringRef path);
  /// The open files with such an import.
  std::vector<OpenFile *> importersOf(llvm::StringRef path);

  std::map<std::string, OpenFile> files; ///< by path
  /// Where imports are searched besides the folder of their file.
  std::vector<std::string> includeFolders;

private:
  /// Whether a text may name what another file declares.
  bool mayImport(const Document &document, llvm::StringRef path);
  /// What an expression that is a name, or a call or `repeat` of one, names.
  Meaning namedBy(const DocumentRef &document, NetParser::ExprContext *expr);
  /// What stands behind the first word of the innermost run around a mention
  /// that has one, or behind its `on`.
  Meaning netAround(const DocumentRef &document, const Mention &mention) {
    return blockBehind(aroundRun(document, mention, 0));
  }
  Meaning datasetAround(const DocumentRef &document, const Mention &mention) {
    return aroundRun(document, mention, 1);
  }
  Meaning aroundRun(const DocumentRef &document, const Mention &mention,
                    unsigned index);
  /// The net of a run or job; what is meant itself, if it is none.
  Meaning netOf(const Meaning &asked);
  /// The block that gives its name to a part, in small letters.
  Meaning partWithoutName(const Meaning &block, llvm::StringRef name);
  /// What binds a part in a question, or gives it its name: `pair`, and `first`
  /// in its block, of `Small.params(pair.first)`.
  Meaning partInQuestion(const DocumentRef &document, const Mention &mention);
  /// What is meant by the name of an argument, and by the last name of a path:
  /// what an import declares, or a job of a run.
  Meaning meaningOfArgument(const DocumentRef &document, const Mention &mention,
                            NetParser::ArgContext *arg);
  Meaning meaningOfMember(const DocumentRef &document,
                          NetParser::MemberContext *member);
  Meaning meaningOfLabel(const DocumentRef &document, const Mention &mention);

  /// A text that no editor holds, and when it was written.
  struct KnownText {
    DocumentRef document;
    llvm::sys::TimePoint<> modified;
    uint64_t size = 0;
  };
  llvm::StringMap<KnownText> others; ///< as they were read last, by path
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_WORKSPACE_H
