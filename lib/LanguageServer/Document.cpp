// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/LanguageServer/Document.h"

#include "lib/Diagnostics/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
namespace lsp = mlir::lsp;

static Problem problemOf(mlir::Diagnostic &diagnostic) {
  Problem problem;
  if (auto place =
          diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
    problem.path = place.getFilename().str();
    problem.place = {place.getLine(), place.getColumn()};
  }
  problem.severity = diagnostic.getSeverity();
  problem.id = idAndSubject(diagnostic.getLocation()).first.str();
  problem.text = diagnostic.str();
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    problem.notes.push_back(problemOf(note));
  return problem;
}

ProblemCollector::ProblemCollector(mlir::MLIRContext *context,
                                   std::vector<Problem> &problems)
    : ScopedDiagnosticHandler(
          context, [&problems](mlir::Diagnostic &diagnostic) {
            Problem problem = problemOf(diagnostic);
            bool isKnown = llvm::any_of(problems, [&](const Problem &other) {
              return other.path == problem.path &&
                     other.place == problem.place && other.text == problem.text;
            });
            if (!isKnown)
              problems.push_back(std::move(problem));
            return mlir::success();
          }) {}

static std::unique_ptr<SourceFile> parseInto(std::vector<Problem> &problems,
                                             mlir::MLIRContext &context,
                                             llvm::StringRef path,
                                             llvm::StringRef text) {
  ProblemCollector collector(&context, problems);
  return parse(&context, path, text);
}

static std::vector<llvm::StringRef> linesOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  return {lines.begin(), lines.end()};
}

Document::Document(llvm::StringRef path, std::string content)
    : path(path.str()), text(std::move(content)), lines(linesOf(text)),
      context(mlir::MLIRContext::Threading::DISABLED),
      source(parseInto(syntaxErrors, context, path, text)),
      names(source->tree()) {}

/// Drops the first character of a line; returns its units of UTF-16.
static int dropCharacter(llvm::StringRef &line) {
  auto byte = static_cast<unsigned char>(line.front());
  size_t bytes = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  line = line.drop_front(std::min(bytes, line.size()));
  return bytes == 4 ? 2 : 1;
}

/// The bytes of a line from this position on.
static llvm::StringRef from(llvm::StringRef line, int character) {
  while (character > 0 && !line.empty())
    character -= dropCharacter(line);
  return line;
}

std::string netc::changed(llvm::StringRef text,
                          const lsp::TextDocumentContentChangeEvent &change) {
  if (!change.range)
    return change.text;
  std::vector<llvm::StringRef> lines = linesOf(text);
  auto behind = [&](lsp::Position position) {
    return size_t(position.line) < lines.size()
               ? text.drop_front(
                     from(lines[position.line], position.character).data() -
                     text.data())
               : "";
  };
  llvm::StringRef begin = behind(change.range->start);
  return (text.drop_back(begin.size()) + change.text +
          behind(change.range->end))
      .str();
}

/// Drops the byte order mark, which is no character of the language; returns
/// its units of UTF-16.
static int dropMark(llvm::StringRef &line) {
  return line.consume_front("\xef\xbb\xbf");
}

lsp::Position Document::positionOf(TextPlace place) const {
  if (place.line == 0 || place.line > lines.size())
    return {};
  llvm::StringRef line = lines[place.line - 1];
  int units = place.line == 1 ? dropMark(line) : 0;
  for (size_t column = 1; column < place.column && !line.empty(); ++column)
    units += dropCharacter(line);
  return {int(place.line - 1), units};
}

TextPlace Document::placeOf(lsp::Position position) const {
  TextPlace place{size_t(std::max(position.line, 0)) + 1, 1};
  if (place.line > lines.size())
    return place;
  llvm::StringRef line = lines[place.line - 1];
  int mark = place.line == 1 ? dropMark(line) : 0;
  for (int units = position.character - mark; units > 0 && !line.empty();
       ++place.column)
    units -= dropCharacter(line);
  return place;
}

lsp::Range Document::rangeOf(const SourceRange &range) const {
  return {positionOf(range.begin), positionOf(range.end)};
}

lsp::Range Document::wordAt(TextPlace place) const {
  lsp::Position begin = positionOf(place);
  if (size_t(begin.line) >= lines.size())
    return {begin, begin};
  llvm::StringRef word = from(lines[begin.line], begin.character)
                             .take_while([](unsigned char byte) {
                               return llvm::isAlnum(byte) || byte == '_';
                             });
  // Without a word, one character is marked.
  return {begin, {begin.line, begin.character + std::max<int>(word.size(), 1)}};
}

/// The first node that fits among those that contain a place; null if there is
/// none.
static antlr4::tree::ParseTree *
findAt(antlr4::tree::ParseTree *tree, TextPlace place,
       llvm::function_ref<bool(antlr4::tree::ParseTree *)> fits) {
  llvm::SmallVector<antlr4::tree::ParseTree *> pending = {tree};
  while (!pending.empty()) {
    antlr4::tree::ParseTree *next = pending.pop_back_val();
    auto *rule = dynamic_cast<antlr4::ParserRuleContext *>(next);
    if (rule && !rangeOf(rule).contains(place))
      continue;
    if (fits(next))
      return next;
    pending.append(next->children.begin(), next->children.end());
  }
  return nullptr;
}

