// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Npy.h"
#include "test/Runtime/RuntimeTest.h"

#include <fstream>

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
  std::string message(const Slot &slot, bool many = false) {
    return withoutPath(failure([&] {
      NpyFile file(path);
      file.check(slot, many);
      std::vector<char> data(size_t(slot.bytes()));
      file.read(slot, 0, data.data());
    }));
  }
  std::string withoutPath(std::string text) {
    size_t at = text.find(path);
    return at == std::string::npos ? text : text.replace(at, path.size(), "F");
  }
  template <typename T>
  std::vector<T> read(const Slot &slot, int64_t number = 0) {
    NpyFile file(path);
    file.check(slot, true);
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

TEST_F(Npy, ReadsIntegersOfAnyWidth) {
  save<int64_t>("<i8", "(2,)", {7, 299});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 299}));
  save<int32_t>("<i4", "(2,)", {7, 299});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 299}));
  save<uint8_t>("|u1", "(2,)", {7, 255});
  EXPECT_EQ(read<int64_t>(labels), (std::vector<int64_t>{7, 255}));
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
  EXPECT_EQ(message(floats), "1: `F` holds f4 of shape (2, 3); `slot` takes f4 "
                             "or f8 of shape (2, 2)");
  EXPECT_EQ(message(floats, true),
            "1: `F` holds f4 of shape (2, 3); `slot` takes f4 or f8 of shape "
            "(2, 2) or many of these, one after another");
  EXPECT_EQ(message(labels), "1: `F` holds f4 of shape (2, 3); `slot` takes "
                             "i4, i8 or u1 of shape (2,)");
  save<float>("<f4", "(1, 2)", std::vector<float>(2));
  EXPECT_NE(message(floats, true), "") << "less than a batch";
  save<float>("<f4", "(4, 2)", std::vector<float>(8));
  EXPECT_NE(message(floats, false), "") << "a parameter is one";
  save<int64_t>("<i8", "(2,)", {7, 300});
  EXPECT_EQ(message(labels), "1: `F` holds 300; `slot` takes 0 to 299");
  save<int64_t>("<i8", "(2,)", {-1, 3});
  EXPECT_EQ(message(labels), "1: `F` holds -1; `slot` takes 0 to 299");
  Slot bytes = makeSlot(Role::State, Element::I8, {2});
  save<int64_t>("<i8", "(2,)", {0, 128});
  EXPECT_EQ(message(bytes), "1: `F` holds 128; `slot` takes -128 to 127");
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
  EXPECT_EQ(message(floats), "1: `F` has elements '>f4'; '<f4', '<f8', '<i4', "
                             "'<i8' and '|u1' are read");
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
  EXPECT_EQ(message(floats), "1: `F` is not in C order");
  write(start + header.substr(0, 20));
  EXPECT_EQ(message(floats), "1: `F` ends inside its header");
}

TEST_F(Npy, RefusesRecords) {
  std::string header = "{'descr': [('a', '<f4'), ('b', '<i8')], "
                       "'fortran_order': False, 'shape': (2,), }";
  std::string start = "\x93NUMPY";
  start += {1, 0, char(header.size()), 0};
  write(start + header + std::string(24, '0'));
  EXPECT_EQ(message(floats), "1: `F` has elements of several fields; '<f4', "
                             "'<f8', '<i4', '<i8' and '|u1' are read");
}
