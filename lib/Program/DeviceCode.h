// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_DEVICECODE_H
#define NETC_LIB_PROGRAM_DEVICECODE_H

#include <cstring>
#include <vector>

namespace netc::program {

/// PTX for one architecture.
struct DeviceCode {
  const char *arch, *text;
};

/// Parses `netc_device_code` of a program: pairs of zero-terminated strings, an
/// architecture and its PTX, ended by an empty name. The more specific
/// architecture is later.
inline std::vector<DeviceCode> deviceCodes(const char *code) {
  std::vector<DeviceCode> codes;
  while (*code) {
    const char *text = code + std::strlen(code) + 1;
    codes.push_back({code, text});
    code = text + std::strlen(text) + 1;
  }
  return codes;
}

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_DEVICECODE_H
