// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_IMPORT_TRANSLATOR_H
#define NETC_LIB_IMPORT_TRANSLATOR_H

#include "lib/Import/Foreign.h"
#include "lib/Import/Step.h"
#include "llvm/ADT/Twine.h"

#include <map>

namespace netc::import {

/// `0.1`, `1e-05`.
std::string realText(double value);

/// Nodes of a graph in the words of netc, one by one.
class Translator {
  static constexpr size_t mostListed = 64; ///< numbers in a specification

  /// What attention sees: of positions up to the own one, or the last ones of
  /// these, those that a tensor shows.
  struct JointMask {
    int given = -1;
    bool isCausal = false;
    std::string window = {};
  };

public:
  Translator(Graph &graph, llvm::ArrayRef<std::string> opaque)
      : graph(graph), opaque(opaque) {}

  std::vector<Step> translate();

private:
  [[noreturn]] void refuse(const llvm::Twine &why, bool isUnknown = false);

  //===--- Values ---------------------------------------------------------===//

  int real(int value) const;
  int in(unsigned i);
  bool has(unsigned i) const {
    return i < node->ins.size() && node->ins[i] >= 0;
  }
  int out() const { return node->outs[0]; }
  const Sizes &shape(int value) const { return graph.shape(value); }
  std::vector<std::string> &labels(int value) {
    return graph.values[value].labels;
  }
  const GraphValue &value(int at) const { return graph.values[at]; }
  /// Whether a layer may own it.
  bool isWeight(int at) const {
    return value(at).kind == GraphValue::Weight && !value(at).isState;
  }
  bool isKnown(int at) const { return value(at).kind == GraphValue::Known; }
  /// Finds who owns each weight: a layer, if all uses of it are alike, or the
  /// table of words that comes first. Else it is a tensor that several read.
  void findOwners();
  /// How a node uses an operand: what two uses by one layer have in common.
  std::string useOf(const GraphNode &user, unsigned operand) const;
  /// Whether operand i is a weight that the layer of this node owns.
  bool owns(unsigned i);
  /// The same of a shift, beside the scale or the matrix that is operand i.
  bool ownsShift(unsigned i);
  std::string what(int at) const;
  int64_t fixed(const Polynomial &size);
  void labelInputs();
  /// Whether it is turned from [N, H, W, C] to [N, C, H, W].
  bool isChannelsLast(const GraphValue &image) const;
  /// Whether an op reads the value that is called `name` as its first operand.
  bool isReadBy(llvm::StringRef op, llvm::StringRef name) const;

  //===--- Settings of a node ---------------------------------------------===//

  const Json *setting(const char *name);
  /// Of settings that change no count.
  void ignore(std::initializer_list<const char *> names) {
    asked.insert(names.begin(), names.end());
  }
  /// Refuses a factor that is not 1.
  void wantOne(const char *name);
  /// Refuses settings of the node that nothing has asked for.
  void checkSettings();
  int64_t integer(const char *name, int64_t otherwise);
  bool flag(const char *name);
  /// What a tensor holds everywhere, 1 where the graph does not tell.
  double number(int at);
  /// A number of the graph, where infinities are texts.
  double numberOf(const Json &found, double otherwise);
  double realNumber(const char *name, double otherwise);
  std::vector<int64_t> integers(const char *name, int64_t otherwise,
                                size_t count);
  unsigned axis(int64_t number, size_t rank);
  /// Over how many axes windows slide: all but two.
  size_t windowsOf(int x);
  void wantRank(int x, size_t least, size_t most = 64);

  //===--- Steps ----------------------------------------------------------===//

  /// Another value, of the shape of one.
  int another(int like);
  Step &step(Step::Form form, std::string fn, std::vector<int> ins);
  /// Refuses what is a part of several ops that are one here.
  void wantWhole(int x);
  /// The first of the weights tells it from others.
  Step &instance(std::string fn, int x, std::vector<int> weights);
  static void put(Step &step, std::string key, std::string name,
                  std::string text, std::string byDefault = "",
                  bool isNumber = true);
  void putReal(Step &step, std::string key, double number, double byDefault);
  /// A tuple of sizes, which may have free axes.
  void putSizes(Step &step, const Sizes &sizes, std::string name = "size");
  /// `over = ..`, where the axis is not the one that netc takes by itself.
  void putOver(Step &step, int x, unsigned at);
  /// -1 where netc finds none.
  int featureAxis(int x);
  /// Whether windows slide over the last axes.
  bool isImage(int x, size_t windows);
  void labelImage(Step &step, int x, size_t windows);

