// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of a warpgroup, four warps (`wgmma`). They read matrices in shared
// memory by the asynchronous proxy, at any time until they are waited for.

#include "lib/Simulator/Handlers.h"

#include <algorithm>

using namespace netc::simulator;

namespace {
/// The depth of a product of 16-bit elements, and the rows of A of a warp.
constexpr uint32_t kDepth = 16, kRows = 16;
constexpr uint32_t kMostColumns = 256;
/// Elements of 16 bytes, and of a row of 128 bytes.
constexpr uint32_t kOfChunk = 8, kOfRow = 64;

/// An operand in shared memory, by its matrix descriptor, in the canonical
/// layouts of the PTX ISA with a swizzle of 128 bytes: rows of 64 elements
/// along k, or along the side (m or n).
class SharedMatrix {
public:
  SharedMatrix(uint64_t descriptor, bool isAlongSide)
      : start(field(descriptor, 0)), leading(field(descriptor, 16)),
        stride(field(descriptor, 32)), isAlongSide(isAlongSide),
        isKnown(descriptor >> 49 == uint64_t(1) << 13) {}

  /// Whether the layout is swizzled by 128 bytes, without a base offset.
  bool isSupported() const { return isKnown; }
  /// Whether the swizzle starts where the matrix does.
  bool isAligned() const { return start % 1024 < 128; }

  /// The address of the chunk that holds an element, and its index in there.
  uint64_t chunkOf(uint32_t side, uint32_t k) const {
    uint64_t at = isAlongSide
                      ? side / kOfRow * leading + k / 8 * stride + k % 8 * 128 +
                            side % kOfRow / kOfChunk * 16
                      : side / 8 * stride + side % 8 * 128 + k / kOfChunk * 16;
    return swizzled(start + at);
  }
  uint32_t indexInChunk(uint32_t side, uint32_t k) const {
    return (isAlongSide ? side : k) % kOfChunk;
  }

  /// Appends the addresses of all chunks with the elements of `count` sides.
  void appendChunks(uint32_t first, uint32_t count,
                    std::vector<uint64_t> &chunks) const {
    uint32_t ofSide = isAlongSide ? kOfChunk : 1,
             ofDepth = isAlongSide ? 1 : kOfChunk;
    for (uint32_t side = first; side < first + count; side += ofSide)
      for (uint32_t k = 0; k < kDepth; k += ofDepth)
        chunks.push_back(chunkOf(side, k));
  }

private:
  static uint64_t field(uint64_t descriptor, int from) {
    return (descriptor >> from & 0x3fff) << 4;
  }

  uint64_t start, leading, stride;
  bool isAlongSide, isKnown;
};

/// The operands of an instruction.
struct Product {
  explicit Product(const AsyncProduct &product)
      : a(product.left, product.instruction->mode & 1),
        b(product.right, product.instruction->mode & 2),
        columns(product.instruction->width * 8u),
        sums(product.instruction->width * 4u) {}

  SharedMatrix a, b;
  uint32_t columns;
  size_t sums; ///< accumulators of a lane

  /// The chunks that a warp reads: its rows of A, and all of B.
  std::vector<uint64_t> chunksOf(const Warp &warp) const {
    std::vector<uint64_t> chunks;
    a.appendChunks(rowOf(warp), kRows, chunks);
    b.appendChunks(0, columns, chunks);
    return chunks;
  }
  static uint32_t rowOf(const Warp &warp) { return warp.number() % 4 * kRows; }
};
} // namespace

static constexpr char kDiverges[] =
    "divergent matrix instruction: not all lanes reach it";
static constexpr char kPending[] = "access to a register of a pending wgmma";

//===----------------------------------------------------------------------===//
// Registers and memory of pending products
//===----------------------------------------------------------------------===//

void netc::simulator::markAccumulators(Kernel &kernel, Draft &draft) {
  std::vector<bool> isAccumulator(draft.registers.size());
  std::vector<uint32_t> all;
  for (size_t pc = 0; pc < kernel.code.size(); ++pc)
    if (kernel.code[pc].run == beginProduct)
      for (size_t i = 0; i < draft.operands[pc].results; ++i)
        if (uint32_t sum = draft.operands[pc].numbers[i]; !isAccumulator[sum]) {
          isAccumulator[sum] = true;
          all.push_back(sum);
        }
  if (all.empty())
    return;
  kernel.usesAsyncProxy = true;
  for (size_t pc = 0; pc < kernel.code.size(); ++pc) {
    Instruction &i = kernel.code[pc];
    std::vector<uint32_t> &numbers = draft.operands[pc].numbers;
    if (i.run == waitForProducts)
      numbers.insert(numbers.end(), all.begin(), all.end());
    else if (i.run != beginProduct)
      i.usesAccumulators =
          std::any_of(numbers.begin(), numbers.end(), [&](uint32_t number) {
            return !(number & Draft::kConstant) && isAccumulator[number];
          });
  }
}

