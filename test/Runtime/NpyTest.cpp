// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Npy.h"
#include "test/Runtime/RuntimeTest.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

using namespace netc::program;
using namespace netc::runtime;

namespace {
class Npy : public testing::Test {
protected:
  std::string path = scratch() + "/a.npy";

  /// Writes an array as numpy does.
  template <typename T>
  void save(const std::string &descr, const std::string &shape,
            const std::vector<T> &values, int version = 1) {
    std::string header = "{'descr': '" + descr +
                         "', 'fortran_order': False, 'shape': " + shape +
                         ", }\n";
    std::string text = "\x93NUMPY";
    text += {char(version), 0, char(header.size()), 0};
    if (version == 2)
      text += {0, 0};
    text += header;
    text.append(reinterpret_cast<const char *>(values.data()),
                values.size() * sizeof(T));
    write(text);
  }
  void write(const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  /// What reading it fails with, without the path.
  std::string message(const Slot &slot, bool many = false,
                      bool negative = false) {
    return withoutPath(failure([&] {
      NpyFile file(path);
      file.check(slot, many, negative);
      std::vector<char> data(size_t(slot.bytes()));
      file.read(slot, 0, data.data());
    }));
  }
  std::string withoutPath(std::string text) {
    size_t at = text.find(path);
    return at == std::string::npos ? text : text.replace(at, path.size(), "F");
  }
  template <typename T>
  std::vector<T> read(const Slot &slot, int64_t number = 0,
                      bool negative = false) {
    NpyFile file(path);
    file.check(slot, true, negative);
    std::vector<T> values(size_t(slot.count()));
    file.read(slot, number, reinterpret_cast<char *>(values.data()));
    return values;
  }
};
} // namespace

static const Slot floats = makeSlot(Role::Input, Element::F32, {2, 2});
static const Slot labels =
    makeSlot(Role::Input, Element::I64, {2}, Init::Zeros, 300);

TEST_F(Npy, ReadsFloatsOfEitherWidth) {
  save<float>("<f4", "(2, 2)", {1, 2, 3, 4.5});
  EXPECT_EQ(read<float>(floats), (std::vector<float>{1, 2, 3, 4.5}));
  save<double>("<f8", "(2, 2)", {1, 2, 3, 4.5}, 2);
  EXPECT_EQ(read<float>(floats), (std::vector<float>{1, 2, 3, 4.5}));
  Slot wide = makeSlot(Role::Input, Element::F64, {4});
  save<float>("<f4", "(4,)", {0.5, 2, 3, 4});
  EXPECT_EQ(read<double>(wide), (std::vector<double>{0.5, 2, 3, 4}));
}

/// All numbers of 16 bits.
static std::vector<uint16_t> allBits() {
  std::vector<uint16_t> bits(1 << 16);
  std::iota(bits.begin(), bits.end(), uint16_t(0));
  return bits;
}
static const Slot allFloats = makeSlot(Role::Input, Element::F32, {1 << 16});
static const Slot allDoubles = makeSlot(Role::Input, Element::F64, {1 << 16});

/// What 16 bits mean, with so many of them for the fraction.
static double meaningOf(uint16_t bits, int fractionBits) {
  int most = (1 << (15 - fractionBits)) - 1, bias = most / 2;
  int exponent = (bits & 0x7fff) >> fractionBits;
  double fraction = std::ldexp(bits & ((1 << fractionBits) - 1), -fractionBits);
  double size = exponent ? std::ldexp(1 + fraction, exponent - bias)
                         : std::ldexp(fraction, 1 - bias);
  if (exponent == most)
    size = fraction != 0 ? std::nan("") : INFINITY;
  return bits & 0x8000 ? -size : size;
}

template <typename T>
static void expectMeanings(const std::vector<T> &values, int fractionBits) {
  ASSERT_EQ(values.size(), size_t(1) << 16);
  for (size_t bits = 0; bits < values.size(); ++bits) {
    double expected = meaningOf(uint16_t(bits), fractionBits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(values[bits])) << bits;
      continue;
    }
    EXPECT_EQ(double(values[bits]), expected) << bits;
    EXPECT_EQ(std::signbit(values[bits]), std::signbit(expected)) << bits;
  }
}

