// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_BANDEDALIGNMENT_H
#define NETC_LIB_AUDIT_BANDEDALIGNMENT_H

#include "lib/Audit/Match.h"

namespace netc::audit {

/// Consecutive items of both sequences that belong together.
struct Block {
  size_t i, j;         ///< the first items in the first and the second sequence
  size_t many, others; ///< the numbers of items in each
  Confidence confidence;
};

/// Aligns two sequences by the method of Needleman and Wunsch (A general method
/// applicable to the search for similarities in the amino acid sequence of two
/// proteins, 1970), where a block may be several elements of one sequence. Only
/// a band around the diagonal is searched, O((n + m) x width). It is widened
/// until nothing outside of it can cost less (Ukkonen, Algorithms for
/// approximate string matching, 1985), or up to a limit of width and memory.
class BandedAlignment {
public:
  /// Takes a block of `many` elements of the first and `others` of the second
  /// sequence, with its cost.
  using Offer = llvm::function_ref<void(size_t many, size_t others,
                                        int64_t cost, Confidence confidence)>;
  /// Offers each block that ends in front of the elements `i` and `j`.
  using OfferBlocks = llvm::function_ref<void(size_t i, size_t j, Offer)>;

  /// Blocks have at most `longest` elements of a sequence, 255 or less. Those
  /// that are not square cost `leastOther` or more.
  BandedAlignment(size_t first, size_t second, size_t longest,
                  int64_t leastOther)
      : rows(first + 1), columns(second + 1), longest(longest),
        keptRows(std::min(longest + 1, rows)), leastOther(leastOther) {}

  /// The blocks whose costs have the least sum, in order.
  std::vector<Block> find(OfferBlocks offerBlocks);

private:
  static constexpr size_t leastReach = 32, mostReach = 256,
                          mostWays = size_t(48) << 20,
                          mostCosts = size_t(16) << 20;
  static constexpr int64_t unreached = INT64_MAX / 2;

  /// The block that ends at a place.
  struct Way {
    uint8_t many = 0, others = 0, confidence = 0;
  };

  size_t begin(size_t i) const {
    size_t middle = rows > 1 ? i * (columns - 1) / (rows - 1) : 0;
    return std::min(middle > reach ? middle - reach : 0, columns - width);
  }
  size_t end(size_t i) const { return begin(i) + width; }
  bool isIn(size_t i, size_t j) const { return j >= begin(i) && j < end(i); }
  size_t placeOf(size_t i, size_t j) const { return i * width + j - begin(i); }
  /// The least cost up to a place. Only rows that a block can reach are kept.
  int64_t &costAt(size_t i, size_t j) {
    return costs[(i % keptRows) * width + j - begin(i)];
  }
  int64_t search(OfferBlocks offerBlocks);

  size_t rows, columns, longest, keptRows, reach = 0, width = 0;
  int64_t leastOther;
  std::vector<Way> ways;
  std::vector<int64_t> costs;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_BANDEDALIGNMENT_H
