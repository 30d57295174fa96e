// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_CRASH_H
#define NETC_LIB_DRIVER_CRASH_H

namespace netc {

/// Lets a program that crashes print its version, its command, what it was
/// doing (Activity) and how to report that; and one that
/// gets no more memory say so, and exit with LackingEnvironment.
void explainCrashes(int argc, const char *const *argv);

} // namespace netc

#endif // NETC_LIB_DRIVER_CRASH_H
