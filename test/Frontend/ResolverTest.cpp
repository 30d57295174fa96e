// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Resolver.h"

#include "grammar/NetLexer.h"
#include "lib/Frontend/NewlineFilter.h"
#include "lib/Frontend/SyntaxErrors.h"
#include "test/Frontend/Specifications.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace antlr4;
using namespace llvm;
using namespace netc;

namespace {

/// The names of a text, which may have errors.
struct Names {
  explicit Names(StringRef text)
      : input(text.str()), lexer(&input), filter(lexer), tokens(&filter),
        parser(&tokens) {
    parser.removeErrorListeners();
    parser.setErrorHandler(strategy);
    tokens.fill();
    tree = parser.file();
    resolver = std::make_unique<Resolver>(tree);
  }

  /// The mention of a name in a line, from 1; the first one there.
  const Mention &at(StringRef name, size_t line) const {
    auto found = find_if(resolver->mentions(), [&](const Mention &each) {
      return each.name == name && each.token->getLine() == line;
    });
    EXPECT_NE(found, resolver->mentions().end()) << name.str();
    return *found;
  }
  /// The line of what a name in a line means; 0 if it means nothing here.
  size_t meaningAt(StringRef name, size_t line) const {
    const Declaration *meant = at(name, line).declaration;
    return meant ? rangeOf(meant->tree).begin.line : 0;
  }
  /// All that have a kind.
  std::vector<std::string> named(Declaration::Kind kind) const {
    std::vector<std::string> names;
    for (const Declaration &each : resolver->declarations())
      if (each.kind == kind)
        names.push_back(each.name);
    return names;
  }

  ANTLRInputStream input;
  NetLexer lexer;
  NewlineFilter filter;
  CommonTokenStream tokens;
  NetParser parser;
  std::shared_ptr<SyntaxErrorStrategy> strategy =
      std::make_shared<SyntaxErrorStrategy>(20);
  NetParser::FileContext *tree;
  std::unique_ptr<Resolver> resolver;
};

using List = std::vector<std::string>;

} // namespace

TEST(Resolver, Declarations) {
  Names names("import std.vision as v\n"
              "import \"a.net\"\n"
              "k = 2\n"
              "block B(x: [N, d], m; h = 1, p) {\n"
              "  y: [N, e] = x\n"
              "  for i in 0..2 {\n"
              "    z = y\n"
              "  }\n"
              "  l = [j for j in 0..2]\n"
              "  r = repeat t in 0..2 { B(t) }\n"
              "  s = scan u in x over T carry c = y { c' = u; yield c' }\n"
              "  return out = z\n"
              "}\n"
              "net M(x: f32[N, C = 3]) = x\n"
              "dataset D { examples = 10 }\n"
              "hardware Card { peak = 1 TFLOP/s }\n"
              "train M on D as run { batch = 2 }\n"
              "train M\n");
  EXPECT_EQ(names.named(Declaration::Import), (List{"v", ""}));
  EXPECT_EQ(names.named(Declaration::Constant), (List{"k"}));
  EXPECT_EQ(names.named(Declaration::Block), (List{"B"}));
  EXPECT_EQ(names.named(Declaration::Net), (List{"M"}));
  EXPECT_EQ(names.named(Declaration::Dataset), (List{"D"}));
  EXPECT_EQ(names.named(Declaration::Hardware), (List{"Card"}));
  EXPECT_EQ(names.named(Declaration::Run), (List{"run", "M_run"}));
  EXPECT_EQ(names.named(Declaration::Key), (List{"examples", "peak", "batch"}));
  EXPECT_EQ(names.named(Declaration::Tensor), (List{"x", "m", "x"}));
  EXPECT_EQ(names.named(Declaration::Setting), (List{"h", "p"}));
  EXPECT_EQ(names.named(Declaration::Axis), (List{"N", "d", "e", "N", "C"}));
  EXPECT_EQ(names.named(Declaration::Variable),
            (List{"y", "z", "l", "r", "c'", "s"}));
  EXPECT_EQ(names.named(Declaration::LoopVariable), (List{"i", "j", "t", "u"}));
  EXPECT_EQ(names.named(Declaration::Carried), (List{"c"}));
  EXPECT_EQ(names.named(Declaration::Result), (List{"out"}));
}

