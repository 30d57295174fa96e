// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Import/Graph.h"

#include "lib/Program/Slot.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

Polynomial netc::import::elements(const Sizes &sizes) {
  Polynomial count = 1;
  for (const Polynomial &size : sizes)
    count *= size;
  return count;
}

std::set<std::string> Graph::freeAxes() const {
  std::set<std::string> names;
  for (const GraphValue &value : values)
    if (value.kind == GraphValue::Input)
      for (const Polynomial &size : value.shape)
        if (size == Polynomial::symbol(size.str()))
          names.insert(size.str());
  return names;
}

std::vector<int> Graph::inputs() const {
  std::vector<int> found;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].kind == GraphValue::Input && values[i].isRead)
      found.push_back(int(i));
  return found;
}

std::vector<int> GraphNode::reads() const {
  std::vector<int> all = ins;
  if (body)
    llvm::append_range(all, body->outs);
  return all;
}

static void addNodes(const std::vector<GraphNode> &nodes,
                     std::vector<const GraphNode *> &all) {
  for (const GraphNode &each : nodes) {
    if (each.body)
      addNodes(each.body->nodes, all);
    all.push_back(&each);
  }
}

std::vector<const GraphNode *> Graph::allNodes() const {
  std::vector<const GraphNode *> all;
  addNodes(nodes, all);
  return all;
}

namespace {
/// What is wrong with a graph, and where in it.
struct WrongGraph {
  std::string where, what;
};

class GraphReader {
public:
  explicit GraphReader(const Json &root) : root(root) {}

  Graph read() {
    if (member(root, "netc_graph", "") != 1)
      throw WrongGraph{"netc_graph", "it is 1 in what netc reads"};
    graph.name = text(root, "name", "");
    graph.from = text(root, "from", "");
    if (root.contains("notes"))
      each(root, "notes", "", [&](const Json &entry, const std::string &where) {
        if (!entry.is_string())
          throw WrongGraph{where, "a text is expected, not " + shown(entry)};
        graph.notes.push_back(entry.get<std::string>());
      });
    if (root.contains("symbols"))
      checkBounds(root["symbols"]);
    each(root, "inputs", "", [&](const Json &entry, const std::string &where) {
      add(GraphValue::Input, entry, where);
    });
    each(root, "weights", "", [&](const Json &entry, const std::string &where) {
      GraphValue &value = add(GraphValue::Weight, entry, where);
      value.learns = given(entry, "learns", true, where);
      value.isState = given(entry, "state", false, where);
      value.init = initOf(entry, where);
    });
    each(root, "known", "", [&](const Json &entry, const std::string &where) {
      word(entry, "what", where,
           {"number", "size", "range", "causal", "band", "not causal",
            "not band", "identity", "not identity", "cosine", "sine", "bucket",
            "table"});
      initOf(entry, where);
      given(entry, "theta", 1e4, where);
      for (const char *name : {"buckets", "distance", "width"})
        given(entry, name, int64_t(), where);
      given(entry, "causal", false, where);
      if (given(entry, "scaled", false, where))
        graph.note("Angles of positions are those of one `theta` here, and the "
                   "model scales some of them; no count depends on these.");
      GraphValue &value = add(GraphValue::Known, entry, where);
      value.known = &entry;
      if (entry["what"] == "number")
        member(entry, "value", where);
      if (entry["what"] == "size")
        value.size = size(member(entry, "size", where), at(where, "size"));
    });
    each(root, "modules", "", [&](const Json &entry, const std::string &where) {
      graph.modules.push_back({text(entry, "path", where),
                               text(entry, "class", where),
                               given(entry, "recomputed", false, where)});
    });
    each(root, "nodes", "", [&](const Json &entry, const std::string &where) {
      graph.nodes.push_back(node(entry, where, int(graph.nodes.size())));
    });
    each(root, "outputs", "", [&](const Json &entry, const std::string &where) {
      graph.outputs.emplace_back(text(entry, "name", where),
                                 find(text(entry, "value", where), where));
    });
    if (graph.outputs.empty())
      throw WrongGraph{"outputs", "there is none"};
    checkSymbols();
    return std::move(graph);
  }

private:
  static std::string at(const std::string &where, StringRef name) {
    return where.empty() ? name.str() : where + "." + name.str();
  }

  static const Json &member(const Json &object, const char *name,
                            const std::string &where) {
    if (!object.is_object())
      throw WrongGraph{where, "an object is expected, not " + shown(object)};
    auto found = object.find(name);
    if (found == object.end())
      throw WrongGraph{at(where, name), "it is not there"};
    return *found;
  }

