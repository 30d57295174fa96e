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
#include <vector>

namespace netc {

/// How FLOP are counted; printed with every report.
struct Conventions {
  /// FLOP of a multiply-add in the matmul figure: 2, or 1. All else is as with
  /// 2.
  unsigned fma = 2;
  /// What a causal mask hides: with `Half`, an L x L product under a causal
  /// mask counts L (L + 1) / 2 of its points.
  enum Causal { Full, Half } causal = Full;

  bool operator==(const Conventions &other) const {
    return fma == other.fma && causal == other.causal;
  }
};

/// What is known of the free axes of a network or a step: the moments of each.
class Axes {
public:
  explicit Axes(mlir::DictionaryAttr axes);

  void fix(llvm::StringRef axis, Rational size);
  void know(llvm::StringRef axis, Moments size);

  /// The expectation of `value`; an axis that nothing is known of stays. Where
  /// a power of an axis is asked for that is not known, the mean's power is
  /// taken, and the axis noted in `guessed`.
  Polynomial evaluate(const Polynomial &value);

  /// Of how many powers of an axis the expectation is known.
  unsigned numKnown(llvm::StringRef axis) const;

  /// Whether the size of one is a distribution.
  bool haveDistributions() const;

  /// Axes of which a moment was guessed, with the power.
  const std::map<std::string, unsigned> &getGuessed() const { return guessed; }

private:
  llvm::StringMap<Moments> moments;
  std::map<std::string, unsigned> guessed;
};

/// What is counted of a part of a network or a step. All exact, and polynomials
/// in the free axes that are not evaluated.
struct Figures {
  using Costs = std::array<Cost, getMaxEnumValForPhase() + 1>; ///< by Phase
  Costs costs;
  /// The part of `costs` in formats other than f32.
  std::map<NumberFormat, Costs> byFormat;
  Polynomial parameters; ///< elements, a shared weight once
  Polynomial trainable;  ///< the elements of them that learn
  Polynomial idle;       ///< those of experts that a row does not choose
  /// Bytes that each op by itself reads and writes; one that only gives its
  /// operand another shape moves nothing.
  Polynomial read, written;
  /// Of these, those of the update; and those of all gradients that it takes.
  Polynomial updateRead, updateWritten, gradients;
  /// Of what is read and written, what conversions from one floating-point
  /// format to another move; and those of the update.
  Polynomial converted, updateConverted;
  /// Bytes that the forward pass makes and the backward pass reads; see
  /// forEachActivation.
  Polynomial activations;

  const Cost &operator[](Phase phase) const { return costs[unsigned(phase)]; }
  Cost &operator[](Phase phase) { return costs[unsigned(phase)]; }
  /// Input and weight gradients.
  Cost backward() const;
  /// Forward, backward and update; without recomputation.
  Cost model() const;
  /// With recomputation.
  Cost hardware() const;
  /// With the costs in one format alone, and nothing else.
  Figures in(NumberFormat format) const;
  /// The formats that something costs in, f32 first.
  std::vector<NumberFormat> formats() const;
  /// Bytes that are read or written.
  Polynomial traffic() const { return read + written; }

  Figures &operator+=(const Figures &other);
  /// What is executed, so many times: costs and traffic.
  Figures repeated(const Rational &times) const;
  bool isValid() const;
  bool isZero() const;
  bool operator==(const Figures &other) const;
};

/// An instance of a block, or an op: a node of the tree that the names of the
/// ops span. `layer1.0.conv1` is a part of `layer1.0`.
struct Part {
  std::string path; ///< empty for the root, the network
  unsigned parent = 0;
  llvm::SmallVector<unsigned, 0> children;
  /// The name of the op in it that costs most in the forward pass: `conv`.
  llvm::StringRef op;
  /// Shapes that its forward ops read and none of them makes; weights excluded.
  /// With all free axes.
  std::vector<Shape> inputs;
  /// The shape of its result that is used first outside, if there is one.
  std::optional<Shape> output;
  /// Of all ops in it.
  Figures figures;

  bool isLeaf() const { return children.empty(); }
  /// The last name of the path.
  llvm::StringRef name() const {
    return llvm::StringRef(path).substr(path.rfind('.') + 1);
  }
};

/// The parts of a network or a step; parents before children, the root first.
struct PartTree {
  /// A part is large, and never moves.
  std::deque<Part> parts;

  const Part &root() const { return parts.front(); }
  /// Follows the names of `path` from the root. Returns the last part that is
  /// there, and the rest of the path.
  std::pair<const Part *, llvm::StringRef> descend(llvm::StringRef path) const;
  /// Null if there is none of this path.
  const Part *find(llvm::StringRef path) const {
    auto [part, rest] = descend(path);
    return rest.empty() ? part : nullptr;
  }
  /// A layer is a part of which all parts are ops, or an op that belongs to no
  /// layer; the root is none. A weight outside layers is one by itself, and
  /// every figure is in exactly one.
  bool isLayer(const Part &part) const;
  /// The layers in the order of the text.
  std::vector<const Part *> layers() const;

  /// Evaluates every figure; shapes keep their free axes.
  void evaluate(Axes &axes);
};

/// The instance path and name of an op, `layer1.0.conv1.conv`, from its
/// location.
llvm::StringRef nameOf(mlir::Operation *op);

/// The phase of an op, which an op in a loop has from the loop if it has none
/// itself.
Phase enclosingPhase(mlir::Operation *op);

/// Counts a net.network or net.step, exactly, in its free axes. The body of a
/// loop counts as often as it runs.
PartTree countParts(mlir::Operation *graph, const Conventions &conventions);

/// Fails, with an error on `graph`, if a figure is out of range.
llvm::LogicalResult verifyCounts(mlir::Operation *graph, const PartTree &tree);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COST_H
