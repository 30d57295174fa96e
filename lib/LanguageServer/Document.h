// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_DOCUMENT_H
#define NETC_LIB_LANGUAGESERVER_DOCUMENT_H

#include "lib/Frontend/Parser.h"
#include "lib/Frontend/Resolver.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/lsp-server-support/Protocol.h"

namespace netc {

/// An error or a warning as it is shown in an editor.
struct Problem {
  std::string path;
  TextPlace place; ///< line 0 if it has none
  mlir::DiagnosticSeverity severity;
  std::string id; ///< `unknown-name`
  std::string text;
  std::vector<Problem> notes;
};

/// Collects the diagnostics of a context while it lives, each once.
class ProblemCollector : public mlir::ScopedDiagnosticHandler {
public:
  ProblemCollector(mlir::MLIRContext *context, std::vector<Problem> &problems);
};

/// A text after a change. The protocol counts characters in units of UTF-16;
/// `applyTo` of the change counts bytes.
std::string changed(llvm::StringRef text,
                    const mlir::lsp::TextDocumentContentChangeEvent &change);

/// A text as an editor holds it, with its tree and the names in it. The text
/// may have errors.
class Document {
public:
  Document(llvm::StringRef path, std::string text);

  /// Lines and characters count from 0 in the protocol, and characters are
  /// units of UTF-16.
  mlir::lsp::Position positionOf(TextPlace place) const;
  TextPlace placeOf(mlir::lsp::Position position) const;
  mlir::lsp::Range rangeOf(const SourceRange &range) const;
  /// What an error at a place is about: the word there, the expression of an
  /// operator or bracket as far as it stands in that line, or else the
  /// character.
  mlir::lsp::Range rangeAt(TextPlace place) const;
  mlir::lsp::Range wholeRange() const;
  /// Where a word stands: at a place, or else once in that line.
  std::optional<mlir::lsp::Range> find(llvm::StringRef word,
                                       TextPlace place) const;

  /// The text in front of a position.
  llvm::StringRef before(mlir::lsp::Position position) const;

  /// The name under a place or just in front of it, or null.
  const Mention *mentionAt(TextPlace place) const;
  /// The number with its unit at a place; null if there is none.
  NetParser::QuantityContext *quantityAt(TextPlace place) const;
  /// Those of the file that others may import, by name; or null.
  const Declaration *topLevel(llvm::StringRef name) const;
  /// The jobs right inside of a run.
  std::vector<const Declaration *> jobsIn(const Declaration &run) const;
  /// The edit that adds an import, below those that are there, or else below
  /// the comment that a text begins with.
  mlir::lsp::TextEdit importing(llvm::StringRef name) const;
  /// A declaration up to the end of the line where its parameters end, and the
  /// comment above it.
  std::string describe(const Declaration &declaration) const;

  const std::string path, text;

private:
  /// The word at a place, or else the character there.
  mlir::lsp::Range wordAt(TextPlace place) const;

  std::vector<llvm::StringRef> lines;
  mlir::MLIRContext context;

public:
  std::vector<Problem> syntaxErrors;
  const std::unique_ptr<SourceFile> source;
  const Resolver names;
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_DOCUMENT_H
