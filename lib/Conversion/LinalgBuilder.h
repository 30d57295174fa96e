// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_CONVERSION_LINALGBUILDER_H
#define NETC_LIB_CONVERSION_LINALGBUILDER_H

#include "dialect/Net.h"
#include "lib/Conversion/Element.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace netc {

/// The discardable attribute of arithmetic that is not counted: scalars that an
/// op works out once, such as Adam's 1 - b^t.
constexpr llvm::StringLiteral kUncounted = "net.uncounted";
/// That of a loop whose turns threads may take.
constexpr llvm::StringLiteral kIndependent = "net.independent";

using program::Role;

/// Computes on elements of the operands; with outputs that are accumulated
/// into, these come last.
using Payload =
    llvm::function_ref<llvm::SmallVector<Element>(llvm::ArrayRef<Element>)>;
/// One with a single result.
using Payload1 = llvm::function_ref<Element(llvm::ArrayRef<Element>)>;

/// Builds tensor code of static shapes for net ops, one after the other. Knows
/// what each net value has become.
///
/// Arithmetic on floats in payloads is what the counted FLOP stand for, one by
/// one, unless it is marked kUncounted.
class LinalgBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Builds at the end of `function`, for ops of a module in which globals
  /// hold the slots. Values of 16 and 32 bits are computed as `element`, and
  /// those of 16 bits kept in their format. With `reference` exactly the
  /// operations that are counted are to be executed.
  LinalgBuilder(mlir::func::FuncOp function, mlir::Type element,
                bool reference);

  bool isReference() const { return reference; }
  //===-- Values ----------------------------------------------------------===//

  /// The tensor of a value. One of a low format may have elements of that
  /// format, or of what it was computed in; payloads see the latter.
  mlir::Value get(mlir::Value value) const {
    return values.lookupOrNull(value);
  }
  void set(mlir::Value value, mlir::Value tensor) { values.map(value, tensor); }
  /// What elements of a type are computed in.
  mlir::Type element(mlir::Type type) const;
  /// The shape of a value, with elements as they are computed.
  mlir::RankedTensorType type(mlir::Value value) const;
  /// With those of `tensor`, of which the value has no others.
  mlir::RankedTensorType typeLike(mlir::Value value, mlir::Value tensor) const;
  /// As they are kept in memory.
  mlir::RankedTensorType storedType(mlir::Value value) const;
  /// The tensor of a value with elements of that type: rounded, if they are
  /// not yet.
  mlir::Value stored(mlir::Value value);
  /// `tensor` with elements of this type.
  mlir::Value converted(mlir::Value tensor, mlir::Type element);

  //===-- Slots -----------------------------------------------------------===//

  /// The memory of a slot. The first call makes it, as a `memref.global` with a
  /// SlotAttr.
  mlir::TypedValue<mlir::MemRefType>
  slot(llvm::StringRef name, mlir::RankedTensorType type, Role role,
       program::Init init = program::Init::Zeros, mlir::FloatAttr theta = {});
  /// What it holds at the start of the step.
  mlir::Value read(llvm::StringRef name, mlir::RankedTensorType type, Role role,
                   program::Init init = program::Init::Zeros,
                   mlir::FloatAttr theta = {});
  /// Leaves `tensor`, of as many elements, in a slot for the next step; with a
  /// `condition`, only where that holds.
  void write(mlir::Value tensor, mlir::TypedValue<mlir::MemRefType> slot);
  /// Whether a value is a net.parameter or net.buffer, seen through
  /// net.reshape.
  static bool isHeld(mlir::Value value);
  /// The slot of such a value.
  mlir::TypedValue<mlir::MemRefType> slotOf(mlir::Value held);
  /// Its name.
  static llvm::StringRef nameOfSlot(mlir::Value held);

  //===-- Tensors ---------------------------------------------------------===//

  mlir::Value constant(mlir::Type element, double value);
  mlir::Value empty(mlir::RankedTensorType type);
  mlir::Value filled(mlir::RankedTensorType type, double value);
  /// An element as it is computed with; the first is for a payload.
  Element scalar(mlir::ImplicitLocOpBuilder &payload, mlir::Value tensor,
                 mlir::ValueRange at) const;
  mlir::Value scalar(mlir::Value tensor, mlir::ValueRange at = {}) {
    return scalar(*this, tensor, at);
  }
  /// `tensor` with an element of that kind at a place.
  mlir::Value insert(mlir::Value element, mlir::Value tensor,
                     mlir::ValueRange at);
  mlir::Value reshape(mlir::Value tensor, mlir::RankedTensorType type);
  mlir::Value transpose(mlir::Value tensor, llvm::ArrayRef<int64_t> order);
  mlir::Value slice(mlir::Value tensor, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides = {});
  /// `part` put into `whole`.
  mlir::Value place(mlir::Value part, mlir::Value whole,
                    llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> strides = {});
  mlir::Value pad(mlir::Value tensor, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double value = 0);
  mlir::Value index(int64_t value);

  /// Affine maps over `dims` loops.
  mlir::AffineMap identity(unsigned dims) const {
    return mlir::AffineMap::getMultiDimIdentityMap(dims, getContext());
  }
  /// The axes of a tensor of this rank that `axes` does not have, in order.
  static llvm::SmallVector<int64_t> others(int64_t rank,
                                           llvm::ArrayRef<int64_t> axes);
  /// Loops of this list, in its order.
  mlir::AffineMap project(unsigned dims, llvm::ArrayRef<int64_t> loops) const;

  //===-- Computations ----------------------------------------------------===//

  /// One result element for each element of the operands, which are of one
  /// shape.
  mlir::Value map(mlir::ValueRange operands, Payload1 payload,
                  mlir::Type element = {});
  /// One for each point of the loops of `type`, operands by their maps.
  /// Payloads of both see the result's element, without a value yet, last.
  mlir::Value mapTo(mlir::RankedTensorType type, mlir::ValueRange operands,
                    llvm::ArrayRef<mlir::AffineMap> maps, Payload1 payload);
  /// linalg.generic. The loops that no output has are reductions. What the
  /// payload computes is rounded to the elements of the outputs.
  llvm::SmallVector<mlir::Value> generic(mlir::ValueRange operands,
                                         mlir::ValueRange outs,
                                         llvm::ArrayRef<mlir::AffineMap> maps,
                                         Payload payload);
  /// Accumulates over `axes`, which go, from `init`.
  mlir::Value reduce(mlir::ValueRange operands, llvm::ArrayRef<int64_t> axes,
                     double init, Payload1 payload, mlir::Type element = {});
  /// The sum of `operand` over `axes`.
  mlir::Value sum(mlir::Value operand, llvm::ArrayRef<int64_t> axes);
  /// Each element over `divisor`.
  mlir::Value divide(mlir::Value operand, double divisor);
  /// The largest over one axis.
  mlir::Value largest(mlir::Value operand, int64_t axis);
  /// Element-wise, where `reduced` lack the axes that a reduction took from
  /// `operands`.
  mlir::Value mapWith(mlir::ValueRange operands, mlir::ValueRange reduced,
                      llvm::ArrayRef<int64_t> axes, Payload1 payload);
  /// Sums of products into `init`.
  mlir::Value contract(mlir::ValueRange operands, mlir::Value init,
                       llvm::ArrayRef<mlir::AffineMap> maps);
  /// Sequential loops from 0 to `bounds` that carry tensors. Where the first
  /// one `isIndependent`, none of its turns reads or writes an element that
  /// another writes, and threads may take them.
  llvm::SmallVector<mlir::Value>
  loops(llvm::ArrayRef<mlir::Value> bounds, mlir::ValueRange inits,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(
            mlir::ValueRange indices, mlir::ValueRange carried)>
            body,
        bool isIndependent = false);

  /// Those of loops over all elements of a shape.
  llvm::SmallVector<mlir::Value> bounds(llvm::ArrayRef<int64_t> sizes);

  /// `tensor` with `more` added to its element `at`, one of whose indices is
  /// that of `place`; unchanged where that is outside.
  mlir::Value addAt(const struct Place &place, mlir::ValueRange at,
                    mlir::Value tensor, Element more);

  /// Updates the rows of `table` that `ids` name by the rows of `values`, in
  /// their order: what `payload` makes of an element and a value.
  mlir::Value updateRows(mlir::Value values, mlir::Value ids, mlir::Value table,
                         llvm::function_ref<Element(Element, Element)> payload);

  /// A truth value on which it depends whether what is written stays; null if
  /// it does anyway.
  mlir::Value condition;
  /// The turns of the loops around, outermost first.
  llvm::SmallVector<mlir::Value, 2> turns;
  /// A number that differs from op to op, for random numbers.
  unsigned nextDraw() { return draws++; }