/// The token of a tree that begins at a place; null if none does.
static antlr4::tree::TerminalNode *tokenAt(antlr4::tree::ParseTree *tree,
                                           TextPlace place) {
  return dynamic_cast<antlr4::tree::TerminalNode *>(
      findAt(tree, place, [&](antlr4::tree::ParseTree *each) {
        auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(each);
        return leaf && beginOf(leaf->getSymbol()) == place;
      }));
}

NetParser::QuantityContext *Document::quantityAt(TextPlace place) const {
  return ruleCast<NetParser::QuantityContext>(
      findAt(source->tree(), place, [](antlr4::tree::ParseTree *each) {
        return ruleCast<NetParser::QuantityContext>(each);
      }));
}

lsp::Range Document::rangeAt(TextPlace place) const {
  lsp::Range word = wordAt(place);
  antlr4::tree::TerminalNode *token = tokenAt(source->tree(), place);
  if (!token || token->getSymbol()->getType() == antlr4::Token::EOF)
    return word;
  // A number is one with its unit.
  if (auto *quantity = ruleCast<NetParser::QuantityContext>(token->parent))
    return rangeOf(netc::rangeOf(quantity));
  auto *around = dynamic_cast<NetParser::ExprContext *>(token->parent);
  char first = token->getText().front();
  bool isWord = llvm::isAlnum(first) || first == '_' || first == '"';
  lsp::Range range =
      rangeOf(isWord || !around ? netc::rangeOf(token->getSymbol())
                                : netc::rangeOf(around));
  if (range.start.line < word.start.line)
    range.start = word.start;
  if (range.end.line > word.start.line) {
    llvm::StringRef line = lines[word.start.line].rtrim();
    range.end = positionOf({place.line, line.size() + 1});
  }
  return range;
}

std::optional<lsp::Range> Document::find(llvm::StringRef word,
                                         TextPlace place) const {
  std::vector<lsp::Range> found;
  for (const Mention &mention : names.mentions()) {
    SourceRange range = netc::rangeOf(mention);
    if (mention.name != word || range.begin.line != place.line)
      continue;
    if (range.begin == place)
      return rangeOf(range);
    found.push_back(rangeOf(range));
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

lsp::Range Document::wholeRange() const {
  return {{0, 0}, {int(lines.size()), 0}};
}

llvm::StringRef Document::before(lsp::Position position) const {
  if (size_t(position.line) >= lines.size())
    return text;
  llvm::StringRef rest = from(lines[position.line], position.character);
  return llvm::StringRef(text).take_front(rest.data() - text.data());
}

const Mention *Document::mentionAt(TextPlace place) const {
  const Mention *before = nullptr;
  for (const Mention &mention : names.mentions()) {
    SourceRange range = netc::rangeOf(mention);
    if (range.contains(place))
      return &mention;
    if (range.end == place)
      before = &mention;
  }
  return before;
}

const Declaration *Document::topLevel(llvm::StringRef name) const {
  auto found = names.fileScope().names.find(name);
  return found == names.fileScope().names.end() ? nullptr
                                                : found->second.front();
}

std::vector<const Declaration *>
Document::jobsIn(const Declaration &run) const {
  std::vector<const Declaration *> jobs;
  for (const Declaration &each : names.declarations())
    if (each.kind == Declaration::Run && each.scope->tree == run.tree)
      jobs.push_back(&each);
  return jobs;
}

lsp::TextEdit Document::importing(llvm::StringRef name) const {
  antlr4::tree::TerminalNode *version = source->tree()->NUMBER();
  size_t line = 1;
  while (line < lines.size() && lines[line - 1].starts_with("#"))
    ++line;
  // A comment directly above a declaration describes it.
  line = lines[line - 1].trim().empty() && line < lines.size() ? line + 1 : 1;
  if (version)
    line = endOf(version->getSymbol()).line + 1;
  for (const Declaration &each : names.declarations())
    if (each.kind == Declaration::Import)
      line = netc::rangeOf(each.tree).end.line + 1;
  lsp::Position begin{int(line - 1), 0};
  return {{begin, begin}, ("import " + name + "\n").str()};
}

std::string Document::describe(const Declaration &declaration) const {
  size_t line = beginOf(declaration.tree->getStart()).line;
  if (line == 0 || line > lines.size())
    return "";
  auto *block = ruleCast<NetParser::BlockDeclContext>(declaration.tree);
  size_t last =
      block && block->params() ? netc::rangeOf(block->params()).end.line : line;
  std::string signature = lines[line - 1].trim().str();
  for (size_t next = line; next < std::min(last, lines.size()); ++next)
    signature += "\n" + lines[next].rtrim().str();
  std::string comment;
  for (size_t above = line - 1;
       above != 0 && lines[above - 1].ltrim().starts_with("#"); --above)
    comment =
        lines[above - 1].ltrim().drop_front().trim().str() + "\n" + comment;
  return "```net\n" + signature + "\n```\n" + comment;
}
