// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_OPTRANSLATORS_H
#define NETC_LIB_IMPORT_OPTRANSLATORS_H

#include "lib/Import/StepBuilder.h"

#include <cmath>
#include <functional>

namespace netc::import {

/// By the name of an op, that of another framework or netc's.
using Handlers = std::map<llvm::StringRef, std::function<void()>>;

/// What the translation of each kind of op works on.
class OpTranslator {
public:
  OpTranslator(Values &values, NodeReader &node, StepBuilder &steps)
      : values(values), node(node), steps(steps) {}

protected:
  template <typename Translator>
  using Ops =
      std::initializer_list<std::pair<const char *, void (Translator::*)()>>;
  template <typename Translator>
  static void add(Handlers &handlers, Translator *translator,
                  Ops<Translator> ops) {
    for (auto &[op, translate] : ops)
      handlers[op] = [translator, method = translate] {
        (translator->*method)();
      };
  }

  const Sizes &shape(int value) const { return values.shape(value); }
  /// x as floating point, if the result is.
  int promoted(int x) {
    return values.isFloat(node.out()) ? steps.floated(x) : x;
  }

  Values &values;
  NodeReader &node;
  StepBuilder &steps;
};

/// Dropout that is written out: noise, divided by how much of it is not zero,
/// times what goes in.
class DropoutTranslator : OpTranslator {
public:
  explicit DropoutTranslator(const OpTranslator &base) : OpTranslator(base) {}
  void addTo(Handlers &handlers);
  /// Whether the node is a part of it, which is then translated.
  bool takes();

private:
  struct Noise {
    double kept;            ///< with what probability it is not zero
    bool isDivided = false; ///< by this probability
  };
  void dropout();
  void multiply(int x, int noise);
  void setNoise(const Noise &noise);
  std::map<int, Noise> noises;
};

/// GELU that is written out: x / 2 (1 + erf(x / sqrt(2))).
class GeluTranslator : OpTranslator {
public:
  explicit GeluTranslator(const OpTranslator &base) : OpTranslator(base) {}
  void addTo(Handlers &handlers);
  /// Whether the node is a part of it, which is then translated.
  bool takes();

private:
  void gelu();
  void errorFunction();

  /// What has been seen of it.
  struct Seen {
    int x;
    bool hasOne = false, hasHalf = false, hasX = false;
  };
  void setSeen(const Seen &parts);
  std::map<int, Seen> seen;
};

/// What attention sees: of positions up to the own one, or the last ones of
/// these, those that a tensor shows.
struct JointMask {
  int given = -1;
  bool isCausal = false;
  std::string window = {};
  bool isHidden = false; ///< it says what is hidden instead
};

/// Masks of scores.
class MaskTranslator : OpTranslator {
public:
  explicit MaskTranslator(const OpTranslator &base) : OpTranslator(base) {}

  void set(int value, const JointMask &mask);
  const JointMask *find(int value) const;
  /// Of what is known or goes in, too.
  JointMask maskOf(int mask) const;
  /// What infinities of a known table of biases hide.
  JointMask hiddenBy(int table) const;
  /// The result: x, where a known mask hides some.
  void hide(int x, int mask, double hidden);
  int hideBoth(int scores, const JointMask &mask, double hidden = -INFINITY);
  /// The result: a mask of which the node moves axes before the last two, as
  /// it is. False if it is no such mask.
  bool view(int mask);
  /// Whether it is a condition that goes in, which is a tensor of numbers.
  bool isOfInput(int x);
  /// As a condition.
  int truth(int x);

private:
  std::string widthText(int mask) const;

  std::map<int, JointMask> masks;
};

/// Sums, products and other functions, element by element.
class ArithmeticTranslator : OpTranslator {
public:
  ArithmeticTranslator(const OpTranslator &base, MaskTranslator &masks,
                       DropoutTranslator &dropout, GeluTranslator &gelu)
      : OpTranslator(base), masks(masks), dropout(dropout), gelu(gelu) {}
  void addTo(Handlers &handlers);

  /// Whether it is a function that is several ops here.
  static bool isFunction(llvm::StringRef op);
  /// What takes a tensor as here, and settings that go by other names.
  void elementwise();
  void binary();
  /// Two tensors, element by element: the smaller one is repeated. Without a
  /// sign it is a call of the op.
  void combine(const std::string &sign, int a, int b);
  /// Whether it is the sum of x and a mask.
  bool addMask(int x, int mask);

private:
  void clamp();
  void convert();
  void power();
  void root();
  void stopGradient();

  /// x times a number.
  int scaled(int x, double factor);
  /// A number and x, the first one or the second.
  void withNumber(const std::string &sign, int x, std::string number,
                  bool isFirst);
  /// Whether it is the sum of x and rows of a table of positions.
  bool addRows(int x, int rows);
  /// x cos + turned(x) sin: rotary positions.
  bool rotary(int a, int b);

