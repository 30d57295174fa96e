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

/// Collects the diagnostics of a context during its lifetime, each once.
class ProblemCollector : public mlir::ScopedDiagnosticHandler {
public:
  ProblemCollector(mlir::MLIRContext *context, std::vector<Problem> &problems);
};

/// A text after a change. The protocol counts characters in units of UTF-16;
/// `applyTo` of the change counts bytes.
std::string changed(llvm::StringRef text,
                    const mlir::lsp::TextDocumentContentChangeEvent &change);

/// The text of a file in an editor, with its syntax tree and names. The text
/// may have errors.
class Document {
public:
  Document(llvm::StringRef path, std::string text);

  /// Lines and characters count from 0 in the protocol, and characters are
  /// units of UTF-16.
  mlir::lsp::Position positionOf(TextPlace place) const;
  TextPlace placeOf(mlir::lsp::Position position) const;
  mlir::lsp::Range rangeOf(const SourceRange &range) const;
  /// The range that an error at a place marks: the word there; the part of an
  /// operator's or bracket's expression that is in the same line; or else one
  /// character.
  mlir::lsp::Range rangeAt(TextPlace place) const;
  mlir::lsp::Range wholeRange() const;
  /// The range of a word, which is at the place or occurs once in its line.
  std::optional<mlir::lsp::Range> find(llvm::StringRef word,
                                       TextPlace place) const;

  /// The text before a position.
  llvm::StringRef before(mlir::lsp::Position position) const;

  /// The name at a place or directly before it; null if there is none.
  const Mention *mentionAt(TextPlace place) const;
  /// The number with its unit at a place; null if there is none.
  NetParser::QuantityContext *quantityAt(TextPlace place) const;
  /// The declaration with this name that other files may import; null if there
  /// is none.
  const Declaration *topLevel(llvm::StringRef name) const;
  /// The jobs of a run, without those inside other jobs.
  std::vector<const Declaration *> jobsIn(const Declaration &run) const;
  /// The edit that adds an import: after the last import, or else after the
  /// comment at the start of the text.
  mlir::lsp::TextEdit importing(llvm::StringRef name) const;
  /// The lines of a declaration up to the end of its parameters, and the
  /// comment above it.
  std::string describe(const Declaration &declaration) const;

  const std::string path, text;

private:
  /// The range of the word at a place, or else of one character.
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
