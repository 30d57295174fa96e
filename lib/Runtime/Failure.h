// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_FAILURE_H
#define NETC_LIB_RUNTIME_FAILURE_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace netc::runtime {

/// Ends the program with exit status `status`: 1 for wrong input, 2 for wrong
/// options, 3 if the machine lacks something or a file cannot be written.
struct Failure : std::runtime_error {
  Failure(int status, const std::string &message)
      : std::runtime_error(message), status(status) {}
  int status;
};

/// The machine, or its GPU, lacks memory.
struct LackOfMemory : Failure {
  LackOfMemory(const std::string &message, int64_t needed, int64_t available)
      : Failure(3, message), needed(needed), available(available) {}
  int64_t needed, available; ///< bytes
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_FAILURE_H
