// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TOOLS_NETC_VERIFY_JITSTEP_H
#define NETC_TOOLS_NETC_VERIFY_JITSTEP_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Device.h"
#include "lib/Runtime/Random.h"
#include "lib/Simulator/Simulator.h"
#include "lib/Target/Compile.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <algorithm>
#include <cmath>

namespace netc {

/// Errors of roundings, for values in f64: none, or random relative errors of
/// up to a half unit in the last place, by a seed.
class Perturbation {
public:
  Perturbation() = default;
  explicit Perturbation(uint64_t seed)
      : random(runtime::Random(seed, "perturbation")) {}

  /// A rounding takes at most `unit` of a value, or `least` if that is more. It
  /// does not change the sign, nor infinity, as in a mask.
  double operator()(double exact, double unit, double least) {
    if (!random || exact == 0 || std::isinf(exact))
      return exact;
    double error = std::max(unit * std::abs(exact), least);
    double rounded = exact + error * (2 * random->uniform(drawn++) - 1);
    return std::signbit(rounded) == std::signbit(exact) ? rounded : 0;
  }

private:
  std::optional<runtime::Random> random;
  uint64_t drawn = 0;
};

/// The data of a step.
enum class Data {
  Valid,       ///< as a program reads or synthesizes them
  AnyIntegers, ///< with any integers of their types
  AnyNumbers   ///< with infinities and NaN, also in parameters
};

/// A compiled step, loaded into this process, with its device.
class JitStep {
public:
  /// Loads the object code. A step for a GPU runs on the simulator, or on the
  /// first device of `driver`, if that names a library. Fails if the code
  /// cannot be linked or loaded.
  static llvm::Expected<JitStep> load(CompiledStep compiled,
                                      const std::string &driver);

  const program::Program &program() const { return description; }

  /// Sets initial parameters and state, and synthetic inputs.
  void reset(uint64_t seed, Data data = Data::Valid);
  /// Runs the step with this number, from 1.
  void run(int64_t number);
  /// Sets the errors of roundings from now on. The step must be lowered to be
  /// perturbed.
  void perturb(Perturbation perturbation) { errors = perturbation; }
  /// The mean over the parts of the batch.
  double loss() const;
  /// The elements of a slot in row-major order.
  std::vector<double> values(const program::Slot &slot) const;
  /// The elements of a slot in the result of save(), in row-major order.
  static std::vector<double> values(const program::Slot &slot,
                                    const std::vector<char> &saved);
  /// Sets the elements of a slot from row-major order.
  void assign(const program::Slot &slot, const std::vector<double> &values);

  /// The slot of this step that corresponds to one of another step, or null.
  const program::Slot *find(const program::Slot &slot) const;
  /// Copies the values of all slots that both steps have.
  void copyFrom(const JitStep &other);

  /// The contents of all slots, for a later restore.
  std::vector<char> save() const;
  void restore(const std::vector<char> &saved);

  /// The counts of all runs, three numbers for each op: matmul, other,
  /// transcendental. Empty if the step does not count.
  std::vector<int64_t> counts() const { return device->counts(); }
  /// The simulator that executes the step; null if something else does.
  simulator::Device *simulated() const;

private:
  JitStep() = default;

  /// Makes the device of the target, which calls `step` to run one.
  llvm::Error makeDevice(void (*step)(char *), const std::string &driver);
  llvm::Error makeHostDevice(void (*step)(char *));
  llvm::Error makeSimulatedDevice(void (*step)(char *), const char *code);
  llvm::Error makeCudaDevice(void (*step)(char *), const char *code,
                             const std::string &driver);

  program::Program description;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<runtime::Device> device;
  /// The device, if it is simulated.
  class SimulatedDevice *simulator = nullptr;
  Perturbation errors;
  uint64_t seed = 0;
};

} // namespace netc

#endif // NETC_TOOLS_NETC_VERIFY_JITSTEP_H
