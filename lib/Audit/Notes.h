// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_NOTES_H
#define NETC_LIB_AUDIT_NOTES_H

#include "lib/Audit/Audit.h"

namespace netc::audit {

/// Adds a note for readers of the audit.
void note(Audit &audit, llvm::StringRef id, const llvm::Twine &text);

/// Notes what of `file` could not be read. `name` is that of a file in addition
/// to the trace; empty for the trace.
void noteDamage(Audit &audit, const trace::Trace &file,
                llvm::StringRef name = "");

/// Why a step shows no product, if it runs a compiled graph.
std::optional<llvm::StringRef> hiddenByCompiler(const Audit &audit);

/// Notes products that have the FLOP of the specification and other sizes.
void noteOtherSizes(Audit &audit, llvm::ArrayRef<SpecifiedProduct> specified,
                    llvm::ArrayRef<Match> matches);

/// Notes products that the trace has at another place.
void noteOutOfOrder(Audit &audit, llvm::ArrayRef<SpecifiedProduct> specified,
                    llvm::ArrayRef<Match> matches);

/// Notes which counters of FLOP a tool left out beside others. False if there
/// are none.
bool noteMissingCounters(Audit &audit, const trace::Trace &counters,
                         llvm::ArrayRef<StepKernel> kernels);

/// Notes what the trace lacks, and where it is not of what the run says:
/// `specified` is the step of the run, or null.
void addNotes(Audit &audit, const SpecifiedStep *specified);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_NOTES_H
