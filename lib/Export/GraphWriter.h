// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_EXPORT_GRAPHWRITER_H
#define NETC_LIB_EXPORT_GRAPHWRITER_H

#include "dialect/Net.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

#include <set>

namespace netc {

/// A tensor in a graph of PyTorch's ops.
struct ForeignTensor {
  std::string name; ///< empty for an operand that is left out
  mlir::Type element;
  Shape shape;
  /// The shape that the tensor is broadcast to where it is read; none if it is
  /// not expanded.
  std::optional<Shape> repeated = std::nullopt;
};

/// Writes a network op by op, in the format of docs/graph.schema.json. The
/// rules in `dialect/*.td` write ops with these methods.
class GraphWriter {
public:
  using Tensor = ForeignTensor;
  using Tensors = llvm::SmallVector<Tensor, 2>;
  struct Settings : llvm::json::Object {
    Settings() = default;
    Settings(std::initializer_list<KV> members) : Object(members) {}
  };
  using Axes = llvm::ArrayRef<int64_t>;

  /// The tensor of a value. Refuses the op if the value has none. A tensor from
  /// expand() is broadcast first, unless the op is element-wise and another
  /// operand has the full shape.
  Tensor get(mlir::Value value);
  Tensors get(mlir::ValueRange values);
  /// Sets the tensor of a value.
  void set(mlir::Value value, Tensor tensor);

  /// Writes a node with the results of the net op.
  void write(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
             mlir::ValueRange results);
  /// Writes a node with intermediate results of these types.
  Tensors make(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
               llvm::ArrayRef<mlir::RankedTensorType> types);
  /// Writes a node with one intermediate result.
  Tensor make(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
              mlir::RankedTensorType type) {
    return make(op, ins, std::move(with), llvm::ArrayRef(type)).front();
  }
  /// The same, with the element type of the first operand.
  Tensor make(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
              const Shape &shape);

  /// Writes a parameter, or a buffer if `isState`. `learns` says whether it is
  /// trained.
  void weight(mlir::Value value, llvm::StringRef name, llvm::StringRef init,
              bool learns, bool isState = false);
  /// A tensor that depends only on sizes. `facts` are further members of its
  /// entry in `known`. Equal tensors have one entry.
  Tensor known(llvm::StringRef what, mlir::Type element, const Shape &shape,
               Settings facts = {});
  /// A tensor full of `value`.
  Tensor number(double value, mlir::Type element, const Shape &shape);
  /// 0, 1, 2, .. as integers of 64 bits.
  Tensor range(const Polynomial &size);

  /// Whether `aten.RELATION` holds, element by element.
  Tensor compare(llvm::StringRef relation, Tensor a, Tensor b,
                 const Shape &shape);
  /// Whether two conditions of one shape hold.
  Tensor both(Tensor a, Tensor b);

  // Moves of elements. view(), permute() and pad() write no node if nothing
  // moves. Axis i of a permuted tensor is axis `order[i]` of x.
  Tensor view(Tensor x, const Shape &shape);
  Tensor permute(Tensor x, Axes order);
  static Shape permuted(const Shape &shape, Axes order);
  /// The order of axes after axis `from` is moved to the place `to`.
  static llvm::SmallVector<int64_t> moved(int64_t from, int64_t to,
                                          size_t rank);
  Tensor move(Tensor x, int64_t from, int64_t to) {
    return permute(x, moved(from, to, x.shape.rank()));
  }
  Tensor flip(Tensor x, int64_t axis);
  /// Slices an axis from `start` on. `shape` is the shape of the result.
  Tensor slice(Tensor x, int64_t axis, const Polynomial &start,
               const Shape &shape);
  /// Broadcasts x along new axes, but only where it is read. Axis i of x is
  /// axis `axes[i]` of the result.
  Tensor expand(Tensor x, Axes axes, const Shape &shape);
  /// Writes the node that broadcasts x, if x is from expand().
  Tensor whole(Tensor x);
  /// Pads each axis in `over` by `low` elements before and `high` elements
  /// after.
  Tensor pad(Tensor x, Axes over, Axes low, Axes high, double value);

  /// Converts x to another element type. Writes no node if it has this type.
  Tensor convert(Tensor x, mlir::Type element);
  /// The mean of all elements of x.
  Tensor mean(Tensor x);

  /// Joins the axes of x up to `over`, so that all rows are along one axis.
  /// Returns x so, and the numbers of the rows that `ids` name, which has the
  /// axes before `over`, too: -1 for those that it does not have.
  std::pair<Tensor, Tensor> joinRows(Tensor x, Tensor ids, int64_t over);

