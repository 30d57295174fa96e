// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions that a device computes, on the simulator, beside libm's.

#include "dialect/NetAttributes.h"
#include "lib/Simulator/Simulator.h"
#include "lib/Target/Backend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace netc;

using Function = double (*)(double);

/// What a device makes of each number by `payload`, an op on %x.
template <typename T>
static std::vector<T> computed(const std::string &payload,
                               std::vector<T> numbers) {
  std::string n = std::to_string(numbers.size());
  std::string element = sizeof(T) == 4 ? "f32" : "f64";
  std::string type = "memref<" + n + "x" + element + ">";
  std::string bytes = std::to_string(2 * sizeof(T) * numbers.size());
  std::string at = std::to_string(sizeof(T) * numbers.size());
  std::string text =
      "func.func @netc_step(%arena: memref<" + bytes +
      "xi8>) {\n"
      "%c0 = arith.constant 0 : index\n%c1 = arith.constant " +
      at +
      " : index\n"
      "%a = memref.view %arena[%c0][] : memref<" +
      bytes + "xi8> to " + type + "\n%b = memref.view %arena[%c1][] : memref<" +
      bytes + "xi8> to " + type +
      "\nlinalg.generic {indexing_maps = [affine_map<(i) -> "
      "(i)>, affine_map<(i) -> (i)>], iterator_types = "
      "[\"parallel\"]} ins(%a : " +
      type + ") outs(%b : " + type + ") {\n^bb0(%x: " + element +
      ", %out: " + element + "):\n%y = " + payload + " : " + element +
      "\nlinalg.yield %y : " + element + "\n}\nreturn\n}";
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  registerLoweringInterfaces(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect>();
  context.appendDialectRegistry(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  LoweringOptions options;
  options.target = program::TargetKind::Cuda;
  options.arch = "sm_80";
  std::unique_ptr<Backend> backend = cantFail(makeBackend(options));
  mlir::PassManager passes((*module)->getName());
  backend->addKernelPasses(passes, options);
  EXPECT_TRUE(succeeded(passes.run(*module)));
  std::string ptx;
  llvm::raw_string_ostream os(ptx);
  cantFail(backend->printDeviceCode(*module, os));

  simulator::Device device;
  device.load(ptx);
  uint64_t size = sizeof(T) * numbers.size();
  uint64_t from = device.allocate(size), to = device.allocate(size);
  device.write(from, numbers.data(), size);
  const void *arguments[] = {&from, &to};
  auto kernels =
      (*module)->getAttrOfType<mlir::ArrayAttr>(KernelAttr::kOfModule);
  auto kernel = mlir::cast<KernelAttr>(kernels[0]);
  device.launch("kernel_1", {uint32_t(kernel.getBlocks())},
                {uint32_t(kernel.getThreads())}, 0, arguments);
  EXPECT_TRUE(device.findings().empty());
  device.read(to, numbers.data(), size);
  return numbers;
}

/// Compares with `exact`, in units of the last place; what is not finite, or is
/// zero, has to be the same.
template <typename T>
static void compareAt(const std::string &payload, Function exact,
                      const std::vector<T> &numbers, double units) {
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> results = computed(payload, numbers);
  double worst = 0, where = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    double y = results[i], truth = exact(numbers[i]);
    T nearest = T(truth);
    if (!std::isfinite(nearest) || nearest == 0) {
      EXPECT_TRUE(y == nearest || (std::isnan(y) && std::isnan(nearest)))
          << payload << " of " << numbers[i] << " is " << y << ", not "
          << nearest;
      continue;
    }
    double unit = std::abs(std::nextafter(nearest, infinity) - nearest);
    double error = std::abs(y - truth) / unit;
    if (!(error <= worst))
      worst = error, where = numbers[i];
  }
  EXPECT_LE(worst, units) << payload << " of " << where;
}

static void compare(const std::string &payload, Function exact, double low,
                    double high, double units) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{0.0, -0.0, infinity, -infinity, std::nan("")};
  for (int i = 0; i <= 2000; ++i)
    numbers.push_back(low + (high - low) * i / 2000);
  for (double small = 1e-300; small < 1; small *= 10)
    numbers.insert(numbers.end(), {small, -small});
  compareAt(payload, exact, numbers, units);
}

