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

/// From now on, SIGHUP, SIGINT, SIGQUIT and SIGTERM kill the child and remove
/// all scratch folders before they end this program. Must be called before
/// other threads are started.
void leaveNothingOnSignals();

/// A folder for temporary files, which is removed with its contents.
class ScratchFolder {
public:
  /// Creates a folder named `prefix`, random letters and `.netc-scratch`. If
  /// the prefix is a relative path, it is in the system's folder for temporary
  /// files. Removes folders of the same prefix that killed programs left.
  static llvm::Expected<ScratchFolder> create(const llvm::Twine &prefix);
  ScratchFolder(ScratchFolder &&other)
      : folder(std::move(other.folder)), held(other.held) {
    other.folder.clear();
  }
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  ~ScratchFolder();

  /// The path of a file in it.
  std::string file(llvm::StringRef name) const;

private:
  ScratchFolder() = default;
  llvm::SmallString<128> folder;
  int held = -1; ///< file descriptor with a lock, which shows that the program
                 ///< is alive
};

/// How a child ended, and its output.
struct Child {
  int status = 0; ///< exit status
  int signal = 0; ///< the signal that ended it, or 0
  std::string output, errors;
};

/// Runs a program to its end, without a shell. Its standard input is empty, its
/// temporary files go to `scratch`, and it ends with this program. `arguments`
/// begin with the program's name. `wait`, if not null, is called five times per
/// second. Fails if the program cannot be started.
llvm::Expected<Child> runChild(llvm::StringRef program,
                               const std::vector<std::string> &arguments,
                               const ScratchFolder &scratch,
                               llvm::function_ref<void()> wait = nullptr);

} // namespace netc

#endif // NETC_LIB_TARGET_CHILD_H
