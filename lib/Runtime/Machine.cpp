// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Machine.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Recorder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <set>
#ifdef __x86_64__
#include <cpuid.h>
#endif

using namespace netc::program;
using namespace netc::runtime;

static std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The number of processors of a control group's limit such as "200000 100000"
/// or "max 100000".
static int quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double time, period;
  if (file >> time >> period && period > 0)
    return std::max(int(std::ceil(time / period)), 1);
  return 1 << 16;
}

Machine Machine::detect() {
  Machine machine;
  machine.cpu = "unknown";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.rfind("model name", 0) == 0) {
      machine.cpu = line.substr(line.find(':') + 2);
      break;
    }

  std::set<std::string> cores;
  cpu_set_t allowed;
  if (!sched_getaffinity(0, sizeof allowed, &allowed))
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &allowed)) {
        std::string cpu = "/sys/devices/system/cpu/cpu" + std::to_string(i);
        std::string core = firstLine(cpu + "/topology/thread_siblings_list");
        cores.insert(core.empty() ? std::to_string(i) : core);
      }
  machine.cores = std::max(int(cores.size()), 1);
  machine.threads = std::min(machine.cores, quota());

  machine.isas = {Isa::Baseline};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    machine.isas.push_back(Isa::AVX2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    machine.isas.push_back(Isa::AVX512);
  if (machine.isas.back() == Isa::AVX512 &&
      __builtin_cpu_supports("avx512bf16"))
    machine.isas.push_back(Isa::AVX512BF16);
#endif
  return machine;
}

void netc::runtime::checkIsa(const std::string &needed,
                             const Machine &machine) {
  std::optional<Isa> isa = isaNamed(needed);
  if (isa && std::find(machine.isas.begin(), machine.isas.end(), *isa) ==
                 machine.isas.end())
    throw Failure(3, "this program is compiled for " + needed + "; this CPU, " +
                         machine.cpu + ", does not have it");
}

/// Measures the clock by a chain of dependent multiplications, which take three
/// cycles each on every x86-64 core since 2008. Each try is so short that other
/// programs interrupt only some of them.
static double measureClock() {
  double best = 0;
#ifdef __x86_64__
  const int64_t count = 20000;
  for (int trial = 0; trial < 50; ++trial) {
    uint64_t x = 3;
    int64_t start = now();
    for (int64_t i = 0; i < count; ++i)
      asm volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
                   : "+r"(x));
    best = std::max(best, double(count) * 4 * 3 / double(now() - start) * 1e9);
  }
#endif
  return best;
}

Clock netc::runtime::detectClock() {
  double measured = measureClock();
  double kilohertz = std::atof(
      firstLine("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
          .c_str());
  if (kilohertz > 0)
    return {kilohertz * 1e3, "cpufreq", measured};
  return {measured, measured > 0 ? "measured" : "unknown", measured};
}

void Clock::raise(const Clock &again) {
  hertz = std::max(hertz, again.hertz);
  measured = std::max(measured, again.measured);
}

VectorUnits netc::runtime::vectorUnits(Isa isa) {
  if (isa == Isa::Baseline)
    return {8, "one adder and one multiplier of 128 bits a core"};
  int units = 2, width = isa >= Isa::AVX512 ? 512 : 256;
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  char vendor[13] = {};
  __get_cpuid(0, &a, &b, &c, &d);
  std::memcpy(vendor, &b, 4);
  std::memcpy(vendor + 4, &d, 4);
  std::memcpy(vendor + 8, &c, 4);
  __get_cpuid(1, &a, &b, &c, &d);
  unsigned family = (a >> 8 & 15) + (a >> 20 & 255);
  unsigned model = (a >> 4 & 15) + (a >> 12 & 0xf0);
  // Zen and Zen+ split 256-bit operations in two, Zen 4 splits 512-bit ones.
  bool amd = !std::strcmp(vendor, "AuthenticAMD");
  if (amd && ((isa == Isa::AVX2 && family == 0x17 && model < 0x30) ||
              (isa >= Isa::AVX512 && family == 0x19)))
    width /= 2;
#endif
  return {units * width / 32 * 2, std::to_string(units) + " FMA units of " +
                                      std::to_string(width) + " bits a core"};
}
