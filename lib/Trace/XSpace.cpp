// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

/// The process of the steps of a device.
static constexpr StringRef kStepsOfDevice = "device";
/// What Trace::dropped calls the ops that XLA runs on the host.
static constexpr const char *kHostOps = "host-op";

namespace {
/// Reads a varint of the bytes that `next` gives, -1 at the end. None if they
/// end within it, or if it is too long.
template <typename Next> std::optional<uint64_t> varintOf(Next next) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    int byte = next();
    if (byte < 0)
      return std::nullopt;
    result |= uint64_t(byte & 127) << shift;
    if (byte < 128)
      return result;
  }
  return std::nullopt;
}

/// Iterates over the fields of a protobuf message in wire format.
class Fields {
public:
  /// With `takesCut`, next() also gives a last field that is truncated.
  explicit Fields(StringRef bytes, bool takesCut = false)
      : takesCut(takesCut), rest(bytes) {}

  /// False at the end and for invalid bytes, which set `isBroken`.
  bool next() {
    uint64_t tag;
    if (rest.empty() || !varint(tag))
      return false;
    number = tag >> 3;
    switch (tag & 7) {
    case 0:
      return varint(value);
    case 1:
      return fixed(8);
    case 2:
      if (!varint(value))
        return false;
      isBroken |= value > rest.size();
      bytes = rest.take_front(value);
      rest = rest.drop_front(bytes.size());
      return takesCut || !isBroken;
    case 5:
      return fixed(4);
    }
    isBroken = true;
    return false;
  }

  uint64_t number = 0;
  uint64_t value = 0; ///< of a number; else the size of `bytes`
  StringRef bytes;    ///< of a string or message
  bool isBroken = false;

private:
  bool varint(uint64_t &result) {
    std::optional<uint64_t> read = varintOf([&] {
      int byte = rest.empty() ? -1 : uint8_t(rest.front());
      rest = rest.drop_front(byte >= 0);
      return byte;
    });
    result = read.value_or(0);
    isBroken |= !read;
    return read.has_value();
  }

  bool fixed(unsigned size) {
    if (rest.size() < size)
      return isBroken = true, false;
    value = 0;
    for (unsigned i = 0; i < size; ++i)
      value |= uint64_t(uint8_t(rest[i])) << (8 * i);
    rest = rest.drop_front(size);
    return true;
  }

  bool takesCut;
  StringRef rest;
};

