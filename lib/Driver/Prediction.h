// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_PREDICTION_H
#define NETC_LIB_DRIVER_PREDICTION_H

#include "lib/Driver/Session.h"

namespace netc {

/// Writes the trace of a predicted step, as `--emit=trace` asks for.
Exit predict(const Session &session);

} // namespace netc

#endif // NETC_LIB_DRIVER_PREDICTION_H
