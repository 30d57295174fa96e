// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decodes the text of instructions: chooses their handlers and resolves their
// operands.

#include "lib/Simulator/Handlers.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

using namespace netc::simulator;

namespace {
class Decoder {
public:
  Decoder(const Statement &statement, Kernel &kernel, Draft &draft,
          Names &names)
      : s(statement), kernel(kernel), draft(draft), names(names) {}

  void decode() {
    if (!s.guard.empty()) {
      auto guard = names.registers.find(s.guard);
      if (guard == names.registers.end())
        fail("`" + s.guard + "` is no register");
      i.guard = int32_t(guard->second);
      i.isNegated = s.isNegated;
    }
    for (size_t part = 1; part < s.opcode.size(); ++part)
      if (Type type = typeNamed(s.opcode[part]); type.kind)
        (i.type.kind ? i.from : i.type) = type;
    choose();
    if (!i.run && i.control == Instruction::None)
      fail("the simulator does not know this instruction");
    kernel.code.push_back(i);
    kernel.sources.push_back(s.source);
    draft.operands.push_back(std::move(operands));
  }

private:
  [[noreturn]] void fail(const std::string &why) const {
    refuse(s.source, why);
  }
  bool has(const char *suffix) const {
    return std::find(s.opcode.begin() + 1, s.opcode.end(), suffix) !=
           s.opcode.end();
  }
  bool is(const char *name) const { return s.opcode[0] == name; }

  //===-- Operands --------------------------------------------------------===//

  uint32_t constant(uint64_t bits, bool isWide) {
    if (!isWide)
      bits = uint32_t(bits);
    std::vector<std::pair<Register, uint64_t>> &known = draft.constants;
    for (size_t at = 0; at < known.size(); ++at)
      if (known[at].second == bits && known[at].first.isWide == isWide)
        return uint32_t(at) | Draft::kConstant;
    known.emplace_back(Register{isWide}, bits);
    return uint32_t(known.size() - 1) | Draft::kConstant;
  }

  const std::string &peek() const {
    static const std::string none;
    return at < s.operands.size() ? s.operands[at].text : none;
  }
  std::string take() {
    if (at >= s.operands.size())
      fail("an operand is missing");
    return s.operands[at++].text;
  }
  bool takeIf(const char *text) {
    bool isThere = peek() == text;
    at += isThere;
    return isThere;
  }

  uint64_t number(const std::string &text, bool isNegative) const {
    if (text.size() == 10 && (text.compare(0, 2, "0f") == 0))
      return std::strtoull(text.c_str() + 2, nullptr, 16);
    if (text.size() == 18 && (text.compare(0, 2, "0d") == 0))
      return std::strtoull(text.c_str() + 2, nullptr, 16);
    char *end;
    uint64_t value = std::strtoull(text.c_str(), &end, 0);
    if (end == text.c_str() || (*end && std::strcmp(end, "U")))
      fail("`" + text + "` is no operand");
    return isNegative ? 0 - value : value;
  }

  static const Special *specialNamed(const std::string &name) {
    static const std::map<std::string, Special> specials = {
        {"%tid.x", Special::TidX},
        {"%tid.y", Special::TidY},
        {"%tid.z", Special::TidZ},
        {"%ntid.x", Special::NtidX},
        {"%ntid.y", Special::NtidY},
        {"%ntid.z", Special::NtidZ},
        {"%ctaid.x", Special::CtaidX},
        {"%ctaid.y", Special::CtaidY},
        {"%ctaid.z", Special::CtaidZ},
        {"%nctaid.x", Special::NctaidX},
        {"%nctaid.y", Special::NctaidY},
        {"%nctaid.z", Special::NctaidZ},
        {"%laneid", Special::LaneId},
        {"%warpid", Special::WarpId},
        {"%smid", Special::SmId},
        {"%clock64", Special::Clock64},
        {"%globaltimer", Special::GlobalTimer}};
    auto found = specials.find(name);
    return found == specials.end() ? nullptr : &found->second;
  }

