// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_JSON_H
#define NETC_LIB_IMPORT_JSON_H

#include "lib/Import/Import.h"
#include "llvm/ADT/StringMap.h"

#include <nlohmann/json.hpp>

namespace netc::import {

/// Keeps the order of members.
using Json = nlohmann::ordered_json;

/// The text of a file that is an object.
struct Document {
  Json root;
  llvm::StringMap<std::pair<unsigned, unsigned>>
      places; ///< line and column of its keys
};

/// None, after reporting an error, if the text is not an object, is nested more
/// than 64 levels deep, or has a key twice.
std::optional<Document> parseObject(llvm::StringRef path, llvm::StringRef text,
                                    const Host &host);

/// A value for messages: ASCII, and not too long.
std::string shown(const Json &value);

/// The same for a name, which may have any characters in a file.
std::string shownName(llvm::StringRef name, size_t most = 120);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_JSON_H
