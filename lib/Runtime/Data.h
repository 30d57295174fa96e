// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_DATA_H
#define NETC_LIB_RUNTIME_DATA_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Device.h"
#include "lib/Runtime/Npy.h"
#include "lib/Runtime/Options.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace netc::runtime {

/// The inputs of the steps: batches from npy files, or synthetic ones. Steps
/// use the batches in turn.
class Data {
public:
  /// Throws a Failure if a file does not fit, or if the arena and the synthetic
  /// batches need more memory than is available.
  Data(const program::Program &program, const Options &options);

  /// Writes the inputs of a step; steps count from 0.
  void load(int64_t step, Device &device) const;

  /// An input, and where its batches come from.
  struct Source {
    const program::Slot *slot;
    std::optional<NpyFile> file;
    /// The synthetic batches, or the last one that was read from a file.
    std::vector<std::unique_ptr<char[]>> batches;
    int64_t count; ///< number of batches
  };
  const std::vector<Source> &inputs() const { return sources; }

private:
  std::vector<Source> sources;
};

/// The size of all synthetic batches, in bytes. Throws a Failure if there is no
/// input for a file.
int64_t syntheticBytes(const program::Program &program, const Options &options);

/// Writes the initial parameters and state, from files or by the program's
/// initialization. Returns the names that came from files. Throws a Failure if
/// a file cannot be read or does not fit.
std::vector<std::string> loadWeights(const program::Program &program,
                                     const Options &options, Device &device);
/// Writes parameters and state, and results of the last step, to the folders of
/// the options, which are created. Throws a Failure if a file cannot be
/// written.
void dump(const program::Program &program, const Options &options,
          const Device &device);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_DATA_H
