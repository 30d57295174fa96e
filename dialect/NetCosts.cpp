// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that net-tblgen generates from the ops' entries. A changed formula
// recompiles only this file.

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

#include "dialect/NetCosts.cpp.inc"
#include "dialect/NetSignatures.cpp.inc"
