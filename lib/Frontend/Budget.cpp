// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Frontend/Budget.h"
#include "lib/Frontend/Evaluator.h"

using namespace netc;

bool Budget::affords(Tree *at, size_t each, size_t copies) {
  size_t before = used;
  bool fits = copies == 0 || each <= e.options.limits.maxOps / copies;
  fits = spend(at, fits ? each * copies : e.options.limits.maxOps + 1);
  used = before;
  return fits;
}

bool Budget::spend(Tree *at, size_t amount) {
  size_t left =
      e.options.limits.maxOps - std::min(e.options.limits.maxOps, used);
  if (amount <= left) {
    used += amount;
    return true;
  }
  if (!isExceeded)
    e.fail(at, error::TooManyOps, e.options.limits.maxOps);
  isExceeded = true;
  return false;
}
