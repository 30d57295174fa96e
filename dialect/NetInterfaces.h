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

/// Arithmetic operations, exact in the free axes. One multiply-add is two FLOP.
struct Cost {
  Polynomial matmul; ///< linear, convolution, recurrent, attention products
  Polynomial other;  ///< everything else
  Polynomial
      transcendental; ///< the part of `other` that is exp, log, sqrt, ...

  Polynomial total() const { return matmul + other; }
  Cost &operator+=(const Cost &cost);
  Cost operator*(const Polynomial &factor) const;
};

/// In which format an op works where a run mixes formats: the lists of
/// PyTorch's autocast on CUDA (ATen/autocast_mode.h).
enum class Autocast {
  Low,    ///< operands are converted to the low format: products
  Full,   ///< operands are converted to f32: softmax, norms, exp
  Loss,   ///< the same, also where whole networks are in the low format
  Widest, ///< the widest of its operands: all else
};

/// How the language fills an attribute of an op; see NetBase.td.
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
  llvm::StringRef
      fallback; ///< in the language; empty if the setting is required
  /// The range of a number: from `least` on, below `below`. Empty without one.
  llvm::StringRef least, below;
};

struct TensorSlot {
  enum Arity { Required, Optional, Variadic };
  llvm::StringRef name;
  Arity arity;
};

/// An op as a specification calls it. Tensors and settings are in ODS order,
/// which is the order of positional arguments and of operands.
struct Signature {
  llvm::StringRef name;
  std::vector<TensorSlot> tensors;
  std::vector<Setting> settings;
  std::vector<llvm::StringRef> results;
};

struct AxisSource {
  unsigned operand;
  unsigned axis;
};

/// The default of LanguageOpInterface::getAxisSources.
llvm::SmallVector<AxisSource> sameAxis(mlir::Operation *op, unsigned result,
                                       unsigned axis);

/// A trait: the operands of the rank of the first have its axes, one by one:
/// labels that meet must be equal.
template <typename ConcreteType>
class AxesMeet : public mlir::OpTrait::TraitBase<ConcreteType, AxesMeet> {};

/// A trait: each element of the result is of those at its place. The front end
/// brings operands to one shape, and makes tensors of numbers.
template <typename ConcreteType>
class ElementByElement
    : public mlir::OpTrait::TraitBase<ConcreteType, ElementByElement> {};

/// What result type inference checks. `op` is the name of the op, with or
/// without its prefix.
///
/// Whether `axes` are different axes of a tensor of this rank.
mlir::LogicalResult checkAxes(std::optional<mlir::Location> loc,
                              llvm::StringRef op, llvm::ArrayRef<int64_t> axes,
                              size_t rank);
/// Whether the operands' elements are of one type.
mlir::LogicalResult checkSameElement(std::optional<mlir::Location> loc,
                                     llvm::StringRef op,
                                     mlir::ValueRange operands);
/// The element type of a product: that of its operands, and bf16 of operands
/// of 8 bits, which may differ.
mlir::FailureOr<mlir::Type> elementOfProduct(std::optional<mlir::Location> loc,
                                             llvm::StringRef op,
                                             mlir::ValueRange operands);
/// Whether two tensors have one shape. `inA` and `inB` say where an error has
/// seen a size: `on the left`, `in the target`.
mlir::LogicalResult checkSameShape(std::optional<mlir::Location> loc,
                                   llvm::StringRef op, const Shape &a,
                                   llvm::StringRef inA, const Shape &b,
                                   llvm::StringRef inB);
/// Appends the tensor type of these sizes, if they are valid ones.
mlir::LogicalResult inferTensor(std::optional<mlir::Location> loc,
                                llvm::StringRef op, mlir::Type element,
                                const Shape &shape,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// Result type inference for element-wise ops: the operands' one type, or an
/// error that names the axis where they differ.
mlir::LogicalResult inferSameShape(std::optional<mlir::Location> loc,
                                   llvm::StringRef op,
                                   mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// The wider of two floating-point types; f32 of two that differ and are of 16
/// bits.
mlir::Type widestOf(mlir::Type a, mlir::Type b);

/// The same where floating-point operands may be of several formats: the result
/// has the widest, f32 if two of 16 bits differ.
mlir::LogicalResult inferWidest(std::optional<mlir::Location> loc,
                                llvm::StringRef op, mlir::ValueRange operands,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// The same for ops that work along axes of their operands.
mlir::LogicalResult inferAlong(std::optional<mlir::Location> loc,
                               llvm::StringRef op, llvm::ArrayRef<int64_t> axes,
                               mlir::ValueRange operands,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// Verifies that a gradient op takes the gradient of a result of this shape;
/// its own result has the operand's element type.
mlir::LogicalResult verifyGradient(mlir::Operation *op, mlir::Value dy,
                                   const Shape &expected);

/// Whether a real setting is there at all: an op does no work for a zero.
inline bool isSet(const llvm::APFloat &value) { return !value.isZero(); }

/// Whether arithmetic on elements like those of `value` is counted, which that
/// on whole numbers is not.
inline bool isFloat(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(elementOf(value));
}

/// Whether `value` holds numbers of 8 bits, which only products read.
inline bool is8BitFloat(mlir::Value value) {
  return isFloat(value) && elementOf(value).getIntOrFloatBitWidth() == 8;
}

/// The default of GradientOpInterface::forEachFlow.
void flowThrough(mlir::Operation *op,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> flow);

class ReverseMode;

/// The discardable attribute of a product of 8-bit numbers: the type that its
/// gradients multiply the gradient of its result in.
constexpr llvm::StringLiteral kGradientFormat = "net.gradient_format";

/// The gradients that flow through one op, in the terms of its interface
/// method.
class Gradients {
public:
  Gradients(ReverseMode &block, mlir::OpBuilder &builder, mlir::Operation *op)
      : block(block), builder(builder), op(op) {}

  /// The gradient of a result, or null if nothing that is trained uses it.
  mlir::Value of(unsigned result) const;
  /// That of the one result of a product, in the format that its gradients
  /// multiply in: kGradientFormat, if the product has one.
  mlir::Value ofProduct();
  bool wants(unsigned operand) const;
  /// A gradient has the format of its value: one of another is converted.
  void set(unsigned operand, mlir::Value gradient);

  /// Builds an op at the place of the gradients, under the name of the op that
  /// they belong to.
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return builder.create<OpTy>(op->getLoc(), std::forward<Args>(args)...);
  }

  /// All gradients of the block that the op stands in.
  ReverseMode &block;
  mlir::OpBuilder &builder;

private:
  mlir::Operation *op;
};

} // namespace netc

#include "dialect/NetInterfaces.h.inc"

#endif // NETC_DIALECT_NETINTERFACES_H
