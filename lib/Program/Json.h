// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_JSON_H
#define NETC_LIB_PROGRAM_JSON_H

#include "lib/Program/Program.h"

#include <nlohmann/json.hpp>

namespace netc::program {

/// The parts of a description that say what was compiled and how: everything
/// except slots, ops and memory.
nlohmann::ordered_json identityOf(const Program &program);

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_JSON_H
