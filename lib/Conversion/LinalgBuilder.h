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

#include <map>
#include <tuple>

namespace netc {

/// Discardable attribute of arithmetic that is not counted: scalars that an op
/// computes once, such as Adam's 1 - b^t.
constexpr llvm::StringLiteral kUncounted = "net.uncounted";
/// Discardable attribute of the multiplication of a product: the format to
/// which a device may round the factors, such as tf32.
constexpr llvm::StringLiteral kInputPrecision = "net.input_precision";
/// Discardable attribute of a loop with independent iterations.
constexpr llvm::StringLiteral kIndependent = "net.independent";

using program::Role;

/// The payload of an op, on elements of its operands. Outputs that are
/// accumulated into come last.
using Payload =
    llvm::function_ref<llvm::SmallVector<Element>(llvm::ArrayRef<Element>)>;
/// A payload with a single result.
using Payload1 = llvm::function_ref<Element(llvm::ArrayRef<Element>)>;

/// Builds tensor code of static shapes from net ops in their order, and maps
/// each net value to its tensor.
///
/// Each operation on floats in a payload is one counted FLOP, unless it is
/// marked kUncounted.
class LinalgBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Builds at the end of `function`. Globals of its module hold the slots.
  /// Values of 16 and 32 bits are computed as `element`; those of 16 bits are
  /// stored in their format. With `reference`, exactly the counted operations
  /// are executed.
  LinalgBuilder(mlir::func::FuncOp function, mlir::Type element,
                bool reference);

  bool isReference() const { return reference; }
  /// The kInputPrecision of products of f32; null for none.
  mlir::FloatType inputPrecision;

  //===-- Values ----------------------------------------------------------===//

  /// The tensor of a value. A value of a low-precision format may have elements
  /// of that format, or of the type that it was computed in; payloads get the
  /// latter.
  mlir::Value get(mlir::Value value) const {
    return values.lookupOrNull(value);
  }
  void set(mlir::Value value, mlir::Value tensor) { values.map(value, tensor); }
  /// The type in which elements of a type are computed.
  mlir::Type element(mlir::Type type) const;
  /// The shape of a value, with the element type of computations.
  mlir::RankedTensorType type(mlir::Value value) const;
  /// type(), but with the element type of `tensor`, which must represent the
  /// value.
  mlir::RankedTensorType typeLike(mlir::Value value, mlir::Value tensor) const;
  /// type(), but with the element type in memory.
  mlir::RankedTensorType storedType(mlir::Value value) const {
    return storedType(value, netc::elementOf(value));
  }
  /// The shape of a value, with the element type in memory of `element`.
  mlir::RankedTensorType storedType(mlir::Value value,
                                    mlir::Type element) const;
  /// The tensor of a value in the element type in memory. Rounds if it is not
  /// rounded yet.
  mlir::Value stored(mlir::Value value);
  /// `tensor` converted to this element type.
  mlir::Value converted(mlir::Value tensor, mlir::Type element);

  //===-- Slots -----------------------------------------------------------===//

  /// The memory of a slot. The first call creates it, as a `memref.global` with
  /// a SlotAttr.
  mlir::TypedValue<mlir::MemRefType>
  slot(llvm::StringRef name, mlir::RankedTensorType type, Role role,
       program::Init init = program::Init::Zeros, mlir::FloatAttr theta = {});
  /// The value of a slot at the start of the step.
  mlir::Value read(llvm::StringRef name, mlir::RankedTensorType type, Role role,
                   program::Init init = program::Init::Zeros,
                   mlir::FloatAttr theta = {});
  /// Stores `tensor`, of the same number of elements, in a slot for the next
  /// step. If there is a `condition`, only where it holds.
  void write(mlir::Value tensor, mlir::TypedValue<mlir::MemRefType> slot);
  /// Whether a value is a net.parameter or net.buffer, through net.reshape.
  static bool isHeld(mlir::Value value);
  /// The slot of such a value.
  mlir::TypedValue<mlir::MemRefType> slotOf(mlir::Value held);
  /// The name of its slot.
  static llvm::StringRef nameOfSlot(mlir::Value held);

  //===-- Tensors ---------------------------------------------------------===//

  /// A scalar of type `element`, an uninitialized tensor, a tensor full of
  /// `value`.
  mlir::Value constant(mlir::Type element, double value);
  mlir::Value empty(mlir::RankedTensorType type);
  mlir::Value filled(mlir::RankedTensorType type, double value);
  /// Reads an element in the type of computations; the first overload is for
  /// payloads.
  Element scalar(mlir::ImplicitLocOpBuilder &payload, mlir::Value tensor,
                 mlir::ValueRange at) const;
  mlir::Value scalar(mlir::Value tensor, mlir::ValueRange at = {}) {
    return scalar(*this, tensor, at);
  }
  /// `tensor` with `element` stored at an index.
  mlir::Value insert(mlir::Value element, mlir::Value tensor,
                     mlir::ValueRange at);
  mlir::Value reshape(mlir::Value tensor, mlir::RankedTensorType type);
  mlir::Value transpose(mlir::Value tensor, llvm::ArrayRef<int64_t> order);
  /// `sizes` elements along each axis, from `starts` on, at `strides`, which
  /// are 1 by default.
  mlir::Value slice(mlir::Value tensor, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides = {});
  /// Inserts `part` into `whole`.
  mlir::Value place(mlir::Value part, mlir::Value whole,
                    llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> strides = {});
  /// Adds `low` elements before and `high` elements after each axis.
  mlir::Value pad(mlir::Value tensor, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double value = 0);
  mlir::Value index(int64_t value);