  bool isRegister(const std::string &name) const {
    return names.registers.count(name) || specialNamed(name);
  }
  bool isWide(uint32_t operand) const {
    return operand & Draft::kConstant
               ? draft.constants[operand & ~Draft::kConstant].first.isWide
               : draft.registers[operand].isWide;
  }

  /// A register of any size, or a constant of 64 bits if `wide`, else of 32.
  uint32_t any(bool wide) {
    bool isNegative = takeIf("-");
    std::string text = take();
    if (auto found = names.registers.find(text); found != names.registers.end())
      return found->second;
    if (const Special *special = specialNamed(text)) {
      auto number = uint32_t(draft.registers.size());
      names.registers[text] = number;
      draft.registers.push_back({netc::simulator::isWide(*special)});
      kernel.specials.emplace_back(*special, number);
      return number;
    }
    for (auto *offsets :
         {&names.shared, &names.local, &names.globals, &names.parameters})
      if (auto found = offsets->find(text); found != offsets->end())
        return constant(found->second + offset(), wide);
    if (text == "WARP_SZ")
      return constant(kLanes, wide);
    return constant(number(text, isNegative), wide);
  }

  uint64_t offset() {
    if (!takeIf("+"))
      return 0;
    bool isNegative = takeIf("-");
    return number(take(), isNegative);
  }

  /// An operand of 64 bits if `wide`, else of 32.
  void operand(bool wide) {
    uint32_t found = any(wide);
    if (isWide(found) != wide)
      fail("a register has not the size of the instruction's type");
    operands.numbers.push_back(found);
  }
  void comma() {
    if (!takeIf(","))
      fail("an operand is missing");
  }
  void end() {
    if (at != s.operands.size())
      fail("there are more operands than it has");
  }

  /// A register, or several of equal size in braces.
  void values() {
    bool isList = takeIf("{"), wide = i.type.bits == 64;
    i.width = 0;
    do {
      operands.numbers.push_back(any(wide));
      i.isValueWide = isWide(operands.numbers.back());
      ++i.width;
    } while (isList && takeIf(","));
    if (isList && !takeIf("}"))
      fail("`}` is missing");
  }
  /// `count` registers of 32 bits, in braces.
  void fragment(int count) {
    if (!takeIf("{"))
      fail("`{` is missing");
    for (int k = 0; k < count; ++k) {
      if (k)
        comma();
      operand(false);
    }
    if (!takeIf("}"))
      fail("`}` is missing");
  }

  template <typename Body> void inBrackets(Body body) {
    if (!takeIf("["))
      fail("an address is missing");
    body();
    if (!takeIf("]"))
      fail("`]` is missing");
  }

  void address() {
    inBrackets([&] {
      i.address = uint8_t(operands.numbers.size());
      if (i.space == Space::Parameter) {
        auto found = names.parameters.find(take());
        if (found == names.parameters.end())
          fail("no such parameter");
        i.offset = int64_t(found->second);
      } else {
        operands.numbers.push_back(any(true));
        i.isAddressWide = isWide(operands.numbers.back());
      }
      i.offset += int64_t(offset());
    });
  }

  /// An address of 32 bits, in shared memory, without an offset.
  void sharedAddress() {
    inBrackets([&] { operand(false); });
  }

  void findSpace() {
    i.space = has("global") || has("const")         ? Space::Global
              : has("shared") || has("shared::cta") ? Space::Shared
              : has("local")                        ? Space::Local
              : has("param")                        ? Space::Parameter
                                                    : Space::Generic;
  }

  //===-- Instructions ----------------------------------------------------===//

  /// Decodes a result and operands, of 64 bits where `areWide`, else of 32.
  void simple(Handler run, std::initializer_list<bool> areWide) {
    i.run = run;
    if (!run)
      return;
    operands.results = 1;
    bool isFirst = true;
    for (bool wide : areWide) {
      if (!std::exchange(isFirst, false))
        comma();
      operand(wide);
    }
    end();
  }
  void none(Handler run) {
    i.run = run;
    end();
  }

