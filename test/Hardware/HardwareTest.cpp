// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Hardware/Defaults.h"
#include "lib/Hardware/Precision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace netc;
using llvm::StringRef;

static const AcceleratorTable &table() {
  static const AcceleratorTable builtin = AcceleratorTable::builtin();
  return builtin;
}

static Rational number(StringRef text) { return *Rational::parse(text); }

static std::string nameOf(StringRef name,
                          const AcceleratorTable &among = table()) {
  std::optional<Accelerator> found = among.find(name);
  return found ? found->name : "none";
}

static NumberFormat formatOf(StringRef precision) {
  std::optional<Precision> known = parsePrecision(precision);
  return known ? known->products : NumberFormat::F32;
}

static PeakChoice peakOf(StringRef device, StringRef precision) {
  llvm::Expected<PeakChoice> choice =
      table().find(device)->peakFor(formatOf(precision));
  if (choice)
    return *choice;
  ADD_FAILURE() << device.str() << ": " << llvm::toString(choice.takeError());
  return {};
}

static std::string noPeak(StringRef device, StringRef precision) {
  llvm::Expected<PeakChoice> choice =
      table().find(device)->peakFor(formatOf(precision));
  return choice ? "a peak" : llvm::toString(choice.takeError());
}

//===----------------------------------------------------------------------===//
// Number formats
//===----------------------------------------------------------------------===//

TEST(NumberFormat, LimitsFollowFromTheBits) {
  for (const FormatTraits &traits : allFormats()) {
    SCOPED_TRACE(traits.name.str());
    EXPECT_EQ(&traitsOf(traits.format), &traits);
    EXPECT_EQ(traits.bits, 1 + traits.exponentBits + traits.mantissaBits);
    EXPECT_GE(traits.storedBits, traits.bits);
    if (traits.exponentBits == 0) {
      EXPECT_EQ(traits.largest, std::ldexp(1, traits.mantissaBits) - 1);
      continue;
    }
    // The microscaling formats have no infinities, and e4m3 gives up only one
    // mantissa of the largest exponent, for NaN.
    bool hasInfinities = traits.bits > 8 || traits.exponentBits == 5;
    int bias = (1 << (traits.exponentBits - 1)) - 1;
    double ulp = std::ldexp(1, -int(traits.mantissaBits));
    double mantissa = 2 - ulp - (traits.name == "f8e4m3" ? ulp : 0);
    EXPECT_EQ(traits.largest,
              std::ldexp(mantissa, hasInfinities ? bias : bias + 1));
  }
}

TEST(NumberFormat, Names) {
  for (const FormatTraits &traits : allFormats())
    EXPECT_EQ(parseNumberFormat(traits.name), traits.format);
  EXPECT_EQ(parseNumberFormat("FP16"), NumberFormat::F16);
  EXPECT_EQ(parseNumberFormat("bfloat16"), NumberFormat::BF16);
  EXPECT_EQ(parseNumberFormat("float32"), NumberFormat::F32);
  EXPECT_EQ(parseNumberFormat("int8"), NumberFormat::I8);
  EXPECT_EQ(parseNumberFormat("fp8"), NumberFormat::F8E4M3);
  EXPECT_EQ(parseNumberFormat("f4"), NumberFormat::F4E2M1);
  EXPECT_EQ(parseNumberFormat("f"), std::nullopt);
  EXPECT_EQ(parseNumberFormat(""), std::nullopt);
  EXPECT_EQ(parseNumberFormat("f128"), std::nullopt);
}

static std::string read(StringRef text) {
  std::optional<Precision> precision = parsePrecision(text);
  return precision ? precision->str() : "none";
}

TEST(Precision, Presets) {
  EXPECT_EQ(read("f32"), "f32");
  EXPECT_EQ(read("tf32"), "tf32");
  EXPECT_EQ(read("bf16"), "mixed(bf16)");
  EXPECT_EQ(read("mixed ( f16 )"), "mixed(f16)");
  EXPECT_EQ(read("mixed(bf16, weights = f32)"), "mixed(bf16)");
  EXPECT_EQ(read("pure(bf16)"), "pure(bf16)");
  EXPECT_EQ(read("megatron(f16)"), "megatron(f16)");
  EXPECT_EQ(parsePrecision("mixed(f16)")->low(), NumberFormat::F16);
  EXPECT_EQ(parsePrecision("tf32")->low(), NumberFormat::F32);
  EXPECT_EQ(read("i8"), "i8");
  EXPECT_EQ(read("mixed(f8e4m3)"), "f8e4m3");
}