  /// Writes a loop. Its body is there once for each step, as PyTorch exports a
  /// loop of Python, if their number is known and not too large.
  void scan(ScanOp scan);

  /// Writes the assignment of rows to the slots of experts.
  void dispatch(DispatchOp op);
  /// Writes what brings the contents of slots back to the choices.
  void collect(CollectOp op);

  using Rule = llvm::function_ref<Tensor(Tensor x, const Shape &result)>;
  /// Sets y to the result of `rule`, which gets x with the axes `over` at the
  /// end. The axes of the result are moved back.
  void atEnd(mlir::Value y, Tensor x, Axes over, Rule rule);
  /// Sets y to the result of `rule`, which gets x as [N, C, ..] with windows
  /// over the last axes. `channel` is -1 if each channel is a batch element of
  /// its own.
  void asImages(mlir::Value y, Tensor x, Axes over, int64_t channel, Rule rule);
  /// Sets `padding` to the part of the padding that PyTorch's ops apply: the
  /// same on both sides, at most `most`. Returns x, padded by the rest with
  /// `value`.
  Tensor padImages(Tensor x, Axes low, Axes high, Axes most, double value,
                   llvm::SmallVectorImpl<int64_t> &padding);

  /// Throws, since the op cannot be written.
  [[noreturn]] void refuse(const llvm::Twine &why);

  // The values of attributes.
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
  /// The elements in row-major order.
  static llvm::json::Value json(mlir::ElementsAttr values);
  static llvm::json::Value json(mlir::Value value) {
    return json(shapeOf(value));
  }
  /// The equation of an einsum with one letter for each axis: `abc,cd->abd` for
  /// `n t d, d m -> n t m`.
  static std::string equation(llvm::StringRef spec);

private:
  friend bool exportGraph(mlir::Operation *graph, llvm::raw_ostream &os);

  /// The name, with a number if a tensor already has it.
  std::string unique(std::string name);
  llvm::json::Object describe(const Tensor &tensor);
  /// Finds the modules of parts that are recomputed.
  void findRecomputed(mlir::Block &block);
  /// The names of the modules that an op is in, from the outermost. A part that
  /// is recomputed and is no module has one of its own.
  llvm::SmallVector<llvm::StringRef> modulesOf(mlir::Operation *op) const;
  /// The calls of modules that the op is in, as positions in `calls`.
  llvm::json::Array modules();
  void addNode(llvm::StringRef op, llvm::ArrayRef<Tensor> ins, Settings with,
               llvm::ArrayRef<Tensor> outs);

  /// Writes an op by its rule.
  void writeOp(mlir::Operation &each);

  /// Writes the body once for each step.
  void unroll(ScanOp scan, int64_t steps);
  /// Writes PyTorch's `scan`, which runs over the first axes.
  void loop(ScanOp scan);

  mlir::Operation *op = nullptr; ///< the op that is written
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  llvm::StringSet<> names;
  llvm::StringMap<Tensor> knownByText;
  std::set<std::string> symbols;
  llvm::json::Array inputs, weights, knowns, calls, nodes;
  /// The calls of modules that contain the last node. `name` is that in op
  /// names, such as `layer@2` for a second call; `place` is the position in
  /// `calls`.
  struct Call {
    std::string name;
    int64_t place;
  };
  std::vector<Call> open;
  /// A part that is recomputed, by its number.
  struct Recomputed {
    llvm::SmallVector<llvm::StringRef> modules; ///< that all of its ops are in
    bool isModule = true; ///< all ops of the last of these are in the part
    std::string name;     ///< of a module of its own
  };
  llvm::MapVector<mlir::Attribute, Recomputed> recomputed;
  llvm::StringSet<> called;
  llvm::StringMap<int64_t> timesCalled;
};

/// Writes a net.network, or the net.step of an inference, in PyTorch's ops.
/// Returns false after an error on the first op of each kind that cannot be
/// written.
bool exportGraph(mlir::Operation *graph, llvm::raw_ostream &os);

/// The function that writes an op, generated from `foreign` and `exported` of
/// its entry in `dialect/*.td`. Null for an op without them.
using ExportRule = void (*)(mlir::Operation *op, GraphWriter &to);
ExportRule findExportRule(llvm::StringRef op);

} // namespace netc

#endif // NETC_LIB_EXPORT_GRAPHWRITER_H
