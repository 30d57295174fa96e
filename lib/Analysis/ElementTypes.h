// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_ELEMENTTYPES_H
#define NETC_LIB_ANALYSIS_ELEMENTTYPES_H

#include "dialect/Net.h"
#include "lib/Hardware/NumberFormat.h"

namespace netc {

/// None for integers and truth values.
std::optional<NumberFormat> numberFormatOf(mlir::Type element);

/// The name of an element type in reports: `bf16`, `bool`, `f8e4m3`.
std::string nameOfType(mlir::Type element);

/// Bytes, by the element type of the tensors; see nameOfType.
class BytesByType {
public:
  using Map = llvm::function_ref<Polynomial(const Polynomial &bytes)>;

  Polynomial total() const;
  /// The bytes of this type, 0 if there are none.
  Polynomial of(llvm::StringRef type) const;
  /// Pairs of a type and its bytes, in the order of the names. None is zero.
  llvm::ArrayRef<std::pair<std::string, Polynomial>> types() const {
    return bytes;
  }

  void add(mlir::Type element, const Polynomial &more) {
    add(nameOfType(element), more);
  }
  /// Adds the bytes of a tensor `times` times.
  void add(mlir::Value value, const Polynomial &times = 1);
  BytesByType &operator+=(const BytesByType &other);
  BytesByType &operator-=(const BytesByType &other);
  BytesByType map(Map map) const;

  friend bool operator==(const BytesByType &a, const BytesByType &b) {
    return a.bytes == b.bytes;
  }

private:
  void add(llvm::StringRef type, const Polynomial &more);

  std::vector<std::pair<std::string, Polynomial>> bytes;
};

} // namespace netc

#endif // NETC_LIB_ANALYSIS_ELEMENTTYPES_H
