// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/ParsePtx.h"
#include "lib/Simulator/Kernel.h"
#include "lib/Simulator/Simulator.h"

#include <algorithm>
#include <cctype>
#include <cstring>

using namespace netc::simulator;

void netc::simulator::refuse(const Source &source, const std::string &why) {
  throw PtxError("line " + std::to_string(source.line) + ": " + why + ": " +
                 source.text);
}

Type netc::simulator::typeNamed(const std::string &name) {
  if (name == "pred")
    return {'p', 8};
  static const char *const names[] = {"b8",  "b16", "b32", "b64", "u8",
                                      "u16", "u32", "u64", "s8",  "s16",
                                      "s32", "s64", "f16", "f32", "f64"};
  if (name == "bf16")
    return {'g', 16};
  if (name == "tf32")
    return {'t', 32};
  for (const char *known : names)
    if (name == known)
      return {known[0], uint8_t(std::atoi(known + 1))};
  return {};
}

namespace {
/// Splits text into tokens: words, which may start with `%`, `$`, `.` or a
/// digit, and single characters. An opcode with its suffixes is one word.
class Lexer {
public:
  explicit Lexer(const std::string &text) : text(text) { advance(); }

  const Token &peek() const { return token; }
  bool atEnd() const { return token.text.empty(); }
  Token take() {
    Token taken = token;
    advance();
    return taken;
  }
  bool takeIf(const std::string &word) {
    if (token.text != word)
      return false;
    advance();
    return true;
  }
  void expect(const std::string &word) {
    if (!takeIf(word))
      refuse({token.line, "`" + token.text + "`"}, "expected `" + word + "`");
  }
  /// The text of a line that is not after the current one.
  std::string lineOf(int of) const {
    size_t start = lineStart;
    for (int i = line; i > of; --i)
      start = text.rfind('\n', start - 2) + 1;
    size_t end = text.find('\n', start);
    std::string found = text.substr(start, end - start);
    size_t first = found.find_first_not_of(" \t");
    return first == std::string::npos ? "" : found.substr(first);
  }

private:
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '%' || c == '$' || c == '.' || c == ':';
  }

  void advance() {
    for (; at < text.size(); ++at) {
      if (text[at] == '\n')
        ++line, lineStart = at + 1;
      else if (text.compare(at, 2, "//") == 0)
        at = std::min(text.find('\n', at), text.size()) - 1;
      else if (!std::isspace(static_cast<unsigned char>(text[at])))
        break;
    }
    token = {"", line};
    if (at >= text.size())
      return;
    if (!isWord(text[at])) {
      token.text = text[at++];
      return;
    }
    while (at < text.size() && isWord(text[at])) {
      // `::` is part of a word, a single colon ends a label.
      if (text[at] == ':') {
        if (at + 1 < text.size() && text[at + 1] == ':') {
          token.text += "::";
          at += 2;
          continue;
        }
        if (token.text.empty())
          token.text = text[at++];
        return;
      }
      token.text += text[at++];
    }
  }

  const std::string &text;
  size_t at = 0, lineStart = 0;
  int line = 1;
  Token token;
};

class Parser {
public:
  explicit Parser(const std::string &text) : lexer(text) {}

  ParsedModule parse() {
    while (!lexer.atEnd()) {
      Token token = lexer.take();
      if (token.text == ".version" || token.text == ".address_size")
        lexer.take();
      else if (token.text == ".target")
        skipList();
      else if (token.text == ".visible" || token.text == ".weak")
        continue;
      else if (token.text == ".global" || token.text == ".const")
        module.variables.push_back(variable());
      else if (token.text == ".shared")
        sharedVariable();
      else if (token.text == ".extern") {
        lexer.expect(".shared");
        sharedVariable();
      } else if (token.text == ".entry")
        kernel();
      else
        refuse({token.line, lexer.lineOf(token.line)},
               "not known at the top of a module");
    }
    return std::move(module);
  }

private:
  void skipList() {
    lexer.take();
    while (lexer.takeIf(","))
      lexer.take();
  }

  int64_t number() {
    bool isNegative = lexer.takeIf("-");
    Token token = lexer.take();
    char *end;
    int64_t value = int64_t(std::strtoull(token.text.c_str(), &end, 0));
    if (*end && *end != 'U')
      refuse({token.line, token.text}, "not a number");
    return isNegative ? -value : value;
  }

  /// Parses what follows the space: `.align 8 .b8 name[6] = {..};`.
  Variable variable() {
    Variable variable;
    uint64_t count = 1;
    Type type;
    for (;;) {
      if (lexer.takeIf(".align")) {
        alignment = uint64_t(number());
        continue;
      }
      if (lexer.peek().text.empty() || lexer.peek().text[0] != '.')
        break;
      type = typeNamed(lexer.take().text.substr(1));
    }
    Token name = lexer.take();
    if (!type.kind)
      refuse({name.line, lexer.lineOf(name.line)}, "a variable without a type");
    variable.name = name.text;
    while (lexer.takeIf("["))
      if (!lexer.takeIf("]")) {
        count *= uint64_t(number());
        lexer.expect("]");
      } else
        count = 0; // dynamic size
    variable.bytes = count * type.bytes();
    if (lexer.takeIf("=")) {
      bool isList = lexer.takeIf("{");
      do
        append(variable, type);
      while (isList && lexer.takeIf(","));
      if (isList)
        lexer.expect("}");
    }
    lexer.expect(";");
    return variable;
  }

