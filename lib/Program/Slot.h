// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_SLOT_H
#define NETC_LIB_PROGRAM_SLOT_H

#include "lib/Program/Element.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace netc::program {

/// The purpose of a tensor that outlives a step. The caller of a step fills
/// inputs and reads results.
enum class Role {
  Parameter, ///< learned
  State,     ///< kept between steps: moments, running statistics
  Input,     ///< data of a step
  Result,    ///< output of a step
  Step,      ///< number of the step, from 1
  Seed       ///< differs between steps
};
/// In the order of the enumeration.
constexpr const char *roles[] = {"parameter", "state", "input",
                                 "result",    "step",  "seed"};
inline const char *nameOf(Role role) { return roles[int(role)]; }
/// The role with this name; none if there is none.
std::optional<Role> roleOf(const std::string &name);

/// The initial value of a parameter or state. n is the number of elements per
/// output (all axes but the first), p the position (the last axis but one), i
/// the feature of d (the last axis).
enum class Init {
  Zeros,
  Ones,
  FanIn,    ///< uniform with mean 0 and variance 1/n: |x| < sqrt(3 / n)
  Normal,   ///< mean 0, standard deviation 0.02
  Uniform,  ///< |x| < 1 / sqrt(n)
  Sine,     ///< sin(p theta^(-i/d)), for rotary positions
  Cosine,   ///< cos(p theta^(-i/d))
  Sinusoid, ///< sin(p theta^(-i/d)) for even i, cos(p theta^(-(i-1)/d)) for odd
  Alibi,    ///< 2^(-8 (h + 1) / H) p for head h (the last axis but one) of H
  Identity  ///< 1 on the diagonal of the last two axes
};
/// In the order of the enumeration.
constexpr const char *inits[] = {"zeros",   "ones",    "fan_in", "normal",
                                 "uniform", "sine",    "cosine", "sinusoid",
                                 "alibi",   "identity"};
inline const char *nameOf(Init init) { return inits[int(init)]; }
/// The initialization with this name; none if there is none.
std::optional<Init> initOf(const std::string &name);

/// A tensor in the arena.
struct Slot {
  std::string name;
  Role role;
  Init init = Init::Zeros;
  double theta = 1e4; ///< of Sine, Cosine and Sinusoid; see Init
  Element element;
  std::vector<int64_t> shape;
  int64_t offset;         ///< bytes from the start of the arena
  int64_t upperBound = 0; ///< exclusive bound of integers; 0 for none
  /// The layout, if it is not row-major: the extents of loops over the memory,
  /// outermost first, and the stride of each in row-major order.
  std::vector<int64_t> sizes, strides;

  int64_t count() const; ///< number of elements
  int64_t bytes() const { return count() * bytesOf(element); }
  bool isRowMajor() const { return sizes.empty(); }
  /// Copies all elements from row-major order to the order of the arena.
  void pack(const char *from, char *to) const;
  /// Copies them back.
  void unpack(const char *from, char *to) const;
};

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_SLOT_H
