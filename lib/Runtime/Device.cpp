// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Device.h"

using namespace netc::program;
using namespace netc::runtime;

Device *Device::running;

extern "C" {
void netc_record(int64_t op) { Device::endOp(size_t(op)); }
void netc_launch(int64_t kernel, void **arguments) {
  Device::launch(kernel, arguments);
}
}

void Device::write(const Slot &slot, const char *rows) {
  if (slot.isRowMajor())
    return upload(slot.offset, rows, slot.bytes());
  std::vector<char> packed(size_t(slot.bytes()));
  slot.pack(rows, packed.data());
  upload(slot.offset, packed.data(), slot.bytes());
}

std::vector<char> Device::read(const Slot &slot) const {
  std::vector<char> rows(size_t(slot.bytes()));
  download(slot.offset, rows.data(), slot.bytes());
  if (slot.isRowMajor())
    return rows;
  std::vector<char> packed = std::move(rows);
  rows.resize(packed.size());
  slot.unpack(packed.data(), rows.data());
  return rows;
}