  void append(Variable &variable, Type type) {
    const std::string &text = lexer.peek().text;
    uint64_t bits;
    if (text.compare(0, 2, "0f") == 0 || text.compare(0, 2, "0d") == 0)
      bits = std::strtoull(lexer.take().text.c_str() + 2, nullptr, 16);
    else
      bits = uint64_t(number());
    const char *raw = reinterpret_cast<const char *>(&bits);
    variable.init.insert(variable.init.end(), raw, raw + type.bytes());
  }

  void sharedVariable() {
    alignment = 1;
    Variable found = variable();
    module.shared[found.name] = {found.bytes, alignment};
  }

  void kernel() {
    ParsedKernel parsed;
    parsed.name = lexer.take().text;
    if (lexer.takeIf("(")) {
      while (!lexer.takeIf(")")) {
        parameter(parsed);
        lexer.takeIf(",");
      }
    }
    while (lexer.peek().text != "{") {
      lexer.take(); // .maxntid and others
      while (lexer.peek().text != "{" && lexer.peek().text[0] != '.')
        lexer.take();
    }
    lexer.expect("{");
    body(parsed);
    module.kernels.push_back(std::move(parsed));
  }

  void parameter(ParsedKernel &parsed) {
    lexer.expect(".param");
    uint64_t align = 0, count = 1;
    Type type;
    while (lexer.peek().text[0] == '.') {
      Token word = lexer.take();
      if (word.text == ".align")
        align = uint64_t(number());
      else if (Type named = typeNamed(word.text.substr(1)); named.kind)
        type = named;
    }
    std::string name = lexer.take().text;
    if (lexer.takeIf("[")) {
      count = uint64_t(number());
      lexer.expect("]");
    }
    uint64_t bytes = count * type.bytes();
    align = std::max<uint64_t>(align, type.bytes());
    uint64_t start = (parsed.parameterBytes + align - 1) / align * align;
    parsed.parameters.emplace_back(uint32_t(bytes), uint32_t(start));
    parsed.names.parameters[name] = start;
    parsed.parameterBytes = uint32_t(start + bytes);
  }

  void body(ParsedKernel &parsed) {
    for (int depth = 1; depth > 0;) {
      if (lexer.atEnd())
        refuse({lexer.peek().line, parsed.name}, "the kernel has no end");
      if (lexer.takeIf("{")) {
        ++depth;
        continue;
      }
      if (lexer.takeIf("}")) {
        --depth;
        continue;
      }
      Token token = lexer.take();
      if (token.text == ".reg") {
        registers(parsed);
      } else if (token.text == ".local") {
        alignment = 1;
        Variable found = variable();
        parsed.localBytes = uint32_t((parsed.localBytes + alignment - 1) /
                                     alignment * alignment);
        parsed.names.local[found.name] = parsed.localBytes;
        parsed.localBytes += uint32_t(found.bytes);
      } else if (token.text == ".shared") {
        sharedVariable();
      } else if (token.text == ".pragma" || token.text == ".loc") {
        while (!lexer.atEnd() && lexer.peek().line == token.line)
          lexer.take();
      } else if (lexer.takeIf(":")) {
        parsed.names.labels[token.text] = int32_t(parsed.statements.size());
      } else {
        statement(parsed, token);
      }
    }
  }

  /// Parses `.b32 %r<5>;` or `.b32 a, b;`.
  void registers(ParsedKernel &parsed) {
    Token type = lexer.take();
    Type known = typeNamed(type.text.substr(1));
    if (!known.kind)
      refuse({type.line, lexer.lineOf(type.line)},
             "registers of no known type");
    auto add = [&](const std::string &name) {
      parsed.names.registers[name] = uint32_t(parsed.registers.size());
      parsed.registers.push_back({known.bits == 64});
    };
    do {
      std::string name = lexer.take().text;
      if (lexer.takeIf("<")) {
        int64_t count = number();
        lexer.expect(">");
        for (int64_t i = 0; i < count; ++i)
          add(name + std::to_string(i));
      } else {
        add(name);
      }
    } while (lexer.takeIf(","));
    lexer.expect(";");
  }

  void statement(ParsedKernel &parsed, Token token) {
    Statement statement;
    statement.source = {token.line, lexer.lineOf(token.line)};
    if (token.text == "@") {
      statement.isNegated = lexer.takeIf("!");
      statement.guard = lexer.take().text;
      token = lexer.take();
    }
    if (token.text == ";")
      refuse(statement.source, "no instruction");
    size_t start = 0;
    while (start <= token.text.size()) {
      size_t dot = std::min(token.text.find('.', start), token.text.size());
      if (dot > start)
        statement.opcode.push_back(token.text.substr(start, dot - start));
      start = dot + 1;
    }
    while (!lexer.takeIf(";")) {
      if (lexer.atEnd())
        refuse(statement.source, "no `;` at its end");
      statement.operands.push_back(lexer.take());
    }
    parsed.statements.push_back(std::move(statement));
  }

  Lexer lexer;
  ParsedModule module;
  uint64_t alignment = 1;
};
} // namespace

ParsedModule netc::simulator::parsePtx(const std::string &text) {
  return Parser(text).parse();
}
