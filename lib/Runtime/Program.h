// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_PROGRAM_H
#define NETC_LIB_RUNTIME_PROGRAM_H

#include "lib/Runtime/Element.h"

#include <cstdint>
#include <string>
#include <vector>

namespace netc::runtime {

enum class Role {
  Parameter, ///< learned
  State,     ///< kept from step to step: moments, running statistics
  Input,     ///< the data of a step
  Result,    ///< what a step computes to be shown
  Step,      ///< the number of the step, from 1
  Seed       ///< differs from step to step
};

/// How a parameter or state starts. `Initialize.h` says what they mean.
enum class Init {
  Zeros,
  Ones,
  FanIn,
  Normal,
  Uniform,
  Sine,
  Cosine,
  Sinusoid,
  Alibi,
  Identity
};

/// A tensor that lives in the arena.
struct Slot {
  std::string name;
  Role role;
  Init init = Init::Zeros;
  double theta = 0; ///< of tables of angles; see Initialize.h
  Element element;
  std::vector<int64_t> shape;
  int64_t offset;    ///< bytes from the start of the arena
  int64_t below = 0; ///< inputs: integers 0..below-1; 0 means any number
  /// If it does not lie there in row-major order: loops over its place, the
  /// outermost first, and how far a turn of each moves in row-major order.
  std::vector<int64_t> sizes, strides;

  int64_t count() const; ///< elements
  int64_t bytes() const { return count() * bytesOf(element); }
  bool isRowMajor() const { return sizes.empty(); }
  /// Copies all elements from row-major order to that of the arena.
  void lay(const char *from, char *to) const;
  /// Copies them back.
  void gather(const char *from, char *to) const;
};

/// What the code between two calls of `netc_record` stands for. FLOP and bytes
/// are those of one step.
struct Op {
  std::string name, op, phase;
  int64_t matmul, other, transcendental, bytes;
};

/// What a generated program says about itself.
struct Program {
  std::string identity; ///< JSON: what was compiled, and how
  std::string title;    ///< the same for people, in one line
  std::string isa;      ///< that the code needs, or empty
  int64_t batch;        ///< examples a step
  int64_t arena;        ///< bytes
  int64_t buffers;      ///< bytes, if each tensor had a place to itself
  int64_t stack;        ///< bytes of copies that a thread makes, at most
  bool counted;         ///< whether it counts what it executes
  bool trains;          ///< whether there is more than a forward pass
  std::vector<Slot> slots;
  std::vector<Op> ops;

  /// Reads the JSON that the compiler wrote into the program.
  static Program parse(const char *text);

  const Slot *find(Role role) const;
  /// What training minimizes, the result `loss`, one number for each part of
  /// the batch; not what else an inference computes.
  const Slot *loss() const;
};

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_PROGRAM_H
