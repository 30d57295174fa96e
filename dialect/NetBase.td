// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_BASE_TD
#define NET_BASE_TD

include "dialect/NetAttributes.td"
include "dialect/NetInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

def Net_Tensor : Type<And<[
    RankedTensorOf<[AnyFloat, AnySignlessInteger]>.predicate,
    CPred<"::netc::hasValidShape($_self)">]>,
  "a tensor of numbers with 64 axes at most, each of 1 to 2^40 elements",
  "::mlir::RankedTensorType">;

def Net_FloatTensor : Type<And<[Net_Tensor.predicate, RankedTensorOf<[AnyFloat]>.predicate]>,
  "a tensor of floating-point numbers", "::mlir::RankedTensorType">;
def Net_BoolTensor : Type<And<[Net_Tensor.predicate, RankedTensorOf<[I1]>.predicate]>,
  "a tensor of truth values", "::mlir::RankedTensorType">;
def Net_NumberTensor : Type<And<[Net_Tensor.predicate, Neg<RankedTensorOf<[I1]>.predicate>]>,
  "a tensor of numbers (`where(condition, 1, 0)` makes them of truth values)", "::mlir::RankedTensorType">;
def Net_IntegerTensor : Type<And<[Net_NumberTensor.predicate, RankedTensorOf<[AnySignlessInteger]>.predicate]>,
  "a tensor of integers", "::mlir::RankedTensorType">;
def Net_Scalar : Type<And<[Net_Tensor.predicate, HasAnyRankOfPred<[0]>]>,
  "a single number", "::mlir::RankedTensorType">;

// The memory effect keeps two equal ops from being merged: the specification
// asked for both. An unused op is still dead.
def Net_Result : Res<Net_Tensor, "", [MemAlloc]>;

//===----------------------------------------------------------------------===//
// Settings: the attributes that a call in the language fills
//===----------------------------------------------------------------------===//

// `settingKind` names a case of netc::SettingKind, `fallback` is the value in
// the language where the call gives none (empty: required).
class Net_Setting<string kind, Attr base, string fallback_ = ""> : Attr<base.predicate, base.summary> {
  let storageType = base.storageType;
  let returnType = base.returnType;
  let convertFromStorage = base.convertFromStorage;
  let constBuilderCall = base.constBuilderCall;
  let valueType = base.valueType;
  string settingKind = kind;
  string fallback = fallback_;
  // The range of a real number, if it is limited: at least `least`, less than
  // `below`.
  string least = "";
  string below = "";
}

class Net_Integer<string fallback = ""> : Net_Setting<"Integer", I64Attr, fallback>;
class Net_Real<string fallback = "", string least_ = "", string below_ = "">
    : Net_Setting<"Real", F64Attr, fallback> {
  let least = least_;
  let below = below_;
}
class Net_Flag<string fallback = "false"> : Net_Setting<"Flag", BoolAttr, fallback>;
class Net_Text<string fallback = ""> : Net_Setting<"Text", StrAttr, fallback>;
// A list of integers, such as the sizes of `split`.
class Net_Integers<string fallback = ""> : Net_Setting<"Integers", DenseI64ArrayAttr, fallback>;
// One integer for each axis of the setting `over`. A single integer applies to
// all axes.
class Net_Window<string fallback = ""> : Net_Setting<"Window", DenseI64ArrayAttr, fallback>;
// The size of an axis, which may be a free axis.
class Net_Size<string fallback = ""> : Net_Setting<"Size", Net_PolynomialAttr, fallback> {
  let constBuilderCall = "::netc::PolynomialAttr::get($_builder.getContext(), $0)";
}
// Axes of the first tensor. The fallback is a rule: `feature` (the axis
// labelled C, else the last one), `window` (the axes labelled D H W L), `all`,
// `last`.
class Net_Axes<string rule = ""> : Net_Setting<"Axes", DenseI64ArrayAttr, rule>;
class Net_Axis<string rule = ""> : Net_Setting<"Axis", I64Attr, rule>;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// The formulas are C++ over netc::Polynomial. An operand or result stands for
// its number of elements, `x[i]` for the size of its axis i (counted from the
// end if negative), and an attribute for its value. An absent optional tensor
// has no elements. `other` includes the `transcendental` operations (exp, log,
// sqrt, tanh, erf, sin, cos; not division). net-tblgen compiles the formulas,
// prints them into docs/Ops.md, and refuses an op without them.
class Net_Op<string mnemonic, list<Trait> traits = []>
    : Op<Net_Dialect, mnemonic, traits # [DeclareOpInterfaceMethods<CostOpInterface>]> {
  string matmul = ?;
  string other = ?;
  string transcendental = ?;
  // The format in which the op works in a run of mixed precision: C++ over the
  // cases of netc::Autocast.
  string autocast = "Widest";
  // A call in a specification; empty for ops that only passes make.
  string example = "";
  // The names in PyTorch and ONNX, for importers. A name may be followed by its
  // names of settings and their values here: `aten.elu alpha=alpha`.
  // `--emit=graph` writes the op as the first PyTorch name, with the same
  // operands and these settings. A setting is C++ without blanks over settings
  // and results.
  list<string> foreign = [];
  // How `--emit=graph` writes an op that `foreign` cannot express: C++ over
  // settings, results, operands as tensors of the graph, and `to`, the
  // netc::GraphWriter.
  string exported = "";
}

// An op that only renames, moves or holds a tensor. It has no arithmetic, and
// equal ones are merged.
class Net_FreeOp<string mnemonic, list<Trait> traits = []>
    : Net_Op<mnemonic, traits # [Pure]> {
  let matmul = "0";
  let other = "0";
  let transcendental = "0";
}

// Traits. Callable: a specification can call the op. Relabels: callable, and
// the axes of its results are not all those of the first tensor. Gradient: the
// op has a gradient.
defvar Net_Callable = [DeclareOpInterfaceMethods<LanguageOpInterface>, InferTypeOpAdaptor];
defvar Net_Relabels = [DeclareOpInterfaceMethods<LanguageOpInterface, ["getAxisSources"]>,
                       InferTypeOpAdaptor];
defvar Net_Inferred = [InferTypeOpAdaptor];
def Net_AxesMeet : NativeOpTrait<"AxesMeet"> {
  let cppNamespace = "::netc";
}
// Operands have one shape: the front end broadcasts them, and makes tensors of
// numbers. Floating-point operands may have different formats; the result has
// the widest.
def Net_ElementByElement : NativeOpTrait<"ElementByElement"> {
  let cppNamespace = "::netc";
}
// Integers are places along an axis; or they are computed with, if the result is of
// floats, and should be 0 or 1.
defvar Net_Indices = [DeclareOpInterfaceMethods<IndexOpInterface>];
def Net_Amounts : NativeOpTrait<"TakesAmounts"> {
  let cppNamespace = "::netc";
}
defvar Net_Gradient = [DeclareOpInterfaceMethods<GradientOpInterface>];

// Ops that are computed once in a step, and so not in a loop.
def Net_NotInLoop : PredOpTrait<"it stands outside of loops",
    CPred<"!::llvm::isa_and_nonnull<::netc::ScanOp>($_op.getParentOp())">>;

#endif // NET_BASE_TD
