// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_ATTRIBUTES_TD
#define NET_ATTRIBUTES_TD

include "dialect/NetDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"

class Net_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Net_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Net_AxesAttr : Net_Attr<"Axes", "axes",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "the sizes of a tensor's axes, as polynomials in the free axes";
  let description = [{
    The encoding of a tensor with a free axis. Every axis is listed; a constant
    one repeats the static dimension: `tensor<?x64xf32, #net.axes<"N", "64">>`.
  }];
  let parameters = (ins AttrParameter<"::netc::Shape", "one size an axis">:$shape);
}

def Net_PolynomialAttr : Net_Attr<"Polynomial", "poly"> {
  let summary = "an exact number or polynomial in the free axes";
  let parameters = (ins AttrParameter<"::netc::Polynomial", "the value">:$value);
}

def Net_MomentsAttr : Net_Attr<"Moments", "moments"> {
  let summary = "what is known of a free axis: E[n], E[n^2], ...";
  let description = [{
    A fixed size is `#net.moments<"20">`, all of whose powers are known
    (`fixed`); a mean alone knows its first moment.
  }];
  let parameters = (ins AttrParameter<"::netc::Moments", "the moments">:$value);
}

def Net_Phase : I32EnumAttr<"Phase", "the part of a training step that an op belongs to", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"InputGradient", 1, "input">,
    I32EnumAttrCase<"WeightGradient", 2, "weight">,
    I32EnumAttrCase<"Update", 3, "update">,
    I32EnumAttrCase<"Recompute", 4, "recompute">]> {
  let cppNamespace = "::netc";
  let genSpecializedAttr = 0;
}
def Net_PhaseAttr : EnumAttr<Net_Dialect, Net_Phase, "phase">;

#endif // NET_ATTRIBUTES_TD
