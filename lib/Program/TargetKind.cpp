// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Program/TargetKind.h"

#include "lib/Program/DeviceArch.h"

using namespace netc::program;

static std::vector<std::string> namesOfDeviceArchs() {
  std::vector<std::string> names;
  for (const DeviceArch &arch : deviceArchs)
    names.push_back(arch.name);
  return names;
}

const std::vector<TargetTraits> &netc::program::targets() {
  static const std::vector<TargetTraits> all = [] {
    TargetTraits cpu{TargetKind::Cpu, "cpu", "this machine (default)"};
    cpu.isHost = true;
    TargetTraits cuda{TargetKind::Cuda, "cuda",
                      "NVIDIA's devices; docs/Cuda.md"};
    cuda.roundsToTF32 = true;
    cuda.archs = namesOfDeviceArchs();
    cuda.deviceCode = "ptx";
    cuda.driver = "libcuda.so.1";
    return std::vector{cpu, cuda};
  }();
  return all;
}

std::optional<TargetKind> netc::program::targetNamed(const std::string &name) {
  for (const TargetTraits &target : targets())
    if (name == target.name)
      return target.kind;
  return std::nullopt;
}

std::string
netc::program::targetsWith(bool (*holds)(const TargetTraits &target)) {
  std::vector<std::string> options;
  for (const TargetTraits &target : targets())
    if (holds(target))
      options.push_back("`--target=" + std::string(target.name) + "`");
  return joined(options);
}

std::string netc::program::joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " or ") + word;
  return text;
}
