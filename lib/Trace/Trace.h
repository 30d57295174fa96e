// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_TRACE_H
#define NETC_LIB_TRACE_TRACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace netc::trace {

/// The number of an interned text. 0 is the empty text.
using Name = uint32_t;

/// A table of texts, each stored once.
class Names {
public:
  Names() { intern(""); }
  Names(Names &&) = default;
  Names &operator=(Names &&) = default;

  Name intern(llvm::StringRef text) {
    auto [entry, isNew] = numbers.try_emplace(text, Name(texts.size()));
    if (isNew)
      texts.push_back(entry->first());
    return entry->second;
  }
  llvm::StringRef operator[](Name name) const { return texts[name]; }

private:
  llvm::StringMap<Name> numbers;
  std::vector<llvm::StringRef> texts;
};

/// What a function says of texts. It is called once for each, since a name may
/// be long, and that of a million kernels.
template <typename Said> class OncePerName {
public:
  OncePerName(const Names &names, Said (*of)(llvm::StringRef))
      : names(names), of(of) {}

  const Said &operator[](Name name) {
    auto [known, isNew] = said.try_emplace(name);
    if (isNew)
      known->second = of(names[name]);
    return known->second;
  }

private:
  const Names &names;
  Said (*of)(llvm::StringRef);
  std::unordered_map<Name, Said> said;
};

/// A range in an array that several objects share.
struct Slice {
  uint32_t begin = 0, size = 0;
};

/// The inputs of an op, by argument. Equal inputs are stored once, since most
/// ops repeat in each step.
struct Inputs {
  Slice shapes; ///< in Trace::tensors
  Slice types;  ///< in Trace::words
  Slice values; ///< in Trace::words: `[2, 2]`, `True`
  /// In Trace::tensors: the elements from one index of an axis to the next.
  Slice strides = {};
};

/// An event on a host thread, from `start` for `duration` nanoseconds.
struct HostEvent {
  enum Kind : uint8_t {
    Op,         ///< `aten::addmm`, or a node of autograd
    Annotation, ///< `ProfilerStep#3`, an optimizer's step, a user's range
    Step,       ///< a step that JAX or a TPU numbers
    Module,     ///< `Linear_2`, of an `nn.Module` event
    Launch      ///< a call that starts work on a device
  };
  Kind kind = Op;
  Name name = 0;
  uint32_t thread = 0; ///< index into Trace::threads
  uint32_t inputs = 0; ///< index into Trace::inputs
  int64_t start = 0, duration = 0;
  int64_t sequence = -1;    ///< of the autograd node, or a step; else -1
  int64_t correlation = -1; ///< of a launch and its kernel; else -1
  int32_t external = -1;    ///< Kineto's external id or NVTX's op_id; else -1
  int32_t record = -1; ///< id of the record function, as in execution traces

  int64_t end() const { return start + duration; }
};

/// The grid in blocks and the block in threads, by axis. 0 if unknown.
struct Extents {
  std::array<int64_t, 3> grid = {0, 0, 0}, block = {0, 0, 0};
};

/// An event on a device.
struct DeviceEvent {
  enum Kind : uint8_t { Kernel, Copy, Set };
  Kind kind = Kernel;
  Name name = 0;
  int64_t start = 0, duration = 0;
  int64_t correlation = -1;
  uint32_t extents = 0; ///< index into Trace::extents
  Name op = 0;          ///< path of the layer; empty if it is not recorded
  Slice counters;       ///< in Trace::counters; only from XLA
  int32_t device = 0, stream = 0;
  /// Kineto's estimates: blocks per SM, and occupancy in percent. Negative if
  /// there are none.
  float blocksPerSm = -1, occupancy = -1;

  int64_t end() const { return start + duration; }
};

/// A counter of a kernel. It has its tool's name, such as
/// `smsp__cycles_active.sum`, and a unit without a prefix: seconds, bytes, Hz.
/// Percentages stay percentages.
struct Counter {
  Name metric = 0;
  double value = 0;
};