  /// Makes a value of a weight or of what is known where a step takes it. Each
  /// module has its own of what is known, another value, which is returned.
  int materialize(int at);
  void pendingKnown(Step &made, int at);
  /// Whether it is a few whole numbers, which are written as they are.
  bool isListed(int at) const;
  /// Whether the numbers that stand for a known tensor are all rows of a table.
  bool areRows(int at, int table) const;
  /// materialize() of rows of a table of positions, which no Position adds.
  int readRows(int at);
  /// The result: the rows of `table` that `ids` name, or its last row for
  /// numbers beyond it.
  void lookUp(int ids, int table);
  void same(int x);

  //===--- Ops ------------------------------------------------------------===//

  using Handler = void (Translator::*)();
  static const std::map<llvm::StringRef, Handler> &handlers() {
    static const std::map<llvm::StringRef, Handler> table = {
        // What is another op or several here.
        {"aten.__and__", &Translator::junction},
        {"aten.__or__", &Translator::junction},
        {"aten._embedding_bag", &Translator::embeddingBag},
        {"aten._embedding_bag_forward_only", &Translator::embeddingBag},
        {"aten.adaptive_max_pool1d", &Translator::adaptiveMaxPool},
        {"aten.adaptive_max_pool2d", &Translator::adaptiveMaxPool},
        {"aten.adaptive_max_pool3d", &Translator::adaptiveMaxPool},
        {"aten.argmax", &Translator::placeOfExtreme},
        {"aten.argmin", &Translator::placeOfExtreme},
        {"aten.baddbmm", &Translator::addProduct},
        {"aten.bitwise_and", &Translator::junction},
        {"aten.bitwise_not", &Translator::invert},
        {"aten.bitwise_or", &Translator::junction},
        {"aten.celu", &Translator::celu},
        {"aten.copy", &Translator::copy},
        {"aten.cosine_similarity", &Translator::cosineSimilarity},
        {"aten.erf", &Translator::errorFunction},
        {"aten.glu", &Translator::gate},
        {"aten.index_select", &Translator::positions},
        {"aten.linalg_vector_norm", &Translator::vectorNorm},
        {"aten.logical_and", &Translator::junction},
        {"aten.logical_not", &Translator::invert},
        {"aten.logical_or", &Translator::junction},
        {"aten.logsumexp", &Translator::logSumExp},
        {"aten.masked_fill", &Translator::fillMasked},
        {"aten.pixel_shuffle", &Translator::pixelShuffle},
        {"aten.pixel_unshuffle", &Translator::pixelShuffle},
        {"aten.prelu", &Translator::leakyBySlopes},
        {"aten.repeat", &Translator::repeat},
        {"aten.repeat_interleave", &Translator::repeat},
        {"aten.roll", &Translator::roll},
        {"aten.rrelu", &Translator::leakyByRandom},
        {"aten.scatter", &Translator::scatter},
        {"aten.slice_scatter", &Translator::sliceScatter},
        {"aten.std", &Translator::variance},
        {"aten.std_mean", &Translator::variance},
        {"aten.unbind", &Translator::unbind},
        {"aten.upsample_bilinear2d", &Translator::upsample},
        {"aten.upsample_linear1d", &Translator::upsample},
        {"aten.upsample_nearest1d", &Translator::upsample},
        {"aten.upsample_nearest2d", &Translator::upsample},
        {"aten.upsample_nearest3d", &Translator::upsample},
        {"aten.upsample_trilinear3d", &Translator::upsample},
        {"aten.var", &Translator::variance},
        {"aten.var_mean", &Translator::variance},
        {"onnx.And", &Translator::junction},
        {"onnx.ArgMax", &Translator::placeOfExtreme},
        {"onnx.ArgMin", &Translator::placeOfExtreme},
        {"onnx.Celu", &Translator::celu},
        {"onnx.Erf", &Translator::errorFunction},
        {"onnx.Gather", &Translator::gather},
        {"onnx.Or", &Translator::junction},
        {"onnx.PRelu", &Translator::leakyBySlopes},
        {"onnx.ReduceL1", &Translator::vectorNorm},
        {"onnx.ReduceL2", &Translator::vectorNorm},
        {"onnx.ReduceLogSumExp", &Translator::logSumExp},
        {"onnx.Resize", &Translator::upsample},
        {"onnx.Shrink", &Translator::shrink},
        {"onnx.Tile", &Translator::repeat},
        {"adaptive_avg_pool", &Translator::adaptivePool},
        {"add", &Translator::binary},
        {"avg_pool", &Translator::pool},
        {"broadcast", &Translator::expand},
        {"compare", &Translator::comparison},
        {"concat", &Translator::concat},
        {"conv", &Translator::convolution},
        {"conv_transpose", &Translator::convolution},
        {"convert", &Translator::convert},
        {"cross_entropy", &Translator::crossEntropy},
        {"cumprod", &Translator::cumulate},
        {"cumsum", &Translator::cumulate},
        {"div", &Translator::binary},
        {"dropout", &Translator::dropout},
        {"einsum", &Translator::product},
        {"embedding", &Translator::embedding},
        {"gelu", &Translator::gelu},
        {"linear", &Translator::linear},
        {"log_softmax", &Translator::softmax},
        {"max", &Translator::reduce},
        {"max_pool", &Translator::pool},
        {"maximum", &Translator::binary},
        {"mean", &Translator::reduce},
        {"min", &Translator::reduce},
        {"minimum", &Translator::binary},
        {"mul", &Translator::binary},
        {"normalize", &Translator::normalize},
        {"pad", &Translator::pad},
        {"power", &Translator::power},
        {"relu6", &Translator::clamp},
        {"reshape", &Translator::view},
        {"rms_normalize", &Translator::rmsNorm},
        {"reverse", &Translator::reverse},
        {"scan", &Translator::recurrence},
        {"slice", &Translator::slice},
        {"softmax", &Translator::softmax},
        {"split", &Translator::split},
        {"sqrt", &Translator::root},
        {"stack", &Translator::stack},
        {"stop_gradient", &Translator::stopGradient},
        {"sub", &Translator::binary},
        {"sum", &Translator::reduce},
        {"take", &Translator::taken},
        {"top_k", &Translator::largest},
        {"transpose", &Translator::permute},
        {"where", &Translator::where},
    };
    return table;
  }