  MaskTranslator &masks;
  DropoutTranslator &dropout;
  GeluTranslator &gelu;
};

/// Comparisons, and choices by what they say.
class ConditionTranslator : OpTranslator {
public:
  ConditionTranslator(const OpTranslator &base, MaskTranslator &masks,
                      ArithmeticTranslator &arithmetic)
      : OpTranslator(base), masks(masks), arithmetic(arithmetic) {}
  void addTo(Handlers &handlers);

private:
  void comparison();
  /// Of a condition, which is 0 or 1.
  void compareTruth(int x, llvm::StringRef relation, double bound);
  /// The comparison that holds where another does not.
  void invert();
  /// `and` or `or`, which may be of masks of attention.
  void junction();
  /// The result: where both hold, or one of them.
  void join(int a, int b, bool isAnd);
  /// Where one of them holds, and not both.
  void exclusion();
  void wantConditions(llvm::ArrayRef<int> xs);
  void fillMasked();
  /// Scores that a mask hides.
  void where();
  /// One value or another, element by element.
  void choose(int condition);

  MaskTranslator &masks;
  ArithmeticTranslator &arithmetic;
};

class ActivationTranslator : OpTranslator {
public:
  explicit ActivationTranslator(const OpTranslator &base)
      : OpTranslator(base) {}
  void addTo(Handlers &handlers);

private:
  void celu();
  /// GLU: one half times the sigmoid of the other.
  void gate();
  /// RReLU, whose slopes are random in training.
  void leakyByRandom();
  /// PReLU: the slopes of what is negative are learned.
  void leakyBySlopes();
  void shrink();
  void softmax();
};

/// Layers with weights, and what is the same with weights of others.
class LayerTranslator : OpTranslator {
public:
  explicit LayerTranslator(const OpTranslator &base) : OpTranslator(base) {}
  void addTo(Handlers &handlers);

private:
  void convolution();
  /// The same convolution by a kernel that no Conv of its own has.
  void convolve(int x, int kernel, llvm::ArrayRef<int64_t> size);
  void linear();
  /// x times a matrix that no Linear of its own has, [in, out] or the other way
  /// round.
  void multiply(int x, int matrix, bool isInFirst);
  /// Whether x is a tensor of which only the last axis stays, [N T, d].
  bool isOfRows(int x);
  void normalize();
  /// A batch norm that keeps no running statistics.
  void normalizeWithoutState();
  void rmsNorm();
};

/// What slides over the last axes, or fills and cuts them.
class WindowTranslator : OpTranslator {
public:
  WindowTranslator(const OpTranslator &base, std::vector<std::string> &notes)
      : OpTranslator(base), notes(notes) {}
  void addTo(Handlers &handlers);

private:
  void adaptiveMaxPool();
  void adaptivePool();
  void pool();
  void upsample();
  /// Adds a comment if a scale is not the ratio of the sizes, as netc has it.
  void noteScales(int x);
  void pixelShuffle();
  void pad();
  /// Without so many places at the beginning or end of an axis.
  int cut(int x, unsigned at, int64_t count, bool isEnd);
  /// Filled with what is inside.
  void extend(llvm::ArrayRef<int64_t> amounts, std::string by);
  /// Adds a comment if an average is of other numbers than netc's, which is of
  /// all of a window.
  void noteAverage(bool isPadded);

  std::vector<std::string> &notes;
};

/// Views, and several tensors of one or one of several.
class ViewTranslator : OpTranslator {
public:
  ViewTranslator(const OpTranslator &base, MaskTranslator &masks)
      : OpTranslator(base), masks(masks) {}
  void addTo(Handlers &handlers);

  void view();

private:
  void permute();
  void expand() { expandTo(node.in(0)); }
  /// Into what has the size of operand 0.
  void copy() { expandTo(node.in(1)); }
  void expandTo(int x);
  /// As a whole so many times along each axis, or each place of one.
  void repeat();
  void concat();
  void stack();
  void split();
  /// One tensor for each place of an axis.
  void unbind();

  MaskTranslator &masks;
};

/// Parts of an axis, and other orders of one.
class SliceTranslator : OpTranslator {
public:
  explicit SliceTranslator(const OpTranslator &base) : OpTranslator(base) {}
  void addTo(Handlers &handlers);