/// A kernel as a tool for hardware counters ran it: several times, alone, and
/// at another clock. So it has no time of the training step.
struct CountedKernel : Extents {
  Name name = 0;
  /// More than 1 if the counters are means over kernels of one name.
  int64_t invocations = 1;
  int32_t device = 0, stream = 0;
  Slice counters; ///< in Trace::counters
};

/// A sample of a whole device, in percent.
struct Sample {
  int64_t time = 0; ///< ns, on the clock of the other events
  Name metric = 0;  ///< `SMs Active [Throughput %]`
  int32_t device = 0;
  float value = 0;
};

/// The bytes that an allocator has handed out in total, at a time.
struct Allocation {
  int64_t time = 0; ///< ns
  int64_t bytes = 0;
  bool isOnDevice = false;
};

/// FLOP that a tool counted. A user gives them in addition to a trace.
struct Count {
  Name op = 0;     ///< `aten::mm`; with FlopCounterMode `aten.mm`
  Name module = 0; ///< of FlopCounterMode; `Global` is the total
  Name parent = 0; ///< the op around it; 0 if not recorded
  Slice shapes;    ///< in Trace::tensors, by argument
  int64_t order = -1, sequence = -1; ///< -1 if not recorded
  int64_t calls = 1;                 ///< number of calls that are summed
  int64_t flop = 0;
  int64_t unit = 1; ///< the tool rounds to multiples of this
};

/// A text with the last part of each path only, since folders may be private:
/// `C:\Users\me\scale.py:7` becomes `scale.py:7`.
std::string withoutFolders(llvm::StringRef text);

/// A name as reports show it: without folders, and with `?` in place of users,
/// hosts and their addresses, control characters and invalid UTF-8.
std::string shownName(llvm::StringRef name);

/// The name of a file as reports show it: without folders, and with `?` in
/// place of the host that a profiler names the file after.
std::string shownFile(llvm::StringRef path);

/// The end minus the start. None if one of them is missing, or if it does not
/// fit in 64 bits.
inline std::optional<int64_t> durationOf(std::optional<int64_t> start,
                                         std::optional<int64_t> end) {
  int64_t duration;
  if (!start || !end || __builtin_sub_overflow(*end, *start, &duration))
    return std::nullopt;
  return duration;
}

struct Thread {
  std::string process, thread;
};

/// The contents of a profiler's file.
struct Trace {
  std::string file;   ///< path; empty for a text in memory
  std::string format; ///< `kineto`
  std::string tool;   ///< `PyTorch Profiler`
  std::string device; ///< `Tesla V100-SXM2-32GB`; empty if not recorded
  int64_t devices = 0;
  /// Of a process that trains together with others: its number, and how many
  /// they are.
  std::optional<int64_t> rank;
  int64_t ranks = 1;
  std::optional<int64_t> sms;
  std::string capability; ///< of CUDA, `8.0`; empty if unknown
  int64_t dies = 1;       ///< XCDs of an Instinct; each counts cycles

  Names names;
  std::vector<Thread> threads;
  // Deques: there may be millions of events, which a vector would copy as it
  // grows.
  std::deque<HostEvent> host;
  std::deque<DeviceEvent> kernels;
  std::vector<CountedKernel> counted; ///< in order of launch
  std::vector<Counter> counters;
  std::vector<Sample> samples; ///< in order of time
  std::deque<Allocation> allocations;
  std::vector<Count> counts;
  int64_t countedSteps = 1; ///< number of steps that `counts` are summed over

  std::vector<Inputs> inputs = {Inputs()};    ///< the first is empty
  std::vector<Extents> extents = {Extents()}; ///< the first is unknown
  std::vector<Slice> tensors;                 ///< each a range in `sizes`
  std::vector<int64_t> sizes;
  std::vector<Name> words;

