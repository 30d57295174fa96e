// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Npy.h"
#include "lib/Runtime/Failure.h"
#include "lib/Runtime/OutputFile.h"

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

static Failure wrong(const std::string &path, const std::string &what) {
  return Failure(1, "`" + path + "` " + what);
}

/// As Python writes it: (), (3,), (3, 4).
static std::string spell(const std::vector<int64_t> &shape,
                         const char *before = "") {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : before) + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// What follows `'key':` in the header, a Python dictionary.
static std::string valueOf(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  if (at != std::string::npos)
    at = header.find(':', at);
  if (at != std::string::npos)
    at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : header.substr(at);
}

/// Reads "(3, 4)"; false if it is something else.
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
  // A pipe is refused, not waited for.
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
  for (const char *known : {"<f4", "<f8", "<i4", "<i8", "|u1"})
    if (descr == "'" + std::string(known) + "'")
      type = known + 1;
  if (type.empty())
    throw wrong(path, "has elements " + descr +
                          "; '<f4', '<f8', '<i4', '<i8' and '|u1' are read");
  if (valueOf(header, "fortran_order").compare(0, 5, "False"))
    throw wrong(path, "is not in C order");
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

int64_t NpyFile::check(const Slot &slot, bool many) const {
  bool suits = (type[0] == 'f') == isFloat(slot.element);
  int64_t number = 1;
  std::vector<int64_t> one = sizes;
  if (many && one.size() == slot.shape.size() + slot.shape.empty()) {
    int64_t first = slot.shape.empty() ? 1 : slot.shape[0];
    if (slot.shape.empty() && !one.empty()) {
      number = one[0];
      one.clear();
    } else if (!one.empty() && one[0] >= first) {
      number = one[0] / first; // of an incomplete last batch leftOver tells
      one[0] = first;
    }
  }
  if (!suits || one != slot.shape || !number)
    throw wrong(path,
                "holds " + type + " of shape " + spell(sizes) + "; `" +
                    slot.name + "` takes " +
                    (isFloat(slot.element) ? "f4 or f8" : "i4, i8 or u1") +
                    " of shape " + spell(slot.shape) +
                    (many ? " or many of these, one after another" : ""));
  return number;
}

int64_t NpyFile::leftOver(const Slot &slot) const {
  bool hasBatches = sizes.size() == slot.shape.size() && !sizes.empty();
  return hasBatches ? sizes[0] % slot.shape[0] : 0;
}

namespace {
/// Reads `count` elements of type From, checks integers, and stores them.
template <typename From, typename To>
void convert(const NpyFile &file, const char *from, const Slot &slot,
             char *to) {
  for (int64_t i = 0, count = slot.count(); i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * int64_t(sizeof(From)), sizeof(From));
    if constexpr (std::is_integral_v<To>) {
      int64_t low = slot.below ? 0 : std::numeric_limits<To>::min();
      int64_t high =
          slot.below ? slot.below - 1 : std::numeric_limits<To>::max();
      if (int64_t(value) < low || int64_t(value) > high)
        throw wrong(file.path, "holds " + std::to_string(value) + "; `" +
                                   slot.name + "` takes " +
                                   std::to_string(low) + " to " +
                                   std::to_string(high));
    }
    reinterpret_cast<To *>(to)[i] = To(value);
  }
}

template <typename To>
void convertFrom(char kind, char bytes, const NpyFile &file, const char *from,
                 const Slot &slot, char *to) {
  if constexpr (std::is_floating_point_v<To>)
    bytes == '4' ? convert<float, To>(file, from, slot, to)
                 : convert<double, To>(file, from, slot, to);
  else if (kind == 'u')
    convert<uint8_t, To>(file, from, slot, to);
  else
    bytes == '4' ? convert<int32_t, To>(file, from, slot, to)
                 : convert<int64_t, To>(file, from, slot, to);
}
} // namespace

void NpyFile::read(const Slot &slot, int64_t number, char *data) const {
  const char *from = elements + number * slot.count() * (type[1] - '0');
  switch (slot.element) {
  case Element::F32:
    return convertFrom<float>(type[0], type[1], *this, from, slot, data);
  case Element::F64:
    return convertFrom<double>(type[0], type[1], *this, from, slot, data);
  case Element::I64:
    return convertFrom<int64_t>(type[0], type[1], *this, from, slot, data);
  case Element::I32:
    return convertFrom<int32_t>(type[0], type[1], *this, from, slot, data);
  case Element::I8:
    return convertFrom<int8_t>(type[0], type[1], *this, from, slot, data);
  }
}

void netc::runtime::writeNpy(const std::string &path, const Slot &slot,
                             const char *data) {
  std::string type = nameOf(slot.element);
  type = (type == "i8" ? "|" : "<") + type.substr(0, 1) +
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
