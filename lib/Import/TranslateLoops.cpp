// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops over the first axis of sequences.

#include "lib/Import/Expression.h"
#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void LoopTranslator::addTo(Handlers &handlers) {
  add(handlers, this, {{"higher_order.scan", &LoopTranslator::loop}});
}

size_t LoopTranslator::readCarried() {
  if (!node->body)
    node.refuse("it has no body", Refusal::Contradiction);
  const GraphBody &body = *node->body;
  const Json *stated = node.setting("carried");
  if (!stated)
    node.refuse("it does not say how many values it carries",
                Refusal::Contradiction);
  size_t carried = size_t(node.integerFrom(*stated)), ins = node->ins.size(),
         outs = node->outs.size();
  if (ins != body.ins.size() || outs != body.outs.size() || carried > ins ||
      carried > outs)
    node.refuse("what it carries, takes and makes does not go with its body",
                Refusal::Contradiction);
  if (carried == ins)
    node.refuse("no sequence says how often it runs");
  return carried;
}

void LoopTranslator::wantShape(int value, llvm::ArrayRef<Polynomial> wanted,
                               StringRef other) {
  if (llvm::ArrayRef<Polynomial>(shape(value)) != wanted)
    node.refuse("`" + values.at(value).name + "` is [" +
                    sizesText(shape(value)) + "] in its body, and " + other +
                    " is [" + sizesText(wanted) + "]",
                Refusal::Contradiction);
}

std::string LoopTranslator::labelOf(llvm::ArrayRef<int> sequences) {
  auto label = [&](int each) -> StringRef { return values.labels(each)[0]; };
  StringRef first = label(sequences[0]);
  if (isNamed(first) &&
      llvm::all_of(sequences, [&](int each) { return label(each) == first; }))
    return first.str();
  const Polynomial &size = shape(sequences[0])[0];
  std::string symbol = symbolsOf({size})[0];
  return symbol.empty() ? identifier("S" + size.str()) : symbol;
}

/// What the body of a loop reads that it does not make.
static std::vector<int> readOutside(const Step &loop) {
  std::set<int> made, seen;
  std::vector<int> read;
  auto add = [&](llvm::ArrayRef<int> values) {
    for (int each : values)
      if (!made.count(each) && seen.insert(each).second)
        read.push_back(each);
  };
  made.insert(loop.loop.states.begin(), loop.loop.states.end());
  made.insert(loop.loop.elements.begin(), loop.loop.elements.end());
  for (const Step &step : loop.inner) {
    add(step.ins);
    made.insert(step.outs.begin(), step.outs.end());
  }
  add(loop.loop.next);
  add(loop.loop.yielded);
  return read;
}

void LoopTranslator::loop() {
  const GraphNode &own = *node;
  size_t carried = readCarried();
  const GraphBody &body = *own.body;
  prepare(own);
  StepLoop loop;
  Polynomial trip = shape(node.in(carried)).front();
  std::vector<int> sequences;
  for (auto [i, value] : llvm::enumerate(body.ins)) {
    int in = node.in(i);
    bool isState = i < carried;
    wantShape(value, shape(in).from(!isState),
              isState ? "its first value" : "an element of its sequence");
    if (!isState && shape(in).front() != trip)
      node.refuse("its sequences have " + trip.str() + " and " +
                      shape(in).front().str() + " elements",
                  Refusal::Contradiction);
    (isState ? loop.states : loop.elements).push_back(value);
    if (!isState)
      sequences.push_back(in);
    llvm::ArrayRef<std::string> labels = values.labels(in).from(!isState);
    values.labels(value).assign(labels.begin(), labels.end());
  }
  loop.axis = labelOf(sequences);
  std::vector<int> results = body.outs;
  std::vector<Step> inner = steps.bodyOf([&] { translate(body); }, results);
  node.read(own);
  readCarried();
  std::vector<int> ins;
  for (unsigned i = 0; i < own.ins.size(); ++i)
    ins.push_back(node.in(i));
  Step &made = steps.add(Step::Loop, "scan", std::move(ins));
  made.outs = own.outs;
  for (auto [i, value] : llvm::enumerate(results)) {
    bool isState = i < carried;
    int out = own.outs[i];
    wantShape(value, shape(isState ? loop.states[i] : out).from(!isState),
              isState ? "what it carries" : "an element of its result");
    (isState ? loop.next : loop.yielded).push_back(value);
    values.labels(out) = values.labels(isState ? loop.states[i] : value);
    if (!isState)
      values.labels(out).insert(values.labels(out).begin(), loop.axis);
  }
  made.loop = std::move(loop);
  made.inner = std::move(inner);
  llvm::append_range(made.ins, readOutside(made));
}
