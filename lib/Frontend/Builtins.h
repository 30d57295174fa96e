// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_BUILTINS_H
#define NETC_LIB_FRONTEND_BUILTINS_H

#include "lib/Frontend/Caller.h"

namespace netc {

class Evaluator;

class Builtins;
struct Builtin {
  llvm::StringRef name;
  Value (Builtins::*call)(antlr4::ParserRuleContext *at,
                          std::vector<Argument> &arguments);
  /// Whether the first argument is a tensor, which may be piped in.
  bool takesTensor;
  /// Whether it takes lists of any values, although an op has the same name.
  bool takesList = false;
  std::vector<std::string> settings = {}; ///< what it takes by name
};

/// The functions of the language that are not ops. Builtins.cpp has their
/// table, compile-time values, questions about axes, and constants; Shapes.cpp
/// has reshapes, Loops.cpp loops, and Weights.cpp parameters, buffers and
/// opaque networks.
class Builtins {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Builtins(Evaluator &e) : e(e) {}

  // The built-ins, in the order of the table in Builtins.cpp.
  Value callLen(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callSum(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMin(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMax(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callReverse(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callLast(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callDropLast(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callZip(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callSqrt(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callExp(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callLog(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFloor(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callCeil(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callRound(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callAbs(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callLog2(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMean(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callClass(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callAxes(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFeature(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callWindow(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callSpread(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callPosition(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callParameter(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callBuffer(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callArange(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFloat(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callKind(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callTable(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callTensor(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callZeros(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callOnes(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFull(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callReshape(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFlatten(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callRearrange(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callExpand(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callMap(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callEach(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callFreeze(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callRecomputed(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callOpaque(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callBetween(antlr4::ParserRuleContext *, std::vector<Argument> &);
  Value callHistogram(antlr4::ParserRuleContext *, std::vector<Argument> &);
  std::optional<Value> lookupBuiltin(llvm::StringRef name);
  /// Appends the names of functions, of ops that a specification may call, and
  /// of types.
  static void addBuiltinNames(mlir::MLIRContext *context,
                              std::vector<std::string> &names);
  /// What such a function takes by name; empty of others.
  static llvm::ArrayRef<std::string> settingsOf(llvm::StringRef name);

private:
  std::optional<Value> findBuiltin(llvm::StringRef name);
  /// A copy of the block that is the only argument of `function`; null after an
  /// error.
  std::shared_ptr<Instance> copyOfBlock(antlr4::ParserRuleContext *at,
                                        llvm::StringRef function,
                                        const std::vector<Argument> &arguments);
  std::optional<std::vector<Value>>
  listArgument(Tree *at, std::vector<Argument> &arguments);
  /// The items of a list argument, or two or more numbers as arguments.
  std::optional<std::vector<Value>>
  numberArguments(Tree *at, std::vector<Argument> &arguments);
  Value extreme(Tree *at, std::vector<Argument> &arguments,
                llvm::StringRef better);
  Value realFunction(Tree *at, std::vector<Argument> &arguments,
                     double (*function)(double));
  Value rounded(Tree *at, std::vector<Argument> &arguments,
                Rational (*exactly)(const Rational &),
                double (*nearly)(double));
  Value axisList(Tree *at, std::vector<Argument> &arguments,
                 llvm::StringRef rule);
  Value filled(Tree *at, llvm::ArrayRef<Argument> arguments, double value);
  std::optional<std::pair<Value, int64_t>>
  loopArguments(Tree *at, std::vector<Argument> &arguments);

  Evaluator &e;
  llvm::StringMap<std::optional<Value>> known; ///< what findBuiltin() returned
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_BUILTINS_H
