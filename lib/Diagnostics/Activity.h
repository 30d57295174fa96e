// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DIAGNOSTICS_ACTIVITY_H
#define NETC_LIB_DIAGNOSTICS_ACTIVITY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace netc {

/// The program's current activity, such as `counting` a file, while the object
/// lives. The program prints it if it crashes or runs out of memory.
class Activity : public llvm::PrettyStackTraceEntry {
public:
  Activity(llvm::StringLiteral verb, llvm::StringRef object)
      : verb(verb), object(object) {}

  void print(llvm::raw_ostream &os) const override {
    os << verb << " `" << object << "`\n";
  }

private:
  const llvm::StringRef verb;
  const std::string object;
};

} // namespace netc

#endif // NETC_LIB_DIAGNOSTICS_ACTIVITY_H