  /// Affine maps over `dims` loops.
  mlir::AffineMap identity(unsigned dims) const {
    return mlir::AffineMap::getMultiDimIdentityMap(dims, getContext());
  }
  /// The axes of a tensor of this rank that are not in `axes`, in order.
  static llvm::SmallVector<int64_t> others(int64_t rank,
                                           llvm::ArrayRef<int64_t> axes);
  /// Projects `dims` loops to this list of loops, in its order.
  mlir::AffineMap project(unsigned dims, llvm::ArrayRef<int64_t> loops) const;

  //===-- Computations ----------------------------------------------------===//

  /// Computes each element of the result from the elements at the same index of
  /// operands of equal shapes.
  mlir::Value map(mlir::ValueRange operands, Payload1 payload,
                  mlir::Type element = {});
  /// The same with loops over `type` and with indexing maps for the operands.
  /// The payloads of both have the result's element, which has no value yet, as
  /// their last argument.
  mlir::Value mapTo(mlir::RankedTensorType type, mlir::ValueRange operands,
                    llvm::ArrayRef<mlir::AffineMap> maps, Payload1 payload);
  /// Creates a linalg.generic. Loops that no output has are reductions. Results
  /// of the payload are rounded to the element types of the outputs.
  llvm::SmallVector<mlir::Value> generic(mlir::ValueRange operands,
                                         mlir::ValueRange outs,
                                         llvm::ArrayRef<mlir::AffineMap> maps,
                                         Payload payload);
  /// Reduces `axes`, starting from `init`.
  mlir::Value reduce(mlir::ValueRange operands, llvm::ArrayRef<int64_t> axes,
                     double init, Payload1 payload, mlir::Type element = {});
  /// The sum of `operand` over `axes`.
  mlir::Value sum(mlir::Value operand, llvm::ArrayRef<int64_t> axes);
  /// Each element divided by `divisor`.
  mlir::Value divide(mlir::Value operand, double divisor);
  /// The maximum over an axis.
  mlir::Value largest(mlir::Value operand, int64_t axis);
  /// Element-wise. `reduced` lack the axes that a reduction removed from
  /// `operands`.
  mlir::Value mapWith(mlir::ValueRange operands, mlir::ValueRange reduced,
                      llvm::ArrayRef<int64_t> axes, Payload1 payload);
  /// Accumulates a contraction into `init`.
  mlir::Value contract(mlir::ValueRange operands, mlir::Value init,
                       llvm::ArrayRef<mlir::AffineMap> maps);
  /// Sequential loops from 0 to `bounds` that carry tensors. No iteration of
  /// the first `independent` loops reads or writes an element that another one
  /// writes, so they may be parallel.
  llvm::SmallVector<mlir::Value>
  loops(llvm::ArrayRef<mlir::Value> bounds, mlir::ValueRange inits,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(
            mlir::ValueRange indices, mlir::ValueRange carried)>
            body,
        unsigned independent = 0);

  /// Bounds of loops over all elements of a shape.
  llvm::SmallVector<mlir::Value> bounds(llvm::ArrayRef<int64_t> sizes);

  /// `tensor` with `more` added to the element with indices `at`, one of which
  /// is that of `place`. Unchanged if `place` is out of bounds.
  mlir::Value addAt(const struct BoundedIndex &place, mlir::ValueRange at,
                    mlir::Value tensor, Element more);

  /// Updates the rows `ids` of `table` from the rows of `values`, in their
  /// order. `payload` computes the new element from the old one and the value.
  mlir::Value updateRows(mlir::Value values, mlir::Value ids, mlir::Value table,
                         llvm::function_ref<Element(Element, Element)> payload);

  /// Numbers that updates share, by block, operand, constant and name.
  std::map<std::tuple<mlir::Block *, const void *, double, std::string>,
           mlir::Value>
      numbers;
  /// An i1 that decides whether writes take effect; null if they always do.
  mlir::Value condition;
  /// Induction variables of the loops around, outermost first.
  llvm::SmallVector<mlir::Value, 2> inductionVariables;
  /// A number that differs from op to op, for random numbers.
  unsigned nextDraw() { return draws++; }

private:
  mlir::func::FuncOp function;
  mlir::Type floatElement;
  bool reference;
  unsigned draws = 0;
  mlir::IRMapping values;
  llvm::StringMap<mlir::Value> held; ///< initial values of slots, by symbol
  llvm::DenseMap<mlir::Operation *, mlir::Value>
      slots; ///< by the op that defines them
};

/// The lowerings of ops, by name.
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
  /// Lowers the ops of a block, except for `omitted` ones. An op without a
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
/// To be added last: bodies of loops need all other lowerings.
void addScanLowering(Lowerings &lowerings);

} // namespace netc

#endif // NETC_LIB_CONVERSION_LINALGBUILDER_H
