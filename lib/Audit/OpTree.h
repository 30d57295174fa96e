// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_OPTREE_H
#define NETC_LIB_AUDIT_OPTREE_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

constexpr uint32_t nobody = ~0u;

/// The host events of a step, nested by time, as trees for each thread.
struct OpTree {
  /// What is around an event, itself included.
  struct Around {
    enum Kind : uint8_t {
      Hidden = 1, ///< an op that FlopCounterMode does not look into
      Sparse = 2, ///< an op of sparse tensors
      Loss = 4,
      Optimizer = 8,
      Data = 16
    };
    uint32_t node = nobody;     ///< the innermost node of autograd
    uint32_t numbered = nobody; ///< the innermost event with a sequence number
    uint8_t kinds = 0;          ///< of Kind

    bool has(Kind kind) const { return kinds & kind; }
    CountedEvent::Origin origin() const {
      return has(Optimizer) ? CountedEvent::InOptimizer
             : has(Loss)    ? CountedEvent::InLoss
             : has(Data)    ? CountedEvent::InData
                            : CountedEvent::InNetwork;
    }
  };

  OpTree(const trace::Trace &trace, const TracedStep &step);

  /// The innermost node of autograd around event `i`; `nobody` without one.
  uint32_t nodeAround(uint32_t i) const {
    return parent[i] == nobody ? nobody : around[parent[i]].node;
  }

  std::vector<uint32_t> order;  ///< events by thread and start
  std::vector<uint32_t> parent; ///< by event; `nobody` for roots
  /// By event. It is found once, since ranges may nest as deep as there are
  /// events.
  std::vector<Around> around;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_OPTREE_H
