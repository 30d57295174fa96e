// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_REROLL_H
#define NETC_LIB_IMPORT_REROLL_H

#include "lib/Import/Step.h"

namespace netc::import {

/// Finds what a loop over a list of modules did, `for layer in self.layers`: at
/// least three groups of steps that are alike, each of which takes what the one
/// before made. Each becomes the call of a body, as if the elements of the list
/// were modules. Returns these bodies. What they take and make, and their
/// heights, are not set.
std::vector<std::shared_ptr<StepBody>> reroll(const Graph &graph,
                                              StepBody &body);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_REROLL_H