private:
  mlir::func::FuncOp function;
  mlir::Type floatElement;
  bool reference;
  unsigned draws = 0;
  mlir::IRMapping values;
  llvm::StringMap<mlir::Value> held; ///< what slots hold at first, by symbol
  llvm::DenseMap<mlir::Operation *, mlir::Value> slots; ///< by their holders
};

/// How each op is lowered, by its name.
class Lowerings {
public:
  using Lowering =
      std::function<llvm::LogicalResult(mlir::Operation *, LinalgBuilder &)>;

  /// `lower` takes the op and the builder, and returns a LogicalResult or
  /// nothing.
  template <typename OpTy, typename Function> void add(Function lower) {
    byName[OpTy::getOperationName()] = [=](mlir::Operation *op,
                                           LinalgBuilder &b) {
      if constexpr (std::is_void_v<decltype(lower(llvm::cast<OpTy>(op), b))>) {
        lower(llvm::cast<OpTy>(op), b);
        return mlir::success();
      } else {
        return lower(llvm::cast<OpTy>(op), b);
      }
    };
  }
  template <typename Result, typename OpTy>
  void add(Result (*lower)(OpTy, LinalgBuilder &)) {
    add<OpTy>([=](OpTy op, LinalgBuilder &b) { return lower(op, b); });
  }
  /// Lowers the ops of a block, but for those that are omitted. An op without a
  /// lowering is an error.
  llvm::LogicalResult
  lower(mlir::Block &block, LinalgBuilder &b,
        const llvm::SmallPtrSetImpl<mlir::Operation *> &omitted =
            llvm::SmallPtrSet<mlir::Operation *, 1>()) const;

private:
  llvm::StringMap<Lowering> byName;
};

void addElementwiseLowerings(Lowerings &lowerings);
void addMatmulLowerings(Lowerings &lowerings);
void addConvolutionLowerings(Lowerings &lowerings);
void addPoolingLowerings(Lowerings &lowerings);
void addReduceLowerings(Lowerings &lowerings);
void addShapeLowerings(Lowerings &lowerings);
void addIndexLowerings(Lowerings &lowerings);
void addLossLowerings(Lowerings &lowerings);
void addOptimizerLowerings(Lowerings &lowerings);
/// Needs all others, for the bodies of loops.
void addScanLowering(Lowerings &lowerings);

} // namespace netc

#endif // NETC_LIB_CONVERSION_LINALGBUILDER_H
