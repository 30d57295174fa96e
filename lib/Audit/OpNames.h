// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_OPNAMES_H
#define NETC_LIB_AUDIT_OPNAMES_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// The name of a backward node of autograd; empty if the event is none.
llvm::StringRef nodeOf(llvm::StringRef name);

/// Whether an op makes a view, copies or adds. Such ops stand between the parts
/// of one product.
bool movesData(llvm::StringRef op);

/// Whether a range or an op is that of a graph that PyTorch has compiled.
bool isCompiledGraph(llvm::StringRef name);

/// Whether an op is a kernel from a template of Inductor.
bool isTemplate(llvm::StringRef op);

/// The kind of product that an op may be, by words in its name.
std::optional<ProductKind> kindByWords(llvm::StringRef name);

/// Whether a kernel multiplies, by words in its name.
bool multipliesByName(llvm::StringRef kernel);

/// Whether a kernel exchanges data between devices, by words in its name
/// without the arguments of templates and calls.
bool communicatesByName(llvm::StringRef kernel);

/// Whether FlopCounterMode does not see the products inside of an op.
bool hidesFromCounter(llvm::StringRef op);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_OPNAMES_H
