// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_AUDIT_OPENEVENTS_H
#define NETC_LIB_AUDIT_OPENEVENTS_H

#include "lib/Trace/Trace.h"

namespace netc::audit {

/// The host events around others, which come by thread and start.
class OpenEvents {
public:
  explicit OpenEvents(const trace::Trace &trace) : trace(trace) {}

  /// The events in which `event` begins, outermost first. If `isWhole`, only
  /// those in which it also ends.
  llvm::ArrayRef<uint32_t> around(const trace::HostEvent &event,
                                  bool isWhole = false) {
    while (!open.empty()) {
      const trace::HostEvent &last = trace.host[open.back()];
      if (last.thread == event.thread && last.end() > event.start &&
          (!isWhole || last.end() >= event.end()))
        break;
      open.pop_back();
    }
    return open;
  }
  void push(uint32_t event) { open.push_back(event); }

private:
  const trace::Trace &trace;
  std::vector<uint32_t> open;
};

} // namespace netc::audit

#endif // NETC_LIB_AUDIT_OPENEVENTS_H
