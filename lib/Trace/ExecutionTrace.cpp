// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Trace/ExecutionTrace.h"

#include "lib/Trace/Formats.h"
#include "lib/Trace/Json.h"

#include "llvm/ADT/STLExtras.h"

#include <unordered_map>

using namespace netc;
using namespace netc::trace;
using llvm::StringRef;

namespace {
/// The ids of an op and of its parent in the tree of the trace.
struct TreePosition {
  int64_t id = 0, parent = 0;
};

/// Reads nodes that have `inputs`, `input_shapes` and `input_types`. Since
/// schema 1.1 `inputs` has `values`, `shapes` and `types`, and other members
/// are in `attrs`.
class ExecutionReader : public JsonReader {
public:
  ExecutionReader(Trace &trace, const TraceLimits &limits)
      : trace(trace), limits(limits) {}

  /// An execution trace has no times. Gives ops times that nest as the tree
  /// does: each begin and each end is one tick after the last.
  void layOut() {
    std::unordered_map<int64_t, uint32_t> byId;
    for (auto [i, place] : llvm::enumerate(places))
      byId.try_emplace(place.id, i);
    std::vector<uint32_t> order(places.size());
    for (auto [i, index] : llvm::enumerate(order))
      index = i;
    llvm::sort(order, [&](uint32_t i, uint32_t j) {
      return std::tie(places[i].id, i) < std::tie(places[j].id, j);
    });
    std::vector<std::vector<uint32_t>> children(places.size());
    std::vector<uint32_t> roots;
    for (uint32_t i : order) {
      auto parent = byId.find(places[i].parent);
      if (parent == byId.end() || parent->second == i)
        roots.push_back(i);
      else
        children[parent->second].push_back(i);
    }
    int64_t tick = 0;
    std::vector<bool> isPlaced(places.size());
    std::vector<std::pair<uint32_t, size_t>> open; // an op, and its next child
    for (uint32_t root : roots)
      for (open.push_back({root, 0}); !open.empty();) {
        auto [op, next] = open.back();
        if (next == 0) {
          trace.host[op].start = ++tick;
          isPlaced[op] = true;
        }
        if (next < children[op].size()) {
          ++open.back().second;
          open.push_back({children[op][next], 0});
        } else {
          trace.host[op].duration = ++tick - trace.host[op].start;
          open.pop_back();
        }
      }
    // Drop ops that are their own ancestors: they are below no root.
    size_t kept = 0;
    for (size_t i = 0; i < trace.host.size(); ++i)
      if (isPlaced[i])
        trace.host[kept++] = trace.host[i];
    trace.broken += trace.host.size() - kept;
    trace.host.resize(kept);
  }

private:
  enum Part { None, Values, Shapes, Types };

  bool isInNode() const { return depth() >= 3 && keyAt(1) == "nodes"; }

  Part part() const {
    if (!isInNode() || depth() < 4)
      return None;
    StringRef key = keyAt(3);
    if (key == "input_shapes")
      return Shapes;
    if (key == "input_types")
      return Types;
    if (key != "inputs")
      return None;
    if (keyAt(4).empty())
      return Values;
    return keyAt(4) == "values"   ? Values
           : keyAt(4) == "shapes" ? Shapes
           : keyAt(4) == "types"  ? Types
                                  : None;
  }
  /// The nesting within the inputs: 0 in the list of inputs, 1 in an input that
  /// is a list.
  size_t inside() const {
    return depth() - (keyAt(3) == "inputs" && !keyAt(4).empty() ? 5 : 4);
  }

  bool onOpen(bool isObject) override {
    if (isInNode() && depth() == 3 && isObject) {
      place = TreePosition();
      node = HostEvent();
      name.clear();
      isOp = true;
      shapes.clear();
      types.clear();
      values.clear();
    } else if (!isObject && part() == Shapes && inside() == 1) {
      shapes.emplace_back();
    } else if (!isObject && part() == Values && inside() == 1) {
      values.push_back("[");
    }
    return true;
  }

  bool onClose() override {
    if (isInNode() && depth() == 3)
      return commit();
    if (part() == Values && inside() == 1 && !values.empty())
      values.back() += "]";
    return true;
  }

