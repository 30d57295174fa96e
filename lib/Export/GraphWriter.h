// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_EXPORT_GRAPHWRITER_H
#define NETC_LIB_EXPORT_GRAPHWRITER_H

#include "dialect/Net.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <set>

namespace netc {

/// A tensor of a graph in the ops of PyTorch.
struct ForeignTensor {
  std::string name; ///< empty for an operand that is left out
  mlir::Type element;
  Shape shape;
  /// Of what is repeated where it is read: the shape that it broadcasts to.
  std::optional<Shape> repeated = std::nullopt;
};

/// Writes a network as docs/graph.schema.json describes, op by op. The rules
/// in `dialect/*.td` say what an op becomes, in these terms.
class GraphWriter {
public:
  using Tensor = ForeignTensor;
  using Tensors = llvm::SmallVector<Tensor, 2>;
  struct Settings : llvm::json::Object {
    Settings() = default;
    Settings(std::initializer_list<KV> members) : Object(members) {}
  };
  using Axes = llvm::ArrayRef<int64_t>;

  /// The tensor that a value has become. Refuses the op if it is none. What is
  /// repeated is so by the op itself, if that is one of PyTorch's that does so.
  Tensor get(mlir::Value value);
  Tensors get(mlir::ValueRange values);
  /// Says which tensor a value is.
  void set(mlir::Value value, Tensor tensor);

  /// Writes a node of which results of the net's op are the results.
  void write(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
             mlir::ValueRange results);
  /// Writes one of which the results are in between.
  Tensors make(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
               llvm::ArrayRef<mlir::RankedTensorType> types);
  /// The same for one, with the elements of the first operand.
  Tensor make(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
              const Shape &shape);

  /// A parameter, or state that no gradient reaches.
  void weight(mlir::Value value, llvm::StringRef name, llvm::StringRef init,
              bool learns, bool isState = false);
  /// What depends on sizes alone: `facts` are members of its entry in `known`.
  Tensor known(llvm::StringRef what, mlir::Type element, const Shape &shape,
               Settings facts = {});
  /// A tensor whose elements are all the same.
  Tensor number(double value, mlir::Type element, const Shape &shape);

  // Moves of elements: none is written where nothing moves.
  Tensor view(Tensor x, const Shape &shape);
  Tensor permute(Tensor x, Axes order);
  Tensor flip(Tensor x, int64_t axis);
  /// From `start` on as many positions of an axis as `shape` has.
  Tensor slice(Tensor x, int64_t axis, const Polynomial &start,
               const Shape &shape);
  /// Repeats x along new axes, where it is read; axis i of it is axis `axes[i]`
  /// of the result.
  Tensor expand(Tensor x, Axes axes, const Shape &shape);
  /// The same, repeated now.
  Tensor whole(Tensor x);
  /// Elements before and after, `low` and `high` of each axis in `over`.
  Tensor pad(Tensor x, Axes over, Axes low, Axes high, double value);

  using Rule = llvm::function_ref<Tensor(Tensor x, const Shape &result)>;
  /// What `rule` makes of x with the axes `over` behind the others; the result
  /// has them in their places again.
  void atEnd(mlir::Value y, Tensor x, Axes over, Rule rule);
  /// The same with x as [N, C, ..], windows over the last axes. `channel` is -1
  /// where each channel is for itself.
  void asImages(mlir::Value y, Tensor x, Axes over, int64_t channel, Rule rule);
  /// Padding as PyTorch has it, the same on both sides and of at most `most`;
  /// what is more is padded before, with `value`.
  Tensor padImages(Tensor x, Axes low, Axes high, Axes most, double value,
                   llvm::SmallVectorImpl<int64_t> &padding);

  /// What does not show in the graph, for who reads it.
  void note(const llvm::Twine &text);
  [[noreturn]] void refuse(const llvm::Twine &why);

  // Attributes as their values.
  static int64_t plain(uint64_t value) { return int64_t(value); }
  static double plain(const llvm::APFloat &value) {
    return value.convertToDouble();
  }
  static Polynomial plain(PolynomialAttr value) { return value.getValue(); }
  template <typename T> static T plain(T value) { return value; }

  // Settings in JSON.
  static llvm::json::Value json(bool value) { return value; }
  static llvm::json::Value json(int64_t value) { return value; }
  static llvm::json::Value json(double value);
  static llvm::json::Value json(const Polynomial &value);
  static llvm::json::Value json(Axes values);
  static llvm::json::Value json(const Shape &shape);
  /// The elements, in row-major order.
  static llvm::json::Value json(mlir::ElementsAttr values);
  static llvm::json::Value json(mlir::Value value) {
    return json(shapeOf(value));
  }
  /// The equation of an einsum: `n t d, d m -> n t m` as `ntd,dm->ntm`.
  static std::string equation(llvm::StringRef spec);

private:
  friend bool exportGraph(mlir::Operation *graph, llvm::raw_ostream &os);

  std::string unique(std::string name);
  llvm::json::Object describe(const Tensor &tensor);
  /// The places of the modules that the op is in.
  llvm::json::Array modules();
  void addNode(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
               llvm::ArrayRef<Tensor> outs);

  mlir::Operation *op = nullptr; ///< that is written
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  llvm::StringSet<> names;
  llvm::StringMap<Tensor> knownByText;
  std::set<std::string> symbols;
  llvm::json::Array inputs, weights, knowns, calls, nodes;
  std::vector<std::string> notes;
  /// The calls of modules that the last node is in: names in op names, such as
  /// `layer@2` of a second call, and places in `calls`.
  struct Call {
    std::string name;
    int64_t place;
  };
  std::vector<Call> open;
  llvm::StringSet<> called;
  llvm::StringMap<int64_t> timesCalled;
};

/// Writes a network, a `net.network` or the step of an inference, in PyTorch's
/// ops. False after an error on each op of a kind that none of them is.
bool exportGraph(mlir::Operation *graph, llvm::raw_ostream &os);

/// What writes an op, generated from `foreign` and `exported` of its entry in
/// `dialect/*.td`; null for an op without them.
using ExportRule = void (*)(mlir::Operation *op, GraphWriter &to);
ExportRule findExportRule(llvm::StringRef op);

} // namespace netc

#endif // NETC_LIB_EXPORT_GRAPHWRITER_H
