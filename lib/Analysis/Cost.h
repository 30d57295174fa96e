// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_COST_H
#define NETC_LIB_ANALYSIS_COST_H

#include "dialect/Net.h"
#include "lib/Hardware/NumberFormat.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace netc {

/// How FLOP are counted. Every report states it.
struct Conventions {
  /// FLOP of a multiply-add in the matmul figure, 2 or 1. All other figures
  /// count 2.
  unsigned fma = 2;
  /// With `Half`, an L x L product under a causal mask counts L (L + 1) / 2 of
  /// its points.
  CountedMask causal = CountedMask::Full;

  bool operator==(const Conventions &other) const {
    return fma == other.fma && causal == other.causal;
  }
};

/// The sizes of the free axes of a network or a step, as their moments.
class Axes {
public:
  explicit Axes(mlir::DictionaryAttr axes);

  /// Sets the size of an axis, or its moments.
  void fix(llvm::StringRef axis, Rational size);
  void know(llvm::StringRef axis, Moments size);

  /// The expectation of `value`. Unknown axes stay. If a moment of an axis is
  /// not known, the power of its mean replaces it, and the axis is recorded in
  /// `guessed`.
  Polynomial evaluate(const Polynomial &value);

  /// The number of known moments of an axis, at least the mean; 0 for an
  /// unknown axis.
  unsigned numKnown(llvm::StringRef axis) const;

  /// Whether the size of an axis is a distribution.
  bool haveDistributions() const;

  /// The axes with a guessed moment, each with the number of that moment.
  const std::map<std::string, unsigned> &getGuessed() const { return guessed; }

  /// The axes whose size is a distribution, and of whose minima, such as a
  /// window's, that of the mean size was taken.
  const std::set<std::string> &getInMinima() const { return inMinima; }

private:
  llvm::StringMap<Moments> moments;
  std::map<std::string, unsigned> guessed;
  std::set<std::string> inMinima;
};

/// The counts of a part of a network or a step. They are exact, and polynomials
/// in the free axes that are not evaluated.
struct Figures {
  using Costs = std::array<Cost, getMaxEnumValForPhase() + 1>; ///< by Phase
  Costs costs;
  /// The share of `costs` in formats other than f32, in their order.
  llvm::SmallVector<std::pair<NumberFormat, Costs>, 0> byFormat;
  Polynomial parameters; ///< elements; a shared weight counts once
  Polynomial trainable;  ///< elements of `parameters` that are trained
  Polynomial idle;       ///< elements of experts that a row does not choose
  /// Bytes that ops read and write, without fusion. A reshape moves nothing.
  Polynomial read, written;
  /// The share of `read` in the passes of a decoder after the first.
  Polynomial readAgain;
  /// The share of `read` and `written` in the update, and bytes of the
  /// gradients that it reads.
  Polynomial updateRead, updateWritten, gradients;
  /// The share of `read` and `written` in conversions between floating-point
  /// formats, and the share of these in the update.
  Polynomial converted, updateConverted;
  /// Bytes that the forward pass computes and the backward pass reads; see
  /// forEachActivation.
  Polynomial activations;

  const Cost &operator[](Phase phase) const { return costs[unsigned(phase)]; }
  Cost &operator[](Phase phase) { return costs[unsigned(phase)]; }
  /// The costs in a format other than f32, which start as 0.
  Costs &costsIn(NumberFormat format);
  /// Input and weight gradients.
  Cost backward() const;
  /// Forward, backward and update, without recomputation.
  Cost model() const;
  /// model() and recomputation.
  Cost hardware() const;
  /// The costs in one format; all other figures are 0.
  Figures in(NumberFormat format) const;
  /// The formats with a cost, f32 first.
  std::vector<NumberFormat> formats() const;
  /// Bytes that are read and written.
  Polynomial traffic() const { return read + written; }
  /// All figures that are bytes read or written.
  static llvm::ArrayRef<Polynomial Figures::*> movements();

  Figures &operator+=(const Figures &other);
  /// The figures with costs and traffic multiplied by `times`.
  Figures repeated(const Rational &times) const;
  /// Whether all figures are in the range of Polynomial.
  bool isValid() const;
  bool isZero() const;
  bool operator==(const Figures &other) const;
};