TEST_F(Npy, ReadsEachHalf) {
  save<uint16_t>("<f2", "(65536,)", allBits());
  std::vector<float> values = read<float>(allFloats);
  expectMeanings(values, 10);
  expectMeanings(read<double>(allDoubles), 10);
  EXPECT_EQ(values[0x0001], 0x1p-24f) << "the least denormal number";
  EXPECT_EQ(values[0x03ff], 0x1.ff8p-15f) << "the largest denormal number";
  EXPECT_EQ(values[0x0400], 0x1p-14f) << "the least normal number";
  EXPECT_EQ(values[0x3c00], 1);
  EXPECT_EQ(values[0x7bff], 65504);
  EXPECT_EQ(values[0xfc00], -INFINITY);
}

TEST_F(Npy, ReadsEachBfloatFromRawBits) {
  for (const char *descr : {"<u2", "<V2", "|V2"}) {
    save<uint16_t>(descr, "(65536,)", allBits());
    std::vector<float> values = read<float>(allFloats);
    expectMeanings(values, 7);
    expectMeanings(read<double>(allDoubles), 7);
    EXPECT_EQ(values[0x3f80], 1);
    EXPECT_EQ(values[0x0001], 0x1p-133f) << "the least denormal number";
    EXPECT_TRUE(NpyFile(path).holdsBfloats(allFloats));
  }
  // NaN keeps its bits.
  save<uint16_t>("<u2", "(2, 2)", {0x7fc1, 0xff81, 0, 0x8000});
  std::vector<float> values = read<float>(floats);
  uint32_t bits[4];
  std::memcpy(bits, values.data(), sizeof bits);
  EXPECT_EQ(bits[0], 0x7fc10000u);
  EXPECT_EQ(bits[1], 0xff810000u);
  EXPECT_EQ(bits[3], 0x80000000u);
}

TEST_F(Npy, ReadsWholeNumbersAsFloats) {
  save<int8_t>("|i1", "(2, 2)", {-128, -1, 0, 127});
  EXPECT_EQ(read<float>(floats), (std::vector<float>{-128, -1, 0, 127}));
  EXPECT_FALSE(NpyFile(path).holdsBfloats(floats));
  save<uint8_t>("|u1", "(2, 2)", {0, 1, 128, 255});
  EXPECT_EQ(read<float>(floats), (std::vector<float>{0, 1, 128, 255}));
  save<int16_t>("<i2", "(2, 2)", {-32768, -1, 5, 32767});
  EXPECT_EQ(read<float>(floats), (std::vector<float>{-32768, -1, 5, 32767}));
}

TEST_F(Npy, ReadsIntegersOfAnyWidth) {
  save<int64_t>("<i8", "(2,)", {7, 299});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 299}));
  save<int32_t>("<i4", "(2,)", {7, 299});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 299}));
  save<uint8_t>("|u1", "(2,)", {7, 255});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 255}));
  save<int8_t>("|i1", "(2,)", {7, 127});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 127}));
  save<int16_t>("<i2", "(2,)", {7, 299});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 299}));
  // Here they are no bf16.
  save<uint16_t>("<u2", "(2,)", {7, 299});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 299}));
  EXPECT_FALSE(NpyFile(path).holdsBfloats(labels));
  Slot any = makeSlot(Role::State, Element::I32, {2});
  save<uint16_t>("<u2", "(2,)", {7, 65535});
  EXPECT_EQ(read<int32_t>(any), (std::vector<int32_t>{7, 65535}));
}