TEST(Precision, Parts) {
  EXPECT_EQ(read("{ products = bf16, states = bf16 }"),
            "mixed(bf16, states = bf16)");
  EXPECT_EQ(read("{ states = i8 }"), "mixed(f32, states = i8)");
  EXPECT_EQ(read("{ products = tf32, states = bf16 }"),
            "{ products = tf32, residual = f32, weights = f32, "
            "gradients = f32, states = bf16 }");
  EXPECT_EQ(read("fp8(DelayedScaling)"), "fp8(DelayedScaling)");
  EXPECT_EQ(read("fp8(MXFP8BlockScaling, states = bf16)"),
            "fp8(MXFP8BlockScaling, states = bf16)");
  EXPECT_EQ(read("fp8(DelayedScaling, weights = bf16, master = f32)"),
            "fp8(DelayedScaling, weights = bf16, master = f32)");
  EXPECT_EQ(read("{ products = bf16, weights = bf16, master = f32 }"),
            "megatron(bf16, residual = f32)");
  EXPECT_EQ(read("megatron(bf16, gradients = bf16)"),
            "megatron(bf16, gradients = bf16)");
  // The text of a preset can add a master, and remove none.
  EXPECT_EQ(read("{ products = bf16, residual = bf16, weights = bf16, "
                 "gradients = bf16 }"),
            "pure(bf16, states = f32)");
  std::optional<Precision> megatron = parsePrecision("megatron(bf16)");
  EXPECT_EQ(megatron->weights, NumberFormat::BF16);
  EXPECT_EQ(megatron->parameters(), NumberFormat::F32);
}

TEST(Precision, None) {
  for (StringRef text :
       {"", "f33", "mixed", "mixed(f16", "mixed()", "pure(f32)",
        "mixed(bf16, sums = f32)", "mixed(bf16, states)", "{ products = bf17 }",
        "other(bf16)", "fp8(bf16)", "mixed(i8)", "mixed(i4)", "mixed(f64)",
        "mixed(tf32)", "mixed(bf16, products = f16)",
        "fp8(DelayedScaling, products = bf16)"})
    EXPECT_EQ(read(text), "none") << text.str();
}

//===----------------------------------------------------------------------===//
// The table in the binary
//===----------------------------------------------------------------------===//

TEST(Accelerators, EveryEntryIsComplete) {
  // 134 of public tables, the P100 of unknown variant, and the unnamed GPU.
  EXPECT_EQ(table().accelerators().size(), 136u);
  for (const Accelerator &entry : table().accelerators()) {
    SCOPED_TRACE(entry.name);
    EXPECT_FALSE(entry.title.empty());
    if (entry.name == "GPU")
      continue;
    EXPECT_FALSE(entry.vendor.empty());
    ASSERT_TRUE(entry.year().has_value());
    EXPECT_GE(*entry.year(), 2010);
    EXPECT_FALSE(entry.peaks.empty());
    EXPECT_TRUE(entry.memoryBytes.has_value());
    EXPECT_TRUE(entry.bandwidthBytesPerSecond.has_value());
    EXPECT_EQ(entry.linkBytesPerSecond.has_value(), !entry.linkKind.empty());
  }
}

TEST(Accelerators, EveryFigureHasAKnownSource) {
  auto check = [](const Figure &figure) {
    EXPECT_GT(figure.value, Rational(0));
    StringRef id =
        StringRef(figure.source).take_while([](char c) { return isalnum(c); });
    EXPECT_FALSE(table().source(id).empty()) << figure.source;
  };
  for (const Accelerator &entry : table().accelerators()) {
    SCOPED_TRACE(entry.name);
    for (const Peak &peak : entry.peaks)
      check(peak.flopPerSecond);
    for (const auto &figure : {entry.memoryBytes, entry.bandwidthBytesPerSecond,
                               entry.linkBytesPerSecond, entry.watts})
      if (figure)
        check(*figure);
  }
  EXPECT_EQ(table().source("nowhere"), "");
}

/// The peak of that unit, or zero.
static Rational peakIn(const Accelerator &entry, NumberFormat format,
                       ArithmeticUnit unit) {
  for (const Peak &peak : entry.peaks)
    if (peak.format == format && peak.unit == unit)
      return peak.flopPerSecond.value;
  return 0;
}

