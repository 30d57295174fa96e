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

/// An array in a memory-mapped file of numpy.save: version 1 or 2, little
/// endian, C order, of f2, f4, f8, i1, i2, i4, i8, u1 or u2.
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
///
/// numpy has no bf16. For floating-point slots, u2 and V2 (raw elements of two
/// bytes) are the bits of bf16, while i1, i2 and u1 are integers. Values are
/// exact, except that f8 is rounded to f32, and all types to the nearest value
/// of a 16-bit slot.
class NpyFile {
public:
  /// Throws a Failure that names the file.
  explicit NpyFile(const std::string &path);

  std::string path;
  const std::vector<int64_t> &shape() const { return sizes; }

  /// Throws unless the file fits the slot: its type converts to the slot's, the
  /// shape is the slot's, and integers are in the slot's range (with
  /// `negative`, also negative ones). With `many`, the file may hold several
  /// tensors along the first axis; scalars have an axis of their own. Returns
  /// the number of tensors.
  int64_t check(const program::Slot &slot, bool many,
                bool negative = false) const;
  /// The number of rows of the first axis after the last whole tensor.
  int64_t leftOver(const program::Slot &slot) const;
  /// Reads tensor `number`. check() must have passed.
  void read(const program::Slot &slot, int64_t number, char *data) const;
  /// Whether the slot reads the elements as bf16.
  bool holdsBfloats(const program::Slot &slot) const;

private:
  /// Throws at the first of `count` integers that is out of the slot's range.
  void checkNumbers(const program::Slot &slot, int64_t count,
                    bool negative) const;
  /// The index of an element as text, ` at [1, 2]`.
  std::string placeOf(int64_t number) const;

  std::shared_ptr<const char> mapping;
  std::vector<int64_t> sizes;
  std::string type; ///< kind and bytes of an element: `f4`
  const char *elements;
};

/// Writes a slot's tensor.
void writeNpy(const std::string &path, const program::Slot &slot,
              const char *data);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_NPY_H
