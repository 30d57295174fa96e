// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_DIALECT_TD
#define NET_DIALECT_TD

include "mlir/IR/OpBase.td"

def Net_Dialect : Dialect {
  let name = "net";
  let cppNamespace = "::netc";
  let summary = "Neural networks and the step that trains them";
  let description = [{
    One op is one operation of a training step: forward, loss, gradient or
    update. Values are ranked tensors whose free axes keep their names, so that
    what a step costs is an exact polynomial in those axes.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 0;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // NET_DIALECT_TD
