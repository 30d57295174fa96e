// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/OutputFile.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

using namespace netc::runtime;

/// The path of the file that is being written, or empty. Read by a signal
/// handler.
static char incomplete[PATH_MAX];

static void end(int signal) {
  if (incomplete[0])
    unlink(incomplete);
  _exit(128 + signal);
}

void netc::runtime::endOnSignals() {
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction action = {}, before;
    action.sa_handler = end;
    // Ignored signals, as under nohup, stay ignored.
    if (!sigaction(signal, nullptr, &before) && before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
}

static bool writeAll(int file, const std::vector<std::string_view> &pieces) {
  for (std::string_view piece : pieces)
    while (!piece.empty()) {
      ssize_t written = write(file, piece.data(), piece.size());
      if (written < 0)
        return false;
      piece.remove_prefix(size_t(written));
    }
  return true;
}

void netc::runtime::writeOutput(const std::string &text) {
  if (!writeAll(STDOUT_FILENO, {text}))
    throw Failure(3, std::string("cannot write the output: ") +
                         std::strerror(errno));
}

Failure netc::runtime::cannotWrite(const std::string &path,
                                   const std::string &why) {
  return Failure(3, "cannot write `" + path + "`: " + why);
}

/// The standard stream that writes to the file of `status`, or -1.
static int streamOf(const struct stat &status) {
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open;
    if (!fstat(stream, &open) && open.st_dev == status.st_dev &&
        open.st_ino == status.st_ino)
      return stream;
  }
  return -1;
}

/// The path of the file after following links, if it exists; else `path`.
static std::string targetOf(const std::string &path) {
  std::unique_ptr<char, decltype(&std::free)> real(
      realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

void netc::runtime::expectWritable(const std::string &path) {
  struct stat status;
  bool isThere = !stat(path.c_str(), &status);
  if (isThere && streamOf(status) >= 0)
    return;
  std::string written = path;
  // A regular file is replaced by a temporary one in the same folder.
  if (!isThere || S_ISREG(status.st_mode)) {
    written = targetOf(path);
    while (written.size() > 1 && written.back() == '/')
      written.pop_back();
    written.erase(written.rfind('/') + 1); // also for npos: erases all
    written += '.';
  }
  if (access(written.c_str(), W_OK))
    throw cannotWrite(path, std::strerror(errno));
}

void netc::runtime::writeFile(const std::string &path,
                              const std::vector<std::string_view> &pieces) {
  auto fail = [&](const char *why) {
    std::string reason = why;
    if (incomplete[0])
      unlink(incomplete);
    incomplete[0] = 0;
    return cannotWrite(path, reason);
  };
  struct stat status;
  bool isThere = !stat(path.c_str(), &status);
  // `--json=/dev/stdout >> FILE` appends to the file instead of replacing it.
  if (int stream = isThere ? streamOf(status) : -1; stream >= 0) {
    if (!writeAll(stream, pieces))
      throw fail(std::strerror(errno));
    return;
  }
  if (isThere && !S_ISREG(status.st_mode)) {
    int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && writeAll(file, pieces);
    if (!written || close(file))
      throw fail(std::strerror(errno));
    return;
  }

  std::string target = targetOf(path);
  std::string beside = target + "." + std::to_string(getpid()) + ".tmp";
  if (beside.size() >= sizeof incomplete)
    throw fail("its name is too long");
  std::strcpy(incomplete, beside.c_str());
  int file =
      open(beside.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
  if (file < 0) {
    incomplete[0] = 0; // the file was not created
    throw fail(std::strerror(errno));
  }
  // The owner stays if this is allowed.
  if (isThere && fchown(file, status.st_uid, status.st_gid))
    errno = 0;
  bool written = (!isThere || !fchmod(file, status.st_mode & 0777)) &&
                 writeAll(file, pieces);
  int error = errno;
  if (close(file) && written) {
    written = false;
    error = errno;
  }
  if (!written)
    throw fail(std::strerror(error));
  if (rename(beside.c_str(), target.c_str()))
    throw fail(std::strerror(errno));
  incomplete[0] = 0;
}
