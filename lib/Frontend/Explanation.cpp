// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Explanation.h"

#include "grammar/NetParser.h"
#include "lib/Frontend/Tokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Unicode.h"

using namespace antlr4;
using namespace llvm;

namespace netc {

/// The probable meaning of an unknown character, as in text that is copied from
/// papers.
static StringRef asciiFor(StringRef character) {
  return StringSwitch<StringRef>(character)
      .Cases("\u2010", "\u2011", "\u2013", "\u2014", "\u2212", "-")
      .Cases("\u00d7", "\u00b7", "\u22c5", "\u2217", "*")
      .Cases("\u00f7", "\u2215", "/")
      .Cases("\u201c", "\u201d", "\u201e", "\u00ab", "\u00bb", "\"")
      .Cases("\u2018", "\u2019", "\u2032", "'")
      .Case("\u2264", "<=")
      .Case("\u2265", ">=")
      .Case("\u2260", "!=")
      .Cases("\u2248", "\u223c", "\u2243", "~")
      .Case("\u00b2", "^2")
      .Case("\u00b3", "^3")
      .Case("\u2026", "...")
      .Cases("\u00b5", "\u03bc", "u")
      .Cases("\u00a0", "\u2009", "\u202f", "\u3000", " ")
      .Default("");
}

namespace {

/// Explains one syntax error at the token `found`, from the tokens around it
/// and the open rules. Each method returns nothing if its case does not apply.
class Explanation {
public:
  Explanation(Parser *parser, Token *found)
      : tokens(*static_cast<BufferedTokenStream *>(parser->getTokenStream())),
        vocabulary(parser->getVocabulary()), rule(parser->getContext()),
        expected(parser->getExpectedTokens()), found(found),
        before(neighbour(tokens, found, -1)),
        after(neighbour(tokens, found, +1)) {
    findOpener();
  }

  SyntaxError get() const {
    for (auto explain :
         {&Explanation::mergeConflict, &Explanation::groupedDigits,
          &Explanation::character, &Explanation::loop,
          &Explanation::foreignWord, &Explanation::sweep,
          &Explanation::reservedWord, &Explanation::nameWithDigit,
          &Explanation::foreignOperator, &Explanation::foreignValue,
          &Explanation::foreignType, &Explanation::bracketOnNewLine,
          &Explanation::condition, &Explanation::comprehension,
          &Explanation::unit, &Explanation::separator,
          &Explanation::nestedDeclaration, &Explanation::statement})
      if (std::optional<SyntaxError> error = (this->*explain)())
        return *error;
    return general();
  }

  /// Whether the error may be caused by an earlier one: a bracket that stays
  /// open, and errors in a list that had an earlier error.
  bool mayFollowFrom(const SyntaxError &earlier) const {
    return (found->getType() == Token::EOF && opener) ||
           (is(opener, {NetParser::LPAREN, NetParser::LBRACKET}) &&
            beginOf(opener) < earlier.place);
  }

private:
  using Answer = std::optional<SyntaxError>;

  SyntaxError here(const Message &message) const {
    return {beginOf(found), message};
  }
  SyntaxError at(const Token *token, const Message &message) const {
    return {beginOf(token), message};
  }

  bool expects(size_t type) const { return expected.contains(type); }
  /// Whether an expression ends before `found`, so that an operator could
  /// follow.
  bool isAfterExpr() const {
    return !expectsExpr() && !isBinding() &&
           !inRule({NetParser::RuleParams, NetParser::RuleParam,
                    NetParser::RuleEach, NetParser::RuleVaried,
                    NetParser::RulePath}) &&
           is(before,
              {NetParser::ID, NetParser::NUMBER, NetParser::RATE,
               NetParser::DEVTIME, NetParser::STRING, NetParser::TRUE,
               NetParser::FALSE, NetParser::RPAREN, NetParser::RBRACKET});
  }
  /// Whether `found` is in the place of a binding's `=`.
  bool isBinding() const {
    return inRule({NetParser::RuleStmt, NetParser::RuleTarget}) &&
           is(rule->getStart(), {NetParser::ID}) && found != rule->getStart() &&
           expects(NetParser::ASSIGN);
  }
  /// Whether the innermost rule is a list with commas.
  bool isList() const {
    return dynamic_cast<NetParser::CallContext *>(rule) ||
           dynamic_cast<NetParser::IndexContext *>(rule) ||
           dynamic_cast<NetParser::ListContext *>(rule) ||
           inRule({NetParser::RuleParams});
  }
  bool expectsExpr() const {
    return expects(NetParser::STRING) && expects(NetParser::LPAREN);
  }
  /// Between `train` and its `{`.
  bool isJobHead() const {
    return is(firstOfLine(tokens, found),
              {NetParser::TRAIN, NetParser::INFER}) &&
           !sameLine(opener, found);
  }
  bool inRule(std::initializer_list<size_t> rules) const {
    return is_contained(rules, rule->getRuleIndex());
  }
  /// The text of a token type that has only one spelling.
  std::string literal(size_t type) const {
    return quote(StringRef(vocabulary.getLiteralName(type)).trim('\''));
  }
  template <typename Rule> Rule *enclosing() const {
    for (RuleContext *r = rule; r; r = static_cast<RuleContext *>(r->parent))
      if (auto *match = dynamic_cast<Rule *>(r))
        return match;
    return nullptr;
  }

