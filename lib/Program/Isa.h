// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_ISA_H
#define NETC_LIB_PROGRAM_ISA_H

namespace netc::program {

/// Vector extensions that netc compiles for, the best last.
enum class Isa { Baseline, AVX2, AVX512 };
/// In the order of the enumeration.
constexpr const char *isas[] = {"baseline", "avx2", "avx512"};

inline const char *nameOf(Isa isa) { return isas[int(isa)]; }

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_ISA_H
