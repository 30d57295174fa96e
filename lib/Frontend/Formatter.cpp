// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Formatter.h"

#include "grammar/NetLexer.h"
#include "lib/Frontend/NewlineFilter.h"
#include "lib/Frontend/SyntaxTree.h"
#include "lib/Frontend/Tokens.h"
#include "lib/Units/Units.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Locale.h"

using namespace antlr4;

namespace netc {

static constexpr size_t kIndent = 2, kMaxPadding = 12, kMaxColumns = 120;

namespace {

/// The roles of tokens in the tree. A token is identified by the index of its
/// first character.
class TokenRoles {
public:
  explicit TokenRoles(NetParser::FileContext *file) {
    llvm::SmallVector<tree::ParseTree *> pending{file};
    while (!pending.empty()) {
      tree::ParseTree *tree = pending.pop_back_val();
      visit(tree);
      pending.append(tree->children.begin(), tree->children.end());
    }
  }

  /// Whether it is the bracket of a call, an index or parameters. No blank
  /// precedes it.
  bool isPostfix(const Token *token) const { return is(token, postfix); }
  /// Whether it is the `-` of a number. No blank follows it.
  bool isSign(const Token *token) const { return is(token, signs); }
  /// Whether it is the brace of statements, and not of the fields of a record.
  bool isOfBody(const Token *token) const { return is(token, bodies); }
  /// Whether it is the `else` of a statement.
  bool isElse(const Token *token) const { return is(token, elses); }
  static constexpr size_t kMaxColumnsOfStatement = 3;
  /// The tokens of the statement that begins with `token` at which neighbouring
  /// statements are aligned. Empty if the statement has several lines.
  llvm::ArrayRef<const Token *> columnsOf(const Token *token) const {
    auto found = columns.find(token->getStartIndex());
    return found == columns.end() ? llvm::ArrayRef<const Token *>()
                                  : llvm::ArrayRef(found->second);
  }

  /// Whether it begins an element of a list that another one follows in the
  /// same line.
  bool isFollowed(const Token *token) const { return is(token, followed); }

private:
  using Starts = llvm::DenseSet<size_t>;

  static bool is(const Token *token, const Starts &starts) {
    return starts.contains(token->getStartIndex());
  }
  static void add(tree::TerminalNode *node, Starts &starts) {
    starts.insert(node->getSymbol()->getStartIndex());
  }

  void visit(tree::ParseTree *tree) {
    if (auto *call = ruleCast<NetParser::CallContext>(tree))
      add(call->LPAREN(), postfix);
    else if (auto *params = ruleCast<NetParser::ParamsContext>(tree))
      add(params->LPAREN(), postfix);
    else if (auto *index = ruleCast<NetParser::IndexContext>(tree))
      add(index->LBRACKET(), postfix);
    else if (auto *body = ruleCast<NetParser::BodyContext>(tree))
      add(body->LBRACE(), bodies);
    else if (auto *sign = ruleCast<NetParser::NegContext>(tree))
      add(sign->MINUS(), signs);
    else if (auto *branch = ruleCast<NetParser::IfStmtContext>(tree))
      addElse(branch->ELSE());
    else if (auto *tail = ruleCast<NetParser::IfTailContext>(tree))
      addElse(tail->ELSE());
    else if (auto *block = ruleCast<NetParser::BlockDeclContext>(tree))
      addColumns(block, {block->ASSIGN(), opening(block->statements)});
    else if (auto *section = ruleCast<NetParser::SectionContext>(tree))
      addColumns(section, {opening(section->body())});
    else if (auto *job = ruleCast<NetParser::JobContext>(tree))
      addColumns(job, {job->ON(), job->AS(), opening(job->body())});
    else if (auto *expect = ruleCast<NetParser::ExpectContext>(tree))
      addColumns(expect, {comparison(expect->expr(0))});
    else if (auto *param = ruleCast<NetParser::ParamContext>(tree))
      addColumnOfElement(param, param->ASSIGN());
    else if (auto *argument = ruleCast<NetParser::ArgContext>(tree))
      addColumnOfElement(argument, argument->ASSIGN());
    else if (auto *field = ruleCast<NetParser::FieldContext>(tree))
      addColumnOfElement(field, field->ASSIGN());
    else if (auto *bind = ruleCast<NetParser::BindContext>(tree))
      if (!isCode(bind))
        addColumns(bind, {bind->ASSIGN()});
  }

  void addElse(tree::TerminalNode *node) {
    if (node)
      add(node, elses);
  }

