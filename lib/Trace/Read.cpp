// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Read.h"

#include "lib/Trace/Formats.h"

using namespace netc;
using namespace netc::trace;

char TraceError::ID;

llvm::Expected<Trace> netc::trace::read(llvm::StringRef path,
                                        const TraceLimits &limits) {
  auto source = Source::open(path, limits.maxBytes);
  if (!source)
    return source.takeError();
  llvm::Expected<Trace> trace = read(**source, limits);
  if (trace)
    trace->file = path.str();
  return trace;
}
