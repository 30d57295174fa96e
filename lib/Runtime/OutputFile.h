// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_OUTPUTFILE_H
#define NETC_LIB_RUNTIME_OUTPUTFILE_H

#include "lib/Runtime/Failure.h"

#include <string>
#include <string_view>
#include <vector>

namespace netc::runtime {

/// Writes the pieces to a file, which appears under its name only when it is
/// complete. Devices and pipes are written to directly. Links are followed.
/// Throws a Failure.
void writeFile(const std::string &path,
               const std::vector<std::string_view> &pieces);

/// The Failure of a file that cannot be written.
Failure cannotWrite(const std::string &path, const std::string &why);

/// Throws that Failure early if `path` cannot be written. `path` may be a new
/// file, whose folder must be writable, or an existing file, device or pipe.
void expectWritable(const std::string &path);

/// Writes to standard output. Throws a Failure.
void writeOutput(const std::string &text);

/// Lets SIGHUP, SIGINT, SIGQUIT and SIGTERM end the program at once, with 128 +
/// their number as the status and without an incomplete file.
void endOnSignals();

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_OUTPUTFILE_H
