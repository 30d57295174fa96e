// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_ISA_H
#define NETC_LIB_PROGRAM_ISA_H

#include <optional>
#include <string_view>

namespace netc::program {

/// Vector extensions that netc compiles for, in ascending order.
enum class Isa { Baseline, AVX2, AVX512, AVX512BF16 };
/// In the order of the enumeration.
constexpr const char *isas[] = {"baseline", "avx2", "avx512", "avx512_bf16"};

inline const char *nameOf(Isa isa) { return isas[int(isa)]; }

inline std::optional<Isa> isaNamed(std::string_view name) {
  for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVX512, Isa::AVX512BF16})
    if (name == nameOf(isa))
      return isa;
  return std::nullopt;
}

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_ISA_H
