// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Npy.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

using namespace netc::program;
using namespace netc::runtime;

static const char magic[] = "\x93NUMPY";

/// The types that can be read, as headers spell them. V2 is how ml_dtypes
/// writes bf16, for which numpy has no name.
static const char *const readable[] = {"<f2", "<f4", "<f8", "|i1", "<i2", "<i4",
                                       "<i8", "|u1", "<u2", "<V2", "|V2"};

static Failure wrong(const std::string &path, const std::string &what) {
  return Failure(1, "`" + path + "` " + what);
}

/// The shape as Python prints it: (), (3,), (3, 4).
static std::string spell(const std::vector<int64_t> &shape,
                         const char *before = "") {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : before) + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The text after `'key':` in the header, a Python dictionary.
static std::string valueOf(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  if (at != std::string::npos)
    at = header.find(':', at);
  if (at != std::string::npos)
    at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : header.substr(at);
}

/// Parses "(3, 4)"; false if it is something else.
static bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  const char *at = text.c_str();
  if (*at++ != '(')
    return false;
  while (true) {
    at += std::strspn(at, " ,");
    if (*at == ')')
      return true;
    if (*at < '0' || *at > '9')
      return false;
    int64_t size = 0;
    for (; *at >= '0' && *at <= '9'; ++at)
      if (__builtin_mul_overflow(size, 10, &size) ||
          __builtin_add_overflow(size, *at - '0', &size))
        return false;
    shape.push_back(size);
  }
}

NpyFile::NpyFile(const std::string &path) : path(path) {
  // Do not wait for a pipe: it is refused below.
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file < 0 || fstat(file, &status)) {
    std::string why = std::strerror(errno);
    if (file >= 0)
      close(file);
    throw wrong(path, "cannot be read: " + why);
  }
  size_t size = size_t(status.st_size);
  bool hasBytes = S_ISREG(status.st_mode) && size;
  void *memory = hasBytes ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0)
                          : MAP_FAILED;
  int error = errno;
  close(file);
  if (!hasBytes)
    throw wrong(path, "is no npy file");
  if (memory == MAP_FAILED)
    throw Failure(3, "`" + path + "` of " + std::to_string(size) +
                         " bytes cannot be read: " + std::strerror(error));
  const char *bytes = static_cast<const char *>(memory);
  mapping.reset(bytes, [memory, size](const char *) { munmap(memory, size); });

  if (size < 12 || std::memcmp(bytes, magic, 6))
    throw wrong(path, "is no npy file");
  int version = bytes[6];
  if (version != 1 && version != 2)
    throw wrong(path, "is an npy file of version " + std::to_string(version) +
                          "; 1 and 2 are read");
  size_t start = version == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = start; i-- > 8;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > size - start)
    throw wrong(path, "ends inside its header");
  std::string header(bytes + start, length);
  elements = bytes + start + length;

  std::string descr = valueOf(header, "descr");
  descr = descr[0] == '[' ? "of several fields"
                          : descr.substr(0, descr.find_first_of(",}"));
  for (const char *one : readable) {
    if (descr == "'" + std::string(one) + "'")
      type = one + 1;
    if (descr == "'>" + std::string(one + 1) + "'")
      throw wrong(path, "has big-endian elements " + descr +
                            "; little-endian ones are read, which numpy's "
                            "`astype` makes");
  }
  if (type.empty())
    throw wrong(path, "has elements " + descr +
                          "; f2, f4, f8, i1, i2, i4, i8, u1 and u2 are read");
  std::string order = valueOf(header, "fortran_order");
  if (order.compare(0, 4, "True") == 0)
    throw wrong(path, "is in Fortran order; C order is read, which numpy's "
                      "`ascontiguousarray` makes");
  if (order.compare(0, 5, "False"))
    throw wrong(path, "does not say in its header that it is in C order");
  if (!parseShape(valueOf(header, "shape"), sizes))
    throw wrong(path, "has no shape in its header");
  int64_t needed = type[1] - '0';
  for (int64_t extent : sizes)
    if (__builtin_mul_overflow(needed, extent, &needed))
      throw wrong(path, "has a shape without bounds: " + spell(sizes));
  if (uint64_t(needed) != size - start - length)
    throw wrong(path, "holds " + std::to_string(size - start - length) +
                          " bytes of data; " + spell(sizes) + " of " + type +
                          " is " + std::to_string(needed));
}

/// Whether elements of a file's type can be converted to the slot's: exactly,
/// or rounded from a wider type.
static bool suits(const std::string &type, Element element) {
  bool isWhole = type[0] == 'i' || type[0] == 'u';
  if (!isFloat(element))
    return isWhole;
  return !isWhole || type[1] <= '2'; // u2 are the bits of bf16
}

