// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_LINK_H
#define NETC_LIB_TARGET_LINK_H

#include "lib/Target/Child.h"

namespace netc {

/// Links an object with the runtime archive to the executable `output`. Fails
/// if there is no C++ compiler to link with, with advice on what to install.
llvm::Error linkProgram(llvm::StringRef object, llvm::StringRef runtime,
                        llvm::StringRef output, const ScratchFolder &scratch);

} // namespace netc

#endif // NETC_LIB_TARGET_LINK_H
