// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_JSON_H
#define NETC_LIB_IMPORT_JSON_H

#include "lib/Import/Import.h"
#include "llvm/ADT/StringMap.h"

#include <nlohmann/json.hpp>

namespace netc::import {

/// As it is written: the order of members counts.
using Json = nlohmann::ordered_json;

/// The text of a file, an object.
struct Document {
  Json root;
  llvm::StringMap<std::pair<unsigned, unsigned>> places; ///< of its keys
};

/// None, and a problem is reported, if it is no object, nested more than 64
/// deep, or has a key twice.
std::optional<Document> parseObject(llvm::StringRef path, llvm::StringRef text,
                                    const Host &host);

/// What a key has, in ASCII and short enough for a message.
std::string shown(const Json &value);

/// The same of a name, which a file may give any characters.
std::string shownName(llvm::StringRef name);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_JSON_H