  void choose() {
    // Saturation is not supported, and flushing subnormals to zero only where
    // arithmeticNamed() knows it.
    bool canFlush = is("ex2") || is("lg2") || is("rcp");
    if ((has("ftz") && !canFlush) || has("sat") || has("relu"))
      return;
    if (is("bra")) {
      i.control = Instruction::Branch;
      auto label = names.labels.find(take());
      if (label == names.labels.end())
        fail("no such label");
      i.target = label->second;
      return end();
    }
    if (is("ret") || is("exit")) {
      i.control = Instruction::Return;
      return end();
    }
    if (is("bar") || is("barrier")) {
      // Only barrier 0 with all threads of the block is supported.
      if (!has("sync") || has("warp") || take() != "0")
        return;
      i.control = Instruction::Barrier;
      return end();
    }
    if (is("fence") && has("proxy"))
      return none(has("async") ? fenceProxies : nullptr);
    if (is("fence") && has("mbarrier_init"))
      return none(fenceBarriers);
    if (is("membar") || is("fence"))
      return none(nothing);
    if (is("ld") || is("ldu") || is("st") || is("atom") || is("red"))
      return chooseAccess();
    if (is("cp") || is("ldmatrix") || is("mma"))
      return chooseTensor();
    if (is("wgmma"))
      return chooseWarpgroup();
    if (is("mbarrier"))
      return chooseBarrier();
    if (is("mov") || is("cvta") || is("cvt"))
      return chooseMove();
    // The simulator rounds to nearest even only.
    if (i.type.isFloat() && (has("rz") || has("rm") || has("rp")))
      return;
    chooseBits();
    if (!i.run)
      chooseArithmetic();
  }

  void chooseArithmetic() {
    bool wide = i.type.bits == 64, isSum = is("fma") || is("mad");
    if (has("cc"))
      return;
    if (has("wide")) {
      bool isResultWide = i.type.bits == 32;
      Handler run = wideProduct(i.type, isSum);
      if (isSum)
        return simple(run, {isResultWide, false, false, isResultWide});
      return simple(run, {isResultWide, false, false});
    }
    std::string name = s.opcode[0];
    for (const char *suffix : {"hi", "NaN", "ftz"})
      if (has(suffix))
        name += std::string(".") + suffix;
    // Of a pair of bf16, only signs are flipped, which is as in f16.
    bool isPair = has("f16x2") || (is("neg") && has("bf16x2"));
    if ((i.type.isFloat() || isPair) &&
        (isSum || is("add") || is("sub") || is("mul")))
      i.flop = (isSum ? 2 : 1) * (isPair ? 2 : 1);
    Type type = isPair               ? Type{'h', 32}
                : i.type.kind == 'p' ? Type{'u', 32}
                                     : i.type;
    Arithmetic known = arithmeticNamed(name, type);
    if (known.operands == 1)
      return simple(known.run, {wide, wide});
    if (known.operands == 2)
      return simple(known.run, {wide, wide, wide});
    simple(known.run, {wide, wide, wide, wide});
  }

  void chooseBits() {
    bool wide = i.type.bits == 64;
    Type bits = {'u', i.type.bits};
    if (is("setp") && has("f16x2") && s.opcode.size() == 3) {
      operand(false);
      if (!takeIf("|"))
        fail("two predicates are needed");
      operand(false);
      comma();
      simple(comparisonNamed(s.opcode[1], {'h', 32}), {false, false});
      operands.results = 2;
      return;
    }
    if (is("setp")) {
      if (s.opcode.size() == 3)
        simple(comparisonNamed(s.opcode[1], i.type), {false, wide, wide});
      return;
    }
    if (is("selp"))
      return simple(selectOf(i.type), {wide, wide, wide, false});
    if (is("popc") || is("clz"))
      return simple(bitCountOf(bits, is("clz")), {false, wide});
    if (is("lop3"))
      return simple(lookUpBits, {false, false, false, false, false});
    if (is("prmt") && s.opcode.size() == 2)
      return simple(permuteBytes, {false, false, false, false});
    if (is("bfe"))
      return simple(extractBitsOf(i.type), {wide, wide, false, false});
    if (is("shf"))
      return simple(funnelShiftOf(has("l"), has("wrap")),
                    {false, false, false, false});
    if (is("shl") || is("shr"))
      return simple(shiftOf(i.type, is("shl")), {wide, wide, false});
    if (is("shfl") && has("sync")) {
      i.mode = has("up")     ? ShuffleUp
               : has("down") ? ShuffleDown
               : has("bfly") ? ShuffleButterfly
                             : ShuffleIndex;
      return simple(shuffle, {false, false, false, false, false});
    }
  }

