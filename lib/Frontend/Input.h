// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_INPUT_H
#define NETC_LIB_FRONTEND_INPUT_H

#include "lib/Diagnostics/Errors.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace netc {

/// The text of a regular file, or of the standard input for `-`: what may block
/// or never end is refused. Of one that is longer than `maxBytes` so much that
/// this can be seen. Errors say why it cannot be read.
llvm::Expected<std::string> readText(llvm::StringRef path, size_t maxBytes);

/// The error of a text that is longer.
Message longerThan(size_t maxBytes);

/// What a file is that was surely not meant as a specification, such as
/// `an ONNX model`, by what it begins with and the end of its name; else empty.
llvm::StringRef otherFormat(llvm::StringRef path, llvm::StringRef text);

} // namespace netc

#endif // NETC_LIB_FRONTEND_INPUT_H