TEST_F(Npy, ReadsNegativeNumbersWhereTheyAreKnown) {
  save<int64_t>("<i8", "(2,)", {-100, 299});
  EXPECT_EQ(read<int64_t>(labels, 0, true), (std::vector<int64_t>{-100, 299}));
  EXPECT_EQ(message(labels), "1: `F` holds -100 at [0]; `slot` takes 0 to 299");
  save<int8_t>("|i1", "(2,)", {-1, -128});
  EXPECT_EQ(read<int64_t>(labels, 0, true), (std::vector<int64_t>{-1, -128}));
  save<int16_t>("<i2", "(2,)", {-1, 300});
  EXPECT_EQ(message(labels, false, true),
            "1: `F` holds 300 at [1]; `slot` takes 0 to 299, or any negative "
            "number for none");
  Slot bytes = makeSlot(Role::Input, Element::I8, {2}, Init::Zeros, 100);
  save<int16_t>("<i2", "(2,)", {-128, 99});
  EXPECT_EQ(read<int8_t>(bytes, 0, true), (std::vector<int8_t>{-128, 99}));
  save<int16_t>("<i2", "(2,)", {5, -129});
  EXPECT_EQ(message(bytes, false, true),
            "1: `F` holds -129 at [1]; `slot` takes -128 to 99");
}

TEST_F(Npy, ChecksAllBatchesAtOnce) {
  Slot rows = makeSlot(Role::Input, Element::I64, {2, 3}, Init::Zeros, 5);
  std::vector<int64_t> numbers(15);
  numbers[10] = 5;
  save<int64_t>("<i8", "(5, 3)", numbers);
  EXPECT_EQ(message(rows, true),
            "1: `F` holds 5 at [3, 1]; `slot` takes 0 to 4");
  // Of the last batch, which lacks a row, nothing is read.
  numbers[10] = 0;
  numbers[14] = 5;
  save<int64_t>("<i8", "(5, 3)", numbers);
  EXPECT_EQ(message(rows, true), "");
  Slot scalar = makeSlot(Role::Input, Element::I64, {}, Init::Zeros, 5);
  save<int64_t>("<i8", "()", {5});
  EXPECT_EQ(message(scalar), "1: `F` holds 5; `slot` takes 0 to 4");
}

TEST_F(Npy, HoldsManyBatches) {
  // Two and a half of them.
  save<float>("<f4", "(5, 2)", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(NpyFile(path).check(floats, true), 2);
  EXPECT_EQ(read<float>(floats, 1), (std::vector<float>{4, 5, 6, 7}));
  save<float>("<f4", "(3,)", {5, 6, 7});
  Slot scalar = makeSlot(Role::Input, Element::F32, {});
  EXPECT_EQ(NpyFile(path).check(scalar, true), 3);
  EXPECT_EQ(read<float>(scalar, 2), (std::vector<float>{7}));
  save<float>("<f4", "()", {8});
  EXPECT_EQ(read<float>(scalar), (std::vector<float>{8}));
}

TEST_F(Npy, WritesWhatItReads) {
  std::vector<float> values = {1, -2, 3, 4};
  writeNpy(path, floats, reinterpret_cast<const char *>(values.data()));
  EXPECT_EQ(read<float>(floats), values);
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text.size(), 128u + 16);
  EXPECT_EQ(text.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, "
                      "2), }  "),
            10u);
  EXPECT_EQ(text[127], '\n');
  Slot scalar = makeSlot(Role::State, Element::F32, {});
  writeNpy(path, scalar, reinterpret_cast<const char *>(values.data()));
  EXPECT_EQ(NpyFile(path).shape(), std::vector<int64_t>{});
}

