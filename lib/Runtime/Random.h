// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_RANDOM_H
#define NETC_LIB_RUNTIME_RANDOM_H

#include <cmath>
#include <cstdint>
#include <string>

namespace netc::runtime {

/// Counter-based random numbers: they depend only on a seed, a name and a
/// position, not on the order of draws.
class Random {
public:
  Random(uint64_t seed, const std::string &name) : key(mix(seed)) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (unsigned char letter : name)
      hash = (hash ^ letter) * 0x100000001b3;
    key = mix(key ^ hash);
  }

  /// 64 uniform bits.
  uint64_t bits(uint64_t position) const {
    return mix(key + position * 0x9e3779b97f4a7c15);
  }
  /// Uniform in [0, 1).
  double uniform(uint64_t position) const {
    return double(bits(position) >> 11) * 0x1p-53;
  }
  /// Uniform in 0 .. upperBound - 1.
  int64_t below(uint64_t position, int64_t upperBound) const {
    return int64_t(
        static_cast<unsigned __int128>(bits(position)) * upperBound >> 64);
  }
  /// Two independent normal numbers with mean 0 and variance 1, by the
  /// Box-Muller transform.
  void normal(uint64_t position, double &first, double &second) const {
    double radius = std::sqrt(-2 * std::log1p(-uniform(2 * position)));
    double angle = 2 * 3.141592653589793 * uniform(2 * position + 1);
    first = radius * std::cos(angle);
    second = radius * std::sin(angle);
  }

private:
  /// The finalizer of SplitMix64.
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t key;
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_RANDOM_H
