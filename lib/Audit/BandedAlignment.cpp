// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/BandedAlignment.h"

using namespace netc::audit;

std::vector<Block> BandedAlignment::find(OfferBlocks offerBlocks) {
  size_t difference = rows > columns ? rows - columns : columns - rows;
  size_t most = std::min({std::max(mostReach, difference) + mostReach,
                          mostWays / rows / 2, mostCosts / keptRows / 2});
  most = std::max(most, columns / rows + 1); // rows of the band overlap
  for (reach = std::min(difference + leastReach, most);;
       reach = std::min(2 * reach, most)) {
    int64_t least = search(offerBlocks);
    // A path that leaves the band has at least so many blocks that are not
    // square.
    if (reach == most || width == columns ||
        least <= leastOther * int64_t((reach - difference) / longest))
      break;
  }
  std::vector<Block> blocks;
  size_t i = rows - 1, j = columns - 1;
  while (i || j) {
    const Way &way = ways[placeOf(i, j)];
    i -= way.many;
    j -= way.others;
    blocks.push_back({i, j, way.many, way.others, Confidence(way.confidence)});
  }
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

/// Fills the band. Returns the least cost.
int64_t BandedAlignment::search(OfferBlocks offerBlocks) {
  width = std::min(2 * reach + 1, columns);
  ways.assign(rows * width, Way());
  costs.assign(keptRows * width, unreached);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = begin(i); j < end(i); ++j) {
      int64_t &least = costAt(i, j);
      least = i == 0 && j == 0 ? 0 : unreached;
      offerBlocks(i, j,
                  [&](size_t many, size_t others, int64_t price,
                      Confidence confidence) {
                    if (many > i || others > j || !isIn(i - many, j - others))
                      return;
                    int64_t cost = costAt(i - many, j - others) + price;
                    if (cost >= least)
                      return;
                    least = cost;
                    ways[placeOf(i, j)] = {uint8_t(many), uint8_t(others),
                                           uint8_t(confidence)};
                  });
    }
  return costAt(rows - 1, columns - 1);
}