TEST_F(Npy, SaysWhatDoesNotFit) {
  save<float>("<f4", "(2, 3)", std::vector<float>(6));
  EXPECT_EQ(message(floats), "1: `F` holds f4 of shape (2, 3); `slot` takes "
                             "(2, 2)");
  EXPECT_EQ(message(floats, true),
            "1: `F` holds f4 of shape (2, 3); `slot` takes (2, 2) or many of "
            "these, one after another");
  EXPECT_EQ(message(labels), "1: `F` holds f4; `slot` of i64 takes i1, i2, i4, "
                             "i8, u1 or u2");
  save<uint16_t>("<V2", "(2,)", {1, 2});
  EXPECT_EQ(message(labels), "1: `F` holds V2; `slot` of i64 takes i1, i2, i4, "
                             "i8, u1 or u2");
  save<int32_t>("<i4", "(2, 2)", {1, 2, 3, 4});
  EXPECT_EQ(message(floats), "1: `F` holds i4; `slot` of f32 takes f2, f4, f8, "
                             "i1, i2, u1, or bf16 as u2");
  save<float>("<f4", "(1, 2)", std::vector<float>(2));
  EXPECT_NE(message(floats, true), "") << "less than a batch";
  save<float>("<f4", "(4, 2)", std::vector<float>(8));
  EXPECT_NE(message(floats, false), "") << "a parameter is one";
  save<int64_t>("<i8", "(2,)", {7, 300});
  EXPECT_EQ(message(labels), "1: `F` holds 300 at [1]; `slot` takes 0 to 299");
  save<int64_t>("<i8", "(2,)", {-1, 3});
  EXPECT_EQ(message(labels), "1: `F` holds -1 at [0]; `slot` takes 0 to 299");
  Slot bytes = makeSlot(Role::State, Element::I8, {2});
  save<int64_t>("<i8", "(2,)", {0, 128});
  EXPECT_EQ(message(bytes),
            "1: `F` holds 128 at [1]; `slot` takes -128 to 127");
}

TEST_F(Npy, RefusesOtherFiles) {
  EXPECT_EQ(message(floats),
            "1: `F` cannot be read: No such file or directory");
  for (const char *text : {"", "\x93NUMPY", "hello, this is no npy file"}) {
    write(text);
    EXPECT_EQ(message(floats), "1: `F` is no npy file");
  }
  save<float>("<f4", "(2, 2)", {1, 2, 3, 4}, 3);
  EXPECT_EQ(message(floats),
            "1: `F` is an npy file of version 3; 1 and 2 are read");
  save<float>(">f4", "(2, 2)", {1, 2, 3, 4});
  EXPECT_EQ(message(floats),
            "1: `F` has big-endian elements '>f4'; little-endian ones are "
            "read, which numpy's `astype` makes");
  save<uint32_t>("<u4", "(2, 2)", {1, 2, 3, 4});
  EXPECT_EQ(message(floats), "1: `F` has elements '<u4'; f2, f4, f8, i1, i2, "
                             "i4, i8, u1 and u2 are read");
  save<float>("<f4", "(2, 2)", {1, 2, 3});
  EXPECT_EQ(message(floats),
            "1: `F` holds 12 bytes of data; (2, 2) of f4 is 16");
  save<float>("<f4", "(2, 2)", {1, 2, 3, 4, 5});
  EXPECT_EQ(message(floats),
            "1: `F` holds 20 bytes of data; (2, 2) of f4 is 16");
  save<float>("<f4", "(9223372036854775807, 2)", {1});
  EXPECT_EQ(message(floats), "1: `F` has a shape without bounds: "
                             "(9223372036854775807, 2)");
  for (const char *shape :
       {"2", "(2, x)", "(-2,)", "(99999999999999999999,)", "(2"}) {
    save<float>("<f4", shape, {1});
    EXPECT_EQ(message(floats), "1: `F` has no shape in its header");
  }
}

TEST_F(Npy, RefusesFortranOrderAndCutHeaders) {
  std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (), }";
  std::string start = "\x93NUMPY";
  start += {1, 0, char(header.size()), 0};
  write(start + header + "1234");
  EXPECT_EQ(message(floats),
            "1: `F` is in Fortran order; C order is read, which "
            "numpy's `ascontiguousarray` makes");
  write(start + header.substr(0, 20));
  EXPECT_EQ(message(floats), "1: `F` ends inside its header");
  header.replace(header.find("True"), 4, "None");
  write(start + header + "1234");
  EXPECT_EQ(message(floats),
            "1: `F` does not say in its header that it is in C order");
}

TEST_F(Npy, RefusesRecords) {
  std::string header = "{'descr': [('a', '<f4'), ('b', '<i8')], "
                       "'fortran_order': False, 'shape': (2,), }";
  std::string start = "\x93NUMPY";
  start += {1, 0, char(header.size()), 0};
  write(start + header + std::string(24, '0'));
  EXPECT_EQ(message(floats),
            "1: `F` has elements of several fields; f2, f4, f8, i1, i2, i4, "
            "i8, u1 and u2 are read");
}
