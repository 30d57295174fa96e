// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of options as help text and as a manual page.

#include "lib/Driver/Help.h"

#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

static const char *const summary = "what it costs to train a neural network";
static const char *const usage = "netc [options] FILE...";

/// `--format=<format>`, `-o <file>`, `-D<name=value>`.
static std::string synopsis(const OptionText &option) {
  if (option.value.empty())
    return option.name;
  std::string value = "<" + option.value + ">";
  if (option.isLong())
    value = "=" + value;
  else
    value = " " + value;
  return option.name + (option.isValueOptional ? "[" + value + "]" : value);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr size_t width = 80;

/// Prints a name and its description, which starts at `column`. A name that is
/// too long has a line of its own.
static void printEntry(llvm::raw_ostream &os, size_t indent,
                       const std::string &name, size_t column, StringRef text) {
  os.indent(indent) << name;
  size_t at = indent + name.size();
  if (at + 2 > column) {
    os << '\n';
    at = 0;
  }
  llvm::SmallVector<StringRef> words;
  text.split(words, ' ');
  for (StringRef word : words) {
    if (at > column && at + 1 + word.size() > width) {
      os << '\n';
      at = 0;
    }
    size_t gap = at < column ? column - at : 1;
    os.indent(gap) << word;
    at += gap + word.size();
  }
  os << '\n';
}

void netc::printHelp(llvm::raw_ostream &os) {
  constexpr size_t column = 26;
  os << "netc: " << summary << "\n\nusage: " << usage << '\n';
  for (const OptionGroup &group : optionGroups()) {
    os << '\n' << group.title << ":\n";
    for (const OptionText &option : group.options) {
      printEntry(os, 2, synopsis(option), column, option.description);
      for (auto &[word, meaning] : option.words)
        printEntry(os, 8, word, column, meaning);
    }
    if (!group.examples.empty())
      os << '\n';
    for (auto &[command, meaning] : group.examples)
      printEntry(os, 2, command, 50, meaning);
  }
}

//===----------------------------------------------------------------------===//
// The manual
//===----------------------------------------------------------------------===//

/// Escapes text for man(7): `-` is a minus, and no line is a request.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text)
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if (c == '`')
      escaped += "\\(ga";
    else if (c == '\'')
      escaped += "\\(aq";
    else
      escaped += c;
  return (StringRef(text).starts_with(".") ? "\\&" : "") + escaped;
}

/// Escapes sentences, with text in backticks in bold.
static std::string prose(StringRef text) {
  std::string result;
  bool isCode = false;
  for (StringRef part : llvm::split(text, '`')) {
    result += isCode ? "\\fB" + escape(part) + "\\fR" : escape(part);
    isCode = !isCode;
  }
  return result;
}

static void printOption(llvm::raw_ostream &os, const OptionText &option) {
  os << ".TP\n\\fB" << escape(option.name) << "\\fR";
  if (!option.value.empty()) {
    StringRef sign = option.isLong() ? "=" : " ";
    std::string value = "\\fI" + escape(option.value) + "\\fR";
    os << (option.isValueOptional ? "[" + sign.str() + value + "]"
                                  : sign.str() + value);
  }
  os << '\n' << prose(option.description) << '\n';
  if (option.words.empty())
    return;
  os << ".RS\n";
  for (auto &[word, meaning] : option.words)
    os << ".TP\n\\fB" << escape(word) << "\\fR\n" << prose(meaning) << '\n';
  os << ".RE\n";
}

void netc::printManPage(llvm::raw_ostream &os) {
  os << ".TH NETC 1 \"\" \"netc " NETC_VERSION "\" \"User Commands\"\n"
     << ".SH NAME\nnetc \\- " << summary << '\n'
     << ".SH SYNOPSIS\n\\fBnetc\\fR [\\fIoptions\\fR] \\fIFILE\\fR...\n"
     << ".SH DESCRIPTION\n"
     << "netc reads files that say which neural networks are trained and how. "
        "It builds\neach training step, counts its parameters, FLOP, bytes and "
        "memory op by op,\nand reports what the training costs. What the files "
        "expect of that is checked.\nA file called \\- is the standard "
        "input.\n"
     << ".SH OPTIONS\n";
  for (const OptionGroup &group : optionGroups()) {
    os << ".SS " << escape(group.title) << '\n';
    for (const OptionText &option : group.options)
      printOption(os, option);
  }
  os << ".SH EXAMPLES\n";
  for (const OptionGroup &group : optionGroups())
    for (auto &[command, meaning] : group.examples)
      os << ".TP\n\\fB" << escape(command) << "\\fR\n"
         << prose(meaning) << '\n';
  os << ".SH EXIT STATUS\n"
     << ".TP\n0\nall is well\n"
     << ".TP\n1\nthe input is wrong, or does not cost what it expects\n"
     << ".TP\n2\nthe command line is wrong\n"
     << ".TP\n3\nthe environment lacks something, such as a place to write "
        "to\n";
}
