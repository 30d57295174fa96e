// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_EXPRESSION_H
#define NETC_LIB_IMPORT_EXPRESSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace netc::import {

/// An expression, and how tightly it binds.
struct Expression {
  enum Binding { Comparison, PipeBinding, Sum, Product, Power, Atom };
  std::string text;
  Binding binding = Atom;

  /// In parentheses, unless it binds as tightly as `least`.
  std::string inside(Binding least) const {
    return binding < least ? "(" + text + ")" : text;
  }
};

/// Of a text: its loosest operator outside of brackets.
Expression::Binding bindingOf(llvm::StringRef text);

/// A part of the form of a step: a text, an operand or an argument.
struct FormPiece {
  char kind; ///< '%', '#', or 0 of a text
  unsigned number = 0;
  llvm::StringRef text = {};
};
std::vector<FormPiece> piecesOf(llvm::StringRef form);

/// The parts of a composition, with equal neighbours as `repeat`: two parts
/// that are alike, or three groups of them.
std::vector<std::string> withRepeats(llvm::ArrayRef<std::string> parts);

/// Calls `visit` for each name that a text reads: not for letters of a pattern,
/// and not for the key of an argument.
void forEachName(llvm::StringRef text,
                 llvm::function_ref<void(llvm::StringRef)> visit);

/// Words of the language, its types, and functions that steps call.
const std::set<std::string> &words();
/// Whether the language has the name for something else.
inline bool isWord(llvm::StringRef name) { return words().count(name.str()); }
/// A name like `text`, in letters of names.
std::string identifier(llvm::StringRef text);

/// Gives each name once: the second `y` is `y_2`, and a reserved `self` is
/// `self_`, if the separator is `_`.
class UniqueNames {
public:
  explicit UniqueNames(llvm::StringRef separator) : separator(separator) {}

  void reserve(llvm::StringRef name) { reserved.insert(name.str()); }
  template <typename Names> void reserveAll(const Names &names) {
    reserved.insert(names.begin(), names.end());
  }
  bool isGiven(const std::string &name) const { return given.count(name); }
  bool has(const std::string &name) const {
    return reserved.count(name) || isGiven(name);
  }
  std::string unique(const std::string &base) {
    std::string start = reserved.count(base) ? base + separator : base,
                name = start;
    int &next = numbers.try_emplace(start, 2).first->second;
    while (has(name))
      name = start + separator + std::to_string(next++);
    given.insert(name);
    return name;
  }

private:
  std::string separator;
  std::set<std::string> reserved, given;
  std::map<std::string, int> numbers; ///< that names get next
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_EXPRESSION_H
