// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Read.h"

#include "lib/Trace/Kineto.h"

using namespace netc;
using namespace netc::trace;

char TraceError::ID;

llvm::Expected<Trace> netc::trace::read(llvm::StringRef path,
                                        const TraceLimits &limits) {
  auto source = Source::open(path, limits.maxBytes);
  if (!source)
    return source.takeError();
  llvm::StringRef text = (*source)->beginning();
  if (text.starts_with("NVR"))
    return fail(error::TraceClosed("a report of Nsight Compute",
                                   "ncu --import FILE --csv --page raw"));
  text = text.ltrim();
  if (!text.starts_with("{") && !text.starts_with("["))
    return fail(error::TraceUnknown());
  llvm::Expected<Trace> trace = readKineto(**source, limits);
  if (trace && trace->isEmpty())
    return fail(error::TraceEmpty());
  return trace;
}
