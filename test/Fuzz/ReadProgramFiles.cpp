// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Readers of what compiled programs read.

#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Npy.h"
#include "lib/Runtime/Options.h"
#include "test/Fuzz/MemoryFile.h"
#include "test/Fuzz/ReadAnything.h"
#include "llvm/ADT/SmallVector.h"

using namespace netc;
using namespace netc::runtime;

/// Reads an array as a tensor of its shape, or with `many`, as several tensors
/// along its first axis.
static bool readInto(const NpyFile &file, program::Element element, bool many,
                     int64_t upperBound) {
  program::Slot slot;
  slot.name = "slot";
  slot.role = program::Role::Input;
  slot.element = element;
  // A tensor has at least one element.
  for (int64_t size : file.shape())
    slot.shape.push_back(std::max<int64_t>(size, 1));
  slot.upperBound = upperBound;
  if (many && !slot.shape.empty())
    slot.shape.front() = 1;
  try {
    int64_t tensors = file.check(slot, many);
    file.leftOver(slot);
    std::vector<char> data(slot.bytes());
    for (int64_t tensor = 0; tensor < std::min<int64_t>(tensors, 4); ++tensor)
      file.read(slot, tensor, data.data());
  } catch (const Failure &) {
    return false;
  }
  return true;
}

bool readNpy(llvm::StringRef bytes) {
  MemoryFile memory(bytes);
  bool isRead = false;
  try {
    NpyFile file(memory.path());
    for (int element = 0; element < int(std::size(program::elements));
         ++element)
      for (bool many : {false, true})
        for (int64_t upperBound : {0, 10})
          isRead |= readInto(file, program::Element(element), many, upperBound);
  } catch (const Failure &) {
  }
  return isRead;
}

bool readOptions(llvm::StringRef bytes) {
  llvm::SmallVector<llvm::StringRef> lines;
  bytes.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<std::string> arguments{"program"};
  for (llvm::StringRef line : lines)
    arguments.push_back(line.str());
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  try {
    Options::parse(int(arguments.size()), pointers.data());
  } catch (const Failure &) {
    return false;
  }
  return true;
}
