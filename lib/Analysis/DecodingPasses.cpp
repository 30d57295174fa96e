// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/DecodingPasses.h"

#include "lib/Analysis/Decoding.h"

#include <algorithm>

using namespace netc;
using namespace mlir;

/// The sum of t^power over t = 1 .. n.
static Rational sumOfPowers(const Rational &n, unsigned power) {
  switch (power) {
  case 0:
    return n;
  case 1:
    return n * (n + 1) / 2;
  case 2:
    return n * (n + 1) * (n * 2 + 1) / 6;
  default:
    return (n * (n + 1) / 2).pow(2);
  }
}

namespace {
/// The passes for the last `n` of `length` positions, with `size` positions
/// each; the last pass has the remainder.
struct Passes {
  Rational before, size, whole, rest, length;

  Passes(const Rational &length, const Rational &n, const Rational &size)
      : before(length - n), size(size), whole((n / size).floor()),
        rest(n - whole * size), length(length) {}

  Rational count() const { return whole + (rest.isZero() ? 0 : 1); }
  /// The sum over passes of (last position)^power.
  Rational sumOfEnds(unsigned power) const {
    // (before + i size)^power, summed over i from 1.
    static constexpr int64_t binomial[4][4] = {
        {1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
    Rational sum = rest.isZero() ? Rational(0) : length.pow(power);
    for (unsigned k = 0; k <= power; ++k)
      sum += Rational(binomial[power][k]) * before.pow(power - k) *
             size.pow(k) * sumOfPowers(whole, k);
    return sum;
  }
  /// The sum over positions of (last position of its pass)^power.
  Rational sumOverPositions(unsigned power) const {
    Rational last = rest.isZero() ? Rational(0) : length.pow(power);
    return (sumOfEnds(power) - last) * size + last * rest;
  }
  /// The sum over whole passes of the smaller of their last position and
  /// `limit`.
  Rational sumOfEndsUpTo(const Rational &limit) const {
    Rational below =
        std::clamp(((limit - before) / size).floor(), Rational(0), whole);
    return below * before + size * sumOfPowers(below, 1) +
           (whole - below) * limit;
  }
  /// The sum over positions of those that a window of `window` of them has
  /// when their pass ends.
  Rational pairsInWindows(const Rational &window) const {
    return sumOfEndsUpTo(window) * size + rest * std::min(window, length);
  }
  /// The sum over passes of the positions that they read with windows of
  /// `window`.
  Rational sumOfWindows(const Rational &window) const {
    Rational sum = sumOfEndsUpTo(window + size - 1);
    if (!rest.isZero())
      sum += std::min(length, window + rest - 1);
    return sum;
  }
};
} // namespace

void netc::decodeInPasses(const Run &run, Axes &axes) {
  if (!run.decode)
    return;
  std::optional<Rational> known =
      axes.evaluate(Polynomial::symbol(run.decodeAxis)).constant();
  assert(known && "positions are decoded along an axis without a size");
  const Rational length = *known;
  // A trace may have fewer positions than the run.
  Passes passes(length, std::min(*run.decode, length), run.decodeTogether);
  const Rational &before = passes.before;
  axes.fix(Decoding::kFurtherPasses,
           passes.count() - (before == Rational(0) ? 1 : 0));
  axes.fix(Decoding::kDecoded, length - before);
  axes.fix(Decoding::kPositionsRead, before + passes.sumOfEnds(1));
  Decoding::forEachWindow(run.symbolic.read.symbols(), Decoding::kPositionsRead,
                          [&](StringRef symbol, int64_t window) {
                            axes.fix(symbol,
                                     before + passes.sumOfWindows(window));
                          });
  Decoding::forEachWindow(
      run.symbolic.model().matmul.symbols(), Decoding::kPairs,
      [&](StringRef symbol, int64_t window) {
        axes.fix(symbol, before * std::min(Rational(window), before) +
                             passes.pairsInWindows(window));
      });
  axes.fix(Decoding::kPairs, sumOfPowers(length, 1));
  SmallVector<Rational> moments;
  for (unsigned power = 1; power <= 4; ++power)
    moments.push_back(before.pow(power) + passes.sumOverPositions(power - 1));
  axes.know(run.decodeAxis, Moments(moments));
}
