// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_MEMORY_H
#define NETC_LIB_ANALYSIS_MEMORY_H

#include "lib/Analysis/Views.h"

#include <array>
#include <map>

namespace netc {

/// Bytes that an op by itself reads and writes in one execution; none for a
/// view and for what is held.
struct Traffic {
  Polynomial read, written;
};
/// `bytes` tells those of a tensor.
Traffic trafficOf(mlir::Operation *op,
                  llvm::function_ref<Polynomial(mlir::Value)> bytes,
                  const class Decoding *decoding = nullptr);

/// Calls `function` once for each activation that is kept for the backward
/// pass: a value that the forward pass computes and another phase than the
/// forward pass reads, views resolved to what they share. Inputs of the network
/// and weights are not among them. Of a loop these are the sequences that it
/// hands out.
void forEachActivation(mlir::Operation *graph,
                       llvm::function_ref<void(mlir::OpResult)> function);

/// A value that is kept for the backward pass; see forEachActivation.
struct KeptValue {
  std::string name; ///< of the op that makes it: `layer1.0.conv1.conv`
  std::string type; ///< of its elements: `bf16`
  Polynomial elements, bytes;
};
std::vector<KeptValue> keptValues(mlir::Operation *graph);

/// Bytes that a step keeps on a device that holds all of the network.
struct Memory {
  Polynomial weights;   ///< parameters, frozen ones included, and buffers
  Polynomial copies;    ///< of weights in the format in which they are read
  Polynomial master;    ///< of weights, where the update changes others
  Polynomial gradients; ///< that the updates take, all at once
  Polynomial optimizer; ///< what the updates keep from step to step
  Polynomial activations;
  Polynomial constants; ///< tables, which are computed once

  /// The parts by the names that reports give them, in their order.
  using Part = std::pair<llvm::StringLiteral, Polynomial Memory::*>;
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
      sum += this->*part;
    return sum;
  }
  Memory &operator+=(const Memory &other);
};

/// What a step keeps for each weight or buffer, by its name; and under no name
/// the activations and constants.
std::map<std::string, Memory> countMemoryByName(mlir::Operation *graph);

Memory countMemory(mlir::Operation *graph);

/// Bytes of activations that are held while the backward pass reads what is run
/// again for it: that, and what is kept and not done with, wherever there is
/// most at once. Each is a figure of its own: which is the largest may depend
/// on the sizes of free axes. Empty without recomputation.
std::vector<Polynomial> countRecomputed(mlir::Operation *graph);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_MEMORY_H
