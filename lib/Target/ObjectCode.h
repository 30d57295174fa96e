// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TARGET_OBJECTCODE_H
#define NETC_LIB_TARGET_OBJECTCODE_H

#include "lib/Program/Isa.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace netc {

/// The machine that this program runs on. `level` is how much code for it is
/// optimized. `isa` leaves wider vectors out.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
hostMachine(llvm::CodeGenOptLevel level,
            std::optional<program::Isa> isa = std::nullopt);

/// The widest vectors that it has.
program::Isa isaOf(const llvm::TargetMachine &machine);

/// LLVM IR, optimized for `machine`, of a module in the LLVM dialect, with
/// `description` as `netc_program`.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(mlir::ModuleOp module, llvm::StringRef description,
          llvm::TargetMachine &machine, llvm::LLVMContext &context);

/// Lets AddressSanitizer check each access to memory.
void instrument(llvm::Module &module);

/// The bytes of an object file.
llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace netc

#endif // NETC_LIB_TARGET_OBJECTCODE_H
