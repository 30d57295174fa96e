// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_HELP_H
#define NETC_LIB_DRIVER_HELP_H

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace netc {

/// An option as the help shows it.
struct OptionText {
  std::string name;        ///< with its dashes
  std::string value;       ///< placeholder of its value, or empty
  std::string description; ///< in lower case, without a full stop
  bool isValueOptional = false;
  bool isRepeated = false;
  /// The words that the option accepts, with their descriptions.
  std::vector<std::pair<std::string, std::string>> words;
  unsigned bits = 0; ///< of a whole number

  bool isLong() const { return name.size() > 2; }
  /// Whether the value is a path.
  bool takesFile() const { return value.find("file") != std::string::npos; }
  bool takesFolder() const { return value == "folder"; }
};

struct OptionGroup {
  std::string title;
  std::vector<OptionText> options;
  /// Command lines with their descriptions.
  std::vector<std::pair<std::string, std::string>> examples;
};

/// All options, from the table in CommandLine.cpp.
std::vector<OptionGroup> optionGroups();

/// Prints `--help` in 80 columns.
void printHelp(llvm::raw_ostream &os);
/// Prints the page for section 1 of the manual, in the macros of man(7).
void printManPage(llvm::raw_ostream &os);
/// Print scripts with which shells complete command lines.
void printBashCompletion(llvm::raw_ostream &os);
void printZshCompletion(llvm::raw_ostream &os);
void printFishCompletion(llvm::raw_ostream &os);

} // namespace netc

#endif // NETC_LIB_DRIVER_HELP_H
