// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"

#include "llvm/ADT/DenseMap.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// Reads `rocprofiler-sdk-tool[].buffer_records.kernel_dispatch[]`, and the
/// names of kernels from `kernel_symbols[]`.
class RocprofReader : public JsonReader {
public:
  RocprofReader(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  /// Resolves names, which may come after the kernels.
  void finish() {
    for (auto [event, symbol] : llvm::zip_equal(trace.kernels, symbols))
      if (event.kind == DeviceEvent::Kernel)
        event.name = names.lookup(symbol);
    trace.devices = devices.size();
  }

private:
  bool isTool() const { return keyAt(1) == "rocprofiler-sdk-tool"; }
  bool isDispatch() const {
    return keyAt(3) == "buffer_records" && keyAt(4) == "kernel_dispatch";
  }
  bool isCopy() const {
    return keyAt(3) == "buffer_records" && keyAt(4) == "memory_copy";
  }
  bool isSymbol() const { return keyAt(3) == "kernel_symbols"; }
  bool isAgent() const { return keyAt(3) == "agents"; }

  bool onOpen(bool isObject) override {
    if (!isTool() || !isObject)
      return true;
    if (depth() == 6 && (isDispatch() || isCopy())) {
      event = DeviceEvent();
      start = end = std::nullopt;
      symbol = 0;
    } else if (depth() == 5 && isSymbol()) {
      symbol = 0;
      symbolName.clear();
    } else if (depth() == 5 && isAgent()) {
      agentName.clear();
      isGpu = false;
      units.reset();
    }
    return true;
  }

  bool onClose() override {
    if (!isTool())
      return true;
    if (depth() == 6 && (isDispatch() || isCopy()))
      return commit();
    if (depth() == 5 && isSymbol())
      names[symbol] = trace.names.intern(symbolName);
    if (depth() == 5 && isAgent() && isGpu && trace.device.empty()) {
      trace.device = agentName;
      trace.sms = units;
    }
    return true;
  }

  bool onScalar(StringRef text) override {
    if (!isTool())
      return true;
    if (isDispatch() || isCopy()) {
      ofEvent(text);
    } else if (isSymbol() && depth() == 5) {
      if (keyAt(5) == "kernel_id")
        symbol = keyIn(text);
      else if (keyAt(5) == "formatted_kernel_name" ||
               (keyAt(5) == "kernel_name" && symbolName.empty()))
        symbolName = text.str();
    } else if (isAgent() && depth() == 5) {
      if (keyAt(5) == "product_name" ||
          (keyAt(5) == "name" && agentName.empty()))
        agentName = text.str();
      else if (keyAt(5) == "type") // rocprofiler_agent_type_t
        isGpu = text == "2";
      else if (keyAt(5) == "cu_count")
        units = integerIn(text);
    }
    return true;
  }

  /// Avoids the two keys that LLVM's maps reserve.
  static int64_t keyIn(StringRef text) {
    return integerIn(text).value_or(0) & 0x7fffffffffffff;
  }

  void ofEvent(StringRef text) {
    auto number = [&] { return integerIn(text).value_or(0); };
    if (depth() == 6 && keyAt(6) == "start_timestamp")
      start = integerIn(text);
    else if (depth() == 6 && keyAt(6) == "end_timestamp")
      end = integerIn(text);
    else if (depth() == 7 && keyAt(6) == "correlation_id" &&
             keyAt(7) == "internal")
      event.correlation = number();
    else if (keyAt(6) != "dispatch_info")
      return;
    else if (depth() == 7 && keyAt(7) == "kernel_id")
      symbol = keyIn(text);
    else if (depth() == 8 && keyAt(7) == "agent_id")
      event.device =
          devices.try_emplace(keyIn(text), devices.size()).first->second;
    else if (depth() == 8 && keyAt(7) == "queue_id")
      event.stream = int32_t(number());
    else if (depth() == 8 && keyAt(7) == "workgroup_size")
      ofAxis(event.block, number());
    else if (depth() == 8 && keyAt(7) == "grid_size")
      ofAxis(event.grid, number());
  }

  void ofAxis(std::array<int64_t, 3> &sizes, int64_t size) {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (keyAt(8) == StringRef("xyz").substr(axis, 1))
        sizes[axis] = size;
  }

  bool commit() {
    ++trace.read;
    if (trace.kernels.size() >= limits.maxEvents)
      return stopAtTooMany();
    int64_t duration;
    if (!start || !end || __builtin_sub_overflow(*end, *start, &duration))
      duration = -1;
    if (!trace.takesTimes(start, duration))
      return true;
    event.kind = isCopy() ? DeviceEvent::Copy : DeviceEvent::Kernel;
    event.start = *start;
    event.duration = duration;
    // This grid counts threads; all other tools count blocks.
    for (unsigned axis = 0; axis < 3; ++axis)
      if (event.block[axis] > 0 && event.grid[axis] > 0)
        event.grid[axis] = (event.grid[axis] - 1) / event.block[axis] + 1;
    trace.kernels.push_back(event);
    symbols.push_back(symbol);
    return true;
  }

  Trace &trace;
  const TraceLimits &limits;
  DeviceEvent event;
  std::optional<int64_t> start, end, units;
  int64_t symbol = 0;
  std::string symbolName, agentName;
  bool isGpu = false;
  std::vector<int64_t> symbols; ///< parallel to Trace::kernels
  llvm::DenseMap<int64_t, Name> names;
  llvm::DenseMap<int64_t, int32_t> devices;
};
} // namespace

llvm::Expected<Trace> netc::trace::readRocprof(Source &source,
                                               const TraceLimits &limits) {
  Trace trace;
  RocprofReader reader(trace, limits);
  if (llvm::Error error = reader.read(source, trace, limits))
    return error;
  reader.finish();
  return trace;
}
