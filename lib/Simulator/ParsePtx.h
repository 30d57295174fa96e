// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_PARSEPTX_H
#define NETC_LIB_SIMULATOR_PARSEPTX_H

#include "lib/Simulator/Kernel.h"

#include <map>

namespace netc::simulator {

struct ParsedKernel {
  std::string name;
  std::vector<Statement> statements;
  Names names;
  std::vector<Register> registers;
  /// Bytes and offset of each parameter.
  std::vector<std::pair<uint32_t, uint32_t>> parameters;
  uint32_t parameterBytes = 0, localBytes = 0;
};

struct SharedVariable {
  uint64_t bytes, alignment; ///< 0 bytes: as many as the launch says
};

struct ParsedModule {
  std::vector<ParsedKernel> kernels;
  std::vector<Variable> variables; ///< in global memory
  /// In shared memory; a kernel has those that it names.
  std::map<std::string, SharedVariable> shared;
};

/// Reads a module; throws a PtxError. Instructions are not looked at.
ParsedModule parsePtx(const std::string &text);

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_PARSEPTX_H
