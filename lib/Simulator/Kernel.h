// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_KERNEL_H
#define NETC_LIB_SIMULATOR_KERNEL_H

#include "lib/Simulator/Simulator.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace netc::simulator {

constexpr int kLanes = 32;

/// A type of PTX: a predicate, or a number with its size in bits.
struct Type {
  /// `p`redicate, `b`its, `u`nsigned, `s`igned, `f`loat; `g` is bf16, `t` is
  /// tf32; 0 is none.
  char kind = 0;
  uint8_t bits = 0;

  bool isFloat() const { return kind == 'f'; }
  uint32_t bytes() const { return bits / 8u; }
};
/// The type with this name, such as `s32`; none if there is none.
Type typeNamed(const std::string &name);

enum class Space : uint8_t { Generic, Global, Shared, Local, Parameter };
/// The start of shared and local memory, and of parameters, in the generic
/// address space.
constexpr uint64_t kSharedWindow = uint64_t(1) << 60,
                   kLocalWindow = uint64_t(1) << 61,
                   kParameterWindow = uint64_t(1) << 62;

/// A value of all lanes: 4 contiguous bytes for each, or 8 if it is wide.
/// Predicates are all ones or zero.
struct Register {
  bool isWide = false;
};
constexpr uint32_t bytesOf(Register r) { return kLanes * (r.isWide ? 8 : 4); }

class Launch;
struct Warp;
struct Instruction;
using Handler = void (*)(Launch &, Warp &, const Instruction &, uint32_t lanes);

/// A decoded instruction.
struct Instruction {
  /// `Wait` is for a phase of an mbarrier.
  enum Control : uint8_t { None, Branch, Return, Barrier, Wait };

  Handler run = nullptr;
  /// Byte offsets of its operands in a warp's register file, results first.
  const uint32_t *slots = nullptr;
  int64_t offset = 0;  ///< in bytes, added to the address
  int32_t guard = -1;  ///< slot of the predicate, or -1
  int32_t target = -1; ///< destination of a branch
  Control control = None;
  bool isNegated = false; ///< whether the guard is negated
  Space space = Space::Generic;
  Type type, from;   ///< of the result; source type of a conversion
  uint8_t mode = 0;  ///< rounding, shuffle and so on
  uint8_t width = 1; ///< elements of a vector
  uint8_t flop = 0;  ///< per lane
  /// The number of the operand that is the address of a load, store or atomic.
  uint8_t address = 0;
  bool isAddressWide = true;
  /// Whether it reads memory that no thread of the launch is expected to write
  /// (`.nc`, `cp.async`).
  bool isReadOnly = false;
  /// Whether the registers of a load or store are wide.
  bool isValueWide = false;
  /// Whether it reads or writes accumulators of `wgmma`, and is no `wgmma`.
  bool usesAccumulators = false;
  /// Its number among the instructions that access memory.
  uint32_t access = 0;
};

/// Registers with the position of a thread, which are set before it starts. The
/// clocks have 64 bits. There is no time: they count the kernels' instructions.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  SmId,
  Clock64,
  GlobalTimer
};
inline bool isWide(Special special) { return special >= Special::Clock64; }

/// The addresses of an instruction's active lanes, relative to the first one.
/// Most instructions have the same pattern in every execution.
struct Pattern {
  uint32_t lanes = 0, bytes = 0;
  int32_t at[kLanes] = {}; ///< of active lanes; the rest repeats the last one
  uint32_t count = 0;      ///< number of active lanes
  int64_t low = 0, high = 0;
  uint64_t odd = 0; ///< the bitwise or of all relative addresses
  /// Whether the lanes access contiguous bytes, or all the same ones.
  bool isDense = false, isUniform = false;
  /// The sectors of 32 bytes, and the passes over banks. They hold for the
  /// lowest bits of the start address, for which they were counted.
  uint32_t startOfSectors = 0, sectors = 0;
  uint32_t startOfBanks = 0, passes = 0, leastPasses = 0;
};

/// The text and line of an instruction, for reports.
struct Source {
  int line = 0;
  std::string text;
};

/// A decoded kernel.
struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<Source> sources; ///< by instruction
  std::vector<uint32_t> slots; ///< of all operands
  /// The bytes of the constants, which are at the start of a register file.
  std::vector<char> constants;
  uint32_t fileBytes = 0;
  std::vector<std::pair<Special, uint32_t>> specials; ///< with their slots
  /// Size and offset in bytes of each parameter.
  std::vector<std::pair<uint32_t, uint32_t>> parameters;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0, localBytes = 0;
  uint32_t accesses = 0; ///< instructions that access memory
  /// Whether it accesses shared memory by the asynchronous proxy (`wgmma`,
  /// `cp.async.bulk`).
  bool usesAsyncProxy = false;

  /// What launches leave behind. `isSuspect`: the next launch is checked access
  /// by access from the start. `counted`: what was executed. `patterns`: the
  /// last pattern of each access.
  bool isSuspect = false;
  Counters counted;
  std::vector<Pattern> patterns;
};

/// A variable in global memory.
struct Variable {
  std::string name;
  uint64_t bytes = 0;
  std::vector<char> init;
};

/// A token of PTX.
struct Token {
  std::string text;
  int line;
};

/// A parsed instruction.
struct Statement {
  std::string guard; ///< register, or empty
  bool isNegated = false;
  std::vector<std::string> opcode; ///< `ld`, `global`, `f32`
  std::vector<Token> operands;     ///< all tokens, with commas
  Source source;
};

/// The names of a kernel and its module.
struct Names {
  std::unordered_map<std::string, uint32_t> registers; ///< numbers
  std::unordered_map<std::string, uint64_t> shared, local, parameters,
      globals; ///< offsets; addresses of globals
  std::unordered_map<std::string, int32_t> labels;
};

/// Operands before they have slots: numbers of registers, or of constants if
/// kConstant is set. The first `results` of them are results.
struct Operands {
  std::vector<uint32_t> numbers;
  uint8_t results = 0;
};

/// The state of decoding a kernel: its registers, and its constants, which are
/// the same for all lanes.
struct Draft {
  std::vector<Register> registers;
  std::vector<std::pair<Register, uint64_t>> constants;
  std::vector<Operands> operands; ///< by instruction
  static constexpr uint32_t kConstant = 1u << 31;
};

/// Decodes an instruction. Its guard and operands are numbers, and get slots
/// later. Throws a PtxError if the instruction is not supported.
void decode(const Statement &statement, Kernel &kernel, Draft &draft,
            Names &names);
/// Allocates slots in the register file. Registers that are not live at the
/// same time share slots.
void placeRegisters(Kernel &kernel, const Draft &draft);
/// Marks the instructions that use accumulators of `wgmma`. Waits for products
/// get all accumulators as operands, since they write them.
void markAccumulators(Kernel &kernel, Draft &draft);

/// Throws a PtxError with the line.
[[noreturn]] void refuse(const Source &source, const std::string &why);

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_KERNEL_H
