// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_VALUE_H
#define NETC_LIB_FRONTEND_VALUE_H

#include "dialect/Net.h"
#include "lib/Frontend/Parser.h"
#include "lib/Units/Units.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <memory>
#include <variant>

namespace netc {

struct Value;
struct FileScope;
class Instance;

/// The purpose of an axis; empty if it is not stated. The pattern of a block
/// relabels the axes of its arguments. When the block returns, the caller's
/// labels are restored; see docs/Language.md, section 7.
class Label {
public:
  Label() = default;
  explicit Label(std::string name)
      : data(std::make_shared<const Data>(Data{std::move(name), 0, nullptr})) {}
  Label(std::string name, unsigned application, Label caller)
      : data(std::make_shared<const Data>(
            Data{std::move(name), application,
                 std::make_shared<const Label>(std::move(caller))})) {}
  /// The label of an axis that a pattern does not name. `behind` is the number
  /// of axes after it.
  static Label unnamed(size_t behind, unsigned application, Label caller) {
    return {"..." + std::to_string(behind), application, std::move(caller)};
  }

  const std::string &name() const {
    static const std::string none;
    return data ? data->name : none;
  }
  /// The application of the block whose pattern gave the name; 0 if none did.
  unsigned application() const { return data ? data->application : 0; }
  /// The caller's label of the axis; null if no pattern gave the name.
  const Label *caller() const { return data ? data->caller.get() : nullptr; }
  bool empty() const { return name().empty(); }
  void clear() { *this = Label(); }
  /// The label as text can spell it; empty for an unnamed axis.
  llvm::StringRef text() const {
    llvm::StringRef text = name();
    return text.starts_with("...") ? "" : text;
  }

private:
  struct Data {
    std::string name;
    unsigned application;
    std::shared_ptr<const Label> caller;
  };
  /// Shared, since each value that is a tensor has the labels of its axes.
  std::shared_ptr<const Data> data;
};
inline bool operator==(const Label &a, llvm::StringRef b) {
  return a.name() == b;
}
inline bool operator==(const Label &a, const Label &b) {
  return a.name() == b.name();
}
using Labels = llvm::SmallVector<Label, 4>;

/// The value of an expression with an error. It is accepted everywhere, and
/// causes no further errors.
struct Unknown {};
struct None {};

/// A number with a dimension and, for `8 V100`, the device's name. It is exact,
/// unless a root, logarithm or power made it a double.
struct Number {
  Polynomial exact;
  std::optional<double> real; ///< the value if it is not exact
  Dimension dimension;
  std::string device;

  Number() = default;
  Number(Polynomial exact, Dimension dimension = {}, std::string device = "")
      : exact(std::move(exact)), dimension(dimension),
        device(std::move(device)) {}
  static Number inexact(double value, Dimension dimension = {});
  bool isConstant() const { return real || exact.isConstant(); }
  double toDouble() const;
};

struct List {
  std::shared_ptr<const std::vector<Value>> items;
  bool isPerGraph = false; ///< whether it holds an instance or a tensor
};
/// `a..b`, without `b`. The ends may be free sizes.
struct Range {
  Polynomial begin, end;
};
struct Record {
  std::shared_ptr<
      const llvm::MapVector<std::string, Value, llvm::StringMap<unsigned>>>
      fields;
  bool isPerGraph = false; ///< whether it holds an instance or a tensor
};

/// An axis of a tensor. Without a size it is only a label.
struct Axis {
  Label label;
  std::optional<Polynomial> size;
  int position = -1; ///< in the tensor; -1 if it is not known
};

/// An element type, perhaps with a shape or a number of classes.
struct TypeValue {
  mlir::Type element;
  bool isShaped = false;
  std::vector<NetParser::AxisContext *> axes;
  std::optional<Polynomial> classes;
};

struct Tensor {
  mlir::Value value;
  Labels labels; ///< one per axis; empty if an axis has none
};

/// A block or net of a file.
struct BlockDecl {
  FileScope *file;
  NetParser::BlockDeclContext *tree;
  std::string name;
  bool isNet;
  mutable bool isUsed = false;
};
struct Builtin;
/// A callable: a block or net, an op, or a built-in. A built-in for lists may
/// have the name of an op, and is then both.
struct Function {
  std::string name;
  const BlockDecl *block = nullptr;
  const Signature *op = nullptr;
  const Builtin *builtin = nullptr;

