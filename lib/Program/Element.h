// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_PROGRAM_ELEMENT_H
#define NETC_LIB_PROGRAM_ELEMENT_H

#include "lib/Program/Float16.h"

#include <cstdint>
#include <optional>
#include <string>

namespace netc::program {

/// Element types of a program's tensors.
enum class Element { F32, F64, I64, I32, I8, F16, BF16 };

struct ElementTraits {
  const char *name; ///< as in IR
  int64_t bytes;
  bool isFloat;
};
/// In the order of the enumeration.
constexpr ElementTraits elements[] = {
    {"f32", 4, true}, {"f64", 8, true}, {"i64", 8, false}, {"i32", 4, false},
    {"i8", 1, false}, {"f16", 2, true}, {"bf16", 2, true}};

inline int64_t bytesOf(Element element) { return elements[int(element)].bytes; }
inline const char *nameOf(Element element) {
  return elements[int(element)].name;
}
/// The element type with this name in IR; none if there is none.
std::optional<Element> elementOf(const std::string &name);
inline bool isFloat(Element element) { return elements[int(element)].isFloat; }

/// Calls `visit` with a value of the C++ type of `element`.
template <typename Visit> auto visitType(Element element, Visit visit) {
  switch (element) {
  case Element::F32:
    return visit(float());
  case Element::F64:
    return visit(double());
  case Element::F16:
    return visit(Half());
  case Element::BF16:
    return visit(Bfloat());
  case Element::I64:
    return visit(int64_t());
  case Element::I32:
    return visit(int32_t());
  case Element::I8:
    break;
  }
  return visit(int8_t());
}

} // namespace netc::program

#endif // NETC_LIB_PROGRAM_ELEMENT_H