// A peak out of order is one of another format, another unit, or sparse.
TEST(Accelerators, PeaksAreInOrder) {
  for (const Accelerator &entry : table().accelerators()) {
    SCOPED_TRACE(entry.name);
    for (const FormatTraits &traits : allFormats()) {
      Rational vector = peakIn(entry, traits.format, ArithmeticUnit::Vector);
      Rational matrix = peakIn(entry, traits.format, ArithmeticUnit::Matrix);
      if (!matrix.isZero()) {
        EXPECT_GE(matrix, vector) << traits.name.str();
      }
    }
    const NumberFormat narrowing[] = {NumberFormat::TF32, NumberFormat::BF16,
                                      NumberFormat::F8E4M3};
    for (size_t i = 1; i != std::size(narrowing); ++i) {
      Rational wide = peakIn(entry, narrowing[i - 1], ArithmeticUnit::Matrix);
      Rational narrow = peakIn(entry, narrowing[i], ArithmeticUnit::Matrix);
      if (!wide.isZero() && !narrow.isZero()) {
        EXPECT_LE(wide, narrow);
        // Sparsity would double the 2 to 2.8 there is from one to the next.
        EXPECT_LT(narrow, wide * 4);
      }
    }
  }
}

TEST(Accelerators, PublishedPeaks) {
  struct {
    StringRef device, precision, tera;
  } published[] = {
      {"GTX580", "f32", "1.581"},
      {"K40", "f32", "5.046"},
      {"TitanX", "f32", "6.691"},
      {"P100_SXM2", "f32", "10.6"},
      {"P100_SXM2", "mixed(f16)", "21.2"},
      {"P100_PCIe", "f32", "9.3"},
      {"P100_PCIe", "mixed(f16)", "18.7"},
      {"V100", "f32", "15.7"},
      {"V100", "mixed(f16)", "125"},
      {"V100_PCIe", "mixed(f16)", "112"},
      {"T4", "mixed(f16)", "65"},
      {"A100", "f64", "19.5"},
      {"A100", "f32", "19.5"},
      {"A100", "tf32", "156"},
      {"A100", "bf16", "312"},
      {"A100_80GB", "mixed(bf16, master = f32)", "312"},
      {"RTX3090", "mixed(f16)", "71.2"},
      {"RTX4090", "mixed(f16)", "165.2"},
      {"RTX5090", "mixed(bf16)", "209.5"},
      {"H100", "bf16", "989.4"},
      {"H100", "fp8", "1978.9"},
      {"H100", "f8e5m2", "1978.9"},
      {"H100_PCIe", "bf16", "756"},
      {"H100_NVL", "tf32", "417.5"},
      {"H100_NVL", "fp8", "1670.5"},
      {"H800", "bf16", "989.4"},
      {"H20", "bf16", "148"},
      {"B200", "bf16", "2250"},
      {"GB200", "f64", "40"},
      {"GB200", "f32", "80"},
      {"MI250X", "bf16", "383"},
      {"MI250X", "f32", "95.7"},
      {"MI300X", "bf16", "1307.4"},
      {"MI350X", "bf16", "2309.6"},
      {"TPUv2", "bf16", "45"},
      {"TPUv3", "bf16", "123"},
      {"TPUv4", "bf16", "275"},
      {"TPUv5e", "bf16", "197"},
      {"Trainium1", "bf16", "190"},
  };
  for (const auto &[device, precision, tera] : published)
    EXPECT_EQ(peakOf(device, precision).peak.flopPerSecond.value,
              number(tera) * Rational(10).pow(12))
        << device.str() << " " << precision.str();
}

// "Attention Is All You Need" reports 3.3e18 and 2.3e19 FLOP, which is hardware
// time on 8 P100 at full peak: 12 hours and 3.5 days.
TEST(Accelerators, P100GivesTheTransformersFigures) {
  Rational peak = peakOf("P100", "f32").peak.flopPerSecond.value;
  Rational base = peak * 8 * 12 * 3600, big = peak * 8 * 84 * 3600;
  EXPECT_GE(base, number("3.25e18"));
  EXPECT_LE(base, number("3.35e18"));
  EXPECT_GE(big, number("2.25e19"));
  EXPECT_LE(big, number("2.35e19"));
}

TEST(Accelerators, LikeTakesOverWhatIsNotGiven) {
  std::optional<Accelerator> a100 = table().find("A100_80GB");
  EXPECT_EQ(a100->vendor, "NVIDIA");
  EXPECT_EQ(a100->memoryBytes->value, Rational(10).pow(9) * 80);
  EXPECT_EQ(a100->bandwidthBytesPerSecond->value, Rational(10).pow(9) * 2039);
  EXPECT_EQ(a100->watts->value, 400);
  EXPECT_EQ(a100->year(), 2020);
  EXPECT_FALSE(llvm::is_contained(a100->aliases, "A100"));
}

