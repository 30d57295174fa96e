// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_TARGETKIND_H
#define NETC_LIB_PROGRAM_TARGETKIND_H

#include <iterator>
#include <optional>
#include <string>

namespace netc::program {

/// The targets that netc compiles for.
enum class TargetKind { Cpu, Cuda };

/// In the order of the enumeration.
constexpr const char *targets[] = {"cpu", "cuda"};

inline const char *nameOf(TargetKind kind) { return targets[int(kind)]; }

/// Whether steps run on the processor that starts them. Else they run on a
/// device with memory and code of its own.
inline bool isHost(TargetKind kind) { return kind == TargetKind::Cpu; }

inline std::optional<TargetKind> targetNamed(const std::string &name) {
  for (size_t kind = 0; kind < std::size(targets); ++kind)
    if (name == targets[kind])
      return TargetKind(kind);
  return std::nullopt;
}

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_TARGETKIND_H
