// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_DECODING_H
#define NETC_LIB_ANALYSIS_DECODING_H

#include "lib/Analysis/ElementTypes.h"

namespace netc {

/// Autoregressive decoding with a cache of keys and values: the last positions
/// of a step are computed one after the other. Nothing is computed twice, but
/// each pass reads the weights again, and all keys and values so far.
class Decoding {
public:
  /// Symbols that no axis can have as its name: the number of passes after the
  /// first, and the number of positions whose keys a pass reads, summed over
  /// passes.
  static constexpr llvm::StringLiteral kFurtherPasses = "decode.passes";
  static constexpr llvm::StringLiteral kPositionsRead = "decode.positions";
  /// The number of positions that these passes make.
  static constexpr llvm::StringLiteral kDecoded = "decode.decoded";
  /// kPositionsRead for windows of at most `window` positions.
  static std::string positionsRead(int64_t window);
  /// The number of pairs of a position and itself or an earlier one.
  static constexpr llvm::StringLiteral kPairs = "decode.pairs";
  /// The number of pairs of a position and one that its pass has computed, of
  /// the last `window`.
  static std::string pairsInWindows(int64_t window);
  /// Calls `function(symbol, window)` for those of `symbols` that
  /// positionsRead() returned, or pairsInWindows() if `base` is kPairs.
  static void
  forEachWindow(llvm::ArrayRef<std::string> symbols, llvm::StringRef base,
                llvm::function_ref<void(llvm::StringRef, int64_t)> function);

  /// None if the graph does not decode.
  static std::optional<Decoding> of(mlir::Operation *graph);

  /// A product over pairs of positions without a causal mask, which reads
  /// positions that do not exist yet. Null if there is none.
  mlir::Operation *findUnmasked(mlir::Operation *graph) const;
  /// Another reason why a pass would read positions that do not exist yet: a
  /// loop from the last one, or a window around a position. Null if there is
  /// none.
  mlir::Operation *findLookingAhead(mlir::Operation *graph) const;
  /// How many positions an axis of this size has besides those that are made:
  /// given ones before them, as of an image; fewer than 0 if the last ones are
  /// left out. None if it is another axis.
  std::optional<int64_t> givenIn(const Polynomial &size) const;
  /// Whether an axis of this size is that of positions.
  bool isPositions(const Polynomial &size) const { return givenIn(size) == 0; }
  /// The pairs of a position and itself or an earlier one, of an axis with
  /// `given` more.
  Polynomial pairs(int64_t given) const;
  /// The FLOP of a product in passes, given those of all positions at once: a
  /// window has no places that are not computed yet, and given positions make
  /// no pairs with those after them.
  Polynomial inPasses(mlir::Operation *op, const Polynomial &flop) const;
  /// Bytes of an operand that further passes read again.
  Polynomial readAgain(mlir::Operation *op, unsigned operand,
                       const Polynomial &bytes) const;
  /// Bytes of the cache between passes, without weights. It holds keys and
  /// values, including those of another sequence, the positions in reach of
  /// windows, the states of recurrences, and tensors that their iterations
  /// read.
  BytesByType bytesKept(mlir::Operation *graph) const;

private:
  Decoding(llvm::StringRef axis, Polynomial together)
      : axis(axis), together(std::move(together)) {}

  unsigned degree(mlir::Value value) const;
  /// Whether each pass executes the op for its positions.
  bool isPerPosition(mlir::Operation *op) const;
  /// How often a position executes an op: the iterations of loops over other
  /// axes, times the copies that the op represents.
  Polynomial iterationsOf(mlir::Operation *op) const;
  /// The pairs of positions that a product makes or reads: the sizes of their
  /// axes, and the operand with the keys or values of all positions so far,
  /// which has the last one.
  struct Pairs {
    unsigned operand;
    Polynomial rows, columns;
  };
  std::optional<Pairs> pairsOf(mlir::Operation *op) const;
  Polynomial inWindows(mlir::Operation *op, const Polynomial &flop) const;
  /// The share of the iterations of a loop over experts in which a pass reads
  /// `value`, an element of a sequence. A pass reads it only for experts that a
  /// row has chosen. 1 for other values.
  Polynomial shareRead(mlir::Value value) const;
  /// The number of positions of the windows that `value` holds.
  std::optional<int64_t> windowOf(mlir::Value value) const;

  llvm::StringRef axis;
  Polynomial together; ///< positions per pass
};

} // namespace netc

#endif // NETC_LIB_ANALYSIS_DECODING_H
