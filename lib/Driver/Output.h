// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_OUTPUT_H
#define NETC_LIB_DRIVER_OUTPUT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace netc {

/// Lets `print` write to the file `path`, or to stdout if it is `-`. The file
/// is replaced when it is complete; after an error the old one stays.
llvm::Error writeOutput(llvm::StringRef path,
                        llvm::function_ref<void(llvm::raw_ostream &)> print);

/// Whether to colour text on `os`: it is a terminal, and NO_COLOR is not set.
bool isColourful(llvm::raw_ostream &os);

/// The number of columns if `os` is a terminal, else 0.
unsigned widthOf(llvm::raw_ostream &os);

} // namespace netc

#endif // NETC_LIB_DRIVER_OUTPUT_H
