// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_CHILD_H
#define NETC_LIB_TARGET_CHILD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace netc {

/// From now on, SIGHUP, SIGINT, SIGQUIT and SIGTERM end the program only after
/// the child was killed and the folders below are gone. To be called before
/// there are other threads.
void leaveNothingOnSignals();

/// A folder for files that shall not stay. It goes with all that is in it.
class ScratchFolder {
public:
  /// Makes a folder called `prefix`, some letters and `.netc-scratch`, in the
  /// system's folder for temporary files if the prefix is not absolute. Removes
  /// those of the same prefix whose program was killed. Fails if it cannot.
  static llvm::Expected<ScratchFolder> create(const llvm::Twine &prefix);
  ScratchFolder(ScratchFolder &&other)
      : folder(std::move(other.folder)), held(other.held) {
    other.folder.clear();
  }
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder();

  /// Of a file in it.
  std::string file(llvm::StringRef name) const;

private:
  ScratchFolder() = default;
  llvm::SmallString<128> folder;
  int held = -1; ///< locked as long as this program lives
};

/// How a child ended, and what it wrote.
struct Child {
  int status = 0; ///< that it exited with
  int signal = 0; ///< that ended it, or 0
  std::string output, errors;
};

/// Runs a program, which ends when this one does: no shell, nothing to read,
/// temporary files of its own in `scratch`. `arguments` begin with the name
/// that the program shall have. While it runs, `wait` is called five times a
/// second, if there is one. Fails if the program cannot be started.
llvm::Expected<Child> runChild(llvm::StringRef program,
                               const std::vector<std::string> &arguments,
                               const ScratchFolder &scratch,
                               llvm::function_ref<void()> wait = nullptr);

} // namespace netc

#endif // NETC_LIB_TARGET_CHILD_H
