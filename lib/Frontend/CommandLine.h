// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_COMMANDLINE_H
#define NETC_FRONTEND_COMMANDLINE_H

#include "lib/Frontend/FileScope.h"
#include "llvm/ADT/StringSet.h"

namespace netc {

class Evaluator;

/// As diagnostics call what the options say, each in a line.
inline constexpr const char *commandLinePath = "<command line>";

/// What `--set` gives instead of what the file says: `run.batch=64,128`.
struct Override {
  std::string owner; ///< `gan.critic`, or a net
  std::string name;  ///< of a key, an axis or a setting
  NetParser::SettingContext *tree;
  NetParser::JobContext *job = nullptr; ///< the owner; null: a net
  std::optional<Moments> size = {};     ///< that it gives an axis of a net
  bool isUsed = false;                  ///< it changes something of a net

  bool isList() const { return tree->expr().size() > 1; }
  NetParser::NameContext *nameAt() const { return tree->path()->name().back(); }
};

/// What a name is at a point of a sweep: a value, or a text that stands for it
/// in `job`.
struct Varied {
  std::string name;
  Value value;
  NetParser::ExprContext *text = nullptr;
  NetParser::JobContext *job = nullptr; ///< of a text
  const Override *by = nullptr;         ///< null: the file
};
/// What a point of a sweep sets: keys, axes, settings, constants.
using Point = std::vector<Varied>;

struct ErrorNote;
struct NetInput;

/// What the command line says instead of the file: constants by `-D`; keys and
/// axes of runs, and settings of nets, by `--set`.
class CommandLine {
public:
  using Tree = antlr4::ParserRuleContext;
  using Expr = NetParser::ExprContext;

  explicit CommandLine(Evaluator &e) : e(e) {}

  /// Reads `-D` and `--set`, and replaces the constants.
  bool readOptions();
  /// What `--set` gives runs, one value each: the point at which they are
  /// elaborated.
  Point setPoint() const;
  Override *overrideOf(llvm::StringRef net, llvm::StringRef name);
  /// Gives the net that the top-level binding `name` makes other settings.
  void overrideSettings(const std::string &name, Value &value);
  /// Reads the sizes that `--set` gives to axes of a net.
  void readOverriddenAxes(llvm::StringRef net, const Instance &instance,
                          llvm::ArrayRef<NetInput> inputs);
  /// Gives networks these sizes, and says what changed nothing.
  void finishOverrides();
  /// A note of what `--set` gives nets, and the run, if `job` is one.
  ErrorNote overrideNote(NetParser::JobContext *job);
  /// See Specification::settable.
  std::vector<std::string> settableNames() const;
  /// Whether `--set` changes figures of the network or run.
  bool isOverridden(llvm::StringRef symbol);

  std::deque<Override> overrides;
  llvm::StringSet<> overridden; ///< runs that `--set` gives something,
                                ///< and nets that have sizes from these

private:
  /// Replaces a constant of the file by what `text` says.
  void define(const std::string &name, llvm::StringRef value,
              llvm::StringRef text);
  /// The `--set` that gives the name a value, where it is a key, an axis or a
  /// setting; else empty.
  std::string overrideInstead(const std::string &name, llvm::StringRef value);
  void addOverride(llvm::StringRef text);

  Evaluator &e;
  std::vector<std::unique_ptr<SourceFile>> optionTexts;
};

} // namespace netc

#endif // NETC_FRONTEND_COMMANDLINE_H