  void chooseAccess() {
    findSpace();
    i.access = kernel.accesses++;
    i.isReadOnly = has("nc");
    bool isStore = is("st") || is("red");
    if (isStore && i.space == Space::Parameter)
      return;
    if (!isStore) {
      values();
      operands.results = i.width;
      comma();
    }
    address();
    if (is("ld") || is("ldu")) {
      i.run = i.space == Space::Parameter ? loadParameter : load;
      return end();
    }
    comma();
    values();
    end();
    if (is("st")) {
      i.run = store;
      return;
    }
    for (const char *name : {"add", "min", "max"})
      if (has(name))
        i.run = atomicNamed(name, i.type);
  }

  void chooseTensor() {
    i.access = kernel.accesses++;
    if (is("ldmatrix") && has("m8n8") && has("b16")) {
      i.mode = has("trans");
      fragment(has("x4") ? 4 : has("x2") ? 2 : 1);
      operands.results = i.width = uint8_t(operands.numbers.size());
      comma();
      i.space = Space::Shared;
      address();
      i.run = loadMatrix;
      return end();
    }
    if (is("mma") && has("sync") && has("row") && has("col")) {
      size_t count = s.opcode.size();
      Type a = typeNamed(s.opcode[count - 3]),
           b = typeNamed(s.opcode[count - 2]);
      bool isKnown = a.kind == b.kind && i.type.isFloat() &&
                     i.type.bits == 32 &&
                     has(a.bits == 32 ? "m16n8k8" : "m16n8k16");
      if (!isKnown)
        return;
      int sizes[] = {4, 4, 2, 4};
      for (int &size : sizes) {
        if (&size != sizes)
          comma();
        fragment(size);
      }
      operands.results = 4;
      i.run = matrixProductOf(a);
      return end();
    }
    if (!is("cp") || !has("async"))
      return;
    if (has("bulk"))
      return chooseBoxCopy();
    if (has("commit_group"))
      return none(commitCopies);
    if (has("wait_all")) {
      operands.numbers.push_back(constant(0, false));
      i.mode = 1; // waits for the open group, too
      return none(waitForCopies);
    }
    if (has("wait_group")) {
      operand(false);
      return none(waitForCopies);
    }
    if (!has("global") || (!has("shared") && !has("shared::cta")))
      return;
    // `cp.async`: address, source, size in bytes, and number of bytes to read.
    i.space = Space::Global;
    address();
    int64_t source = i.offset;
    bool isWideAddress = i.isAddressWide;
    comma();
    i.offset = 0;
    address();
    std::swap(source, i.offset);
    if (source != 0 || !i.isAddressWide)
      fail("the source has an offset");
    i.isAddressWide = isWideAddress;
    comma();
    operand(false);
    if (takeIf(","))
      operand(false);
    else
      operands.numbers.push_back(operands.numbers.back());
    i.isReadOnly = true;
    i.run = copyAsync;
    end();
  }

  /// `cp.async.bulk.tensor` from global memory, which completes a phase of an
  /// mbarrier.
  void chooseBoxCopy() {
    unsigned axes = 0;
    if (s.opcode.size() != 8 || s.opcode[3] != "tensor" ||
        std::sscanf(s.opcode[4].c_str(), "%ud", &axes) != 1 || axes < 1 ||
        axes > TensorMap::kMostAxes || s.opcode[5] != "shared::cluster" ||
        s.opcode[6] != "global" ||
        s.opcode[7] != "mbarrier::complete_tx::bytes")
      return;
    kernel.usesAsyncProxy = true;
    i.width = uint8_t(axes);
    i.isReadOnly = true;
    sharedAddress();
    comma();
    inBrackets([&] {
      operand(true);
      comma();
      fragment(int(axes));
    });
    comma();
    sharedAddress();
    i.run = copyBox;
    end();
  }