TEST(Accelerators, UncertainFiguresSaySo) {
  EXPECT_FALSE(peakOf("V100", "f16").peak.flopPerSecond.isUncertain);
  EXPECT_TRUE(peakOf("L40", "f16").peak.flopPerSecond.isUncertain);
}

TEST(Accelerators, TypicalPeaks) {
  const TypicalPeak *peak = table().typical(2018);
  ASSERT_NE(peak, nullptr);
  EXPECT_EQ(peak->f32FlopPerSecond, number("7.6e12"));
  EXPECT_EQ(peak->bestFlopPerSecond, number("2.4e13"));
  EXPECT_EQ(peak->models, 20u);
  EXPECT_EQ(peak->chips, "V100, TPU v2, M40");
  EXPECT_EQ(table().typical(2011), nullptr);
  for (int year = 2012; year <= 2026; ++year)
    EXPECT_GE(table().typical(year)->bestFlopPerSecond,
              table().typical(year)->f32FlopPerSecond);
}

//===----------------------------------------------------------------------===//
// Which peak
//===----------------------------------------------------------------------===//

TEST(Peak, ReasonSaysWhatWasTaken) {
  EXPECT_EQ(peakOf("V100", "mixed(f16)").reason, "f16 on matrix units");
  EXPECT_EQ(peakOf("V100", "f32").reason, "f32 on vector units");
  EXPECT_EQ(peakOf("MI250X", "f32").reason, "f32 on matrix units");
}

TEST(Peak, FallsBackToF32) {
  EXPECT_EQ(peakOf("K40", "mixed(f16)").reason,
            "f32 on vector units; `K40` has no faster f16");
  // It has f16, at a 64th of the rate.
  EXPECT_EQ(peakOf("GTX1080Ti", "mixed(f16)").reason,
            "f32 on vector units; `GTX1080Ti` has no faster f16");
  EXPECT_EQ(peakOf("V100", "bf16").reason,
            "f32 on vector units; `V100_SXM2_16GB` has no faster bf16");
  EXPECT_EQ(peakOf("V100", "tf32").peak.format, NumberFormat::F32);
}

TEST(Peak, TPUsRunF32AsBF16) {
  EXPECT_EQ(peakOf("TPUv3", "f32").reason,
            "bf16 on matrix units; `TPUv3` runs f32 as bf16");
  // Its vector units do f32, but matmuls are not run there.
  EXPECT_EQ(peakOf("TPUv2", "f32").peak.format, NumberFormat::BF16);
  EXPECT_EQ(peakOf("TPUv3", "bf16").reason, "bf16 on matrix units");
}

TEST(Peak, NarrowAccumulationIsNotTaken) {
  std::optional<Accelerator> rtx = table().find("RTX4090");
  EXPECT_EQ(peakIn(*rtx, NumberFormat::F16, ArithmeticUnit::NarrowMatrix),
            number("330.3e12"));
  EXPECT_EQ(rtx->fastest(NumberFormat::F16)->flopPerSecond.value,
            number("165.2e12"));
}

