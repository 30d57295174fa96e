// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Parser.h"
#include "lib/Diagnostics/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "test/Frontend/Specifications.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace antlr4;
using namespace llvm;
using namespace netc;

namespace {

/// What a text's parse said, each as `line:col: message [id]`, notes behind
/// their error and led by `note: `.
struct Parse {
  explicit Parse(StringRef text, const Limits &limits = {}) {
    mlir::ScopedDiagnosticHandler handler(
        &context, [this](mlir::Diagnostic &diagnostic) {
          add("", diagnostic);
          lines.push_back(diagnostic.getLocation()
                              ->findInstanceOf<mlir::FileLineColLoc>()
                              .getLine());
          for (const mlir::Diagnostic &note : diagnostic.getNotes())
            add("note: ", note);
        });
    file = parse(&context, "a.net", text, limits);
  }

  void add(StringRef prefix, const mlir::Diagnostic &diagnostic) {
    auto place =
        diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
    raw_string_ostream os(messages);
    os << prefix << place.getLine() << ':' << place.getColumn() << ": "
       << diagnostic.str();
    if (StringRef id = idAndSubject(diagnostic.getLocation()).first;
        !id.empty())
      os << " [" << id << ']';
    os << '\n';
  }

  bool isClean() const { return !file->hasErrors(); }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string messages;
  std::vector<unsigned> lines;
  std::unique_ptr<SourceFile> file;
};

std::string read(StringRef path) {
  return (*MemoryBuffer::getFile(path))->getBuffer().str();
}

/// Counts what a grammar should not need.
struct AmbiguityCounter : DiagnosticErrorListener {
  void reportAmbiguity(antlr4::Parser *, const dfa::DFA &, size_t, size_t, bool,
                       const antlrcpp::BitSet &, atn::ATNConfigSet *) override {
    ++ambiguities;
  }
  void reportAttemptingFullContext(antlr4::Parser *, const dfa::DFA &, size_t,
                                   size_t, const antlrcpp::BitSet &,
                                   atn::ATNConfigSet *) override {
    ++fallbacks;
  }
  void reportContextSensitivity(antlr4::Parser *, const dfa::DFA &, size_t,
                                size_t, size_t, atn::ATNConfigSet *) override {
    ++fallbacks;
  }
  void syntaxError(Recognizer *, Token *, size_t, size_t, const std::string &,
                   std::exception_ptr) override {
    ++errors;
  }
  unsigned ambiguities = 0, fallbacks = 0, errors = 0;
};

} // namespace

TEST(Parser, SpecificationsAreUnambiguous) {
  std::vector<std::string> paths;
  addSpecifications("test/Frontend/Inputs", paths);
  EXPECT_EQ(paths.size(), 3u);
  addSpecifications("lib/Std", paths);
  addSpecifications("examples", paths);
  for (const std::string &path : paths) {
    SCOPED_TRACE(path);
    ANTLRInputStream input(read(path));
    NetLexer lexer(&input);
    NewlineFilter filter(lexer);
    CommonTokenStream tokens(&filter);
    NetParser parser(&tokens);
    AmbiguityCounter counter;
    parser.removeErrorListeners();
    parser.addErrorListener(&counter);
    parser.setProfile(true);
    parser.getInterpreter<atn::ParserATNSimulator>()->setPredictionMode(
        atn::PredictionMode::LL_EXACT_AMBIG_DETECTION);
    parser.file();
    EXPECT_EQ(counter.errors, 0u);
    EXPECT_EQ(counter.ambiguities, 0u);
    EXPECT_EQ(counter.fallbacks, 0u);
    for (const atn::DecisionInfo &decision :
         parser.getParseInfo().getDecisionInfo())
      EXPECT_LE(decision.SLL_MaxLook, 2) << "decision " << decision.decision;
  }
}

// Whatever token is missing, netc finds an error or a program, mostly one error
// and mostly there.
TEST(Parser, TokenDeletion) {
  size_t wrong = 0, near = 0, single = 0;
  std::vector<std::string> paths;
  addSpecifications("test/Frontend/Inputs", paths);
  for (const std::string &path : paths) {
    std::string text = read(path);
    EXPECT_TRUE(Parse(text).isClean());
    ANTLRInputStream input(text);
    NetLexer lexer(&input);
    for (const std::unique_ptr<Token> &token : lexer.getAllTokens()) {
      std::string less = text;
      less.erase(token->getStartIndex(), token->getText().size());
      Parse parse(less);
      EXPECT_NE(parse.isClean(), !parse.lines.empty());
      if (parse.isClean())
        continue;
      ++wrong;
      single += parse.lines.size() == 1;
      near += std::abs(long(parse.lines.front()) - long(token->getLine())) <= 2;
    }
  }
  EXPECT_GE(100.0 * near / wrong, 95);
  EXPECT_GE(100.0 * single / wrong, 90);
}