  /// Only barriers in shared memory, and waits by parity, are supported.
  void chooseBarrier() {
    if (!has("shared") && !has("shared::cta"))
      return;
    kernel.usesAsyncProxy = true;
    if (has("init")) {
      sharedAddress();
      comma();
      operand(false);
      return none(initializeBarrier);
    }
    if (has("arrive") && takeIf("_")) {
      comma();
      sharedAddress();
      if (has("expect_tx")) {
        comma();
        operand(false);
      } else
        operands.numbers.push_back(constant(0, false));
      return none(arriveAtBarrier);
    }
    if (has("try_wait") && has("parity")) {
      operand(false);
      operands.results = 1;
      comma();
      sharedAddress();
      comma();
      operand(false);
      i.control = Instruction::Wait;
      end();
    }
  }

  /// A constant operand that is part of the instruction.
  uint64_t immediate() {
    comma();
    bool isNegative = takeIf("-");
    return number(take(), isNegative);
  }

  void chooseWarpgroup() {
    i.access = kernel.accesses++;
    if (has("fence"))
      return none(fenceAccumulators);
    if (has("commit_group"))
      return none(commitProducts);
    if (has("wait_group")) {
      operand(false);
      return none(waitForProducts);
    }
    unsigned columns = 0;
    if (s.opcode.size() != 8 ||
        std::sscanf(s.opcode[4].c_str(), "m64n%uk16", &columns) != 1 ||
        columns % 8 != 0 || columns > 256 || s.opcode[5] != "f32" ||
        s.opcode[6] != s.opcode[7] || i.from.bits != 16)
      return;
    i.width = uint8_t(columns / 8);
    fragment(int(columns / 2));
    operands.results = uint8_t(operands.numbers.size());
    std::vector<uint32_t> sums = operands.numbers;
    for (bool wide : {true, true, false}) {
      comma();
      operand(wide);
    }
    // The accumulators are read, too.
    operands.numbers.insert(operands.numbers.end(), sums.begin(), sums.end());
    bool isNegated = immediate() != 1;
    isNegated |= immediate() != 1;
    i.mode = uint8_t(immediate());
    i.mode |= uint8_t(immediate() << 1);
    if (isNegated)
      return;
    i.run = beginProduct;
    end();
  }

  void chooseMove() {
    bool wide = i.type.bits == 64;
    if (is("cvta")) {
      findSpace();
      return simple(addressConversion(has("to")), {true, true});
    }
    if (is("cvt"))
      return chooseConversion();
    if (peek() == "{") {
      values();
      operands.results = i.width;
      comma();
      operand(wide);
      i.run = unpackOf(i.type, i.width);
      return end();
    }
    operands.results = 1;
    operand(wide);
    comma();
    if (peek() != "{") {
      operand(wide);
      i.run = copyOf(wide);
      return end();
    }
    i.isValueWide = false;
    Type whole = i.type;
    i.type.bits = 32; // size of constants
    values();
    i.type = whole;
    i.run = packOf(i.type, i.width);
    end();
  }

  void chooseConversion() {
    bool isWhole = has("rni") || has("rzi") || has("rmi") || has("rpi");
    i.mode = has("rzi") || has("rz")   ? Zero
             : has("rmi") || has("rm") ? Down
             : has("rpi") || has("rp") ? Up
                                       : Nearest;
    if (i.mode && !isWhole)
      return; // only conversions to integers have other modes than to nearest
    if (isWhole)
      i.mode |= Whole;
    if (has("bf16x2") || has("f16x2"))
      return simple(conversionOf({has("bf16x2") ? 'g' : 'f', 16}, i.type, true),
                    {false, false, false});
    simple(conversionOf(i.type, i.from, false),
           {i.type.bits == 64, i.from.bits == 64});
  }

  const Statement &s;
  Kernel &kernel;
  Draft &draft;
  Names &names;
  Instruction i;
  Operands operands;
  size_t at = 0;
};
} // namespace

void netc::simulator::decode(const Statement &statement, Kernel &kernel,
                             Draft &draft, Names &names) {
  Decoder(statement, kernel, draft, names).decode();
}
