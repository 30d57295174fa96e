// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_STEPRANGE_H
#define NETC_LIB_AUDIT_STEPRANGE_H

#include "lib/Audit/TracedStep.h"

namespace netc::audit {

/// Sets the times and the name of a step; see traceStep().
llvm::Error chooseStep(const trace::Trace &trace, llvm::StringRef range,
                       TracedStep &step);

/// The same; see traceStepFrom().
void chooseStepFrom(const trace::Trace &trace, const trace::HostEvent &op,
                    const trace::HostEvent &before,
                    const trace::HostEvent &last, TracedStep &step);

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_STEPRANGE_H