  static std::string text(const Json &object, const char *name,
                          const std::string &where) {
    const Json &value = member(object, name, where);
    if (!value.is_string())
      throw WrongGraph{at(where, name),
                       "a text is expected, not " + shown(value)};
    return value.get<std::string>();
  }

  static std::string word(const Json &object, const char *name,
                          const std::string &where,
                          llvm::ArrayRef<StringRef> words) {
    std::string word = text(object, name, where);
    if (!llvm::is_contained(words, word))
      throw WrongGraph{at(where, name), "one of " + llvm::join(words, ", ") +
                                            " is expected, not " +
                                            shown(object[name])};
    return word;
  }

  /// A member that may be left out.
  template <typename T>
  static T given(const Json &object, const char *name, T otherwise,
                 const std::string &where) {
    auto found = object.find(name);
    if (found == object.end())
      return otherwise;
    bool isRight = std::is_same_v<T, bool>       ? found->is_boolean()
                   : std::is_integral_v<T>       ? found->is_number_integer()
                   : std::is_floating_point_v<T> ? found->is_number()
                                                 : found->is_string();
    if (!isRight)
      throw WrongGraph{at(where, name),
                       "a value of another type is expected, not " +
                           shown(*found)};
    return found->get<T>();
  }

  /// How a tensor is filled; empty where that is not told.
  static std::string initOf(const Json &object, const std::string &where) {
    std::string init = given(object, "init", std::string(), where);
    if (!init.empty() && !program::initOf(init))
      throw WrongGraph{at(where, "init"),
                       "nothing is filled as " + shown(object["init"])};
    return init;
  }

  template <typename Visit>
  void each(const Json &object, const char *name, const std::string &where,
            Visit visit) {
    const Json &list = member(object, name, where);
    if (!list.is_array())
      throw WrongGraph{at(where, name),
                       "a list is expected, not " + shown(list)};
    for (size_t i = 0; i < list.size(); ++i)
      visit(list[i], at(where, name) + "[" + std::to_string(i) + "]");
  }

  static Polynomial size(const Json &value, const std::string &where) {
    if (value.is_number_integer() && value >= 0 && value <= (int64_t(1) << 40))
      return value.get<int64_t>();
    std::optional<Polynomial> parsed;
    if (value.is_string()) {
      std::string compact = value.get<std::string>();
      parsed = Polynomial::parse(compact);
    }
    if (!parsed || !parsed->isValid())
      throw WrongGraph{where, "a size is a whole number up to 2^40, or a "
                              "polynomial such as `2*T`, not " +
                                  shown(value)};
    return *parsed;
  }

  static void checkBounds(const Json &symbols) {
    if (!symbols.is_object())
      throw WrongGraph{"symbols",
                       "an object is expected, not " + shown(symbols)};
    for (auto &[name, bounds] : symbols.items()) {
      std::string where = at("symbols", name);
      if (!bounds.is_object())
        throw WrongGraph{where, "an object is expected, not " + shown(bounds)};
      int64_t least = given(bounds, "min", int64_t(0), where),
              most = given(bounds, "max", std::numeric_limits<int64_t>::max(),
                           where);
      if (least > most)
        throw WrongGraph{where, "no size is from " + std::to_string(least) +
                                    " to " + std::to_string(most)};
    }
  }

  /// A free axis is an axis of an input.
  void checkSymbols() {
    std::set<std::string> free = graph.freeAxes();
    std::string names = free.empty() ? "no axis of an input is free"
                                     : "the free axes of the inputs are " +
                                           llvm::join(free, ", ");
    for (const GraphValue &value : graph.values) {
      Sizes sizes = value.shape;
      sizes.push_back(value.size);
      for (const Polynomial &size : sizes)
        for (const std::string &symbol : size.symbols())
          if (!free.count(symbol))
            throw WrongGraph{"nodes", "`" + shownName(value.name) +
                                          "` has the size `" + size.str() +
                                          "`, and " + names};
    }
  }

