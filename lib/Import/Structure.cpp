// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Modules as blocks: those of one class whose steps are the same but for
// numbers are one block, whose settings these numbers are.

#include "lib/Import/Foreign.h"
#include "lib/Import/Reroll.h"
#include "lib/Import/Step.h"
#include "lib/Import/Writer.h"
#include "lib/Std/Std.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

namespace {
class Structure {
public:
  Structure(Graph &graph, std::vector<Step> steps, Structured finds)
      : graph(graph), steps(std::move(steps)), finds(finds) {}

  std::string write() {
    imports = importsOf(steps);
    if (finds == Structured::No)
      stays.assign(graph.modules.size(), false);
    else
      dissolve();
    do {
      bodies.clear();
      order.clear();
      blocks.clear();
      firstOfKind.clear();
      names = UniqueNames("");
      names.reserveAll(graph.freeAxes());
      for (int in : graph.inputs()) // such as H and W
        names.reserveAll(graph.values[in].labels);
      root = std::make_shared<StepBody>();
      for (const Step &step : steps)
        place(step);
      freezeWhole(*root);
      findEnds();
      define();
    } while (dissolveDiffering());
    return print();
  }

private:
  /// Chooses the calls of modules that stay: with several steps, of a class
  /// that is called more than once or recomputed, and with weights that no
  /// other has.
  void dissolve() {
    size_t count = graph.modules.size();
    std::vector<unsigned> ops(count);
    std::map<std::string, std::set<int>> calls;
    std::map<std::string, int> owner;
    stays.assign(count, true);
    for (const Step &step : steps) {
      std::vector<int> chain = ancestors(step.module);
      for (int module : chain) {
        ops[module] += !step.op.empty(); // weights are no ops
        calls[graph.modules[module].kind].insert(module);
      }
      if (step.weight.empty())
        continue;
      // A weight that two modules have is in what holds both.
      auto [found, isNew] = owner.try_emplace(step.weight, step.module);
      if (isNew)
        continue;
      std::vector<int> other = ancestors(found->second);
      for (int module : chain)
        if (!llvm::is_contained(other, module) &&
            graph.modules[module].path != pathOf(other, module))
          stays[module] = false;
      for (int module : other)
        if (!llvm::is_contained(chain, module) &&
            graph.modules[module].path != pathOf(chain, module))
          stays[module] = false;
    }
    for (const Step &step : steps)
      for (int in : step.ins)
        if (graph.values[in].kind == GraphValue::Weight &&
            owner.count(graph.values[in].name)) {
          std::vector<int> own = ancestors(owner[graph.values[in].name]),
                           chain = ancestors(step.module);
          for (int module : own)
            if (!llvm::is_contained(chain, module))
              stays[module] = false;
          for (int module : chain)
            if (!llvm::is_contained(own, module))
              stays[module] = false;
        }
    std::vector<bool> takes = taking();
    for (size_t i = 0; i < count; ++i)
      if (!takes[i] || (!graph.modules[i].isRecomputed &&
                        (ops[i] <= 1 || graph.modules[i].kind == "Sequential" ||
                         calls[graph.modules[i].kind].size() == 1)))
        stays[i] = false;
  }
  /// Dissolves modules whose calls are not alike, since an instance of a block
  /// has one form. Returns whether there is one.
  bool dissolveDiffering() {
    std::map<std::string, std::string> forms; // by paths and kinds
    std::set<std::string> differing;
    auto find = [&](auto &&self, const StepBody &body) -> void {
      for (const Step &step : body.steps) {
        if (!step.body)
          continue;
        std::string form = step.fn;
        for (const StepArgument &each : step.arguments)
          form += ", " + each.key + each.text;
        // An iteration has the path of a module in it.
        const std::string &path = step.body->path;
        std::string call = path + "\n" + step.body->kind;
        if (forms.try_emplace(call, form).first->second != form)
          differing.insert(path);
        self(self, *step.body);
      }
    };
    find(find, *root);
    for (auto [module, stay] : llvm::zip_equal(graph.modules, stays))
      if (differing.count(module.path))
        stay = false;
    return !differing.empty();
  }