  /// Finds the innermost bracket that the open rules have not closed, and that
  /// stands in the text: recovery makes up a token that is missing.
  void findOpener() {
    for (RuleContext *r = rule; r && !opener;
         r = static_cast<RuleContext *>(r->parent))
      for (tree::ParseTree *child : r->children)
        if (auto *leaf = dynamic_cast<tree::TerminalNode *>(child)) {
          if (leaf->getSymbol()->getTokenIndex() == INVALID_INDEX)
            continue;
          if (isOpener(leaf->getSymbol()))
            opener = leaf->getSymbol(),
            isBody = r->getRuleIndex() == NetParser::RuleBody;
          else if (isCloser(leaf->getSymbol()))
            opener = nullptr;
        }
  }

  Answer mergeConflict() const;
  Answer groupedDigits() const;
  Answer character() const;
  Answer foreignWord() const;
  Answer sweep() const;
  Answer reservedWord() const;
  Answer nameWithDigit() const;
  Answer foreignOperator() const;
  Answer foreignValue() const;
  Answer foreignType() const;
  Answer loop() const;
  Answer bracketOnNewLine() const;
  Answer condition() const;
  Answer comprehension() const;
  Answer unit() const;
  Answer separator() const;
  Answer openBodyBefore(Token *end) const;
  Answer nestedDeclaration() const;
  Answer statement() const;
  SyntaxError closesNothing() const;
  SyntaxError general() const;
  SmallVector<std::string> expectations() const;

