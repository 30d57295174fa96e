// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Program/Program.h"

#include <algorithm>

using namespace netc::program;

bool Program::trains() const {
  return std::any_of(ops.begin(), ops.end(),
                     [](const Op &op) { return !op.isForward(); });
}

std::string Program::title() const {
  return run + (trains() ? " trains " : " runs ") + network + " · batch " +
         std::to_string(batch) + " · " + lowering + " lowering";
}

const Slot *Program::find(Role role) const {
  for (const Slot &slot : slots)
    if (slot.role == role)
      return &slot;
  return nullptr;
}

bool Program::takesNegative(const Slot &slot) const {
  return slot.role == Role::Input && std::find(negative.begin(), negative.end(),
                                               slot.name) != negative.end();
}

const Slot *Program::loss() const {
  for (const Slot &slot : slots)
    if (slot.role == Role::Result && slot.name == "loss" &&
        isFloat(slot.element) && (trains() || slot.count() == 1))
      return &slot;
  return nullptr;
}
