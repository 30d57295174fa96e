// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"
#include "lib/Trace/Quantity.h"

#include "llvm/ADT/DenseMap.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// Reads `kernel_dispatch[]` and `memory_copy[]` of
/// `rocprofiler-sdk-tool[].buffer_records`; `kernel_symbols[]` has the names of
/// kernels. With `--pmc`, `callback_records.counter_collection[]` has the
/// counters of each dispatch, and `counters[]` their names.
class RocprofReader : public JsonReader {
public:
  RocprofReader(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  /// Looks up names, which may follow the kernels that have them.
  void finish() {
    for (auto [event, symbol] : llvm::zip_equal(trace.kernels, symbols))
      if (event.kind == DeviceEvent::Kernel)
        event.name = names.lookup(symbol);
    trace.devices = devices.size();
    for (auto [kernel, symbol] : llvm::zip_equal(trace.counted, countedSymbols))
      kernel.name = names.lookup(symbol);
    for (auto [counter, id] : llvm::zip_equal(trace.counters, counterIds))
      counter.metric = counterNames.lookup(id);
  }

private:
  bool isTool() const { return keyAt(1) == "rocprofiler-sdk-tool"; }
  bool isDispatch() const {
    return keyAt(3) == "buffer_records" && keyAt(4) == "kernel_dispatch";
  }
  bool isCopy() const {
    return keyAt(3) == "buffer_records" && keyAt(4) == "memory_copy";
  }
  bool isCounted() const {
    return keyAt(3) == "callback_records" && keyAt(4) == "counter_collection";
  }
  bool isCounter() const { return keyAt(3) == "counters"; }
  bool isSymbol() const { return keyAt(3) == "kernel_symbols"; }
  bool isAgent() const { return keyAt(3) == "agents"; }

  bool onOpen(bool isObject) override {
    if (!isTool() || !isObject)
      return true;
    if (depth() == 6 && (isDispatch() || isCopy() || isCounted())) {
      event = DeviceEvent();
      extents = Extents();
      start = end = std::nullopt;
      symbol = 0;
      firstCounter = trace.counters.size();
    } else if (depth() == 8 && isCounted() && keyAt(6) == "records") {
      counterId = 0;
      counterValue.reset();
    } else if (depth() == 5 && isCounter()) {
      counterId = 0;
      counterName.clear();
    } else if (depth() == 5 && isSymbol()) {
      symbol = 0;
      symbolName.clear();
    } else if (depth() == 5 && isAgent()) {
      agentName.clear();
      isGpu = false;
      units.reset();
      dies = 1;
    }
    return true;
  }

  bool onClose() override {
    if (!isTool())
      return true;
    if (depth() == 6 && (isDispatch() || isCopy()))
      return commit();
    if (depth() == 6 && isCounted())
      return commitCounted();
    if (depth() == 8 && isCounted() && keyAt(6) == "records")
      addCounter();
    if (depth() == 5 && isCounter())
      counterNames[counterId] = trace.names.intern(counterName);
    if (depth() == 5 && isSymbol())
      names[symbol] = trace.names.intern(symbolName);
    if (depth() == 5 && isAgent() && isGpu && trace.device.empty()) {
      trace.device = agentName;
      trace.sms = units;
      trace.dies = std::max<int64_t>(dies, 1);
    }
    return true;
  }

  bool onScalar(StringRef text) override {
    if (!isTool())
      return true;
    if (isDispatch() || isCopy()) {
      ofEvent(text, 6);
    } else if (isCounted()) {
      if (keyAt(6) == "dispatch_data")
        ofEvent(text, 7);
      else if (depth() == 8 && keyAt(8) == "value")
        counterValue = numberIn(text);
      else if (depth() == 9 && keyAt(8) == "counter_id" && keyAt(9) == "handle")
        counterId = keyIn(text);
    } else if (isCounter()) {
      if (depth() == 5 && keyAt(5) == "name")
        counterName = text.str();
      else if (depth() == 6 && keyAt(5) == "id" && keyAt(6) == "handle")
        counterId = keyIn(text);
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
      else if (keyAt(5) == "type") // 2 is ROCPROFILER_AGENT_TYPE_GPU
        isGpu = text == "2";
      else if (keyAt(5) == "cu_count")
        units = integerIn(text);
      else if (keyAt(5) == "num_xcc")
        dies = integerIn(text).value_or(1);
    }
    return true;
  }

  /// Clears the top bits, since DenseMap reserves two keys.
  static int64_t keyIn(StringRef text) {
    return integerIn(text).value_or(0) & 0x7fffffffffffff;
  }

  /// Reads a member of an event; `level` is the depth of its members.
  void ofEvent(StringRef text, size_t level) {
    auto number = [&] { return integerIn(text).value_or(0); };
    StringRef key = keyAt(level), inner = keyAt(level + 1);
    if (depth() == level && key == "start_timestamp")
      start = integerIn(text);
    else if (depth() == level && key == "end_timestamp")
      end = integerIn(text);
    else if (depth() == level + 1 && key == "correlation_id" &&
             inner == "internal")
      event.correlation = number();
    else if (key != "dispatch_info")
      return;
    else if (inner == "kernel_id") // or an object with `handle`
      symbol = keyIn(text);
    else if (depth() == level + 2 && inner == "agent_id")
      event.device =
          devices.try_emplace(keyIn(text), devices.size()).first->second;
    else if (depth() == level + 2 && inner == "queue_id")
      event.stream = int32_t(number());
    else if (depth() == level + 2 && inner == "workgroup_size")
      ofAxis(extents.block, keyAt(level + 2), number());
    else if (depth() == level + 2 && inner == "grid_size")
      ofAxis(extents.grid, keyAt(level + 2), number());
  }

  static void ofAxis(std::array<int64_t, 3> &sizes, StringRef name,
                     int64_t size) {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (name == StringRef("xyz").substr(axis, 1))
        sizes[axis] = size;
  }

  /// Converts the grid from threads, as rocprofv3 states it, to blocks.
  void countBlocks() {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (extents.block[axis] > 0 && extents.grid[axis] > 0)
        extents.grid[axis] = (extents.grid[axis] - 1) / extents.block[axis] + 1;
  }

  /// Each hardware unit has its own record of a counter. Adds them up.
  void addCounter() {
    if (!counterValue || !trace.takesCounter(counterValue))
      return;
    for (size_t i = firstCounter; i < trace.counters.size(); ++i)
      if (counterIds[i] == counterId) {
        trace.counters[i].value += *counterValue;
        return;
      }
    constexpr size_t most = 4096; // counters of a dispatch
    if (trace.counters.size() - firstCounter >= most)
      return;
    trace.counters.push_back({0, *counterValue});
    counterIds.push_back(counterId);
  }

  bool commitCounted() {
    ++trace.read;
    if (trace.counted.size() >= limits.maxEvents)
      return stopAtTooMany();
    countBlocks();
    CountedKernel &kernel = trace.counted.emplace_back();
    kernel.device = event.device;
    kernel.stream = event.stream;
    static_cast<Extents &>(kernel) = extents;
    kernel.counters = {uint32_t(firstCounter),
                       uint32_t(trace.counters.size() - firstCounter)};
    countedSymbols.push_back(symbol);
    return true;
  }

  bool commit() {
    ++trace.read;
    if (trace.kernels.size() >= limits.maxEvents)
      return stopAtTooMany();
    std::optional<int64_t> duration = durationOf(start, end);
    if (!trace.takesTimes(start, duration))
      return true;
    event.kind = isCopy() ? DeviceEvent::Copy : DeviceEvent::Kernel;
    event.start = *start;
    event.duration = *duration;
    countBlocks();
    event.extents = trace.addExtents(extents);
    trace.kernels.push_back(event);
    symbols.push_back(symbol);
    return true;
  }

  Trace &trace;
  const TraceLimits &limits;
  DeviceEvent event;
  Extents extents;
  std::optional<int64_t> start, end, units;
  int64_t symbol = 0, dies = 1, counterId = 0;
  std::string symbolName, agentName, counterName;
  std::optional<double> counterValue;
  size_t firstCounter = 0;
  bool isGpu = false;
  std::vector<int64_t> symbols;        ///< parallel to Trace::kernels
  std::vector<int64_t> countedSymbols; ///< parallel to Trace::counted
  std::vector<int64_t> counterIds;     ///< parallel to Trace::counters
  llvm::DenseMap<int64_t, Name> names, counterNames;
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
