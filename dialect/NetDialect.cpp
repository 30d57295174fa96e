// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

#include "dialect/NetDialect.cpp.inc"

void NetDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/NetOps.cpp.inc"
      >();
}

Phase netc::phaseOf(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>(kPhase);
  return phase ? phase.getValue() : Phase::Forward;
}
