// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/netc-verify/JitStep.h"
#include "tools/netc-verify/SimulatedDevice.h"

#include "lib/Runtime/CudaDevice.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/HostDevice.h"
#include "lib/Runtime/Initialize.h"
#include "lib/Target/ObjectCode.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace netc;
using program::Role;
using program::Slot;

static void ignoreRecord(int64_t) {}

/// The perturbation of the running step.
static Perturbation *perturbation;

static double perturbed(double value, double unit, double least) {
  return (*perturbation)(value, unit, least);
}

llvm::Expected<JitStep> JitStep::load(CompiledStep compiled,
                                      const std::string &driver) {
  JitStep loaded;
  loaded.description = std::move(compiled.program);
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  loaded.jit = std::move(*jit);
  llvm::orc::JITDylib &library = loaded.jit->getMainJITDylib();
  char prefix = loaded.jit->getDataLayout().getGlobalPrefix();
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (llvm::Error error = library.define(llvm::orc::absoluteSymbols(
          {{loaded.jit->mangleAndIntern("netc_record"),
            {llvm::orc::ExecutorAddr::fromPtr(&ignoreRecord),
             llvm::JITSymbolFlags::Exported}},
           {loaded.jit->mangleAndIntern("netc_launch"),
            {llvm::orc::ExecutorAddr::fromPtr(&runtime::Device::launch),
             llvm::JITSymbolFlags::Exported}},
           {loaded.jit->mangleAndIntern("netc_perturb"),
            {llvm::orc::ExecutorAddr::fromPtr(&perturbed),
             llvm::JITSymbolFlags::Exported}},
           // A step that is run here needs no execution.
           {loaded.jit->mangleAndIntern(
                executionOf(loaded.description.target.kind)),
            {llvm::orc::ExecutorAddr(), llvm::JITSymbolFlags::Exported}}})))
    return error;
  if (llvm::Error error =
          loaded.jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
              llvm::StringRef(compiled.object.data(), compiled.object.size()))))
    return error;
  auto step = loaded.jit->lookup("netc_step");
  if (!step)
    return step.takeError();
  auto function = step->toPtr<void (*)(char *)>();
  if (llvm::Error error = loaded.makeDevice(function, driver))
    return error;
  return loaded;
}

llvm::Error JitStep::makeDevice(void (*step)(char *),
                                const std::string &driver) {
  switch (description.target.kind) {
  case program::TargetKind::Cpu:
    break;
  case program::TargetKind::Cuda:
    auto code = jit->lookup("netc_device_code");
    if (!code)
      return code.takeError();
    const char *text = code->toPtr<const char *>();
    return driver.empty() ? makeSimulatedDevice(step, text)
                          : makeCudaDevice(step, text, driver);
  }
  return makeHostDevice(step);
}

llvm::Error JitStep::makeHostDevice(void (*step)(char *)) try {
  int64_t *executed = nullptr;
  if (description.counted) {
    auto counts = jit->lookup("netc_counts");
    if (!counts)
      return counts.takeError();
    executed = counts->toPtr<int64_t *>();
  }
  device = std::make_unique<runtime::HostDevice>(description, step, executed);
  return llvm::Error::success();
} catch (const runtime::Failure &failure) {
  return llvm::createStringError(failure.what());
}

llvm::Error JitStep::makeSimulatedDevice(void (*step)(char *),
                                         const char *code) try {
  auto made = std::make_unique<SimulatedDevice>(description, step, code);
  simulator = made.get();
  device = std::move(made);
  return llvm::Error::success();
} catch (const simulator::PtxError &error) {
  return llvm::createStringError(error.what());
}

llvm::Error JitStep::makeCudaDevice(void (*step)(char *), const char *code,
                                    const std::string &driver) try {
  device =
      std::make_unique<runtime::CudaDevice>(description, step, code, driver);
  return llvm::Error::success();
} catch (const runtime::Failure &failure) {
  return llvm::createStringError(failure.what());
}

/// Calls `visit` with a pointer to the elements, in their type.
template <typename Visit>
static void visitElements(const Slot &slot, char *data, Visit visit) {
  program::visitType(slot.element, [&](auto element) {
    visit(reinterpret_cast<decltype(element) *>(data));
  });
}

