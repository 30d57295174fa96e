// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_NETINTERFACES_H
#define NETC_DIALECT_NETINTERFACES_H

#include "dialect/Shape.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace netc {

/// Arithmetic operations in FLOP, exact in the free axes. A multiply-add is 2
/// FLOP.
struct Cost {
  /// Products of linear, convolution, recurrent and attention layers.
  Polynomial matmul;
  Polynomial other; ///< everything else
  /// The part of `other` that is exp, log, sqrt, ...
  Polynomial transcendental;

  Polynomial total() const { return matmul + other; }
  Cost &operator+=(const Cost &cost);
  Cost operator*(const Polynomial &factor) const;
};

/// The format in which an op works in a run of mixed precision, by the lists of
/// PyTorch's autocast on CUDA (ATen/autocast_mode.h).
enum class Autocast {
  Low,    ///< products: operands are converted to the low format
  Full,   ///< softmax, norms, exp: operands are converted to f32
  Loss,   ///< as Full, also if the whole network is in the low format
  Widest, ///< all other ops: the widest format of the operands
};

/// The kind of value that a call in the language gives to an attribute of an
/// op; see NetBase.td.
enum class SettingKind {
  Integer,
  Real,
  Flag,
  Text,
  Integers,
  Window,
  Axes,
  Axis,
  Size
};

struct Setting {
  llvm::StringRef name;
  SettingKind kind;
  /// The default in the language; empty if the setting is required.
  llvm::StringRef fallback;
  /// The range of a number: at least `least`, less than `below`. Empty if
  /// unlimited.
  llvm::StringRef least, below;
};

struct TensorSlot {
  enum Arity { Required, Optional, Variadic };
  llvm::StringRef name;
  Arity arity;
};

/// The signature of an op in a specification. Tensors and settings are in ODS
/// order, the order of positional arguments and of operands.
struct Signature {
  llvm::StringRef name;
  std::vector<TensorSlot> tensors;
  std::vector<Setting> settings;
  std::vector<llvm::StringRef> results;
};

/// An axis of an operand.
struct AxisSource {
  unsigned operand;
  unsigned axis;
};

/// The default of LanguageOpInterface::getAxisSources.
llvm::SmallVector<AxisSource> sameAxis(mlir::Operation *op, unsigned result,
                                       unsigned axis);

/// A trait: operands with the rank of the first have the same axes, in order.
/// Labels of the same axis must be equal.
template <typename ConcreteType>
class AxesMeet : public mlir::OpTrait::TraitBase<ConcreteType, AxesMeet> {};
template <typename ConcreteType>
class TakesAmounts
    : public mlir::OpTrait::TraitBase<ConcreteType, TakesAmounts> {};

/// A trait: each element of the result depends on the operands' elements at the
/// same position. The front end broadcasts operands to one shape, and makes
/// tensors of numbers.
template <typename ConcreteType>
class ElementByElement
    : public mlir::OpTrait::TraitBase<ConcreteType, ElementByElement> {};

/// Checks of result type inference. `op` is the name of the op, with or without
/// its prefix. Each fails with an error at `loc`, if there is one.
///
/// Whether `axes` are distinct axes of a tensor of this rank.
mlir::LogicalResult checkAxes(std::optional<mlir::Location> loc,
                              llvm::StringRef op, llvm::ArrayRef<int64_t> axes,
                              size_t rank);
/// Whether the operands have the same element type.
mlir::LogicalResult checkSameElement(std::optional<mlir::Location> loc,
                                     llvm::StringRef op,
                                     mlir::ValueRange operands);
/// The element type of a product: bf16 for operands of 8 bits, whose types may
/// differ, else the type of both operands.
mlir::FailureOr<mlir::Type> elementOfProduct(std::optional<mlir::Location> loc,
                                             llvm::StringRef op,
                                             mlir::ValueRange operands);
/// Whether two tensors have the same shape. `inA` and `inB` name the tensors in
/// an error: `on the left`, `in the target`.
mlir::LogicalResult checkSameShape(std::optional<mlir::Location> loc,
                                   llvm::StringRef op, const Shape &a,
                                   llvm::StringRef inA, const Shape &b,
                                   llvm::StringRef inB);
