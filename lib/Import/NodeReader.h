// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_NODEREADER_H
#define NETC_LIB_IMPORT_NODEREADER_H

#include "lib/Import/Foreign.h"
#include "lib/Import/Step.h"
#include "lib/Import/Values.h"
#include "llvm/ADT/Twine.h"

#include <set>

namespace netc::import {

/// The node that is translated: its operands and settings.
class NodeReader {
public:
  NodeReader(const Graph &graph, const Values &values)
      : graph(graph), values(values) {}

  void read(const GraphNode &next);
  /// Reads it as another op, of the same operands.
  void readAs(llvm::StringRef op);
  [[noreturn]] void refuse(const llvm::Twine &why,
                           Refusal::Kind kind = Refusal::Refused) const;

  const GraphNode *operator->() const { return node; }
  const GraphNode &operator*() const { return *node; }
  /// Its place in the graph; -1 before the first one.
  int number() const { return node->number; }
  /// Null for an op that netc does not know.
  const ForeignOp *foreign() const { return known; }
  /// What netc calls the op.
  std::string op() const { return known ? known->op.str() : "opaque"; }
  bool isOp(llvm::StringRef name) const { return known && known->op == name; }

  //===--- Operands -------------------------------------------------------===//

  int in(unsigned i);
  bool has(unsigned i);
  /// Of an operand whose values do not count.
  void ignoreOperand(unsigned i) { askedOperands.insert(i); }
  int out() const { return node->outs[0]; }
  /// Whether operand i is a weight that the layer of this node owns.
  bool owns(unsigned i);
  /// The same of a shift, beside the scale or the matrix that is operand i - 1.
  bool ownsShift(unsigned i);
  void wantRank(int x, size_t least, size_t most = 64);
  /// Over how many axes windows slide: all but two.
  size_t windowsOf(int x);
  int64_t fixed(const Polynomial &size);

  //===--- Settings -------------------------------------------------------===//

  const Json *setting(const char *name);
  /// Of settings that change no count.
  void ignore(std::initializer_list<const char *> names) {
    asked.insert(names.begin(), names.end());
  }
  /// Refuses a factor that is not 1.
  void wantOne(const char *name);
  /// Refuses operands and settings of the node that nothing has asked for.
  void checkAsked();
  int64_t integer(const char *name, int64_t otherwise);
  /// A number of the graph that must be whole.
  int64_t integerFrom(const Json &found) const;
  bool flag(const char *name);
  double real(const char *name, double otherwise);
  /// What a tensor holds everywhere, 1 where the graph does not tell.
  double realOf(int value);
  /// The same as the specification writes it, whole ones exactly.
  std::string numberText(const char *name, double otherwise);
  std::string numberTextOf(int value);
  std::vector<int64_t> integers(const char *name, int64_t otherwise,
                                size_t count);
  unsigned axis(const Json &number, size_t rank);
  unsigned axis(const char *name, int64_t otherwise, size_t rank) {
    return axis(integer(name, otherwise), rank);
  }
  /// Axes that `dim` lists, sorted; all where it does not.
  std::vector<unsigned> axes(size_t rank);
  /// The place on an axis of this size that a setting says.
  Polynomial place(const char *name, const Polynomial &size);

private:
  /// A setting of the right kind; null without one. Refuses any other.
  const Json *settingOf(const char *name,
                        bool (Json::*isRight)() const noexcept,
                        const char *wanted);
  /// A number of the graph, where infinities are texts.
  double realFrom(const Json &found, double otherwise);
  std::string textFrom(const Json &found, double otherwise);

  const Graph &graph;
  const Values &values;
  const GraphNode none;
  const GraphNode *node = &none;
  const ForeignOp *known = nullptr;
  std::set<std::string> asked;      ///< settings, by name
  std::set<unsigned> askedOperands; ///< by number
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_NODEREADER_H
