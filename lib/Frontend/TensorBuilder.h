// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_TENSORBUILDER_H
#define NETC_FRONTEND_TENSORBUILDER_H

#include "lib/Frontend/Value.h"

namespace netc {

class Evaluator;

struct Argument;

/// Adds ops to the graph that is being built, and knows the shapes and labels
/// of their results. Ops.cpp has the ops, Shapes.cpp sizes, patterns and views,
/// Weights.cpp what holds numbers from step to step.
class TensorBuilder {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit TensorBuilder(Evaluator &e) : e(e) {}

  struct Sizes {
    Shape shape;
    Labels labels;
  };
  /// The value under the pattern `type` of a binding or returned item.
  Value matched(Expr *type, const Value &value);
  Value applyOp(Tree *at, Instance &instance);
  /// Adds `net.op`, named by `where` or by its place, and labels its results.
  Value emit(Tree *at, llvm::StringRef op, llvm::ArrayRef<Tensor> operands,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
             const Label &as = {}, mlir::LocationAttr where = {});
  /// The operands with their numbers in the widest floating-point format that
  /// one of them has.
  std::vector<Tensor> inOneFormat(Tree *at, llvm::StringRef op,
                                  llvm::ArrayRef<Tensor> operands);
  std::optional<int64_t> axisOf(Tree *at, const Value &value,
                                const Tensor &tensor);
  std::optional<std::vector<int64_t>> axesOf(Tree *at, const Value *value,
                                             llvm::StringRef rule,
                                             const Tensor &tensor);
  /// `[64, 3, N]` and `[N, C = 3, 224]`, for messages.
  static std::string sizesText(const Shape &shape);
  static std::string axesText(const Tensor &tensor);
  /// `f32` and `bool`.
  static std::string elementText(mlir::Type element);
  /// `f32[N, C = 3, 224]`
  static std::string typeText(const Tensor &tensor);
  /// What MLIR says of an operand that the definition of an op does not take,
  /// in the words of the language; other complaints as they are.
  static Message operandComplaint(llvm::StringRef complaint, llvm::StringRef op,
                                  llvm::ArrayRef<Tensor> operands);
  /// The type of a tensor of this shape, if netc takes such sizes.
  std::optional<mlir::RankedTensorType> tensorType(Tree *at, mlir::Type element,
                                                   const Shape &shape);
  mlir::Location opLocation(Tree *at, llvm::StringRef name);
  /// The value as an operand: a number becomes a scalar, a schedule is applied.
  Value tensorFor(Tree *at, const Value &value, mlir::Type element);
  Tensor constant(Tree *at, double value, mlir::RankedTensorType type,
                  Labels labels);
  Value tensorArithmetic(Tree *at, llvm::StringRef op, const Value &a,
                         const Value &b);
  /// Whether windows slide over an axis of that label by default.
  static bool isWindow(const Label &label);
  /// Whether two axes may be one: not if they have different labels.
  static bool canMeet(const Label &a, const Label &b);
  /// Whether it is an op that takes numbers for tensors full of them.
  bool isElementByElement(const Function &function) const;
  /// The operands of an op that works element by element, brought to one shape.
  std::optional<std::vector<Tensor>>
  elementByElement(Tree *at, llvm::StringRef op, llvm::ArrayRef<Value> values);
  Value weight(Tree *at, llvm::ArrayRef<Argument> arguments, bool isParameter);
  /// The word that an argument `init` is; reports what is none.
  std::optional<std::string> initOf(const Argument &argument);
  std::optional<Sizes> sizesOf(Tree *at, llvm::ArrayRef<Value> values);
  std::optional<Polynomial> sizeOf(Tree *at, const Value &value);
  static void dropDoubled(Labels &labels);
  /// A type, or a pattern, which is one without an element type.
  std::optional<TypeValue> typeOf(Expr *expr);
  /// The shape that a type declares. In a net an unknown name is a new free
  /// symbol, and the names of axes are bound.
  std::optional<Sizes> declare(const TypeValue &type, bool isNet);
  /// Binds the pattern's names and returns the tensor under its labels. A
  /// parameter's axes have these until the block returns.
  std::optional<Tensor> match(const TypeValue &pattern, const Tensor &tensor,
                              Tree *at, bool isParameter);
  /// What a block returns, under the labels of its caller.
  static Value restored(const Value &value, unsigned application);
  Value reshaped(Tree *at, const Tensor &tensor, const Sizes &sizes);
  Tensor transposed(Tree *at, const Tensor &tensor,
                    llvm::ArrayRef<int64_t> order);
  Tensor broadcasted(Tree *at, const Tensor &tensor, const Sizes &sizes,
                     llvm::ArrayRef<int64_t> axes);
  Value slice(Tree *at, const Tensor &tensor, int64_t axis, const Value &index);
  /// The axis labelled `C`, else the last.
  static size_t featureAxis(const Tensor &tensor);
  /// Why that is none to take by default, for it is labelled for something
  /// else; empty if it may be taken.
  static std::optional<Message> whyNoFeature(const Tensor &tensor);
  /// The labels that have a text.
  static std::vector<std::string> namesOf(const Labels &labels);
  static std::optional<size_t> find(const Tensor &tensor,
                                    llvm::StringRef label);
  Value axisValue(const Tensor &tensor, size_t position);
  mlir::Operation *
  buildScan(Tree *at, const Polynomial &trip,
            llvm::ArrayRef<mlir::Value> sequences, llvm::ArrayRef<int64_t> axes,
            llvm::ArrayRef<mlir::Value> inits, llvm::ArrayRef<int64_t> outAxes,
            std::unique_ptr<mlir::Region> body, llvm::StringRef name);

private:
  /// What `check` reports, instead of reporting it; nullopt if it succeeds.
  std::optional<std::string>
  complaintOf(llvm::function_ref<mlir::LogicalResult()> check);
  mlir::Attribute attributeOf(Tree *at, const Setting &setting,
                              const Value *value,
                              const std::vector<Tensor> &operands,
                              size_t windowAxes, llvm::StringRef op);
  /// The value of a schedule at the step that is being elaborated.
  Value scheduled(Tree *at, const Value &schedule);
  /// The same of each axis of two tensors of one rank, or an error.
  bool doMeet(Tree *at, llvm::StringRef op, const Tensor &a, const Tensor &b);
  /// A tensor of this type, full of the number; else reports.
  std::optional<Tensor> fullOf(Tree *at, llvm::StringRef op,
                               const Value &number, mlir::RankedTensorType type,
                               const Labels &labels);
  /// Brings two operands to one shape, by labels if all axes have one.
  bool align(Tree *at, llvm::StringRef op, Tensor &a, Tensor &b);
  Value matmul(Tree *at, const Tensor &a, const Tensor &b);
  /// What a call of `parameter` or `buffer` asks for.
  struct WeightRequest {
    llvm::StringRef kind; ///< what is called
    std::string init;
    bool trainable;
    mlir::Type element;
    mlir::RankedTensorType type; ///< in `each`, with the axes of the loops
    Labels labels;
  };
  /// None after an error.
  std::optional<WeightRequest>
  weightRequest(Tree *at, llvm::ArrayRef<Argument> arguments, bool isParameter);
  /// Whether what the first application made is what is asked for; else
  /// reports.
  bool isSameWeight(Tree *at, const WeightRequest &request, mlir::Value made);
  std::optional<mlir::Value> makeWeight(Tree *at, const WeightRequest &request,
                                        bool isParameter);
  Identity *appliedAgain(Identity &self) const;
  std::optional<Polynomial> sizeInScope(llvm::StringRef name);
  /// The label that a pattern in a body writes on an axis of this label and
  /// size.
  Label written(const std::string &name, const Label &old,
                const Polynomial &size);

  Evaluator &e;
};

} // namespace netc

#endif // NETC_FRONTEND_TENSORBUILDER_H