  void addColumns(ParserRuleContext *statement,
                  std::initializer_list<tree::ParseTree *> nodes) {
    if (statement->start->getLine() != statement->stop->getLine())
      return;
    auto &anchors = columns[statement->start->getStartIndex()];
    for (tree::ParseTree *node : nodes)
      if (node)
        anchors.push_back(static_cast<tree::TerminalNode *>(node)->getSymbol());
  }

  void addColumnOfElement(ParserRuleContext *element, tree::ParseTree *node) {
    addColumns(element, {node});
    const auto &siblings = element->parent->children;
    for (auto at = llvm::find(siblings, element); ++at != siblings.end();)
      if (auto *next = dynamic_cast<ParserRuleContext *>(*at)) {
        if (next->start->getLine() == element->stop->getLine())
          followed.insert(element->start->getStartIndex());
        return;
      }
  }

  static tree::ParseTree *opening(NetParser::BodyContext *body) {
    return body ? body->LBRACE() : nullptr;
  }

  static tree::ParseTree *comparison(NetParser::ExprContext *expr) {
    return ruleCast<NetParser::CmpContext>(expr) ? expr->children[1] : nullptr;
  }

  /// Whether a binding is a step of a computation, and not a key or constant.
  static bool isCode(tree::ParseTree *tree) {
    for (; tree; tree = tree->parent)
      if (ruleCast<NetParser::BlockDeclContext>(tree) ||
          ruleCast<NetParser::ForStmtContext>(tree) ||
          ruleCast<NetParser::IfStmtContext>(tree))
        return true;
    return false;
  }

  Starts postfix, signs, bodies, elses, followed;
  llvm::DenseMap<size_t,
                 llvm::SmallVector<const Token *, kMaxColumnsOfStatement>>
      columns;
};

/// A token and the number of blanks before it.
struct Piece {
  const Token *token;
  std::string text;
  size_t blanks = 0;
  size_t width = std::max(0, llvm::sys::locale::columnWidth(text));
};

struct Line {
  std::vector<Piece> pieces;
  bool isAfterEmpty = false; ///< whether an empty line is above it
  size_t indent = 0;
  size_t indentAbove = 0; ///< indentation of comments on the lines above

