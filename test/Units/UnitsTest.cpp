// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Units/Units.h"

#include "llvm/ADT/Twine.h"

#include "gtest/gtest.h"

#include <random>

using namespace netc;

using Result = std::variant<Literal, Message>;

static const Dimension none;
static const Dimension duration = Dimension::Time, flop = Dimension::Flop,
                       data = Dimension::Data, device = Dimension::Device;

static Rational number(llvm::StringRef text) { return *Rational::parse(text); }

static Literal valid(const Result &result) {
  if (auto *error = std::get_if<Message>(&result)) {
    ADD_FAILURE() << error->text;
    return {};
  }
  return std::get<Literal>(result);
}

static std::string errorOf(const Result &result) {
  auto *error = std::get_if<Message>(&result);
  if (!error)
    return "no error";
  return error->text + " [" + error->id.str() + "]";
}

static void expectQuantity(llvm::StringRef digits, llvm::StringRef unit,
                           llvm::StringRef value, Dimension dimension) {
  Literal literal = valid(parseQuantity(digits, unit));
  EXPECT_EQ(literal.value, number(value)) << digits.str() << " " << unit.str();
  EXPECT_EQ(literal.dimension, dimension) << digits.str() << " " << unit.str();
  EXPECT_EQ(literal.device, "");
}