/// An XPlane, which has the events of a device or of the host.
class Plane {
public:
  Plane(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  /// False if there are too many events. Sets `isBroken` if the bytes are
  /// damaged; the rest of the plane is read.
  bool read(StringRef bytes) {
    // The names of events and stats follow the lines that use them. A truncated
    // plane lacks them.
    Fields plane(bytes, /*takesCut=*/true);
    while (plane.next())
      if (plane.number == 2)
        name = plane.bytes;
      else if (plane.number == 4)
        addMetadata(plane.bytes, events);
      else if (plane.number == 5)
        addMetadata(plane.bytes, stats);
    isBroken |= plane.isBroken;
    StringRef number = name;
    isDevice = number.consume_front("/device:");
    if (isDevice) {
      device =
          int32_t(integerIn(number.substr(number.rfind(':') + 1)).value_or(0));
      ++trace.devices;
    } else if (!name.starts_with("/host:")) {
      return true;
    }
    Fields again(bytes, /*takesCut=*/true);
    while (again.next())
      if (again.number == 3 && !readLine(again.bytes))
        return false;
    return true;
  }

  bool isBroken = false;

private:
  /// Adds an entry of a map to `names`. Its value is a message with the name in
  /// field 2.
  static void addMetadata(StringRef entry,
                          std::map<uint64_t, StringRef> &names) {
    Fields fields(entry);
    uint64_t key = 0;
    StringRef text;
    while (fields.next())
      if (fields.number == 1) {
        key = fields.value;
      } else if (fields.number == 2) {
        Fields message(fields.bytes);
        while (message.next())
          if (message.number == 2)
            text = message.bytes;
      }
    names[key] = text;
  }

  bool readLine(StringRef bytes) {
    uint64_t id = 0;
    int64_t start = 0;
    StringRef line;
    Fields fields(bytes);
    while (fields.next())
      if (fields.number == 1)
        id = fields.value;
      else if (fields.number == 2)
        line = fields.bytes;
      else if (fields.number == 3)
        start = int64_t(fields.value);
    isBroken |= fields.isBroken;
    // Other lines of a device repeat its events by step, module and op. A TPU
    // has one line of ops instead of streams.
    StringRef stream = line;
    bool isTpu = name.contains("TPU");
    bool isOps = isTpu && line.starts_with("XLA Ops");
    // The steps of several devices are the same.
    bool isSteps = isTpu && line == "Steps" && trace.devices == 1;
    if (isDevice && !stream.consume_front("Stream #") && !isOps && !isSteps)
      return true;
    thread = std::nullopt;
    int32_t number =
        int32_t(integerIn(stream.take_while(llvm::isDigit)).value_or(0));
    Fields again(bytes);
    while (again.next())
      if (again.number == 4 &&
          !(isSteps    ? addStep(again.bytes, start)
            : isDevice ? addOnDevice(again.bytes, start, number)
                       : addOnHost(again.bytes, start, id)))
        return false;
    return true;
  }

  /// The text of a stat, given directly or as a reference to a name.
  StringRef textOf(const Fields &value) const {
    if (value.number == 5)
      return value.bytes;
    auto found = stats.find(value.value);
    return value.number == 7 && found != stats.end() ? found->second
                                                     : StringRef();
  }

  struct Event {
    StringRef name;
    int64_t start = 0, duration = 0;
    int64_t correlation = -1, step = -1;
    StringRef path, op, details;
    std::vector<Counter> counters;
  };

  std::optional<Event> eventIn(StringRef bytes, int64_t lineStart) {
    Event event;
    Fields fields(bytes);
    uint64_t offset = 0, duration = 0;
    while (fields.next())
      if (fields.number == 1) {
        if (auto found = events.find(fields.value); found != events.end())
          event.name = found->second;
      } else if (fields.number == 2) {
        offset = fields.value;
      } else if (fields.number == 3) {
        duration = fields.value;
      } else if (fields.number == 4) {
        addStat(fields.bytes, event);
      }
    ++trace.read;
    // Times are in picoseconds, relative to the start of the line.
    event.duration = int64_t(duration / 1000);
    if (fields.isBroken ||
        __builtin_add_overflow(lineStart, int64_t(offset / 1000),
                               &event.start)) {
      ++trace.broken;
      return std::nullopt;
    }
    if (!trace.takesTimes(event.start, event.duration))
      return std::nullopt;
    return event;
  }

  void addStat(StringRef bytes, Event &event) {
    Fields fields(bytes);
    StringRef stat;
    while (fields.next())
      if (fields.number == 1) {
        auto found = stats.find(fields.value);
        stat = found == stats.end() ? StringRef() : found->second;
      } else if (stat == "correlation_id") {
        event.correlation = int64_t(fields.value);
      } else if (stat == "step_num") {
        event.step = int64_t(fields.value);
      } else if (stat == "tf_op") {
        event.path = textOf(fields);
      } else if (stat == "hlo_op") {
        event.op = textOf(fields);
      } else if (stat == "kernel_details") {
        event.details = textOf(fields);
      } else if (stat == "flops" || stat == "model_flops" ||
                 stat == "bytes_accessed") {
        // XLA gives -1 for calls whose cost it does not know.
        int64_t count = int64_t(fields.value);
        if (fields.number != 2 && count >= 0)
          event.counters.push_back({trace.names.intern(stat), double(count)});
      }
  }

  /// The number of a text. Events that refer to one text have the same bytes,
  /// which are read once.
  Name intern(StringRef text) {
    auto [known, isNew] = interned.try_emplace({text.data(), text.size()});
    if (isNew)
      known->second = trace.names.intern(text);
    return known->second;
  }

  bool isFull() const {
    return trace.host.size() + trace.kernels.size() >= limits.maxEvents;
  }

  bool addOnDevice(StringRef bytes, int64_t lineStart, int32_t stream) {
    if (isFull())
      return false;
    auto event = eventIn(bytes, lineStart);
    if (!event)
      return true;
    DeviceEvent &kept = trace.kernels.emplace_back();
    kept.kind = event->name.starts_with("Memcpy")   ? DeviceEvent::Copy
                : event->name.starts_with("Memset") ? DeviceEvent::Set
                                                    : DeviceEvent::Kernel;
    kept.name = intern(event->name.empty() ? "?" : event->name);
    kept.op = intern(event->path.empty() ? event->op : event->path);
    kept.start = event->start;
    kept.duration = event->duration;
    kept.correlation = event->correlation;
    kept.device = device;
    kept.stream = stream;
    kept.extents = extentsIn(event->details);
    kept.counters = {uint32_t(trace.counters.size()),
                     uint32_t(event->counters.size())};
    trace.counters.insert(trace.counters.end(), event->counters.begin(),
                          event->counters.end());
    return true;
  }

  /// The same for the grid and the block that a text states.
  uint32_t extentsIn(StringRef details) {
    auto [known, isNew] = extents.try_emplace({details.data(), details.size()});
    if (isNew)
      known->second = trace.addExtents(
          {sizesIn(details, "grid:"), sizesIn(details, "block:")});
    return known->second;
  }

  /// Parses `grid:1280,1,1 block:256,1,1 ..`.
  static std::array<int64_t, 3> sizesIn(StringRef details, StringRef key) {
    std::array<int64_t, 3> sizes = {0, 0, 0};
    size_t at = details.find(key);
    if (at == StringRef::npos)
      return sizes;
    StringRef text = details.substr(at + key.size());
    for (int64_t &size : sizes) {
      StringRef digits = text.take_while(llvm::isDigit);
      size = integerIn(digits).value_or(0);
      text = text.drop_front(digits.size());
      text.consume_front(",");
    }
    return sizes;
  }

  bool addOnHost(StringRef bytes, int64_t lineStart, uint64_t line) {
    auto event = eventIn(bytes, lineStart);
    if (!event)
      return true;
    // Of the host's events, keep only steps and calls that launch work on a
    // device.
    if (event->correlation < 0 && event->step < 0) {
      ++trace.dropped[event->op.empty() ? "other" : kHostOps];
      return true;
    }
    if (isFull())
      return false;
    HostEvent &kept = addToThread(*event, "host", line);
    kept.kind = event->step < 0 ? HostEvent::Launch : HostEvent::Step;
    kept.correlation = event->correlation;
    kept.sequence = event->step;
    return true;
  }

  /// Adds a step of a TPU, whose name is its number.
  bool addStep(StringRef bytes, int64_t lineStart) {
    if (isFull())
      return false;
    auto event = eventIn(bytes, lineStart);
    if (!event)
      return true;
    HostEvent &kept = addToThread(*event, kStepsOfDevice, 0);
    kept.kind = HostEvent::Step;
    kept.sequence = integerIn(event->name).value_or(-1);
    return true;
  }

  HostEvent &addToThread(const Event &event, StringRef process, uint64_t line) {
    if (!thread) {
      thread = uint32_t(trace.threads.size());
      trace.threads.push_back({process.str(), llvm::utostr(line)});
    }
    HostEvent &kept = trace.host.emplace_back();
    kept.name = intern(event.name);
    kept.thread = *thread;
    kept.start = event.start;
    kept.duration = event.duration;
    return kept;
  }

  Trace &trace;
  const TraceLimits &limits;
  StringRef name;
  bool isDevice = false;
  int32_t device = 0;
  std::optional<uint32_t> thread;
  llvm::DenseMap<std::pair<const char *, size_t>, Name> interned;
  llvm::DenseMap<std::pair<const char *, size_t>, uint32_t> extents;
  std::map<uint64_t, StringRef> events, stats; ///< names by id
};
} // namespace

