// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_NPY_H
#define NETC_LIB_RUNTIME_NPY_H

#include "lib/Program/Program.h"

#include <memory>
#include <string>
#include <vector>

namespace netc::runtime {

/// An array in a file, as numpy.save writes it: version 1 or 2, little endian,
/// C order, of f4, f8, i4, i8 or u1. Mapped, not read.
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
class NpyFile {
public:
  /// Throws a Failure that names the file.
  explicit NpyFile(const std::string &path);

  std::string path;
  const std::vector<int64_t> &shape() const { return sizes; }

  /// Throws unless the elements can become the slot's, floating-point numbers
  /// of either width or integers, and the file's shape is the slot's. With
  /// `many`, the first axis may be a multiple of the slot's, or stand before a
  /// scalar's none. Returns how many tensors of the slot's size there are.
  int64_t check(const program::Slot &slot, bool many) const;
  /// How many elements of the first axis fill no tensor of the slot's size.
  int64_t leftOver(const program::Slot &slot) const;
  /// Stores the tensor with this number. Throws at an integer that the slot
  /// does not take. check() must have passed.
  void read(const program::Slot &slot, int64_t number, char *data) const;

private:
  std::shared_ptr<const char> mapping;
  std::vector<int64_t> sizes;
  std::string type; ///< kind and bytes of an element: f4
  const char *elements;
};

/// Writes a slot's tensor.
void writeNpy(const std::string &path, const program::Slot &slot,
              const char *data);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_NPY_H
