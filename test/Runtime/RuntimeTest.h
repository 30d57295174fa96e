// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_RUNTIME_RUNTIMETEST_H
#define NETC_TEST_RUNTIME_RUNTIMETEST_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Failure.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace netc::runtime {

/// What an action fails with, as "status: message"; or "" if it does not.
template <typename Action> std::string failure(Action action) {
  try {
    action();
  } catch (const Failure &failure) {
    return std::to_string(failure.status) + ": " + failure.what();
  }
  return "";
}

inline program::Slot makeSlot(program::Role role, program::Element element,
                              std::vector<int64_t> shape,
                              program::Init init = program::Init::Zeros,
                              int64_t upperBound = 0) {
  program::Slot slot;
  slot.name = "slot";
  slot.role = role;
  slot.init = init;
  slot.element = element;
  slot.shape = std::move(shape);
  slot.offset = 0;
  slot.upperBound = upperBound;
  return slot;
}

/// A folder of this test alone.
inline std::string scratch() {
  std::string pattern = testing::TempDir() + "netc-XXXXXX";
  return mkdtemp(&pattern[0]);
}

} // namespace netc::runtime

#endif // NETC_TEST_RUNTIME_RUNTIMETEST_H
