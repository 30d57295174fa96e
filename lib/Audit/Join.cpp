// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Join.h"

#include "lib/Audit/BandedAlignment.h"
#include "lib/Audit/OpenEvents.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;
using llvm::StringRef;

std::string netc::audit::kernelBaseName(StringRef name) {
  name.consume_front("void ");
  std::string base;
  int depth = 0;
  for (size_t at = 0; at < name.size(); ++at) {
    StringRef rest = name.substr(at);
    for (StringRef unnamed : {"(anonymous namespace)::", "<unnamed>::"})
      if (depth == 0 && rest.starts_with(unnamed)) {
        at += unnamed.size();
        rest = name.substr(at);
      }
    // Some tools truncate long names.
    if (rest.empty() || rest.starts_with("\u2026"))
      break;
    char c = rest.front();
    if (depth == 0 && c == '(')
      break;
    depth += c == '<';
    if (depth == 0)
      base += c;
    depth -= c == '>' && depth > 0;
  }
  return withoutFolders(StringRef(base).trim());
}

/// The base name without namespaces, of which Nsight Compute leaves some out.
static std::string unqualifiedName(StringRef name) {
  std::string base = kernelBaseName(name);
  size_t colons = base.rfind("::");
  return colons == base.npos ? base : base.substr(colons + 2);
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

/// Aligns sequences of n and m elements in order, with the largest sum of
/// likenesses, from 0 to 5. Elements of likeness 0 are never aligned.
static Pairs align(size_t n, size_t m,
                   llvm::function_ref<int(uint32_t, uint32_t)> likeness) {
  // An aligned pair costs less than two gaps, the more alike the less.
  constexpr int64_t gap = 3;
  BandedAlignment alignment(n, m, /*longest=*/1, gap);
  Pairs pairs;
  for (const Block &block :
       alignment.find([&](size_t i, size_t j, BandedAlignment::Offer offer) {
         // Of equal costs the first is taken: pairs stand as early as they can.
         if (j)
           offer(0, 1, gap, Confidence::None);
         if (i)
           offer(1, 0, gap, Confidence::None);
         if (i && j)
           if (int alike = likeness(i - 1, j - 1))
             offer(1, 1, 2 * gap - alike, Confidence::Exact);
       }))
    if (block.confidence != Confidence::None)
      pairs.push_back({block.i, block.j});
  return pairs;
}

//===----------------------------------------------------------------------===//
// Kernels in the order of their launches
//===----------------------------------------------------------------------===//

namespace {
constexpr uint32_t nobody = ~0u;

using BaseNames = OncePerName<std::string>;

/// A kernel in the order of launches.
struct Launched : Extents {
  uint32_t index;       ///< into Trace::kernels or Trace::counted
  uint32_t op = nobody; ///< the innermost op around its launch
  StringRef name;       ///< base name
};

/// The innermost op around each launch, as indices into Trace::host.
llvm::DenseMap<uint32_t, uint32_t> opsOfLaunches(const Trace &trace) {
  std::vector<uint32_t> order;
  for (auto [i, event] : llvm::enumerate(trace.host))
    if (event.kind == HostEvent::Op || event.kind == HostEvent::Launch)
      order.push_back(i);
  llvm::sort(order, [&](uint32_t i, uint32_t j) {
    const HostEvent &a = trace.host[i], &b = trace.host[j];
    return std::make_tuple(a.thread, a.start, -a.duration, a.kind, i) <
           std::make_tuple(b.thread, b.start, -b.duration, b.kind, j);
  });
  llvm::DenseMap<uint32_t, uint32_t> ops;
  OpenEvents open(trace);
  for (uint32_t i : order) {
    llvm::ArrayRef<uint32_t> around = open.around(trace.host[i]);
    if (trace.host[i].kind == HostEvent::Op)
      open.push(i);
    else if (!around.empty())
      ops[i] = around.back();
  }
  return ops;
}

std::vector<Launched> launchedOf(const Trace &trace,
                                 llvm::ArrayRef<uint32_t> kernels,
                                 BaseNames &names) {
  llvm::DenseMap<uint32_t, uint32_t> ops = opsOfLaunches(trace);
  const Launches launches(trace);
  std::vector<std::pair<int64_t, Launched>> byTime;
  for (uint32_t i : kernels) {
    const DeviceEvent &kernel = trace.kernels[i];
    if (kernel.kind != DeviceEvent::Kernel)
      continue;
    Launched launched{trace.extentsOf(kernel), i, nobody, names[kernel.name]};
    int64_t time = kernel.start;
    if (auto launch = launches.find(kernel.correlation)) {
      time = trace.host[*launch].start;
      if (auto op = ops.find(*launch); op != ops.end())
        launched.op = op->second;
    }
    byTime.push_back({time, std::move(launched)});
  }
  // Kernels of a CUDA graph share a launch, and keep the order of execution.
  llvm::sort(byTime, [&](auto &a, auto &b) {
    auto key = [&](auto &one) {
      uint32_t kernel = one.second.index;
      return std::make_tuple(one.first, trace.kernels[kernel].start, kernel);
    };
    return key(a) < key(b);
  });
  std::vector<Launched> result;
  for (auto &[time, launched] : byTime)
    result.push_back(std::move(launched));
  return result;
}

/// The counted kernels, with the ops around their launches if the trace has as
/// many launches as kernels.
std::vector<Launched> countedOf(const Trace &trace, BaseNames &names) {
  std::vector<uint32_t> launches = kernelLaunches(trace);
  llvm::DenseMap<uint32_t, uint32_t> ops;
  if (launches.size() == trace.counted.size())
    ops = opsOfLaunches(trace);
  std::vector<Launched> result;
  for (auto [i, kernel] : llvm::enumerate(trace.counted)) {
    Launched launched{kernel, uint32_t(i), nobody, names[kernel.name]};
    if (launches.size() == trace.counted.size())
      if (auto op = ops.find(launches[i]); op != ops.end())
        launched.op = op->second;
    result.push_back(std::move(launched));
  }
  return result;
}

/// 0 if the names differ, else 2 to 5, by whether names, grids and blocks are
/// equal. A truncated name may be a prefix of the other.
int likenessOf(const Launched &a, const Launched &b) {
  bool isCut = a.name.starts_with(b.name) || b.name.starts_with(a.name);
  if (!isCut || a.name.empty() || b.name.empty())
    return 0;
  int alike = a.name == b.name ? 3 : 2;
  return alike + (a.grid == b.grid) + (a.block == b.block);
}

/// Consecutive kernels of one op.
struct Group {
  uint32_t begin, end;
};

std::vector<Group> groupsOf(llvm::ArrayRef<Launched> launched) {
  std::vector<Group> groups;
  for (uint32_t i = 0; i < launched.size(); ++i)
    if (!groups.empty() && launched[i].op != nobody &&
        launched[i].op == launched[groups.back().begin].op)
      groups.back().end = i + 1;
    else
      groups.push_back({i, i + 1});
  return groups;
}
} // namespace

static bool hasOps(llvm::ArrayRef<Launched> launched) {
  return llvm::any_of(launched,
                      [](const Launched &one) { return one.op != nobody; });
}

std::vector<JoinedKernels>
netc::audit::joinKernels(const Trace &timeline,
                         llvm::ArrayRef<uint32_t> kernels,
                         const Trace &counters) {
  BaseNames names(timeline.names, unqualifiedName),
      otherNames(counters.names, unqualifiedName);
  std::vector<Launched> first = launchedOf(timeline, kernels, names),
                        second = countedOf(counters, otherNames);
  std::vector<JoinedKernels> joined;
  auto opOf = [](const Launched &one) {
    return one.op == nobody ? std::nullopt : std::optional(one.op);
  };
  // Joins kernels of two groups one by one. Returns those that are left.
  auto joinParts = [&](Group a, Group b) {
    JoinedKernels rest;
    std::vector<bool> isFirst(a.end - a.begin), isSecond(b.end - b.begin);
    for (auto [i, j] :
         align(a.end - a.begin, b.end - b.begin, [&](uint32_t i, uint32_t j) {
           return likenessOf(first[a.begin + i], second[b.begin + j]);
         })) {
      const Launched &kernel = first[a.begin + i];
      joined.push_back(
          {{kernel.index}, {second[b.begin + j].index}, opOf(kernel)});
      isFirst[i] = isSecond[j] = true;
    }
    for (uint32_t i = 0; i < isFirst.size(); ++i)
      if (!isFirst[i])
        rest.kernels.push_back(first[a.begin + i].index);
    for (uint32_t j = 0; j < isSecond.size(); ++j)
      if (!isSecond[j])
        rest.counted.push_back(second[b.begin + j].index);
    return rest;
  };
  if (!hasOps(first) || !hasOps(second)) {
    joinParts({0, uint32_t(first.size())}, {0, uint32_t(second.size())});
    return joined;
  }
  std::vector<Group> ops = groupsOf(first), others = groupsOf(second);
  auto likenessOfOps = [&](uint32_t i, uint32_t j) {
    const Launched &a = first[ops[i].begin], &b = second[others[j].begin];
    // Kernels without an op are compared by name.
    if (a.op == nobody || b.op == nobody)
      return a.op == b.op ? likenessOf(a, b) : 0;
    const HostEvent &op = timeline.host[a.op], &other = counters.host[b.op];
    if (timeline.names[op.name] != counters.names[other.name])
      return 0;
    uint32_t operands = timeline.inputsOf(op).shapes.size;
    bool isSameShape = operands == counters.inputsOf(other).shapes.size;
    for (unsigned k = 0; isSameShape && k < operands; ++k)
      isSameShape = timeline.shape(op, k) == counters.shape(other, k);
    return 2 + int(isSameShape);
  };
  for (auto [i, j] : align(ops.size(), others.size(), likenessOfOps)) {
    JoinedKernels rest = joinParts(ops[i], others[j]);
    if (rest.kernels.empty() || rest.counted.empty())
      continue;
    rest.op = opOf(first[ops[i].begin]);
    joined.push_back(std::move(rest));
  }
  return joined;
}
