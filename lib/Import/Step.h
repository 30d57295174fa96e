// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_STEP_H
#define NETC_LIB_IMPORT_STEP_H

#include "lib/Import/Graph.h"
#include "lib/Import/Import.h"

#include <memory>
#include <set>

namespace netc::import {

/// An argument of a call, `key = text`; it is left out where it is `byDefault`.
struct StepArgument {
  std::string key;
  std::string name; ///< of the setting that it becomes where calls differ in it
  std::string text;
  std::string byDefault = {};
  bool isNumber = true;   ///< or a list of numbers
  bool hasSizes = false;  ///< a list of sizes in which free axes occur
  std::string shown = {}; ///< in a block: the setting, or `4 * out`
};

struct StepBody;

/// A loop over the first axis of sequences, `scan`. Its step takes the first
/// states, the sequences, and what the body reads from outside; it makes the
/// last states, and the sequences of what is yielded.
struct StepLoop {
  std::string axis;                                 ///< its label
  std::vector<int> states, elements, next, yielded; ///< values of the body
};

/// What one statement, or a part of one, of a specification does.
struct Step {
  enum Form {
    Instance, ///< owns weights: `conv1 = Conv(64, 7)`, and `x |> conv1`
    Pipe,     ///< `x |> relu`
    Infix,    ///< `x + y`
    Form_,    ///< of any form: `%0` is an operand, `#0` an argument
    View,     ///< a chain of views and transposes, not yet written
    Loop,     ///< `scan`
  };
  Form form = Pipe;
  std::string fn;
  std::string op;             ///< of netc that it is of; empty of a weight
  std::vector<int> ins, outs; ///< values
  std::vector<StepArgument> arguments;
  std::string
      weight; ///< of an instance: its first weight, which tells it from others
  std::vector<int> weights; ///< all that it owns
  bool isFrozen = false;    ///< these do not learn
  int node = -1;            ///< of the graph
  int module = -1;
  std::string line;
  std::vector<std::vector<int>>
      permutations;          ///< of a View; empty for a reshape
  std::vector<Sizes> shapes; ///< of its results
  bool labels = false;       ///< operand 0 needs the labels of an image first
  std::vector<int64_t> over; ///< the axes that it works over; empty if any
  std::shared_ptr<StepBody> body; ///< of the call of a block
  StepLoop loop;                  ///< of a Loop
  std::vector<Step> inner;        ///< the steps of its body
  bool isRecomputed = false;      ///< the values in this body are not kept

  /// Whether it is a weight of its own, and no layer.
  bool isTensor() const { return fn == "parameter" || fn == "buffer"; }

  void put(std::string key, std::string name, std::string text,
           std::string byDefault = "", bool isNumber = true);
  void putReal(std::string key, double number, double byDefault);
  /// A tuple of sizes, which may have free axes.
  void putSizes(const Sizes &sizes, std::string name = "size");
  /// Both ends of a part of an axis. Returns it in terms of the arguments,
  /// `#2..#3`.
  std::string putPart(const Polynomial &begin, const Polynomial &end);
};

/// The call of a module.
struct StepBody {
  std::string path, kind;
  /// Of what a loop over several lists does: the names of the other lists, by
  /// the paths of their elements.
  std::map<std::string, std::string> elements;
  std::vector<Step> steps;
  std::vector<int> ins, outs;
  unsigned height = 0; ///< 0 with no block in it
};

/// The path of what a step is of, behind that of the body; the whole path of
/// what is elsewhere, and empty of the body's own. Elements of further lists
/// are there by the names of these.
std::string pathIn(const StepBody &body, const Step &step, const Graph &graph);

/// Calls `visit` for each step, and before it for those in it.
void forEachStep(llvm::ArrayRef<Step> steps,
                 llvm::function_ref<void(const Step &)> visit);

/// What a step does, as text: steps with one form differ in their operands,
/// weights and places alone.
std::string formOf(const Step &step);

/// What is said of an op that cannot be imported.
struct Refusal {
  std::string op; ///< empty where it is the module's structure
  std::string module, line, why;
  enum Kind { Refused, Unknown, Contradiction } kind = Refused;
};

/// The steps of a graph in the words of netc, without structure. Throws
/// Refusal. Ops in `opaque` become networks without a description.
std::vector<Step> translate(Graph &graph, llvm::ArrayRef<std::string> opaque);

/// Writes steps of one module that are an idiom, such as those of RMSNorm in
/// transformers, as the one step that they are.
void findIdioms(Graph &graph, std::vector<Step> &steps);

/// A chain of views and transposes as a pattern, or a reshape. Sets the labels
/// of its result.
void writeView(Step &view, Graph &graph);

/// Throws a Refusal unless netc makes of each step the shapes that the graph
/// says, of as many weights. Returns the ops that the steps are, sorted.
std::vector<std::string>
checkSteps(const Graph &graph, llvm::ArrayRef<Step> steps, const Host &host);
/// Whether the net of a specification is these ops.
bool hasOps(const std::string &text, llvm::ArrayRef<std::string> ops,
            const Host &host);
Refusal contradiction(const Graph &graph, const Step &step, std::string why);

/// What of a graph's structure becomes blocks.
enum class Structured {
  No,
  Modules, ///< calls of modules
  Loops,   ///< these, and elements of lists of modules
};

/// The specification of steps.
std::string writeStructure(Graph &graph, std::vector<Step> steps,
                           Structured finds);

/// `[3, 5]`, or `3` where all are equal.
std::string listText(llvm::ArrayRef<int64_t> numbers);
/// Sizes, behind each other.
std::string sizesText(llvm::ArrayRef<Polynomial> sizes);
/// The names of free axes; empty for other sizes.
std::vector<std::string> symbolsOf(llvm::ArrayRef<Polynomial> sizes);
/// A free size as a number. The language has none among the elements of
/// tensors, so ones are added up.
std::string numberText(const std::string &size);
/// `0.1`, `1e-05`.
std::string realText(double value);
/// Axes of `x`, `axes(%0)[1..3]`, or `axes(%0)[1]` for the only one.
std::string axesText(llvm::ArrayRef<unsigned> axes,
                     const std::string &x = "%0");
/// What `part` says of an axis, all of the others: `x[..., part]`.
std::string partText(const std::string &x, size_t rank, unsigned at,
                     const std::string &part);

} // namespace netc::import

#endif // NETC_LIB_IMPORT_STEP_H
