// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_FUZZ_READANYTHING_H
#define NETC_TEST_FUZZ_READANYTHING_H

#include "llvm/ADT/StringRef.h"

/// Each of these reads arbitrary bytes as a format, and does with the result
/// all that netc does with it alone. That must not crash. Returns whether the
/// bytes are valid.

/// A trace in a format of lib/Trace, and its audit.
bool readTrace(llvm::StringRef format, llvm::StringRef bytes);
/// A table of accelerators, as with `--hardware`.
bool readHardware(llvm::StringRef bytes);
/// An array of NumPy, read into a tensor of each type.
bool readNpy(llvm::StringRef bytes);
/// The options of a compiled program, one per line.
bool readOptions(llvm::StringRef bytes);
/// A `config.json` or a graph, as `netc import` reads them. What it writes must
/// be a specification.
bool importModel(llvm::StringRef bytes);
/// The header of weights beside a `config.json`, or the index of their files.
bool importWeights(llvm::StringRef bytes);
/// A specification, which is counted and reported in every format.
bool reportSpecification(llvm::StringRef bytes);

#endif // NETC_TEST_FUZZ_READANYTHING_H
