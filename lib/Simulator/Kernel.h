// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_SIMULATOR_KERNEL_H
#define NETC_LIB_SIMULATOR_KERNEL_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace netc::simulator {

constexpr int kLanes = 32;

/// A type of PTX: predicates, or numbers of so many bits.
struct Type {
  char kind = 0; ///< `p`, `b`its, `u`nsigned, `s`igned, `f`loat; 0 for none
  uint8_t bits = 0;

  bool isFloat() const { return kind == 'f'; }
  uint32_t bytes() const { return bits / 8u; }
};
/// The one that PTX calls so, such as `s32`; none if it is no type.
Type typeNamed(const std::string &name);

enum class Space : uint8_t { Generic, Global, Shared, Local, Parameter };
/// Where the windows of shared and local memory lie for generic addresses.
constexpr uint64_t kSharedWindow = uint64_t(1) << 60, kLocalWindow = uint64_t(1)
                                                                     << 61;

/// What an instruction reads or writes, by lane: a register, or a constant that
/// all lanes share.
struct Operand {
  uint32_t index = 0;
  bool isConstant = false;
};

class BlockRun;
struct Warp;
struct Instruction;
using Handler = void (*)(BlockRun &, Warp &, const Instruction &,
                         uint32_t lanes);

/// A decoded instruction.
struct Instruction {
  enum Control : uint8_t { None, Branch, Return, Barrier };

  Handler run = nullptr;
  Control control = None;
  std::vector<Operand> operands; ///< results first
  /// The address of a load, store or atomic operation is operands[address].
  uint8_t address = 0;
  int64_t offset = 0; ///< in bytes, added to the address
  Space space = Space::Generic;
  Type type, from;    ///< of the result; of what is converted
  uint8_t mode = 0;   ///< which comparison, rounding, ..
  uint8_t width = 1;  ///< elements of a vector
  uint8_t flop = 0;   ///< of a lane
  int32_t guard = -1; ///< register of the predicate, if there is one
  bool isNegated = false;
  int32_t target = -1; ///< where a branch goes
  int line = 0;
  std::string text;
};

/// Registers that hold what a thread is: filled before it starts.
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
  WarpId
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  uint32_t registers = 0;
  std::vector<uint64_t> constants;                    ///< kLanes times each
  std::vector<std::pair<Special, uint32_t>> specials; ///< their registers
  /// Bytes and offset of each parameter.
  std::vector<std::pair<uint32_t, uint32_t>> parameters;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0, localBytes = 0;
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

/// An instruction as it is written.
struct Statement {
  std::string guard; ///< register, or empty
  bool isNegated = false;
  std::vector<std::string> opcode; ///< `ld`, `global`, `f32`
  std::vector<Token> operands;     ///< all of them, with their commas
  int line = 0;
  std::string text;
};

/// Where names stand for something else than registers.
struct Names {
  std::map<std::string, uint32_t> registers;
  std::map<std::string, uint64_t> shared, local, parameters; ///< offsets
  std::map<std::string, uint64_t> globals;                   ///< addresses
  std::map<std::string, int32_t> labels;
};

/// Decodes one; throws a PtxError if it is not known.
Instruction decode(const Statement &statement, Kernel &kernel, Names &names);

[[noreturn]] void refuse(int line, const std::string &text,
                         const std::string &why);

} // namespace netc::simulator

#endif // NETC_LIB_SIMULATOR_KERNEL_H