TEST(Peak, Unknown) {
  EXPECT_EQ(noPeak("GPU", "f32"),
            "`GPU` does not say which accelerator: its peak is unknown");
  EXPECT_EQ(noPeak("Gaudi2", "f32"),
            "no f32 rate is known for `Gaudi2`, only bf16, f8e4m3");
  EXPECT_EQ(noPeak("A100", "f8e5m2"),
            "no f8e5m2 rate is known for `A100_SXM4_40GB`, only f64, f32, "
            "tf32, f16, bf16, i8, i4");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST(Names, DefaultVariants) {
  EXPECT_EQ(nameOf("V100"), "V100_SXM2_16GB");
  EXPECT_EQ(nameOf("A100"), "A100_SXM4_40GB");
  EXPECT_EQ(nameOf("A100_80GB"), "A100_SXM4_80GB");
  EXPECT_EQ(nameOf("H100"), "H100_SXM5_80GB");
  EXPECT_EQ(nameOf("H200"), "H200_SXM_141GB");
  EXPECT_EQ(nameOf("P100"), "P100");
  EXPECT_EQ(nameOf("A800"), "A800_SXM4_80GB");
  EXPECT_EQ(nameOf("GB300"), "GB300_GPU");
  EXPECT_EQ(nameOf("Ascend 910B"), "Ascend910B2");
  // A Quadro, an Ada and a Blackwell are called that.
  EXPECT_EQ(nameOf("RTX 6000"), "none");
}

TEST(Names, SpellingIsFree) {
  EXPECT_EQ(nameOf("v100-sxm2"), "V100_SXM2_16GB");
  EXPECT_EQ(nameOf("TPU v3"), "TPUv3");
  EXPECT_EQ(nameOf("tpu_v3"), "TPUv3");
  EXPECT_EQ(nameOf("GeForce GTX 580"), "GTX580");
  EXPECT_EQ(nameOf("A100 SXM4 80 GB"), "A100_SXM4_80GB");
  EXPECT_EQ(nameOf("Trillium"), "TPUv6e");
  EXPECT_EQ(nameOf("RTX_4080_SUPER"), "RTX4080SUPER");
  EXPECT_EQ(nameOf("V10"), "none");
  EXPECT_EQ(nameOf(""), "none");
}

TEST(Names, APluralIsNotAnotherDevice) {
  EXPECT_EQ(nameOf("V100S"), "V100S_PCIe_32GB");
  EXPECT_EQ(nameOf("L40S"), "L40S");
  EXPECT_EQ(nameOf("V100s"), "none");
  EXPECT_EQ(table().didYouMean("V100s"), "; did you mean `V100` or `V100S`?");
  EXPECT_EQ(nameOf("K40s"), "K40");
}

TEST(Names, Parts) {
  std::optional<Accelerator> core = table().find("TPUv3-core");
  ASSERT_TRUE(core);
  EXPECT_EQ(core->name, "TPUv3_core");
  EXPECT_EQ(core->title, "TPU v3, one core of 2");
  EXPECT_EQ(core->fastest(NumberFormat::BF16)->flopPerSecond.value,
            number("61.5e12"));
  EXPECT_EQ(core->memoryBytes->value, number("17.2e9"));
  EXPECT_EQ(core->watts->value, 225);
  EXPECT_FALSE(core->linkBytesPerSecond);
  EXPECT_EQ(nameOf("K80_GPU"), "K80_gpu");
  EXPECT_EQ(nameOf("Trn2_core"), "Trainium2_core");
  EXPECT_EQ(nameOf("V100_core"), "none");
  EXPECT_EQ(nameOf("TPUv3_core_core"), "none");
  EXPECT_EQ(nameOf("core"), "none");
}

TEST(Names, DidYouMean) {
  EXPECT_EQ(table().didYouMean("A100_81GB"), "; did you mean `A100_80GB`?");
  EXPECT_EQ(table().didYouMean("TPUv33"), "; did you mean `TPUv3`?");
  EXPECT_EQ(table().didYouMean("GPUs"), "; did you mean `GPU`?");
  EXPECT_EQ(table().didYouMean("Cerebras"), "");
  EXPECT_EQ(table().didYouMean(""), "");
  EXPECT_EQ(table().didYouMean(std::string(100'000, 'A')), "");
}

TEST(Names, AreUniqueAndCanBeWritten) {
  for (const Accelerator &entry : table().accelerators()) {
    EXPECT_EQ(nameOf(entry.name), entry.name);
    EXPECT_EQ(nameOf(entry.title), entry.name);
    for (const std::string &alias : entry.aliases)
      EXPECT_EQ(nameOf(alias), entry.name);
  }
}

//===----------------------------------------------------------------------===//
// Files of one's own
//===----------------------------------------------------------------------===//

static std::string errorIn(StringRef text) {
  AcceleratorTable extended = table();
  llvm::Error error = extended.addText(text, "own.yaml");
  EXPECT_EQ(extended.accelerators().size(), table().accelerators().size());
  return error ? llvm::toString(std::move(error)) : "no error";
}

static AcceleratorTable extend(StringRef text) {
  AcceleratorTable extended = table();
  if (llvm::Error error = extended.addText(text, "own.yaml"))
    ADD_FAILURE() << llvm::toString(std::move(error));
  return extended;
}

TEST(OwnFile, Adds) {
  AcceleratorTable extended = extend("accelerators:\n"
                                     "  Abacus:\n"
                                     "    vector: {f32: 0.5e-12}\n");
  std::optional<Accelerator> abacus = extended.find("abacus");
  ASSERT_TRUE(abacus);
  EXPECT_EQ(abacus->fastest(NumberFormat::F32)->flopPerSecond.value,
            number("0.5"));
  EXPECT_FALSE(abacus->memoryBytes);
  EXPECT_FALSE(abacus->year());
  EXPECT_EQ(nameOf("V100", extended), "V100_SXM2_16GB");
}

TEST(OwnFile, ReplacesAnAcceleratorUnderAllItsNames) {
  AcceleratorTable extended = extend("sources: {mine: our data sheet}\n"
                                     "accelerators:\n"
                                     "  V100_SXM2_16GB:\n"
                                     "    like: V100\n"
                                     "    matrix: {f16: [120, mine]}\n");
  std::optional<Accelerator> v100 = extended.find("V100");
  EXPECT_EQ(v100->fastest(NumberFormat::F16)->flopPerSecond.value,
            number("120e12"));
  EXPECT_EQ(v100->fastest(NumberFormat::F16)->flopPerSecond.source, "mine");
  EXPECT_EQ(v100->fastest(NumberFormat::F32)->flopPerSecond.value,
            number("15.7e12"));
  EXPECT_EQ(extended.accelerators().size(), table().accelerators().size());
}

TEST(OwnFile, TakesOverAnAlias) {
  AcceleratorTable extended = extend("accelerators:\n"
                                     "  V100: {like: V100_SXM2_32GB}\n");
  EXPECT_EQ(nameOf("V100", extended), "V100");
  EXPECT_EQ(extended.find("V100")->memoryBytes->value, number("32e9"));
  EXPECT_EQ(nameOf("V100_SXM2", extended), "V100_SXM2_16GB");
}

TEST(OwnFile, ErrorsHaveTheirPlace) {
  EXPECT_EQ(errorIn("accelerators:\n  X:\n    vectr: {f32: 1}\n"),
            "own.yaml:3:5: unknown key `vectr`; did you mean `vector`?");
  EXPECT_EQ(errorIn("accelerators:\n  X:\n    vector: {f31: 1}\n"),
            "own.yaml:3:14: unknown number format `f31`; did you mean `f32`?");
  EXPECT_EQ(errorIn("accelerators:\n  X:\n    vector: {f32: 1 TFLOP/s}\n"),
            "own.yaml:3:19: expected a positive number, in 10^12 FLOP/s, found "
            "`1 TFLOP/s`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {memory: -1}\n"),
            "own.yaml:2:15: expected a positive number, in 10^9 bytes, found "
            "`-1`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {power: 1e99}\n"),
            "own.yaml:2:14: expected a positive number, in W, found `1e99`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {power: []}\n"),
            "own.yaml:2:14: expected `[number, sources]` or `[number, sources, "
            "uncertain]`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {power: [1, PL, b]}\n"),
            "own.yaml:2:22: expected `uncertain`, found `b`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {title: [a]}\n"),
            "own.yaml:2:14: expected text");
  EXPECT_EQ(errorIn("accelerators:\n  X: {aliases: a}\n"),
            "own.yaml:2:16: expected a list: `[a, b]`");
  EXPECT_EQ(errorIn("accelerators:\n  X: 3\n"),
            "own.yaml:2:6: expected a map: `key: value`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {power: 1, power: 2}\n"),
            "own.yaml:2:17: `power` is given twice");
  EXPECT_EQ(errorIn("accelerators:\n  X: {released: 2020-13}\n"),
            "own.yaml:2:17: expected a date, `2017-06` or `2017`, found "
            "`2020-13`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {parts: {core: 0}}\n"),
            "own.yaml:2:21: expected an integer from 1 to 1024, found `0`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {parts: {Core: 2}}\n"),
            "own.yaml:2:15: a part is named in lower-case letters");
  EXPECT_EQ(errorIn("accelerators:\n  X: {like: V1000}\n"),
            "own.yaml:2:13: unknown accelerator `V1000`; did you mean `V100`?");
  EXPECT_EQ(errorIn("accelerators:\n  A100-80GB: {power: 1}\n"),
            "own.yaml:2:3: `A100-80GB` is not a name that a specification can "
            "write; names are of letters, digits and `_`");
  EXPECT_EQ(errorIn("accelerators:\n  X: {power: 1}\n  x: {power: 1}\n"),
            "own.yaml:3:3: `x` is a name of `X`");
  EXPECT_EQ(errorIn("accelerator: {}\n"),
            "own.yaml:1:1: unknown key `accelerator`; did you mean "
            "`accelerators`?");
  EXPECT_EQ(errorIn(""), "own.yaml:1:1: expected a map: `key: value`");
  EXPECT_EQ(errorIn("a: [1\nb: 2\n"),
            "own.yaml:2:2: end of sequence flow not found");
}

