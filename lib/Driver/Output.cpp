// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Driver/Output.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace netc;
using namespace llvm;

/// Flushes, and takes over the stream's error, since the stream would end the
/// program.
static std::error_code finish(raw_fd_ostream &os) {
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

/// Writes to a temporary file next to `path`, and renames it. The file keeps
/// the owner, if this is allowed, and the permissions that `old` has. Bits that
/// let a program run as its owner were given to other contents.
static Error writeFile(StringRef path,
                       const std::optional<sys::fs::file_status> &old,
                       function_ref<void(raw_ostream &)> print) {
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
  if (!file)
    return file.takeError();
  if (old) {
    (void)sys::fs::changeFileOwnership(file->FD, old->getUser(),
                                       old->getGroup());
    auto mode = old->permissions() & sys::fs::all_all;
    if (std::error_code error = sys::fs::setPermissions(file->FD, mode))
      return joinErrors(errorCodeToError(error), file->discard());
  }
  raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  print(os);
  if (std::error_code error = finish(os))
    return joinErrors(errorCodeToError(error), file->discard());
  return file->keep(path);
}

/// Whether a path leads to stdout, as /dev/stdout does.
static bool isStdout(StringRef path) {
  sys::fs::file_status file, standard;
  return !sys::fs::status(path, file) &&
         !sys::fs::status(STDOUT_FILENO, standard) &&
         file.getUniqueID() == standard.getUniqueID();
}

Error netc::writeOutput(StringRef path,
                        function_ref<void(raw_ostream &)> print) {
  if (path == "-" || isStdout(path)) {
    print(outs());
    return errorCodeToError(finish(outs()));
  }
  // Devices and pipes are written to instead of replaced, and links stay links.
  sys::fs::file_status status;
  SmallString<128> real;
  if (sys::fs::real_path(path, real))
    real = path;
  if (sys::fs::status(path, status))
    return writeFile(real, std::nullopt, print);
  if (sys::fs::is_regular_file(status))
    return writeFile(real, status, print);
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (error)
    return errorCodeToError(error);
  print(os);
  return errorCodeToError(finish(os));
}

unsigned netc::widthOf(raw_ostream &os) {
  winsize size;
  bool isTerminal =
      os.is_displayed() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return isTerminal ? size.ws_col : 0;
}

bool netc::isColourful(raw_ostream &os) {
  const char *noColour = std::getenv("NO_COLOR");
  return os.has_colors() && !(noColour && *noColour);
}
