// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "grammar/NetParser.h"
#include "lib/Frontend/Explanation.h"
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
  if (is(found, {NetParser::RANGE}) && expectsExpr() &&
      is(after, {NetParser::NUMBER, NetParser::ID}))
    return here(error::OpenRange("begins at 0: `0.." + after->getText() + "`"));
  if (is(before, {NetParser::RANGE}) &&
      is(found, {NetParser::RBRACKET, NetParser::COMMA}))
    return at(before, error::OpenRange("ends at the size of the axis, such as "
                                       "`x.T`, or at the `len` of the list"));
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

} // namespace netc