  const Token *first() const { return pieces.front().token; }
  bool isComment() const { return first()->getType() == NetLexer::COMMENT; }
  bool hasCommentBehind() const {
    return !isComment() && pieces.back().token->getType() == NetLexer::COMMENT;
  }
  /// The number of pieces without a comment at the end.
  size_t codeSize() const { return pieces.size() - hasCommentBehind(); }
  /// The column after the first `count` pieces, from 0.
  size_t columnBehind(size_t count) const {
    size_t column = indent;
    for (const Piece &piece : llvm::ArrayRef(pieces).take_front(count))
      column += piece.blanks + piece.width;
    return column;
  }
};
} // namespace

static std::string textOf(const Token *token) {
  std::string text = token->getText();
  size_t type = token->getType();
  if (type == NetLexer::COMMENT)
    return llvm::StringRef(text).rtrim().str();
  // A number and its unit are one token, including the blanks between them.
  if (type == NetLexer::RATE || type == NetLexer::DEVTIME)
    if (size_t blank = text.find_first_of(" \t"); blank != std::string::npos)
      text.replace(blank, text.find_first_not_of(" \t", blank) - blank, " ");
  return text;
}

static std::vector<Line>
linesOf(llvm::ArrayRef<std::unique_ptr<Token>> tokens) {
  std::vector<Line> lines;
  size_t breaks = 1;
  for (const std::unique_ptr<Token> &token : tokens) {
    if (token->getType() == NetLexer::NL) {
      breaks += llvm::count(token->getText(), '\n');
      continue;
    }
    if (breaks != 0) {
      bool isAfterEmpty = breaks > 1 && !lines.empty();
      lines.emplace_back().isAfterEmpty = isAfterEmpty;
      breaks = 0;
    }
    std::vector<Piece> &pieces = lines.back().pieces;
    Piece piece{token.get(), textOf(token.get())};
    // `80GB` is a number and a unit, which get a blank between them.
    if (!pieces.empty() && token->getType() == NetLexer::ID &&
        pieces.back().token->getType() == NetLexer::NUMBER) {
      auto [number, unit] = splitQuantity(pieces.back().text, piece.text);
      pieces.back() = {pieces.back().token, number};
      piece = {token.get(), unit};
    }
    pieces.push_back(std::move(piece));
  }
  return lines;
}

static bool hasBlankBetween(const Token *left, const Token *right,
                            const TokenRoles &roles) {
  size_t before = left->getType(), behind = right->getType();
  switch (before) {
  case NetLexer::LPAREN:
  case NetLexer::LBRACKET:
  case NetLexer::DOT:
  case NetLexer::CARET:
  case NetLexer::RANGE:
    return false;
  case NetLexer::LBRACE:
    return behind != NetLexer::RBRACE;
  case NetLexer::MINUS:
    if (roles.isSign(left))
      return false;
    break;
  default:
    break;
  }
  switch (behind) {
  case NetLexer::RPAREN:
  case NetLexer::RBRACKET:
  case NetLexer::COMMA:
  case NetLexer::SEMI:
  case NetLexer::COLON:
  case NetLexer::DOT:
  case NetLexer::CARET:
  case NetLexer::RANGE:
    return false;
  default:
    return !roles.isPostfix(right);
  }
}

static void setBlanks(Line &line, const TokenRoles &roles) {
  for (size_t i = 1; i < line.pieces.size(); ++i)
    line.pieces[i].blanks =
        hasBlankBetween(line.pieces[i - 1].token, line.pieces[i].token, roles);
  if (line.hasCommentBehind())
    line.pieces.back().blanks = kIndent;
}

/// The first characters of the tokens that begin a statement, or a line inside
/// of brackets.
static llvm::DenseSet<size_t> beginnings(ANTLRInputStream &input) {
  input.seek(0);
  NetLexer lexer(&input);
  NewlineFilter filter(lexer);
  llvm::DenseSet<size_t> begins;
  bool isFirst = true;
  for (std::unique_ptr<Token> token = filter.nextToken();
       token->getType() != Token::EOF; token = filter.nextToken()) {
    if (isFirst)
      begins.insert(token->getStartIndex());
    isFirst = token->getType() == NetLexer::NL;
  }
  return begins;
}

/// An open bracket.
struct Bracket {
  /// Indentation of the closing bracket, and of lines inside.
  size_t outside, inside;
  bool isOfBody;
};

static void indent(std::vector<Line> &lines,
                   const llvm::DenseSet<size_t> &begins,
                   const TokenRoles &roles) {
  llvm::SmallVector<Bracket> open;
  const Token *before = nullptr;
  for (Line &line : lines) {
    if (line.isComment())
      continue;
    const Token *first = line.first();
    bool goesOn = before && !begins.contains(first->getStartIndex()) &&
                  !isOpener(before) && !roles.isElse(first);
    // Elements of a list in brackets are aligned.
    if (before && (before->getType() == NetLexer::COMMA ||
                   before->getType() == NetLexer::SEMI))
      goesOn &= open.empty() || open.back().isOfBody;
    size_t inside = open.empty() ? 0 : open.back().inside;
    bool isEnd = isCloser(first);
    line.indent = isEnd ? open.back().outside : inside + goesOn * kIndent;
    line.indentAbove = isEnd ? inside : line.indent;

    // A bracket that is opened after the end of one from a line above belongs
    // to that line.
    size_t own = line.indent;
    for (size_t i = 0; i != line.codeSize(); ++i) {
      before = line.pieces[i].token;
      if (isCloser(before))
        own = open.pop_back_val().outside;
      else if (isOpener(before))
        open.push_back(
            {own,
             before->getType() == NetLexer::LBRACE || i + 1 == line.codeSize()
                 ? own + kIndent
                 : line.columnBehind(i + 1),
             roles.isOfBody(before)});
    }
  }
  size_t ofComment = 0;
  for (Line &line : llvm::reverse(lines)) {
    if (line.isComment())
      line.indent = ofComment;
    else
      ofComment = line.indentAbove;
  }
}

static void dropEmptyLines(std::vector<Line> &lines) {
  for (auto [above, line] : llvm::zip(lines, llvm::drop_begin(lines)))
    if (isCloser(line.first()) ||
        isOpener(above.pieces[above.codeSize() - 1].token))
      line.isAfterEmpty = false;
}

/// Calls `align` for each run of neighbouring lines for which `has` holds, and
/// `matches` for each line and the one above it.
static void
forEachRun(std::vector<Line> &lines, llvm::function_ref<bool(const Line &)> has,
           llvm::function_ref<bool(const Line &, const Line &)> matches,
           llvm::function_ref<void(llvm::MutableArrayRef<Line>)> align) {
  for (size_t begin = 0, end; begin < lines.size(); begin = end) {
    end = begin + 1;
    if (!has(lines[begin]))
      continue;
    while (end != lines.size() && has(lines[end]) && !lines[end].isAfterEmpty &&
           matches(lines[end - 1], lines[end]))
      ++end;
    align(llvm::MutableArrayRef(lines).slice(begin, end - begin));
  }
}

/// Aligns a piece of each line, and the pieces after it, in one column. No
/// piece moves by more than `maxPadding`, and the first `sizeOf` pieces of each
/// line must fit. The longest lines are left out as long as others would have
/// to move too far.
static void align(llvm::SmallVector<Line *> run, size_t maxPadding,
                  llvm::function_ref<size_t(const Line &)> pieceOf,
                  llvm::function_ref<size_t(const Line &)> sizeOf) {
  auto columnOf = [&](const Line *line) {
    return line->columnBehind(pieceOf(*line));
  };
  while (!run.empty()) {
    size_t column = columnOf(*llvm::max_element(
        run, [&](Line *a, Line *b) { return columnOf(a) < columnOf(b); }));
    if (llvm::all_of(run, [&](const Line *line) {
          size_t padding = column - columnOf(line);
          return padding <= maxPadding &&
                 line->columnBehind(sizeOf(*line)) + padding <= kMaxColumns;
        })) {
      for (Line *line : run)
        line->pieces[pieceOf(*line)].blanks += column - columnOf(line);
      return;
    }
    llvm::erase_if(run,
                   [&](const Line *line) { return columnOf(line) == column; });
  }
}

/// The type of a token, where all comparisons count as one.
static size_t kindOf(const Token *token) {
  switch (token->getType()) {
  case NetLexer::NE:
  case NetLexer::LT:
  case NetLexer::LE:
  case NetLexer::GT:
  case NetLexer::GE:
  case NetLexer::ABOUT:
    return NetLexer::EQ;
  default:
    return token->getType();
  }
}

static void alignColumns(std::vector<Line> &lines, const TokenRoles &roles) {
  for (size_t column = 0; column != TokenRoles::kMaxColumnsOfStatement;
       ++column) {
    auto pieceOf = [&](const Line &line) {
      const Token *token = roles.columnsOf(line.first())[column];
      return llvm::find_if(line.pieces,
                           [&](const Piece &piece) {
                             return piece.token->getStartIndex() ==
                                    token->getStartIndex();
                           }) -
             line.pieces.begin();
    };
    forEachRun(
        lines,
        [&](const Line &line) {
          return roles.columnsOf(line.first()).size() > column;
        },
        [&](const Line &above, const Line &line) {
          return above.indent == line.indent &&
                 kindOf(roles.columnsOf(above.first())[column]) ==
                     kindOf(roles.columnsOf(line.first())[column]);
        },
        [&](llvm::MutableArrayRef<Line> run) {
          // One line of one element among lines of several is no column.
          if (llvm::count_if(run, [&](const Line &line) {
                return !roles.isFollowed(line.first());
              }) < 2)
            return;
          align(llvm::to_vector(llvm::make_pointer_range(run)), kMaxPadding,
                pieceOf, [](const Line &line) { return line.codeSize(); });
        });
  }
}

static void alignComments(std::vector<Line> &lines) {
  forEachRun(
      lines, [](const Line &line) { return !line.isComment(); },
      [](const Line &above, const Line &line) {
        return above.indent == line.indent;
      },
      [&](llvm::MutableArrayRef<Line> run) {
        llvm::SmallVector<Line *> commented;
        for (Line &line : run)
          if (line.hasCommentBehind())
            commented.push_back(&line);
        align(
            commented, kMaxColumns,
            [](const Line &line) { return line.codeSize(); },
            [](const Line &line) { return line.pieces.size(); });
      });
}

std::string formatted(llvm::StringRef text, NetParser::FileContext *file) {
  text.consume_front("\ufeff");
  ANTLRInputStream input(text.str());
  llvm::DenseSet<size_t> begins = beginnings(input);
  input.seek(0);
  NetLexer lexer(&input);
  std::vector<std::unique_ptr<Token>> tokens = lexer.getAllTokens();
  TokenRoles roles(file);

  std::vector<Line> lines = linesOf(tokens);
  if (lines.empty())
    return "";
  for (Line &line : lines)
    setBlanks(line, roles);
  dropEmptyLines(lines);
  indent(lines, begins, roles);
  alignColumns(lines, roles);
  alignComments(lines);

  std::string result;
  for (const Line &line : lines) {
    result += line.isAfterEmpty ? "\n" : "";
    result.append(line.indent, ' ');
    for (const Piece &piece : line.pieces)
      result.append(piece.blanks, ' ') += piece.text;
    result += '\n';
  }
  return result;
}

} // namespace netc
