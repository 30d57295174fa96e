// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_COMMANDLINE_H
#define NETC_LIB_FRONTEND_COMMANDLINE_H

#include "lib/Frontend/FileScope.h"
#include "llvm/ADT/StringSet.h"

namespace netc {

class Evaluator;

/// The name of the command line in diagnostics. Each option has a line of its
/// own.
inline constexpr const char *commandLinePath = "<command line>";

/// A setting of `--set`, which replaces what the file says: `run.batch=64,128`.
struct Override {
  std::string owner; ///< `gan.critic`, or a net
  std::string name;  ///< of the key, axis or setting
  NetParser::SettingContext *tree;
  NetParser::JobContext *job = nullptr; ///< the owner; null for a net
  std::optional<Moments> size = {};     ///< of an axis of a net
  /// Whether it changes anything in a net.
  bool isUsed = false;

  bool isList() const { return tree->expr().size() > 1; }
  NetParser::NameContext *nameAt() const { return tree->path()->name().back(); }
};

/// The value of a name at a point of a sweep: a value, or a text in its place
/// in `job`.
struct Varied {
  std::string name;
  Value value;
  NetParser::ExprContext *text = nullptr;
  NetParser::JobContext *job = nullptr; ///< the job of `text`
  const Override *by = nullptr;         ///< null for the file
};
/// The values at a point of a sweep: of keys, axes, settings and constants.
using Point = std::vector<Varied>;

struct ErrorNote;
struct NetInput;

/// The options that replace what the file says: `-D` for constants, and `--set`
/// for keys and axes of runs, and for settings of nets.
class CommandLine {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit CommandLine(Evaluator &e) : e(e) {}

  /// Reads `-D` and `--set`, and replaces the constants. False after an error.
  bool readOptions();
  /// The values that `--set` gives to runs, if there is one value each. Runs
  /// are elaborated at this point.
  Point setPoint() const;
  Override *overrideOf(llvm::StringRef net, llvm::StringRef name);
  /// Replaces settings of the net that the top-level binding `name` makes.
  void overrideSettings(const std::string &name, Value &value);
  /// Reads the sizes that `--set` gives to axes of a net.
  void readOverriddenAxes(llvm::StringRef net, const Instance &instance,
                          llvm::ArrayRef<NetInput> inputs);
  /// Sets these sizes in networks, and reports settings without effect.
  void finishOverrides();
  /// A note with the settings of nets, and of the run if `job` is one.
  ErrorNote overrideNote(NetParser::JobContext *job);
  /// See Specification::settable.
  std::vector<std::string> settableNames() const;
  /// Whether `--set` changes figures of the network or run.
  bool isOverridden(llvm::StringRef symbol);

  std::deque<Override> overrides;
  /// Runs that `--set` changes, and nets with sizes from these runs.
  llvm::StringSet<> overridden;

private:
  /// Replaces a constant of the file by `text`.
  void define(const std::string &name, llvm::StringRef value,
              llvm::StringRef text);
  /// The `--set` option that gives the name this value, if it is a key, an axis
  /// or a setting; else empty.
  std::string overrideInstead(const std::string &name, llvm::StringRef value);
  void addOverride(llvm::StringRef text);

  Evaluator &e;
  std::vector<std::unique_ptr<SourceFile>> optionTexts;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_COMMANDLINE_H