  void translateNode();

  /// Whether a value is whole numbers that go in or are known, or a part of
  /// these.
  bool isNumbers(int x);
  /// Whether it computes whole numbers of whole numbers that go in, such as
  /// positions of words. Of these, as of what is known, no value counts.
  bool isOfNumbers();
  /// What takes tensors as here, and settings that go by other names.
  void elementwise();
  void convert();
  void stopGradient();
  /// The same numbers as floating point, which they are in PyTorch beside such.
  int floated(int x);
  bool isFloat(int x) const;
  void convolution();
  void linear();
  /// Whether x is a tensor of which only the last axis stays, [N T, d].
  bool isOfRows(int x);
  /// Whether all that reads it reshapes it.
  bool isOnlyViewed(int x) const;
  void normalize();
  void rmsNorm();
  void embedding();
  /// Settings of a table of rows.
  void checkTable();
  /// Sums or means of rows, bags of equally many.
  void embeddingBag();
  /// The places of an axis that a known tensor lists.
  void positions();
  /// All places of the first axes, by their numbers.
  bool isWhole(int x);
  /// A row for each number of a tensor, or the one place of an axis.
  void gather();
  void dropout();
  void pool();
  void adaptivePool();
  /// Windows side by side, as many as `output_size` says.
  void adaptiveMaxPool();
  void softmax();
  void gelu();
  /// Of a GELU that is written out: x / 2 (1 + erf(x / sqrt(2))).
  void errorFunction();
  /// Whether it is a sum or product with such a part.
  bool isPartOfGelu();
  void celu();
  void shrink();
  void root();
  void power();
  void clamp();
  /// PReLU: the slopes of what is negative are learned.
  void leakyBySlopes();
  /// RReLU, whose slopes are random in training.
  void leakyByRandom();
  /// x times a matrix that no Linear of its own has, [in, out] or the other way
  /// round.
  void multiply(int x, int matrix, bool isInFirst);
  /// The same convolution by a kernel that no Conv of its own has.
  void convolve(int x, int kernel, llvm::ArrayRef<int64_t> size);
  /// Lets the last step make another value, from which a further one makes the
  /// result: `*` or `+` operand i, along axes.
  void then(const std::string &sign, unsigned i, const std::string &axes);