int64_t NpyFile::check(const Slot &slot, bool many, bool negative) const {
  if (!suits(type, slot.element))
    throw wrong(path, "holds " + type + "; `" + slot.name + "` of " +
                          nameOf(slot.element) + " takes " +
                          (isFloat(slot.element)
                               ? "f2, f4, f8, i1, i2, u1, or bf16 as u2"
                               : "i1, i2, i4, i8, u1 or u2"));
  int64_t number = 1;
  std::vector<int64_t> one = sizes;
  if (many && one.size() == slot.shape.size() + slot.shape.empty()) {
    int64_t first = slot.shape.empty() ? 1 : slot.shape[0];
    if (slot.shape.empty() && !one.empty()) {
      number = one[0];
      one.clear();
    } else if (!one.empty() && one[0] >= first) {
      number = one[0] / first; // leftOver() reports an incomplete last batch
      one[0] = first;
    }
  }
  if (one != slot.shape || !number)
    throw wrong(path, "holds " + type + " of shape " + spell(sizes) + "; `" +
                          slot.name + "` takes " + spell(slot.shape) +
                          (many ? " or many of these, one after another" : ""));
  if (!isFloat(slot.element))
    checkNumbers(slot, number * slot.count(), negative);
  return number;
}

int64_t NpyFile::leftOver(const Slot &slot) const {
  bool hasBatches = sizes.size() == slot.shape.size() && !sizes.empty();
  return hasBatches ? sizes[0] % slot.shape[0] : 0;
}

/// Calls `visit` with a value of the C++ type of a file's elements.
template <typename Visit>
static void visitType(const std::string &type, bool becomeFloats, Visit visit) {
  switch (type[0]) {
  case 'f':
    return type == "f2"   ? visit(Half())
           : type == "f4" ? visit(float())
                          : visit(double());
  case 'i':
    return type == "i1"   ? visit(int8_t())
           : type == "i2" ? visit(int16_t())
           : type == "i4" ? visit(int32_t())
                          : visit(int64_t());
  case 'u':
    return type == "u1"    ? visit(uint8_t())
           : !becomeFloats ? visit(uint16_t())
                           : visit(Bfloat());
  default:
    return visit(Bfloat());
  }
}

template <typename T> static T elementAt(const char *elements, int64_t i) {
  T value;
  std::memcpy(&value, elements + i * int64_t(sizeof(T)), sizeof(T));
  return value;
}

bool NpyFile::holdsBfloats(const Slot &slot) const {
  return isFloat(slot.element) && (type == "u2" || type == "V2");
}

std::string NpyFile::placeOf(int64_t number) const {
  std::string place;
  for (size_t axis = sizes.size(); axis-- > 0; number /= sizes[axis])
    place = std::to_string(number % sizes[axis]) + (place.empty() ? "" : ", ") +
            place;
  return place.empty() ? "" : " at [" + place + "]";
}

void NpyFile::checkNumbers(const Slot &slot, int64_t count,
                           bool negative) const {
  int64_t most =
      std::numeric_limits<int64_t>::max() >> (64 - 8 * bytesOf(slot.element));
  int64_t low = -most - 1;
  int64_t high = slot.upperBound ? std::min(slot.upperBound - 1, most) : most;
  if (slot.upperBound && !negative)
    low = 0;
  visitType(type, /*becomeFloats=*/false, [&](auto any) {
    using T = decltype(any);
    if constexpr (std::is_integral_v<T>) {
      if (std::numeric_limits<T>::min() >= low &&
          std::numeric_limits<T>::max() <= high)
        return;
      for (int64_t i = 0; i < count; ++i) {
        int64_t value = elementAt<T>(elements, i);
        if (value >= low && value <= high)
          continue;
        bool isOfNone = negative && value > high;
        throw wrong(path,
                    "holds " + std::to_string(value) + placeOf(i) + "; `" +
                        slot.name + "` takes " +
                        std::to_string(isOfNone ? 0 : low) + " to " +
                        std::to_string(high) +
                        (isOfNone ? ", or any negative number for none" : ""));
      }
    }
  });
}

void NpyFile::read(const Slot &slot, int64_t number, char *data) const {
  int64_t count = slot.count();
  const char *from = elements + number * count * (type[1] - '0');
  program::visitType(slot.element, [&](auto element) {
    using To = decltype(element);
    visitType(type, isFloat(slot.element), [&](auto any) {
      for (int64_t i = 0; i < count; ++i)
        reinterpret_cast<To *>(data)[i] = To(elementAt<decltype(any)>(from, i));
    });
  });
}

void netc::runtime::writeNpy(const std::string &path, const Slot &slot,
                             const char *data) {
  // bf16 is written as its bits, as it is read.
  std::string type(1, slot.element == Element::BF16 ? 'u'
                                                    : nameOf(slot.element)[0]);
  type = (slot.element == Element::I8 ? "|" : "<") + type +
         std::to_string(bytesOf(slot.element));
  std::string header =
      "{'descr': '" + type +
      "', 'fortran_order': False, 'shape': " + spell(slot.shape) + ", }";
  // The data start at a multiple of 64.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string start(magic, 6);
  start += {1, 0, char(header.size() & 0xff), char(header.size() >> 8)};
  writeFile(path, {start, header, {data, size_t(slot.bytes())}});
}
