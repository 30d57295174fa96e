// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_TARGETKIND_H
#define NETC_LIB_PROGRAM_TARGETKIND_H

#include <optional>
#include <string>
#include <vector>

namespace netc::program {

/// The targets that netc compiles for.
enum class TargetKind { Cpu, Cuda };

/// What tools and programs know about a target without its backend.
struct TargetTraits {
  TargetKind kind;
  const char *name;
  const char *help; ///< of `--target`
  /// Whether steps run on the processor that starts them. Else they run on a
  /// device with memory and code of its own.
  bool isHost = false;
  /// Whether fast code may round operands of products to tf32.
  bool roundsToTF32 = false;
  /// The architectures that `--arch` takes.
  std::vector<std::string> archs = {};
  /// The format of the code for the device, which `--emit` prints as text;
  /// null if there is none.
  const char *deviceCode = nullptr;
  /// The library through which programs reach the device; null if it needs
  /// none.
  const char *driver = nullptr;
};

/// All targets, in the order of the enumeration.
const std::vector<TargetTraits> &targets();

inline const TargetTraits &traitsOf(TargetKind kind) {
  return targets()[size_t(kind)];
}
inline const char *nameOf(TargetKind kind) { return traitsOf(kind).name; }
inline bool isHost(TargetKind kind) { return traitsOf(kind).isHost; }

std::optional<TargetKind> targetNamed(const std::string &name);

/// `--target=a` for each target for which `holds`, joined by ` or `.
std::string targetsWith(bool (*holds)(const TargetTraits &target));
/// For messages: `a or b`.
std::string joined(const std::vector<std::string> &words);

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_TARGETKIND_H
