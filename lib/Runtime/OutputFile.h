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

/// Writes the pieces to a file, which appears under its name when it is
/// complete. A device or a pipe is written to, a link is followed. Throws a
/// Failure.
void writeFile(const std::string &path,
               const std::vector<std::string_view> &pieces);

/// What is thrown then.
Failure cannotWrite(const std::string &path, const std::string &why);

/// Throws the Failure early that the folder of a file, or a folder, a device or
/// a pipe of this name, cannot be written to.
void expectWritable(const std::string &path);

/// Writes to standard output. Throws a Failure.
void writeOutput(const std::string &text);

/// Lets SIGHUP, SIGINT, SIGQUIT and SIGTERM end the program with 128 and their
/// number, at once and with no incomplete file left.
void endOnSignals();

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_OUTPUTFILE_H