/// An instance of a block, or an op: a node in the tree of the ops' names.
/// `layer1.0.conv1` is a child of `layer1.0`.
struct Part {
  llvm::StringRef path; ///< of a location; empty for the root, the network
  unsigned parent = 0;
  llvm::SmallVector<unsigned, 0> children;
  /// The op with the highest cost in the forward pass: `conv`.
  llvm::StringRef op;
  /// The types of its inputs: the values that its forward ops read and other
  /// parts compute. Weights are not inputs. All free axes are kept.
  llvm::SmallVector<mlir::RankedTensorType, 1> inputs;
  /// The type of the first result that another part uses; null if there is
  /// none.
  mlir::RankedTensorType output;
  /// The number of copies of a `repeat` that the part represents: itself and
  /// the copies that follow it in the text. See kRolled.
  int64_t copies = 1;
  /// The sum over its ops, and over all copies.
  Figures figures;
  /// Whether a product reads a frozen weight; and whether one reads no weight,
  /// as in attention.
  bool readsFrozen = false, multipliesActivations = false;
  /// Whether a gradient is a product without a sum, which is no matmul; and
  /// whether the last iteration of a loop omits one.
  bool hasGradientWithoutSum = false, omitsLastGradient = false;

  bool isLeaf() const { return children.empty(); }
  /// The last component of the path.
  llvm::StringRef name() const { return path.substr(path.rfind('.') + 1); }
  /// Whether inputs and output have the same shapes, in whatever formats.
  bool hasShapesOf(const Part &other) const;
};

/// The parts of a network or a step. Parents precede children, and the root is
/// first.
struct PartTree {
  /// A deque, so that the large elements never move.
  std::deque<Part> parts;

  const Part &root() const { return parts.front(); }
  /// Whether a part is a `repeat` with fewer parts than copies.
  bool holdsRolledCopies(const Part &part) const;
  /// Follows the components of `path` from the root. Returns the last part that
  /// exists, and the rest of the path. A `repeat` that is rolled has no parts.
  std::pair<const Part *, llvm::StringRef> descend(llvm::StringRef path) const;
  /// Null if there is no part with this path.
  const Part *find(llvm::StringRef path) const {
    auto [part, rest] = descend(path);
    return rest.empty() ? part : nullptr;
  }
  /// A layer is a part whose children are all ops, or an op that is in no such
  /// part. The root is not a layer. A weight outside of layers is a layer of
  /// its own, so every figure belongs to exactly one layer.
  bool isLayer(const Part &part) const;
  /// The layers in the order of the text.
  std::vector<const Part *> layers() const;

  /// Evaluates all figures. Shapes keep their free axes.
  void evaluate(Axes &axes);
};

/// The path and name of an op, `layer1.0.conv1.conv`, from its location.
llvm::StringRef nameOf(mlir::Operation *op);

/// The phase of an op. An op of a loop's body without a phase has the phase of
/// the loop.
Phase enclosingPhase(mlir::Operation *op);
/// The widest floating-point element of tensors, the first of equally wide
/// ones; null if there is none. Products compute in that of their operands.
mlir::FloatType widestFloat(mlir::ValueRange tensors);

/// An op of a net.network or net.step, and its cost.
struct CountedOp {
  mlir::Operation *op;
  Polynomial times; ///< executions: the iterations of the loops around it
  Phase phase;
  Cost cost;           ///< of all executions, by the conventions
  NumberFormat format; ///< the format in which it computes
  Part &part;          ///< the part that it belongs to
};

/// Counts a net.network or net.step exactly, in its free axes. The body of a
/// loop counts once per iteration. Calls `onOp` for each op in the order of the
/// program, and for each weight at its first use.
PartTree countParts(mlir::Operation *graph, const Conventions &conventions,
                    llvm::function_ref<void(const CountedOp &)> onOp = {});

/// The formats in which the products of a step compute.
std::set<NumberFormat> formatsOfProducts(StepOp step);

/// Fails, with an error on `graph`, if a figure is out of range.
llvm::LogicalResult verifyCounts(mlir::Operation *graph, const PartTree &tree);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COST_H