  /// Whether modules read what is made outside of them. One that does not, such
  /// as a weight norm, is no block: it has nothing to be applied to.
  std::vector<bool> taking() const {
    std::vector<bool> takes(graph.modules.size());
    std::map<int, int> makers; // modules by values
    for (const Step &step : steps) {
      for (int in : step.ins) {
        auto maker = makers.find(in);
        std::vector<int> around;
        if (maker != makers.end())
          around = ancestors(maker->second);
        for (int module : ancestors(step.module))
          if (!llvm::is_contained(around, module))
            takes[module] = true;
      }
      for (int out : step.outs)
        makers[out] = step.module;
    }
    return takes;
  }
  /// The path of what is as deep in another chain, if it is of the same module.
  std::string pathOf(const std::vector<int> &chain, int module) const {
    for (int each : chain)
      if (graph.modules[each].path == graph.modules[module].path)
        return graph.modules[each].path;
    return "\n";
  }

  std::vector<int> ancestors(int module) const {
    std::vector<int> chain;
    for (; module >= 0; module = graph.modules[module].parent)
      chain.push_back(module);
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  void place(Step step) {
    std::shared_ptr<StepBody> at = root;
    for (int module : ancestors(step.module)) {
      if (!stays[module])
        continue;
      auto &body = bodies[module];
      if (!body) {
        body = std::make_shared<StepBody>();
        body->path = graph.modules[module].path;
        body->kind = graph.modules[module].kind;
        order.push_back(body);
        Step call;
        call.form = Step::Instance;
        call.fn = body->kind;
        call.module = module;
        call.body = body;
        call.isRecomputed = graph.modules[module].isRecomputed;
        at->steps.push_back(std::move(call));
      }
      at = body;
    }
    at->steps.push_back(std::move(step));
  }

  enum class Learning { Nothing, Some, None };
  /// A block of which nothing learns is frozen as a whole.
  Learning freezeWhole(StepBody &body) {
    std::set<bool> frozen;
    for (Step &step : body.steps) {
      Learning inner = step.body ? freezeWhole(*step.body) : Learning::Nothing;
      if (step.body)
        step.isFrozen = inner == Learning::None;
      if (step.body ? inner != Learning::Nothing : !step.weights.empty())
        frozen.insert(step.isFrozen || (step.isTensor() &&
                                        !graph.values[step.weights[0]].learns));
    }
    if (frozen.empty())
      return Learning::Nothing;
    if (frozen.count(false) || &body == root.get())
      return Learning::Some;
    for (Step &step : body.steps)
      step.isFrozen = false;
    return Learning::None;
  }

  /// What the bodies take and make.
  void findEnds() {
    std::map<int, unsigned> lastReads;
    unsigned place = 0;
    forEachLeaf(root->steps, [&](const Step &leaf) {
      for (int in : leaf.ins)
        lastReads[in] = place;
      ++place;
    });
    for (auto &output : graph.outputs)
      lastReads[output.second] = place;
    place = 0;
    ends(*root, lastReads, place);
    root->ins = graph.inputs();
  }
  /// Calls `visit` for each step without a body of its own, however deep.
  template <typename Visit>
  static void forEachLeaf(llvm::ArrayRef<Step> steps, Visit visit) {
    for (const Step &step : steps)
      if (step.body)
        forEachLeaf(step.body->steps, visit);
      else
        visit(step);
  }
  /// `place`: how many leaves precede the body, and with it on return.
  void ends(StepBody &body, const std::map<int, unsigned> &lastReads,
            unsigned &place) {
    for (Step &step : body.steps) {
      if (!step.body) {
        ++place;
        continue;
      }
      ends(*step.body, lastReads, place);
      body.height = std::max(body.height, step.body->height + 1);
      step.ins = step.body->ins;
      step.outs = step.body->outs;
    }
    std::set<int> made, seen, given;
    forEachLeaf(body.steps, [&](const Step &leaf) {
      made.insert(leaf.outs.begin(), leaf.outs.end());
    });
    std::set<StringRef> own = ownWeights(body);
    body.ins.clear();
    body.outs.clear();
    for (const Step &step : body.steps) {
      for (int in : step.ins)
        if (!made.count(in) && !isOwn(own, in) && seen.insert(in).second)
          body.ins.push_back(in);
      for (int out : step.outs) {
        auto read = lastReads.find(out);
        if (read != lastReads.end() && read->second >= place &&
            given.insert(out).second)
          body.outs.push_back(out);
      }
    }
  }
  /// The weights of the instances in the body, `wte.weight`.
  static std::set<StringRef> ownWeights(const StepBody &body) {
    std::set<StringRef> own;
    for (const Step &step : body.steps)
      if (step.form == Step::Instance && !step.body && !step.isTensor())
        own.insert(step.weight);
    return own;
  }
  bool isOwn(const std::set<StringRef> &own, int value) const {
    return graph.values[value].kind == GraphValue::Weight &&
           own.count(graph.values[value].name);
  }

  /// What calls of one block have in common.
  std::string skeleton(const StepBody &body) const {
    std::map<int, unsigned> places;
    for (int in : body.ins)
      places.try_emplace(in, places.size());
    forEachStep(body.steps, [&](const Step &step) {
      for (auto *made : {&step.loop.states, &step.loop.elements, &step.outs})
        for (int each : *made)
          places.try_emplace(each, places.size());
    });
    std::map<std::string, unsigned> weights;
    std::string text;
    llvm::raw_string_ostream os(text);
    auto name = [&](int value) {
      auto found = places.find(value);
      if (found != places.end())
        os << found->second << ',';
      else
        os << "w"
           << weights.try_emplace(graph.values[value].name, weights.size())
                  .first->second
           << ',';
    };
    forEachStep(body.steps, [&](const Step &step) {
      os << step.form << step.isFrozen << step.isRecomputed << step.fn << '|'
         << pathIn(body, step, graph) << '|' << step.labels << '|';
      if (!step.weight.empty())
        os << weights.try_emplace(step.weight, weights.size()).first->second
           << '|';
      llvm::for_each(step.ins, name);
      os << '>' << step.outs.size() << '|';
      for (const StepArgument &each : step.arguments)
        os << each.key << '=' << (each.isNumber ? "" : each.text) << ';';
      os << step.loop.axis;
      for (auto *each : {&step.loop.states, &step.loop.elements,
                         &step.loop.next, &step.loop.yielded}) {
        llvm::for_each(*each, name);
        os << '|';
      }
      os << '\n';
    });
    os << "returns ";
    for (int out : body.outs)
      os << places.at(out) << ',';
    return text;
  }
  /// Defines the blocks, those that are in others first.
  void define() {
    std::map<const StepBody *, Step *> callOf;
    auto find = [&](auto &&self, StepBody &body) -> void {
      for (Step &step : body.steps)
        if (step.body) {
          callOf[step.body.get()] = &step;
          self(self, *step.body);
        }
    };
    find(find, *root);
    for (unsigned height = 0; height <= root->height; ++height) {
      if (rerollLoops(height)) {
        findEnds();
        find(find, *root);
      }
      llvm::MapVector<std::string, std::vector<StepBody *>,
                      std::map<std::string, unsigned>>
          alike;
      for (auto &body : order)
        if (body->height == height)
          alike[body->kind + "\n" + skeleton(*body)].push_back(body.get());
      auto groups = alike.takeVector();
      llvm::stable_sort(groups, [](auto &a, auto &b) {
        return a.second.size() > b.second.size();
      });
      for (auto &[key, group] : groups)
        defineBlock(group, callOf);
    }
  }
  /// In bodies of this height, which become higher by it. Returns whether there
  /// are any.
  bool rerollLoops(unsigned height) {
    std::vector<std::shared_ptr<StepBody>> made;
    auto rerollIn = [&](StepBody &body) {
      if (body.height == height)
        llvm::append_range(made, reroll(graph, body));
    };
    if (finds == Structured::Loops) {
      for (auto &body : order)
        rerollIn(*body);
      rerollIn(*root);
    }
    for (auto &each : made) {
      each->height = height; // it is defined next
      order.push_back(each);
    }
    return !made.empty();
  }

  static void addArguments(std::vector<Step> &steps,
                           std::vector<StepArgument *> &arguments) {
    for (Step &step : steps) {
      addArguments(step.inner, arguments);
      for (StepArgument &each : step.arguments)
        arguments.push_back(&each);
    }
  }

  void defineBlock(std::vector<StepBody *> &group,
                   std::map<const StepBody *, Step *> &callOf) {
    StepBody &first = *group[0];
    WrittenBlock block;
    block.name = nameOf(first);
    block.body = &first;
    std::vector<std::vector<StepArgument *>> columns;
    for (StepBody *body : group) {
      std::vector<StepArgument *> arguments;
      addArguments(body->steps, arguments);
      columns.resize(arguments.size());
      for (auto [column, argument] : llvm::zip_equal(columns, arguments))
        column.push_back(argument);
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> settings;
    for (auto &column : columns) {
      if (llvm::all_of(column, [&](StepArgument *each) {
            return each->text == column[0]->text;
          }))
        continue;
      std::vector<std::string> texts;
      for (StepArgument *each : column)
        texts.push_back(each->text);
      std::string shown;
      for (auto &[name, known] : settings)
        if (std::optional<int64_t> factor = multiple(texts, known)) {
          shown = *factor == 1 ? name : std::to_string(*factor) + " * " + name;
          break;
        }
      if (shown.empty()) {
        std::string base = column[0]->name.empty() ? "size" : column[0]->name,
                    name = base;
        for (int i = 2; llvm::any_of(
                 settings, [&](auto &each) { return each.first == name; });
             ++i)
          name = base + std::to_string(i);
        settings.emplace_back(name, texts);
        shown = name;
      }
      for (StepArgument *each : column)
        each->shown = shown;
    }
    for (size_t i = 0; i < group.size(); ++i) {
      Step &call = *callOf.at(group[i]);
      call.fn = block.name;
      call.weight = group[i]->path;
      call.arguments.clear();
      for (size_t j = 0; j < settings.size(); ++j) {
        StepArgument given;
        given.key = j ? settings[j].first : "";
        given.name = settings[j].first;
        given.text = settings[j].second[i];
        call.arguments.push_back(given);
      }
    }
    for (auto &[name, values] : settings)
      block.settings.push_back(name);
    blocks.push_back(std::move(block));
  }

  /// What all of `a` are times those of `b`, a whole number.
  static std::optional<int64_t> multiple(const std::vector<std::string> &a,
                                         const std::vector<std::string> &b) {
    std::optional<int64_t> factor;
    for (size_t i = 0; i < a.size(); ++i) {
      int64_t x, y;
      if (a[i] == b[i] && (!factor || *factor == 1)) {
        factor = 1;
        continue;
      }
      if (StringRef(a[i]).getAsInteger(10, x) ||
          StringRef(b[i]).getAsInteger(10, y) || y == 0 || x % y ||
          (factor && *factor != x / y) || x < y)
        return std::nullopt;
      factor = x / y;
    }
    return factor;
  }

  /// The class; of another form of it, with the child that only this one has.
  std::string nameOf(const StepBody &body) {
    std::string name = isTaken(body.kind) ? body.kind + "Block" : body.kind;
    auto [base, isFirst] = firstOfKind.try_emplace(body.kind, &body);
    if (!isFirst) {
      std::set<std::string> own = children(body),
                            other = children(*base->second);
      for (const std::string &child : own)
        if (!other.count(child)) {
          for (StringRef rest = child, word; !rest.empty();) {
            word = rest.take_while(llvm::isAlnum);
            rest = rest.drop_front(std::min(word.size() + 1, rest.size()));
            if (!word.empty())
              name += llvm::toUpper(word[0]) + word.drop_front().str();
          }
          break;
        }
    }
    return names.unique(name);
  }
  std::set<std::string> children(const StepBody &body) const {
    std::set<std::string> names;
    for (const Step &step : body.steps) {
      std::string path = pathIn(body, step, graph);
      for (StringRef part : llvm::split(path, '.'))
        if (!part.empty() && !llvm::isDigit(part[0]))
          names.insert(part.str());
    }
    return names;
  }
  bool isTaken(StringRef name) const {
    auto isNamed = [&](const StandardBlock &block) {
      return block.name == name;
    };
    return llvm::any_of(standardBlocks(), isNamed) ||
           llvm::any_of(
               foreignNames(),
               [&](StringRef op) { return findForeign(op)->op == name; }) ||
           llvm::any_of(importableBlocks(), [&](const StandardBlock &block) {
             return isNamed(block) && imports.count(block.path);
           });
  }

  /// A comment on modules that are recomputed, and are no blocks.
  std::string keptText() const {
    std::set<std::string> names;
    for (auto [module, stay] : llvm::zip_equal(graph.modules, stays))
      if (module.isRecomputed && !stay)
        names.insert("`" + shownName(module.path) + "`");
    return names.empty() ? ""
                         : "# The model recomputes " + llvm::join(names, ", ") +
                               " for the backward pass, and the net does "
                               "not.\n";
  }

  std::string print() {
    std::string text = keptText() + importsText(imports);
    InputNames inputsOf;
    for (const WrittenBlock &block : blocks)
      text += writeBlock(graph, block, inputsOf) + "\n";
    std::string name = identifier(graph.name);
    while (isTaken(name) || names.has(name) || isWord(name))
      name += "Net";
    return text + writeNet(graph, *root, name, inputsOf);
  }

  Graph &graph;
  std::vector<Step> steps;
  const Structured finds;
  std::set<StringRef> imports;
  std::vector<bool> stays;
  std::shared_ptr<StepBody> root;
  std::map<int, std::shared_ptr<StepBody>> bodies;
  std::vector<std::shared_ptr<StepBody>> order;
  std::vector<WrittenBlock> blocks;
  std::map<std::string, const StepBody *> firstOfKind;
  UniqueNames names{""}; ///< of blocks, and of axes
};
} // namespace

std::string netc::import::writeStructure(Graph &graph, std::vector<Step> steps,
                                         Structured finds) {
  return Structure(graph, std::move(steps), finds).write();
}

/// A free axis may have no name that the text calls.
static void checkNames(const Graph &graph, llvm::ArrayRef<Step> steps) {
  std::set<std::string> axes = graph.freeAxes();
  forEachStep(steps, [&](const Step &step) {
    forEachName(step.fn, [&](StringRef name) {
      if (axes.count(name.str()))
        throw Refusal{"", "", "",
                      "`" + name.str() +
                          "` is a function of the language and cannot name an "
                          "axis; choose another name"};
    });
  });
}

/// A comment on weights that nothing reads.
static std::string unread(const Graph &graph) {
  std::set<int> read;
  for (const GraphNode *node : graph.allNodes())
    for (int value : node->reads())
      read.insert(value);
  for (auto &output : graph.outputs)
    read.insert(output.second);
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].kind == GraphValue::Weight &&
        !graph.values[i].isState && !read.count(int(i)))
      names.push_back(shownName(graph.values[i].name));
  return names.empty() ? ""
                       : "# Nothing reads these weights, and the net is "
                         "without them: " +
                             llvm::join(names, ", ") + "\n";
}

