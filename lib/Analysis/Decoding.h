// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_DECODING_H
#define NETC_LIB_ANALYSIS_DECODING_H

#include "dialect/Net.h"

namespace netc {

/// A step whose last positions are made one by one, from keys and values that
/// are kept. All that is computed is computed once; but each pass over the
/// network reads the weights again, and all keys and values so far.
class Decoding {
public:
  /// Symbols, which no axis is named like: how many passes there are after the
  /// first; and the positions of which a pass reads keys, summed over passes.
  static constexpr llvm::StringLiteral kFurtherPasses = "decode.passes";
  static constexpr llvm::StringLiteral kPositionsRead = "decode.positions";
  /// The same of passes that read a window of so many positions at most.
  static std::string positionsRead(int64_t window);
  /// Calls `function(symbol, window)` for each of these among `symbols`.
  static void
  forEachWindow(llvm::ArrayRef<std::string> symbols,
                llvm::function_ref<void(llvm::StringRef, int64_t)> function);
  /// The pairs of a position with itself or one before.
  static constexpr llvm::StringLiteral kPairs = "decode.pairs";

  /// None if all positions of the graph are there at once.
  static std::optional<Decoding> of(mlir::Operation *graph);

  /// A product over pairs of positions that no causal mask is on, if there is
  /// one: it sees positions that are not made yet.
  mlir::Operation *findUnmasked(mlir::Operation *graph) const;
  /// Whether an axis of this size is that of the positions.
  bool isPositions(const Polynomial &size) const {
    return size == Polynomial::symbol(axis);
  }
  /// What the op reads in further passes of an operand that has so many bytes.
  Polynomial readAgain(mlir::Operation *op, unsigned operand,
                       const Polynomial &bytes) const;
  /// The bytes of what is kept from pass to pass and is no weight: keys and
  /// values, also those of another sequence, states of recurrences and what
  /// their turns read from outside, and the positions that windows reach back
  /// to.
  Polynomial bytesKept(mlir::Operation *graph) const;

private:
  Decoding(llvm::StringRef axis, Polynomial together)
      : axis(axis), together(std::move(together)) {}

  unsigned degree(mlir::Value value) const;
  /// Whether each pass executes the op, for its position.
  bool isPerPosition(mlir::Operation *op) const;
  /// How often an op is executed for a position: the turns of other loops.
  Polynomial turnsOf(mlir::Operation *op) const;
  /// The keys of scores, or the values that they weigh, of all positions so
  /// far: the operand that the last axis of the pairs runs over.
  std::optional<unsigned> keysOrValues(mlir::Operation *op) const;
  /// The share of the turns of a loop over experts in which a pass reads its
  /// element of a sequence: those of experts that a row has chosen. 1 of what
  /// is no such element.
  Polynomial shareRead(mlir::Value value) const;
  /// Of how many positions a window of them that `value` holds is.
  std::optional<int64_t> windowOf(mlir::Value value) const;

  llvm::StringRef axis;
  Polynomial together; ///< positions that a pass makes
};

} // namespace netc

#endif // NETC_LIB_ANALYSIS_DECODING_H