TEST(Resolver, References) {
  Names names("block B(x: [N, k]; k = 2, w) {\n"
              "  y = x |> Linear(k, bias = w)\n"
              "  y = f(y)\n"
              "  z = y.N + later\n"
              "  return z\n"
              "}\n"
              "later = 3\n"
              "net M(x: f32[N, 4]) = x |> B(w = sum)\n"
              "train M as run { batch = later }\n"
              "expect run.params ~ 3 GB\n");
  // What is read is what was bound last.
  EXPECT_EQ(names.meaningAt("x", 2), 1u);
  EXPECT_EQ(names.at("x", 2).declaration->kind, Declaration::Tensor);
  EXPECT_EQ(names.at("k", 1).role, Mention::MayRead);
  EXPECT_EQ(names.at("k", 1).declaration->kind, Declaration::Setting);
  EXPECT_EQ(names.resolver->mentionsIn(names.tree->item(0))[0].name, "B");
  size_t reads = 0;
  for (const Mention &each : names.resolver->mentions())
    if (each.name == "y" && each.role != Mention::Declares) {
      EXPECT_EQ(rangeOf(each.declaration->tree).begin.line, 2 + reads);
      ++reads;
    }
  EXPECT_EQ(reads, 2u);
  // The top level has no order.
  EXPECT_EQ(names.meaningAt("later", 4), 7u);
  EXPECT_EQ(names.meaningAt("later", 9), 7u);
  EXPECT_EQ(names.meaningAt("M", 9), 8u);
  EXPECT_EQ(names.meaningAt("B", 8), 1u);
  EXPECT_EQ(names.meaningAt("run", 10), 9u);
  // Of another file, or of the language.
  EXPECT_EQ(names.meaningAt("Linear", 2), 0u);
  EXPECT_EQ(names.at("Linear", 2).role, Mention::Reads);
  EXPECT_EQ(names.at("k", 2).role, Mention::MayRead);
  EXPECT_EQ(names.at("sum", 8).role, Mention::MayRead);
  for (auto [name, line] : {std::pair("bias", 2), std::pair("params", 10),
                            std::pair("GB", 10), std::pair("N", 4)})
    EXPECT_EQ(names.at(name, line).role, Mention::Labels) << name;
}

TEST(Resolver, Defaults) {
  Names names("w = 3\n"
              "block B(x: [N, w];\n"
              "  k = w,\n"
              "  w =\n"
              "    w,\n"
              "  h = 2 * w, late =\n"
              "    late) = x |> Linear(w)\n");
  // A pattern sees every setting, a default those in front of its own.
  EXPECT_EQ(names.meaningAt("w", 2), 4u);
  EXPECT_EQ(names.meaningAt("w", 3), 1u);
  EXPECT_EQ(names.meaningAt("w", 5), 1u);
  EXPECT_EQ(names.meaningAt("w", 6), 4u);
  EXPECT_EQ(names.meaningAt("w", 7), 4u);
  // What an imported file may declare is not the setting.
  EXPECT_EQ(names.meaningAt("late", 7), 0u);
}

