// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Simulator/Launch.h"
#include "lib/Simulator/ParsePtx.h"
#include "lib/Simulator/Simulator.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

using namespace netc::simulator;

std::string netc::simulator::toString(const Finding &finding) {
  return finding.kind + " in " + finding.kernel + ", line " +
         std::to_string(finding.line) + " (" + std::to_string(finding.times) +
         (finding.times == 1 ? " time): " : " times): ") + finding.text;
}

Device::Device()
    : memory(std::make_unique<Memory>()),
      shared(std::make_unique<TrackedBytes>(0)) {}
Device::~Device() = default;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t Device::allocate(uint64_t bytes) { return memory->allocate(bytes); }
void Device::release(uint64_t address) { memory->release(address); }

static TrackedBytes &findIn(Memory &memory, uint64_t address, uint64_t bytes,
                            uint64_t &at) {
  if (TrackedBytes *found = memory.find(address, bytes, at))
    return *found;
  throw std::out_of_range("there is no memory of " + std::to_string(bytes) +
                          " bytes at " + std::to_string(address));
}

void Device::write(uint64_t address, const void *from, uint64_t bytes) {
  uint64_t at;
  TrackedBytes &to = findIn(*memory, address, bytes, at);
  std::memcpy(to.data() + at, from, bytes);
  to.mark(at, bytes, true);
}

void Device::read(uint64_t address, void *to, uint64_t bytes) const {
  uint64_t at;
  std::memcpy(to, findIn(*memory, address, bytes, at).data() + at, bytes);
}

void Device::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  uint64_t at;
  TrackedBytes &to = findIn(*memory, address, bytes, at);
  std::memset(to.data() + at, value, bytes);
  to.mark(at, bytes, true);
}

void Device::forget(uint64_t address, uint64_t bytes) {
  uint64_t at;
  TrackedBytes &to = findIn(*memory, address, bytes, at);
  // The bits of NaN, which sums propagate.
  std::memset(to.data() + at, 0xff, bytes);
  to.mark(at, bytes, false);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Assigns addresses to the shared variables that a kernel uses. Returns the
/// total size of those with a fixed size; dynamic shared memory follows.
static uint32_t placeShared(const ParsedModule &parsed, ParsedKernel &kernel) {
  std::set<std::string> named;
  for (const Statement &statement : kernel.statements)
    for (const Token &token : statement.operands)
      if (parsed.shared.count(token.text))
        named.insert(token.text);
  uint64_t end = 0;
  for (bool isSized : {true, false})
    for (const std::string &name : named) {
      const SharedVariable &variable = parsed.shared.at(name);
      if ((variable.bytes != 0) != isSized)
        continue;
      end = (end + variable.alignment - 1) / variable.alignment *
            variable.alignment;
      kernel.names.shared[name] = end;
      end += variable.bytes;
    }
  return uint32_t(end);
}

void Device::load(const std::string &ptx) {
  ParsedModule parsed = parsePtx(ptx);
  std::unordered_map<std::string, uint64_t> globals;
  for (const Variable &variable : parsed.variables) {
    uint64_t address = allocate(variable.bytes);
    fill(address, 0, variable.bytes);
    write(address, variable.init.data(), variable.init.size());
    variables[variable.name] = {address, variable.bytes};
    globals[variable.name] = address;
  }
  for (ParsedKernel &from : parsed.kernels) {
    auto kernel = std::make_unique<Kernel>();
    kernel->name = from.name;
    kernel->parameters = from.parameters;
    kernel->parameterBytes = from.parameterBytes;
    kernel->localBytes = from.localBytes;
    kernel->sharedBytes = placeShared(parsed, from);
    from.names.globals = globals;
    Draft draft;
    draft.registers = std::move(from.registers);
    for (const Statement &statement : from.statements)
      decode(statement, *kernel, draft, from.names);
    // Code that ends without `ret` ends its threads.
    Instruction end;
    end.control = Instruction::Return;
    kernel->code.push_back(end);
    kernel->sources.emplace_back();
    draft.operands.emplace_back();
    markAccumulators(*kernel, draft);
    placeRegisters(*kernel, draft);
    kernel->patterns.resize(kernel->accesses);
    kernels[from.name] = std::move(kernel);
  }
}

std::map<std::string, Counters> Device::countersByKernel() const {
  std::map<std::string, Counters> counters;
  for (const auto &[name, kernel] : kernels)
    if (kernel->counted.launches)
      counters.emplace(name, kernel->counted);
  return counters;
}

bool Device::hasKernel(const std::string &name) const {
  return kernels.count(name) != 0;
}

std::vector<uint32_t> Device::parametersOf(const std::string &kernel) const {
  std::vector<uint32_t> bytes;
  for (auto [size, start] : kernels.at(kernel)->parameters)
    bytes.push_back(size);
  return bytes;
}

std::pair<uint64_t, uint64_t> Device::variable(const std::string &name) const {
  return variables.at(name);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The numbers 0 to `count` - 1 in the given order.
static std::vector<uint32_t> numbers(uint64_t count, Order order,
                                     uint64_t salt) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  if (order.kind == Order::Backward)
    std::reverse(numbers.begin(), numbers.end());
  else if (order.kind == Order::Shuffled) {
    // std::shuffle depends on the standard library.
    std::mt19937_64 random(order.seed * 0x9e3779b97f4a7c15u + salt);
    for (size_t i = numbers.size(); i > 1; --i)
      std::swap(numbers[i - 1], numbers[random() % i]);
  }
  return numbers;
}

void Device::launch(const std::string &name, Extent grid, Extent block,
                    uint32_t sharedBytes, const void *const *arguments) {
  Kernel &kernel = *kernels.at(name);
  std::vector<char> parameters(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(parameters.data() + kernel.parameters[i].second, arguments[i],
                kernel.parameters[i].first);
  // Restart the clock before it overflows.
  if (now > 1 << 30) {
    memory->clearAccesses();
    shared->clearAccesses();
    now = 0;
  }
  uint64_t salt = counted.launches + 1;
  auto run = [&](bool isExact) {
    Launch launch(*this, kernel, grid, block, sharedBytes, parameters, isExact);
    launch.counted.launches = 1;
    uint64_t warps = (block.count() + kLanes - 1) / kLanes;
    std::vector<uint32_t> ofWarps = numbers(warps, order, salt);
    for (uint32_t number : numbers(grid.count(), order, salt)) {
      if (order.kind == Order::Shuffled && warps > 1)
        ofWarps = numbers(warps, order, number);
      launch.run(number, ofWarps);
    }
    launch.finish();
    counted.add(launch.counted);
    kernel.counted.add(launch.counted);
  };
  if (!kernel.isSuspect) {
    try {
      run(/*isExact=*/false);
      memory->accept();
      return;
    } catch (const Suspicion &) {
      memory->undo();
      kernel.isSuspect = true;
    }
  }
  run(/*isExact=*/true);
}

void Counters::add(const Counters &more) {
  launches += more.launches;
  instructions += more.instructions;
  flop += more.flop;
  tensorFlop += more.tensorFlop;
  sectors += more.sectors;
  idealSectors += more.idealSectors;
  wavefronts += more.wavefronts;
  idealWavefronts += more.idealWavefronts;
  barriers += more.barriers;
  divergences += more.divergences;
}

void Device::report(const std::string &kind, const Kernel &kernel,
                    const Source &source) {
  for (Finding &finding : found)
    if (finding.kind == kind && finding.kernel == kernel.name &&
        finding.line == source.line) {
      ++finding.times;
      return;
    }
  found.push_back({kind, kernel.name, source.line, source.text, 1});
}
