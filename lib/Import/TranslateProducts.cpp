// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void ProductTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"aten.baddbmm", &ProductTranslator::addProduct},
          {"einsum", &ProductTranslator::product},
      });
}

int ProductTranslator::withoutRepeats(unsigned i, std::string &letters) {
  int x = node.in(i);
  for (size_t at = 0; at < letters.size();) {
    size_t again = letters.find(letters[at], at + 1);
    if (again == std::string::npos) {
      ++at;
      continue;
    }
    x = steps.diagonal(x, unsigned(at), unsigned(again), 0);
    letters += letters[at];
    letters.erase(again, 1);
    letters.erase(at, 1);
  }
  return x;
}

int ProductTranslator::withoutSummed(int x, std::string &letters,
                                     StringRef others) {
  if (letters.size() != shape(x).size())
    node.refuse("its equation does not go with its operands");
  std::vector<unsigned> places;
  Sizes sizes;
  std::string rest;
  for (unsigned at = 0; at < letters.size(); ++at)
    if (others.contains(letters[at])) {
      sizes.push_back(shape(x)[at]);
      rest += letters[at];
    } else {
      places.push_back(at);
    }
  if (places.empty())
    return x;
  letters = rest;
  return steps.make("sum(%0, over = " + axesText(places) + ")", {x}, sizes);
}

void ProductTranslator::einsum() {
  std::string equation = equationText(), left;
  for (char c : equation)
    if (!llvm::isAlpha(c) && !StringRef(",->").contains(c))
      node.refuse("its equation is no list of letters");
  auto [rest, right] = StringRef(equation).split("->");
  std::vector<std::string> terms;
  for (StringRef each : llvm::split(rest, ','))
    terms.push_back(each.str());
  if (terms.size() != node->ins.size())
    node.refuse("its equation does not go with its operands");
  std::vector<int> ins;
  std::string form;
  for (unsigned i = 0; i < node->ins.size(); ++i) {
    ins.push_back(withoutRepeats(i, terms[i]));
    std::string others = right.str();
    for (size_t other = 0; other < terms.size(); ++other)
      if (other != i)
        others += terms[other];
    if (terms.size() > 1)
      ins.back() = withoutSummed(ins.back(), terms[i], others);
    for (char c : terms[i])
      left += std::string(1, c) + " ";
    left += i + 1 < node->ins.size() ? ", " : "-> ";
    form += ", %" + std::to_string(i);
  }
  for (char c : right)
    left += std::string(1, c) + " ";
  steps.add(Step::Form_,
            "einsum(\"" + StringRef(left).trim().str() + "\"" + form + ")",
            ins);
  // An axis keeps the label of the first that it is, as the op does.
  StatedList<std::string> &made = values.labels(node.out());
  made.assign(shape(node.out()).size(), "");
  for (size_t i = 0; i < std::min(made.size(), right.size()); ++i)
    for (auto [letters, each] : llvm::zip_equal(terms, ins)) {
      size_t at = letters.find(right[i]);
      if (!isNamed(made[i]) && at < values.labels(each).size() &&
          !llvm::is_contained(made, values.labels(each)[at]))
        made[i] = values.labels(each)[at];
    }
}

void ProductTranslator::product() {
  if (node.setting("equation"))
    return einsum();
  int a = steps.bare(node.in(0)), b = steps.bare(node.in(1));
  size_t rank = shape(a).size();
  node.wantRank(a, 1);
  node.wantRank(b, 1);
  bool isPlain =
      rank >= 2 &&
      (shape(b).size() == 2 ||
       (shape(b).size() == rank &&
        std::equal(shape(a).begin(), shape(a).end() - 2, shape(b).begin())));
  if (!isPlain)
    return broadcastProduct(a, b);
  steps.add(Step::Infix, "@", {a, b});
  // No two axes have one label.
  StatedList<std::string> names = values.labels(a);
  names.back() = "";
  if (std::string columns = values.labels(b).back();
      !llvm::is_contained(names, columns))
    names.back() = columns;
  values.labels(node.out()) = names;
}

/// The letters that an equation without a result has once, in their order.
static std::string impliedResult(StringRef equation) {
  std::string letters = equation.contains("...") ? "..." : "";
  std::string sorted = equation.str();
  llvm::sort(sorted);
  for (char c : sorted)
    if (llvm::isAlpha(c) && equation.count(c) == 1)
      letters += c;
  return letters;
}