/// A host runs ahead of a TPU: its steps are only ranges where the device has
/// some of its own.
static void preferStepsOfDevice(Trace &trace) {
  auto isOfDevice = [&](const HostEvent &event) {
    return trace.threads[event.thread].process == kStepsOfDevice;
  };
  if (llvm::any_of(trace.host, isOfDevice))
    for (HostEvent &event : trace.host)
      if (event.kind == HostEvent::Step && !isOfDevice(event))
        event.kind = HostEvent::Annotation;
}

/// Whether the first field can be an XPlane: a message in field 1 that begins
/// with an id or a name.
bool netc::trace::isXSpace(StringRef text) {
  if (!text.consume_front("\n"))
    return false;
  // Skip the size of the message, a varint.
  text = text.drop_while([](char c) { return uint8_t(c) >= 128; });
  text = text.drop_front(std::min<size_t>(1, text.size()));
  return text.starts_with("\x08") || text.starts_with("\x12");
}

llvm::Expected<Trace> netc::trace::readXSpace(Source &source,
                                              const TraceLimits &limits) {
  Trace trace;
  std::string bytes;
  while (source.peek() >= 0) {
    uint64_t at = source.offset();
    std::optional<uint64_t> tag = varintOf([&] { return source.next(); });
    std::optional<uint64_t> size;
    if (tag && (*tag & 7) == 2)
      size = varintOf([&] { return source.next(); });
    bool isPlane = size && *tag >> 3 == 1;
    bytes.clear();
    bool isWhole =
        size && (isPlane ? source.bytes(*size, bytes) : source.skip(*size));
    bool isBroken = !isWhole;
    if (isPlane) {
      Plane plane(trace, limits);
      if (!plane.read(bytes))
        return fail(error::TraceTooManyEvents(limits.maxEvents));
      isBroken |= plane.isBroken;
    }
    if (!isBroken)
      continue;
    if (llvm::Error error = cutWhere(source, trace))
      return error;
    if (!trace.cutAt)
      if (llvm::Error error =
              isWhole
                  ? cut(trace, at, "a plane begins here that is damaged")
                  : cut(trace, source.offset(),
                        llvm::formatv("the file ends here, within the plane "
                                      "that begins at byte {0}; what its "
                                      "kernels are called stands at the end "
                                      "of a plane",
                                      at)
                            .str()))
        return error;
    return trace;
  }
  if (llvm::Error error = cutWhere(source, trace))
    return error;
  auto onHost = trace.dropped.find(kHostOps);
  if (trace.kernels.empty() && onHost != trace.dropped.end())
    return fail(
        {"trace-empty",
         llvm::formatv("it has {0} ops that XLA ran on the host, and none of a "
                       "device; netc reads only those of a device",
                       onHost->second)
             .str()});
  preferStepsOfDevice(trace);
  return trace;
}
