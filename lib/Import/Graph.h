// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_GRAPH_H
#define NETC_LIB_IMPORT_GRAPH_H

#include "dialect/Polynomial.h"
#include "lib/Import/Json.h"

#include <deque>
#include <map>
#include <memory>
#include <set>

namespace netc::import {

/// A list that a graph states. A wrong graph may state fewer elements than an
/// op has. Throws std::out_of_range where one is missing.
template <typename T> class StatedList : public std::vector<T> {
public:
  using std::vector<T>::vector;
  StatedList(std::vector<T> list) : std::vector<T>(std::move(list)) {}
  T &operator[](size_t i) { return this->at(i); }
  const T &operator[](size_t i) const { return this->at(i); }
  T &front() { return this->at(0); }
  const T &front() const { return this->at(0); }
  T &back() { return this->at(this->size() - 1); }
  const T &back() const { return this->at(this->size() - 1); }
  void remove(size_t i) {
    this->at(i);
    this->erase(this->begin() + i);
  }
  /// The elements from number `first` on.
  llvm::ArrayRef<T> from(size_t first) const {
    if (first > this->size())
      this->at(first);
    return llvm::ArrayRef<T>(this->data() + first, this->size() - first);
  }
};

using Sizes = StatedList<Polynomial>;

/// The number of elements.
Polynomial elements(const Sizes &sizes);

/// Whether a label is a name that a specification can write.
inline bool isNamed(llvm::StringRef label) {
  return !label.empty() && !label.starts_with("...");
}

/// A tensor of a graph.
struct GraphValue {
  enum Kind { Input, Weight, Known, Made };
  Kind kind = Made;
  std::string name, type;
  Sizes shape;
  bool learns = true;          ///< of a weight
  bool isState = false;        ///< no parameter, kept from step to step
  bool isRead = true;          ///< of an input
  unsigned bits = 0;           ///< of an input: that its type has at least
  std::string init;            ///< of a weight; empty where it is not told
  const Json *known = nullptr; ///< what is known of it
  Polynomial size;             ///< that it holds, of a known size
  /// Labels of its axes, as netc has them. "...1" is that of an axis of an
  /// input, before one other, that the signature does not name.
  StatedList<std::string> labels;

  bool isFloat() const {
    return type != "bool" && type[0] != 'i' && type[0] != 'u';
  }
};

/// The call of a module.
struct GraphModule {
  std::string path, kind;
  bool isRecomputed = false; ///< for the backward pass, instead of kept
  int parent = -1;
};

struct GraphBody;

struct GraphNode {
  std::string op, line;
  StatedList<int> ins, outs; ///< values; -1 where an operand is left out
  const Json *with = nullptr;
  int module = -1; ///< the innermost
  int number = -1; ///< its place in the graph; in a loop, that of the loop
  std::shared_ptr<GraphBody> body; ///< of a loop

  /// Its operands, and what the body of a loop makes.
  std::vector<int> reads() const;
};

/// The body of a loop. It may read values from outside.
struct GraphBody {
  StatedList<int> ins, outs; ///< values
  std::vector<GraphNode> nodes;
};

/// What docs/graph.schema.json describes.
struct Graph {
  std::string name, from;
  std::vector<std::string> notes; ///< for who reads the specification
  /// New ones leave references to others as they are.
  std::deque<GraphValue> values;
  std::vector<GraphModule> modules;
  std::vector<GraphNode> nodes;
  std::vector<std::pair<std::string, int>> outputs; ///< names of values

  const Sizes &shape(int value) const { return values[value].shape; }
  /// Adds a note, once.
  void note(const std::string &text) {
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
      notes.push_back(text);
  }
  /// The inputs of the net.
  std::vector<int> inputs() const;
  /// The names of free axes, which are axes of inputs.
  std::set<std::string> freeAxes() const;
  /// All nodes in order, those of the body of a loop before the loop.
  std::vector<const GraphNode *> allNodes() const;
};

/// None after an error, which is reported. The graph points into the document.
std::optional<Graph> readGraph(llvm::StringRef path, const Document &document,
                               const Host &host);

/// The specification of a graph: its modules as blocks. None after an error,
/// which is reported. Of the ops in `opaque` only the shapes of results are
/// taken.
std::optional<std::string> writeGraph(llvm::StringRef path, Graph graph,
                                      llvm::ArrayRef<std::string> opaque,
                                      const Host &host);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_GRAPH_H
