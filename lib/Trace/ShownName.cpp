// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Trace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Unicode.h"

using namespace netc::trace;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// Whether a path from the root begins in a word: `/home`, `(C:\src`, `~/x`.
static bool beginsPath(StringRef word) {
  size_t slash = word.find_first_of("/\\");
  return slash != StringRef::npos &&
         (slash == 0 || StringRef("(<\"'[=,:~").contains(word[slash - 1]));
}

/// The first word of a text with the blank behind it. A path from the root
/// continues, past blanks, to its last separator and the word behind that.
static StringRef firstWord(StringRef text) {
  auto wordAt = [&](size_t at) {
    return text.slice(at, text.find(' ', at)); // without the blank
  };
  StringRef word = wordAt(0);
  size_t end = word.size();
  if (beginsPath(word))
    for (size_t at = end + 1; at < text.size() && !beginsPath(wordAt(at));
         at += wordAt(at).size() + 1)
      if (wordAt(at).find_first_of("/\\") != StringRef::npos)
        end = at + wordAt(at).size();
  return text.take_front(end + 1);
}

/// Whether the last part of a path is a user or a machine: `/home/me`,
/// `ssh://node`, `DOMAIN\me`. `around` is what precedes its last separator.
static bool endsInName(StringRef around, char separator) {
  bool isOfDomain = separator == '\\' && !around.empty() &&
                    !around.ends_with(":") &&
                    around.find_first_of("/\\") == StringRef::npos;
  return isOfDomain || around.ends_with("/home") ||
         around.ends_with("/Users") || around.ends_with("\\Users") ||
         around.ends_with("/") || around.ends_with("\\");
}

std::string netc::trace::withoutFolders(StringRef text) {
  std::string kept;
  while (!text.empty()) {
    StringRef word = firstWord(text);
    text = text.drop_front(word.size());
    // `operator/` is not a path.
    size_t folder = word.find_last_of("/\\");
    bool isPath =
        folder != StringRef::npos && !word.substr(folder + 1).trim().empty();
    if (isPath && endsInName(word.take_front(folder), word[folder]))
      kept += "?" + word.drop_front(word.rtrim().size()).str();
    else
      kept += isPath ? word.substr(folder + 1) : word;
  }
  return kept;
}

std::string netc::trace::shownFile(StringRef path) {
  StringRef file = path.substr(path.rfind('/') + 1);
  // tensorboard_trace_handler: WORKER.TIME.pt.trace.json, where the worker is
  // HOST_PROCESS by default.
  auto isNumber = [](StringRef text) {
    return !text.empty() && llvm::all_of(text, llvm::isDigit);
  };
  size_t end = file.find(".pt.trace.json");
  auto [worker, time] = file.take_front(end).rsplit('.');
  if (end != StringRef::npos && isNumber(time)) {
    StringRef process = worker.rsplit('_').second;
    return "?" + (isNumber(process) ? "_" + process.str() : "") +
           file.drop_front(worker.size()).str();
  }
  // JAX and TensorFlow: plugins/profile/TIME/HOST.xplane.pb.
  StringRef run = llvm::sys::path::parent_path(path);
  if (llvm::sys::path::parent_path(run).ends_with("plugins/profile"))
    for (StringRef end : {".xplane.pb", ".trace.json.gz"})
      if (file.ends_with(end))
        return "?" + end.str();
  return file.str();
}

//===----------------------------------------------------------------------===//
// Machines and users
//===----------------------------------------------------------------------===//

/// Whether a name ends in a top-level domain: `node7.cluster.local`. A domain
/// that may also end the name of a module counts only after two labels, and if
/// no label is a number: `block.0.in` is a module. `py` and `bn` are left out,
/// since files and layers have them.
static bool hasDomain(llvm::ArrayRef<StringRef> labels) {
  // `net` is the name of many modules, so it needs two labels.
  constexpr StringRef domains[] = {
      "com",      "org", "edu",         "gov",  "mil",   "local",
      "internal", "lan", "localdomain", "corp", "intra", "intranet"};
  constexpr StringRef ofLong[] = {
      "ae", "ai",  "app", "ar",    "at", "au",   "be",  "bg",   "br",
      "ca", "ch",  "cl",  "cloud", "cn", "co",   "cz",  "de",   "dev",
      "dk", "ee",  "es",  "eu",    "fi", "fr",   "gr",  "hk",   "home",
      "hr", "hu",  "ie",  "il",    "in", "info", "io",  "ir",   "is",
      "it", "jp",  "kr",  "kz",    "lt", "lu",   "lv",  "me",   "mx",
      "my", "net", "nl",  "no",    "nz", "pk",   "pl",  "pt",   "ro",
      "ru", "sa",  "se",  "sg",    "si", "site", "sk",  "tech", "th",
      "tr", "tw",  "ua",  "uk",    "us", "vn",   "xyz", "za"};
  std::string last = labels.back().lower();
  return (labels.size() > 1 && llvm::is_contained(domains, last)) ||
         (labels.size() > 2 && llvm::is_contained(ofLong, last) &&
          llvm::none_of(labels, [](StringRef label) {
            return llvm::all_of(label, llvm::isDigit);
          }));
}

/// Whether a word is a machine's name with a number: `gpu-17`. Names in
/// programs have no hyphen, and those of devices begin in upper case.
static bool isNumberedHost(StringRef word) {
  auto [label, number] = word.rsplit('-');
  return !label.empty() && llvm::isLower(label.front()) && !number.empty() &&
         llvm::all_of(number, llvm::isDigit) && llvm::all_of(label, [](char c) {
           return llvm::isLower(c) || llvm::isDigit(c) || c == '-';
         });
}

