// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Ranges.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc;

void Ranges::atEnds(llvm::ArrayRef<Tree *> ranges,
                    llvm::function_ref<void()> function) {
  for (size_t corner = 0; corner < size_t(1) << ranges.size(); ++corner) {
    for (auto [i, range] : llvm::enumerate(ranges))
      ends[range] = corner >> i & 1;
    function();
  }
  ends.clear();
}
