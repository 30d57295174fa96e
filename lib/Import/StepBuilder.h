// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_STEPBUILDER_H
#define NETC_LIB_IMPORT_STEPBUILDER_H

#include "lib/Import/NodeReader.h"
#include "lib/Import/Step.h"

namespace netc::import {

/// Steps for what the graph stores: weights that no layer owns, and what is
/// known. They are made where a step first takes them.
class StoredValues {
public:
  StoredValues(Values &values, const NodeReader &node, std::vector<Step> &steps)
      : values(values), node(node), steps(steps) {}

  /// Makes a value if it is stored. Each module has its own of what is known,
  /// another value, which is returned.
  int materialize(int value);
  /// A weight that a layer makes.
  void own(int weight) { materialized.insert(weight); }
  bool isMade(int value) const { return materialized.count(value); }

  /// Rows of a table of positions: the first ones, or one.
  struct Rows {
    int table;
    std::string place; ///< empty of the first ones
  };
  /// Lets a value be such rows, which a layer may add, or a step makes.
  void setRows(int value, Rows read) { rows[value] = std::move(read); }
  const Rows *findRows(int value) const;

  /// Whether it is a few numbers, which are written as they are.
  bool isListed(int value) const { return listedAxes(value).has_value(); }
  /// Whether it is a table of numbers that are not told, or too many.
  bool isOther(int value) const;
  /// Whether it was made with other numbers than those of the model.
  bool isReplaced(int value) const { return replaced.count(value); }

private:
  static constexpr size_t mostListed = 64;     ///< numbers in a specification
  static constexpr int64_t mostStepped = 4096; ///< numbers that it computes

  /// How many of the last axes the numbers are of that the graph lists. None
  /// if it lists none, or too many.
  std::optional<size_t> listedAxes(int value) const;
  int readRows(int value);
  Step begin(Step::Form form, int value) const;
  Step weight(int value) const;
  Step known(int value);
  void repeatRows(Step &made, const Sizes &shape, size_t first) const;
  void writeDiagonal(Step &made, int value) const;
  void writeListed(Step &made, int value) const;
  void writeNumbers(Step &made, int value);
  /// Whether it is evenly spaced numbers, of which a specification can say how
  /// they are computed.
  bool isRange(int value) const;
  void writeRange(Step &made, int value) const;
  void writeTable(Step &made, int value);

  Values &values;
  const NodeReader &node;
  std::vector<Step> &steps;
  std::set<int> materialized, replaced;
  std::map<std::pair<int, int>, int> copies; ///< of what is known, by module
  std::map<int, Rows> rows;
};

/// The steps that nodes become.
class StepBuilder {
public:
  StepBuilder(Graph &graph, Values &values, NodeReader &node)
      : stored(values, node, steps), graph(graph), values(values), node(node) {}

  StoredValues stored;

  /// A step that makes the first result of the node.
  Step &add(Step::Form form, std::string fn, std::vector<int> ins);
  /// The first of the weights tells it from others.
  Step &addInstance(std::string fn, int x, std::vector<int> weights);
  /// Another value, which a form makes of others.
  int make(std::string form, std::vector<int> ins, Sizes sizes);
  /// Lets the last step make another value than the result, like it: what a
  /// further step reads.
  int intermediate();
  /// Lets the result be x.
  void same(int x);
  /// A diagonal of two axes as the last one: places [i, i + offset].
  int diagonal(int x, unsigned a, unsigned b, int64_t offset);
  /// Lets the last step make another value, from which a further one makes the
  /// result: `*` or `+` operand i, along axes; along the last ones, if these
  /// are not given.
  void then(const std::string &sign, unsigned i, const std::string &axes);
  Step &last() { return steps.back(); }
  Step *maker(int value);

  /// Lets a value be a part of an op that several nodes are. A step that takes
  /// it as it is is refused for this reason.
  void setPart(int value, std::string why) { parts[value] = std::move(why); }
  /// Refuses a part.
  void wantWhole(int value);

  //===--- Axes -----------------------------------------------------------===//

  /// `over = ..`, where the axis is not the one that netc takes by itself.
  void putOver(Step &step, int x, unsigned at);
  /// Lets the result be an image, and the operand, if it is none.
  void labelImage(Step &step, int x, size_t windows);
  /// Gives the result the labels of an image, as a layer of x has it.
  void nameImage(int x, size_t windows);
  /// x, without its labels if one of them contradicts that of the same axis of
  /// a tensor of as many axes: `H` of an image beside `L`.
  int unlabelled(int x, int beside);
  /// x with the labels of its free axes alone.
  int stripped(int x);
  /// The same of what has those of an image.
  int bare(int x);
  /// Operand `at` repeated to the shape of `like`, which is that of `target` or
  /// of the result.
  std::string expanded(int x, int at, const std::string &like,
                       Step *made = nullptr, int target = -1);
  /// x with the shape of the result.
  int repeated(int x);
  /// What it was before it was repeated along some axes.
  int beforeExpand(int x);

  //===--- Views ----------------------------------------------------------===//

  /// Adds a view to the chain that made x; empty for a reshape.
  void addView(int x, std::vector<int> permutation);
  /// What it was before the last view of a chain, if this only reshapes and
  /// nothing else reads it.
  int beforeReshape(int x);

  /// The same numbers as floating point, which they are in PyTorch beside such.
  int floated(int x);

  /// A number beside x. Inputs that x depends on get a type that has it.
  std::string beside(int x, std::string number);

  /// Adds a comment that tables are read by other numbers than in the model.
  void noteOtherPlaces();
  /// Adds a comment that a known mask is left out.
  void noteLeftOutMask();

  /// The steps that `translate` adds, as the body of a loop with these results.
  /// Those for what the graph stores are in front of the loop.
  std::vector<Step> bodyOf(llvm::function_ref<void()> translate,
                           std::vector<int> &results);

  /// All steps, once all nodes are translated.
  std::vector<Step> finish();

private:
  /// The innermost module that holds both.
  int common(int a, int b) const;
  /// Drops what nothing reads, but for `read`. What is noted of tables stays.
  void dropUnused(std::set<int> read);
  /// The value that a step makes, if it is stored, too.
  int read(int value);
  void writeViews();
  /// Drops inputs that no step reads, unless one has a free axis of which a
  /// step reads the size.
  void dropInputs();
  /// Adds a comment if a constant has other numbers than in the model.
  void noteReplaced();

  Graph &graph;
  Values &values;
  NodeReader &node;
  bool hasOtherPlaces = false; ///< and says so
  std::vector<Step> steps;
  std::map<std::pair<int, int>, int> bared; ///< values, by module
  std::map<int, std::string> parts; ///< why a step may not take it, by value
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_STEPBUILDER_H
