// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/ElementTypes.h"

#include "dialect/ElementName.h"
#include "lib/Analysis/Views.h"

using namespace netc;
using namespace mlir;

std::optional<NumberFormat> netc::numberFormatOf(Type element) {
  if (element.isF64())
    return NumberFormat::F64;
  if (element.isF32())
    return NumberFormat::F32;
  if (element.isBF16())
    return NumberFormat::BF16;
  if (element.isF16())
    return NumberFormat::F16;
  if (isa<Float8E4M3FNType>(element))
    return NumberFormat::F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return NumberFormat::F8E5M2;
  return std::nullopt;
}

std::string netc::nameOfType(Type element) {
  if (std::optional<NumberFormat> format = numberFormatOf(element))
    return traitsOf(*format).name.str();
  return elementName(element);
}

Polynomial BytesByType::total() const {
  Polynomial sum;
  for (const auto &[type, ofType] : bytes)
    sum += ofType;
  return sum;
}

Polynomial BytesByType::of(StringRef type) const {
  for (const auto &[name, ofType] : bytes)
    if (name == type)
      return ofType;
  return {};
}

void BytesByType::add(StringRef type, const Polynomial &more) {
  if (more.isZero())
    return;
  auto at =
      llvm::lower_bound(bytes, type, [](const auto &pair, StringRef name) {
        return pair.first < name;
      });
  if (at == bytes.end() || at->first != type)
    at = bytes.emplace(at, type.str(), Polynomial());
  at->second += more;
  if (at->second.isZero())
    bytes.erase(at);
}

void BytesByType::add(Value value, const Polynomial &times) {
  add(elementOf(value), bytesOf(value) * times);
}

BytesByType &BytesByType::operator+=(const BytesByType &other) {
  for (const auto &[type, more] : other.bytes)
    add(type, more);
  return *this;
}

BytesByType &BytesByType::operator-=(const BytesByType &other) {
  for (const auto &[type, less] : other.bytes)
    add(type, -less);
  return *this;
}

BytesByType BytesByType::map(Map map) const {
  BytesByType result;
  for (const auto &[type, ofType] : bytes)
    result.add(type, map(ofType));
  return result;
}
