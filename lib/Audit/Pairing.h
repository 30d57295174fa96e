// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_PAIRING_H
#define NETC_LIB_AUDIT_PAIRING_H

#include "lib/Audit/Match.h"

namespace netc::audit {

/// Matches products by their shapes, wherever they stand: compilers change the
/// order of gradients. Lists are of indices of products.
class Pairing {
public:
  Pairing(llvm::ArrayRef<SpecifiedProduct> specified,
          llvm::ArrayRef<TracedProduct> traced)
      : specified(specified), traced(traced) {}

  /// Gradients of one shape. Each element of `ours` has those that one op of
  /// the trace computes.
  struct Alike {
    std::vector<llvm::SmallVector<unsigned, 2>> ours;
    std::vector<unsigned> theirs;
  };

  /// Matches the gradients of each group in order, if both sides have equally
  /// many of them, and removes them from both lists.
  static std::vector<Match> paired(llvm::ArrayRef<Alike> groups,
                                   std::vector<unsigned> &ours,
                                   std::vector<unsigned> &theirs);

  /// Matches gradients with equal FLOP and elements.
  std::vector<Match> ofOneShape(std::vector<unsigned> &ours,
                                std::vector<unsigned> &theirs) const;
  /// Matches convolutions whose two gradients are one op of the trace.
  std::vector<Match> ofOneConvolution(std::vector<unsigned> &ours,
                                      std::vector<unsigned> &theirs) const;
  /// Matches forward products of one shape that an alignment left on both
  /// sides: branches may run in any order, what needs a result may not.
  std::vector<Match> outOfOrder(std::vector<Match> found) const;
  /// Matches products of equal FLOP and elements that an alignment left on both
  /// sides.
  std::vector<Match> crossed(std::vector<Match> found) const;

private:
  /// Matches a gradient of several layers with packed weights. A gradient of
  /// the weights has the elements of all of them; one of the input is a sum.
  void joinPacked(std::vector<Match> &found, Match &theirs) const;

  llvm::ArrayRef<SpecifiedProduct> specified;
  llvm::ArrayRef<TracedProduct> traced;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_PAIRING_H
