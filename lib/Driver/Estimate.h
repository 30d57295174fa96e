// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_ESTIMATE_H
#define NETC_LIB_DRIVER_ESTIMATE_H

#include "lib/Driver/CountedFile.h"

namespace netc {

/// Reads and counts the files, and prints the report that the command line asks
/// for. With `planRun`, the report has the planned memory, too.
Exit estimate(Session &session, PlanRun planRun = nullptr);

/// Prints the report of counted files as the command line asks for. With
/// `--compare`, there are two.
void printReport(llvm::raw_ostream &os, const Session &session,
                 llvm::ArrayRef<CountedFile> files);

} // namespace netc

#endif // NETC_LIB_DRIVER_ESTIMATE_H