  const BufferedTokenStream &tokens;
  const dfa::Vocabulary &vocabulary;
  ParserRuleContext *rule;
  misc::IntervalSet expected;
  Token *found, *before, *after;
  Token *opener = nullptr;
  bool isBody = true;
};

/// `<<<<<<< HEAD`, `=======` and `>>>>>>> branch`.
Explanation::Answer Explanation::mergeConflict() const {
  Token *first = firstOfLine(tokens, found),
        *next = neighbour(tokens, first, +1);
  if (!is(first, {NetParser::LT, NetParser::EQ, NetParser::GT}) ||
      !adjacent(first, next) || !is(next, {first->getType()}))
    return std::nullopt;
  return at(first, error::MergeConflict());
}

/// `1,024`, `1 024` and `1'024`.
Explanation::Answer Explanation::groupedDigits() const {
  bool isBlank = is(found, {NetParser::NUMBER});
  Token *rest = isBlank ? found : after;
  if (!is(before, {NetParser::NUMBER}) || !is(rest, {NetParser::NUMBER}) ||
      !all_of(rest->getText(), isDigit))
    return std::nullopt;
  bool isGroup =
      isBlank ? sameLine(before, rest) && rest->getText().size() == 3
              : adjacent(before, found) && adjacent(found, rest) &&
                    (is(found, {NetParser::COMMA}) || found->getText() == "'");
  if (!isGroup)
    return std::nullopt;
  return at(before, error::GroupedDigits(before->getText(), rest->getText()));
}

/// A character that begins no token.
Explanation::Answer Explanation::character() const {
  std::string text = found->getText();
  if (found->getType() == NetParser::BADSTRING) {
    bool isClosed =
        text.size() > 1 && text.back() == '"' && text[text.size() - 2] != '\\';
    if (!isClosed)
      return here(error::OpenString());
    return here(error::UnknownEscape());
  }
  if (found->getType() != NetParser::BAD)
    return std::nullopt;

  if (text == "'")
    return here(error::SingleQuotes());
  if (text == "&")
    return here(error::LogicalOperator("and"));
  if (text == "|")
    return here(adjacent(found, after) && after->getText() == "|"
                    ? error::LogicalOperator("or")
                    : error::LoneBar());
  if (text == "!")
    return here(error::LogicalOperator("not"));
  if (text == "?")
    return here(enclosing<NetParser::ParamsContext>() &&
                        is(before, {NetParser::LBRACKET, NetParser::COMMA})
                    ? error::FreeAxisName()
                    : error::QuestionMark());
  if (text == "\\")
    return here(error::Backslash());
  if (text == "\u2192" || text == "\u21d2")
    return here(error::ForeignArrow(text));

  const UTF8 *begin = reinterpret_cast<const UTF8 *>(text.data());
  UTF32 code = 0, *target = &code;
  ConvertUTF8toUTF32(&begin, begin + text.size(), &target, &code + 1,
                     strictConversion);
  std::string number = formatv("U+{0:X-4}", code);
  std::string name = code > 0x7f ? (sys::unicode::isPrintable(code)
                                        ? quote(text) + " (" + number + ")"
                                        : number)
                                 : quote(text);
  if (StringRef ascii = asciiFor(text); ascii == " ")
    return here(error::UnusualSpace(number));
  else if (!ascii.empty())
    return here(
        error::ForeignCharacter(name, "did you mean " + quote(ascii) + "?"));
  if (code > 0x7f)
    return here(error::ForeignCharacter(
        name, "names are written in ASCII letters, digits and `_`"));
  return here(error::StrayCharacter(name));
}

/// A word of another language, or a misspelt keyword, at the start of a
/// statement.
Explanation::Answer Explanation::foreignWord() const {
  Token *word = inRule({NetParser::RuleStmt, NetParser::RuleTarget})
                    ? rule->getStart()
                    : found;
  Token *earlier = neighbour(tokens, word, -1);
  bool isFirst =
      !sameLine(earlier, word) ||
      is(earlier, {NetParser::SEMI, NetParser::LBRACE, NetParser::RBRACE});
  if (!is(word, {NetParser::ID}) || !sameLine(word, found) || !isFirst)
    return std::nullopt;
  std::string text = word->getText();
  auto advice =
      StringSwitch<std::optional<Message>>(text)
          .Case("elif", error::Elif())
          .Case("while", error::While())
          .Case("from", error::ImportArgument())
          .Case("assert", error::UnknownStatement(text, "require"))
          .Cases("model", "network", error::UnknownStatement(text, "net"))
          .Case("layer", error::UnknownStatement(text, "block"))
          .Case("data", error::UnknownStatement(text, "dataset"))
          .Cases("run", "training", "fit",
                 error::UnknownStatement(text, "train"))
          .Cases("inference", "serve", error::UnknownStatement(text, "infer"))
          .Cases("include", "use", error::UnknownStatement(text, "import"))
          .Cases("def", "fn", "func", "function", "class", "module",
                 error::ForeignDeclaration())
          .Cases("let", "const", "var", error::ForeignBinding())
          .Default(std::nullopt);
  // Only two words in a row are certainly an error.
  if (advice && (word == found ||
                 is(found, {NetParser::ID, NetParser::NUMBER, NetParser::TRUE,
                            NetParser::NOT, NetParser::STRING})))
    return at(word, *advice);
  if (word == found || !is(found, {NetParser::ID, NetParser::NUMBER}))
    return std::nullopt;
  for (StringRef keyword :
       {"import", "block", "net", "dataset", "hardware", "train", "infer",
        "return", "yield", "expect", "require", "sweep", "for"})
    if (StringRef(text).edit_distance(keyword) <= (keyword.size() > 3 ? 2 : 1))
      return at(word, error::UnknownStatement(text, keyword));
  return std::nullopt;
}

/// `sweep = ..` or `sweep { .. }`.
Explanation::Answer Explanation::sweep() const {
  Token *keyword = is(found, {NetParser::SWEEP}) ? found : before;
  Token *next = keyword == found ? after : found;
  if (!is(keyword, {NetParser::SWEEP}) || is(next, {NetParser::ID}))
    return std::nullopt;
  return at(next, error::Expected("what varies", " after `sweep`",
                                  ", as in `sweep batch in [32, 64]`"));
}

/// A keyword as a name.
Explanation::Answer Explanation::reservedWord() const {
  for (auto [word, next] : {std::pair(before, found), std::pair(found, after)})
    if (word && isKeyword(word) && is(next, {NetParser::ASSIGN}) &&
        sameLine(word, next))
      return at(word,
                error::ReservedWord(
                    quote(word),
                    is(word, {NetParser::DATASET}) &&
                            enclosing<NetParser::JobContext>()
                        ? "the data of a run stands in its first line, as in "
                          "`train Net on Data as run`"
                        : "choose another name"));
  if (isKeyword(found) && is(before, {NetParser::NET, NetParser::BLOCK}))
    return here(error::ReservedWord(quote(found), "choose another name"));
  if (is(found, {NetParser::MINUS}) && adjacent(before, found) &&
      is(before, {NetParser::ID}) && is(after, {NetParser::ID}) &&
      inRule({NetParser::RuleBlockDecl, NetParser::RuleParams,
              NetParser::RuleSection}))
    return at(before, error::HyphenInName(before->getText(), after->getText()));
  if (is(found, {NetParser::ID}) && is(before, {NetParser::ID}) &&
      is(after, {NetParser::ASSIGN}) && sameLine(before, after)) {
    Token *first = neighbour(tokens, before, -1);
    bool beginsName = !sameLine(first, before) ||
                      is(first, {NetParser::SEMI, NetParser::COMMA}) ||
                      isOpener(first);
    if (beginsName)
      return at(before,
                error::NameInWords(before->getText(), found->getText()));
  }
  return std::nullopt;
}

/// `net 3Layers(x)`, and `net 1` where it is not the first line.
Explanation::Answer Explanation::nameWithDigit() const {
  for (auto [number, rest] :
       {std::pair(before, found), std::pair(found, after)}) {
    if (!is(number, {NetParser::NUMBER}))
      continue;
    Token *keyword = neighbour(tokens, number, -1);
    if (is(rest, {NetParser::ID}) && adjacent(number, rest) &&
        is(keyword, {NetParser::NET, NetParser::BLOCK, NetParser::DATASET,
                     NetParser::AS})) {
      std::string name = number->getText() + rest->getText();
      StringRef letters = StringRef(name).drop_while(isDigit);
      return at(number,
                error::DigitFirst(StringRef(name).drop_back(letters.size()),
                                  letters));
    }
    if (number == found && is(keyword, {NetParser::NET}))
      return at(keyword, error::VersionNotFirst(number->getText()));
  }
  return std::nullopt;
}

/// An operator of another language.
Explanation::Answer Explanation::foreignOperator() const {
  // Two tokens are meant as one operator. The parser stops at the first or the
  // second.
  for (auto [left, right] :
       {std::pair(before, found), std::pair(found, after)}) {
    if (!adjacent(left, right))
      continue;
    if (is(left, {NetParser::STAR}) && is(right, {NetParser::STAR}))
      return at(left, error::ForeignPower());
    if (is(left, {NetParser::SLASH}) && is(right, {NetParser::STAR}))
      return at(left, error::ForeignComment());
    if (is(left, {NetParser::ABOUT}) && is(right, {NetParser::ASSIGN}))
      return at(left, error::ForeignAbout());
    if (is(left, {NetParser::RANGE}) && is(right, {NetParser::ASSIGN}))
      return at(left, error::RangeEnd());
    if (is(right, {NetParser::GT}) &&
        is(left, {NetParser::MINUS, NetParser::ASSIGN, NetParser::GT}))
      return at(left, error::ForeignArrow(left->getText() + ">"));
    Token *operand = neighbour(tokens, left, -1);
    if (is(operand, {NetParser::ID}) && is(right, {NetParser::ASSIGN}) &&
        is(left, {NetParser::PLUS, NetParser::MINUS, NetParser::STAR,
                  NetParser::SLASH}))
      return at(left,
                error::CompoundAssignment(operand->getText(), left->getText()));
    if (is(operand, {NetParser::ID}) && left->getType() == right->getType() &&
        is(left, {NetParser::PLUS, NetParser::MINUS}) &&
        (!sameLine(right, neighbour(tokens, right, +1)) ||
         is(neighbour(tokens, right, +1),
            {NetParser::SEMI, NetParser::RBRACE, NetParser::LBRACE})))
      return at(left, error::Increment(operand->getText(), left->getText()));
  }
  Token *beforeThat = before ? neighbour(tokens, before, -1) : nullptr;
  for (Token *slashes : {found, beforeThat})
    if (is(slashes, {NetParser::FLOORDIV}) && sameLine(slashes, found))
      return at(slashes, error::Slashes());

  if (is(found, {NetParser::ASSIGN}) && isAfterExpr()) {
    // `x = a +` was continued on the next line, which is another statement.
    if (is(before, {NetParser::ID}) && beforeThat &&
        !sameLine(beforeThat, before) && !isOpener(beforeThat) &&
        !is(beforeThat, {NetParser::COMMA}))
      return SyntaxError{
          endOf(beforeThat),
          error::Expected(anExpression, " after " + quote(beforeThat), "")};
    // `{ a = 1 b = 2 }`: the second name was read as a unit, or follows a
    // complete value.
    if (is(before, {NetParser::ID}) && sameLine(beforeThat, before) &&
        (is(beforeThat, {NetParser::NUMBER, NetParser::ID}) ||
         isCloser(beforeThat)))
      return at(before,
                error::MissingSeparator(
                    opener && !isBody ? "`,`" : "a new line", quote(before)));
    if (enclosing<NetParser::RepeatContext>() &&
        is(opener, {NetParser::LBRACE}) && !isBody)
      return here(error::RepeatOfStatements());
    if (!isJobHead() && !inRule({NetParser::RuleSection}))
      return here(error::AssignmentAsComparison());
  }
  if (is(found, {NetParser::COLON}) &&
      is(opener, {NetParser::LPAREN, NetParser::LBRACE}) &&
      !inRule({NetParser::RuleBody, NetParser::RuleStmt}) &&
      is(before, {NetParser::ID, NetParser::STRING}))
    return here(error::ColonForValue());
  if (is(found, {NetParser::COLON}) && is(opener, {NetParser::LBRACKET}))
    return here(error::ColonInBrackets());
  if (is(found, {NetParser::ASSIGN}) && is(before, {NetParser::COLON}))
    return at(before, error::ColonForValue());
  if (is(found, {NetParser::ELLIPSIS}) && isAfterExpr())
    return here(error::RangeDots());
  if (is(found, {NetParser::PLUS}) && is(after, {NetParser::NUMBER}) &&
      expectsExpr() && !is(before, {NetParser::PIPE}))
    return here(error::LeadingPlus(after->getText()));
  if (is(found, {NetParser::STAR}) && adjacent(found, after) &&
      is(after, {NetParser::ID}) &&
      is(before, {NetParser::LPAREN, NetParser::LBRACKET, NetParser::COMMA}))
    return here(error::Unpacking());
  return std::nullopt;
}

/// Values that other languages write otherwise.
Explanation::Answer Explanation::foreignValue() const {
  if (is(before, {NetParser::ID}) && before->getText() == "lambda")
    return at(before, error::ForeignDeclaration());
  if (is(found, {NetParser::ID}) && found->getText() == "is")
    return here(error::ForeignEquality());
  if (is(found, {NetParser::ID}) && is(after, {NetParser::STRING}) &&
      adjacent(found, after))
    return here(error::FormattedString(found->getText()));
  if (is(found, {NetParser::STRING}) && is(before, {NetParser::ID}) &&
      adjacent(before, found))
    return at(before, error::FormattedString(before->getText()));
  if (inRule({NetParser::RuleRecord}) && is(before, {NetParser::LBRACE}) &&
      is(found, {NetParser::NUMBER, NetParser::STRING}) &&
      is(after, {NetParser::COMMA}))
    return here(error::Tuple());
  if (is(found, {NetParser::COMMA}) && isAfterExpr()) {
    if (dynamic_cast<NetParser::ParenContext *>(rule))
      return here(error::Tuple());
    if (is(opener, {NetParser::LBRACE}) && isBody)
      return here(error::CommaAfterStatement());
  }
  if (is(found, {NetParser::STRING}) && is(opener, {NetParser::LBRACE}) &&
      is(after, {NetParser::COLON}))
    return here(error::TextAsKey());
  if (is(found, {NetParser::IF}) && isAfterExpr() && sameLine(before, found) &&
      !dynamic_cast<NetParser::CompContext *>(rule))
    return here(error::QuestionMark());
  Token *number = before ? neighbour(tokens, before, -1) : nullptr;
  if (is(before, {NetParser::PERCENT}) && is(number, {NetParser::NUMBER}) &&
      sameLine(number, before))
    return at(number, error::PercentApart(number->getText()));
  if (is(before, {NetParser::DOT}) && is(number, {NetParser::NUMBER}) &&
      adjacent(number, before) && !is(found, {NetParser::ID}))
    return at(number, error::FractionDigits(number->getText()));
  if (is(found, {NetParser::COLON}) && is(before, {NetParser::NUMBER}) &&
      is(after, {NetParser::NUMBER}) && adjacent(before, found))
    return at(before, error::ClockTime());
  return std::nullopt;
}

/// The name of a type of elements.
static bool isElementType(const Token *token) {
  static const StringRef types[] = {"f64", "f32", "f16", "bf16", "i64",
                                    "i32", "i16", "i8",  "u8",   "bool"};
  return is(token, {NetParser::ID}) && is_contained(types, token->getText());
}

/// A type of C: `f32<N, 8> x`, `f32[N, 8] x`.
Explanation::Answer Explanation::foreignType() const {
  if (!inRule({NetParser::RuleParams, NetParser::RuleParam}) &&
      !enclosing<NetParser::ParamsContext>())
    return std::nullopt;
  if (is(found, {NetParser::LBRACKET}) && isElementType(before) &&
      is(neighbour(tokens, before, -1),
         {NetParser::LPAREN, NetParser::COMMA, NetParser::SEMI}))
    return at(before, error::TypeBeforeName());
  if (is(found, {NetParser::STAR}) && is(opener, {NetParser::LBRACKET}) &&
      is(before, {NetParser::LBRACKET, NetParser::COMMA}))
    return here(error::FreeAxisName());
  for (Token *token = before; sameLine(token, found) && !isOpener(token);
       token = neighbour(tokens, token, -1))
    if (is(token, {NetParser::LT}) &&
        isElementType(neighbour(tokens, token, -1)))
      return at(token, error::AxesInBrackets());
  return std::nullopt;
}

/// The head of a loop: `for (i in 0..3)`, `for i = 0; i < 3; i++`.
Explanation::Answer Explanation::loop() const {
  Token *first = found;
  while (sameLine(first, found) && !is(first, {NetParser::FOR}) &&
         !is(first, {NetParser::LBRACE, NetParser::SEMI, NetParser::NL}))
    first = neighbour(tokens, first, -1);
  Token *earlier = first ? neighbour(tokens, first, -1) : nullptr;
  bool isHead =
      is(first, {NetParser::FOR}) && sameLine(first, found) &&
      (!earlier || is(earlier, {NetParser::LBRACE, NetParser::SEMI}) ||
       !sameLine(earlier, first));
  if (!isHead || is(found, {NetParser::COLON, NetParser::NL, Token::EOF}))
    return std::nullopt;
  bool isForeign =
      is(found, {NetParser::LPAREN}) ||
      (is(found, {NetParser::ASSIGN}) && is(before, {NetParser::ID})) ||
      (expects(NetParser::LBRACE) && is(found, {NetParser::NUMBER}));
  return isForeign ? Answer(here(error::LoopForm())) : std::nullopt;
}

/// A brace on a new line.
Explanation::Answer Explanation::bracketOnNewLine() const {
  if (!expects(NetParser::LBRACE) || expectsExpr())
    return std::nullopt;
  if (is(found, {NetParser::NL}) && is(after, {NetParser::LBRACE}))
    return at(after, error::BraceOnNewLine());
  if (is(found, {NetParser::COLON}))
    return here(error::ColonForBody());
  return std::nullopt;
}

/// An `if` inside of an expression.
Explanation::Answer Explanation::condition() const {
  auto *choice = dynamic_cast<NetParser::CondContext *>(rule);
  if (!choice)
    return std::nullopt;
  if (expects(NetParser::THEN) && is(found, {NetParser::LBRACE}))
    return here(error::IfWithBraces());
  if (expects(NetParser::ELSE) && is(found, {NetParser::NL, Token::EOF}))
    return SyntaxError{
        endOf(before), error::IfWithoutElse(),
        SyntaxError::Note{beginOf(choice->getStart()), "the `if` is here"}};
  return std::nullopt;
}

/// A comprehension that ends with its line after `for`, where an `if` could
/// follow.
Explanation::Answer Explanation::comprehension() const {
  if (!inRule({NetParser::RuleComp}) || !is(before, {NetParser::NL}) || !opener)
    return std::nullopt;
  return SyntaxError{
      endOf(neighbour(tokens, before, -1)),
      error::Expected(literal(closerOf(opener)), "", ""),
      SyntaxError::Note{beginOf(opener), "to close this " + quote(opener)}};
}

/// A unit in the wrong place: `680 TPUv3 days`, `between(90, 110) epochs`.
Explanation::Answer Explanation::unit() const {
  Token *word = before,
        *most = before ? neighbour(tokens, before, -1) : nullptr;
  Token *comma = most ? neighbour(tokens, most, -1) : nullptr;
  Token *least = comma ? neighbour(tokens, comma, -1) : nullptr;
  Token *opener = least ? neighbour(tokens, least, -1) : nullptr;
  Token *range = opener ? neighbour(tokens, opener, -1) : nullptr;
  if (range && range->getText() == "between" && is(word, {NetParser::RPAREN}) &&
      is(most, {NetParser::NUMBER}) && is(comma, {NetParser::COMMA}) &&
      is(least, {NetParser::NUMBER}) && is(found, {NetParser::ID}) &&
      sameLine(range, found))
    return here(error::UnitBehindBetween(least->getText(), most->getText(),
                                         found->getText()));
  Token *number = before ? neighbour(tokens, before, -1) : nullptr;
  auto isTime = [](StringRef text) {
    static const StringRef times[] = {"second", "minute", "min",   "hour",
                                      "day",    "week",   "month", "year"};
    text.consume_back("s");
    return is_contained(times, text);
  };
  if (is(found, {NetParser::NUMBER}) && is(before, {NetParser::ID}) &&
      is(number, {NetParser::NUMBER}) && sameLine(number, found))
    return here(isTime(before->getText()) ? error::SumInWords()
                                          : error::DeviceInWords());
  if (is(found, {NetParser::ID}) && is(before, {NetParser::ID}) &&
      is(after, {NetParser::NUMBER}) && found->getText() == "x" &&
      sameLine(before, after) && !isList())
    return at(before,
              error::DeviceBeforeCount(after->getText(), before->getText()));
  if (!is(found, {NetParser::ID}) || !is(before, {NetParser::ID}) ||
      !is(number, {NetParser::NUMBER}) || !sameLine(number, found))
    return std::nullopt;
  std::string text = found->getText();
  if (isTime(text))
    return at(number, error::DeviceTimeInWords(number->getText(),
                                               before->getText(), text));
  std::string suffix = StringSwitch<std::string>(before->getText())
                           .Case("thousand", "k")
                           .Cases("million", "m", "M")
                           .Cases("billion", "b", "B")
                           .Cases("trillion", "t", "T")
                           .Case("x", " ")
                           .Default("");
  bool isRate = text == "per", isShare = before->getText() == "per";
  return here(error::TwoUnits(
      quote(before),
      isRate    ? "; a rate is written `125 TFLOP/s`"
      : isShare ? "; a number is that of all devices together, as in `8 * 4`"
      : suffix.empty()
          ? ""
          : "; write " + quote(number->getText() + suffix +
                               (suffix == " " ? "" : " ") + text)));
}

/// A semicolon at the top level: `a = 1; b = 2`.
Explanation::Answer Explanation::separator() const {
  if (inRule({NetParser::RuleFile}) && is(found, {NetParser::SEMI}))
    return here(error::Semicolon());
  return std::nullopt;
}

/// A body whose end is missing, as the lines before `end` show.
Explanation::Answer Explanation::openBodyBefore(Token *end) const {
  std::optional<OpenBody> body = openBody(tokens, opener, end);
  if (!body)
    return std::nullopt;
  Token *last = neighbour(tokens, body->behind, -1);
  while (is(last, {NetParser::NL}))
    last = neighbour(tokens, last, -1);
  return SyntaxError{
      endOf(last),
      error::Expected("`}`", "", ", as the next line's indentation shows"),
      SyntaxError::Note{beginOf(body->opener), "to close this `{`"}};
}

/// A declaration inside of a body. Most often, the end of the body is missing.
Explanation::Answer Explanation::nestedDeclaration() const {
  bool isHardware =
      is(rule->getStart(), {NetParser::HARDWARE}) && is(found, {NetParser::ID});
  Token *keyword = isHardware ? rule->getStart() : found;
  if (!opener || !isDeclaration(tokens, keyword))
    return std::nullopt;
  if (Answer earlier = openBodyBefore(keyword))
    return earlier;
  return SyntaxError{
      beginOf(keyword),
      error::NestedDeclaration(literal(closerOf(opener)), quote(keyword)),
      SyntaxError::Note{beginOf(opener), "to close this " + quote(opener)}};
}

/// Text that is not a statement.
Explanation::Answer Explanation::statement() const {
  Message advice = error::LoneExpression(
      enclosing<NetParser::BlockDeclContext>() ? ", or `return` it" : "");

  bool begins = inRule({NetParser::RuleFile, NetParser::RuleBody}) &&
                expects(NetParser::EXPECT);
  // A text that documents, and `-- why`.
  if (begins && (is(found, {NetParser::STRING}) ||
                 (is(found, {NetParser::MINUS}) &&
                  is(after, {NetParser::MINUS}) && adjacent(found, after))))
    return here(error::ForeignComment());
  if (begins &&
      (is(found, {NetParser::NUMBER, NetParser::RATE, NetParser::DEVTIME,
                  NetParser::STRING, NetParser::MINUS, NetParser::NOT,
                  NetParser::REPEAT, NetParser::SCAN, NetParser::TRUE,
                  NetParser::FALSE}) ||
       isOpener(found)))
    return here(advice);

  if (!isBinding())
    return std::nullopt;
  Token *start = rule->getStart();
  if (is(found, {NetParser::DOT, NetParser::LBRACKET, NetParser::LPAREN})) {
    unsigned depth = 0;
    for (Token *token = found; !is(token, {NetParser::NL, Token::EOF});
         token = neighbour(tokens, token, +1)) {
      depth += isOpener(token);
      depth -= isCloser(token) && depth;
      if (!depth && is(token, {NetParser::ASSIGN}))
        return at(
            start,
            error::BoundElement(
                (is(found, {NetParser::DOT}) ? after : start)->getText()));
    }
  }
  Token *colon = neighbour(tokens, start, +1);
  if (is(found, {NetParser::EQ}) && found == colon)
    return here(error::ComparisonAsBinding(start->getText(),
                                           after ? after->getText() : "3"));
  if (is(colon, {NetParser::COLON}) &&
      (is(found, {NetParser::ASSIGN}) ||
       !is(neighbour(tokens, colon, +1), {NetParser::LBRACKET})))
    return at(colon, error::ColonForValue());
  if (is(colon, {NetParser::COLON}))
    return SyntaxError{endOf(before),
                       error::Expected("`=` and a value", "", "")};
  if (isInfix(found) || isOpener(found) || isCloser(found) ||
      is(found, {NetParser::NL, NetParser::SEMI, Token::EOF}))
    return at(start, advice);
  return SyntaxError{endOf(before),
                     error::Expected("`=`", " after " + quote(before),
                                     ", found " + describe(found))};
}

/// The possible replacements for `found`, most informative first.
SmallVector<std::string> Explanation::expectations() const {
  if (isJobHead() && isAfterExpr())
    return {literal(NetParser::ON), literal(NetParser::AS),
            literal(NetParser::LBRACE)};
  if (isAfterExpr() && expects(NetParser::NL) &&
      !is(opener, {NetParser::LPAREN, NetParser::LBRACKET}))
    return {"an operator", inRule({NetParser::RuleSetting})
                               ? literal(NetParser::COMMA)
                               : "a new line"};
  if (is(found, {Token::EOF}) && opener)
    return {literal(closerOf(opener))};
  SmallVector<std::string> list;
  if (expects(NetParser::EXPECT))
    list.push_back("a statement");
  else if (expectsExpr())
    list.push_back(anExpression);
  else if (expects(NetParser::ID) && !isAfterExpr())
    list.push_back("a name");
  else if (expects(NetParser::STRING))
    list.push_back("a string");
  // The parser has left the list, since it saw no comma or nothing after one.
  if (list.empty() && isList()) {
    if (is(before, {NetParser::COMMA}))
      list.push_back(inRule({NetParser::RuleParams}) ? "a name" : anExpression);
    else if (isAfterExpr() && !expects(NetParser::COMMA))
      list.push_back("`,`");
  }
  for (size_t type :
       {NetParser::ASSIGN, NetParser::COMMA, NetParser::COLON, NetParser::THEN,
        NetParser::ELSE, NetParser::IN, NetParser::OVER, NetParser::LPAREN,
        NetParser::LBRACE, NetParser::RPAREN, NetParser::RBRACKET,
        NetParser::RBRACE}) {
    bool beginsExpr =
        expectsExpr() &&
        is_contained({NetParser::LPAREN, NetParser::LBRACE}, type);
    bool isCall = type == NetParser::LPAREN && isAfterExpr();
    bool isName =
        type == NetParser::OVER && (expectsExpr() || expects(NetParser::INFER));
    if (expects(type) && !beginsExpr && !isCall && !isName)
      list.push_back(literal(type));
  }
  if (expects(NetParser::NL) && list.empty())
    list.push_back("a new line");
  return list;
}

/// A bracket too many. A job needs no body, so the `{` of its keys may be
/// missing without an error.
SyntaxError Explanation::closesNothing() const {
  SyntaxError error = here(error::ClosesNothing(quote(found)));
  if (!is(found, {NetParser::RBRACE}) || opener)
    return error;
  unsigned depth = 0;
  for (Token *token = neighbour(tokens, found, -1); token;
       token = neighbour(tokens, token, -1)) {
    if (is(token, {NetParser::LBRACE}) && depth-- == 0)
      break;
    depth += is(token, {NetParser::RBRACE});
    if (depth == 0 && is(token, {NetParser::TRAIN, NetParser::INFER}) &&
        beginsLine(tokens, token)) {
      error.note = {beginOf(token), "a `{` may be missing on this line"};
      break;
    }
  }
  return error;
}

/// An explanation from the grammar alone.
SyntaxError Explanation::general() const {
  if (isCloser(found) &&
      (!opener || (isBody && found->getType() != closerOf(opener))))
    return closesNothing();
  if (is(found, {NetParser::ASSIGN}) && expects(NetParser::EXPECT))
    return here(error::ValueWithoutName());
  if (is(firstOfLine(tokens, found), {NetParser::IMPORT}))
    return here(error::ImportArgument());
  if (opener && is(found, {Token::EOF}))
    if (Answer earlier = openBodyBefore(found))
      return *earlier;

  // Report an incomplete line at its end, not at the start of the next one.
  bool isLineEnd =
      is(found, {NetParser::NL, Token::EOF}) ||
      (before && !sameLine(before, found) && !expects(NetParser::EXPECT));
  SyntaxError error{isLineEnd && before ? endOf(before) : beginOf(found), {}};
  SmallVector<std::string> list = expectations();
  Token *keyword = before ? neighbour(tokens, before, -1) : nullptr;
  if (is(before, {NetParser::ID}) && expects(NetParser::LPAREN) &&
      is(keyword, {NetParser::NET, NetParser::BLOCK})) {
    bool isNet = is(keyword, {NetParser::NET});
    std::string name = before->getText();
    error.message = error::Expected(
        isNet ? "inputs" : "parameters", " after " + quote(before),
        ", as in " + quote(isNet ? "net " + name + "(x: f32[N, 8])"
                                 : "block " + name + "(x)"));
  } else if (dynamic_cast<NetParser::RepeatContext *>(rule) &&
             expects(NetParser::LBRACE)) {
    error.message =
        error::Expected("`{`", "", ", as in `repeat 3 { Linear(8) }`");
  } else if (list.empty()) {
    error.message = error::Unexpected(describe(found), "");
  } else {
    std::string last = list.pop_back_val();
    bool isAfter =
        before && !is(before, {NetParser::NL}) && last == anExpression;
    error.message =
        error::Expected(join(list, ", ") + (list.empty() ? "" : " or ") + last,
                        isAfter ? " after " + quote(before) : "",
                        isLineEnd ? "" : ", found " + describe(found));
  }
  if (opener && expects(closerOf(opener)) &&
      (isLineEnd || isCloser(found) || isKeyword(found)))
    error.note = {beginOf(opener), "to close this " + quote(opener)};
  return error;
}

} // namespace

std::optional<SyntaxError> explain(Parser *parser, Token *found,
                                   const SyntaxError *earlier) {
  Explanation explanation(parser, found);
  if (earlier && explanation.mayFollowFrom(*earlier))
    return std::nullopt;
  return explanation.get();
}

} // namespace netc