TEST(OwnFile, HostileTextIsRefused) {
  std::string anchors =
      "anchors and aliases are not supported; `like` names an "
      "accelerator to start from";
  EXPECT_EQ(errorIn("a: &x [1]\n"), "own.yaml:1:4: " + anchors);
  EXPECT_EQ(errorIn("a: *x\n"),
            "own.yaml:1:4: the referenced anchor is not defined");
  EXPECT_EQ(errorIn("a: 1\n---\nb: 2\n"),
            "own.yaml:2:1: a second document in one file");
  EXPECT_EQ(errorIn("[[[[[[[[[1]]]]]]]]]"),
            "own.yaml:1:9: nested more than 8 deep");
  EXPECT_EQ(errorIn("a: " + std::string(1001, 'x')),
            "own.yaml:1:4: text of more than 1000 bytes");
  std::string many = "accelerators:\n";
  for (int i = 0; i != 1001; ++i)
    many += "  X" + std::to_string(i) + ": {like: V100}\n";
  EXPECT_EQ(errorIn(many),
            "own.yaml:1002:3: more than 1000 accelerators in one file");
  EXPECT_NE(errorIn(std::string(1'000'000, '[')), "no error");
  EXPECT_NE(errorIn(std::string(1'000'000, '{')), "no error");
  EXPECT_EQ(errorIn("a: 1\nb\xff: 1\n"), "own.yaml:2:2: not UTF-8");
  EXPECT_EQ(errorIn(StringRef("a: \0", 4)),
            "own.yaml:1:4: a control character");
  EXPECT_EQ(errorIn("\"a\\e[31m\": 1\n"),
            "own.yaml:1:1: text with characters that do not print");
  EXPECT_EQ(errorIn("a: \"\\u202E\"\n"),
            "own.yaml:1:4: text with characters that do not print");
}

