// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_VERIFY_JITSTEP_H
#define NETC_LIB_DRIVER_VERIFY_JITSTEP_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Device.h"
#include "lib/Runtime/Random.h"
#include "lib/Simulator/Simulator.h"
#include "lib/Target/Compile.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace netc {

/// What roundings do to values in f64: nothing, or relative errors of up to a
/// half unit in the last place, at random by a seed.
class Perturbation {
public:
  Perturbation() = default;
  explicit Perturbation(uint64_t seed)
      : random(runtime::Random(seed, "perturbation")) {}

  double operator()(double exact, double unit) {
    if (!random)
      return exact;
    return exact * (1 + unit * (2 * random->uniform(drawn++) - 1));
  }

private:
  std::optional<runtime::Random> random;
  uint64_t drawn = 0;
};

/// What a step gets to work on.
enum class Data {
  Valid,       ///< what a program reads or makes up
  AnyIntegers, ///< the same, with integers from the whole of their types
  AnyNumbers   ///< with infinities and what is no number, in parameters, too
};

/// A compiled step, loaded into this process, and the device that it runs on.
class JitStep {
public:
  static llvm::Expected<JitStep> load(CompiledStep compiled);

  const program::Program &program() const { return description; }

  /// Initial parameters and state, and synthetic inputs.
  void reset(uint64_t seed, Data data = Data::Valid);
  /// Runs the step with this number, from 1.
  void run(int64_t number);
  /// Of a step lowered to be perturbed: what its roundings do from now on.
  void perturb(Perturbation perturbation) { errors = perturbation; }
  /// The mean of those of the batch's parts.
  double loss() const;
  /// The elements of a slot in row-major order.
  std::vector<double> values(const program::Slot &slot) const;
  /// The same of what a save() holds.
  static std::vector<double> values(const program::Slot &slot,
                                    const std::vector<char> &saved);
  void assign(const program::Slot &slot, const std::vector<double> &values);

  /// The slot of this step that is the same as one of another; null without.
  const program::Slot *find(const program::Slot &slot) const;
  /// Takes all values of slots from another step, as far as both have them.
  void copyFrom(const JitStep &other);

  /// What outlives a step, to be put back.
  std::vector<char> save() const;
  void restore(const std::vector<char> &saved);

  /// Three numbers an op: matmul, other, transcendental, of all runs; none if
  /// the step does not count.
  std::vector<int64_t> counts() const;
  /// The simulator that it runs on; null if it runs on this processor.
  simulator::Device *simulated() const;

private:
  JitStep() = default;

  program::Program description;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<runtime::Device> device;
  class SimulatedDevice *simulator = nullptr; ///< the device, if it is one
  int64_t *executed = nullptr;
  Perturbation errors;
  uint64_t seed = 0;
};

} // namespace netc

#endif // NETC_LIB_DRIVER_VERIFY_JITSTEP_H