  /// The part of an axis, `start..end`, or one place of it, which is gone.
  void slice();

private:
  /// Every n-th place: the axis is split, and one of n is kept.
  void strided(int x, unsigned at);
  /// x with a part of an axis replaced. Parts that are replaced one after the
  /// other are put together at once.
  void sliceScatter();
  /// Whether it is the part of x that it would replace, as behind `x[1:3] +=
  /// 1`.
  bool isOwn(int x, unsigned at, const Polynomial &begin, int part) const;
  void reverse();
  void roll();
  /// All windows of an axis, along a new last one.
  void windows();

  /// A part of an axis: of a value of its own, or where that is -1 of the base.
  struct Tile {
    Polynomial begin, end;
    int value;
  };
  struct Mosaic {
    int base;
    unsigned axis;
    std::vector<Tile> tiles;
  };
  std::map<int, Mosaic> mosaics;
  /// A part that is taken of a value.
  struct Cut {
    int x;
    unsigned axis;
    Polynomial begin, end;
  };
  /// Whether two values are one, or equal parts of one.
  bool areEqual(int a, int b) const;
  std::map<int, Cut> cuts;
};

/// What reads places of a tensor by their numbers.
class LookupTranslator : OpTranslator {
public:
  LookupTranslator(const OpTranslator &base, std::vector<std::string> &notes,
                   SliceTranslator &slices, ViewTranslator &views)
      : OpTranslator(base), notes(notes), slices(slices), views(views) {}
  void addTo(Handlers &handlers);

private:
  void embedding();
  /// Sums or means of rows, bags of equally many.
  void embeddingBag();
  /// Settings of a table of rows.
  void checkTable();
  /// The result: the rows of `table` that `ids` name, or its last row for
  /// numbers beyond it.
  void lookUp(int ids, int table);
  /// The result: the columns that `ids` name, by their axes behind the rows.
  void lookUpColumns(int ids, int table);
  /// Whether the numbers that stand for a known tensor are all rows of a table.
  bool areRows(int ids, int table) const;
  /// Whether these are the numbers that the graph has.
  bool isExact(int ids) const;
  /// Adds a comment if they are not.
  void noteOthers(int ids);
  /// A row for each number of a tensor, or the one place of an axis.
  void gather();
  /// The places of an axis that a known tensor lists, or of two in a row.
  void positions();
  std::vector<int64_t> listed(int ids);
  /// The same, where they are repeated to these sizes.
  std::vector<int64_t> listed(int ids, const Sizes &wanted);
  /// x with the last two of its first axes as one, if the first of these is
  /// read by numbers, too; `places` are then those of the one axis.
  int joinLast(int x, unsigned axes, std::vector<int64_t> &places);
  /// All places of the first axes, by their numbers.
  bool isWhole(int x);
  /// One place of the second axis for each of the first, such as the last word
  /// of each text.
  bool isOfEach();
  void takeOfEach();
  void diagonal();
  /// The places of the largest elements, and these.
  void largest();
  /// argmax and argmin.
  void placeOfExtreme();
  /// Ones at some places, zeros elsewhere.
  void scatter();
  /// Elements at the places of the largest, which are different ones.
  void scatterTop(int places);
  /// Rows that are added to others, by their numbers.
  void addRows();
  void taken();
  /// `, over = ..`, where the axis is not the one that netc takes by itself.
  std::string overText(int x, unsigned at) const;

  std::vector<std::string> &notes;
  SliceTranslator &slices;
  ViewTranslator &views;
};

/// Sums, means, norms and extremes of axes.
class ReductionTranslator : OpTranslator {
public:
  ReductionTranslator(const OpTranslator &base,
                      ArithmeticTranslator &arithmetic)
      : OpTranslator(base), arithmetic(arithmetic) {}
  void addTo(Handlers &handlers);

private:
  void cosineSimilarity();
  void crossEntropy();
  void cumulate();
  /// The largest or smallest elements, and their places.
  void extremeAndPlace();
  /// How often each whole number is there.
  void histogram();
  void logSumExp();
  void reduce();
  /// Variances and standard deviations, of some with means.
  void variance();
  void vectorNorm();
  /// Whether the result has axes of size 1 for the reduced ones.
  bool keepsAxes();
  /// A reduction as a form, reshaped if it keeps its axes.
  Step &summary(const std::string &form, std::vector<int> ins);
  /// x less what `reduced` makes of some axes of it, which is returned.
  int without(const std::string &reduced, int x, llvm::ArrayRef<unsigned> over);

  ArithmeticTranslator &arithmetic;
};

/// Products of matrices and lists of them.
class ProductTranslator : OpTranslator {
public:
  ProductTranslator(const OpTranslator &base, ArithmeticTranslator &arithmetic)
      : OpTranslator(base), arithmetic(arithmetic) {}
  void addTo(Handlers &handlers);

private:
  void product();
  void einsum();
  /// An equation of letters alone.
  std::string equationText();
  /// Operand i, and its letters, each once: of what has a letter twice, it is
  /// the diagonal.
  int withoutRepeats(unsigned i, std::string &letters);
  /// An operand of several without the axes that no other one and no result
  /// has, over which it is summed before the product.
  int withoutSummed(int x, std::string &letters, llvm::StringRef others);
  /// Of lists of matrices, some of which are the same for several.
  void broadcastProduct(int a, int b);
  /// The sum of a tensor, which may be a mask, and a product.
  void addProduct();

