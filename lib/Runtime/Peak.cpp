// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Peak.h"
#include "lib/Runtime/Arena.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/Recorder.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>
#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace netc::program;
using namespace netc::runtime;

/// Nanoseconds for measuring one figure. The best try counts.
static const int64_t tryingTime = 150'000'000;
/// Nanoseconds for measuring one level of caches.
static const int64_t cacheTime = 40'000'000;
/// The largest number of windows in which peaks are measured.
static const int maxWindows = 6;

/// Four floats: every machine has vector registers of this size.
typedef float Vector __attribute__((vector_size(16), may_alias));

/// Runs work(t) on thread t. Returns the seconds from when all threads are
/// ready until the last one ends.
template <typename Work> static double onThreads(int threads, Work work) {
  std::atomic<int> missing(threads);
  std::vector<int64_t> starts(size_t(threads), 0), ends(size_t(threads), 0);
  auto body = [&](int t) {
    --missing;
    while (missing > 0)
      std::this_thread::yield();
    starts[size_t(t)] = now();
    work(t);
    ends[size_t(t)] = now();
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back(body, t);
  body(0);
  for (std::thread &other : others)
    other.join();
  return double(*std::max_element(ends.begin(), ends.end()) -
                *std::min_element(starts.begin(), starts.end())) *
         1e-9;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// An opaque statement ends each iteration, so that the compiler neither merges
// nor drops iterations. There must be more independent accumulators than the
// latency of an FMA (4 or 5 cycles) times the number of units (2), and they
// must fit into 16 registers. Sums converge to 1, without overflow or
// subnormals.
static const int chains = 12;
static const float factor = 0.5f, summand = 0.5f;

namespace {
struct PeakKernel {
  void (*run)(int64_t iterations);
  double flop; ///< per iteration
  /// On `count` elements, whose size is a multiple of triadBytes.
  void (*triad)(float *to, const float *from, const float *other,
                int64_t count);
};
} // namespace
static const int64_t triadBytes = 256;

#ifdef __x86_64__
[[gnu::target("avx512f")]] static void runAvx512(int64_t iterations) {
  __m512 sums[chains], a = _mm512_set1_ps(factor), b = _mm512_set1_ps(summand);
#pragma GCC unroll 12
  for (__m512 &sum : sums)
    sum = b;
  for (int64_t i = 0; i < iterations; ++i)
#pragma GCC unroll 12
    for (int chain = 0; chain < chains; ++chain) {
      sums[chain] = _mm512_fmadd_ps(sums[chain], a, b);
      asm volatile("" : "+v"(sums[chain]));
    }
}

/// Runs vdpbf16ps, which does two multiply-adds per f32 element.
[[gnu::target("avx512f,avx512bf16")]] static void runPairs(int64_t iterations) {
  __m512 sums[chains];
  auto half = (__m512bh)_mm512_set1_epi16(0x3f00);
#pragma GCC unroll 12
  for (__m512 &sum : sums)
    sum = _mm512_setzero_ps();
  for (int64_t i = 0; i < iterations; ++i)
#pragma GCC unroll 12
    for (int chain = 0; chain < chains; ++chain) {
      sums[chain] = _mm512_dpbf16_ps(sums[chain], half, half);
      asm volatile("" : "+v"(sums[chain]));
    }
}

[[gnu::target("avx512f")]] static void
triadAvx512(float *to, const float *from, const float *other, int64_t count) {
  __m512 scale = _mm512_set1_ps(3);
#pragma GCC unroll 4
  for (int64_t i = 0; i < count; i += 16)
    _mm512_store_ps(to + i, _mm512_fmadd_ps(scale, _mm512_load_ps(other + i),
                                            _mm512_load_ps(from + i)));
  asm volatile("" : : "r"(to) : "memory");
}

[[gnu::target("avx2,fma")]] static void runAvx2(int64_t iterations) {
  __m256 sums[chains], a = _mm256_set1_ps(factor), b = _mm256_set1_ps(summand);
#pragma GCC unroll 12
  for (__m256 &sum : sums)
    sum = b;
  for (int64_t i = 0; i < iterations; ++i)
#pragma GCC unroll 12
    for (int chain = 0; chain < chains; ++chain) {
      sums[chain] = _mm256_fmadd_ps(sums[chain], a, b);
      asm volatile("" : "+x"(sums[chain]));
    }
}

[[gnu::target("avx2,fma")]] static void
triadAvx2(float *to, const float *from, const float *other, int64_t count) {
  __m256 scale = _mm256_set1_ps(3);
#pragma GCC unroll 4
  for (int64_t i = 0; i < count; i += 8)
    _mm256_store_ps(to + i, _mm256_fmadd_ps(scale, _mm256_load_ps(other + i),
                                            _mm256_load_ps(from + i)));
  asm volatile("" : : "r"(to) : "memory");
}
#endif

/// Runs on every machine. Half of the chains add, the others multiply.
static void runBaseline(int64_t iterations) {
  Vector values[chains], one = {1, 1, 1, 1}, zero = {};
#pragma GCC unroll 12
  for (Vector &value : values)
    value = one;
  for (int64_t i = 0; i < iterations; ++i)
#pragma GCC unroll 12
    for (int chain = 0; chain < chains; ++chain) {
      values[chain] = chain % 2 ? values[chain] + zero : values[chain] * one;
#ifdef __x86_64__
      asm volatile("" : "+x"(values[chain]));
#else
      asm volatile("" : "+w"(values[chain]));
#endif
    }
}

static void triadBaseline(float *to, const float *from, const float *other,
                          int64_t count) {
  auto at = [](auto *place) { return reinterpret_cast<const Vector *>(place); };
#pragma GCC unroll 4
  for (int64_t i = 0; i < count; i += 4)
    *reinterpret_cast<Vector *>(to + i) = *at(from + i) + 3 * *at(other + i);
  asm volatile("" : : "r"(to) : "memory");
}

static PeakKernel kernelFor(Isa isa) {
#ifdef __x86_64__
  if (isa >= Isa::AVX512) // f32, even if there are products of bf16
    return {runAvx512, chains * 16 * 2.0, triadAvx512};
  if (isa == Isa::AVX2)
    return {runAvx2, chains * 8 * 2.0, triadAvx2};
#endif
  return {runBaseline, chains * 4.0, triadBaseline};
}

static double flopsOf(const PeakKernel &kernel, int threads) {
  int64_t iterations = 20000;
  double best = 0;
  for (int64_t begin = now(); now() - begin < tryingTime;) {
    double seconds = onThreads(threads, [&](int) { kernel.run(iterations); });
    best = std::max(best, double(iterations) * kernel.flop * threads / seconds);
    // Each try must be short, so that other programs disturb only some of them.
    if (seconds < 0.001)
      iterations *= 2;
  }
  return best;
}

double netc::runtime::measureFlops(Isa isa, int threads) {
  return flopsOf(kernelFor(isa), threads);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The best rate of tries in `time` nanoseconds, on three arrays of `bytes`
/// altogether.
static double measureTriad(Isa isa, int threads, int64_t bytes, int64_t time) {
  PeakKernel kernel = kernelFor(isa);
  int64_t part = bytes / (3 * triadBytes) / threads * triadBytes /
                 int64_t(sizeof(float)); // elements of a thread
  int64_t count = part * threads;
  if (!part)
    return 0;
  Arena memory(3 * count * int64_t(sizeof(float)));
  float *a = reinterpret_cast<float *>(memory.data());
  float *b = a + count, *c = b + count;
  // The thread that first writes a page decides on which NUMA node it is.
  onThreads(threads, [&](int t) {
    for (int64_t i = t * part; i < (t + 1) * part; ++i)
      a[i] = b[i] = c[i] = 1;
  });
  // A try should take longer than starting the threads.
  int64_t rounds =
      std::max((int64_t(16) << 20) / (bytes / threads), int64_t(1));
  double best = 0;
  for (int64_t begin = now(); now() - begin < time;) {
    double seconds = onThreads(threads, [&](int t) {
      for (int64_t round = 0; round < rounds; ++round)
        kernel.triad(a + t * part, b + t * part, c + t * part, part);
    });
    best = std::max(best, double(rounds * count * 3) * sizeof(float) / seconds);
  }
  return best;
}

double netc::runtime::measureBandwidth(Isa isa, int threads,
                                       const std::vector<Cache> &caches) {
  int64_t last = caches.empty() ? int64_t(64) << 20
                                : caches.back().count * caches.back().bytes;
  int64_t bytes = std::min({4 * std::max(last, int64_t(16) << 20),
                            int64_t(1) << 30, availableMemory() / 8});
  if (bytes < 2 * last)
    return 0;
  return measureTriad(isa, threads, 3 * bytes, tryingTime);
}

std::vector<double>
netc::runtime::measureCaches(Isa isa, int threads,
                             const std::vector<Cache> &caches) {
  std::vector<double> rates;
  int64_t before = 0;
  for (const Cache &cache : caches) {
    int64_t bytes = cache.of(threads);
    // Half way between two levels, since other data also needs space.
    rates.push_back(
        bytes > before && bytes < availableMemory() / 8
            ? measureTriad(isa, threads, (before + bytes) / 2, cacheTime)
            : 0);
    before = std::max(before, bytes);
  }
  return rates;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

double Peaks::datasheet(const std::string &format) const {
  auto found = perCycle.find(format);
  return found == perCycle.end() ? 0 : found->second * hertz;
}

double Peaks::best(const std::string &format) const {
  double best = 0;
  for (const PeakRate &rate : measured)
    if (rate.format == format)
      best = std::max(best, rate.flops);
  return best;
}

double Peaks::limit(const std::set<std::string> &formats) const {
  double limit = best("f32");
  for (const std::string &format : formats)
    limit = std::max(limit, best(format));
  return limit;
}

void Peaks::raise(const Peaks &window) {
  hertz = std::max(hertz, window.hertz);
  bandwidth = std::max(bandwidth, window.bandwidth);
  copy = std::max(copy, window.copy);
  caches.resize(std::max(caches.size(), window.caches.size()));
  for (size_t i = 0; i < window.caches.size(); ++i)
    caches[i] = std::max(caches[i], window.caches[i]);
  for (const PeakRate &rate : window.measured) {
    auto known =
        std::find_if(measured.begin(), measured.end(),
                     [&](auto &other) { return other.name == rate.name; });
    if (known == measured.end())
      measured.push_back(rate);
    else if (rate.flops > known->flops)
      *known = rate;
  }
}

Peaks netc::runtime::datasheetPeaks(const Machine &machine, const Clock &clock,
                                    int threads) {
  Peaks peaks;
  VectorUnits units = vectorUnits(machine.isas.back());
  peaks.hertz = clock.hertz;
  peaks.perCycle["f32"] = double(units.flop) * std::min(threads, machine.cores);
  peaks.assumed = units.assumed;
  return peaks;
}

Peaks netc::runtime::measurePeaks(const Machine &machine, const Clock &clock,
                                  int threads, const std::vector<Cache> &caches,
                                  bool withBandwidth) {
  Peaks peaks = datasheetPeaks(machine, clock, threads);
  for (Isa isa : machine.isas)
    peaks.measured.push_back({nameOf(isa), "f32", measureFlops(isa, threads)});
#ifdef __x86_64__
  if (machine.isas.back() == Isa::AVX512BF16)
    peaks.measured.push_back(
        {pairKernel, "bf16",
         flopsOf({runPairs, chains * 16 * 4.0, triadAvx512}, threads)});
#endif
  if (withBandwidth) {
    peaks.bandwidth = measureBandwidth(machine.isas.back(), threads, caches);
    peaks.caches = measureCaches(machine.isas.back(), threads, caches);
  }
  return peaks;
}

void netc::runtime::settle(Peaks &peaks, double reached,
                           const std::set<std::string> &formats, int windows,
                           const std::function<Peaks()> &measure) {
  for (;
       windows == 1 || (reached > peaks.limit(formats) && windows < maxWindows);
       ++windows)
    peaks.raise(measure());
  if (reached <= peaks.limit(formats))
    return;
  char text[160];
  std::snprintf(text, sizeof text,
                "the steps reach %.4g GFLOP/s, and this machine no more than "
                "%.4g in %d windows; are other programs at work?",
                reached * 1e-9, peaks.limit(formats) * 1e-9, windows);
  throw Failure(3, text);
}
