// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Trace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"

using namespace netc::trace;
using llvm::StringRef;

std::string netc::trace::withoutFolders(StringRef text) {
  std::string kept;
  while (!text.empty()) {
    StringRef word = text.take_front(text.find(' ') + 1);
    if (word.empty())
      word = text;
    text = text.drop_front(word.size());
    // `operator/` is not a path.
    size_t folder = word.find_last_of("/\\");
    bool isPath =
        folder != StringRef::npos && !word.substr(folder + 1).trim().empty();
    // Of a user's own folder the last part is the user.
    StringRef around = isPath ? word.take_front(folder) : "";
    bool isHome = around.ends_with("/home") || around.ends_with("/Users") ||
                  around.ends_with("\\Users");
    if (isHome)
      kept += "?" + word.drop_front(word.rtrim().size()).str();
    else
      kept += isPath ? word.substr(folder + 1) : word;
  }
  return kept;
}

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

/// Whether a word names a machine, or a user on one: `me@node`,
/// `node7.cluster.local`, `10.0.0.7`, `gpu-17`.
static bool isHost(StringRef word) {
  llvm::SmallVector<StringRef, 8> labels;
  word.split(labels, '.');
  bool isAddress =
      labels.size() == 4 && llvm::all_of(labels, [](StringRef one) {
        return !one.empty() && one.size() <= 3 &&
               llvm::all_of(one, llvm::isDigit);
      });
  size_t at = word.find('@');
  bool hasUser = at != StringRef::npos && at > 0 && at + 1 < word.size();
  return isAddress || hasDomain(labels) || hasUser || isNumberedHost(word);
}

/// Whether a word is an IPv6 address, perhaps with a port or after a label, or
/// in front of a name: `tcp:fe80::1`, `fd00::7_mm`. Without a digit it is a C++
/// name, such as `ad::add`.
static bool isAddressOfIPv6(StringRef word) {
  word = word.take_until([](char c) { return c == '_'; });
  auto isHex = [](StringRef text) {
    return text.find_first_not_of("0123456789abcdefABCDEF:.") ==
           StringRef::npos;
  };
  auto [label, rest] = word.split(':');
  if (!isHex(label) && !rest.starts_with(":"))
    word = rest;
  return (word.contains("::") || word.count(':') > 5) &&
         llvm::any_of(word, llvm::isDigit) && isHex(word);
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

std::string netc::trace::shownName(StringRef name) {
  std::string shown = without(
      without(withoutFolders(name), "._:", isAddressOfIPv6), "._-@", isHost);
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

Slice Trace::addShapes(llvm::ArrayRef<std::vector<int64_t>> shapes) {
  std::string bytes;
  for (const std::vector<int64_t> &shape : shapes) {
    uint64_t size = shape.size();
    bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
    bytes.append(reinterpret_cast<const char *>(shape.data()),
                 size * sizeof(int64_t));
    hasShapes |= size != 0;
  }
  auto [known, isNew] = knownShapes.try_emplace(
      bytes, Slice{uint32_t(tensors.size()), uint32_t(shapes.size())});
  if (isNew)
    for (const std::vector<int64_t> &shape : shapes) {
      tensors.push_back({uint32_t(sizes.size()), uint32_t(shape.size())});
      llvm::append_range(sizes, shape);
    }
  return known->second;
}

Slice Trace::addWords(llvm::ArrayRef<std::string> texts) {
  std::vector<Name> list;
  for (StringRef text : texts)
    list.push_back(names.intern(text));
  auto [known, isNew] = knownWords.try_emplace(
      StringRef(reinterpret_cast<const char *>(list.data()),
                list.size() * sizeof(Name)),
      Slice{uint32_t(words.size()), uint32_t(list.size())});
  if (isNew)
    llvm::append_range(words, list);
  return known->second;
}

/// The index of the element of `list` with the same bytes as `added`. Appends
/// `added` if there is none.
template <typename T>
static uint32_t indexOf(const T &added, std::vector<T> &list,
                        llvm::StringMap<uint32_t> &known) {
  auto [place, isNew] = known.try_emplace(
      StringRef(reinterpret_cast<const char *>(&added), sizeof added),
      uint32_t(list.size()));
  if (isNew)
    list.push_back(added);
  return place->second;
}

uint32_t Trace::addInputs(const Inputs &added) {
  bool isNone = !added.shapes.size && !added.types.size && !added.values.size;
  return isNone ? 0 : indexOf(added, inputs, knownInputs);
}

uint32_t Trace::addExtents(const Extents &added) {
  return indexOf(added, extents, knownExtents);
}
