// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Export/GraphWriter.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace mlir;
using Tensor = ForeignTensor;

void GraphWriter::scan(ScanOp scan) {
  constexpr int64_t mostUnrolled = 1024;
  std::optional<int64_t> steps = scan.getTrip().getValue().toInt64();
  if (steps && *steps <= mostUnrolled)
    unroll(scan, *steps);
  else
    loop(scan);
}

void GraphWriter::unroll(ScanOp scan, int64_t steps) {
  auto arguments = scan.getBlock().getArguments();
  size_t sequences = scan.getSequences().size(), outs = scan.getNumOutputs();
  Tensors carried = get(scan.getInits());
  std::vector<Tensors> stacked(outs, Tensors(steps)), elements;
  // The gradients of all parts of one op are put together, not added.
  for (auto [value, axis] : llvm::zip(scan.getSequences(), scan.getAxes())) {
    Tensor x = get(value);
    Shape part = x.shape;
    part[axis] = 1;
    elements.push_back(make(
        "aten.split_with_sizes", {x},
        {{"split_sizes", json(SmallVector<int64_t>(steps, 1))}, {"dim", axis}},
        SmallVector<RankedTensorType>(steps, tensorOf(x.element, part))));
  }
  for (int64_t step = 0; step < steps; ++step) {
    int64_t at = scan.getReversed() ? steps - 1 - step : step;
    op = scan;
    for (size_t i = 0; i < sequences; ++i)
      set(arguments[i], view(elements[i][at], shapeOf(arguments[i])));
    for (size_t i = 0; i < carried.size(); ++i)
      set(arguments[sequences + i], carried[i]);
    for (Operation &each : scan.getBlock().without_terminator())
      writeOp(each);
    op = scan;
    Tensors made = get(scan.getYield().getValues());
    for (size_t i = 0; i < outs; ++i)
      stacked[i][at] = made[i];
    carried.assign(made.begin() + outs, made.end());
  }
  for (size_t i = 0; i < outs; ++i)
    set(scan.getResult(i),
        make("aten.stack", stacked[i], {{"dim", scan.getOutAxes()[i]}},
             shapeOf(scan.getResult(i))));
  for (size_t i = 0; i < carried.size(); ++i)
    set(scan.getResult(outs + i), carried[i]);
}

void GraphWriter::loop(ScanOp scan) {
  auto arguments = scan.getBlock().getArguments();
  size_t sequences = scan.getSequences().size(), outs = scan.getNumOutputs();
  auto inOrder = [&](Tensor x) {
    return scan.getReversed() ? flip(std::move(x), 0) : x;
  };
  Tensors ins = get(scan.getInits());
  for (auto [value, axis] : llvm::zip(scan.getSequences(), scan.getAxes()))
    ins.push_back(inOrder(move(get(value), axis, 0)));

  // What the body computes of outer tensors stays in the body.
  auto outerTensors = tensors;
  llvm::json::Array outerNodes = std::exchange(nodes, {});
  llvm::json::Array inputs, outputs;
  auto take = [&](ValueRange values, StringRef what) {
    for (mlir::Value value : values) {
      set(value, {unique((nameOf(scan) + "." + what).str()), elementOf(value),
                  shapeOf(value)});
      inputs.push_back(describe(get(value)));
    }
  };
  take(arguments.drop_front(sequences), "carried");
  take(arguments.take_front(sequences), "element");
  for (Operation &each : scan.getBlock().without_terminator())
    writeOp(each);
  op = scan;
  Tensors made = get(scan.getYield().getValues());
  std::rotate(made.begin(), made.begin() + outs, made.end());
  for (const Tensor &each : made)
    outputs.push_back(each.name);
  llvm::json::Object body{
      {"inputs", std::move(inputs)},
      {"nodes", std::exchange(nodes, std::move(outerNodes))},
      {"outputs", std::move(outputs)}};
  tensors = std::move(outerTensors);

  Tensors results;
  auto add = [&](mlir::Value value, Shape shape) {
    results.push_back({unique(nameOf(scan).str()), elementOf(value), shape});
  };
  auto values = scan.getResults();
  for (mlir::Value value : values.drop_front(outs))
    add(value, shapeOf(value));
  for (auto [value, axis] : llvm::zip(values, scan.getOutAxes()))
    add(value, permuted(shapeOf(value), moved(axis, 0, shapeOf(value).rank())));
  size_t carried = values.size() - outs;
  addNode("higher_order.scan", ins, {{"carried", int64_t(carried)}}, results);
  (*nodes.back().getAsObject())["body"] = std::move(body);
  for (auto [i, value] : llvm::enumerate(values.drop_front(outs)))
    set(value, results[i]);
  for (auto [i, axis] : llvm::enumerate(scan.getOutAxes()))
    set(values[i], move(inOrder(results[carried + i]), 0, axis));
}
