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
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace netc;
namespace fs = llvm::sys::fs;

namespace {
/// The state that a signal handler has to clean up. The mutex is locked while a
/// folder or a child is created, so that none is created after the handler has
/// run.
struct Remains {
  std::mutex mutex;
  std::set<std::string> folders;
  pid_t child = 0; ///< leader of a process group
};
} // namespace

static Remains &remains() {
  static auto &instance =
      *new Remains; // never destroyed: a signal may come during exit
  return instance;
}

/// The signals that end the program, without ignored ones as under nohup.
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

/// Tries repeatedly, since the child's own children may still write files.
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
  left.mutex.lock(); // never unlocked
  if (left.child)
    kill(-left.child, SIGKILL);
  for (const std::string &folder : left.folders)
    removeFolder(folder);
  // LLVM's handler, if there is one, removes the output file of writeOutput().
  // It returns from SIGQUIT, after which the signal has its default effect.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  raise(signal);
  raise(signal);
}

void netc::leaveNothingOnSignals() {
  sigset_t signals = endingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(awaitOneOf, signals).detach();
}

/// The suffix of scratch folders, which no other folder is likely to have.
static const char *const suffix = ".netc-scratch";

static int openFolder(const std::string &path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Removes this user's scratch folders of this model that no program has
/// locked. The system releases the lock of a killed program.
static void removeStale(llvm::StringRef model) {
  std::error_code error;
  std::vector<std::string> stale;
  for (fs::directory_iterator entry(llvm::sys::path::parent_path(model), error),
       end;
       !error && entry != end; entry.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(entry->path());
    bool isOne = name.consume_front(llvm::sys::path::filename(model)) &&
                 name.consume_front("-") && name.consume_back(suffix) &&
                 name.size() == 8;
    struct stat status;
    if (isOne && !lstat(entry->path().c_str(), &status) &&
        status.st_uid == geteuid())
      stale.push_back(entry->path());
  }
  for (const std::string &path : stale) {
    int folder = openFolder(path);
    if (folder >= 0 && !flock(folder, LOCK_EX | LOCK_NB))
      fs::remove_directories(path);
    close(folder);
  }
}

/// Whether the path still refers to the opened folder.
static bool isStill(const std::string &path, int opened) {
  struct stat named, held;
  return !stat(path.c_str(), &named) && !fstat(opened, &held) &&
         named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

llvm::Expected<ScratchFolder> ScratchFolder::create(const llvm::Twine &prefix) {
  ScratchFolder made;
  llvm::SmallString<128> model;
  prefix.toVector(model);
  if (!llvm::sys::path::is_absolute(model)) {
    llvm::SmallString<128> folder;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    llvm::sys::path::append(folder, model);
    model = folder;
  }
  removeStale(model);
  std::lock_guard<std::mutex> lock(remains().mutex);
  std::error_code error;
  bool isMade = false;
  while (!isMade && !error) {
    fs::createUniquePath(model + "-%%%%%%%%" + suffix, made.folder,
                         /*MakeAbsolute=*/false);
    error = fs::create_directory(made.folder, /*IgnoreExisting=*/false,
                                 fs::owner_all);
    if (error == std::errc::file_exists)
      error.clear();
    else if (!error) {
      // Another program may have removed the folder as stale before it was
      // locked. On a file system without locks it is used unlocked.
      made.held = openFolder(made.folder.str().str());
      bool isLocked = made.held >= 0 && !flock(made.held, LOCK_EX);
      isMade = isLocked ? isStill(made.folder.str().str(), made.held)
                        : fs::exists(made.folder);
      if (!isMade)
        close(made.held);
    }
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
  close(held);
}

std::string ScratchFolder::file(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

namespace {
/// A file for the output of a child. It is in memory, so that the child's
/// messages arrive even if the disk is full.
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

/// Runs in the forked child, so it must not allocate memory or take a lock. The
/// child leads a process group, which a signal ends as a whole. It ends with
/// its parent, even if that is killed. Returns if the program cannot be run.
static void become(const char *program, char **arguments, char **variables,
                   pid_t parent, const Sink &output, const Sink &errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // the parent has ended already
    _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (dup2(nothing, 0) == 0 && dup2(output.file, 1) == 1 &&
      dup2(errors.file, 2) == 2)
    execve(program, arguments, variables);
}

/// Starts the program. Returns 0 or an `errno`.
static int start(pid_t &child, const std::string &program,
                 const std::vector<std::string> &arguments,
                 const ScratchFolder &scratch, const Sink &output,
                 const Sink &errors) {
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
  std::vector<char *> argumentList = pointers(arguments),
                      variableList = pointers(variables);
  // Exec closes the pipe; the child writes to it only if exec fails.
  int report[2];
  if (pipe2(report, O_CLOEXEC))
    return errno;
  pid_t parent = getpid();
  child = fork();
  if (child == 0) {
    become(program.c_str(), argumentList.data(), variableList.data(), parent,
           output, errors);
    int error = errno;
    _exit(write(report[1], &error, sizeof error) < 0 ? 2 : 1);
  }
  int error = child < 0 ? errno : 0;
  close(report[1]);
  if (child > 0 && read(report[0], &error, sizeof error) > 0)
    waitpid(child, nullptr, 0);
  close(report[0]);
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
    if (int error =
            start(child, program.str(), arguments, scratch, output, errors))
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
