// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_FUZZ_MEMORYFILE_H
#define NETC_TEST_FUZZ_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

/// A file that only this process can read, until the end of the object.
class MemoryFile {
public:
  explicit MemoryFile(llvm::StringRef bytes)
      : descriptor(memfd_create("bytes", 0)) {
    if (write(descriptor, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
      llvm::report_fatal_error("no memory for a file");
  }
  ~MemoryFile() { close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

#endif // NETC_TEST_FUZZ_MEMORYFILE_H
