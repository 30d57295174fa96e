// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Defaults.h"
#include "test/Fuzz/ReadAnything.h"

using namespace netc;

bool readHardware(llvm::StringRef bytes) {
  static const AcceleratorTable builtin = AcceleratorTable::builtin();
  AcceleratorTable table = builtin;
  if (llvm::Error error = table.addText(bytes, "own.yaml")) {
    llvm::consumeError(std::move(error));
    return false;
  }
  table.didYouMean(bytes.take_front(64));
  // New accelerators come last.
  for (const Accelerator &accelerator :
       table.accelerators().drop_front(builtin.accelerators().size())) {
    assert(table.find(accelerator.name) && "each is found by its name");
    for (const FormatTraits &format : allFormats()) {
      HardwareFacts facts;
      facts.device = accelerator;
      facts.format = format.format;
      facts.year = accelerator.year();
      completeHardware(facts, table);
    }
  }
  return true;
}
