// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_CRASH_H
#define NETC_LIB_DRIVER_CRASH_H

namespace netc {

/// Makes a program that crashes print its version, its command, its Activity
/// and how to report the crash. Makes a program that runs out of memory say so,
/// and exit with LackingEnvironment.
void explainCrashes(int argc, const char *const *argv);

} // namespace netc

#endif // NETC_LIB_DRIVER_CRASH_H