  uint64_t read = 0;   ///< number of events in the file
  uint64_t broken = 0; ///< events without a time, or with one out of range
  uint64_t brokenCounters = 0; ///< counters with impossible values
  uint64_t shapesAdded = 0;    ///< ops with shapes from an execution trace
  std::map<std::string, uint64_t>
      dropped; ///< events that are not stored, by category
  bool hasShapes = false, hasSequence = false, hasModules = false;
  /// False for an execution trace, whose ops nest but have no durations.
  bool hasTimes = true;
  /// Where the file breaks off, in bytes of the decompressed text. None if it
  /// is complete.
  std::optional<uint64_t> cutAt;
  /// Why it breaks off.
  std::string cutBy;
  /// The number of places that were read although they are not JSON, and the
  /// first of them, in bytes of the decompressed text.
  uint64_t mended = 0;
  std::optional<uint64_t> mendedAt;

  const Extents &extentsOf(const DeviceEvent &event) const {
    return extents[event.extents];
  }
  const Inputs &inputsOf(const HostEvent &event) const {
    return inputs[event.inputs];
  }
  llvm::ArrayRef<int64_t> shape(const HostEvent &event,
                                unsigned argument) const {
    return tensor(inputsOf(event).shapes, argument);
  }
  llvm::ArrayRef<int64_t> strides(const HostEvent &event,
                                  unsigned argument) const {
    return tensor(inputsOf(event).strides, argument);
  }
  llvm::StringRef value(const HostEvent &event, unsigned argument) const {
    return word(inputsOf(event).values, argument);
  }
  llvm::StringRef type(const HostEvent &event, unsigned argument) const {
    return word(inputsOf(event).types, argument);
  }
  /// Whether an event has times, and sums and differences of all times so far
  /// fit in 64 bits. Otherwise counts the event as broken.
  bool takesTimes(std::optional<int64_t> start,
                  std::optional<int64_t> duration) {
    constexpr int64_t most = int64_t(1) << 61;
    if (!start || !duration || *start <= -most || *start >= 2 * most ||
        *duration < 0 || *duration > most - allDurations) {
      ++broken;
      return false;
    }
    allDurations += *duration;
    return true;
  }
  /// Whether a counter can have this value: no GPU counts below 0 or beyond 64
  /// bits. Otherwise counts the counter as broken.
  bool takesCounter(std::optional<double> value) {
    bool takes = value && *value >= 0 && *value < 0x1p64;
    brokenCounters += !takes;
    return takes;
  }
  /// The value of a kernel's counter; none if it was not counted.
  std::optional<double> counter(Slice slice, llvm::StringRef metric) const {
    for (const Counter &counter :
         llvm::ArrayRef(counters).slice(slice.begin, slice.size))
      if (names[counter.metric] == metric)
        return counter.value;
    return std::nullopt;
  }
  /// Store lists of shapes or words, by argument, and return where they are.
  /// Equal lists are stored once.
  Slice addShapes(llvm::ArrayRef<std::vector<int64_t>> shapes);
  Slice addWords(llvm::ArrayRef<std::string> texts);
  /// Return the index in `inputs` or `extents`. Equal ones are stored once.
  uint32_t addInputs(const Inputs &added);
  uint32_t addExtents(const Extents &added);
  bool isEmpty() const {
    return host.empty() && kernels.empty() && counted.empty() && counts.empty();
  }

private:
  llvm::ArrayRef<int64_t> tensor(Slice list, unsigned argument) const {
    if (argument >= list.size)
      return {};
    Slice slice = tensors[list.begin + argument];
    return llvm::ArrayRef(sizes).slice(slice.begin, slice.size);
  }
  llvm::StringRef word(Slice list, unsigned argument) const {
    return argument < list.size ? names[words[list.begin + argument]] : "";
  }

  int64_t allDurations = 0;
  llvm::StringMap<Slice> knownShapes, knownWords; ///< by their bytes
  llvm::StringMap<uint32_t> knownInputs, knownExtents;
};

} // namespace netc::trace

#endif // NETC_LIB_TRACE_TRACE_H
