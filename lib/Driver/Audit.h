// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_AUDIT_H
#define NETC_LIB_DRIVER_AUDIT_H

#include "lib/Driver/Session.h"

namespace netc {

/// Reads the traces and the specification of the command line, and reports how
/// the tools' counts differ from the exact cost.
Exit auditTraces(Session &session);

} // namespace netc

#endif // NETC_LIB_DRIVER_AUDIT_H
