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

/// What a tensor that outlives a step is for. Inputs are filled, and results
/// read, by who runs the step.
enum class Role {
  Parameter, ///< learned
  State,     ///< kept from step to step: moments, running statistics
  Input,     ///< the data of a step
  Result,    ///< what a step computes to be shown
  Step,      ///< the number of the step, from 1
  Seed       ///< differs from step to step
};
/// In the order of the enumeration.
constexpr const char *roles[] = {"parameter", "state", "input",
                                 "result",    "step",  "seed"};
inline const char *nameOf(Role role) { return roles[int(role)]; }
/// The one that is called so, or none.
std::optional<Role> roleOf(const std::string &name);

/// How a parameter or state starts. With n elements of one output (all axes but
/// the first); at position p (the last axis but one) and feature i of d (the
/// last).
enum class Init {
  Zeros,
  Ones,
  FanIn,    ///< uniform with mean 0 and variance 1/n: |x| < sqrt(3 / n)
  Normal,   ///< mean 0, standard deviation 0.02
  Uniform,  ///< |x| < 1 / sqrt(n)
  Sine,     ///< sin(p theta^(-i/d)), of the angles that turn pairs of features
  Cosine,   ///< cos of the same
  Sinusoid, ///< sin(p theta^(-i/d)) for even i, cos(p theta^(-(i-1)/d)) for odd
  Alibi,    ///< 2^(-8 (h + 1) / H) p for head h (the last axis but one) of H
  Identity  ///< 1 where the last two axes meet
};
/// In the order of the enumeration.
constexpr const char *inits[] = {"zeros",   "ones",    "fan_in", "normal",
                                 "uniform", "sine",    "cosine", "sinusoid",
                                 "alibi",   "identity"};
inline const char *nameOf(Init init) { return inits[int(init)]; }
/// The one that is called so, or none.
std::optional<Init> initOf(const std::string &name);

/// A tensor that lives in the arena.
struct Slot {
  std::string name;
  Role role;
  Init init = Init::Zeros;
  double theta = 1e4; ///< of angles; see Init
  Element element;
  std::vector<int64_t> shape;
  int64_t offset;    ///< bytes from the start of the arena
  int64_t below = 0; ///< inputs: integers 0..below-1; 0 means any number
  /// If it does not lie there in row-major order: loops over its place, the
  /// outermost first, and how far an iteration of each moves in row-major
  /// order.
  std::vector<int64_t> sizes, strides;

  int64_t count() const; ///< elements
  int64_t bytes() const { return count() * bytesOf(element); }
  bool isRowMajor() const { return sizes.empty(); }
  /// Copies all elements from row-major order to that of the arena.
  void pack(const char *from, char *to) const;
  /// Copies them back.
  void unpack(const char *from, char *to) const;
};

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_SLOT_H
