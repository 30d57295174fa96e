// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_WORKSPACE_H
#define NETC_LIB_LANGUAGESERVER_WORKSPACE_H

#include "lib/LanguageServer/Checker.h"
#include "llvm/Support/Chrono.h"

namespace netc {

/// Readers share a document, so an edit does not end its life.
using DocumentRef = std::shared_ptr<const Document>;

/// A file that is open in the editor. The results of its last successful check
/// may be those of an earlier text.
struct OpenFile {
  std::string uri; ///< as the editor writes it
  bool isOnDisk = true;
  int64_t version = 0;
  DocumentRef document;
  std::vector<Problem> problems; ///< of the current text
  /// The counts of the last text without errors; null if there was none.
  std::shared_ptr<const Counts> counts;
  /// Those of CheckedFile, of the current text; empty until it is checked.
  std::map<TextPlace, Texts> types, parts;

  /// The last known types of tensors, by name.
  llvm::StringMap<std::string> lastTypes;

  std::string costOf(llvm::StringRef path) const {
    return counts ? counts->costOf(path) : "";
  }
};

/// A declaration and its document. Both are null if a name has no meaning.
struct Meaning {
  DocumentRef document;
  const Declaration *declaration = nullptr;

  explicit operator bool() const { return declaration; }
  /// Whether both declare the same name, which a scope may bind several times.
  bool operator==(const Meaning &other) const;
};

/// A name without the prime of the next value of a carried variable.
inline llvm::StringRef stemOf(llvm::StringRef name) { return name.rtrim('\''); }
/// The range of that name in a mention.
SourceRange rangeOfStem(const Mention &mention);

/// A mention in a text.
struct Place {
  DocumentRef document;
  const Mention *mention;
};

/// The path up to a mention: `pair[0].first` at `first` of
/// `pair[0].first.linear`. Null if the mention is in no path.
NetParser::ExprContext *pathUpTo(const Mention &mention);
/// The application around a path, such as `first@2` around `first`; null if
/// there is none.
NetParser::MulContext *applicationOf(NetParser::ExprContext *path);

/// The files that are open in an editor, and those that they import.
class Workspace {
public:
  /// The open file with this path; null if it is not open.
  OpenFile *find(llvm::StringRef path);
  /// The document of a path: from the editor, or else from the standard library
  /// or the disk. Null if there is none.
  DocumentRef document(llvm::StringRef path);
  /// The path of the file that an import of `from` names, which need not exist;
  /// empty if it names none.
  std::string importedPath(const Document &from, const Declaration &import);
  /// The document that an import of `from` names; null if there is none.
  DocumentRef imported(const Document &from, const Declaration &import);
  /// The documents that `document` imports without `as`. It uses their names
  /// without a qualifier.
  std::vector<DocumentRef> importedByName(const Document &document);
  /// The declaration that a file which imports this one gets by a name.
  static Meaning exported(const DocumentRef &from, llvm::StringRef name);

  /// The declaration that a mention refers to. It is searched in the file, its
  /// imports and the prelude; for a run also in its net; for the name of an
  /// argument in the block that is called.
  Meaning meaningOf(const DocumentRef &document, const Mention &mention);
  /// The same for a name at the top level.
  Meaning lookUp(const DocumentRef &document, llvm::StringRef name);
  /// The block or net of a declaration: the one that it calls, if it binds an
  /// instance, or the declaration itself, if it is one.
  Meaning blockBehind(const Meaning &meaning);
  /// The documents that may mention a declaration: its own, and those that
  /// import it and are open or contain its name or the other one.
  std::vector<DocumentRef> textsThatName(const Meaning &meaning,
                                         llvm::StringRef orName = "");
  /// All mentions of a declaration in a document.
  std::vector<Place> placesOf(const Meaning &meaning,
                              const DocumentRef &document);
  /// The import of a document that leads to a file, directly or through other
  /// files; null if there is none. The file need not exist.
  const Declaration *importOf(const Document &document, llvm::StringRef path);
  /// The open files with such an import.
  std::vector<OpenFile *> importersOf(llvm::StringRef path);

  std::map<std::string, OpenFile> files; ///< by path
  /// The folders in which imports are searched besides that of their file.
  std::vector<std::string> includeFolders;

private:
  /// Whether a document may mention a declaration of another file.
  bool mayImport(const Document &document, llvm::StringRef path);
  /// The declaration that an expression names: by a name, a call or a `repeat`.
  Meaning namedBy(const DocumentRef &document, NetParser::ExprContext *expr);
  /// The name after the first word, or after `on`, of the innermost run around
  /// a mention that has one there.
  Meaning netAround(const DocumentRef &document, const Mention &mention) {
    return blockBehind(aroundRun(document, mention, 0));
  }
  Meaning datasetAround(const DocumentRef &document, const Mention &mention) {
    return aroundRun(document, mention, 1);
  }
  Meaning aroundRun(const DocumentRef &document, const Mention &mention,
                    unsigned index);
  /// The net of a run or job; for other declarations the declaration itself.
  Meaning netOf(const Meaning &asked);
  /// The block after which a part is named, in lower case.
  Meaning partWithoutName(const Meaning &block, llvm::StringRef name);
  /// The declaration that binds or names a part in a question: `pair`, and
  /// `first` in its block, for `Small.params(pair.first)`.
  Meaning partInQuestion(const DocumentRef &document, const Mention &mention);
  /// The declaration that the name of an argument refers to, and that of the
  /// last name of a path: one of an import, or a job of a run.
  Meaning meaningOfArgument(const DocumentRef &document, const Mention &mention,
                            NetParser::ArgContext *arg);
  Meaning meaningOfMember(const DocumentRef &document,
                          NetParser::MemberContext *member);
  Meaning meaningOfLabel(const DocumentRef &document, const Mention &mention);

  /// A document that is not open, and the time of its last change.
  struct KnownText {
    DocumentRef document;
    llvm::sys::TimePoint<> modified;
    uint64_t size = 0;
  };
  llvm::StringMap<KnownText> others; ///< by path
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_WORKSPACE_H
