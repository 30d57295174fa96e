// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// Converts decimal microseconds to nanoseconds. None beyond 64 bits. Parses
/// integers, since a double would lose digits.
std::optional<int64_t> nanoseconds(StringRef text) {
  if (text.find_first_of("eE") != StringRef::npos) {
    double value = 0;
    if (text.getAsDouble(value) || !(std::abs(value) < 9e15))
      return std::nullopt;
    return int64_t(value * 1000);
  }
  auto [whole, fraction] = text.split('.');
  int64_t micro = 0, nano = 0;
  if (whole.getAsInteger(10, micro))
    return std::nullopt;
  std::string digits = (fraction.take_front(3) + "000").str();
  if (StringRef(digits).take_front(3).getAsInteger(10, nano) ||
      __builtin_mul_overflow(micro, 1000, &micro) ||
      __builtin_add_overflow(micro, text.starts_with("-") ? -nano : nano,
                             &micro))
    return std::nullopt;
  return micro;
}

bool isMember(StringRef key, StringRef member) { return key == member; }

/// The members of an event that netc reads.
struct Event {
  std::string phase, category, name, process, thread;
  std::optional<int64_t> start, duration;
  std::optional<int64_t> sequence, external, correlation, record, device,
      stream, allocated, deviceType;
  std::vector<Counter> counters; ///< of `cuda_profiler_range`
  Extents extents;
  float blocksPerSm = -1, occupancy = -1;
  std::vector<std::vector<int64_t>> shapes, strides;
  std::vector<std::string> types, values;
};