void Launch::useAccumulators(Warp &warp, const Instruction &i) {
  warp.areAccumulatorsFenced = false;
  const uint32_t *end = (&i + 1)->slots;
  for (const std::vector<AsyncProduct> &group : warp.products)
    for (const AsyncProduct &product : group) {
      const uint32_t *sums = product.instruction->slots;
      size_t count = Product(product).sums;
      if (std::find_first_of(i.slots, end, sums, sums + count) != end)
        return report(i, kPending);
    }
}

void Launch::noteGenericAccess(Warp &warp, const Instruction &i, uint64_t at,
                               uint32_t bytes, AccessKind kind) {
  if (chunks.empty())
    return;
  for (uint64_t number = at / 16; number <= (at + bytes - 1) / 16; ++number) {
    SharedChunk &chunk = chunks[number];
    noteUse(warp, number);
    checkFilled(warp, i, chunk);
    if (kind == AccessKind::Read)
      continue;
    if (chunk.isFilling)
      report(i, "race: write after write");
    if (chunk.readers)
      report(i, "race: write to memory that a pending wgmma reads");
    uint32_t writer = 1u << warp.number();
    if (!(chunk.writers & writer))
      warp.unfenced.push_back(number);
    chunk.writers |= writer;
  }
}

void Launch::fenceProxies(Warp &warp) {
  for (uint64_t number : warp.unfenced)
    chunks[number].writers &= ~(1u << warp.number());
  warp.unfenced.clear();
}