  //===--- Arithmetic -----------------------------------------------------===//

  bool masked();
  void binary();
  /// Two tensors, element by element: the smaller one is repeated. Without a
  /// sign it is a call of the op.
  void combine(const std::string &sign, int a, int b);
  /// The second one times a number.
  void scaled(int a, int b, double factor, const std::string &sign);

  /// x cos + turned(x) sin: rotary positions.
  bool rotary(int a, int b);
  void mergeLabels(int a, int b);
  /// x, without its labels if one of them contradicts that of the same axis of
  /// a tensor of as many axes: `H` of an image beside `L`.
  int unlabelled(int x, int beside);

  /// Operand `at` repeated to the shape of `like`, which is that of `target` or
  /// of the result.
  std::string expanded(int x, int at, const std::string &like,
                       Step *made = nullptr, int target = -1);
  void expand() { expandTo(in(0)); }
  /// Into what has the size of operand 0.
  void copy() { expandTo(in(1)); }
  void expandTo(int x);

  //===--- Recurrences ----------------------------------------------------===//

  /// Layers and directions one by one, `LSTM`, `GRU` or `RNN` of the standard
  /// library.
  void recurrence();
  /// [N, d] of a layer, of [layers, N, d] each.
  int firstState(const std::vector<int> &given, unsigned layer, Sizes sizes);
  /// [layers, N, d] of the states, [N, d] each, or of a `part` of these, such
  /// as `0..32`: an LSTM's are h and c side by side.
  void lastStates(int result, const std::vector<int> &states,
                  const std::string &part);
  /// Another value, which a form makes of others.
  int make(std::string form, std::vector<int> ins, Sizes sizes);
  /// [T, N, d] as [N, T, d], and back.
  int batchFirst(int x);

  //===--- Experts --------------------------------------------------------===//

  /// The nodes of a module of experts that begins here, or none.
  llvm::ArrayRef<GraphNode> expertsFrom(size_t begin) const;
  /// `Experts` of the standard library.
  void experts(llvm::ArrayRef<GraphNode> nodes);
  /// The places of the largest elements, and these.
  void largest();
  void taken();
  /// Ones at some places, zeros elsewhere.
  void scatter();

  //===--- Products -------------------------------------------------------===//

  void product();
  /// An equation of letters alone.
  std::string equationText();
  /// Of lists of matrices, some of which are the same for several.
  void broadcastProduct(int a, int b);
  /// The sum of a tensor and a product.
  void addProduct();
  /// Scores that a mask hides.
  void where();
  /// One value or another, element by element.
  void choose(int condition);
  /// Whether it is a condition that goes in, which is a tensor of numbers.
  bool isOfInput(int x);
  int truth(int x);
  void comparison();
  void fillMasked();
  void hide(int x, int mask, double hidden);
  std::string widthText(int mask) const;
  /// Where both conditions hold, or one of them.
  void junction();
  /// The comparison that holds where another does not.
  void invert();

  /// What it was before each head of keys was repeated for some of queries.
  int ungrouped(int x);
  /// What it was before the last view of a chain, if this only reshapes and
  /// nothing else reads it.
  int beforeReshape(int x);
  Step *maker(int value);
  void attention();

