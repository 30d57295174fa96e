// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_READ_H
#define NETC_LIB_TRACE_READ_H

#include "lib/Diagnostics/Errors.h"
#include "lib/Trace/Trace.h"
#include "llvm/Support/Error.h"

namespace netc::trace {

/// Limits of what is read from a trace.
struct TraceLimits {
  uint64_t maxBytes = uint64_t(8) << 30; ///< of the unpacked text
  uint64_t maxEvents = 50'000'000;       ///< that are stored
};

/// Why a trace cannot be read.
class TraceError : public llvm::ErrorInfo<TraceError> {
public:
  static char ID;

  TraceError(Message message, llvm::StringRef file)
      : message(std::move(message)), file(file) {}
  void log(llvm::raw_ostream &os) const override { os << message.text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  Message message;
  std::string file; ///< if another file than the trace is wrong; else empty
};

inline llvm::Error fail(Message message, llvm::StringRef file = "") {
  return llvm::make_error<TraceError>(std::move(message), file);
}

/// Reads a profiler's file. The content determines the format, not the name. A
/// damaged file is read up to the damage, and `Trace::cutAt` is set; if nothing
/// complete precedes the damage, that is an error. Fails with a TraceError.
llvm::Expected<Trace> read(llvm::StringRef path,
                           const TraceLimits &limits = {});

} // namespace netc::trace

#endif // NETC_LIB_TRACE_READ_H
