// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_JSON_H
#define NETC_LIB_PROGRAM_JSON_H

#include "lib/Program/Program.h"

#include <nlohmann/json.hpp>

namespace netc::program {

/// What was compiled and how: the description without tensors, ops, kernels and
/// sizes of memory.
nlohmann::ordered_json identityOf(const Program &program);

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_JSON_H
