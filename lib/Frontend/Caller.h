// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_CALLER_H
#define NETC_LIB_FRONTEND_CALLER_H

#include "lib/Frontend/Value.h"
#include <unordered_map>

namespace netc {

class Evaluator;

/// An evaluated argument of a call.
struct Argument {
  std::string name; ///< empty if positional
  Value value;
  antlr4::ParserRuleContext *at;
  bool behindSemicolon = false;

  /// The tree of `name = value`, or of a positional argument.
  antlr4::ParserRuleContext *nameAt() const {
    auto *named = ruleCast<NetParser::ArgContext>(at->parent);
    return named ? named : at;
  }
};

/// An argument of a call in the text.
struct WrittenArgument {
  std::string name; ///< empty if positional
  NetParser::ExprContext *expr;
  /// The labels of `over = [H, W]`, which need not be in scope.
  std::vector<NetParser::ExprContext *> labels;
  bool behindSemicolon;
};

/// A parameter of a block or an op.
struct Parameter {
  std::string name;
  bool required = true;
  bool variadic = false;
  std::vector<std::string> words;
  NetParser::ParamContext *tree = nullptr; ///< null for an op
  const Setting *setting = nullptr;        ///< null for a block
  NetParser::ExprContext *given = nullptr; ///< the default that `--set` gives
};
struct Parameters {
  std::vector<Parameter> tensors, settings;
};

/// `layer[0].conv` as the path of an instance, `layer.0.conv`.
std::string pathOf(NetParser::ExprContext *expr);

/// Evaluates calls: binds arguments to parameters, and makes instances.
class Caller {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Caller(Evaluator &e) : e(e) {}

  /// The end of a message that says why an instance has not been applied: `,
  /// which lacks `target``. Else empty.
  std::string lackOf(const Value &value);
  /// The number that `value` asks for in an `expect`. Returns other values
  /// unchanged.
  Value resolve(Tree *at, Value value);
  /// The parameters of a block or an op, in the order of the signature.
  const Parameters &parametersOf(const Function &function);
  /// Evaluates the arguments of a call, in the order of the text.
  std::vector<Argument> evalArguments(NetParser::ArgsContext *args,
                                      const Value &callee);
  /// The error for a value that is not one of the setting's words, or a number
  /// for a flag. None if the value fits.
  std::optional<Message> mistakeIn(const Parameter &setting,
                                   const Function &function,
                                   const Value &value);
  /// Calls a function, a section or an instance. Returns an instance if tensors
  /// are missing, and an unknown value after an error.
  Value call(Tree *at, const Value &callee, std::vector<Argument> arguments);
  /// A dataset with these parameters.
  Value callSection(Tree *at, Section section,
                    llvm::ArrayRef<Argument> arguments);
  Value callBuiltin(Tree *at, const Function &function,
                    std::vector<Argument> arguments);
  /// A copy of the instance, or a new instance of the function, without further
  /// arguments. `instantiateAt` is for part number `part` of a composition at
  /// the same position.
  std::shared_ptr<Instance> instantiate(Tree *at, const Value &callee);
  std::shared_ptr<Instance> instantiateAt(Tree *at, const Value &callee,
                                          int64_t part);
  /// Evaluates the default of a parameter of a block.
  Value evalDefault(const Parameter &parameter);
  /// Evaluates `expr`, which may be one of the parameter's words.
  Value evalSetting(const Parameter &parameter, Expr *expr);
  /// Adds the arguments of a question: `params(tables)`, `by_time(utilization =
  /// 30%)`.
  Value askWith(const Subject &subject, NetParser::ArgsContext *args);
  /// Sets the missing settings of a block to their defaults. Returns false,
  /// with an error, if a required setting is missing.
  bool completeSettings(Tree *at, Instance &instance);
  /// Whether an instance has all required tensors.
  bool isComplete(const Instance &instance);
  /// The identity of the instance that the body makes at this position, in this
  /// iteration. It is new only in the first application of the body.
  std::shared_ptr<Identity> identityAt(Tree *at, int64_t part = 0);

private:
  const std::vector<WrittenArgument> &argumentsOf(NetParser::ArgsContext *args);
  Value evalArgument(Expr *expr, llvm::StringRef name, const Value &callee);
  bool bindArguments(Instance &instance, llvm::ArrayRef<Argument> arguments);

  Evaluator &e;
  std::map<const void *, Parameters> parameters;
  std::unordered_map<NetParser::ArgsContext *, std::vector<WrittenArgument>>
      writtenArguments;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_CALLER_H
