// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The description of a program that the compiler passes to the runtime. It
// needs neither LLVM nor MLIR, since generated programs link it.

#ifndef NETC_LIB_PROGRAM_PROGRAM_H
#define NETC_LIB_PROGRAM_PROGRAM_H

#include "lib/Program/Slot.h"
#include "lib/Program/TargetKind.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace netc::program {

/// An op: the code between two calls of `netc_record`. FLOP and bytes are per
/// step.
struct Op {
  std::string name, op, phase;
  int64_t matmul, other, transcendental, bytes;
  std::string format; ///< of what products multiply, `bf16`; empty without them

  int64_t flop() const { return matmul + other; }
  bool isForward() const { return phase == "forward"; }
  bool isRecomputed() const { return phase == "recompute"; }
  /// Including recomputation.
  bool isBackward() const {
    return phase == "input" || phase == "weight" || isRecomputed();
  }
  /// Part of the forward or the backward pass, not of the update.
  bool isPass() const { return isForward() || isBackward(); }
};

/// FLOP summed over ops; a multiply-add counts 2.
struct Flop {
  int64_t matmul = 0, other = 0;

  int64_t sum() const { return matmul + other; }
};

/// The FLOP of the ops for which `isIn` holds. The runtime and netc compute the
/// FLOP of a measured step by this function.
template <typename Ops, typename IsIn> Flop flopOf(const Ops &ops, IsIn isIn) {
  Flop sum;
  for (const Op &op : ops)
    if (isIn(op)) {
      sum.matmul += op.matmul;
      sum.other += op.other;
    }
  return sum;
}
/// The FLOP that the machine executes in a step.
template <typename Ops> Flop hardwareFlop(const Ops &ops) {
  return flopOf(ops, [](const Op &) { return true; });
}
/// The same without recomputation, which model FLOP do not include.
template <typename Ops> Flop modelFlop(const Ops &ops) {
  return flopOf(ops, [](const Op &op) { return !op.isRecomputed(); });
}

/// What the code was compiled for.
struct Target {
  TargetKind kind = TargetKind::Cpu;
  std::string isa; ///< that the code requires, or empty
  std::string cpu; ///< processor that it was tuned for
};

/// A kernel of a device, with the numbers of its blocks and of threads per
/// block.
struct Kernel {
  std::string name;
  int64_t blocks, threads;
  int64_t sharedBytes; ///< dynamic shared memory of a block
};

/// The description of a generated program.
struct Program {
  std::string netc;              ///< version of the compiler
  int fma = 2;                   ///< FLOP of a multiply-add
  std::string causal = "full";   ///< how causal masks count: `full` or `half`
  std::string run, network;      ///< names
  std::string lowering = "fast"; ///< or `reference`
  bool counted = false;          ///< whether it counts executed operations
  Target target;
  int64_t batch = 1;   ///< examples per step
  int64_t arena = 0;   ///< bytes
  int64_t buffers = 0; ///< bytes, if tensors shared no memory
  int64_t stack = 0;   ///< most bytes that a kernel keeps on a thread's stack
  std::vector<Slot> slots;
  std::vector<std::string> negative; ///< integer inputs that may be negative
  std::vector<Op> ops;
  std::vector<Kernel> kernels; ///< numbered as in `netc_launch`

  /// Whether there is a backward pass.
  bool trains() const;
  /// The program in one line, for people.
  std::string title() const;
  /// The slot with this role, the first of several; null if there is none.
  const Slot *find(Role role) const;
  /// Whether an input also accepts negative integers.
  bool takesNegative(const Slot &slot) const;
  /// The result `loss`, which training minimizes: one number for each part of
  /// the batch. Null for inference.
  const Slot *loss() const;
};

/// Thrown for a text that is no description of a program.
struct FormatError : std::runtime_error {
  explicit FormatError(const std::string &what)
      : std::runtime_error("this program's description is wrong: " + what) {}
};

/// The description as JSON, and back. Parsing throws a FormatError.
std::string toJson(const Program &program);
Program parseProgram(const char *text);

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_PROGRAM_H