/// Replaces about half of the numbers by values that no data should have.
static void spoil(const Slot &slot, std::mt19937_64 &random, char *rows) {
  visitElements(slot, rows, [&](auto *elements) {
    using Number = std::remove_pointer_t<decltype(elements)>;
    for (int64_t i = 0; i < slot.count(); ++i) {
      Number &number = elements[i];
      if constexpr (!std::is_integral_v<Number>) {
        using Limits = std::numeric_limits<double>;
        double largest = program::largestOf(number);
        Number others[] = {
            Number(Limits::quiet_NaN()), Number(Limits::infinity()),
            Number(-Limits::infinity()), Number(largest), Number(-largest)};
        if (uint64_t choice = random() % 10; choice < std::size(others))
          number = others[choice];
      } else {
        using Limits = std::numeric_limits<Number>;
        // The nearest one out of range, and the farthest.
        auto narrowed = [](uint64_t any) { return static_cast<Number>(any); };
        Number others[] = {narrowed(~uint64_t(number)),
                           narrowed(uint64_t(number) + slot.upperBound),
                           Limits::max(), Limits::min(), narrowed(random())};
        if (uint64_t choice = random() % 10; choice < std::size(others))
          number = others[choice];
      }
    }
  });
}

void JitStep::reset(uint64_t newSeed, Data data) {
  seed = newSeed;
  std::mt19937_64 random(seed);
  for (const Slot &slot : description.slots) {
    std::vector<char> rows(slot.bytes());
    if (slot.role == Role::Parameter || slot.role == Role::State)
      runtime::initialize(slot, seed, rows.data());
    else if (slot.role == Role::Input)
      runtime::synthesize(slot, seed, 0, rows.data());
    else
      continue;
    bool isInteger = slot.role == Role::Input && slot.upperBound != 0;
    if ((data != Data::Valid && isInteger) ||
        (data == Data::AnyNumbers && slot.role != Role::State))
      spoil(slot, random, rows.data());
    device->write(slot, rows.data());
  }
}

void JitStep::run(int64_t number) {
  for (const Slot &slot : description.slots) {
    if (slot.role == Role::Step)
      assign(slot, {double(number)});
    else if (slot.role == Role::Seed)
      assign(slot, {double(seed + number)});
  }
  perturbation = &errors;
  device->step(/*recorder=*/nullptr);
}

static std::vector<double> valuesOf(const Slot &slot, std::vector<char> rows) {
  std::vector<double> values;
  visitElements(slot, rows.data(), [&](auto *elements) {
    values.assign(elements, elements + slot.count());
  });
  return values;
}

simulator::Device *JitStep::simulated() const {
  return simulator ? &simulator->simulator() : nullptr;
}

double JitStep::loss() const {
  std::vector<double> ofParts = values(*description.loss());
  return std::accumulate(ofParts.begin(), ofParts.end(), 0.0) /
         double(ofParts.size());
}

std::vector<double> JitStep::values(const Slot &slot) const {
  return valuesOf(slot, device->read(slot));
}

std::vector<double> JitStep::values(const Slot &slot,
                                    const std::vector<char> &saved) {
  std::vector<char> rows(slot.bytes());
  slot.unpack(saved.data() + slot.offset, rows.data());
  return valuesOf(slot, std::move(rows));
}

void JitStep::assign(const Slot &slot, const std::vector<double> &values) {
  std::vector<char> rows(slot.bytes());
  visitElements(slot, rows.data(), [&](auto *elements) {
    llvm::transform(values, elements, [&](double value) {
      return static_cast<std::remove_pointer_t<decltype(elements)>>(value);
    });
  });
  device->write(slot, rows.data());
}

const Slot *JitStep::find(const Slot &slot) const {
  auto found = llvm::find_if(description.slots, [&](const Slot &s) {
    return s.role == slot.role && s.name == slot.name;
  });
  return found == description.slots.end() ? nullptr : &*found;
}

void JitStep::copyFrom(const JitStep &other) {
  for (const Slot &from : other.description.slots) {
    const Slot *to = find(from);
    if (!to)
      continue;
    if (to->element != from.element) {
      assign(*to, other.values(from));
      continue;
    }
    // A double cannot hold every integer: copy the bytes.
    device->write(*to, other.device->read(from).data());
  }
}

std::vector<char> JitStep::save() const {
  int64_t end = 0;
  for (const Slot &slot : description.slots)
    end = std::max(end, slot.offset + slot.bytes());
  std::vector<char> saved(end);
  device->download(0, saved.data(), end);
  return saved;
}

void JitStep::restore(const std::vector<char> &saved) {
  device->upload(0, saved.data(), int64_t(saved.size()));
}
