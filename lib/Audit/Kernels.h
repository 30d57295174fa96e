// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_KERNELS_H
#define NETC_LIB_AUDIT_KERNELS_H

#include "lib/Audit/Audit.h"
#include "lib/Audit/Join.h"
#include "llvm/ADT/DenseMap.h"

namespace netc::audit {

/// Adds kernels, their counters and their levels to an audit.
class Kernels {
public:
  explicit Kernels(Audit &audit)
      : audit(audit), trace(*audit.trace), step(audit.step) {}

  /// For counters without a timeline: takes kernels and levels as they were
  /// counted, and FLOP and memory by the specification, for `asked` examples.
  void countAlone(std::optional<Rational> asked);
  /// Notes in each row what the names of its kernels tell.
  void nameInRows();
  /// Adds a claim for counters, whose FLOP go to the rows of their products.
  void addCounters(const trace::Trace &counters,
                   llvm::ArrayRef<StepKernel> kernels);
  /// Adds a row for each name of a kernel.
  void addRows();
  /// Joins counters of another run. Computes the levels of the step, of each
  /// row and of each kernel name.
  llvm::Error join(const trace::Trace &counters);
  /// Computes the same levels from samples of the whole device.
  void sample();

private:
  void addCountedStep(std::optional<Rational> asked);
  /// The number in `shownNames` of a kernel's name in rows. It is computed once
  /// for all launches.
  trace::Name rowNameOf(trace::Name kernel);
  std::vector<std::vector<uint32_t>> kernelsOfRows() const;
  std::vector<std::vector<uint32_t>> kernelsOfNames();
  llvm::StringRef deviceOfRun() const;
  void measureJoin(llvm::ArrayRef<JoinedKernels> joined,
                   const trace::Trace &counters);
  void noteImpossible();
  void noteLevels();

  Audit &audit;
  const trace::Trace &trace;
  const TracedStep &step;
  trace::Names shownNames;
  llvm::DenseMap<trace::Name, trace::Name> rowNames; ///< see rowNameOf()
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_KERNELS_H
