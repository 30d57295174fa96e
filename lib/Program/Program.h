// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the compiler tells the runtime of the program that it makes. Neither
// LLVM nor MLIR is needed here: generated programs link this.

#ifndef NETC_LIB_PROGRAM_PROGRAM_H
#define NETC_LIB_PROGRAM_PROGRAM_H

#include "lib/Program/Slot.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace netc::program {

/// What the code between two calls of `netc_record` stands for. FLOP and bytes
/// are those of one step.
struct Op {
  std::string name, op, phase;
  int64_t matmul, other, transcendental, bytes;

  int64_t flop() const { return matmul + other; }
  bool isForward() const { return phase == "forward"; }
  bool isRecomputed() const { return phase == "recompute"; }
  /// With what is run again for it.
  bool isBackward() const {
    return phase == "input" || phase == "weight" || isRecomputed();
  }
  /// Of the forward or the backward pass, not of the update.
  bool isPass() const { return isForward() || isBackward(); }
};

/// A sum over ops, 2 FLOP a multiply-add.
struct Flop {
  int64_t matmul = 0, other = 0;

  int64_t sum() const { return matmul + other; }
};

/// The FLOP of those ops of a step that `isIn` picks. What the runtime and
/// netc report of a measured step comes from here.
template <typename Ops, typename IsIn> Flop flopOf(const Ops &ops, IsIn isIn) {
  Flop sum;
  for (const Op &op : ops)
    if (isIn(op)) {
      sum.matmul += op.matmul;
      sum.other += op.other;
    }
  return sum;
}
/// What the machine does in a step.
template <typename Ops> Flop hardwareFlop(const Ops &ops) {
  return flopOf(ops, [](const Op &) { return true; });
}
/// The same without recomputation, which is no work of the model.
template <typename Ops> Flop modelFlop(const Ops &ops) {
  return flopOf(ops, [](const Op &op) { return !op.isRecomputed(); });
}

/// What the code is for.
struct Target {
  std::string name; ///< of the backend: `cpu`
  std::string isa;  ///< that the code needs, or empty
  std::string cpu;  ///< that it was compiled for
};

/// Code of a device, which runs in so many blocks of so many threads.
struct Kernel {
  std::string name;
  int64_t blocks, threads;
};

/// What a generated program says about itself.
struct Program {
  std::string netc;              ///< version of the compiler
  int fma = 2;                   ///< FLOP of a multiply-add
  std::string causal = "full";   ///< what of masked products counts
  std::string run, network;      ///< names
  std::string lowering = "fast"; ///< or `reference`
  bool counted = false;          ///< whether it counts what it executes
  Target target;
  int64_t batch = 1;   ///< examples a step
  int64_t arena = 0;   ///< bytes
  int64_t buffers = 0; ///< bytes, if each tensor had a place to itself
  int64_t stack = 0;   ///< bytes of copies that a thread makes, at most
  std::vector<Slot> slots;
  std::vector<std::string> negative; ///< inputs whose integers may be negative
  std::vector<Op> ops;
  std::vector<Kernel> kernels; ///< by the numbers that `netc_launch` gets

  /// Whether there is more than a forward pass.
  bool trains() const;
  /// What it is, for people, in one line.
  std::string title() const;
  const Slot *find(Role role) const;
  /// Whether an input takes negative integers, too.
  bool takesNegative(const Slot &slot) const;
  /// What training minimizes, the result `loss`, one number for each part of
  /// the batch; not what else an inference computes.
  const Slot *loss() const;
};

/// Text that is no description of a program.
struct FormatError : std::runtime_error {
  explicit FormatError(const std::string &what)
      : std::runtime_error("this program's description is wrong: " + what) {}
};

/// The description as JSON text, and back; throws a FormatError.
std::string toJson(const Program &program);
Program parseProgram(const char *text);

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_PROGRAM_H
