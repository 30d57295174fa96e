// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instructions that involve several lanes of a warp.

#include "lib/Simulator/Handlers.h"

using namespace netc::simulator;

void netc::simulator::nothing(Launch &, Warp &, const Instruction &, uint32_t) {
}

void netc::simulator::shuffle(Launch &run, Warp &warp, const Instruction &i,
                              uint32_t lanes) {
  uint32_t from[kLanes];
  std::memcpy(from, Launch::lanes<uint32_t>(warp, i, 1), sizeof from);
  auto *b = Launch::lanes<uint32_t>(warp, i, 2);
  auto *c = Launch::lanes<uint32_t>(warp, i, 3);
  auto *members = Launch::lanes<uint32_t>(warp, i, 4);
  auto *d = Launch::lanes<uint32_t>(warp, i, 0);
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (members[l] & ~lanes)
      run.report(i, "divergent shuffle: not all of its lanes reach it");
    int by = int(b[l] & 31), clamp = int(c[l] & 31),
        segment = int(c[l] >> 8 & 31);
    int low = l & segment, high = low | (clamp & ~segment), at = l;
    bool isInside = true;
    switch (i.mode) {
    case ShuffleUp:
      at = l - by, isInside = at >= high;
      break;
    case ShuffleDown:
      at = l + by, isInside = at <= high;
      break;
    case ShuffleButterfly:
      at = l ^ by, isInside = at <= high;
      break;
    default:
      at = low | (by & ~segment), isInside = at <= high;
    }
    d[l] = from[isInside ? at : l];
  }
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

namespace {
struct Bf16 {
  static constexpr int perRegister = 2;
  static float of(uint32_t bits, int half) {
    return fromHalf(uint16_t(bits >> (16 * half)), true);
  }
};
struct F16 {
  static constexpr int perRegister = 2;
  static float of(uint32_t bits, int half) {
    return fromHalf(uint16_t(bits >> (16 * half)), false);
  }
};
struct Tf32 {
  static constexpr int perRegister = 1;
  static float of(uint32_t bits, int) {
    bits &= ~0x1fffu; // low bits that the hardware ignores
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};
} // namespace

/// Operands: 4 registers of D, 4 of A, 2 of B, 4 of C, by the PTX ISA's layouts
/// of fragments. With n elements in a register, K is 8 n. Lane 4 r + q has rows
/// r and r + 8 of A[16][K], and in each half of K, elements n q to n q + n - 1;
/// of B[K][8], column r and the same elements of K; of C and D, rows r and r +
/// 8, and columns 2 q and 2 q + 1.
template <typename Format>
static void matrixProduct(Launch &run, Warp &warp, const Instruction &i,
                          uint32_t lanes) {
  constexpr int n = Format::perRegister, depth = 8 * n;
  if (lanes != ~0u)
    run.report(i, "divergent matrix instruction: not all lanes reach it");
  float a[16][depth], b[depth][8], c[16][8];
  for (int r = 0; r < 4; ++r) {
    auto *from = Launch::lanes<uint32_t>(warp, i, size_t(4 + r));
    auto *sum = Launch::lanes<float>(warp, i, size_t(10 + r));
    for (int lane = 0; lane < kLanes; ++lane) {
      int row = lane / 4 + 8 * (r % 2), quarter = lane % 4;
      for (int k = 0; k < n; ++k)
        a[row][4 * n * (r / 2) + n * quarter + k] = Format::of(from[lane], k);
      c[lane / 4 + 8 * (r / 2)][2 * quarter + r % 2] = sum[lane];
    }
  }
  for (int r = 0; r < 2; ++r) {
    auto *from = Launch::lanes<uint32_t>(warp, i, size_t(8 + r));
    for (int lane = 0; lane < kLanes; ++lane)
      for (int k = 0; k < n; ++k)
        b[4 * n * r + n * (lane % 4) + k][lane / 4] = Format::of(from[lane], k);
  }
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < depth; ++k)
      for (int column = 0; column < 8; ++column)
        c[row][column] += a[row][k] * b[k][column];
  for (int r = 0; r < 4; ++r) {
    auto *to = Launch::lanes<float>(warp, i, size_t(r));
    for (int lane = 0; lane < kLanes; ++lane)
      to[lane] = c[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2];
  }
  run.counted.tensorFlop += 2 * 16 * 8 * depth;
}

Handler netc::simulator::matrixProductOf(Type operands) {
  if (operands.kind == 'g')
    return matrixProduct<Bf16>;
  if (operands.kind == 't')
    return matrixProduct<Tf32>;
  return operands.kind == 'f' && operands.bits == 16 ? matrixProduct<F16>
                                                     : nullptr;
}
