// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether netc makes of each step what the graph says that it is: the steps
// are elaborated as a net that returns all that they make.

#include "dialect/Net.h"
#include "dialect/Repetition.h"
#include "dialect/Shape.h"
#include "lib/Import/Step.h"
#include "lib/Import/Writer.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

namespace {
/// An error of elaboration.
struct FirstError {
  unsigned line = 0;
  std::string text;
};
} // namespace

static unsigned lineOf(mlir::Location location) {
  auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  return place ? place.getLine() : 0;
}

/// A specification that is no file. Null after an error.
static std::unique_ptr<Specification>
elaborate(const std::string &text, const Host &host, FirstError &problem) {
  FrontendOptions options = host.frontend;
  options.onRead = nullptr;
  options.bufferOf = [&](StringRef path) -> std::optional<std::string> {
    if (path != "graph.net")
      return std::nullopt;
    return text;
  };
  mlir::ScopedDiagnosticHandler collect(
      host.context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            problem.text.empty())
          problem = {lineOf(diagnostic.getLocation()), diagnostic.str()};
        return mlir::success();
      });
  return Specification::load(host.context, "graph.net", options);
}

static NetworkOp networkOf(Specification &specification) {
  return *specification.module().getOps<NetworkOp>().begin();
}

/// The ops of a network, without the names of weights and what is recomputed,
/// in no order.
static std::vector<std::string> opsOf(NetworkOp network) {
  std::vector<std::string> ops;
  network.walk([&](mlir::Operation *op) {
    if (mlir::isa<NetworkOp, ReturnOp>(op))
      return;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << op->getName();
    for (mlir::NamedAttribute each : op->getAttrs())
      if (each.getName() != "name" && each.getName() != kRecomputed)
        os << ' ' << each.getName().getValue() << '=' << each.getValue();
    for (mlir::Type type : op->getOperandTypes())
      os << ' ' << type;
    os << " ->";
    for (mlir::Type type : op->getResultTypes())
      os << ' ' << type;
    ops.push_back(std::move(text));
  });
  llvm::sort(ops);
  return ops;
}

static std::string sizesShown(const Sizes &sizes) {
  return "[" + sizesText(sizes) + "]";
}
static std::string sizesShown(llvm::ArrayRef<Sizes> several) {
  std::vector<std::string> texts;
  for (const Sizes &each : several)
    texts.push_back(sizesShown(each));
  return several.empty() ? "none" : llvm::join(texts, ", ");
}
static Sizes sizesOf(mlir::Type type) {
  Shape shape = shapeOf(type);
  return {shape.sizes.begin(), shape.sizes.end()};
}

/// How many numbers learn, and how many do not.
static std::pair<Polynomial, Polynomial>
count(llvm::ArrayRef<std::pair<Sizes, bool>> weights) {
  Polynomial learned = 0, fixed = 0;
  for (auto &[sizes, learns] : weights)
    (learns ? learned : fixed) += elements(sizes);
  return {learned, fixed};
}

/// What netc makes of a step, against what the graph says.
static void compare(const Graph &graph, const Step &step,
                    llvm::ArrayRef<std::pair<Sizes, bool>> made) {
  std::vector<std::pair<Sizes, bool>> wanted;
  for (int weight : step.weights)
    if (!graph.values[weight].isState)
      wanted.emplace_back(graph.shape(weight), graph.values[weight].learns);
  if (count(wanted) == count(made))
    return;
  auto sizes = [](auto &list) {
    std::vector<Sizes> all;
    for (auto &each : list)
      all.push_back(each.first);
    return sizesShown(all);
  };
  throw contradiction(graph, step,
                      "its weights are " + sizes(wanted) +
                          " in the graph, and would be " + sizes(made) +
                          " for what goes in and comes out");
}

/// The axes that an op works over; none if it has no such attribute.
static std::vector<int64_t> axesOf(mlir::Operation &op) {
  if (auto axis = op.getAttrOfType<mlir::IntegerAttr>("over"))
    return {axis.getInt()};
  if (auto axes = op.getAttrOfType<mlir::DenseI64ArrayAttr>("over"))
    return axes.asArrayRef();
  return {};
}

