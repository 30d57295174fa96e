// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_FUZZ_READANYTHING_H
#define NETC_TEST_FUZZ_READANYTHING_H

#include "llvm/ADT/StringRef.h"

/// Each of these reads bytes as a format, whatever they are, and does with what
/// was read all that netc does with it alone. Whatever the bytes are, that must
/// end without a fault. Returns whether they are right.

/// A format of lib/Trace, and an audit of the trace.
bool readTrace(llvm::StringRef format, llvm::StringRef bytes);
/// A table of accelerators, as `--hardware` takes it.
bool readHardware(llvm::StringRef bytes);
/// An array of NumPy, into a tensor of each type.
bool readNpy(llvm::StringRef bytes);
/// The options of a generated program, one a line.
bool readOptions(llvm::StringRef bytes);
/// A specification, which is counted and reported in every format.
bool reportSpecification(llvm::StringRef bytes);

#endif // NETC_TEST_FUZZ_READANYTHING_H