  /// Of tensors with other axes than `attention` takes by name.
  void unnamedAttention(const std::vector<int> &ins, double scale, double drop,
                        JointMask mask);
  JointMask jointMask(int mask) const;
  int hideBoth(int scores, JointMask mask);
  /// x with the shape of the result.
  int repeated(int x);
  /// What it was before it was repeated along some axes.
  int beforeExpand(int x);
  /// With a bias of scores that is learned, or depends on what goes in.
  void biasedAttention(int mask, double scale, double drop);

  //===--- Shapes ---------------------------------------------------------===//

  void appendView(int x, std::vector<int> permutation);
  /// The innermost module that holds both.
  int common(int a, int b) const;
  /// How often a value is read under other names.
  unsigned aliasUses(int x);
  void view() {
    ignore({"dim", "allowzero"}); // the shape tells
    appendView(in(0), {});
  }

  void permute();
  void concat();
  void stack();
  void split();
  /// One tensor for each place of an axis.
  void unbind();
  /// As a whole so many times along each axis, or each place of one.
  void repeat();

  /// The part of an axis, `start..end`, or one place of it, which is gone.
  void slice();
  /// What `place` says of an axis, all of the others: `x[..., place]`.
  static std::string partText(const std::string &x, size_t rank, unsigned at,
                              const std::string &place);
  /// `#2..#3`, arguments of a step.
  static std::string putPlaces(Step &made, const Polynomial &begin,
                               const Polynomial &end);
  /// x with a part of an axis replaced. Parts that are replaced one after the
  /// other are put together at once.
  void sliceScatter();
  Polynomial bound(const Json *given, const Polynomial &size,
                   int64_t otherwise);
  /// Every n-th place: the axis is split, and one of n is kept.
  void strided(int x, unsigned at);
  /// Axes that `dim` lists, sorted; all where it does not.
  std::vector<unsigned> reducedAxes(size_t rank);
  /// Axes of operand 0, `[axes(%0)[1], axes(%0)[2]]`, or the only one.
  static std::string placesText(llvm::ArrayRef<unsigned> axes);
  void reduce();
  void vectorNorm();
  /// Variances and standard deviations, of some with means.
  void variance();
  void logSumExp();
  void crossEntropy();
  /// argmax and argmin.
  void placeOfExtreme();
  /// Whether the result of a reduction has axes of size 1 for the reduced ones.
  bool keepsAxes();
  /// A reduction as a form, reshaped if it keeps its axes.
  Step &summary(const std::string &form, std::vector<int> ins);
  /// x less what `reduced` makes of some axes of it, which is returned.
  int without(const std::string &reduced, int x, llvm::ArrayRef<unsigned> over);
  void roll();
  void reverse();
  void upsample();
  void cumulate();
  void pixelShuffle();
  /// One half times the sigmoid of the other.
  void gate();
  void cosineSimilarity();
  void pad();
  /// Without so many places at the beginning or end of an axis.
  int cut(int x, unsigned at, int64_t count, bool isEnd);
  /// Filled with what is inside.
  void extend(llvm::ArrayRef<int64_t> amounts, std::string by);

  /// Without what nothing reads. What is noted of tables stays.
  void dropUnused();

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

  /// What has been seen of x / 2 (1 + erf(x / sqrt(2))).
  struct Gelu {
    int x;
    bool hasOne = false, hasHalf = false, hasX = false;
  };
  Graph &graph;
  llvm::ArrayRef<std::string> opaque;
  const GraphNode *node = nullptr;
  const ForeignOp *foreign = nullptr;
  std::set<std::string> asked; ///< settings of the node, by name
  std::vector<Step> steps;
  std::vector<int> alias;
  std::map<int, unsigned> uses;
  std::set<int> materialized;
  std::map<std::pair<int, int>, int> copies; ///< of what is known, by module
  std::map<int, std::pair<int, std::string>> rows; ///< of a table, by value
  std::map<int, Mosaic> mosaics;
  std::map<int, double> noise; ///< with what probability it is not zero
  std::set<int> spread;        ///< noise that is divided by this probability
  std::map<int, Gelu> gelus;
  std::map<int, JointMask> jointMasks;
  std::map<int, std::string> owners; ///< uses of weights, by their owner
};

} // namespace netc::import

#endif // NETC_LIB_IMPORT_TRANSLATOR_H