  bool onScalar(StringRef text) override {
    if (!isInNode())
      return true;
    switch (part()) {
    case Values:
      if (inside() == 0)
        values.push_back(text.str());
      else if (inside() == 1 && !values.empty())
        values.back() += (values.back() == "[" ? "" : ", ") + text.str();
      return true;
    case Shapes:
      if (inside() == 1 && !shapes.empty())
        shapes.back().push_back(integerIn(text).value_or(-1));
      return true;
    case Types:
      if (inside() == 0)
        types.push_back(text.str());
      return true;
    case None:
      break;
    }
    if (depth() == 3)
      fact(keyAt(3), text);
    else if (depth() == 5 && keyAt(3) == "attrs" && keyAt(5) == "name")
      attribute = text.str();
    else if (depth() == 5 && keyAt(3) == "attrs" && keyAt(5) == "value")
      fact(attribute, text);
    return true;
  }

  void fact(StringRef key, StringRef text) {
    auto number = [&] { return integerIn(text).value_or(-1); };
    if (key == "name")
      name = text.str();
    else if (key == "id")
      place.id = number();
    else if (key == "parent" || key == "ctrl_deps")
      place.parent = number();
    else if (key == "rf_id")
      node.record = int32_t(number());
    else if (key == "seq_id")
      node.sequence = number();
    else if (key == "tid")
      thread = text.str();
    else if (key == "scope") // at::RecordScope::USER_SCOPE is 7
      isOp = text != "7";
  }

  bool commit() {
    ++trace.read;
    if (trace.host.size() >= limits.maxEvents)
      return stopAtTooMany();
    node.kind = isOp && !StringRef(name).starts_with("Optimizer.")
                    ? HostEvent::Op
                    : HostEvent::Annotation;
    node.name = trace.names.intern(name);
    trace.hasSequence |= node.sequence >= 0;
    auto [known, isNew] =
        threads.try_emplace(thread, uint32_t(trace.threads.size()));
    if (isNew)
      trace.threads.push_back({"", thread});
    node.thread = known->second;
    // The values of tensors are ids. Leave them out, as Kineto does.
    for (size_t i = 0; i < values.size() && i < types.size(); ++i)
      if (StringRef(types[i]).contains("Tensor"))
        values[i].clear();
    node.inputs =
        trace.addInputs({trace.addShapes(shapes), trace.addWords(types),
                         trace.addWords(values)});
    trace.host.push_back(node);
    places.push_back(place);
    return true;
  }

  Trace &trace;
  const TraceLimits &limits;
  TreePosition place;
  HostEvent node;
  bool isOp = true;
  std::string name, thread, attribute;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> types, values;
  std::vector<TreePosition> places; ///< parallel to Trace::host
  llvm::StringMap<uint32_t> threads;
};
} // namespace

llvm::Expected<Trace>
netc::trace::readExecutionTrace(Source &source, const TraceLimits &limits) {
  Trace trace;
  trace.hasTimes = false;
  ExecutionReader reader(trace, limits);
  if (llvm::Error error = reader.read(source, trace, limits))
    return error;
  reader.layOut();
  return trace;
}

size_t netc::trace::addShapes(Trace &trace, const Trace &execution) {
  std::unordered_map<int64_t, uint32_t> byRecord;
  for (auto [i, event] : llvm::enumerate(execution.host))
    if (event.record > 0)
      byRecord.try_emplace(event.record, i);
  size_t added = 0;
  for (HostEvent &event : trace.host) {
    // Kineto records the id of the record function since 2024. Before, its
    // external id was the same number.
    auto found =
        byRecord.find(event.record > 0 ? event.record : event.external);
    if (event.kind != HostEvent::Op || trace.inputsOf(event).shapes.size ||
        found == byRecord.end())
      continue;
    const HostEvent &from = execution.host[found->second];
    const Inputs &inputs = execution.inputsOf(from);
    if (execution.names[from.name] != trace.names[event.name])
      continue;
    std::vector<std::vector<int64_t>> shapes;
    for (unsigned i = 0; i < inputs.shapes.size; ++i)
      shapes.push_back(execution.shape(from, i).vec());
    std::vector<std::string> types, values;
    for (unsigned i = 0; i < inputs.types.size; ++i)
      types.push_back(execution.type(from, i).str());
    for (unsigned i = 0; i < inputs.values.size; ++i)
      values.push_back(execution.value(from, i).str());
    event.inputs =
        trace.addInputs({trace.addShapes(shapes), trace.addWords(types),
                         trace.addWords(values)});
    ++added;
  }
  return added;
}