/// Whether a text is an IPv4 address.
static bool isAddressOfIPv4(StringRef text) {
  llvm::SmallVector<StringRef, 8> labels;
  text.split(labels, '.');
  return labels.size() == 4 && llvm::all_of(labels, [](StringRef one) {
           return !one.empty() && one.size() <= 3 &&
                  llvm::all_of(one, llvm::isDigit);
         });
}

/// Whether a word names a machine, or a user on one: `me@node`,
/// `node7.cluster.local`, `10.0.0.7`, `gpu-17`.
static bool isHost(StringRef word) {
  llvm::SmallVector<StringRef, 8> labels, parts;
  word.split(labels, '.');
  llvm::SplitString(word, parts, "_-@");
  size_t at = word.find('@');
  bool hasUser = at != StringRef::npos && at > 0 && at + 1 < word.size();
  return hasDomain(labels) || hasUser || isNumberedHost(word) ||
         llvm::any_of(parts, isAddressOfIPv4);
}

/// Whether parts that colons divide begin with an IPv6 address. It has eight
/// groups, or two colons in place of some. Without a digit it is a C++ name,
/// such as `ad::add`.
static bool beginWithIPv6(llvm::ArrayRef<StringRef> parts) {
  bool hasDigit = false, hasGap = false;
  size_t groups = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (part.find_first_not_of("0123456789abcdefABCDEF.") != StringRef::npos)
      break;
    // Two colons in front of a name divide it from the address.
    hasGap |= part.empty() && i > 0 && i + 1 < parts.size() &&
              llvm::all_of(parts[i + 1], llvm::isHexDigit);
    groups += !part.empty();
    hasDigit |= llvm::any_of(part, llvm::isDigit);
  }
  return hasDigit && (hasGap || groups > 6);
}

/// Whether a word has an IPv6 address, perhaps with a port or after a label, or
/// next to a name: `tcp:fe80::1`, `fd00::7_mm`, `2001:db8::1::gemm`.
static bool hasAddressOfIPv6(StringRef word) {
  llvm::SmallVector<StringRef, 2> names;
  llvm::SplitString(word, names, "_");
  return llvm::any_of(names, [](StringRef name) {
    llvm::SmallVector<StringRef, 9> parts;
    name.split(parts, ':');
    bool hasLabel = parts.size() > 1 && !parts[1].empty();
    return beginWithIPv6(parts) ||
           (hasLabel && beginWithIPv6(llvm::ArrayRef(parts).drop_front()));
  });
}

/// Replaces each word for which `hides` holds by `?`. A word consists of
/// letters, digits and characters of `joints`.
static std::string without(StringRef text, StringRef joints,
                           bool (*hides)(StringRef)) {
  auto isOfWord = [&](char c) {
    return llvm::isAlnum(c) || joints.contains(c);
  };
  std::string kept;
  while (!text.empty()) {
    StringRef word = text.take_while(isOfWord);
    kept += hides(word) ? "?" : word;
    text = text.drop_front(word.size());
    StringRef between = text.take_until(isOfWord);
    kept += between;
    text = text.drop_front(between.size());
  }
  return kept;
}

/// Replaces what stands in brackets by `?` if it is one word with a letter,
/// such as a machine with a port.
static std::string withoutBrackets(StringRef text) {
  std::string kept;
  while (!text.empty()) {
    StringRef before = text.take_front(text.find('[') + 1);
    if (before.empty())
      before = text;
    kept += before;
    text = text.drop_front(before.size());
    StringRef word = text.take_front(text.find_first_of("[] "));
    if (text.drop_front(word.size()).starts_with("]") &&
        llvm::any_of(word, llvm::isAlpha)) {
      kept += "?";
      text = text.drop_front(word.size());
    }
  }
  return kept;
}

/// Replaces `%2F` by `/`, and other letters of a URL; also where the percent
/// itself is written so.
static std::string decoded(StringRef text) {
  std::string kept;
  for (char c : text) {
    kept += c;
    for (size_t at = kept.size() - 3;
         kept.size() >= 3 && kept[at] == '%' &&
         llvm::isHexDigit(kept[at + 1]) && llvm::isHexDigit(kept[at + 2]);
         at -= 2)
      kept.replace(at, 3, 1, llvm::hexFromNibbles(kept[at + 1], kept[at + 2]));
  }
  return kept;
}

std::string netc::trace::shownName(StringRef name) {
  std::string shown = withoutFolders(decoded(name));
  shown = without(withoutBrackets(shown), "._:", hasAddressOfIPv6);
  shown = without(shown, "._-@", isHost);
  if (!llvm::json::isUTF8(shown))
    shown = llvm::json::fixUTF8(shown);
  // Some letters are not seen, and change the order of others.
  std::string printed;
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(shown.data());
  const auto *end = at + shown.size();
  while (at < end) {
    const llvm::UTF8 *begin = at;
    llvm::UTF32 letter = 0;
    bool isLetter =
        llvm::convertUTF8Sequence(&at, end, &letter, llvm::strictConversion) ==
        llvm::conversionOK;
    if (!isLetter)
      ++at;
    if (isLetter && llvm::sys::unicode::isPrintable(int(letter)))
      printed.append(begin, at);
    else
      printed += '?';
  }
  return printed;
}
