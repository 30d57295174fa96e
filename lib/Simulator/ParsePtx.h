// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_PARSEPTX_H
#define NETC_LIB_SIMULATOR_PARSEPTX_H

#include "lib/Simulator/Kernel.h"

#include <map>

namespace netc::simulator {

/// A kernel whose instructions are not decoded.
struct ParsedKernel {
  std::string name;
  std::vector<Statement> statements;
  Names names;
  std::vector<Register> registers;
  /// Size and offset in bytes of each parameter.
  std::vector<std::pair<uint32_t, uint32_t>> parameters;
  uint32_t parameterBytes = 0, localBytes = 0;
};

struct SharedVariable {
  uint64_t bytes, alignment; ///< `bytes` is 0 for a dynamic size
};

struct ParsedModule {
  std::vector<ParsedKernel> kernels;
  std::vector<Variable> variables; ///< in global memory
  /// The variables in shared memory. A kernel has those that it uses.
  std::map<std::string, SharedVariable> shared;
};

/// Parses a module; throws a PtxError. Instructions are decoded later.
ParsedModule parsePtx(const std::string &text);

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_PARSEPTX_H
