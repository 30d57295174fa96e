// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Child.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace netc;
namespace fs = llvm::sys::fs;

namespace {
/// What a signal must put an end to. Held while one is made, so that none is
/// made after the signal looked.
struct Remains {
  std::mutex mutex;
  std::set<std::string> folders;
  pid_t child = 0; ///< leads a process group
};
} // namespace

static Remains &remains() {
  static auto &instance = *new Remains; // a signal may come at the very end
  return instance;
}

/// Without those that are ignored, as by nohup.
static sigset_t endingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction action;
    if (!sigaction(signal, nullptr, &action) && action.sa_handler != SIG_IGN)
      sigaddset(&signals, signal);
  }
  return signals;
}

/// What a child's own children write may come after a first try.
static void removeFolder(const std::string &folder) {
  for (int trial = 0; trial < 100; ++trial) {
    if (!fs::remove_directories(folder, /*IgnoreErrors=*/false) ||
        !fs::exists(folder))
      return;
    usleep(10'000);
  }
}

static void awaitOneOf(sigset_t signals) {
  int signal = 0;
  if (sigwait(&signals, &signal))
    return;
  Remains &left = remains();
  left.mutex.lock(); // for good
  if (left.child)
    kill(-left.child, SIGKILL);
  for (const std::string &folder : left.folders)
    removeFolder(folder);
  // LLVM's handler, if there is one, removes what writeOutput() has begun. It
  // returns from SIGQUIT, after which the signal has its own effect.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  raise(signal);
  raise(signal);
}

void netc::leaveNothingOnSignals() {
  sigset_t signals = endingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(awaitOneOf, signals).detach();
}

llvm::Expected<ScratchFolder> ScratchFolder::create(const llvm::Twine &prefix) {
  ScratchFolder made;
  llvm::SmallString<128> model;
  prefix.toVector(model);
  std::lock_guard<std::mutex> lock(remains().mutex);
  std::error_code error = std::make_error_code(std::errc::file_exists);
  while (error == std::errc::file_exists) {
    fs::createUniquePath(model + "-%%%%%%%%", made.folder,
                         /*MakeAbsolute=*/true);
    error = fs::create_directory(made.folder, /*IgnoreExisting=*/false,
                                 fs::owner_all);
  }
  if (error) {
    made.folder.clear();
    return llvm::errorCodeToError(error);
  }
  remains().folders.insert(made.folder.str().str());
  return made;
}

ScratchFolder::~ScratchFolder() {
  if (folder.empty())
    return;
  std::lock_guard<std::mutex> lock(remains().mutex);
  removeFolder(folder.str().str());
  remains().folders.erase(folder.str().str());
}

std::string ScratchFolder::file(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

namespace {
/// What a child writes to. In memory: that a disk is full is said even then.
class Sink {
public:
  Sink() : file(memfd_create("netc", MFD_CLOEXEC)) {}
  ~Sink() { close(file); }
  Sink(const Sink &) = delete;
  Sink &operator=(const Sink &) = delete;

  std::string text() const {
    auto buffer =
        llvm::MemoryBuffer::getOpenFile(file, "", /*FileSize=*/-1,
                                        /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  const int file;
};
} // namespace

/// Starts it in a process group of its own, which a signal ends as a whole.
static int start(pid_t &child, llvm::StringRef program,
                 const std::vector<std::string> &arguments,
                 const ScratchFolder &scratch, const Sink &output,
                 const Sink &errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.file, 1);
  posix_spawn_file_actions_adddup2(&files, errors.file, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  std::vector<std::string> variables = {"TMPDIR=" + scratch.file("")};
  for (char **variable = environ; *variable; ++variable)
    if (!llvm::StringRef(*variable).starts_with("TMPDIR="))
      variables.push_back(*variable);
  auto pointers = [](const std::vector<std::string> &texts) {
    std::vector<char *> pointers;
    for (const std::string &text : texts)
      pointers.push_back(const_cast<char *>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  };
  int error =
      posix_spawn(&child, program.str().c_str(), &files, &attributes,
                  pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

llvm::Expected<Child> netc::runChild(llvm::StringRef program,
                                     const std::vector<std::string> &arguments,
                                     const ScratchFolder &scratch,
                                     llvm::function_ref<void()> wait) {
  Sink output, errors;
  Remains &left = remains();
  pid_t child = 0;
  {
    std::lock_guard<std::mutex> lock(left.mutex);
    if (int error = start(child, program, arguments, scratch, output, errors))
      return llvm::errorCodeToError(
          std::error_code(error, std::generic_category()));
    left.child = child;
  }
  int status = 0;
  pid_t ended = 0;
  while (ended != child) {
    ended = waitpid(child, &status, wait ? WNOHANG : 0);
    if (ended < 0 && errno != EINTR)
      return llvm::errorCodeToError(
          std::error_code(errno, std::generic_category()));
    if (ended == 0) {
      wait();
      usleep(200'000);
    }
  }
  std::lock_guard<std::mutex> lock(left.mutex);
  left.child = 0;
  Child result;
  (WIFSIGNALED(status) ? result.signal : result.status) =
      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  result.output = output.text();
  result.errors = errors.text();
  return result;
}
