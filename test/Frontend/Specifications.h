// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_FRONTEND_SPECIFICATIONS_H
#define NETC_TEST_FRONTEND_SPECIFICATIONS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

#include <string>
#include <vector>

namespace netc {

/// Adds every `.net` file of `folder`, if there is such a folder.
inline void addSpecifications(llvm::StringRef folder,
                              std::vector<std::string> &paths) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           i(llvm::Twine(NETC_SOURCE_DIR) + "/" + folder, error),
       end;
       !error && i != end; i.increment(error))
    if (llvm::StringRef(i->path()).ends_with(".net"))
      paths.push_back(i->path());
}

} // namespace netc

#endif // NETC_TEST_FRONTEND_SPECIFICATIONS_H
