// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_LANGUAGESERVER_CHECKER_H
#define NETC_LIB_LANGUAGESERVER_CHECKER_H

#include "lib/LanguageServer/Counts.h"
#include "lib/LanguageServer/Document.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/thread.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

namespace netc {

/// Distinct texts, in the order in which they were found.
using Texts = llvm::SetVector<std::string, std::vector<std::string>,
                              std::set<std::string>>;

/// What netc finds out about a specification when it counts it.
struct CheckedFile {
  std::vector<Problem> problems;
  std::shared_ptr<const Counts> counts; ///< null after errors
  /// The types of tensors, by the place of the name that is bound to the
  /// tensor. A block that is applied several times may bind several types.
  std::map<TextPlace, Texts> types;
  /// The paths of parts of networks, by the place of the name of their block or
  /// op.
  std::map<TextPlace, Texts> parts;
};

/// A text to be checked, and the files that editors hold, by path.
struct CheckRequest {
  std::string path;
  llvm::StringMap<std::string> buffers;
  std::vector<std::string> includeFolders;
};

/// Counts a specification, as `netc --check` does.
CheckedFile check(const CheckRequest &request);

/// Checks specifications one after the other. Its thread runs until the process
/// ends.
class Checker {
public:
  using OnChecked = llvm::unique_function<void(const CheckRequest &,
                                               const CheckedFile &) const>;
  explicit Checker(OnChecked onChecked);
  /// Adds a request. It replaces one for the same file that has not begun.
  void request(CheckRequest request);

private:
  [[noreturn]] void work();

  OnChecked onChecked;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<CheckRequest> pending;
  llvm::thread thread;
};

} // namespace netc

#endif // NETC_LIB_LANGUAGESERVER_CHECKER_H
