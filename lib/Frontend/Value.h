// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_FRONTEND_VALUE_H
#define NETC_FRONTEND_VALUE_H

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

/// What an axis is for; empty if nobody has said. The pattern of a block names
/// the axes that it is given anew, and on return the caller's names come back:
/// docs/Language.md, section 7.
struct Label {
  std::string name;
  /// The application of a block whose pattern gave the name; 0 if none did.
  unsigned application = 0;
  /// What its caller calls the axis.
  std::shared_ptr<const Label> caller;

  Label() = default;
  explicit Label(std::string name) : name(std::move(name)) {}
  Label(std::string name, unsigned application, Label caller)
      : name(std::move(name)), application(application),
        caller(std::make_shared<const Label>(std::move(caller))) {}
  /// That of an axis that a pattern has no name for, `behind` axes following.
  static Label unnamed(size_t behind, unsigned application, Label caller) {
    return {"..." + std::to_string(behind), application, std::move(caller)};
  }

  bool empty() const { return name.empty(); }
  void clear() { *this = Label(); }
  /// As a text can say it: empty where a pattern has no name for the axis.
  llvm::StringRef text() const {
    llvm::StringRef text = name;
    return text.starts_with("...") ? "" : text;
  }
};
inline bool operator==(const Label &a, llvm::StringRef b) {
  return a.name == b;
}
inline bool operator==(const Label &a, const Label &b) {
  return a.name == b.name;
}
using Labels = llvm::SmallVector<Label, 4>;

/// An expression with an error has this value; it fits everything and reports
/// nothing.
struct Unknown {};
struct None {};

/// A number, exact unless a root, logarithm or power made it a double; with a
/// dimension and, for `8 V100`, the device's name.
struct Number {
  Polynomial exact;
  std::optional<double> real; ///< set where the value is not exact
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
  bool isPerGraph = false; ///< it holds an instance or a tensor
};
/// `a..b`, half open; the ends may be free sizes.
struct Range {
  Polynomial begin, end;
};
struct Record {
  std::shared_ptr<
      const llvm::MapVector<std::string, Value, llvm::StringMap<unsigned>>>
      fields;
  bool isPerGraph = false; ///< it holds an instance or a tensor
};

/// An axis of a tensor, or the label of one: then the size is not known.
struct Axis {
  Label label;
  std::optional<Polynomial> size;
  int position = -1; ///< in the tensor that it was taken from; -1 if not known
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
  Labels labels; ///< one an axis, empty where there is none
};

/// What can be called: a block or net of a file, an op, or a built-in.
struct BlockDecl {
  FileScope *file;
  NetParser::BlockDeclContext *tree;
  std::string name;
  bool isNet;
  mutable bool isUsed = false;
};
struct Builtin;
struct Function {
  std::string name;
  const BlockDecl *block = nullptr;
  const Signature *op = nullptr;
  const Builtin *builtin = nullptr;

  /// A function of the language itself that no op shares its name with.
  bool isBuiltin() const { return builtin && !op; }
};

/// A distribution of the size of a free axis.
struct Distribution {
  Moments moments;
};

/// A section of a file: a dataset, or hardware of one's own.
struct Section {
  FileScope *file;
  NetParser::SectionContext *tree;
  std::string name;
  std::shared_ptr<const std::vector<std::pair<std::string, Value>>> arguments;
};

/// A result of a network or run that an `expect` asks for.
struct Subject {
  std::string symbol; ///< of the net.network or net.step
  std::vector<std::string> members;
  std::vector<std::string> parts;
  std::vector<std::pair<std::string, Rational>> numbers;
};

/// A file imported under a name.
struct Namespace {
  FileScope *file;
};

/// One result of a call, by its name.
using ResultList = std::vector<std::pair<std::string, Value>>;

struct Value {
  std::variant<Unknown, None, bool, Number, std::string, List, Range, Record,
               Axis, TypeValue, Tensor, Function, std::shared_ptr<Instance>,
               Distribution, Section, Subject, Namespace>
      data;
  /// All results of the call that this is the first result of.
  std::shared_ptr<const ResultList> results;

  Value() = default;
  template <typename T, typename = std::enable_if_t<
                            !std::is_same_v<std::decay_t<T>, Value>>>
  Value(T value) : data(std::move(value)) {}

  template <typename T> const T *as() const { return std::get_if<T>(&data); }
  template <typename T> bool is() const {
    return std::holds_alternative<T>(data);
  }
  bool isUnknown() const { return is<Unknown>(); }
};

Value listOf(std::vector<Value> items);
/// Whether the value belongs to a network: an instance, a tensor, or a list or
/// record with one.
bool isPerGraph(const Value &value);
/// What a call of the value calls; null if it cannot be called so.
const Function *functionOf(const Value &value);
/// `a number`, `a tensor`, ...: how messages call a value.
std::string kindOf(const Value &value);
/// The value as a reader would write it, for messages and reports; long lists
/// are cut, and lists in lists only named.
std::string textOf(const Value &value);

/// The number that a value is, an axis being its size.
std::optional<Number> numberOf(const Value &value);

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// Where in the text something was made, and in which iterations of the loops
/// around it: by this a second application of an instance finds its weights
/// again.
struct CreationSite {
  const void *tree;
  std::vector<int64_t> iterations;
  bool operator<(const CreationSite &other) const {
    return std::tie(tree, iterations) < std::tie(other.tree, other.iterations);
  }
};

/// What all uses of one instance share: its name, its weights and the instances
/// made inside it.
struct Identity {
  const Identity *maker = nullptr; ///< in whose body it was made
  /// What it is called a part of: what made it, the composition that it is in,
  /// or the copy that it is handed to.
  Identity *parent = nullptr;
  std::string name;                 ///< empty until it is bound or applied
  std::string path;                 ///< of the present application: `embed@2`
  const BlockDecl *block = nullptr; ///< once it is applied, if it is of one
  unsigned applications = 0;
  /// Of the `repeat`, or the list of blocks, that it is part of, if any.
  size_t iteration = 0, copies = 0;
  /// How many copies of its `repeat` it is elaborated for.
  int64_t standsFor = 1;
  bool hasWeights = false; ///< the first application, which makes them, is over
  mlir::LocationAttr firstApplication;
  std::map<CreationSite, Tensor> weights;
  std::vector<std::pair<std::string, Tensor>> namedWeights;
  std::map<CreationSite, std::shared_ptr<Identity>> children;
  llvm::StringMap<unsigned> names; ///< taken inside it, in this application
};

/// A block, net or op with some of its arguments; it applies when no required
/// tensor is open. Or a composition of such: parts, applied in turn.
class Instance {
public:
  Function function;
  std::shared_ptr<Identity> identity;
  std::vector<std::vector<Value>> tensors; ///< by tensor parameter; empty: open
  std::vector<std::optional<Value>> settings; ///< by setting; empty: not given
  Label as;                                   ///< of the axis that an op makes
  std::vector<Value> parts;                   ///< of a composition
  std::vector<std::pair<std::string, Value>> arguments; ///< of a built-in
  bool frozen = false;
  bool recomputed = false; ///< run again for the backward pass

  bool isComposition() const { return isComposed; }
  bool isComposed = false; ///< a composition, perhaps of no parts
  bool isRepeat = false;   ///< its parts are copies, numbered
};

} // namespace netc

#endif // NETC_FRONTEND_VALUE_H
