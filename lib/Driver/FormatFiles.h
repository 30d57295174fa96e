// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DRIVER_FORMATFILES_H
#define NETC_LIB_DRIVER_FORMATFILES_H

#include "lib/Driver/Session.h"

namespace netc {

/// Formats the files of the command line in place, and stdin to stdout; or only
/// reports which are not formatted. Files with syntax errors stay as they are.
Exit formatFiles(Session &session);

} // namespace netc

#endif // NETC_LIB_DRIVER_FORMATFILES_H