Refusal netc::import::contradiction(const Graph &graph, const Step &step,
                                    std::string why) {
  Refusal refusal;
  refusal.kind = Refusal::Contradiction;
  refusal.op = step.node < 0 ? step.fn : graph.nodes[step.node].op;
  refusal.module = step.module < 0 ? "" : graph.modules[step.module].path;
  refusal.line = step.line;
  refusal.why = std::move(why);
  return refusal;
}

/// What is said of an input with an axis that is computed of others.
static std::optional<std::string> inputOfOtherSizes(const Graph &graph) {
  for (int input : graph.inputs())
    for (auto [size, symbol] :
         llvm::zip_equal(graph.shape(input), symbolsOf(graph.shape(input))))
      if (!size.isConstant() && symbol.empty())
        return "`" + graph.values[input].name + "` is " +
               sizesShown(graph.shape(input)) +
               ", and an axis of what goes in is a number, or free by itself; "
               "`axes` of `from_torch` can fix it";
  return std::nullopt;
}

std::vector<std::string> netc::import::checkSteps(const Graph &graph,
                                                  llvm::ArrayRef<Step> steps,
                                                  const Host &host) {
  if (steps.empty())
    return {};
  FlatNet flat = writeFlat(graph, steps);
  auto stepAt = [&](unsigned line) -> const Step & {
    auto after = llvm::upper_bound(flat.lines, line);
    return steps[after == flat.lines.begin()
                     ? 0
                     : size_t(after - flat.lines.begin()) - 1];
  };
  FirstError problem;
  std::unique_ptr<Specification> made = elaborate(flat.text, host, problem);
  if (!made) {
    if (problem.line < flat.lines.front())
      throw Refusal{"", "", "",
                    inputOfOtherSizes(graph).value_or(problem.text)};
    throw contradiction(graph, stepAt(problem.line),
                        "it does not go with its operands: " + problem.text);
  }
  NetworkOp network = networkOf(*made);
  std::map<const Step *, std::vector<std::pair<Sizes, bool>>> weights;
  for (ParameterOp each : network.getOps<ParameterOp>())
    weights[&stepAt(lineOf(each.getLoc()))].emplace_back(
        sizesOf(each.getType()), each.getTrainable());
  auto shown = [](const std::vector<int64_t> &axes) {
    return sizesShown(Sizes(axes.begin(), axes.end()));
  };
  for (mlir::Operation &op : network.getBody().front()) {
    const Step &step = stepAt(lineOf(op.getLoc()));
    std::vector<int64_t> made = axesOf(op);
    if (!made.empty() && !step.over.empty() && made != step.over)
      throw contradiction(graph, step,
                          "it works over the axes " + shown(step.over) +
                              " in the graph, and would work over " +
                              shown(made));
  }
  std::set<std::string> known;
  for (const Step &step : steps)
    if (step.form != Step::Instance || known.insert(step.weight).second ||
        step.weight.empty())
      compare(graph, step, weights[&step]);
  auto returned =
      mlir::cast<ReturnOp>(network.getBody().front().getTerminator());
  for (auto [value, type] :
       llvm::zip_equal(flat.values, returned.getOperandTypes())) {
    Sizes sizes = sizesOf(type);
    if (sizes == graph.shape(value))
      continue;
    for (const Step &step : steps)
      if (llvm::is_contained(step.outs, value))
        throw contradiction(graph, step,
                            "`" + graph.values[value].name + "` is " +
                                sizesShown(graph.shape(value)) +
                                " in the graph, and would be " +
                                sizesShown(sizes) + " for what goes in");
  }
  return opsOf(network);
}

std::string netc::import::elaborationError(const std::string &text,
                                           const Host &host) {
  FirstError problem;
  return elaborate(text, host, problem) ? "" : problem.text;
}

bool netc::import::hasOps(const std::string &text,
                          llvm::ArrayRef<std::string> ops, const Host &host) {
  FirstError problem;
  std::unique_ptr<Specification> made = elaborate(text, host, problem);
  return made && llvm::equal(opsOf(networkOf(*made)), ops);
}