/// Compares at f32 of all exponents and signs, and at 20000 from `low` to
/// `high`.
static void sweep(const std::string &payload, Function exact, float low,
                  float high, double units) {
  std::vector<float> numbers;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 0x3fff1) {
    auto pattern = uint32_t(bits);
    float x;
    std::memcpy(&x, &pattern, sizeof x);
    numbers.push_back(x);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  numbers.insert(numbers.end(), {0.0f, -0.0f, infinity, -infinity});
  for (int i = 0; i <= 20000; ++i)
    numbers.push_back(low + (high - low) * float(i) / 20000);
  compareAt(payload, exact, numbers, units);
}

TEST(DeviceMathTest, FastFunctions) {
  sweep("math.exp %x", std::exp, -1, 1, 1);
  sweep("math.exp %x", std::exp, -105, 90, 1);
  sweep("math.log %x", std::log, 0.5, 2, 1);
  sweep("math.tanh %x", std::tanh, -1, 1, 2);
  sweep("math.tanh %x", std::tanh, -10, 10, 2);
  sweep("math.erf %x", std::erf, -1, 1, 1.5);
  sweep("math.erf %x", std::erf, -5, 5, 1.5);
}

TEST(DeviceMathTest, ExponentialsAndLogarithms) {
  compare("math.exp %x", std::exp, -745, 711, 2);
  compare("math.exp %x", std::exp, -1, 1, 2);
  compare("math.log %x", std::log, 1e-3, 3, 2);
  compare("math.log %x", std::log, 1, 1e300, 2);
}

TEST(DeviceMathTest, Tangents) {
  compare("math.tanh %x", std::tanh, -1, 1, 3);
  compare("math.tanh %x", std::tanh, -30, 30, 3);
}

TEST(DeviceMathTest, ErrorFunction) {
  compare("math.erf %x", std::erf, -1, 1, 3);
  compare("math.erf %x", std::erf, -8, 8, 3);
}

/// Near multiples of pi little of an angle is left.
TEST(DeviceMathTest, Waves) {
  auto near = [](const std::string &payload, Function exact, double high) {
    std::vector<double> numbers;
    for (int i = 0; i <= 4000; ++i)
      numbers.push_back(-high + 2 * high * i / 4000);
    std::vector<double> results = computed<double>(payload, numbers);
    for (size_t i = 0; i < numbers.size(); ++i)
      ASSERT_NEAR(results[i], exact(numbers[i]), 3e-16) << numbers[i];
  };
  near("math.sin %x", std::sin, 7);
  near("math.cos %x", std::cos, 7);
  near("math.sin %x", std::sin, 1e5);
  near("math.cos %x", std::cos, 1e5);
  EXPECT_TRUE(std::isnan(computed<double>(
      "math.sin %x", {std::numeric_limits<double>::infinity()})[0]));
}

TEST(DeviceMathTest, Powers) {
  auto power = [](double x, double y) {
    std::vector<double> powers =
        computed<double>("math.powf %x, %x", {x == y ? x : 0.5});
    return powers[0];
  };
  EXPECT_NEAR(power(3, 3), 27, 1e-13);
  EXPECT_NEAR(power(-3, -3), -1.0 / 27, 1e-17);
  EXPECT_EQ(power(0, 0), 1);
  EXPECT_EQ(power(1, 1), 1);
  EXPECT_NEAR(power(-2, -2), 0.25, 1e-15);
  EXPECT_TRUE(std::isnan(power(-1.5, -1.5)));
}