/// A comment on weights of another type than those of the net, f32.
static std::string otherTypes(const Graph &graph) {
  std::set<std::string> types;
  for (const GraphValue &value : graph.values)
    if (value.kind == GraphValue::Weight && value.learns && !value.isState)
      types.insert(value.type);
  types.erase("f32");
  return types.empty()
             ? ""
             : "# Weights of the model are " + llvm::join(types, " and ") +
                   ", and f32 here; `precision` of a run sets this.\n";
}

std::optional<std::string>
netc::import::writeGraph(StringRef path, Graph graph,
                         llvm::ArrayRef<std::string> opaque, const Host &host) {
  try {
    std::string read = unread(graph) + otherTypes(graph);
    std::vector<Step> steps = translate(graph, opaque);
    checkNames(graph, steps);
    std::vector<std::string> ops = checkSteps(graph, steps, host);
    std::string text;
    for (Structured finds : {Structured::Loops, Structured::Modules}) {
      try {
        text = writeStructure(graph, steps, finds);
      } catch (const Refusal &) {
      }
      if (!text.empty() && hasOps(text, ops, host))
        break;
      text.clear();
    }
    if (text.empty()) {
      graph.notes.push_back(
          "Its modules do not come apart, and the net is without them.");
      text = writeStructure(graph, steps, Structured::No);
    }
    std::string head = "# " + shownName(graph.name) + ", from " +
                       shownName(graph.from) + ".\n" + read;
    for (const std::string &note : graph.notes)
      head += "# " + shownName(note, std::string::npos) + "\n";
    return head + text;
  } catch (const Json::exception &wrong) {
    // An argument of another type than the op takes.
    host.report({path.str(), 1, 1,
                 error::GraphWrong("nodes", shownName(wrong.what()))});
    return std::nullopt;
  } catch (const Refusal &refusal) {
    std::string module = refusal.module.empty()
                             ? "the module itself"
                             : "`" + shownName(refusal.module) + "`";
    std::string line =
        refusal.line.empty() ? "" : " (" + shownName(refusal.line) + ")";
    Message message = refusal.op.empty()
                          ? error::GraphRefusedModule(module, refusal.why)
                      : refusal.kind == Refusal::Unknown
                          ? error::GraphUnknownOp(shownName(refusal.op), module,
                                                  line, refusal.why)
                      : refusal.kind == Refusal::Contradiction
                          ? error::GraphContradiction(shownName(refusal.op),
                                                      module, line, refusal.why)
                          : error::GraphRefusedOp(shownName(refusal.op), module,
                                                  line, refusal.why);
    host.report({path.str(), 1, 1, message});
    return std::nullopt;
  }
}
