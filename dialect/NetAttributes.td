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

def Net_RunAttr : Net_Attr<"Run", "run"> {
  let summary = "what the specification says of a run";
  let description = [{
    Facts by name, numbers as strings: `#net.run<steps = "100", batch = "32",
    inference>`. RunFacts says what each means.
  }];
  let parameters = (ins AttrParameter<"::netc::RunFacts", "the facts", "const ::netc::RunFacts &">:$facts);
  let constBuilderCall = "::netc::RunAttr::get($_builder.getContext(), $0)";
}

class Net_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::netc";
  let genSpecializedAttr = 0;
}

def Net_Phase : Net_Enum<"Phase", "the part of a training step that an op belongs to", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"InputGradient", 1, "input">,
    I32EnumAttrCase<"WeightGradient", 2, "weight">,
    I32EnumAttrCase<"Update", 3, "update">,
    I32EnumAttrCase<"Recompute", 4, "recompute">]>;
def Net_PhaseAttr : EnumAttr<Net_Dialect, Net_Phase, "phase">;

// The activations that are recomputed in the backward pass.
def Net_Recomputed : Net_Enum<"Recomputed", "recompute", [
    I32EnumAttrCase<"Full", 0, "full">,
    I32EnumAttrCase<"Selective", 1, "selective">]>;
// How much of the products under a causal mask is counted.
def Net_CountedMask : Net_Enum<"CountedMask", "causal", [
    I32EnumAttrCase<"Full", 0, "full">,
    I32EnumAttrCase<"Half", 1, "half">]>;
def Net_TrainedBy : Net_Enum<"TrainedBy", "trained_by", [
    I32EnumAttrCase<"Company", 0, "company">,
    I32EnumAttrCase<"University", 1, "university">]>;

//===----------------------------------------------------------------------===//
// Facts about the program that lowering makes; see lib/Program
//===----------------------------------------------------------------------===//

class Net_FactsAttr<string name, string attrMnemonic>
    : AttrDef<Net_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Net_SlotAttr : Net_FactsAttr<"Slot", "slot"> {
  let summary = "a tensor that outlives a step";
  let description = [{
    Of a `memref.global`, and where memory is planned, with `type` and `offset` (bytes
    from the start of the arena), of the module's list `net.slots`. program::Slot says
    what the rest means.
  }];
  let parameters = (ins
    StringRefParameter<>:$name, "::netc::program::Role":$role,
    DefaultValuedParameter<"::netc::program::Init", "::netc::program::Init::Zeros">:$init,
    OptionalParameter<"::mlir::FloatAttr">:$theta,
    DefaultValuedParameter<"int64_t", "0">:$upperBound,
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$sizes,
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$strides,
    OptionalParameter<"::mlir::MemRefType">:$type,
    DefaultValuedParameter<"int64_t", "0">:$offset,
    DefaultValuedParameter<"bool", "false">:$takesNegative);
  let extraClassDeclaration = [{
    /// The discardable attribute of a `memref.global` that holds its slot.
    static constexpr ::llvm::StringLiteral kOfGlobal = "net.slot";
    /// The module's list of slots.
    static constexpr ::llvm::StringLiteral kOfModule = "net.slots";

    /// The slot with integers below the bound. With `takesNegative`, some that a
    /// program generates are negative.
    SlotAttr withRange(int64_t upperBound, bool takesNegative) const;
    /// The slot with elements in an order other than row-major; see
    /// program::Slot.
    SlotAttr withOrder(::llvm::ArrayRef<int64_t> sizes,
                       ::llvm::ArrayRef<int64_t> strides) const;
    // The slot at `offset`, in bytes from the start of the arena.
    SlotAttr at(::mlir::MemRefType type, int64_t offset) const;
  }];
}

def Net_OpRowAttr : Net_FactsAttr<"OpRow", "op_row"> {
  let summary = "a net op of the step that was lowered, and what it costs";
  let description = [{
    FLOP and `bytes` are those of one step, loops multiplied in. `format` is the type of
    what products multiply, if there are any. The module lists the rows as `net.ops`; the place in the list is the number in the locations of what serves
    the op.
  }];
  let parameters = (ins
    StringRefParameter<>:$name, StringRefParameter<>:$op, "::netc::Phase":$phase,
    "int64_t":$matmul, "int64_t":$other, "int64_t":$transcendental, "int64_t":$bytes,
    OptionalParameter<"::mlir::FloatType">:$format);
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kOfModule = "net.ops";
  }];
}

def Net_ProgramAttr : Net_FactsAttr<"Program", "program"> {
  let summary = "whose step a module is lowered from";
  let parameters = (ins
    StringRefParameter<>:$run, StringRefParameter<>:$network, "int64_t":$batch);
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kOfModule = "net.program";
  }];
}

def Net_MemoryAttr : Net_FactsAttr<"Memory", "memory"> {
  let summary = "how much memory a step takes, in bytes";
  let description = [{
    `arena` is the size of the arena, and `buffers` what it would be if no buffers shared
    memory. A thread keeps up to `stack` of packed operands on its stack.
  }];
  let parameters = (ins
    "int64_t":$arena, "int64_t":$buffers, DefaultValuedParameter<"int64_t", "0">:$stack);
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kOfModule = "net.memory";

    MemoryAttr withStack(int64_t stack) const {
      return get(getContext(), getArena(), getBuffers(), stack);
    }
  }];
}

def Net_KernelAttr : Net_FactsAttr<"Kernel", "kernel"> {
  let summary = "a kernel of a device, and how it is launched";
  let description = [{
    So many blocks, each of so many threads, with so much dynamic shared memory. The module lists them as `net.kernels`; the
    place in the list is the number that `netc_launch` takes.
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$blocks, "int64_t":$threads,
                        DefaultValuedParameter<"int64_t", "0">:$sharedBytes);
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kOfModule = "net.kernels";
  }];
}

#endif // NET_ATTRIBUTES_TD