/// Appends the tensor type with these sizes, if they are valid.
mlir::LogicalResult inferTensor(std::optional<mlir::Location> loc,
                                llvm::StringRef op, mlir::Type element,
                                const Shape &shape,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// Result type inference for element-wise ops: the type of all operands, or an
/// error that names the axis where they differ.
mlir::LogicalResult inferSameShape(std::optional<mlir::Location> loc,
                                   llvm::StringRef op,
                                   mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// The wider of two floating-point types. f32 for two different types of 16
/// bits.
mlir::Type widestOf(mlir::Type a, mlir::Type b);

/// Infers the result of an element-wise op whose floating-point operands may
/// have different formats: the result has their widestOf.
mlir::LogicalResult inferWidest(std::optional<mlir::Location> loc,
                                llvm::StringRef op, mlir::ValueRange operands,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// Infers the result of an element-wise op that works along `axes`, which are
/// checked too.
mlir::LogicalResult inferAlong(std::optional<mlir::Location> loc,
                               llvm::StringRef op, llvm::ArrayRef<int64_t> axes,
                               mlir::ValueRange operands,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// Verifies that `dy`, the gradient of a result, has the shape `expected`, and
/// that the result of `op` has the operand's element type.
mlir::LogicalResult verifyGradient(mlir::Operation *op, mlir::Value dy,
                                   const Shape &expected);

/// Whether a real setting has an effect. An op does no work for a zero.
inline bool isSet(const llvm::APFloat &value) { return !value.isZero(); }

/// Whether arithmetic on elements of `value` is counted. Integer arithmetic is
/// not.
inline bool isFloat(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(elementOf(value));
}

/// Whether `value` has 8-bit floating-point elements, which only products read.
inline bool is8BitFloat(mlir::Value value) {
  return isFloat(value) && elementOf(value).getIntOrFloatBitWidth() == 8;
}

/// The default of GradientOpInterface::forEachFlow.
void flowThrough(mlir::Operation *op,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> flow);

class ReverseMode;

/// The discardable attribute of a product of 8-bit operands: the type in which
/// its gradients read the gradient of its result. Of a parameter: the type of
/// its gradient, if that is not the parameter's own.
constexpr llvm::StringLiteral kGradientFormat = "net.gradient_format";

/// The discardable attribute of an update or a buffer of an optimizer: the type
/// in which its state is in memory, if that is not the parameter's or the
/// buffer's own. Of a parameter: the type for the states of its optimizer.
constexpr llvm::StringLiteral kStateFormat = "net.state_format";

/// The discardable attribute of the conversion of a parameter to the format of
/// the weights. The parameter is their master.
constexpr llvm::StringLiteral kWeight = "net.weight";

/// The type that kGradientFormat or kStateFormat states for `op`; `own` without
/// the attribute.
inline mlir::Type statedFormat(mlir::Operation *op, llvm::StringRef attribute,
                               mlir::Type own) {
  auto stated = op->getAttrOfType<mlir::TypeAttr>(attribute);
  return stated ? stated.getValue() : own;
}

/// What `value` was before it was only widened, if it was.
mlir::Value beforeWidening(mlir::Value value);
/// The conversion of `value` to `element` in the block of `value` that is there
/// already, or null.
mlir::Value conversionOf(mlir::Value value, mlir::Type element);
/// `value` with this element type. It is converted once, for all readers, by an
/// op at the position of `builder`.
mlir::Value convertTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::Type element);

/// The gradients of one op, as its method buildGradient sees them.
class Gradients {
public:
  Gradients(ReverseMode &block, mlir::OpBuilder &builder, mlir::Operation *op)
      : block(block), builder(builder), op(op) {}

  /// The gradient of a result, or null if no trained parameter needs it.
  mlir::Value of(unsigned result) const;
  /// The gradient of the only result of a product, converted to kGradientFormat
  /// if the product has that attribute.
  mlir::Value ofProduct();
  /// Whether the gradient of an operand is needed.
  bool wants(unsigned operand) const;
  /// Adds to the gradient of an operand, which must be wanted. The gradient is
  /// converted to the element type of the operand, unless that has 8 bits.
  void set(unsigned operand, mlir::Value gradient);

  /// Builds an op with the location, and so the name, of the op that the
  /// gradients belong to.
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return builder.create<OpTy>(op->getLoc(), std::forward<Args>(args)...);
  }

  /// The gradients of the whole block.
  ReverseMode &block;
  mlir::OpBuilder &builder;

private:
  mlir::Operation *op;
};

} // namespace netc

#include "dialect/NetInterfaces.h.inc"

#endif // NETC_DIALECT_NETINTERFACES_H
