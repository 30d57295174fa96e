// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/HostDevice.h"

#include <cstring>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

using namespace netc::runtime;

void HostDevice::upload(int64_t offset, const char *from, int64_t bytes) {
  char *to = arena.data() + offset;
#ifdef __x86_64__
  if (reinterpret_cast<uintptr_t>(to) % 16 == 0) {
    for (; bytes >= 16; to += 16, from += 16, bytes -= 16)
      _mm_stream_si128(
          reinterpret_cast<__m128i *>(to),
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    _mm_sfence();
  }
#endif
  std::memcpy(to, from, size_t(bytes));
}

void HostDevice::download(int64_t offset, char *to, int64_t bytes) const {
  std::memcpy(to, arena.data() + offset, size_t(bytes));
}

void HostDevice::step(Recorder *times) {
  recorder = times;
  running = this;
  if (recorder)
    recorder->beginStep();
  function(arena.data());
  if (recorder)
    recorder->endStep();
  running = nullptr;
}