//===----------------------------------------------------------------------===//
// What a run does not say
//===----------------------------------------------------------------------===//

/// Facts of a run on this device.
static HardwareFacts on(StringRef device) {
  HardwareFacts facts;
  facts.device = table().find(device);
  return facts;
}

/// `format peak key: taken; reason x low to high`, without the utilization.
static std::string guessOf(const HardwareFacts &facts) {
  HardwareGuess guess = completeHardware(facts, table());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (guess.format ? traitsOf(*guess.format).name : "?") << " "
     << (guess.peak ? *guess.peak / Rational(10).pow(9) : Rational(0));
  for (const Assumption &assumption : guess.assumptions)
    if (assumption.key != "utilization")
      os << "\n"
         << assumption.key << ": " << assumption.taken << "; "
         << assumption.reason << " x " << assumption.low << " to "
         << assumption.high;
  return text;
}

TEST(Defaults, WhatIsSaidIsTaken) {
  HardwareFacts facts = on("A100");
  facts.format = NumberFormat::BF16;
  facts.utilization = Rational::fraction(1, 2);
  HardwareGuess guess = completeHardware(facts, table());
  EXPECT_EQ(guess.peak, Rational(312) * Rational(10).pow(12));
  EXPECT_EQ(guess.utilization, Rational::fraction(1, 2));
  EXPECT_TRUE(guess.assumptions.empty());
  // A peak of one's own says more than the device.
  facts.peak = 1000;
  EXPECT_EQ(guessOf(facts), "bf16 1/1000000");
  facts = on("K80");
  facts.format = NumberFormat::F8E4M3;
  EXPECT_EQ(guessOf(facts), "f8e4m3 0");
}

TEST(Defaults, VectorUnitsForHalfAreTakenWhereNothingElseIs) {
  HardwareFacts facts;
  facts.device.emplace();
  facts.device->name = "Wafer";
  facts.device->peaks.push_back(
      {NumberFormat::F16, ArithmeticUnit::Vector, {Rational(10).pow(14), ""}});
  EXPECT_EQ(guessOf(facts),
            "f16 100000\n"
            "precision: f16 on vector units; it has no peak for f32 x 1 to 1");
}

TEST(Defaults, UtilizationIsByTheKindOfNetwork) {
  HardwareFacts facts;
  facts.readsTokens = true;
  HardwareGuess words = completeHardware(facts, table());
  EXPECT_EQ(words.utilization, Rational::fraction(30, 100));
  ASSERT_EQ(words.assumptions.size(), 1u);
  EXPECT_EQ(words.assumptions[0].taken, "30 %");
  EXPECT_EQ(words.assumptions[0].low, Rational::fraction(2, 3));
  EXPECT_EQ(words.assumptions[0].high, Rational::fraction(19, 10));
  facts.readsTokens = false;
  EXPECT_EQ(completeHardware(facts, table()).utilization,
            Rational::fraction(40, 100));
}

