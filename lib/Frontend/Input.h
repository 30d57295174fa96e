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

/// The text of a regular file, or of the standard input for `-`. Files that may
/// block or never end are refused. A longer text is cut at some point after
/// `maxBytes`, so its length shows that it is too long. Fails with the reason.
llvm::Expected<std::string> readText(llvm::StringRef path, size_t maxBytes);

/// The error for a text longer than `maxBytes`.
Message longerThan(size_t maxBytes);

/// The kind of a file that is clearly not a specification, such as `an ONNX
/// model`, from its first bytes and the end of its name. Else empty.
llvm::StringRef otherFormat(llvm::StringRef path, llvm::StringRef text);

} // namespace netc

#endif // NETC_LIB_FRONTEND_INPUT_H
