// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_MEMORY_H
#define NETC_LIB_ANALYSIS_MEMORY_H

#include "lib/Analysis/ElementTypes.h"
#include "lib/Analysis/Views.h"

#include <array>
#include <map>

namespace netc {

/// Bytes that one execution of an op reads and writes, without fusion. 0 for
/// views and for weights, buffers and constants themselves.
struct Traffic {
  Polynomial read, written;
  Polynomial readAgain; ///< the share of `read` in further passes of a decoder
};
/// `bytes` returns the bytes of a tensor.
Traffic trafficOf(mlir::Operation *op,
                  llvm::function_ref<Polynomial(mlir::Value)> bytes,
                  const class Decoding *decoding = nullptr);

/// Calls `function` for each activation that is saved for the backward pass: a
/// value that the forward pass computes and another phase reads, directly or
/// through views. Inputs of the network and weights are not activations. The
/// activations of a loop are the sequences that it returns.
void forEachActivation(mlir::Operation *graph,
                       llvm::function_ref<void(mlir::OpResult)> function);

/// A tensor that is saved for the backward pass; see forEachActivation.
struct KeptValue {
  /// The name of the op that computes it: `layer1.0.conv1.conv`.
  std::string name;
  std::string type; ///< the element type: `bf16`
  Polynomial elements, bytes;
};
/// The activations of a network or a step, in the order of the text.
std::vector<KeptValue> keptValues(mlir::Operation *graph);

/// The memory of a step in bytes, on a device that holds the whole network.
struct Memory {
  BytesByType weights;   ///< parameters, including frozen ones, and buffers
  BytesByType copies;    ///< of weights, in the format that ops read
  BytesByType master;    ///< wider copies of the weights, which updates change
  BytesByType gradients; ///< all gradients that the updates read
  BytesByType optimizer; ///< the optimizer's state
  BytesByType activations;
  BytesByType constants; ///< tables that are computed once

  /// Pairs of the name in reports and the member, in the order of reports.
  using Part = std::pair<llvm::StringLiteral, BytesByType Memory::*>;
  static constexpr std::array<Part, 7> parts() {
    return {{{"weights", &Memory::weights},
             {"copies", &Memory::copies},
             {"master", &Memory::master},
             {"gradients", &Memory::gradients},
             {"optimizer", &Memory::optimizer},
             {"activations", &Memory::activations},
             {"constants", &Memory::constants}}};
  }

  Polynomial total() const {
    Polynomial sum;
    for (auto [name, part] : parts())
      sum += (this->*part).total();
    return sum;
  }
  Memory &operator+=(const Memory &other);
};

/// The memory of each weight or buffer, by its name. Activations and constants
/// have an empty name, even if there are none.
std::map<std::string, Memory> countMemoryByName(mlir::Operation *graph);

/// The sum of countMemoryByName.
Memory countMemory(mlir::Operation *graph);

/// Bytes of activations with recomputation, at each point where they may be
/// largest; free axes decide at which. Both the recomputed activations and the
/// saved ones that are still needed count. Empty without recomputation.
std::vector<BytesByType> countRecomputed(mlir::Operation *graph);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_MEMORY_H
