// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
#include "lib/Frontend/Builtins.h"
#include "lib/Std/Std.h"
#include "test/Fuzz/ReadSpecification.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <gtest/gtest.h>

using namespace netc;

namespace {

/// Names and values that a specification can have without an import.
std::vector<std::string> everyName() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<NetDialect>();
  std::vector<std::string> names;
  Builtins::addBuiltinNames(&context, names);
  for (const StandardBlock &block : standardBlocks())
    names.push_back(block.name.str());
  for (const char *other : {"true", "M", "D", "run", "Card", "1.5", "\"s\"",
                            "[1]", "{ a = 1 }", "between(1, 2)", "-1"})
    names.push_back(other);
  llvm::sort(names);
  return names;
}

/// A file in which any name is put in place of `@`, in the declarations, the
/// net or the run. `right` is valid there.
struct Position {
  const char *name, *right, *header, *net, *run;
};
const Position positions[] = {
    {"Constant", "2", "a = @", "", ""},
    {"Call", "Adam", "a = @()", "", ""},
    {"Argument", "sqrt", "a = @(0.1)", "", ""},
    {"Arguments", "min", "a = @(2, 3)", "", ""},
    {"Member", "{ b = 1 }", "a = @.b", "", ""},
    {"Index", "1", "a = [1, 2][@]", "", ""},
    {"Operand", "2", "a = 2 * @ + 1", "", ""},
    {"Condition", "true", "a = if @ then 1 else 2", "", ""},
    {"Expect", "1", "expect @ == 2 - 1", "", ""},
    {"Part", "linear", "expect M.params(@) == 20", "", ""},
    {"Tolerance", "1", "expect 2 - 1 ~ 1 within @", "", ""},
    {"Default", "4", "block B(x; s = @) = x |> Linear(s)", "x = x |> B", ""},
    {"Hardware", "1 TFLOP/s", "hardware Card { peak = @ }", "",
     "hardware = 1 Card"},
    {"Input", "f32", "net I(x: @[N, 4]) = x |> relu", "", ""},
    {"Size", "8", "net I(x: f32[N, @]) = x |> relu", "", ""},
    {"Block", "relu", "", "x = x |> @", ""},
    {"Instance", "relu", "", "x = x |> @()", ""},
    {"Setting", "Linear", "", "x = x |> @(4)", ""},
    {"Tensor", "relu", "", "x = @(x)", ""},
    {"Tensors", "minimum", "", "x = @(x, x)", ""},
    {"Listed", "concat", "", "x = @([x, x])", ""},
    {"Each", "relu", "", "x = each(x, @, over = d)", ""},
    {"Map", "relu", "", "x = map(x, @, over = d)", ""},
    {"Frozen", "Linear(4)", "", "x = x |> freeze(@)", ""},
    {"Recomputed", "relu", "", "x = x |> recomputed(@)", ""},
    {"Width", "4", "", "x = x |> Linear(@)", ""},
    {"Copies", "2", "", "x = x |> repeat @ { relu }", ""},
    {"Repeated", "relu", "", "x = x |> repeat 2 { @ }", ""},
    {"Loop", "0..2", "", "for i in @ { x = x |> relu }", ""},
    {"Branch", "true", "", "if @ { x = x |> relu }", ""},
    {"Weight", "\"ones\"", "",
     "w = parameter(4, init = @); x = x + expand(w, x)", ""},
    {"Slice", "0..4", "", "x = x[..., @]", ""},
    {"Label", "d", "", "x = x |> Linear(4, as = @)", ""},
    {"Carried", "zeros(N)", "",
     "x = scan t in x over d carry h = @ { h' = h + t; yield h' }", ""},
    {"Loss", "mean(y)", "", "", "loss = @"},
    {"LossOf", "mean", "", "", "loss = @(y)"},
    {"LossBetween", "mse", "", "", "loss = @(y, y)"},
    {"Optimizer", "SGD(lr = 0.1)", "", "", "optimizer = @"},
    {"OptimizerAround", "SGD(lr = 0.1)", "", "", "optimizer = EMA(@)"},
    {"OptimizerWithRate", "SGD", "", "", "optimizer = @(lr = 0.1)"},
    {"OptimizerOfPart", "SGD(lr = 0.1)", "", "", "optimizer = { other = @ }"},
    {"Rate", "0.1", "", "", "optimizer = SGD(lr = @)"},
    {"Schedule", "cosine", "", "", "optimizer = SGD(lr = @(0.1))"},
    {"Warmup", "0", "", "", "optimizer = SGD(lr = cosine(0.1, warmup = @))"},
    {"Momentum", "0.5", "", "", "optimizer = SGD(lr = 0.1, momentum = @)"},
    {"Updates", "linear", "", "", "updates = @"},
    {"Recompute", "none", "", "", "recompute = @"},
    {"Precision", "f32", "", "", "precision = @"},
    {"Batch", "2", "", "", "batch = @"},
    {"Duration", "1 step", "", "", "duration = @"},
    {"Device", "8 V100", "", "", "hardware = @"},
    {"Took", "1 s", "", "", "took = @"},
    {"Count", "{ fma = 1 }", "", "", "count = @"},
    {"LossScale", "dynamic", "", "", "loss_scale = @"},
    {"Accumulate", "2", "", "", "accumulate = @"},
    {"Like", "other",
     "train M on D as other { loss = mean(y); batch = 2; duration = 1 step; "
     "optimizer = SGD(lr = 0.1) }",
     "", "like = @"},
    {"Sweep", "[2, 4]", "", "", "sweep batch in @"},
    {"Swept", "Adam(lr = 0.1)", "", "", "sweep optimizer in [@]"},
    {"Required", "true", "", "", "require @"},
};

struct Positions : testing::TestWithParam<Position> {};

/// A net and a run. The run has all keys that it needs, except one that the
/// position gives.
std::string restOf(const Position &position) {
  std::string text = "\nnet M(x: f32[N, d = 4]) {\n  ";
  text += position.net;
  text += "\n  return y = x |> Linear(4)\n}\n"
          "dataset D { examples = 8 }\n"
          "train M on D as run {\n";
  llvm::StringRef own = position.run;
  for (llvm::StringRef key : {"loss = mean(y)", "batch = 2",
                              "duration = 1 step", "optimizer = SGD(lr = 0.1)"})
    if (!own.starts_with(key.take_until([](char c) { return c == '='; })))
      text += ("  " + key + "\n").str();
  text += ("  " + own + "\n}\n").str();
  return text;
}

std::string textOf(const Position &position, llvm::StringRef name) {
  std::string text = position.header;
  bool isAlone = !*position.net && !*position.run &&
                 !llvm::StringRef(position.header).contains("M.");
  if (!isAlone)
    text += restOf(position);
  for (size_t at; (at = text.find('@')) != std::string::npos;)
    text.replace(at, 1, name);
  return text;
}

} // namespace

TEST_P(Positions, TakesOrRefusesEveryName) {
  llvm::EnablePrettyStackTrace();
  static const std::vector<std::string> names = everyName();
  ASSERT_GT(names.size(), 150u);
  std::string right = textOf(GetParam(), GetParam().right);
  for (const Fault &fault : readSpecification(right))
    ADD_FAILURE() << right << fault.line << ": " << fault.text;
  for (const std::string &name : names)
    readSpecification(textOf(GetParam(), name));
}

INSTANTIATE_TEST_SUITE_P(Files, Positions, testing::ValuesIn(positions),
                         [](const auto &info) { return info.param.name; });