  /// Whether no op has the same name as the built-in.
  bool isBuiltin() const { return builtin && !op; }
};

/// A distribution of the size of a free axis.
struct Distribution {
  Moments moments;
};

/// A section of a file: a dataset or hardware.
struct Section {
  FileScope *file;
  NetParser::SectionContext *tree;
  std::string name;
  std::shared_ptr<const std::vector<std::pair<std::string, Value>>> arguments;
};

/// A result of a network or run that an `expect` asks for.
struct Subject {
  std::string symbol; ///< of the net.network, net.step or net.job
  std::vector<std::string> members;
  std::vector<std::string> parts;
  std::vector<std::pair<std::string, Rational>> numbers;
};

/// A file imported under a name.
struct Namespace {
  FileScope *file;
};

/// The results of a call with their names.
using ResultList = std::vector<std::pair<std::string, Value>>;

struct Value {
  std::variant<Unknown, None, bool, Number, std::string, List, Range, Record,
               Axis, TypeValue, std::shared_ptr<const Tensor>, Function,
               std::shared_ptr<Instance>, Distribution, Section, Subject,
               Namespace>
      data;
  /// All results of the call, if this is the first one.
  std::shared_ptr<const ResultList> results;

  Value() = default;
  template <typename T, typename = std::enable_if_t<
                            !std::is_same_v<std::decay_t<T>, Value>>>
  Value(T value) : data(std::move(value)) {}
  /// Copies share the tensor.
  Value(Tensor value)
      : data(std::make_shared<const Tensor>(std::move(value))) {}

  template <typename T> const T *as() const {
    if constexpr (std::is_same_v<T, Tensor>) {
      auto *shared = std::get_if<std::shared_ptr<const Tensor>>(&data);
      return shared ? shared->get() : nullptr;
    } else {
      return std::get_if<T>(&data);
    }
  }
  template <typename T> bool is() const { return as<T>(); }
  bool isUnknown() const { return is<Unknown>(); }
};

Value listOf(std::vector<Value> items);
/// Whether the value belongs to a network: an instance, a tensor, or a list or
/// record with one.
bool isPerGraph(const Value &value);
/// The function that a call of the value calls; null if it cannot be called.
const Function *functionOf(const Value &value);
/// The kind of a value in messages: `a number`, `a tensor`.
std::string kindOf(const Value &value);
/// The value as the language writes it, for messages and reports. Long lists
/// are cut, and nested lists are only named.
std::string textOf(const Value &value);

/// The value as a number; an axis is its size. None for other values.
std::optional<Number> numberOf(const Value &value);

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// The position in the text where an instance or weight was made, and the
/// iterations of the loops around it. A second application of an instance finds
/// its weights by this key.
struct CreationSite {
  const void *tree;
  std::vector<int64_t> iterations;
  bool operator<(const CreationSite &other) const {
    return std::tie(tree, iterations) < std::tie(other.tree, other.iterations);
  }
};

/// The parts that all uses of an instance share: its name, its weights and the
/// instances made inside.
struct Identity {
  const Identity *maker = nullptr; ///< the one in whose body it was made
  /// The parent in names: the instance that made it, its composition, or the
  /// copy that has it as an argument.
  Identity *parent = nullptr;
  std::string name; ///< empty until it is bound or applied
  /// The path in the current application, such as `embed@2`.
  std::string path;
  /// Set when it is applied, if it is a block.
  const BlockDecl *block = nullptr;
  unsigned applications = 0;
  /// Its number, and the number of copies, in the `repeat` or list of blocks
  /// that contains it. 0 copies if there is none.
  size_t iteration = 0, copies = 0;
  /// The number of copies of its `repeat` that it represents.
  int64_t standsFor = 1;
  /// Whether the first application, which makes the weights, is over.
  bool hasWeights = false;
  mlir::LocationAttr firstApplication;
  antlr4::ParserRuleContext *site = nullptr; ///< the text that makes it
  std::map<CreationSite, Tensor> weights;
  std::vector<std::pair<std::string, Tensor>> namedWeights;
  std::map<CreationSite, std::shared_ptr<Identity>> children;
  /// The names used inside of it, in the current application.
  llvm::StringMap<unsigned> names;
};

/// A block, net or op with some of its arguments. It is applied when it has all
/// required tensors. Or a composition of instances, which are applied in turn.
class Instance {
public:
  Function function;
  std::shared_ptr<Identity> identity;
  /// The arguments of each tensor parameter; empty if it is missing.
  std::vector<std::vector<Value>> tensors;
  /// The value of each setting; none if it is not given.
  std::vector<std::optional<Value>> settings;
  size_t positional = 0; ///< the number of settings given by position
  /// The label of the axis that an op makes.
  Label as;
  std::vector<Value> parts;                             ///< of a composition
  std::vector<std::pair<std::string, Value>> arguments; ///< of a built-in
  bool frozen = false;
  bool recomputed = false; ///< whether the backward pass recomputes it

  bool isComposition() const { return isComposed; }
  bool isComposed = false; ///< whether it is a composition, which may be empty
  bool isRepeat = false;   ///< whether its parts are numbered copies
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_VALUE_H
