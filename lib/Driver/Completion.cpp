// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scripts for the completion of command lines, from the table of options.

#include "lib/Driver/Help.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using llvm::StringRef;

static std::vector<OptionText> allOptions() {
  std::vector<OptionText> all;
  for (OptionGroup &group : optionGroups())
    llvm::append_range(all, group.options);
  return all;
}

/// `text` without what shells would interpret in quotes.
static std::string plain(StringRef text) {
  std::string result;
  for (char c : text)
    if (!StringRef("`'\"\\$").contains(c))
      result += c;
  return result;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

void netc::printBashCompletion(llvm::raw_ostream &os) {
  std::string names, detached;
  for (const OptionText &option : allOptions()) {
    bool isValued = !option.value.empty() && !option.isValueOptional;
    names += " " + option.name + (isValued && option.isLong() ? "=" : "");
    if (isValued)
      detached += " " + option.name;
  }
  os << "# How bash completes the command line of netc.\n"
        "_netc() {\n"
        "  local current=${COMP_WORDS[COMP_CWORD]}\n"
        "  local before=${COMP_WORDS[COMP_CWORD-1]} option= prefix=\n"
        "  # `--format=json` is three words, or one where `=` breaks none.\n"
        "  if [[ $current == = ]]; then\n"
        "    option=$before current=\n"
        "  elif [[ $before == = ]]; then\n"
        "    option=${COMP_WORDS[COMP_CWORD-2]}\n"
        "  elif [[ $current == --*=* ]]; then\n"
        "    option=${current%%=*} prefix=${current%%=*}= "
        "current=${current#*=}\n"
        "  elif [[ '"
     << detached
     << " ' == *\" $before \"* ]]; then\n"
        "    option=$before\n"
        "  fi\n"
        "  local -a with=(-P \"$prefix\" -- \"$current\")\n"
        "  COMPREPLY=()\n"
        "  case $option in\n";
  auto reply = [&](StringRef pattern, bool areFiles, const std::string &what) {
    os << "  " << pattern << ")\n"
       << (areFiles ? "    compopt -o filenames 2>/dev/null\n" : "")
       << "    mapfile -t COMPREPLY < <(" << what << ") ;;\n";
  };
  for (const OptionText &option : allOptions()) {
    if (!option.words.empty()) {
      std::string words;
      for (auto &[word, meaning] : option.words)
        words += (words.empty() ? "" : " ") + word;
      reply(option.name, false, "compgen -W '" + words + "' \"${with[@]}\"");
    } else if (option.takesFile()) {
      reply(option.name, true, "compgen -f \"${with[@]}\"");
    } else if (option.takesFolder()) {
      reply(option.name, true, "compgen -d \"${with[@]}\"");
    }
  }
  os << "  '')\n"
        "    if [[ $current == -* ]]; then\n"
        "      mapfile -t COMPREPLY < <(compgen -W '"
     << StringRef(names).ltrim()
     << "' \"${with[@]}\")\n"
        "      [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
        "    else\n"
        "      compopt -o filenames 2>/dev/null\n"
        "      mapfile -t COMPREPLY < <(compgen -d \"${with[@]}\"\n"
        "                               compgen -f -X '!*.net' "
        "\"${with[@]}\")\n"
        "    fi ;;\n"
        "  esac\n"
        "}\n"
        "complete -F _netc netc\n";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Escapes what would end a part of zsh's argument specification.
static std::string inSpecification(StringRef text) {
  std::string result;
  for (char c : plain(text))
    result += StringRef("[]:").contains(c) ? std::string("\\") + c
                                           : std::string(1, c);
  return result;
}

void netc::printZshCompletion(llvm::raw_ostream &os) {
  os << "#compdef netc\n# How zsh completes the command line of netc.\n"
        "_arguments \\\n";
  for (const OptionText &option : allOptions()) {
    // The value follows `=`, or is the next word if it is required.
    StringRef sign = option.value.empty()     ? ""
                     : option.isValueOptional ? "=-"
                     : option.isLong()        ? "="
                                              : "+";
    os << "  '" << (option.isRepeated ? "*" : "") << option.name << sign << '['
       << inSpecification(option.description) << ']';
    if (!option.value.empty()) {
      os << (option.isValueOptional ? "::" : ":")
         << inSpecification(option.value) << ':';
      if (option.takesFile())
        os << "_files";
      else if (option.takesFolder())
        os << "_files -/";
      llvm::ListSeparator space(" ");
      if (!option.words.empty())
        os << "((";
      for (auto &[word, meaning] : option.words)
        os << space << word << "\\:\"" << inSpecification(meaning) << '"';
      if (!option.words.empty())
        os << "))";
    }
    os << "' \\\n";
  }
  os << "  '*:file:_files -g \"*.net(-.)\"'\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

void netc::printFishCompletion(llvm::raw_ostream &os) {
  os << "# How fish completes the command line of netc.\n"
        "complete -c netc -k -x -a '(__fish_complete_suffix .net)'\n";
  for (const OptionText &option : allOptions()) {
    os << "complete -c netc " << (option.isLong() ? "-l " : "-s ")
       << StringRef(option.name).ltrim('-');
    if (option.takesFile())
      os << (option.isValueOptional ? " -F" : " -r -F");
    else if (!option.value.empty())
      os << (option.isValueOptional ? " -f" : " -x");
    if (option.takesFolder())
      os << " -a '(__fish_complete_directories)'";
    llvm::ListSeparator space(" ");
    if (!option.words.empty())
      os << " -a '";
    for (auto &[word, meaning] : option.words)
      os << space << word << "\\t\"" << plain(meaning) << '"';
    if (!option.words.empty())
      os << "'";
    os << " -d '" << plain(option.description) << "'\n";
  }
}
