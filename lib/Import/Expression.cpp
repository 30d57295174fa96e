// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Texts of expressions, and what they may be named.

#include "lib/Import/Expression.h"

#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

Expression::Binding netc::import::bindingOf(StringRef text) {
  int depth = 0;
  Expression::Binding loosest =
      text.starts_with("-") ? Expression::Product : Expression::Atom;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth +=
        (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (depth == 0 && c == '^')
      loosest = std::min(loosest, Expression::Power);
    if (depth || c != ' ' || i + 2 >= text.size())
      continue;
    char sign = text[i + 1];
    auto binding =
        StringRef("<>=!").contains(sign)            ? Expression::Comparison
        : text.substr(i + 1).starts_with("|>")      ? Expression::PipeBinding
        : text[i + 2] != ' '                        ? Expression::Atom
        : sign == '+' || sign == '-'                ? Expression::Sum
        : sign == '*' || sign == '/' || sign == '@' ? Expression::Product
                                                    : Expression::Atom;
    loosest = std::min(loosest, binding);
  }
  return loosest;
}

std::vector<FormPiece> netc::import::piecesOf(StringRef form) {
  std::vector<FormPiece> pieces;
  while (!form.empty()) {
    FormPiece next{form[0]};
    StringRef digits = form.drop_front().take_while(llvm::isDigit);
    bool isHole = (form[0] == '%' || form[0] == '#') && !digits.empty();
    if (isHole) {
      digits.getAsInteger(10, next.number);
      form = form.drop_front(1 + digits.size());
    } else {
      size_t length =
          1 + form.drop_front()
                  .take_while([](char c) { return c != '%' && c != '#'; })
                  .size();
      next = {0, 0, form.take_front(length)};
      form = form.drop_front(length);
    }
    pieces.push_back(next);
  }
  return pieces;
}

std::string netc::import::identifier(StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) || c == '_' ? c : '_';
  // `_` names nothing.
  bool isName = StringRef(name).trim('_') != "" && !llvm::isDigit(name[0]);
  return isName ? name : "m" + name;
}

std::vector<std::string>
netc::import::withRepeats(llvm::ArrayRef<std::string> parts) {
  constexpr size_t longestGroup = 16; // which keeps this linear
  std::vector<std::string> made;
  while (!parts.empty()) {
    size_t length = 1, count = 1;
    for (size_t each = 1; each <= std::min(longestGroup, parts.size());
         ++each) {
      size_t copies = 1;
      while ((copies + 1) * each <= parts.size() &&
             parts.slice(copies * each, each) == parts.take_front(each))
        ++copies;
      if (copies > (each == 1 ? 1 : 2) && copies * each > count * length) {
        length = each;
        count = copies;
      }
    }
    std::vector<std::string> copy = {parts[0]};
    if (length > 1)
      copy = withRepeats(parts.take_front(length));
    std::string text = llvm::join(copy, " |> ");
    made.push_back(count == 1 ? text
                              : "repeat " + std::to_string(count) + " { " +
                                    text + " }");
    parts = parts.drop_front(count * length);
  }
  return made;
}

void netc::import::forEachName(StringRef text,
                               llvm::function_ref<void(StringRef)> visit) {
  while (!text.empty()) {
    if (text.consume_front("\"")) {
      text = text.split('"').second;
      continue;
    }
    StringRef name =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    text = text.drop_front(std::max<size_t>(name.size(), 1));
    if (!name.empty() && !text.starts_with(" = "))
      visit(name);
  }
}

const std::set<std::string> &netc::import::words() {
  static const std::set<std::string> all = {
      "f64",     "f32",       "f16",       "bf16",   "i64",      "i32",
      "i16",     "i8",        "u8",        "i1",     "import",   "block",
      "net",     "dataset",   "hardware",  "train",  "infer",    "return",
      "yield",   "expect",    "require",   "sweep",  "if",       "then",
      "else",    "for",       "in",        "repeat", "scan",     "over",
      "carry",   "on",        "as",        "within", "and",      "or",
      "not",     "true",      "false",     "none",   "training", "axes",
      "reshape", "flatten",   "rearrange", "expand", "zeros",    "table",
      "arange",  "parameter", "buffer",    "opaque", "map",      "each",
      "freeze",  "inf"};
  return all;
}