TEST(Resolver, Scopes) {
  Names names("i = 7\n"
              "block B(x; n = 1) {\n"
              "  if n == 1 {\n"
              "    a = x\n"
              "  } else if n == 2 {\n"
              "    a = n\n"
              "  }\n"
              "  l = [i + a for i in 0..i]\n"
              "  s = scan h in x over T carry c = x {\n"
              "    c' = h + c\n"
              "    yield c'\n"
              "  }\n"
              "  return i\n"
              "}\n");
  const Resolver &resolver = *names.resolver;
  const NameScope &block = resolver.scopeAt({4, 5});
  EXPECT_TRUE(ruleCast<NetParser::BlockDeclContext>(block.tree));
  EXPECT_EQ(block.outer, &resolver.fileScope());
  EXPECT_EQ(&resolver.scopeAt({1, 1}), &resolver.fileScope());
  EXPECT_EQ(&resolver.scopeAt({99, 1}), &resolver.fileScope());
  const NameScope &scan = resolver.scopeAt({10, 5});
  EXPECT_TRUE(ruleCast<NetParser::ScanContext>(scan.tree));
  EXPECT_EQ(scan.outer, &block);
  EXPECT_TRUE(ruleCast<NetParser::ListContext>(resolver.scopeAt({8, 8}).tree));
  // A branch binds for the body around it.
  EXPECT_EQ(names.at("a", 4).declaration->scope, &block);
  EXPECT_EQ(block.names.lookup("a").size(), 2u);
  EXPECT_EQ(names.meaningAt("a", 8), 6u);
  // A comprehension's variable is its own; what it goes through is outside.
  EXPECT_EQ(names.at("i", 8).declaration->kind, Declaration::LoopVariable);
  EXPECT_EQ(names.at("i", 13).declaration->kind, Declaration::Constant);
  const Mention &bound =
      *find_if(reverse(resolver.mentions()), [](const Mention &each) {
        return each.name == "i" && each.token->getLine() == 8;
      });
  EXPECT_EQ(bound.declaration->kind, Declaration::Constant);
  EXPECT_EQ(bound.scope, &block);
  EXPECT_EQ(names.at("h", 10).declaration->kind, Declaration::LoopVariable);
  EXPECT_EQ(names.at("c", 10).declaration->kind, Declaration::Carried);
  EXPECT_EQ(names.at("c'", 11).declaration->kind, Declaration::Variable);
}

TEST(Resolver, Ranges) {
  Names names("block Second(x) {\n"
              "  value = x\n"
              "  return value\n"
              "}\n");
  const Mention &read = names.at("value", 3);
  SourceRange there = rangeOf(read.token);
  EXPECT_TRUE((there.begin == TextPlace{3, 10}));
  EXPECT_TRUE((there.end == TextPlace{3, 15}));
  EXPECT_TRUE(there.contains({3, 14}));
  EXPECT_FALSE(there.contains({3, 15}));
  EXPECT_TRUE((rangeOf(read.declaration->token).begin == TextPlace{2, 3}));
  SourceRange block = rangeOf(names.at("Second", 1).declaration->tree);
  EXPECT_TRUE((block.begin == TextPlace{1, 1}));
  EXPECT_TRUE((block.end == TextPlace{4, 2}));
}

TEST(Resolver, RunsAreNotSeenInBlocks) {
  Names names("block B(x) = sign(x)\n"
              "train M as sign { }\n"
              "expect sign.steps == 1\n");
  EXPECT_EQ(names.meaningAt("sign", 1), 0u);
  EXPECT_EQ(names.meaningAt("sign", 3), 2u);
}

TEST(Resolver, TextWithErrors) {
  Names names("k = 2\n"
              "block B(x; p) {\n"
              "  y = f(x, k\n"
              "  z = y + p\n"
              "  return z\n"
              "}\n"
              "c = 3 4\n"
              "last = k\n"
              "b = (k +\n");
  EXPECT_FALSE(names.strategy->errors.empty());
  EXPECT_EQ(names.meaningAt("x", 3), 2u);
  EXPECT_EQ(names.meaningAt("k", 3), 1u);
  EXPECT_EQ(names.meaningAt("y", 4), 3u);
  EXPECT_EQ(names.meaningAt("p", 4), 2u);
  EXPECT_EQ(names.meaningAt("k", 8), 1u);
  EXPECT_EQ(names.meaningAt("k", 9), 1u);
}

// Whatever is missing, there is a table; and each name is in it once.
TEST(Resolver, EveryName) {
  std::vector<std::string> paths;
  for (StringRef folder : {"examples", "lib/Std", "test/Frontend/Inputs"})
    addSpecifications(folder, paths);
  EXPECT_GT(paths.size(), 20u);
  for (const std::string &path : paths) {
    SCOPED_TRACE(path);
    std::string text = (*MemoryBuffer::getFile(path))->getBuffer().str();
    Names names(text);
    size_t mentioned =
        count_if(names.resolver->mentions(), [](const Mention &each) {
          return each.token->getType() == NetLexer::ID;
        });
    EXPECT_EQ(mentioned, tokensOf(names.tree).size());
    if (!StringRef(path).contains("Inputs"))
      continue;
    for (size_t length = 0; length < text.size(); length += 7)
      Names(StringRef(text).take_front(length));
  }
}
