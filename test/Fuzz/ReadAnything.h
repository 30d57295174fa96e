// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_FUZZ_READANYTHING_H
#define NETC_TEST_FUZZ_READANYTHING_H

#include "llvm/ADT/StringRef.h"

/// Reads bytes as a format of lib/Trace, whatever they are, and does with what
/// was read all that an audit of the trace alone does. Whatever the bytes are,
/// that must end without a fault.
void readAnything(llvm::StringRef format, llvm::StringRef bytes);

#endif // NETC_TEST_FUZZ_READANYTHING_H