TEST(Defaults, FormatIsByYearAndOwner) {
  HardwareFacts facts = on("V100");
  EXPECT_EQ(guessOf(facts),
            "f32 15700\nprecision: f32 on vector units; what a framework does "
            "unless told otherwise x 1 to 1250/157");
  facts.isCompanys = true;
  EXPECT_EQ(guessOf(facts),
            "f16 125000\nprecision: f16 on matrix units; companies train in "
            "the fastest format x 157/1250 to 1");
  facts.year = 2018;
  EXPECT_EQ(guessOf(facts),
            "f32 15700\nprecision: f32 on vector units; before 2019 few "
            "trained in 16 bits x 1 to 1250/157");
  facts.year.reset();
  facts.isCompanys.reset();
  facts.deviceHours = 10'001;
  EXPECT_EQ(guessOf(facts),
            "f16 125000\nprecision: f16 on matrix units; 10001 device-hours "
            "are taken for a company's, which trains in the fastest format x "
            "157/1250 to 1");
  facts.isCompanys = false;
  EXPECT_TRUE(StringRef(guessOf(facts)).starts_with("f32 "));
}

TEST(Defaults, MatrixUnitsAskForMultiplesOfEight) {
  HardwareFacts facts = on("V100");
  facts.isCompanys = true;
  auto half = [] { return Rational::fraction(1, 2); };
  facts.alignedShare = half;
  EXPECT_TRUE(StringRef(guessOf(facts)).starts_with("f16 125000\n"));
  auto less = [] { return Rational::fraction(49, 100); };
  facts.alignedShare = less;
  EXPECT_TRUE(StringRef(guessOf(facts)).starts_with("f16 31300\n"));
  // A TPU has no other units.
  facts.device = table().find("TPUv4");
  EXPECT_EQ(guessOf(facts),
            "bf16 275000\nprecision: bf16 on matrix units; `TPUv4` runs f32 as "
            "bf16; what a framework does unless told otherwise x 1 to 1");
}

TEST(Defaults, FrameworksHaveDefaultsByYear) {
  HardwareFacts facts = on("A100");
  for (int year : {2020, 2021, 2022}) {
    facts.year = year;
    for (StringRef framework : knownFrameworks()) {
      facts.framework = framework;
      bool isTf32 = framework == "PyTorch"      ? year == 2021
                    : framework == "TensorFlow" ? year >= 2021
                                                : true;
      EXPECT_TRUE(
          StringRef(guessOf(facts)).starts_with(isTf32 ? "tf32 156000" : "f32"))
          << framework.str() << year;
    }
  }
  EXPECT_EQ(guessOf(facts),
            "tf32 156000\nprecision: tf32 on matrix units; JAX in 2022 ran f32 "
            "as tf32 unless told otherwise x 1/8 to 2");
  facts.year.reset();
  EXPECT_TRUE(StringRef(guessOf(facts)).starts_with("tf32 156000"));
  facts.isCompanys = false;
  EXPECT_TRUE(StringRef(guessOf(facts)).starts_with("f32 19500"));
  facts.year = 2022;
  facts.isCompanys.reset();
  facts.device = table().find("K80");
  EXPECT_EQ(guessOf(facts),
            "f32 8226\nprecision: f32 on vector units; it has no matrix units "
            "for 16 bits x 1 to 1");
}

TEST(Defaults, UnknownDevicesAreThoseOfTheirYear) {
  HardwareFacts facts = on("GPU");
  EXPECT_EQ(guessOf(facts), "? 0");
  facts.year = 2013;
  EXPECT_EQ(guessOf(facts),
            "f32 2500\nhardware: 2.5 TFLOP/s; the mean of 2 notable models of "
            "2013, on K20X, GTX 580: a guess; low and high are 2012 and 2015 x "
            "16/25 to 58/25\nprecision: f32; before 2019 few trained in 16 "
            "bits x 1 to 1");
  facts.year = 2030;
  facts.isCompanys = true;
  EXPECT_EQ(guessOf(facts),
            "? 1900000\nhardware: 1.9 PFLOP/s; the mean of 8 notable models of "
            "2026, the nearest year that is known, on GB300, GB200, B300; low "
            "is 2024, high as far above x 53/190 to 190/53\nprecision: 16 bits "
            "on matrix units; companies train in the fastest format x 77/1900 "
            "to 1");
  facts.format = NumberFormat::F32;
  EXPECT_TRUE(StringRef(guessOf(facts)).starts_with("f32 77000\nhardware: "));
  facts.year = 2000;
  EXPECT_EQ(guessOf(facts),
            "f32 1600\nhardware: 1.6 TFLOP/s; the mean of 4 notable models of "
            "2012, the nearest year that is known, on GTX 580: a guess; high "
            "is 2014, low as far below x 8/23 to 23/8");
}
