// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Target/Backend.h"

#include "lib/Target/CPU.h"
#include "lib/Target/CUDA.h"

using namespace netc;

namespace {
struct BackendEntry {
  llvm::StringLiteral name;
  llvm::Expected<std::unique_ptr<Backend>> (*make)(const LoweringOptions &);
};
} // namespace

static constexpr BackendEntry backends[] = {{"cpu", makeCpuBackend},
                                            {"cuda", makeCudaBackend}};

llvm::Expected<std::unique_ptr<Backend>>
netc::makeBackend(const LoweringOptions &options) {
  for (const BackendEntry &entry : backends)
    if (entry.name == options.target)
      return entry.make(options);
  llvm_unreachable("the command line names backends that are here");
}
