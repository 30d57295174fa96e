// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_SAFETENSORS_H
#define NETC_LIB_IMPORT_SAFETENSORS_H

#include "lib/Import/Import.h"

#include <map>
#include <vector>

namespace netc::import {

using WeightShape = std::vector<uint64_t>;

/// The shapes of a model's weights by name.
struct Weights {
  std::string path; ///< of the file, or of the index
  std::map<std::string, WeightShape> shapes;
};

/// Reads the headers of the weights in a folder: of `model.safetensors`, or
/// else of the files that `model.safetensors.index.json` lists. If neither
/// exists, there are no weights, and `path` is empty. None after an error,
/// which is reported. A header has at most 100 MB, as in the format's own
/// reader; its weights are contiguous and fill the file, and each has the
/// length that its shape implies.
std::optional<Weights> readWeights(llvm::StringRef folder, const Host &host);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_SAFETENSORS_H