// What can be read is in the tree, whatever stands around it.
TEST(Parser, TreeOfErrors) {
  Parse parse("a = 1\nb = (2 +\nblock F(x) {\n  y = g(x\n  return y\n}\n"
              "c = 3 4\nd = 5\n");
  EXPECT_FALSE(parse.isClean());
  EXPECT_FALSE(parse.messages.empty());
  std::vector<std::string> names;
  for (NetParser::ItemContext *item : parse.file->tree()->item())
    if (auto *bind = ruleCast<NetParser::BindContext>(item->stmt()))
      names.push_back(bind->target(0)->getText());
    else if (NetParser::BlockDeclContext *block = item->blockDecl())
      names.push_back(block->ID()->getText());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "F", "c", "d"}));
}

// Text that is not read at all has the tree of an empty one; what is nested too
// deeply, that of what stands before it.
TEST(Parser, TreeOfUnreadableText) {
  for (StringRef text : {"a = 1\xff\n", "a = \x01\n"}) {
    Parse parse(text);
    EXPECT_FALSE(parse.isClean());
    EXPECT_TRUE(parse.file->tree()->item().empty());
  }
  Limits limits;
  limits.maxDepth = 40;
  Parse deep("a = 1\nb = " + std::string(100, '(') + "\n", limits);
  EXPECT_FALSE(deep.isClean());
  ASSERT_EQ(deep.file->tree()->item().size(), 2u);
  EXPECT_EQ(deep.file->tree()->item(0)->getText(), "a=1");
}

TEST(Parser, Ranges) {
  Parse parse("a = 1\nblock F(x) {\n  return \"\u00e9\"\n}\n");
  NetParser::FileContext *file = parse.file->tree();
  SourceRange a = rangeOf(file->item(0)), block = rangeOf(file->item(1));
  EXPECT_TRUE((a.begin == TextPlace{1, 1} && a.end == TextPlace{1, 6}));
  EXPECT_TRUE((block.begin == TextPlace{2, 1} && block.end == TextPlace{4, 2}));
  SourceRange text =
      rangeOf(file->item(1)->blockDecl()->body()->stmt(0)->getStop());
  EXPECT_TRUE((text.begin == TextPlace{3, 10} && text.end == TextPlace{3, 13}));
}

TEST(Parser, LeftSpine) {
  Parse parse("y = a + b(1) |> f\n");
  ASSERT_TRUE(parse.isClean());
  auto *bind = dynamic_cast<NetParser::BindContext *>(
      parse.file->tree()->item(0)->stmt());
  ASSERT_TRUE(bind);
  auto spine = leftSpine(bind->expr());
  ASSERT_EQ(spine.size(), 3u);
  EXPECT_EQ(spine[0]->getText(), "a");
  EXPECT_EQ(spine[1]->getText(), "a+b(1)");
  EXPECT_EQ(spine[2]->getText(), "a+b(1)|>f");
}

