// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_OBJECTCODE_H
#define NETC_LIB_TARGET_OBJECTCODE_H

#include "lib/Program/Isa.h"
#include "lib/Program/TargetKind.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace netc {

/// LLVM's target machine for this host, with optimization `level`. `isa` limits
/// the width of vectors.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
hostMachine(llvm::CodeGenOptLevel level,
            std::optional<program::Isa> isa = std::nullopt);

/// The ISA with the widest vectors of `machine`.
program::Isa isaOf(const llvm::TargetMachine &machine);

/// The runtime's function that makes the execution of a target, to which
/// `netc_execution` points.
inline std::string executionOf(program::TargetKind target) {
  return std::string("netc_execute_") + program::nameOf(target);
}

/// Translates a module in the LLVM dialect to LLVM IR, and optimizes it for
/// `machine`. `description` becomes `netc_program`, and `netc_execution` points
/// to what executionOf() names.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(mlir::ModuleOp module, llvm::StringRef description,
          program::TargetKind target, llvm::TargetMachine &machine,
          llvm::LLVMContext &context);

/// Instruments each memory access for AddressSanitizer.
void instrument(llvm::Module &module);

/// The bytes of an object file.
llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace netc

#endif // NETC_LIB_TARGET_OBJECTCODE_H
