// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_TRACE_H
#define NETC_LIB_TRACE_TRACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace netc::trace {

/// A text of a trace; equal texts have one number. 0 is the empty one.
using Name = uint32_t;

/// Texts, each kept once.
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

/// A part of an array that many share.
struct Slice {
  uint32_t begin = 0, size = 0;
};

/// What ran on a host thread, from `start` for `duration` nanoseconds.
struct HostEvent {
  enum Kind : uint8_t {
    Op,         ///< `aten::addmm`, or a node of autograd
    Annotation, ///< `ProfilerStep#3`, an optimizer's step, a range of the user
    Module,     ///< `Linear_2`, of an `nn.Module` event
    Launch      ///< a call that starts work of a device
  };
  Kind kind = Op;
  Name name = 0;
  uint32_t thread = 0; ///< of Trace::threads
  int64_t start = 0, duration = 0;
  int64_t sequence = -1;    ///< of autograd; -1 without
  int64_t external = -1;    ///< by which kernels name their op
  int64_t correlation = -1; ///< of a launch
  Slice shapes;             ///< of Trace::tensors, by argument
  Slice types;              ///< of Trace::words, by argument
  Slice values;             ///< of Trace::words: `[2, 2]`, `True`

  int64_t end() const { return start + duration; }
};

/// What ran on a device.
struct DeviceEvent {
  enum Kind : uint8_t { Kernel, Copy, Set };
  Kind kind = Kernel;
  Name name = 0;
  int64_t start = 0, duration = 0;
  int64_t correlation = -1, external = -1;
  int32_t device = 0, stream = 0;
  std::array<int64_t, 3> grid = {0, 0, 0}, block = {0, 0, 0};
  /// Of the profiler's estimate; below 0 where it gave none.
  float blocksPerSm = -1, occupancy = -1;

  int64_t end() const { return start + duration; }
};

struct Thread {
  std::string process, thread;
};

/// One file of a profiler.
struct Trace {
  std::string tool;   ///< `PyTorch Profiler`
  std::string device; ///< `Tesla V100-SXM2-32GB`; empty if not said
  int64_t devices = 0;
  std::optional<int64_t> sms;

  Names names;
  std::vector<Thread> threads;
  std::vector<HostEvent> host;
  std::vector<DeviceEvent> kernels;

  std::vector<Slice> tensors; ///< each a part of `sizes`
  std::vector<int64_t> sizes;
  std::vector<Name> words;

  uint64_t read = 0;   ///< events
  uint64_t broken = 0; ///< of these, without a time or with one out of range
  std::map<std::string, uint64_t> dropped; ///< events not kept, by category
  bool hasShapes = false, hasSequence = false, hasModules = false;
  /// Set where the file ends early or is broken: all in front of it was read.
  std::optional<uint64_t> cutAt; ///< byte, of the unpacked text
  std::string cutBy;

  llvm::ArrayRef<int64_t> shape(const HostEvent &event,
                                unsigned argument) const {
    if (argument >= event.shapes.size)
      return {};
    Slice slice = tensors[event.shapes.begin + argument];
    return llvm::ArrayRef(sizes).slice(slice.begin, slice.size);
  }
  llvm::StringRef value(const HostEvent &event, unsigned argument) const {
    return argument < event.values.size
               ? names[words[event.values.begin + argument]]
               : "";
  }
  llvm::StringRef type(const HostEvent &event, unsigned argument) const {
    return argument < event.types.size
               ? names[words[event.types.begin + argument]]
               : "";
  }
  bool isEmpty() const { return host.empty() && kernels.empty(); }
};

} // namespace netc::trace

#endif // NETC_LIB_TRACE_TRACE_H