class KinetoReader : public JsonReader {
public:
  KinetoReader(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  /// Counts events as broken that began and did not end.
  void finish() { trace.broken += numBegun; }

private:
  /// Whether objects at this level are events: they are in `traceEvents`, or
  /// the text is an array of them.
  bool isEventAt(size_t level) const {
    return isList ? level == 2 : level == 3 && keyAt(1) == "traceEvents";
  }
  /// The nesting within an event: 1 for its own members.
  size_t inside() const { return depth() - (isList ? 1 : 2); }
  StringRef member(size_t level) const {
    return keyAt(level + (isList ? 1 : 2));
  }

  bool onOpen(bool isObject) override {
    if (depth() == 1)
      isList = !isObject;
    if (isObject && isEventAt(depth())) {
      inEvent = true;
      event = Event();
    } else if (inEvent && inside() == 4) {
      if (auto *tensors = tensorsAt())
        tensors->emplace_back();
    }
    return true;
  }

  bool onClose() override {
    if (!inEvent || !isEventAt(depth()))
      return true;
    inEvent = false;
    ++trace.read;
    return commit();
  }

  /// What lists of numbers for each input are here; null if it is none.
  std::vector<std::vector<int64_t>> *tensorsAt() {
    StringRef key = member(2);
    if (isMember(key, "Input Dims") || isMember(key, "Input dims"))
      return &event.shapes;
    return isMember(key, "Input Strides") ? &event.strides : nullptr;
  }

  bool onScalar(StringRef text) override {
    if (inEvent)
      return inside() > 4 || memberOfEvent(text);
    if (depth() == 3 && keyAt(1) == "deviceProperties")
      deviceProperty(keyAt(3), text);
    if (depth() == 2 && keyAt(1) == "distributedInfo") {
      if (keyAt(2) == "rank")
        trace.rank = integerIn(text);
      else if (keyAt(2) == "world_size")
        trace.ranks = integerIn(text).value_or(1);
    }
    // `tool` of a trace by netc. Other texts there may be private.
    if (depth() == 1 && !isList && keyAt(1) == "tool" && text == "netc")
      trace.tool = text.str();
    return true;
  }

  /// Takes the properties of the first device, which the others share, and
  /// counts devices.
  void deviceProperty(StringRef key, StringRef text) {
    if (key == "name" && trace.device.empty())
      trace.device = text.str();
    else if (key == "numSms" && !trace.sms)
      trace.sms = integerIn(text);
    else if (key == "computeMajor" && trace.capability.empty())
      trace.capability = (text + ".").str();
    else if (key == "computeMinor" &&
             StringRef(trace.capability).ends_with("."))
      trace.capability += text;
    else if (key == "id")
      ++trace.devices;
  }

  bool memberOfEvent(StringRef text) {
    size_t level = inside();
    if (level == 1) {
      StringRef key = member(1);
      if (key == "ph")
        event.phase = text.str();
      else if (key == "cat")
        event.category = text.lower();
      else if (key == "name")
        event.name = text.str();
      else if (key == "pid")
        event.process = text.str();
      else if (key == "tid")
        event.thread = text.str();
      else if (key == "ts")
        event.start = nanoseconds(text);
      else if (key == "dur")
        event.duration = nanoseconds(text);
      return true;
    }
    if (member(1) != "args")
      return true;
    StringRef key = member(2);
    if (level == 2) {
      if (isMember(key, "Sequence number"))
        event.sequence = integerIn(text);
      else if (isMember(key, "External id") || isMember(key, "external id"))
        event.external = integerIn(text);
      else if (key == "correlation")
        event.correlation = integerIn(text);
      else if (key == "device")
        event.device = integerIn(text);
      else if (key == "stream")
        event.stream = integerIn(text);
      else if (isMember(key, "blocks per SM"))
        event.blocksPerSm = estimateIn(text);
      else if (isMember(key, "est. achieved occupancy %"))
        event.occupancy = estimateIn(text);
      else if (isMember(key, "Total Allocated"))
        event.allocated = integerIn(text);
      else if (isMember(key, "Device Type"))
        event.deviceType = integerIn(text);
      else if (isMember(key, "Record function id"))
        event.record = integerIn(text);
      else if (key.contains("__"))
        addCounter(key, text);
      return true;
    }
    if (level == 3 && isMember(key, "Input type"))
      event.types.push_back(text.str());
    else if (level == 3 && isMember(key, "Concrete Inputs"))
      event.values.push_back(text.str());
    else if (level == 3 && key == "grid")
      addTo(event.extents.grid, numGrid, text);
    else if (level == 3 && key == "block")
      addTo(event.extents.block, numBlock, text);
    else if (auto *tensors = level == 4 ? tensorsAt() : nullptr;
             tensors && !tensors->empty())
      tensors->back().push_back(integerIn(text).value_or(-1));
    return true;
  }

  void addCounter(StringRef metric, StringRef text) {
    double value = 0;
    if (trace.takesCounter(text.getAsDouble(value) ? std::nullopt
                                                   : std::optional(value)))
      event.counters.push_back({trace.names.intern(metric), value});
  }
  /// An estimate of the profiler; -1 if it is invalid.
  static float estimateIn(StringRef text) {
    double value = 0;
    auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    return error != std::errc() || end != text.end() || !(value < 1e9)
               ? -1
               : float(value);
  }

  static void addTo(std::array<int64_t, 3> &sizes, unsigned &index,
                    StringRef text) {
    sizes[index++ % 3] = integerIn(text).value_or(0);
  }

  /// An id in 32 bits; -1 if it does not fit.
  static int32_t idOf(std::optional<int64_t> number) {
    return number && llvm::isInt<32>(*number) ? int32_t(*number) : -1;
  }

  /// Stores the event if netc uses it. False if there are too many.
  bool commit() {
    numGrid = numBlock = 0;
    if (event.phase == "i" && event.name == "[memory]")
      return keepAllocation();
    if (event.phase == "B")
      return begin();
    if (event.phase == "E")
      return end();
    return event.phase != "X" || keep();
  }

  std::string threadOf() const { return event.process + '\n' + event.thread; }

  bool begin() {
    if (numBegun >= limits.maxEvents)
      return stopAtTooMany();
    ++numBegun;
    begun[threadOf()].push_back(std::move(event));
    return true;
  }

  /// Ends the innermost open event of the thread. The end need not repeat the
  /// name, and its arguments are ignored.
  bool end() {
    auto ofThread = begun.find(threadOf());
    std::optional<int64_t> time = event.start;
    if (ofThread == begun.end() || ofThread->second.empty() ||
        (!event.name.empty() && event.name != ofThread->second.back().name)) {
      ++trace.broken;
      return true;
    }
    event = std::move(ofThread->second.back());
    ofThread->second.pop_back();
    --numBegun;
    event.duration = durationOf(event.start, time);
    return keep();
  }

  bool keep() {
    StringRef category = event.category;
    bool isModule = category == "python_function" &&
                    StringRef(event.name).starts_with("nn.Module: ");
    bool isLaunch = category == "cuda_runtime" || category == "cuda_driver" ||
                    category == "runtime" || category == "hip_runtime";
    bool isOp = category == "cpu_op" || category == "operator";
    bool isAnnotation = category == "user_annotation";
    bool isKernel = category == "kernel";
    bool isCopy = category == "gpu_memcpy" || category == "memcpy";
    bool isSet = category == "gpu_memset" || category == "memset";
    bool isCounted = category == "cuda_profiler_range";
    bool host =
        isOp || isAnnotation || isModule || (isLaunch && event.correlation);
    bool device = isKernel || isCopy || isSet;
    if (isCounted && !event.counters.empty())
      return keepCounted();
    if (!host && !device) {
      ++trace.dropped[categoryName(category)];
      return true;
    }
    if (trace.host.size() + trace.kernels.size() >= limits.maxEvents)
      return stopAtTooMany();
    if (!trace.takesTimes(event.start, event.duration))
      return true;
    if (device)
      keepOnDevice(isKernel ? DeviceEvent::Kernel
                   : isCopy ? DeviceEvent::Copy
                            : DeviceEvent::Set);
    else
      keepOnHost(isOp           ? HostEvent::Op
                 : isAnnotation ? HostEvent::Annotation
                 : isModule     ? HostEvent::Module
                                : HostEvent::Launch);
    return true;
  }

  /// Shows only Kineto's own categories, since other texts may be private.
  static std::string categoryName(StringRef category) {
    for (StringRef known : {"python_function", "trace", "cuda_profiler_range",
                            "gpu_user_annotation", "overhead"})
      if (category == known)
        return known.str();
    return "other";
  }

  /// Stores an event of `profile(profile_memory=True)`.
  bool keepAllocation() {
    if (!event.allocated || *event.allocated < 0 ||
        !trace.takesTimes(event.start, 0))
      return true;
    if (trace.allocations.size() >= limits.maxEvents)
      return stopAtTooMany();
    // A c10::DeviceType of 0 is the CPU.
    trace.allocations.push_back(
        {*event.start, *event.allocated, event.deviceType.value_or(0) > 0});
    return true;
  }

  /// Stores a kernel of CUPTI's range profiler. Kineto makes up its times.
  bool keepCounted() {
    if (trace.counted.size() >= limits.maxEvents)
      return stopAtTooMany();
    CountedKernel &kept = trace.counted.emplace_back();
    kept.name = trace.names.intern(event.name);
    kept.counters = {uint32_t(trace.counters.size()),
                     uint32_t(event.counters.size())};
    llvm::append_range(trace.counters, event.counters);
    return true;
  }

  void keepOnDevice(DeviceEvent::Kind kind) {
    DeviceEvent &kept = trace.kernels.emplace_back();
    kept.kind = kind;
    kept.name = trace.names.intern(event.name);
    kept.start = *event.start;
    kept.duration = *event.duration;
    kept.correlation = event.correlation.value_or(-1);
    // Without `device`, the process of a kernel is its device.
    kept.device = int32_t(event.device ? *event.device
                                       : integerIn(event.process).value_or(0));
    kept.stream = int32_t(event.stream.value_or(0));
    kept.extents = trace.addExtents(event.extents);
    kept.blocksPerSm = event.blocksPerSm;
    kept.occupancy = event.occupancy;
  }

  void keepOnHost(HostEvent::Kind kind) {
    HostEvent &kept = trace.host.emplace_back();
    StringRef name = event.name;
    // In 2021, annotations had the category of ops.
    if (kind == HostEvent::Op &&
        (name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.")))
      kind = HostEvent::Annotation;
    kept.kind = kind;
    kept.name = trace.names.intern(
        kind == HostEvent::Module ? name.substr(strlen("nn.Module: ")) : name);
    kept.start = *event.start;
    kept.duration = *event.duration;
    kept.sequence = event.sequence.value_or(-1);
    kept.external = idOf(event.external);
    kept.correlation = event.correlation.value_or(-1);
    kept.record = idOf(event.record);
    trace.hasSequence |= event.sequence.has_value();
    trace.hasModules |= kind == HostEvent::Module;
    auto [thread, isNew] =
        threads.try_emplace(threadOf(), uint32_t(trace.threads.size()));
    if (isNew)
      trace.threads.push_back({event.process, event.thread});
    kept.thread = thread->second;
    if (kind != HostEvent::Op)
      return;
    kept.inputs = trace.addInputs(
        {trace.addShapes(event.shapes), trace.addWords(event.types),
         trace.addWords(event.values), trace.addShapes(event.strides)});
  }

  Trace &trace;
  const TraceLimits &limits;
  bool isList = false, inEvent = false;
  Event event;
  unsigned numGrid = 0, numBlock = 0;
  llvm::StringMap<uint32_t> threads;
  /// The open events of phase B, by thread.
  llvm::StringMap<std::vector<Event>> begun;
  uint64_t numBegun = 0;
};
} // namespace

llvm::Expected<Trace> netc::trace::readKineto(Source &source,
                                              const TraceLimits &limits) {
  Trace trace;
  KinetoReader reader(trace, limits);
  if (llvm::Error error = reader.read(source, trace, limits))
    return error;
  reader.finish();
  return trace;
}