  GraphValue &add(GraphValue::Kind kind, const Json &entry,
                  const std::string &where) {
    GraphValue value;
    value.kind = kind;
    value.name = text(entry, "name", where);
    value.type = word(
        entry, "type", where,
        {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"});
    each(entry, "shape", where,
         [&](const Json &axis, const std::string &place) {
           value.shape.push_back(size(axis, place));
         });
    if (value.shape.size() > 64)
      throw WrongGraph{where, "a tensor has 64 axes at most"};
    if (!byName.try_emplace(value.name, int(graph.values.size())).second)
      throw WrongGraph{where, "`" + shownName(value.name) + "` is there twice"};
    value.labels.resize(value.shape.size());
    graph.values.push_back(std::move(value));
    return graph.values.back();
  }

  int find(const std::string &name, const std::string &where) {
    auto found = byName.find(name);
    if (found == byName.end())
      throw WrongGraph{where,
                       "nothing before it is called `" + shownName(name) + "`"};
    return found->second;
  }

  GraphNode node(const Json &entry, const std::string &where, int number) {
    GraphNode node;
    node.number = number;
    node.op = text(entry, "op", where);
    node.line = given(entry, "line", std::string(), where);
    node.with = &member(entry, "with", where);
    if (!node.with->is_object())
      throw WrongGraph{at(where, "with"), "an object is expected"};
    each(entry, "in", where, [&](const Json &name, const std::string &place) {
      if (name.is_null())
        node.ins.push_back(-1);
      else if (name.is_string())
        node.ins.push_back(find(name.get<std::string>(), place));
      else
        throw WrongGraph{place,
                         "a name or null is expected, not " + shown(name)};
    });
    each(entry, "module", where,
         [&](const Json &index, const std::string &place) {
           if (!index.is_number_unsigned() || index >= graph.modules.size())
             throw WrongGraph{place, "the place of a module in `modules` is "
                                     "expected, not " +
                                         shown(index)};
           int module = index.get<int>();
           GraphModule &entered = graph.modules[module];
           if (module == node.module ||
               (entered.parent >= 0 && entered.parent != node.module))
             throw WrongGraph{place, "a module is in one other"};
           entered.parent = node.module;
           node.module = module;
         });
    if (entry.contains("body"))
      node.body = body(entry["body"], at(where, "body"), number);
    node.outs = made(entry, "out", where);
    if (node.outs.empty())
      throw WrongGraph{at(where, "out"), "a node makes something"};
    if (node.body) {
      wantTypes(node.body->ins, node.ins, at(at(where, "body"), "inputs"));
      wantTypes(node.body->outs, node.outs, at(at(where, "body"), "outputs"));
    }
    return node;
  }

  /// Values of a body have the types of those outside that they are of.
  void wantTypes(llvm::ArrayRef<int> inside, llvm::ArrayRef<int> outside,
                 const std::string &where) {
    for (auto [i, pair] : llvm::enumerate(llvm::zip(inside, outside))) {
      auto [own, other] = pair;
      if (other >= 0 && graph.values[own].type != graph.values[other].type)
        throw WrongGraph{where + "[" + std::to_string(i) + "]",
                         "`" + graph.values[own].name + "` is " +
                             graph.values[own].type + ", and `" +
                             graph.values[other].name + "` is " +
                             graph.values[other].type};
    }
  }

  /// Values that a list describes.
  StatedList<int> made(const Json &object, const char *name,
                       const std::string &where) {
    StatedList<int> values;
    each(object, name, where, [&](const Json &entry, const std::string &place) {
      values.push_back(int(graph.values.size()));
      add(GraphValue::Made, entry, place);
    });
    return values;
  }

  /// What it makes is not there outside of it.
  std::shared_ptr<GraphBody> body(const Json &entry, const std::string &where,
                                  int number) {
    size_t first = graph.values.size();
    auto body = std::make_shared<GraphBody>();
    body->ins = made(entry, "inputs", where);
    each(entry, "nodes", where, [&](const Json &inner, const std::string &at) {
      body->nodes.push_back(node(inner, at, number));
    });
    each(entry, "outputs", where, [&](const Json &name, const std::string &at) {
      if (!name.is_string())
        throw WrongGraph{at, "a name is expected, not " + shown(name)};
      body->outs.push_back(find(name.get<std::string>(), at));
    });
    for (size_t i = first; i < graph.values.size(); ++i)
      byName.erase(graph.values[i].name);
    return body;
  }

  const Json &root;
  Graph graph;
  std::map<std::string, int> byName;
};
} // namespace

std::optional<Graph> netc::import::readGraph(StringRef path,
                                             const Document &document,
                                             const Host &host) {
  try {
    return GraphReader(document.root).read();
  } catch (const WrongGraph &wrong) {
    StringRef key = StringRef(wrong.where).split('.').first.split('[').first;
    auto place = document.places.find(key);
    auto [line, column] =
        place == document.places.end() ? std::make_pair(1u, 1u) : place->second;
    host.report({path.str(), line, column,
                 error::GraphWrong(shownName(wrong.where), wrong.what)});
    return std::nullopt;
  }
}
