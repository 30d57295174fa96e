// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Telemetry.h"

#include <algorithm>
#include <chrono>
#include <utility>

using namespace netc::runtime;

static const std::chrono::milliseconds period(50);
/// The samples of a second.
static const size_t samplesForPower = 20;

std::string Telemetry::slowdownNames() const {
  std::string names;
  for (auto [reasons, name] :
       {std::pair<uint64_t, const char *>{PowerCap, "power cap"},
        {Thermal, "thermal"},
        {PowerBrake, "power brake"}})
    if (slowdowns & reasons)
      names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

std::string Telemetry::whyNotComparable() const {
  if (otherProcesses)
    return "another process computes on the GPU";
  if (slowdowns & Thermal)
    return "the GPU lowers its clock since it is too hot";
  return "";
}

static double mean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / double(values.size());
}
static double lowest(const std::vector<double> &values) {
  return *std::min_element(values.begin(), values.end());
}
static double highest(const std::vector<double> &values) {
  return *std::max_element(values.begin(), values.end());
}
static double growth(const std::vector<double> &values) {
  return values.back() - values.front();
}

Telemetry Telemetry::of(const std::vector<DeviceState> &states) {
  Telemetry telemetry;
  telemetry.samples = states.size();
  auto set = [&](std::optional<double> &to,
                 std::optional<double> DeviceState::*member, auto reduce) {
    std::vector<double> values;
    for (const DeviceState &state : states)
      if (const std::optional<double> &value = state.*member)
        values.push_back(*value);
    if (!values.empty())
      to = reduce(values);
  };
  set(telemetry.hertz, &DeviceState::hertz, mean);
  set(telemetry.lowestHertz, &DeviceState::hertz, lowest);
  set(telemetry.memoryHertz, &DeviceState::memoryHertz, mean);
  set(telemetry.highestCelsius, &DeviceState::celsius, highest);
  if (states.size() >= samplesForPower) {
    set(telemetry.watts, &DeviceState::watts, mean);
    set(telemetry.highestWatts, &DeviceState::watts, highest);
    set(telemetry.joules, &DeviceState::joules, growth);
  }
  for (const DeviceState &state : states) {
    telemetry.slowdowns |= state.slowdowns;
    telemetry.otherProcesses =
        std::max(telemetry.otherProcesses, state.processes - 1);
  }
  return telemetry;
}

Sampler::Sampler(const std::string &busId) : nvml(busId) {
  if (!nvml.lack().empty())
    return;
  thread = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex);
    while (!changed.wait_for(lock, period, [this] { return isEnding; }))
      states.push_back(nvml.state());
  });
}

Sampler::~Sampler() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isEnding = true;
  }
  changed.notify_one();
  if (thread.joinable())
    thread.join();
}

size_t Sampler::sample() {
  std::lock_guard<std::mutex> lock(mutex);
  if (nvml.lack().empty())
    states.push_back(nvml.state());
  return states.size() - nvml.lack().empty();
}

Telemetry Sampler::since(size_t first) {
  std::lock_guard<std::mutex> lock(mutex);
  Telemetry telemetry =
      Telemetry::of({states.begin() + ptrdiff_t(first), states.end()});
  telemetry.lack = nvml.lack();
  return telemetry;
}