std::string ProductTranslator::equationText() {
  std::string equation = node->with->value("equation", std::string());
  llvm::erase(equation, ' ');
  if (!StringRef(equation).contains("->"))
    equation += "->" + impliedResult(equation);
  if (!StringRef(equation).contains("..."))
    return equation;
  auto [left, right] = StringRef(equation).split("->");
  llvm::SmallVector<StringRef> terms;
  left.split(terms, ',');
  std::string letters;
  for (char c = 'a'; c <= 'z'; ++c)
    if (!StringRef(equation).contains(c))
      letters += c;
  std::vector<size_t> counts; // of axes that the dots stand for
  for (size_t i = 0; i < terms.size(); ++i) {
    size_t rank = shape(node.in(unsigned(i))).size(),
           named = terms[i].size() - 3;
    bool hasDots = terms[i].contains("...");
    if (hasDots && (rank < named || rank > named + letters.size()))
      node.refuse("its equation does not go with its operands");
    counts.push_back(hasDots ? rank - named : 0);
  }
  // Where they stand for fewer axes, these are the last ones.
  letters.resize(*llvm::max_element(counts));
  auto spelled = [&](StringRef term, size_t count) {
    auto [before, after] = term.split("...");
    return (before + StringRef(letters).take_back(count) + after).str();
  };
  std::string made;
  for (size_t i = 0; i < terms.size(); ++i)
    made += (i ? "," : "") + spelled(terms[i], counts[i]);
  return made + "->" + spelled(right, letters.size());
}

void ProductTranslator::broadcastProduct(int a, int b) {
  bool isRow = shape(a).size() == 1, isColumn = shape(b).size() == 1;
  size_t lists =
      std::max<size_t>(2, std::max(shape(a).size(), shape(b).size())) - 2;
  size_t rank = lists + (isRow ? 0 : 1) + (isColumn ? 0 : 1);
  node.wantRank(node.out(), rank, rank);
  std::string all;
  for (size_t i = 0; i < lists; ++i)
    all += std::string(1, char('a' + i)) + " ";
  std::vector<std::pair<Sizes, std::string>> operands; // sizes, and letters
  for (auto [x, own] : {std::make_pair(a, isRow ? "j" : "i j"),
                        std::make_pair(b, isColumn ? "j" : "j k")}) {
    size_t matrix = std::min<size_t>(2, shape(x).size());
    size_t before = lists - (shape(x).size() - matrix);
    Sizes kept;
    std::string letters;
    for (size_t i = before; i < lists; ++i)
      if (const Polynomial &size = shape(x)[i - before];
          size == shape(node.out())[i]) {
        kept.push_back(size);
        letters += all.substr(2 * i, 2);
      }
    kept.insert(kept.end(), shape(x).end() - matrix, shape(x).end());
    operands.push_back({kept, letters + own});
  }
  Step &made = steps.add(Step::Form_, "", {a, b});
  std::string texts;
  for (size_t i = 0; i < 2; ++i) {
    std::string text = "%" + std::to_string(i);
    if (operands[i].first.size() != shape(made.ins[i]).size()) {
      text = "reshape(" + text + ", #" + std::to_string(made.arguments.size()) +
             ")";
      made.putSizes(operands[i].first);
    }
    texts += ", " + text;
  }
  made.fn = "einsum(\"" + operands[0].second + ", " + operands[1].second +
            " -> " + all +
            (isRow      ? ""
             : isColumn ? "i"
                        : "i ") +
            (isColumn ? "" : "k") + "\"" + texts + ")";
  values.labels(node.out()).assign(shape(node.out()).size(), "");
}

void ProductTranslator::addProduct() {
  int product = values.another(node.out());
  steps.add(Step::Infix, "@", {node.in(1), node.in(2)}).outs = {product};
  values.labels(product).assign(shape(product).size(), "");
  int summand = node.in(0);
  if (double share = node.real("beta", 1); share != 1) {
    summand = steps.make("%0 * #0", {summand}, shape(summand));
    steps.last().put("", "scale", realText(share));
  }
  if (double scale = node.real("alpha", 1); scale != 1) {
    product = steps.make("%0 * #0", {product}, shape(product));
    steps.last().put("", "scale", realText(scale));
  }
  if (arithmetic.addMask(product, summand))
    return;
  Step &made = steps.add(Step::Form_, "", {product, summand});
  made.fn = "%0 + " + steps.expanded(summand, 1, "%0", &made);
}