TEST(Parser, Locations) {
  auto columnOf = [](StringRef text) {
    Parse parse(text);
    auto *bind = dynamic_cast<NetParser::BindContext *>(
        parse.file->tree()->item(0)->stmt());
    return mlir::cast<mlir::FileLineColLoc>(locationOf(bind->expr()))
        .getColumn();
  };
  EXPECT_EQ(columnOf("y = abc + d\n"), 9u);
  EXPECT_EQ(columnOf("y = abc |> d\n"), 9u);
  EXPECT_EQ(columnOf("y = abc(d)\n"), 5u);
  EXPECT_EQ(columnOf("y = abc[d]\n"), 5u);
  EXPECT_EQ(columnOf("y = abc.d\n"), 9u);
  EXPECT_EQ(columnOf("y = -abc\n"), 5u);
  EXPECT_EQ(columnOf("y = \"\u00e9\u00e9\" + d\n"), 10u);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Parses `text` and a newline.
static std::string errorsIn(StringRef text) {
  Parse parse((text + "\n").str());
  EXPECT_FALSE(parse.isClean()) << text.str();
  return parse.messages;
}

TEST(SyntaxErrors, Slips) {
  EXPECT_EQ(errorsIn("a = 4%2"), "1:5: `4%` is a percentage; for a remainder "
                                 "write `4 % 2` [percentage-as-remainder]\n");
  EXPECT_EQ(errorsIn("a = 4%n"), "1:5: `4%` is a percentage; for a remainder "
                                 "write `4 % n` [percentage-as-remainder]\n");
  EXPECT_EQ(errorsIn("a = 4%(2)"),
            "1:5: `4%` is a percentage; for a remainder write `4 % (...)` "
            "[percentage-as-remainder]\n");
  EXPECT_EQ(errorsIn("a = 1K"),
            "1:5: `1K` could mean two things; write `1k` for times 1,000 or "
            "`1Ki` for times 1,024 [ambiguous-k]\n");
  EXPECT_EQ(errorsIn("a = 7 B"),
            "1:5: `7 B` could mean two things; write `7B` for 7 billion, or "
            "bytes with a prefix, as in `7 GB` [ambiguous-b]\n");
  EXPECT_EQ(errorsIn("hardware = 8 A100-80GB"),
            "1:14: `A100-80GB` is a subtraction, not a name; write `A100_80GB` "
            "[subtraction-as-name]\n");
  EXPECT_EQ(errorsIn("took = 680 TPUv3 days"),
            "1:8: a device's time is one word; write `680 TPUv3-days` "
            "[device-time-in-words]\n");
  EXPECT_EQ(
      errorsIn("a = 3 GB GB"),
      "1:10: a number has one unit, and `GB` is one already [two-units]\n");
}

TEST(SyntaxErrors, Statements) {
  EXPECT_EQ(errorsIn("block F(x) {\n  x |> relu\n}"),
            "2:3: an expression alone is not a statement; name its value, as "
            "in `y = ...`, or `return` it [lone-expression]\n");
  EXPECT_EQ(errorsIn("relu(x)"),
            "1:1: an expression alone is not a statement; name its value, as "
            "in `y = ...` [lone-expression]\n");
  EXPECT_EQ(errorsIn("3 + 4"),
            "1:1: an expression alone is not a statement; name its value, as "
            "in `y = ...` [lone-expression]\n");
  EXPECT_EQ(errorsIn("x: [N]"), "1:7: expected `=` and a value [expected]\n");
  EXPECT_EQ(errorsIn("x 3"),
            "1:2: expected `=` after `x`, found `3` [expected]\n");
  for (auto [text, name] :
       {std::pair("x.y = 3", "y"), std::pair("x[0] = 3", "x"),
        std::pair("f(x) = 3", "f")})
    EXPECT_EQ(errorsIn(text), "1:1: only a name can be bound, as in `" +
                                  std::string(name) +
                                  " = ..`; values do not change in place "
                                  "[bound-element]\n");
  EXPECT_EQ(errorsIn("x =\ny = 3"),
            "1:4: expected an expression after `=` [expected]\n");
  EXPECT_EQ(errorsIn("x = a +\ny = 3"),
            "1:8: expected an expression after `+` [expected]\n");
  EXPECT_EQ(errorsIn("= 3"),
            "1:1: expected a name before `=` [value-without-name]\n");
  EXPECT_EQ(errorsIn("a = 1; b = 2"),
            "1:6: at the top level every statement has its own line; begin a "
            "new line instead of `;` [semicolon]\n");
  EXPECT_EQ(errorsIn("a = b c"),
            "1:7: expected an operator or a new line, found `c` [expected]\n");
  EXPECT_EQ(errorsIn("repeat = 3"),
            "1:1: `repeat` is a word of the language and cannot name a "
            "value; choose another name [reserved-word]\n");
  EXPECT_EQ(errorsIn("x = {a = 1 b = 2}"),
            "1:12: expected `,` before `b` [missing-separator]\n");
  EXPECT_EQ(errorsIn("x = 1 y = 2"),
            "1:7: expected a new line before `y` [missing-separator]\n");
  EXPECT_EQ(errorsIn("expect a ~"),
            "1:11: expected an expression after `~` [expected]\n");
  EXPECT_EQ(errorsIn("require x, y"),
            "1:12: expected a string, found `y` [expected]\n");
  EXPECT_EQ(errorsIn("hardware {"),
            "1:10: unexpected `{` after `hardware` [unexpected]\n");
}

TEST(SyntaxErrors, Conditions) {
  EXPECT_EQ(errorsIn("x = if a { 1 } else { 2 }"),
            "1:10: an `if` inside an expression is written `if a then b else "
            "c` [if-with-braces]\n");
  EXPECT_EQ(
      errorsIn("x = if a then b\ny = 3"),
      "1:16: an `if` inside an expression needs an `else` [if-without-else]\n"
      "note: 1:5: the `if` is here\n");
  EXPECT_EQ(errorsIn("if x = 3 { }"),
            "1:6: `=` gives a name its value; a comparison is written `==` "
            "[assignment-as-comparison]\n");
  EXPECT_EQ(errorsIn("if x\n{ }"),
            "2:1: `{` stands at the end of the line above; on a line of its "
            "own it begins something new [brace-on-new-line]\n");
  EXPECT_EQ(errorsIn("for i in x:"),
            "1:11: a body is written in braces: `{ ... }` [colon-for-body]\n");
}

TEST(SyntaxErrors, Brackets) {
  EXPECT_EQ(errorsIn("x = f(a\ny = 3"), "1:8: expected `,` or `)` [expected]\n"
                                        "note: 1:6: to close this `(`\n");
  EXPECT_EQ(errorsIn("x = f(a b)"),
            "1:9: expected `,` or `)`, found `b` [expected]\n");
  EXPECT_EQ(errorsIn("x = [1, 2"), "1:10: expected `,` or `]` [expected]\n"
                                   "note: 1:5: to close this `[`\n");
  EXPECT_EQ(errorsIn("x = [i for i in y\nz = 3"),
            "1:18: expected `]` [expected]\n"
            "note: 1:5: to close this `[`\n");
  EXPECT_EQ(errorsIn("x = (a]"), "1:7: expected `)`, found `]` [expected]\n"
                                 "note: 1:5: to close this `(`\n");
  EXPECT_EQ(errorsIn("x = f(a, =)"),
            "1:10: expected an expression or `)`, found `=` [expected]\n");
  EXPECT_EQ(errorsIn("x = {a = 1, =}"),
            "1:13: expected a name after `,`, found `=` [expected]\n");
  EXPECT_EQ(errorsIn("x = [a, =]"),
            "1:9: expected an expression after `,`, found `=` [expected]\n");
  EXPECT_EQ(errorsIn("x = f(a; b, =)"),
            "1:13: expected an expression or `)`, found `=` [expected]\n");
  EXPECT_EQ(errorsIn("block F(x, 3) = x"),
            "1:12: expected a name after `,`, found `3` [expected]\n");
  EXPECT_EQ(errorsIn("for i in x 3"),
            "1:12: a loop is written `for i in 0..3 { ... }` [loop-form]\n");
  EXPECT_EQ(errorsIn("a = 3)"), "1:6: `)` closes nothing [closes-nothing]\n");
  EXPECT_EQ(errorsIn("}"), "1:1: `}` closes nothing [closes-nothing]\n");
  EXPECT_EQ(errorsIn("block F(x) {\n  return x\n\nblock G(x) = x"),
            "4:1: expected `}` before `block`, which stands only at the top "
            "level [nested-declaration]\n"
            "note: 1:12: to close this `{`\n");
  EXPECT_EQ(errorsIn("block F(x) {\n  hardware A100 { }\n}"),
            "2:3: expected `}` before `hardware`, which stands only at the top "
            "level [nested-declaration]\n"
            "note: 1:12: to close this `{`\n");
  // The parser makes up the bracket that is missing.
  EXPECT_EQ(errorsIn("if a x\ndataset D"),
            "1:6: expected `{`, found `x` [expected]\n"
            "2:10: expected `{` [expected]\n");
  EXPECT_EQ(errorsIn("a = b for in\nhardware D"),
            "1:7: expected an operator or a new line, found `for` [expected]\n"
            "2:10: expected `=` or `,`, found `D` [expected]\n");
  EXPECT_EQ(errorsIn("train A {\n  batch = 3"),
            "2:13: expected `}` [expected]\n"
            "note: 1:9: to close this `{`\n");
  EXPECT_EQ(errorsIn("block F(x) {\n  y = 3 4\n"),
            "2:9: expected an operator or a new line, found `4` [expected]\n");
}

TEST(SyntaxErrors, OtherLanguages) {
  EXPECT_EQ(errorsIn("x = a && b"),
            "1:7: the logical operator is written `and` [logical-operator]\n");
  EXPECT_EQ(errorsIn("x = a || b"),
            "1:7: the logical operator is written `or` [logical-operator]\n");
  EXPECT_EQ(errorsIn("x = a | b"),
            "1:7: `|` means nothing alone; the pipe is `|>` [lone-bar]\n");
  EXPECT_EQ(errorsIn("x = !a"),
            "1:5: the logical operator is written `not` [logical-operator]\n");
  EXPECT_EQ(errorsIn("x = a ? b : c"),
            "1:7: a choice is written `if a then b else c` [question-mark]\n");
  EXPECT_EQ(errorsIn("x = a \\"),
            "1:7: a line goes on by itself after an operator or a comma, "
            "without `\\` [backslash]\n");
  EXPECT_EQ(errorsIn("x = 2 ** 3"),
            "1:7: a power is written `^` [foreign-power]\n");
  EXPECT_EQ(errorsIn("x += 3"),
            "1:3: `x += ...` is written `x = x + ...` [compound-assignment]\n");
  EXPECT_EQ(errorsIn("// comment"),
            "1:1: `//` divides; a comment begins with `#` [slashes]\n");
  EXPECT_EQ(errorsIn("x = 3 // a comment"),
            "1:7: `//` divides; a comment begins with `#` [slashes]\n");
  EXPECT_EQ(errorsIn("/* comment */"),
            "1:1: a comment begins with `#` [foreign-comment]\n");
  EXPECT_EQ(errorsIn("f = { a: 3 }"), "1:8: a value is given with `=`, as in "
                                      "`name = value` [colon-for-value]\n");
  EXPECT_EQ(errorsIn("x = 'abc'"),
            "1:5: a string is written in double quotes [single-quotes]\n");
  EXPECT_EQ(
      errorsIn("let x = 3"),
      "1:1: a binding needs no keyword, as in `x = 3` [foreign-binding]\n");
  EXPECT_EQ(errorsIn("def f(x)"),
            "1:1: a reusable part is a `block`, as in `block Name(x; size) { "
            "... }` [foreign-declaration]\n");
  EXPECT_EQ(
      errorsIn("while x { }"),
      "1:1: every loop has a bound: use `for`, `repeat` or `scan` [while]\n");
  EXPECT_EQ(errorsIn("if a { } elif b { }"),
            "1:10: `elif` is written `else if` [elif]\n");
  EXPECT_EQ(errorsIn("blok F(x) = x"), "1:1: unknown statement `blok`; did you "
                                       "mean `block`? [unknown-statement]\n");
  EXPECT_EQ(errorsIn("x = $"),
            "1:5: `$` has no meaning here [stray-character]\n");
}

TEST(SyntaxErrors, Characters) {
  EXPECT_EQ(errorsIn("x = \"abc"),
            "1:5: this string is not closed on its line [open-string]\n");
  EXPECT_EQ(errorsIn("x = \"a\\q\""),
            "1:5: a string knows the escapes `\\n`, `\\t`, `\\\"` and `\\\\` "
            "only [unknown-escape]\n");
  EXPECT_EQ(errorsIn("x = a \u2212 b"),
            "1:7: `\u2212` (U+2212) is not in the language; did you mean `-`? "
            "[foreign-character]\n");
  EXPECT_EQ(errorsIn("x = \u201ca\u201d"),
            "1:5: `\u201c` (U+201C) is not in the language; did you mean `\"`? "
            "[foreign-character]\n");
  EXPECT_EQ(errorsIn("x = 3\u00a0GB"),
            "1:6: the space U+00A0 is not a plain space [unusual-space]\n");
  EXPECT_EQ(errorsIn("x = \u200b3"),
            "1:5: U+200B is not in the language; names are written in ASCII "
            "letters, digits and `_` [foreign-character]\n");
  EXPECT_EQ(errorsIn("gr\u00f6\u00dfe = 3"),
            "1:3: `\u00f6` (U+00F6) is not in the language; names are written "
            "in ASCII letters, digits and `_` [foreign-character]\n");
}

TEST(SyntaxErrors, OneALineAndThenACount) {
  Parse few("x y 3 4\nz\n");
  EXPECT_EQ(few.lines, (std::vector<unsigned>{1, 2}));

  Limits limits;
  limits.maxErrors = 2;
  Parse many("a\nb\nc\nd\ne\n", limits);
  EXPECT_EQ(many.lines, (std::vector<unsigned>{1, 2}));
  EXPECT_NE(many.messages.find("3 more lines have syntax errors "
                               "(`--max-errors`)"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Hostile input
//===----------------------------------------------------------------------===//

static std::string repeated(StringRef part, size_t count) {
  std::string text;
  for (size_t i = 0; i != count; ++i)
    text += part;
  return text;
}

TEST(HostileInput, BadText) {
  EXPECT_EQ(errorsIn("x = \"\xff\""),
            "1:6: byte 0xFF is not valid UTF-8 [not-utf-8]\n");
  EXPECT_EQ(errorsIn("\nx = \xc0\x80"),
            "2:5: byte 0xC0 is not valid UTF-8 [not-utf-8]\n");
  EXPECT_EQ(errorsIn("# \u00e9\xe2\x82"),
            "1:4: byte 0xE2 is not valid UTF-8 [not-utf-8]\n");
  EXPECT_EQ(
      errorsIn(StringRef("x = \0", 5)),
      "1:5: control character U+0000 is not allowed [control-character]\n");
  EXPECT_EQ(
      errorsIn("# \x1b[31m"),
      "1:3: control character U+001B is not allowed [control-character]\n");
  EXPECT_EQ(
      errorsIn("# \u0085"),
      "1:3: control character U+0085 is not allowed [control-character]\n");
  EXPECT_EQ(errorsIn("# \u00e9 \u202e"),
            "1:5: U+202E is not allowed: it reorders the text around it "
            "[reordering-character]\n");
  EXPECT_EQ(errorsIn("# \u2066"), "1:3: U+2066 is not allowed: it reorders the "
                                  "text around it [reordering-character]\n");
  EXPECT_EQ(
      errorsIn("a = 1\rb = 2"),
      "1:6: a carriage return stands without a newline [carriage-return]\n");
}

TEST(HostileInput, GoodText) {
  EXPECT_TRUE(Parse("\ufeffa = 1\r\nb = \"\u6f22\" # \u00e9\r\n").isClean());
  EXPECT_TRUE(Parse("").isClean());
}

TEST(HostileInput, Size) {
  Limits limits;
  limits.maxInputBytes = 5;
  EXPECT_TRUE(Parse("a=12\n", limits).isClean());
  EXPECT_EQ(Parse("a=123\n", limits).messages,
            "1:1: the file has more than 5 bytes; `--max-input` allows more "
            "[input-too-long]\n");
}

TEST(HostileInput, Nesting) {
  const size_t levels = 100'000;
  for (StringRef opener : {"(", "[", "{a = ", "-", "not ", "f(", "1 ^ ",
                           "if a then b else ", "repeat 2 {"})
    EXPECT_NE(errorsIn("x = " + repeated(opener, levels) + "1")
                  .find("nested more than 512 deep; `--max-depth` allows more "
                        "[nested-too-deep]"),
              std::string::npos)
        << opener.str();
  for (StringRef opener : {"if a {", "train A {", "if a { } else "})
    EXPECT_NE(errorsIn(repeated(opener, levels)).find("`--max-depth`"),
              std::string::npos)
        << opener.str();
}

TEST(HostileInput, FlatChains) {
  for (StringRef link : {" + 1", "(1)", "[1]", ".a", " |> f", " and b"})
    EXPECT_TRUE(Parse("x = 1" + repeated(link, 100'000) + "\n").isClean())
        << link.str();
  EXPECT_TRUE(Parse("x = [" + repeated("1, ", 100'000) + "]\n").isClean());
  EXPECT_TRUE(Parse(repeated("a = 1\n", 100'000)).isClean());
}

// The time that errors take grows with the text, not with its square.
TEST(HostileInput, ManyErrors) {
  for (StringRef part : {"\\\"", "\"", ")", "(\n", "@ $ x y\n", "block A\n",
                         "block A(x) {\n", "x = \"a\\q\"\n", "1 a-"})
    EXPECT_FALSE(Parse(repeated(part, 50'000)).isClean()) << part.str();
}