void Launch::noteChunks(Warp &warp, const Instruction &i,
                        const std::vector<uint64_t> &addresses) {
  for (size_t from = 0; from < addresses.size(); from += kLanes) {
    const uint64_t *first = &addresses[from];
    size_t count = std::min<size_t>(addresses.size() - from, kLanes);
    uint32_t lanes = count == kLanes ? ~0u : (1u << count) - 1;
    if (isExact) {
      noteExactly(i, lanes, *device.shared, /*isShared=*/true, first, 16,
                  AccessKind::Read, threadOf(warp, 0), HostAddresses());
      continue;
    }
    auto [low, high] = std::minmax_element(first, first + count);
    noteRoughly(i, lanes, *device.shared, /*isShared=*/true, *low, *low,
                *high + 16 - *low, first, 16, AccessKind::Read,
                threadOf(warp, 0), HostAddresses());
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Launch::beginProduct(Warp &warp, const AsyncProduct &product) {
  const Instruction &i = *product.instruction;
  Product of(product);
  if (!warp.areAccumulatorsFenced)
    report(i, "wgmma without `wgmma.fence` after other accesses to registers");
  for (const std::vector<AsyncProduct> &group : warp.products)
    for (const AsyncProduct &other : group) {
      // Only products of one shape may use the same registers.
      const uint32_t *sums = other.instruction->slots, *own = i.slots;
      size_t count = Product(other).sums;
      if (!std::equal(sums, sums + count, own, own + of.sums) &&
          std::find_first_of(own, own + of.sums, sums, sums + count) !=
              own + of.sums)
        report(i, kPending);
    }
  for (const SharedMatrix &matrix : {of.a, of.b}) {
    if (!matrix.isSupported())
      return report(i, "matrix descriptor of another layout than with a "
                       "swizzle of 128 bytes");
    if (!matrix.isAligned())
      return report(i, "misaligned access");
  }
  std::vector<uint64_t> addresses = of.chunksOf(warp);
  if (*std::max_element(addresses.begin(), addresses.end()) + 16 >
      kernel.sharedBytes + sharedBytes)
    return report(i, "shared access out of bounds");
  noteChunks(warp, i, addresses);
  for (uint64_t address : addresses) {
    SharedChunk &chunk = chunks[address / 16];
    ++chunk.readers;
    checkFilled(warp, i, chunk);
    if (chunk.writers)
      report(i, "read by wgmma without `fence.proxy.async` after the write");
  }
  warp.products.back().push_back(product);
  // Eight chunks are in different banks. The warpgroup reads B once.
  uint64_t reads = addresses.size() - (warp.number() % 4 ? of.columns * 2 : 0);
  counted.wavefronts += reads / 8;
  counted.idealWavefronts += reads / 8;
  counted.tensorFlop += 2 * kRows * of.columns * kDepth;
}

/// Sets `values` to the elements of a matrix: a row for each k.
static void gather(const SharedMatrix &matrix, uint32_t first, uint32_t count,
                   bool isBf16, const char *memory,
                   float (*values)[kMostColumns]) {
  for (uint32_t side = 0; side < count; ++side)
    for (uint32_t k = 0; k < kDepth; ++k) {
      uint16_t bits;
      std::memcpy(&bits,
                  memory + matrix.chunkOf(first + side, k) +
                      2 * matrix.indexInChunk(first + side, k),
                  sizeof bits);
      values[k][side] = fromHalf(bits, isBf16);
    }
}

NETC_WIDE static void multiply(const float (*a)[kMostColumns],
                               const float (*b)[kMostColumns],
                               float (*sums)[kMostColumns], uint32_t columns) {
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t k = 0; k < kDepth; ++k)
      for (uint32_t column = 0; column < columns; ++column)
        sums[row][column] += a[k][row] * b[k][column];
}

/// Adds the product of a warp's rows of A, by the PTX ISA's layout of D:
/// register 4 j + 2 h + e of lane 4 r + q is row r + 8 h, column 8 j + 2 q + e.
static void complete(const AsyncProduct &product, Warp &warp,
                     const char *memory) {
  Product of(product);
  const Instruction &i = *product.instruction;
  float a[kDepth][kMostColumns], b[kDepth][kMostColumns],
      sums[kRows][kMostColumns] = {};
  auto forSums = [&](auto visit) {
    for (uint32_t r = 0; r < of.sums; ++r) {
      auto *lanes = Launch::lanes<float>(warp, i, r);
      for (uint32_t lane = 0; lane < kLanes; ++lane)
        visit(lanes[lane],
              sums[lane / 4 + r / 2 % 2 * 8][r / 4 * 8 + lane % 4 * 2 + r % 2]);
    }
  };
  if (product.isAdded)
    forSums([](float lane, float &sum) { sum = lane; });
  bool isBf16 = i.from.kind == 'g';
  gather(of.a, Product::rowOf(warp), kRows, isBf16, memory, a);
  gather(of.b, 0, of.columns, isBf16, memory, b);
  multiply(a, b, sums, of.columns);
  forSums([](float &lane, float sum) { lane = sum; });
}

void Launch::endProducts(Warp &warp, const Instruction &i, size_t groups) {
  for (; warp.products.size() > groups + 1; warp.products.pop_front())
    for (const AsyncProduct &product : warp.products.front()) {
      std::vector<uint64_t> addresses = Product(product).chunksOf(warp);
      noteChunks(warp, i, addresses);
      for (uint64_t address : addresses) {
        --chunks[address / 16].readers;
        noteUse(warp, address / 16);
      }
      ::complete(product, warp, device.shared->data());
    }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// `wgmma.mma_async`. Operands: the accumulators, the descriptors of A and B,
/// whether to add to the accumulators, and the accumulators again.
void netc::simulator::beginProduct(Launch &run, Warp &warp,
                                   const Instruction &i, uint32_t lanes) {
  if (lanes != ~0u)
    run.report(i, kDiverges);
  size_t sums = i.width * 4u;
  run.beginProduct(warp, {&i, *Launch::lanes<uint64_t>(warp, i, sums),
                          *Launch::lanes<uint64_t>(warp, i, sums + 1),
                          *Launch::lanes<uint32_t>(warp, i, sums + 2) != 0});
}
void netc::simulator::fenceAccumulators(Launch &, Warp &warp,
                                        const Instruction &, uint32_t) {
  warp.areAccumulatorsFenced = true;
}
void netc::simulator::commitProducts(Launch &run, Warp &warp,
                                     const Instruction &, uint32_t) {
  run.closeProducts(warp);
}
/// `wgmma.wait_group`. Operand: the number of groups that may stay incomplete.
void netc::simulator::waitForProducts(Launch &run, Warp &warp,
                                      const Instruction &i, uint32_t lanes) {
  if (lanes != ~0u)
    run.report(i, kDiverges);
  run.endProducts(warp, i, *Launch::lanes<uint32_t>(warp, i, 0));
}
void netc::simulator::fenceProxies(Launch &run, Warp &warp, const Instruction &,
                                   uint32_t lanes) {
  // It is for the writes of the threads that execute it.
  if (lanes == warp.threads)
    run.fenceProxies(warp);
  run.fenceBarriers(warp);
}
