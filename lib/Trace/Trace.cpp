// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/Trace.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc::trace;
using llvm::StringRef;

Slice Trace::addShapes(llvm::ArrayRef<std::vector<int64_t>> shapes) {
  std::string bytes;
  for (const std::vector<int64_t> &shape : shapes) {
    uint64_t size = shape.size();
    bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
    bytes.append(reinterpret_cast<const char *>(shape.data()),
                 size * sizeof(int64_t));
    hasShapes |= size != 0;
  }
  auto [known, isNew] = knownShapes.try_emplace(
      bytes, Slice{uint32_t(tensors.size()), uint32_t(shapes.size())});
  if (isNew)
    for (const std::vector<int64_t> &shape : shapes) {
      tensors.push_back({uint32_t(sizes.size()), uint32_t(shape.size())});
      llvm::append_range(sizes, shape);
    }
  return known->second;
}

Slice Trace::addWords(llvm::ArrayRef<std::string> texts) {
  std::vector<Name> list;
  for (StringRef text : texts)
    list.push_back(names.intern(text));
  auto [known, isNew] = knownWords.try_emplace(
      StringRef(reinterpret_cast<const char *>(list.data()),
                list.size() * sizeof(Name)),
      Slice{uint32_t(words.size()), uint32_t(list.size())});
  if (isNew)
    llvm::append_range(words, list);
  return known->second;
}

/// The index of the element of `list` with the same bytes as `added`. Appends
/// `added` if there is none.
template <typename T>
static uint32_t indexOf(const T &added, std::vector<T> &list,
                        llvm::StringMap<uint32_t> &known) {
  auto [place, isNew] = known.try_emplace(
      StringRef(reinterpret_cast<const char *>(&added), sizeof added),
      uint32_t(list.size()));
  if (isNew)
    list.push_back(added);
  return place->second;
}

uint32_t Trace::addInputs(const Inputs &added) {
  bool isNone = !added.shapes.size && !added.types.size && !added.values.size;
  return isNone ? 0 : indexOf(added, inputs, knownInputs);
}

uint32_t Trace::addExtents(const Extents &added) {
  return indexOf(added, extents, knownExtents);
}
