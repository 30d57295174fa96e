// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/SubstituteAxes.h"
#include "mlir/IR/Verifier.h"

#include <map>
#include <set>

using namespace netc;
using namespace mlir;

namespace netc {
#define GEN_PASS_DEF_BINDAXES
#include "lib/Transforms/Passes.h.inc"
} // namespace netc

namespace {
using Sizes = std::map<std::string, Rational, std::less<>>;

struct BindAxes : netc::impl::BindAxesBase<BindAxes> {
  using BindAxesBase::BindAxesBase;

  void runOnOperation() override {
    Sizes given;
    for (StringRef text : axes) {
      auto [axis, size] = text.split('=');
      std::optional<Rational> value = Rational::parse(size);
      if (!value || !(*value > 0)) {
        emitError(getOperation().getLoc())
            << "`" << text << "` does not give an axis a size, as `N=8` does";
        return signalPassFailure();
      }
      given[axis.str()] = *value;
    }
    bool isFine = true;
    for (auto step : getOperation().getOps<StepOp>()) {
      std::set<std::string> free;
      isFine &= succeeded(bind(step, given, free));
      auto examples = given.find(kBatchAxis);
      bindBatch(step, examples == given.end() ? RunFacts::Number()
                                              : examples->second);
      for (const std::string &axis : free) {
        emitError(step.getLoc(), error::FreeAxis, step.getSymName(), axis);
        isFine = false;
      }
    }
    // The step has better errors for the networks that it uses.
    for (auto network : getOperation().getOps<NetworkOp>()) {
      std::set<std::string> free;
      isFine = isFine && succeeded(bind(network, given, free));
    }
    if (!isFine)
      signalPassFailure();
  }

  /// Refuses sizes that are too large for any tensor.
  static LogicalResult checkInputs(NetworkOp) { return success(); }
  static LogicalResult checkInputs(StepOp step) {
    for (auto [name, input] :
         llvm::zip_equal(step.getInputs(), step.getBlock().getArguments())) {
      if (!shapeOf(input).invalidAxis())
        continue;
      Polynomial bytes = shapeOf(input).elements() * bytesOf(elementOf(input));
      std::optional<Rational> count = bytes.constant();
      return emitError(step.getLoc(), error::InputTooLarge, step.getSymName(),
                       count && count->isValid() ? count->str() : "over 2^63",
                       cast<StringAttr>(name).getValue());
    }
    return success();
  }

  /// Makes the batch of a step whole. `given` replaces the specification's.
  static void bindBatch(StepOp step, const RunFacts::Number &given) {
    RunFacts facts = step.getRun().getFacts();
    if (given)
      facts.batch = given;
    if (!facts.batch)
      return;
    facts.batch = facts.batch->ceil();
    step.setRunAttr(RunAttr::get(step.getContext(), facts));
  }

  /// The verifier would report the same error in terms of the dialect.
  static LogicalResult checkTensor(Location loc, Value tensor) {
    Shape shape = shapeOf(tensor);
    std::optional<size_t> wrong = shape.invalidAxis();
    if (!wrong)
      return success();
    const Polynomial &size = shape[*wrong];
    return emitError(loc) << "a tensor here has size "
                          << (size.isValid() ? size.str() : "over 2^63")
                          << " along axis " << *wrong
                          << "; a size is a whole number from 1 to 2^40";
  }

  template <typename GraphOp> static LogicalResult checkTensors(GraphOp graph) {
    WalkResult result = graph.walk([&](Block *block) {
      for (Value argument : block->getArguments())
        if (failed(checkTensor(argument.getLoc(), argument)))
          return WalkResult::interrupt();
      for (Operation &op : *block)
        for (Value made : op.getResults())
          if (failed(checkTensor(op.getLoc(), made)))
            return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Adds the axes without a size to `free`.
  template <typename GraphOp>
  LogicalResult bind(GraphOp graph, Sizes sizes, std::set<std::string> &free) {
    for (NamedAttribute axis : graph.getAxes())
      if (auto moments = dyn_cast<MomentsAttr>(axis.getValue()))
        sizes.try_emplace(axis.getName().str(), moments.getValue().mean());
    for (auto &[axis, size] : sizes) {
      if (size.isInteger())
        continue;
      emitRemark(graph.getLoc()) << "axis `" << axis << "` is " << size.str()
                                 << " and bound to " << size.ceil().str();
      size = size.ceil();
    }

    substituteAxes(graph, [&](StringRef axis) -> std::optional<Polynomial> {
      if (auto found = sizes.find(axis); found != sizes.end())
        return found->second;
      free.insert(axis.str());
      return std::nullopt;
    });
    graph.setAxesAttr(DictionaryAttr::get(&getContext()));
    if (failed(checkInputs(graph)))
      return failure();
    // Sizes that do not fit together here may do so for other values.
    ScopedDiagnosticHandler notes(&getContext(), [&](Diagnostic &error) {
      Diagnostic &note = error.attachNote(graph.getLoc());
      note << "in `" << graph.getSymName() << "`, where ";
      llvm::interleaveComma(sizes, note, [&](auto &size) {
        note << "`" << size.first << "` is " << size.second.str();
      });
      return failure(); // the next handler prints it
    });
    return success(succeeded(checkTensors(graph)) && succeeded(verify(graph)));
  }
};
} // namespace
