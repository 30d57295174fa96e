// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_HARDWARETABLE_H
#define NETC_LIB_REPORT_HARDWARETABLE_H

#include "lib/Hardware/Hardware.h"

#include "llvm/Support/raw_ostream.h"

namespace netc {

/// Prints a row for each accelerator with a peak, by date of release.
void printAccelerators(llvm::raw_ostream &os, const AcceleratorTable &table,
                       bool colour);

/// Prints all figures of an accelerator, with sources.
void printAccelerator(llvm::raw_ostream &os, const Accelerator &accelerator,
                      const AcceleratorTable &table, bool colour);

} // namespace netc

#endif // NETC_LIB_REPORT_HARDWARETABLE_H
