// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Kineto.h"

#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// The bytes of a source, as the parser takes them.
class Bytes {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = char;

  Bytes() = default;
  explicit Bytes(Source &source) : source(&source) {}
  char operator*() const { return char(source->peek()); }
  Bytes &operator++() {
    source->next();
    return *this;
  }
  bool operator==(const Bytes &) const { return !source || source->peek() < 0; }
  bool operator!=(const Bytes &other) const { return !(*this == other); }

private:
  Source *source = nullptr;
};

/// Microseconds with a fraction, in nanoseconds; none beyond 64 bits. A double
/// would lose the last digits.
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

std::optional<int64_t> integer(StringRef text) {
  int64_t value;
  if (text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

static bool isMember(StringRef key, StringRef member) { return key == member; }

/// The members of an event that netc reads.
struct Event {
  std::string phase, category, name, process, thread;
  std::optional<int64_t> start, duration;
  std::optional<int64_t> sequence, external, correlation, device, stream;
  std::array<int64_t, 3> grid = {0, 0, 0}, block = {0, 0, 0};
  float blocksPerSm = -1, occupancy = -1;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> types, values;
};

class Handler : public nlohmann::json_sax<nlohmann::json> {
public:
  Handler(Trace &trace, const TraceLimits &limits, Source &source)
      : trace(trace), limits(limits), source(source) {}

  bool null() override { return scalar(""); }
  bool boolean(bool value) override { return scalar(value ? "1" : "0"); }
  bool number_integer(int64_t value) override {
    return scalar(std::to_string(value));
  }
  bool number_unsigned(uint64_t value) override {
    return scalar(std::to_string(value));
  }
  bool number_float(double, const std::string &text) override {
    return scalar(text);
  }
  bool string(std::string &text) override { return scalar(text); }
  bool binary(binary_t &) override { return true; }

  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string &text) override {
    if (depth <= maxPath)
      path[depth - 1] = text;
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &problem) override {
    // Behind what it parsed stands where: `parse error at line 1, column 3: ..`
    StringRef text = problem.what();
    text = text.substr(text.find(": ") + 2);
    wrong = text.substr(0, text.rfind("; last read")).str();
    at = source.offset();
    return false;
  }

  bool hasEvents = false, isKineto = false, tooMany = false;
  std::string wrong;
  uint64_t at = 0;

private:
  static constexpr size_t maxPath = 8;

  /// Events stand in `traceEvents`, or the text is an array of them.
  bool isEventAt(size_t level) const {
    return isList ? level == 2 : level == 3 && path[0] == "traceEvents";
  }
  /// The nesting inside an event: 1 for its own members.
  size_t inside() const { return depth - (isList ? 1 : 2); }
  StringRef member(size_t level) const {
    return path[level + (isList ? 0 : 1)];
  }

  bool open(bool isObject) {
    ++depth;
    if (depth == 1)
      isList = !isObject;
    if (depth <= maxPath)
      path[depth - 1].clear();
    if (depth == 2 && !isList && path[0] == "traceEvents")
      isKineto = true;
    if (isObject && isEventAt(depth)) {
      inEvent = true;
      event = Event();
    } else if (inEvent && inside() == 4 && isDims()) {
      event.shapes.emplace_back();
    }
    return true;
  }

  bool close() {
    if (inEvent && isEventAt(depth)) {
      inEvent = false;
      ++trace.read;
      if (!commit())
        return false;
    }
    --depth;
    return true;
  }

  bool isDims() const {
    return isMember(member(2), "Input Dims") ||
           isMember(member(2), "Input dims");
  }

  bool scalar(StringRef text) {
    if (inEvent)
      return inside() > 4 || memberOfEvent(text);
    if (depth == 3 && path[0] == "deviceProperties") {
      if (path[2] == "name" && trace.device.empty())
        trace.device = text.str();
      if (path[2] == "numSms" && !trace.sms)
        trace.sms = integer(text);
      trace.devices += path[2] == "id";
    }
    return true;
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
        event.sequence = integer(text);
      else if (isMember(key, "External id") || isMember(key, "external id"))
        event.external = integer(text);
      else if (key == "correlation")
        event.correlation = integer(text);
      else if (key == "device")
        event.device = integer(text);
      else if (key == "stream")
        event.stream = integer(text);
      else if (isMember(key, "blocks per SM"))
        event.blocksPerSm = toFloat(text);
      else if (isMember(key, "est. achieved occupancy %"))
        event.occupancy = toFloat(text);
      return true;
    }
    if (level == 3 && isMember(key, "Input type"))
      event.types.push_back(text.str());
    else if (level == 3 && isMember(key, "Concrete Inputs"))
      event.values.push_back(text.str());
    else if (level == 3 && key == "grid")
      addTo(event.grid, numGrid, text);
    else if (level == 3 && key == "block")
      addTo(event.block, numBlock, text);
    else if (level == 4 && isDims() && !event.shapes.empty())
      event.shapes.back().push_back(integer(text).value_or(-1));
    return true;
  }

  static float toFloat(StringRef text) {
    double value = 0;
    return text.getAsDouble(value) ? -1 : float(value);
  }

  static void addTo(std::array<int64_t, 3> &sizes, unsigned &index,
                    StringRef text) {
    sizes[index++ % 3] = integer(text).value_or(0);
  }

  Slice wordsOf(llvm::ArrayRef<std::string> texts) {
    Slice slice{uint32_t(trace.words.size()), uint32_t(texts.size())};
    for (StringRef text : texts)
      trace.words.push_back(trace.names.intern(text));
    return slice;
  }

  /// Keeps the event, if it is one that netc reads.
  bool commit() {
    numGrid = numBlock = 0;
    if (event.phase != "X")
      return true;
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
    bool host =
        isOp || isAnnotation || isModule || (isLaunch && event.correlation);
    bool device = isKernel || isCopy || isSet;
    if (!host && !device) {
      ++trace.dropped[categoryName(category)];
      return true;
    }
    int64_t end;
    if (!event.start || !event.duration || *event.duration < 0 ||
        __builtin_add_overflow(*event.start, *event.duration, &end)) {
      ++trace.broken;
      return true;
    }
    if (trace.host.size() + trace.kernels.size() >= limits.maxEvents) {
      tooMany = true;
      return false;
    }
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

  /// Only what Kineto calls them: other texts of a trace are nobody's business.
  static std::string categoryName(StringRef category) {
    for (StringRef known : {"python_function", "trace", "cuda_profiler_range",
                            "gpu_user_annotation", "overhead"})
      if (category == known)
        return known.str();
    return "other";
  }

  void keepOnDevice(DeviceEvent::Kind kind) {
    DeviceEvent &kept = trace.kernels.emplace_back();
    kept.kind = kind;
    kept.name = trace.names.intern(event.name);
    kept.start = *event.start;
    kept.duration = *event.duration;
    kept.correlation = event.correlation.value_or(-1);
    kept.external = event.external.value_or(-1);
    kept.device = int32_t(event.device.value_or(0));
    kept.stream = int32_t(event.stream.value_or(0));
    kept.grid = event.grid;
    kept.block = event.block;
    kept.blocksPerSm = event.blocksPerSm;
    kept.occupancy = event.occupancy;
  }

  void keepOnHost(HostEvent::Kind kind) {
    HostEvent &kept = trace.host.emplace_back();
    StringRef name = event.name;
    // In 2021 all of them were operators.
    if (kind == HostEvent::Op &&
        (name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.")))
      kind = HostEvent::Annotation;
    kept.kind = kind;
    kept.name = trace.names.intern(
        kind == HostEvent::Module ? name.substr(strlen("nn.Module: ")) : name);
    kept.start = *event.start;
    kept.duration = *event.duration;
    kept.sequence = event.sequence.value_or(-1);
    kept.external = event.external.value_or(-1);
    kept.correlation = event.correlation.value_or(-1);
    trace.hasSequence |= event.sequence.has_value();
    trace.hasModules |= kind == HostEvent::Module;
    auto [thread, isNew] = threads.try_emplace(
        event.process + '\n' + event.thread, uint32_t(trace.threads.size()));
    if (isNew)
      trace.threads.push_back({event.process, event.thread});
    kept.thread = thread->second;
    if (kind != HostEvent::Op)
      return;
    kept.shapes = {uint32_t(trace.tensors.size()),
                   uint32_t(event.shapes.size())};
    for (const std::vector<int64_t> &shape : event.shapes) {
      trace.hasShapes |= !shape.empty();
      trace.tensors.push_back(
          {uint32_t(trace.sizes.size()), uint32_t(shape.size())});
      llvm::append_range(trace.sizes, shape);
    }
    kept.types = wordsOf(event.types);
    kept.values = wordsOf(event.values);
  }

  Trace &trace;
  const TraceLimits &limits;
  Source &source;
  size_t depth = 0;
  bool isList = false, inEvent = false;
  std::array<std::string, maxPath> path;
  Event event;
  unsigned numGrid = 0, numBlock = 0;
  llvm::StringMap<uint32_t> threads;
};
} // namespace

llvm::Expected<Trace> netc::trace::readKineto(Source &source,
                                              const TraceLimits &limits) {
  Trace trace;
  trace.tool = "PyTorch Profiler";
  Handler handler(trace, limits, source);
  bool isWhole = nlohmann::json::sax_parse(Bytes(source), Bytes(), &handler);
  if (source.isTooLong())
    return fail(error::TraceTooLong(limits.maxBytes));
  if (handler.tooMany)
    return fail(error::TraceTooManyEvents(limits.maxEvents));
  if (!source.problem().empty()) {
    handler.wrong = source.problem();
    handler.at = source.offset();
  }
  if (!isWhole || !source.problem().empty()) {
    if (trace.isEmpty())
      return fail(error::TraceBroken(handler.at, handler.wrong));
    trace.cutAt = handler.at;
    trace.cutBy = handler.wrong;
  }
  return trace;
}
