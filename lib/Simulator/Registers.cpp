// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Register allocation. PTX has any number of virtual registers. Those that are
// not live at the same time share slots in a warp's register file, which then
// fits into caches.

#include "lib/Simulator/Kernel.h"

#include <algorithm>
#include <cstring>

using namespace netc::simulator;

namespace {
using Bits = std::vector<uint64_t>;

bool has(const Bits &bits, uint32_t number) {
  return bits[number / 64] >> (number % 64) & 1;
}
void add(Bits &bits, uint32_t number) {
  bits[number / 64] |= uint64_t(1) << (number % 64);
}

/// A basic block.
struct Block {
  uint32_t first, end;
  std::vector<uint32_t> successors;
  /// By register.
  Bits written, readBefore, liveIn, liveOut;
};

/// The live interval of a register, in instructions.
struct Interval {
  uint32_t first = ~0u, last = 0;

  void extend(uint32_t pc) {
    first = std::min(first, pc);
    last = std::max(last, pc);
  }
};

class Liveness {
public:
  Liveness(const Kernel &kernel, const Draft &draft)
      : code(kernel.code), draft(draft) {
    findBlocks();
    flow();
  }

  std::vector<Interval> intervals() const {
    std::vector<Interval> found(draft.registers.size());
    for (const Block &block : blocks) {
      for (uint32_t number = 0; number < found.size(); ++number) {
        if (has(block.liveIn, number))
          found[number].extend(block.first);
        if (has(block.liveOut, number))
          found[number].extend(block.end - 1);
      }
      for (uint32_t pc = block.first; pc < block.end; ++pc)
        forOperands(pc,
                    [&](uint32_t number, bool) { found[number].extend(pc); });
    }
    return found;
  }

private:
  /// Calls `visit` with each register, and whether it is read; reads come
  /// first. A guarded result counts as read, since it may keep its value.
  template <typename Visit> void forOperands(uint32_t pc, Visit visit) const {
    const Operands &operands = draft.operands[pc];
    bool isGuarded = code[pc].guard >= 0;
    if (isGuarded)
      visit(uint32_t(code[pc].guard), true);
    for (bool isRead : {true, false})
      for (size_t i = 0; i < operands.numbers.size(); ++i) {
        bool isResult = i < operands.results;
        if (operands.numbers[i] & Draft::kConstant)
          continue;
        if (isRead ? !isResult || isGuarded : isResult)
          visit(operands.numbers[i], isRead);
      }
  }

  void findBlocks() {
    std::vector<uint32_t> starts = {0};
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
      if (code[pc].control == Instruction::Branch)
        starts.push_back(uint32_t(code[pc].target));
      if (code[pc].control == Instruction::Branch ||
          code[pc].control == Instruction::Return)
        starts.push_back(pc + 1);
    }
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    size_t words = draft.registers.size() / 64 + 1;
    for (size_t i = 0; i < starts.size() && starts[i] < code.size(); ++i) {
      uint32_t end =
          i + 1 < starts.size() ? starts[i + 1] : uint32_t(code.size());
      Bits none(words);
      blocks.push_back({starts[i], end, {}, none, none, none, none});
      Block &block = blocks.back();
      const Instruction &last = code[end - 1];
      auto blockAt = [&](uint32_t pc) {
        return uint32_t(std::lower_bound(starts.begin(), starts.end(), pc) -
                        starts.begin());
      };
      if (last.control == Instruction::Branch)
        block.successors.push_back(blockAt(uint32_t(last.target)));
      bool isLeft = last.guard < 0 && (last.control == Instruction::Branch ||
                                       last.control == Instruction::Return);
      if (!isLeft && end < code.size())
        block.successors.push_back(blockAt(end));
      for (uint32_t pc = block.first; pc < end; ++pc)
        forOperands(pc, [&](uint32_t number, bool isRead) {
          if (!isRead)
            add(block.written, number);
          else if (!has(block.written, number))
            add(block.readBefore, number);
        });
    }
  }

  void flow() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (size_t b = blocks.size(); b-- > 0;) {
        Block &block = blocks[b];
        for (size_t word = 0; word < block.liveIn.size(); ++word) {
          uint64_t out = 0;
          for (uint32_t successor : block.successors)
            out |= blocks[successor].liveIn[word];
          block.liveOut[word] = out;
          uint64_t in = block.readBefore[word] | (out & ~block.written[word]);
          isChanged |= in != block.liveIn[word];
          block.liveIn[word] = in;
        }
      }
    }
  }

  const std::vector<Instruction> &code;
  const Draft &draft;
  std::vector<Block> blocks;
};
} // namespace

void netc::simulator::placeRegisters(Kernel &kernel, const Draft &draft) {
  // Constants come first.
  std::vector<uint32_t> ofConstants;
  for (auto [reg, bits] : draft.constants) {
    // All constants are aligned like wide ones.
    ofConstants.push_back(uint32_t(kernel.constants.size()));
    size_t bytes = reg.isWide ? 8 : 4;
    for (int lane = 0; lane < kLanes; ++lane) {
      const char *raw = reinterpret_cast<const char *>(&bits);
      kernel.constants.insert(kernel.constants.end(), raw, raw + bytes);
    }
  }
  uint32_t end = uint32_t(kernel.constants.size());
  std::vector<uint32_t> places(draft.registers.size(), ~0u);
  // Special registers are live from the start.
  for (auto &[special, slot] : kernel.specials) {
    places[slot] = end;
    end += bytesOf(draft.registers[slot]);
    slot = places[slot];
  }

  std::vector<Interval> intervals = Liveness(kernel, draft).intervals();
  std::vector<uint32_t> order;
  for (uint32_t number = 0; number < places.size(); ++number)
    if (places[number] == ~0u && intervals[number].first != ~0u)
      order.push_back(number);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(intervals[a].first, a) < std::pair(intervals[b].first, b);
  });
  std::vector<uint32_t> active, free[2];
  for (uint32_t number : order) {
    // An instruction must not write a slot that it reads, since it may be
    // executed lane by lane.
    auto ended = std::stable_partition(
        active.begin(), active.end(), [&](uint32_t other) {
          return intervals[other].last >= intervals[number].first;
        });
    for (auto it = ended; it != active.end(); ++it)
      free[draft.registers[*it].isWide].push_back(places[*it]);
    active.erase(ended, active.end());
    std::vector<uint32_t> &available = free[draft.registers[number].isWide];
    if (available.empty()) {
      places[number] = end;
      end += bytesOf(draft.registers[number]);
    } else {
      places[number] = available.back();
      available.pop_back();
    }
    active.push_back(number);
  }
  kernel.fileBytes = end;

  auto slotOf = [&](uint32_t number) {
    return number & Draft::kConstant ? ofConstants[number & ~Draft::kConstant]
                                     : places[number];
  };
  for (const Operands &operands : draft.operands)
    for (uint32_t number : operands.numbers)
      kernel.slots.push_back(slotOf(number));
  const uint32_t *slots = kernel.slots.data();
  for (size_t pc = 0; pc < kernel.code.size(); ++pc) {
    Instruction &i = kernel.code[pc];
    i.slots = slots;
    slots += draft.operands[pc].numbers.size();
    if (i.guard >= 0)
      i.guard = int32_t(slotOf(uint32_t(i.guard)));
  }
}
