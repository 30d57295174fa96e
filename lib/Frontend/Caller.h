// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_CALLER_H
#define NETC_FRONTEND_CALLER_H

#include "lib/Frontend/Value.h"
#include <unordered_map>

namespace netc {

class Evaluator;

/// The arguments of one call, evaluated.
struct Argument {
  std::string name; ///< empty if positional
  Value value;
  antlr4::ParserRuleContext *at;
  bool behindSemicolon = false;

  /// Where `name = value` begins.
  antlr4::ParserRuleContext *nameAt() const {
    auto *named = ruleCast<NetParser::ArgContext>(at->parent);
    return named ? named : at;
  }
};

/// An argument of a call, as it is written.
struct WrittenArgument {
  std::string name; ///< empty if positional
  NetParser::ExprContext *expr;
  /// The labels of `over = [H, W]`, which need not be in scope.
  std::vector<NetParser::ExprContext *> labels;
  bool behindSemicolon;
};

/// A parameter of a block or an op, as calls see it.
struct Parameter {
  std::string name;
  bool required = true;
  bool variadic = false;
  std::vector<std::string> words;
  NetParser::ParamContext *tree = nullptr; ///< of a block
  const Setting *setting = nullptr;        ///< of an op
  NetParser::ExprContext *given = nullptr; ///< by `--set`, as its default
};
struct Parameters {
  std::vector<Parameter> tensors, settings;
};

/// `layer[0].conv` as the path of an instance, `layer.0.conv`.
std::string pathOf(NetParser::ExprContext *expr);

/// Calls: arguments find their parameters, and instances are made.
class Caller {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit Caller(Evaluator &e) : e(e) {}

  /// `, which lacks `target``: why an instance has not been applied; else
  /// empty.
  std::string lackOf(const Value &value);
  /// The number that an `expect` asks for; other values as they are.
  Value resolve(Tree *at, const Value &value);
  const Parameters &parametersOf(const Function &function);
  std::vector<Argument> evalArguments(NetParser::ArgsContext *args,
                                      const Value &callee);
  /// That a setting of `function` has words and the value is none of them, or
  /// is a flag and the value a number; else empty.
  std::optional<Message> mistakeIn(const Parameter &setting,
                                   const Function &function,
                                   const Value &value);
  Value call(Tree *at, const Value &callee, std::vector<Argument> arguments);
  /// A dataset with its parameters.
  Value callSection(Tree *at, Section section,
                    llvm::ArrayRef<Argument> arguments);
  Value callBuiltin(Tree *at, const Function &function,
                    std::vector<Argument> arguments);
  std::shared_ptr<Instance> instantiate(Tree *at, const Value &callee);
  std::shared_ptr<Instance> instantiateAt(Tree *at, const Value &callee,
                                          int64_t part);
  Value evalDefault(const Parameter &parameter);
  /// `expr`, which may be one of the parameter's words.
  Value evalSetting(const Parameter &parameter, Expr *expr);
  /// `params(tables)`, `by_time(utilization = 30%)`: arguments of a question.
  Value askWith(const Subject &subject, NetParser::ArgsContext *args);
  bool completeSettings(Tree *at, Instance &instance);
  bool isComplete(const Instance &instance);
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

#endif // NETC_FRONTEND_CALLER_H
