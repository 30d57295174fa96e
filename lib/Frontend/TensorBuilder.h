// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_TENSORBUILDER_H
#define NETC_LIB_FRONTEND_TENSORBUILDER_H

#include "lib/Frontend/Value.h"

namespace netc {

class Evaluator;

struct Argument;

/// Adds ops to the current graph, and determines the shapes and labels of their
/// results. Ops.cpp has ops, Shapes.cpp sizes, patterns and views, and
/// Weights.cpp parameters and buffers.
class TensorBuilder {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit TensorBuilder(Evaluator &e) : e(e) {}

  struct Sizes {
    Shape shape;
    Labels labels;
  };
  /// The value after matching the pattern `type` of a binding or returned item.
  Value matched(Expr *type, const Value &value);
  /// Adds the op of an instance, whose tensors must be complete.
  Value applyOp(Tree *at, Instance &instance);
  /// Adds `net.op` and labels its results. The op is named by `where`, or else
  /// by its position.
  Value emit(Tree *at, llvm::StringRef op, llvm::ArrayRef<Tensor> operands,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
             const Label &as = {}, mlir::LocationAttr where = {});
  /// The operands, with floating-point ones converted to their widest format.
  std::vector<Tensor> inOneFormat(Tree *at, llvm::StringRef op,
                                  llvm::ArrayRef<Tensor> operands);
  /// The index of an axis, from a label, a name or an axis. Reports an axis
  /// that `tensor` does not have, and returns none.
  std::optional<int64_t> axisOf(Tree *at, const Value &value,
                                const Tensor &tensor);
  /// The indices of the axes in `value`, or by `rule` if it is null; see
  /// NetBase.td. None after an error.
  std::optional<std::vector<int64_t>> axesOf(Tree *at, const Value *value,
                                             llvm::StringRef rule,
                                             const Tensor &tensor);
  /// Sizes and axes in messages: `[64, 3, N]` and `[N, C = 3, 224]`.
  static std::string sizesText(const Shape &shape);
  static std::string axesText(const Tensor &tensor);
  /// A tensor type in messages: `f32[N, C = 3, 224]`.
  static std::string typeText(const Tensor &tensor);
  /// Translates MLIR's message about an operand of the wrong type into the
  /// terms of the language. Returns other messages unchanged.
  static Message operandComplaint(llvm::StringRef complaint, llvm::StringRef op,
                                  llvm::ArrayRef<Tensor> operands);
  /// The type of a tensor with this shape. Reports sizes that are out of range,
  /// and returns none.
  std::optional<mlir::RankedTensorType> tensorType(Tree *at, mlir::Type element,
                                                   const Shape &shape);
  /// The location of an op called `name` in the current instance.
  mlir::Location opLocation(Tree *at, llvm::StringRef name);
  /// The value as an operand: a number becomes a scalar tensor, and a schedule
  /// is applied.
  Value tensorFor(Tree *at, const Value &value, mlir::Type element);
  Tensor constant(Tree *at, double value, mlir::RankedTensorType type,
                  Labels labels);
  Value tensorArithmetic(Tree *at, llvm::StringRef op, const Value &a,
                         const Value &b);
  /// Whether windows slide over axes with this label by default.
  static bool isWindow(const Label &label);
  /// Whether two axes may be combined: not if their labels differ.
  static bool canMeet(const Label &a, const Label &b);
  /// Whether a function is an op that takes numbers in place of tensors.
  bool isElementByElement(const Function &function) const;
  /// The operands of an element-wise op, broadcast to one shape. None after an
  /// error.
  std::optional<std::vector<Tensor>>
  elementByElement(Tree *at, llvm::StringRef op, llvm::ArrayRef<Value> values);
  void widenIntegers(Tree *at, std::vector<Tensor> &tensors);
  /// Evaluates a call of `parameter` or `buffer`. A further application of the
  /// same instance returns its existing weight.
  Value weight(Tree *at, llvm::ArrayRef<Argument> arguments, bool isParameter);
  /// The initialization that an argument `init` names. Reports an unknown one.
  std::optional<std::string> initOf(const Argument &argument);
  /// The shape with these sizes, and the labels of sizes that are axes. None
  /// after an error.
  std::optional<Sizes> sizesOf(Tree *at, llvm::ArrayRef<Value> values);
  /// The value as a size of an axis. Reports values that are no size, and
  /// returns none.
  std::optional<Polynomial> sizeOf(Tree *at, const Value &value);
  /// Clears labels that occur earlier in the list.
  static void dropDoubled(Labels &labels);
  /// The type or pattern of an expression. A pattern is a type without an
  /// element type. None after an error.
  std::optional<TypeValue> typeOf(Expr *expr);
  /// The shape that a type declares. In a net, an unknown name becomes a new
  /// free axis, and the names of axes are bound.
  std::optional<Sizes> declare(const TypeValue &type, bool isNet);
  /// Matches `tensor` against a pattern: binds the names of the pattern, and
  /// returns the tensor with its labels. The axes of a parameter keep these
  /// labels until the block returns.
  std::optional<Tensor> match(const TypeValue &pattern, const Tensor &tensor,
                              Tree *at, bool isParameter);
  /// The returned value of a block, with the labels of the caller.
  static Value restored(const Value &value, unsigned application);
  Value reshaped(Tree *at, const Tensor &tensor, const Sizes &sizes);
  Tensor transposed(Tree *at, const Tensor &tensor,
                    llvm::ArrayRef<int64_t> order);
  Tensor broadcasted(Tree *at, const Tensor &tensor, const Sizes &sizes,
                     llvm::ArrayRef<int64_t> axes);
  /// A part of an axis: an index drops the axis, a range keeps it.
  Value slice(Tree *at, const Tensor &tensor, int64_t axis, const Value &index);
  /// The axis labelled `C`, else the last axis.
  static size_t featureAxis(const Tensor &tensor);
  /// The error if featureAxis() has a label with another purpose; none if it
  /// can be the default.
  static std::optional<Message> whyNoFeature(const Tensor &tensor);
  /// The labels that are not empty.
  static std::vector<std::string> namesOf(const Labels &labels);
  void failUnknownAxis(Tree *at, llvm::StringRef label, const Tensor &tensor);
  static std::optional<size_t> find(const Tensor &tensor,
                                    llvm::StringRef label);
  Value axisValue(const Tensor &tensor, size_t position);
  mlir::Operation *
  buildScan(Tree *at, const Polynomial &trip,
            llvm::ArrayRef<mlir::Value> sequences, llvm::ArrayRef<int64_t> axes,
            llvm::ArrayRef<mlir::Value> inits, llvm::ArrayRef<int64_t> outAxes,
            std::unique_ptr<mlir::Region> body, llvm::StringRef name);

private:
  /// The message that `check` would report; none if it succeeds.
  std::optional<std::string>
  complaintOf(llvm::function_ref<mlir::LogicalResult()> check);
  mlir::Attribute attributeOf(Tree *at, const Setting &setting,
                              const Value *value,
                              const std::vector<Tensor> &operands,
                              size_t windowAxes, llvm::StringRef op);
  /// The operands of an instance of an op. None after an error.
  std::optional<std::vector<Tensor>> operandsOf(Tree *at,
                                                const Instance &instance);
  struct Attributes {
    llvm::SmallVector<mlir::NamedAttribute> named;
    std::optional<int64_t> axis; ///< the one that the op works along
  };
  /// The settings of an instance of an op. None after an error.
  std::optional<Attributes> attributesOf(Tree *at, const Instance &instance,
                                         const std::vector<Tensor> &operands);
  /// The location of the op of an instance that has a name, or that another
  /// instance than the current one made. Null for others.
  mlir::LocationAttr locationOfPart(Tree *at, Identity &identity,
                                    llvm::StringRef op);
  /// The value of a schedule at the current step.
  Value scheduled(Tree *at, const Value &schedule);
  /// Whether the axes of two tensors of equal rank can be combined. Reports an
  /// error if not.
  bool doMeet(Tree *at, llvm::StringRef op, const Tensor &a, const Tensor &b);
  /// A tensor of this type, filled with the number. Reports a value that is no
  /// number, and returns none.
  std::optional<Tensor> fullOf(Tree *at, llvm::StringRef op,
                               const Value &number, mlir::RankedTensorType type,
                               const Labels &labels);
  /// Broadcasts two operands to one shape, by labels if all axes have one.
  /// False after an error.
  bool align(Tree *at, llvm::StringRef op, Tensor &a, Tensor &b);
  Value matmul(Tree *at, const Tensor &a, const Tensor &b);
  /// The arguments of a call of `parameter` or `buffer`.
  struct WeightRequest {
    llvm::StringRef kind; ///< the name of the function
    std::string init;
    bool trainable;
    mlir::Type element;
    bool isTyped = false;        ///< whether `type` is stated
    mlir::RankedTensorType type; ///< in `each`, including the axes of the loops
    Labels labels;
  };
  /// Reads the arguments. None after an error.
  std::optional<WeightRequest>
  weightRequest(Tree *at, llvm::ArrayRef<Argument> arguments, bool isParameter);
  /// Whether the weight of the first application fits the request. Reports an
  /// error if not.
  bool isSameWeight(Tree *at, const WeightRequest &request, mlir::Value made);
  std::optional<mlir::Value> makeWeight(Tree *at, const WeightRequest &request,
                                        bool isParameter);
  Identity *appliedAgain(Identity &self) const;
  std::optional<Polynomial> sizeInScope(llvm::StringRef name);
  /// The label of an axis after a pattern in a body renames it to `name`.
  Label written(const std::string &name, const Label &old,
                const Polynomial &size);

  Evaluator &e;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_TENSORBUILDER_H
