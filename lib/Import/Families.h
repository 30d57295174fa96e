// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_FAMILIES_H
#define NETC_LIB_IMPORT_FAMILIES_H

#include "lib/Import/Json.h"

#include <map>

namespace netc::import {

/// Values by name, in the order of the table.
template <typename T> using Ordered = std::vector<std::pair<std::string, T>>;

/// The meaning of a key of a `config.json`. Families.yaml documents the
/// members.
struct Key {
  enum Kind { Size, Option, Only, Same, Free, Noted, Missing };
  Kind kind = Free;
  std::string setting;    ///< for a size or an option; of another key, if Same
  std::vector<Json> only; ///< the values that the net supports
  std::string member;     ///< for a feature that is only noted; may be empty
  std::optional<Json> byDefault; ///< of an omitted key
  Ordered<std::string>
      words;           ///< texts for the words that are accepted; may be empty
  std::string pattern; ///< what a list is converted to
  std::string second;  ///< a further setting, where that does not tell all
  std::string none;    ///< the text for `null`; empty if it is not accepted
  std::string onlyIf, also; ///< another key; a path of keys
  bool isRequired = false, nullIsDefault = false, mayBeZero = false;
};

/// Networks that differ only in sizes and options.
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
