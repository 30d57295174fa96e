// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/NumberFormat.h"

#include "llvm/ADT/Twine.h"

#include <string>

using namespace netc;
using llvm::StringRef;

static constexpr FormatTraits formats[] = {
    {NumberFormat::F64, "f64", 64, 64, 11, 52, 0x1.fffffffffffffp1023},
    {NumberFormat::F32, "f32", 32, 32, 8, 23, 0x1.fffffep127},
    {NumberFormat::TF32, "tf32", 19, 32, 8, 10, 0x1.ffcp127},
    {NumberFormat::F16, "f16", 16, 16, 5, 10, 65504},
    {NumberFormat::BF16, "bf16", 16, 16, 8, 7, 0x1.fep127},
    {NumberFormat::F8E4M3, "f8e4m3", 8, 8, 4, 3, 448},
    {NumberFormat::F8E5M2, "f8e5m2", 8, 8, 5, 2, 57344},
    {NumberFormat::F6E3M2, "f6e3m2", 6, 6, 3, 2, 28},
    {NumberFormat::F4E2M1, "f4e2m1", 4, 4, 2, 1, 6},
    {NumberFormat::I8, "i8", 8, 8, 0, 7, 127},
    {NumberFormat::I4, "i4", 4, 4, 0, 3, 7},
};

const FormatTraits &netc::traitsOf(NumberFormat format) {
  return formats[unsigned(format)];
}

llvm::ArrayRef<FormatTraits> netc::allFormats() { return formats; }

std::vector<StringRef> netc::formatNames() {
  std::vector<StringRef> names;
  for (const FormatTraits &traits : formats)
    names.push_back(traits.name);
  return names;
}

std::optional<NumberFormat> netc::parseNumberFormat(StringRef name) {
  std::string lower = name.lower();
  StringRef rest = lower;
  std::string wanted = lower;
  if (rest.consume_front("bfloat"))
    wanted = ("bf" + rest).str();
  else if (rest.consume_front("float") || rest.consume_front("fp"))
    wanted = ("f" + rest).str();
  else if (rest.consume_front("int"))
    wanted = ("i" + rest).str();
  bool isShort = wanted == "f8" || wanted == "f6" || wanted == "f4";
  for (const FormatTraits &traits : formats)
    if (traits.name == wanted ||
        (isShort && traits.name.starts_with(wanted + "e")))
      return traits.format;
  return std::nullopt;
}