  ArithmeticTranslator &arithmetic;
};

class AttentionTranslator : OpTranslator {
public:
  AttentionTranslator(const OpTranslator &base, MaskTranslator &masks)
      : OpTranslator(base), masks(masks) {}
  void addTo(Handlers &handlers);

private:
  void attention();
  /// What it was before each head of keys was repeated for some of queries.
  int ungrouped(int x);
  /// Keys or values with a head for each one of the queries.
  int ofEachHead(int x, int q);
  /// Of tensors with other axes than `attention` takes by name.
  void unnamedAttention(const std::vector<int> &ins, double scale, double drop,
                        const JointMask &mask);
  /// With a bias of scores that is learned, or depends on what goes in.
  void biasedAttention(int mask, double scale, double drop);
  /// The scaled products of queries and keys.
  int scoresOf(int q, int k, double scale);
  /// `, over = ..`, where the keys' axis is not the one that netc takes itself.
  std::string overKeys(int scores) const;
  /// The sum of `v` by the softmax of scores, of which a mask hides some.
  void weighMasked(int scores, int v, double drop, const JointMask &mask);
  /// The sum of operand 1 by weights, of which some are dropped.
  void weigh(Step &made, const std::string &weights, double drop);

  MaskTranslator &masks;
};

/// Layers and directions one by one, `LSTM`, `GRU` or `RNN` of the standard
/// library.
class RecurrenceTranslator : OpTranslator {
public:
  explicit RecurrenceTranslator(const OpTranslator &base)
      : OpTranslator(base) {}
  void addTo(Handlers &handlers);

private:
  void recurrence();
  /// What the node says of its layers, one for each direction.
  struct Layers;
  Layers readLayers();
  /// What a layer makes, and its cells.
  struct Widths {
    Polynomial out, cells;
  };
  Widths widthsOf(const Layers &layers, unsigned number);
  /// Returns what a layer makes, and its last state.
  std::pair<int, int> addLayer(const Layers &layers, unsigned number, int x);
  int another(const Sizes &sizes);
  /// An LSTM's states are h and c side by side, `0..32` and `32..64`.
  std::string partOfState(const Layers &layers, unsigned number,
                          unsigned state);
  /// [N, d] of a layer, of [layers, N, d] each.
  int firstState(llvm::ArrayRef<int> given, unsigned layer, Sizes sizes);
  /// [layers, N, d] of the states, [N, d] each, or of a `part` of these.
  void lastStates(int result, const std::vector<int> &states,
                  const std::string &part);
  /// [T, N, d] as [N, T, d], and back.
  int batchFirst(int x);
};

/// Loops over the first axis of sequences, as the graph has them.
class LoopTranslator : OpTranslator {
public:
  using Prepare = std::function<void(const GraphNode &loop)>;
  using Translate = std::function<void(const GraphBody &body)>;
  LoopTranslator(const OpTranslator &base, Prepare prepare, Translate translate)
      : OpTranslator(base), prepare(std::move(prepare)),
        translate(std::move(translate)) {}
  void addTo(Handlers &handlers);

private:
  void loop();
  /// How many values it carries.
  size_t readCarried();
  /// Refuses a value of the body of another shape than `other` has.
  void wantShape(int value, llvm::ArrayRef<Polynomial> wanted,
                 llvm::StringRef other);
  /// The label of the axis of the loop. Where the sequences have no common
  /// one, it is the size, which it stands for.
  std::string labelOf(llvm::ArrayRef<int> sequences);

  Prepare prepare;
  Translate translate;
};

/// Mixtures of experts.
class ExpertTranslator : OpTranslator {
public:
  ExpertTranslator(const OpTranslator &base, const Graph &graph)
      : OpTranslator(base), graph(graph) {}

  /// Translates the nodes from number `begin` on that are one step: of a module
  /// of experts, or as netc writes `dispatch`. Returns how many these are.
  size_t translateFrom(size_t begin);

private:
  /// The nodes of a module of experts that begins here, or none.
  llvm::ArrayRef<GraphNode> moduleFrom(size_t begin) const;
  /// `Experts` of the standard library.
  void translateModule(llvm::ArrayRef<GraphNode> nodes);
  size_t translateDispatch(size_t begin);

  const Graph &graph;
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_OPTRANSLATORS_H
