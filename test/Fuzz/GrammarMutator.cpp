// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets libFuzzer edit specifications by tokens. Most edits of bytes only
// misspell a word, and few of them reach a pass.

#include "grammar/NetLexer.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdint>
#include <cstring>
#include <random>

using namespace netc;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

/// The tokens of a text, with a blank before each that does not begin a line.
std::vector<std::string> tokensOf(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !llvm::isASCII(c); }, '?');
  antlr4::ANTLRInputStream input(text);
  NetLexer lexer(&input);
  lexer.removeErrorListeners();
  std::vector<std::string> tokens;
  for (const auto &token : lexer.getAllTokens())
    tokens.push_back((token->getCharPositionInLine() ? " " : "") +
                     token->getText());
  return tokens;
}

/// The literals of the grammar, such as `|>`.
std::vector<std::string> literalsOfGrammar() {
  antlr4::ANTLRInputStream input("");
  NetLexer lexer(&input);
  std::vector<std::string> literals;
  for (size_t type = 1; type <= lexer.getVocabulary().getMaxTokenType();
       ++type) {
    std::string name(lexer.getVocabulary().getLiteralName(type));
    if (name.size() > 2)
      literals.push_back(" " + name.substr(1, name.size() - 2));
  }
  return literals;
}

/// One edit of a list of tokens.
class Edit {
public:
  Edit(std::vector<std::string> &tokens, unsigned seed)
      : tokens(tokens), random(seed) {}

  void apply() {
    if (tokens.empty())
      return tokens.push_back(literal());
    size_t at = below(tokens.size());
    switch (below(7)) {
    case 0:
      tokens.erase(tokens.begin() + at);
      return;
    case 1:
      tokens.insert(tokens.begin() + at, literal());
      return;
    case 2:
      tokens[at] = tokens[below(tokens.size())];
      return;
    case 3:
      std::swap(tokens[at], tokens[below(tokens.size())]);
      return;
    case 4:
      tokens[at] = number();
      return;
    case 5:
      return copyPiece(at, below(tokens.size()));
    default:
      tokens.insert(tokens.begin() + at, tokens[below(tokens.size())]);
    }
  }

private:
  size_t below(size_t bound) { return random() % bound; }
  std::string literal() {
    static const std::vector<std::string> literals = literalsOfGrammar();
    return literals[below(literals.size())];
  }
  std::string number() {
    static const char *const numbers[] = {
        "0",     "1",    "2",    "3",    "7",      "64",
        "-1",    "0.5",  "1e-9", "1e18", "2e300",  "65537",
        "1_000", "50 %", "1T",   "4 Ki", "1 step", "2 V100"};
    return std::string(" ") + numbers[below(std::size(numbers))];
  }
  /// Inserts the tokens between two places, at most 32, once more at the later
  /// one.
  void copyPiece(size_t from, size_t to) {
    if (from > to)
      std::swap(from, to);
    std::vector<std::string> piece(tokens.begin() + from,
                                   tokens.begin() + std::min(to, from + 32));
    tokens.insert(tokens.begin() + to, piece.begin(), piece.end());
  }

  std::vector<std::string> &tokens;
  std::minstd_rand random;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  // Sometimes edit bytes, to change the spelling of names and numbers.
  if (seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::vector<std::string> tokens =
      tokensOf({reinterpret_cast<const char *>(data), size});
  for (unsigned edits = 1 + seed % 3; edits > 0; --edits)
    Edit(tokens, seed + edits).apply();
  size_t length = 0;
  for (const std::string &token : tokens) {
    if (length + token.size() > most)
      break;
    std::memcpy(data + length, token.data(), token.size());
    length += token.size();
  }
  return length;
}
