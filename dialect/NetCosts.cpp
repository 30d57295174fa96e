// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What net-tblgen makes of the ops' entries. A change of a formula compiles
// this file alone.

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

#include "dialect/NetCosts.cpp.inc"
#include "dialect/NetSignatures.cpp.inc"
