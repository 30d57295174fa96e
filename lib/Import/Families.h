// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_FAMILIES_H
#define NETC_LIB_IMPORT_FAMILIES_H

#include "lib/Import/Json.h"

#include <map>

namespace netc::import {

/// Texts by name, in the order of the table.
template <typename T> using Ordered = std::vector<std::pair<std::string, T>>;

/// What a key of a `config.json` means; Families.yaml says it in full.
struct Key {
  enum Kind { Size, Option, Only, Free, Noted };
  Kind kind = Free;
  std::string setting;           ///< of a size or option
  std::vector<Json> only;        ///< what the net is made for
  std::string member;            ///< of what is noted, or empty
  std::optional<Json> byDefault; ///< where it is left out
  Ordered<std::string> words;    ///< for its words, or none
  std::string pattern;           ///< what a list is made into
  std::string onlyIf, also;      ///< another key; a path of keys
  bool isRequired = false, nullIsNone = false, mayBeZero = false;
};

/// Networks that differ by numbers.
struct Family {
  std::string net, file;
  Ordered<std::string> architectures; ///< settings by class
  Ordered<Key> keys;
  Ordered<std::string> let, weights, renamed;
  std::string prefix, later;
  std::vector<std::string> spare;
};

/// The families by `model_type`.
const std::map<std::string, Family> &families();

} // namespace netc::import

#endif // NETC_LIB_IMPORT_FAMILIES_H