static std::string quantityError(llvm::StringRef digits, llvm::StringRef unit) {
  return errorOf(parseQuantity(digits, unit));
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

TEST(Dimension, CombinesAndPrints) {
  EXPECT_EQ((flop / duration).str(), "FLOP/s");
  EXPECT_EQ((flop / duration * duration), flop);
  EXPECT_TRUE((flop / flop).isNone());
  EXPECT_EQ(none.str(), "");
  EXPECT_EQ((none / duration).str(), "1/s");
  EXPECT_EQ((data.pow(2) / (duration * Dimension(Dimension::Step))).str(),
            "bytes^2/(steps*s)");
  EXPECT_EQ((device * duration).str(), "devices*s");
  EXPECT_EQ(flop.pow(0), none);
  EXPECT_NE(flop, Dimension(Dimension::Op));
}

TEST(Dimension, CountsAreTheOnesThatPlainNumbersReplace) {
  for (Dimension::Base base :
       {Dimension::Example, Dimension::Token, Dimension::Step, Dimension::Epoch,
        Dimension::Device})
    EXPECT_TRUE(Dimension(base).isCount());
  for (const Dimension &other : {none, duration, flop, data, device.pow(2)})
    EXPECT_FALSE(other.isCount());
}

TEST(Dimension, PowersOutOfRangeAreInvalidAndStick) {
  EXPECT_TRUE(flop.pow(127).isValid());
  EXPECT_TRUE(flop.pow(-127).isValid());
  EXPECT_FALSE((flop.pow(127) * flop).isValid());
  EXPECT_FALSE((flop.pow(-127) / flop).isValid());
  EXPECT_FALSE(flop.pow(128).isValid());
  EXPECT_FALSE(flop.pow(-128).isValid());
  EXPECT_FALSE(duration.pow(2).pow(INT64_MAX).isValid());
  Dimension overflow = flop.pow(1000);
  EXPECT_FALSE(overflow.pow(0).isValid());
  EXPECT_FALSE((none * overflow).isValid());
  EXPECT_FALSE((none / overflow).isValid());
  EXPECT_EQ(overflow.str(), "<overflow>");
}

//===----------------------------------------------------------------------===//
// Quantities
//===----------------------------------------------------------------------===//

TEST(Quantity, Numbers) {
  expectQuantity("3", "", "3", none);
  expectQuantity(".5", "", "1/2", none);
  expectQuantity("1.5e-4", "", "15/100000", none);
  expectQuantity("4.9M", "", "4900000", none);
  expectQuantity("256k", "", "256000", none);
  expectQuantity("7B", "", "7000000000", none);
  expectQuantity("2T", "", "2e12", none);
  expectQuantity("64Ki", "", "65536", none);
  expectQuantity("4Mi", "", "4194304", none);
  expectQuantity("1Gi", "", "1073741824", none);
  expectQuantity("1Ti", "", "1099511627776", none);
  expectQuantity("30%", "", "3/10", none);
  expectQuantity("300_000", "", "300000", none);
  expectQuantity("1.5e3M", "", "1.5e9", none);
}

TEST(Quantity, EveryUnit) {
  expectQuantity("1", "ns", "1e-9", duration);
  expectQuantity("1", "us", "1e-6", duration);
  expectQuantity("1", "ms", "1e-3", duration);
  for (llvm::StringRef second : {"s", "second", "seconds"})
    expectQuantity("2", second, "2", duration);
  for (llvm::StringRef minute : {"min", "minute", "minutes"})
    expectQuantity("2", minute, "120", duration);
  for (llvm::StringRef hour : {"h", "hour", "hours"})
    expectQuantity("12", hour, "43200", duration);
  for (llvm::StringRef day : {"day", "days"})
    expectQuantity("3.5", day, "302400", duration);
  for (llvm::StringRef week : {"week", "weeks"})
    expectQuantity("1", week, "604800", duration);
  // 365.25 days.
  for (llvm::StringRef year : {"year", "years"})
    expectQuantity("1", year, "31557600", duration);

  expectQuantity("2.7e22", "FLOP", "2.7e22", flop);
  expectQuantity("8.2", "GFLOP", "8.2e9", flop);
  expectQuantity("1", "ZFLOP", "1e21", flop);
  expectQuantity("3", "TOP", "3e12", Dimension::Op);

  expectQuantity("512", "bytes", "512", data);
  expectQuantity("80", "GB", "80e9", data);
  expectQuantity("80", "GiB", "85899345920", data);
  expectQuantity("8", "kbit", "1000", data);
  expectQuantity("4", "bit", "1/2", data);

  for (llvm::StringRef example :
       {"example", "examples", "sequence", "sequences", "sample", "samples",
        "image", "images"})
    expectQuantity("9", example, "9", Dimension::Example);
  expectQuantity("4M", "tokens", "4e6", Dimension::Token);
  expectQuantity("1", "token", "1", Dimension::Token);
  expectQuantity("300_000", "steps", "300000", Dimension::Step);
  expectQuantity("1", "step", "1", Dimension::Step);
  expectQuantity("7.5", "epochs", "7.5", Dimension::Epoch);
  expectQuantity("1", "epoch", "1", Dimension::Epoch);
}

TEST(Quantity, APrefixNextToItsNumberIsLexedAsASuffix) {
  expectQuantity("80G", "B", "80e9", data);
  expectQuantity("80Gi", "B", "85899345920", data);
  expectQuantity("5k", "B", "5000", data);
  expectQuantity("3T", "FLOP", "3e12", flop);
  expectQuantity("1G", "bit", "125e6", data);
}

TEST(Quantity, NamesInUpperCaseAreDevices) {
  for (llvm::StringRef name : {"V100", "A100_80GB", "GPU", "TPUv3", "TitanX",
                               "H100", "K80", "MI300X", "T4", "Trainium"}) {
    Literal literal = valid(parseQuantity("8", name));
    EXPECT_EQ(literal.value, Rational(8));
    EXPECT_EQ(literal.dimension, device);
    EXPECT_EQ(literal.device, name);
  }
}

TEST(Quantity, HalfAUnitOfTheLastWrittenDigit) {
  auto half = [](llvm::StringRef digits, llvm::StringRef unit = "") {
    return valid(parseQuantity(digits, unit)).halfUnit;
  };
  EXPECT_EQ(half("69.0B"), number("0.05e9"));
  EXPECT_EQ(half("30%"), number("0.005"));
  EXPECT_EQ(half("1.0e5"), number("0.05e5"));
  EXPECT_EQ(half("1000"), number("0.5"));
  EXPECT_EQ(half("300_000"), number("0.5"));
  EXPECT_EQ(half(".25"), number("0.005"));
  EXPECT_EQ(half("2.7e22", "FLOP"), number("0.05e22"));
  EXPECT_EQ(half("8.20", "GFLOP"), number("0.005e9"));
  EXPECT_EQ(half("80G", "B"), number("0.5e9"));
  EXPECT_EQ(half("64Ki"), number("512"));
  EXPECT_EQ(half("0"), number("0.5"));
  EXPECT_EQ(half("1.5E-4"), number("0.05e-4"));
  EXPECT_EQ(half("3.5", "days"), number("4320"));
}

//===----------------------------------------------------------------------===//
// Rates and device-time
//===----------------------------------------------------------------------===//

static void expectRate(llvm::StringRef token, llvm::StringRef value,
                       Dimension amount) {
  Literal literal = valid(parseRate(token));
  EXPECT_EQ(literal.value, number(value)) << token.str();
  EXPECT_EQ(literal.dimension, amount / duration) << token.str();
}

TEST(Rate, OfFlopOpDataAndCounts) {
  expectRate("125 TFLOP/s", "125e12", flop);
  expectRate("125TFLOP/s", "125e12", flop);
  expectRate("19.5\t TFLOP/s", "19.5e12", flop);
  expectRate("1e3 FLOP/s", "1e3", flop);
  expectRate("1 YFLOP/s", "1e24", flop);
  expectRate("624 TOP/s", "624e12", Dimension::Op);
  expectRate("2039 GB/s", "2039e9", data);
  expectRate("600GB/s", "600e9", data);
  expectRate("1 PiB/s", "1125899906842624", data);
  expectRate("200 Gbit/s", "25e9", data);
  expectRate("50 images/s", "50", Dimension::Example);
  expectRate("5examples/s", "5", Dimension::Example);
  expectRate("4k tokens/s", "4000", Dimension::Token);
  expectRate("4ktokens/s", "4000", Dimension::Token);
  expectRate("2_000 steps/s", "2000", Dimension::Step);
  EXPECT_EQ(valid(parseRate("19.5 TFLOP/s")).halfUnit, number("0.05e12"));
}

TEST(Rate, Errors) {
  EXPECT_EQ(errorOf(parseRate("30% FLOP/s")),
            "a percentage has no unit; a share of a quantity is a product: "
            "`30% * x` [percentage-with-unit]");
  for (llvm::StringRef name : {"s/s", "B/s", "/s", "", "V100/s"})
    EXPECT_EQ(errorOf(parseRate(("5 " + name).str())),
              (llvm::Twine("unknown rate `") + name +
               "`; rates are written `125 TFLOP/s`, `200 Gbit/s` or `50 "
               "images/s` [unknown-rate]")
                  .str());
  EXPECT_EQ(errorOf(parseRate(" FLOP/s")),
            "`` is not a number; numbers are written `3`, `1.5e-4`, `4M`, "
            "`64Ki` or `30%` [not-a-literal]");
}

TEST(DeviceTime, OfDevices) {
  auto expectDevice = [](llvm::StringRef token, llvm::StringRef value,
                         llvm::StringRef name) {
    Literal literal = valid(parseDeviceTime(token));
    EXPECT_EQ(literal.value, number(value)) << token.str();
    EXPECT_EQ(literal.dimension, device * duration) << token.str();
    EXPECT_EQ(literal.device, name) << token.str();
  };
  expectDevice("2500 V100-days", "216e6", "V100");
  expectDevice("2500V100-days", "216e6", "V100");
  expectDevice("680 TPUv3-core-days", "58752000", "TPUv3-core");
  expectDevice("3TPUv3-hours", "10800", "TPUv3");
  expectDevice("1.5M A100_80GB-hours", "54e8", "A100_80GB");
  expectDevice("1e-1 GPU-week", "60480", "GPU");
  EXPECT_EQ(valid(parseDeviceTime("2500 V100-days")).halfUnit, number("43200"));
}

TEST(DeviceTime, OfARateIsAnAmount) {
  Literal literal = valid(parseDeviceTime("3_640 PFLOP/s-days"));
  EXPECT_EQ(literal.value, number("3640e15") * 86400);
  EXPECT_EQ(literal.dimension, flop);
  EXPECT_EQ(literal.device, "");
  EXPECT_EQ(literal.halfUnit, number("0.5e15") * 86400);
  EXPECT_EQ(valid(parseDeviceTime("2 tokens/s-minutes")).dimension,
            Dimension(Dimension::Token));
}

TEST(DeviceTime, Errors) {
  for (llvm::StringRef name : {"months", "tokens", "dozens"})
    EXPECT_EQ(errorOf(parseDeviceTime((llvm::Twine("3 V100-") + name).str())),
              (llvm::Twine("unknown unit `") + name +
               "`; device-time is in seconds, minutes, hours, days, weeks or "
               "years [unknown-unit]")
                  .str());
  EXPECT_EQ(errorOf(parseDeviceTime("3% V100-days")),
            "a percentage has no unit; a share of a quantity is a product: `3% "
            "* x` [percentage-with-unit]");
  EXPECT_EQ(errorOf(parseDeviceTime("3 XB/s-days")).substr(0, 12),
            "unknown rate");
  EXPECT_EQ(errorOf(parseDeviceTime("1e22 PFLOP/s-years")),
            "`1e22 PFLOP/s` is out of range; numbers are exact fractions of "
            "integers below 2^127, about 1.7e38 [literal-out-of-range]");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(QuantityError, SuffixesAndPrefixes) {
  for (llvm::StringRef number : {"7", "7B"})
    EXPECT_EQ(quantityError(number, "B"),
              "`B` needs a prefix to be a unit; did you mean the number `7B` "
              "or `7 GB`? [bytes-without-prefix]");
  EXPECT_EQ(quantityError("2", "K"),
            "unknown unit `K`; did you mean `2k` (times 1000) or `2Ki` (times "
            "1024)? [unknown-unit]");
  EXPECT_EQ(quantityError("1", "KB"),
            "unknown unit `KB`; did you mean `kB` (1000 bytes) or `KiB` (1024 "
            "bytes)? [unknown-unit]");
  EXPECT_EQ(quantityError("2", "T"),
            "unknown unit `T`; did you mean the number `2T` or the product `2 "
            "* T`? [unknown-unit]");
  EXPECT_EQ(quantityError("2", "Mi"),
            "unknown unit `Mi`; did you mean the number `2Mi` or the product "
            "`2 * Mi`? [unknown-unit]");
  EXPECT_EQ(quantityError("30%", "epochs"),
            "a percentage has no unit; a share of a quantity is a product: "
            "`30% * x` [percentage-with-unit]");
}

TEST(QuantityError, UnknownNames) {
  EXPECT_EQ(quantityError("3", "months"),
            "unknown unit `months`; a month has no fixed length; use `days` or "
            "`weeks` [unknown-unit]");
  auto product = [](llvm::StringRef name) {
    return (llvm::Twine("unknown unit `") + name +
            "`; did you mean the product `2 * " + name + "`? [unknown-unit]")
        .str();
  };
  for (llvm::StringRef name : {"d", "N", "H", "layers", "heads", "_x", "h'"})
    EXPECT_EQ(quantityError("2", name), product(name));

  std::string endless(1 << 20, 'x');
  EXPECT_EQ(quantityError("2", endless), product(endless));

  auto suggestion = [](llvm::StringRef name, llvm::StringRef unit) {
    return (llvm::Twine("unknown unit `") + name + "`; did you mean `" + unit +
            "`? [unknown-unit]")
        .str();
  };
  EXPECT_EQ(quantityError("80", "gb"), suggestion("gb", "GB"));
  EXPECT_EQ(quantityError("80", "GBs"), suggestion("GBs", "GB"));
  EXPECT_EQ(quantityError("9", "Epochs"), suggestion("Epochs", "epoch"));
  EXPECT_EQ(quantityError("9", "epoches"), suggestion("epoches", "epochs"));
  EXPECT_EQ(quantityError("9", "tokns"), suggestion("tokns", "tokens"));
  EXPECT_EQ(quantityError("9", "houres"), suggestion("houres", "hours"));
  EXPECT_EQ(quantityError("9", "mins"), suggestion("mins", "min"));
  EXPECT_EQ(quantityError("8", "GFLOPS"),
            "unknown unit `GFLOPS`; did you mean `GFLOP`? a rate is `GFLOP/s` "
            "[unknown-unit]");
  EXPECT_EQ(quantityError("8", "GFLOPs"),
            "unknown unit `GFLOPs`; did you mean `GFLOP`? a rate is `GFLOP/s` "
            "[unknown-unit]");
}

TEST(QuantityError, Numbers) {
  auto outOfRange = [](llvm::StringRef digits) {
    return (llvm::Twine("`") + digits +
            "` is out of range; numbers are exact fractions of integers below "
            "2^127, about 1.7e38 [literal-out-of-range]")
        .str();
  };
  for (llvm::StringRef digits : {"1e39", "1e38k", "1e-39", "1e999999999999"})
    EXPECT_EQ(quantityError(digits, ""), outOfRange(digits));
  for (llvm::StringRef digits : {"", "x", "1.", "1__0", "4%2", "-1", "1kk"})
    EXPECT_EQ(quantityError(digits, ""),
              (llvm::Twine("`") + digits +
               "` is not a number; numbers are written `3`, `1.5e-4`, `4M`, "
               "`64Ki` or `30%` [not-a-literal]")
                  .str());
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

TEST(FormatQuantity, PicksAReadableUnit) {
  auto format = [](llvm::StringRef value, const Dimension &dimension) {
    return formatQuantity(number(value), dimension);
  };
  EXPECT_EQ(format("0", none), "0");
  EXPECT_EQ(format("99999", none), "99999");
  EXPECT_EQ(format("25557032", none), "25.56M");
  EXPECT_EQ(format("6.74e9", none), "6.74B");
  EXPECT_EQ(format("3/10", none), "0.3");
  EXPECT_EQ(format("1.5e-9", none), "1.5e-9");
  EXPECT_EQ(format("-2.7e22", none), "-2.7e22");
  EXPECT_EQ(format("300000", Dimension::Step), "300k steps");
  EXPECT_EQ(format("1", Dimension::Epoch), "1 epoch");
  EXPECT_EQ(format("7.5", Dimension::Epoch), "7.5 epochs");
  EXPECT_EQ(format("8", device), "8 devices");
  EXPECT_EQ(format("50", Dimension(Dimension::Example) / duration),
            "50 examples/s");

  EXPECT_EQ(format("0", duration), "0 s");
  EXPECT_EQ(format("2e-7", duration), "200 ns");
  EXPECT_EQ(format("0.0123", duration), "12.3 ms");
  EXPECT_EQ(format("59.9999", duration), "1 min");
  EXPECT_EQ(format("3600", duration), "1 hour");
  EXPECT_EQ(format("43200", duration), "12 hours");
  EXPECT_EQ(format("302400", duration), "3.5 days");
  EXPECT_EQ(format("31557600", duration), "1 year");
  EXPECT_EQ(format("216e6", device * duration), "2500 device-days");

  EXPECT_EQ(format("8.2e9", flop), "8.2 GFLOP");
  EXPECT_EQ(format("999999", flop), "1 MFLOP");
  EXPECT_EQ(format("2.7e22", flop), "2.7e22 FLOP");
  EXPECT_EQ(format("312e12", flop / duration), "312 TFLOP/s");
  EXPECT_EQ(format("1", data), "1 byte");
  EXPECT_EQ(format("80e9", data), "80 GB");
  EXPECT_EQ(format("25e9", data / duration), "25 GB/s");
  EXPECT_EQ(format("12", data / flop), "12 bytes/FLOP");
  EXPECT_EQ(format("5", none / duration), "5 1/s");

  EXPECT_EQ(formatQuantity(25557032, none, 8), "25.557032M");
  EXPECT_EQ(formatQuantity(Rational::invalid(), flop), "<overflow>");
}

TEST(FormatQuantity, WhatIsPrintedReadsBackAsTheRoundedValue) {
  std::mt19937_64 random(5);
  const Dimension dimensions[] = {none,
                                  duration,
                                  flop,
                                  data,
                                  Dimension::Op,
                                  Dimension::Example,
                                  Dimension::Token,
                                  Dimension::Step,
                                  Dimension::Epoch};
  for (int i = 0; i < 2000; ++i) {
    Rational value =
        Rational(1 + random() % 99999) * Rational(10).pow(random() % 15);
    if (random() % 3 == 0)
      value /= 100000;
    const Dimension &dimension = dimensions[random() % 9];
    std::string text = formatQuantity(value, dimension, 6);
    auto [digits, unit] = llvm::StringRef(text).split(' ');
    Literal literal = valid(parseQuantity(digits, unit));
    EXPECT_EQ(literal.dimension, dimension) << text;
    EXPECT_LE((literal.value - value).abs(), value / 100000) << text;
  }
}
