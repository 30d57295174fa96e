// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Steps as text that a person would write: chains as pipes, neighbours of one
// container as one composition, equal ones as `repeat`.

#include "lib/Import/Writer.h"

#include "lib/Std/Std.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

namespace {
constexpr size_t width = 110;
/// What is longer becomes several statements, which netc reads without deep
/// nesting.
constexpr size_t longestExpression = 40 * width, longestComposition = 256;

class BodyWriter {
public:
  BodyWriter(const Graph &graph, const StepBody &body, bool isNet,
             llvm::ArrayRef<std::string> settings, const InputNames &inputsOf)
      : graph(graph), body(body), isNet(isNet), inputsOf(inputsOf) {
    uniqueNames.reserveAll(settings);
    uniqueNames.reserveAll(words());
    forEachStep(body.steps, [&](const Step &step) {
      forEachName(step.fn, [&](StringRef name) { uniqueNames.reserve(name); });
    });
    if (isNet)
      for (int in : body.ins) {
        for (const Polynomial &size : graph.shape(in))
          uniqueNames.reserveAll(size.symbols());
        uniqueNames.reserveAll(graph.values[in].labels);
      }
    forEachStep(body.steps, [&](const Step &step) {
      if (step.labels)
        for (const char *label : {"C", "D", "H", "L", "N", "W"})
          uniqueNames.reserve(label); // of its pattern
      if (step.form == Step::Loop)
        uniqueNames.reserve(step.loop.axis);
      for (int in : step.ins)
        ++uses[in];
      for (int next : step.loop.next)
        ++uses[next];
      for (int each : step.loop.yielded)
        uses[each] += !llvm::is_contained(step.loop.next, each);
    });
    if (isNet) {
      for (auto &output : graph.outputs)
        ++uses[output.second];
      return;
    }
    for (int out : body.outs)
      ++uses[out];
    countSizes();
  }

  std::vector<std::string> inputs() {
    static const char *plain[] = {"x", "z", "w", "u", "v"};
    std::vector<std::string> names;
    for (size_t i = 0; i < body.ins.size(); ++i) {
      int in = body.ins[i];
      std::string name = unique(isNet   ? identifier(graph.values[in].name)
                                : i < 5 ? plain[i]
                                        : "x" + std::to_string(i));
      names.push_back(name);
      values[in] = {name, Expression::Atom};
    }
    if (isNet)
      for (auto &output : graph.outputs)
        results.push_back(unique(identifier(output.first)));
    return names;
  }

  FlatNet writeFlat(std::string head) {
    isFlat = true;
    FlatNet flat;
    unsigned line = unsigned(StringRef(head).count('\n')) + 1;
    std::vector<std::string> made;
    for (const Step &step : body.steps) {
      flat.lines.push_back(line);
      size_t before = lines.size();
      writeStep(step);
      line += unsigned(StringRef(lines).drop_front(before).count('\n'));
      for (int out : step.outs) {
        made.push_back("o" + std::to_string(out) + "_ = " + valueOf(out).text);
        flat.values.push_back(out);
      }
    }
    flat.text = head + lines + "  return " + llvm::join(made, ", ") + "\n}\n";
    return flat;
  }

  std::string write() {
    findLone();
    for (size_t i = 0; i < body.steps.size();)
      i = writeRun(i);
    std::vector<std::string> made;
    for (size_t i = 0; i < results.size(); ++i)
      made.push_back(results[i] + " = " +
                     valueOf(graph.outputs[i].second).text);
    if (!isNet)
      for (int out : body.outs)
        made.push_back(valueOf(out).text);
    return lines + wrapped("return " + llvm::join(made, ", ")) + "\n";
  }

private:
  std::string unique(const std::string &base) {
    return uniqueNames.unique(base);
  }

  /// What holds a step by number, `layer1` of `layer1.0`, and `layers` where it
  /// is the body itself; else empty.
  std::string container(const Step &step) const {
    std::string path = pathIn(body, step, graph);
    auto [front, back] = StringRef(path).rsplit('.');
    if (isNumber(front) && back.empty())
      return "layers";
    return isNumber(back) ? front.str() : "";
  }
  static bool isNumber(StringRef text) {
    return !text.empty() &&
           llvm::all_of(text, [](char c) { return llvm::isDigit(c); });
  }

  //===--- Text -----------------------------------------------------------===//

  /// Sizes by axes of what the block takes.
  std::string resolved(StringRef text) {
    if (isNet)
      return text.str();
    std::vector<std::string> sizes;
    while (!text.empty()) {
      auto [piece, rest] = text.split(", ");
      text = rest;
      std::string compact;
      for (char c : piece)
        compact += c == ' ' ? "" : std::string(1, c);
      std::optional<Polynomial> size = Polynomial::parse(compact);
      std::optional<std::string> axis;
      bool isFree = size && !size->isConstant();
      if (isFree)
        axis = axisOf(*size);
      if (!axis)
        axis = bySymbols(piece);
      if (!axis && isFree)
        axis = ofAxis(*size);
      if (!axis)
        throw Refusal{"", body.path, "", piece.str()};
      sizes.push_back(*axis);
    }
    return llvm::join(sizes, ", ");
  }
  std::optional<std::string> bySymbols(StringRef rest) {
    std::string result;
    while (!rest.empty()) {
      StringRef word =
          rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      if (word.empty() || llvm::isDigit(word[0])) {
        size_t length = std::max<size_t>(word.size(), 1);
        result += rest.take_front(length);
        rest = rest.drop_front(length);
        continue;
      }
      std::optional<std::string> axis = axisOf(Polynomial::symbol(word));
      if (!axis)
        return std::nullopt;
      result += *axis;
      rest = rest.drop_front(word.size());
    }
    return result;
  }
  std::optional<std::string> axisOf(const Polynomial &wanted) {
    auto found = findAxis([&](auto &size) { return size == wanted; },
                          [&](int at) { return values.count(at) != 0; });
    if (!found)
      return std::nullopt;
    return "axes(" + bound(found->first) + ")[" +
           std::to_string(found->second) + "]";
  }
  /// A part or a multiple of an axis, `axes(x)[0] / 4` or `4 * axes(x)[0]`.
  std::optional<std::string> ofAxis(const Polynomial &wanted) {
    auto found = findAxis([&](auto &size) { return isOf(wanted, size); },
                          [&](int at) { return values.count(at) != 0; });
    if (!found)
      return std::nullopt;
    const Polynomial size = graph.shape(found->first)[found->second];
    std::string axis = *axisOf(size);
    if (std::optional<int64_t> parts = (size / wanted).toInt64())
      return axis + " / " + std::to_string(*parts);
    return (wanted / size).str() + " * " + axis;
  }
  static bool isOf(const Polynomial &wanted, const Polynomial &size) {
    return !size.isConstant() &&
           ((size / wanted).toInt64() || (wanted / size).toInt64());
  }
  /// A value that is there, with an axis of such a size.
  std::optional<std::pair<int, size_t>>
  findAxis(llvm::function_ref<bool(const Polynomial &)> isWanted,
           llvm::function_ref<bool(int)> isThere) const {
    std::vector<int> candidates = body.ins;
    for (const Step &step : body.steps)
      candidates.insert(candidates.end(), step.ins.begin(), step.ins.end());
    for (int each : candidates)
      for (size_t i = 0; i < graph.shape(each).size(); ++i)
        if (isWanted(graph.shape(each)[i]) && isThere(each))
          return std::make_pair(each, i);
    return std::nullopt;
  }
  /// Values of which a size is read get a name: they are there once.
  void countSizes() {
    std::set<int> made(body.ins.begin(), body.ins.end());
    auto count = [&](const Polynomial &wanted, bool isRatio = false) {
      auto found = findAxis(
          [&](auto &size) {
            return isRatio ? isOf(wanted, size) : size == wanted;
          },
          [&](int at) { return made.count(at) != 0; });
      if (found)
        ++uses[found->first];
      return found.has_value();
    };
    forEachStep(body.steps, [&](const Step &step) {
      for (const StepArgument &each : step.arguments)
        for (StringRef piece : llvm::split(each.text, ", ")) {
          if (!each.hasSizes)
            break;
          std::string compact = piece.str();
          llvm::erase(compact, ' ');
          std::optional<Polynomial> size = Polynomial::parse(compact);
          if (!size || size->isConstant() || count(*size))
            continue;
          auto has = [&](auto &symbol) {
            return count(Polynomial::symbol(symbol));
          };
          if (!llvm::all_of(size->symbols(), has))
            count(*size, /*isRatio=*/true);
        }
      made.insert(step.outs.begin(), step.outs.end());
    });
  }
  std::string textOf(const StepArgument &argument) {
    return !argument.shown.empty() ? argument.shown
           : argument.hasSizes     ? resolved(argument.text)
                                   : argument.text;
  }
  bool isLeftOut(const StepArgument &argument) const {
    return argument.shown.empty() && argument.text == argument.byDefault;
  }
  /// `Conv(64, 7, stride = 2)`; `bare` without parentheses around nothing,
  /// `piped` with all operands but this one.
  std::string code(const Step &step, bool bare = false,
                   std::optional<size_t> piped = std::nullopt) {
    std::vector<std::string> arguments;
    for (const StepArgument &each : step.arguments)
      if (!isLeftOut(each)) {
        std::string text = textOf(each);
        size_t at;
        while ((at = text.find("%0")) != std::string::npos)
          text.replace(at, 2, bound(step.ins[0]));
        arguments.push_back((each.key.empty() ? "" : each.key + " = ") + text);
      }
    for (size_t i = 0; piped && i < step.ins.size(); ++i)
      if (i != *piped)
        arguments.push_back(inputsOf.at(step.fn)[i] + " = " +
                            bound(step.ins[i]));
    std::string text = step.fn + "(" + llvm::join(arguments, ", ") + ")";
    if (arguments.empty() && (bare || step.isFrozen || step.isRecomputed))
      text = step.fn;
    if (step.isRecomputed)
      text = "recomputed(" + text + ")";
    return step.isFrozen ? "freeze(" + text + ")" : text;
  }

  /// A statement, in lines that are not too long: broken before `|>`.
  std::string wrapped(const std::string &statement) const {
    std::string line = indent + statement;
    if (line.size() <= width)
      return line;
    std::string result;
    int depth = 0;
    size_t lastBreak = std::string::npos;
    std::string current;
    for (size_t i = 0; i < line.size(); ++i) {
      char c = line[i];
      depth += (c == '(' || c == '[' || c == '{') -
               (c == ')' || c == ']' || c == '}');
      if (line.compare(i, 4, " |> ") == 0 && depth == 0 && !current.empty())
        lastBreak = current.size();
      current += c;
      if (current.size() > width && lastBreak != std::string::npos) {
        result += current.substr(0, lastBreak) + "\n";
        current = indent + "  " + current.substr(lastBreak + 1);
        lastBreak = std::string::npos;
      }
    }
    return result + current;
  }
  void declare(const std::string &statement) {
    lines += wrapped(statement) + "\n";
  }

  //===--- Values ---------------------------------------------------------===//

  Expression valueOf(int value) {
    auto found = values.find(value);
    if (found != values.end())
      return found->second;
    const GraphValue &tensor = graph.values[value];
    if (auto instance = instances.find(tensor.name);
        instance != instances.end())
      return {instance->second + ".weight", Expression::Atom};
    throw Refusal{"", body.path, "",
                  "`" + tensor.name + "` is used before it is there"};
  }
  /// A name for it, so that it can be read twice.
  std::string bound(int value) {
    Expression expression = valueOf(value);
    if (expression.binding == Expression::Atom &&
        llvm::all_of(expression.text, [](char c) {
          return llvm::isAlnum(c) || c == '_' || c == '.';
        }))
      return expression.text;
    std::string name = unique("y");
    declare(name + " = " + expression.text);
    values[value] = {name, Expression::Atom};
    return name;
  }
  void give(int value, Expression expression) {
    if (uses[value] == 1 && !isFlat &&
        expression.text.size() <= longestExpression) {
      values[value] = std::move(expression);
      return;
    }
    std::string name = unique("y");
    declare(name + " = " + expression.text);
    values[value] = {name, Expression::Atom};
  }
  /// An image whose axes netc would not know.
  std::string labelled(const Step &step) {
    int x = step.ins[0];
    size_t rank = graph.shape(x).size();
    static const char *patterns[] = {"C, L]", "C, H, W]", "C, D, H, W]"};
    // A name of the pattern stands for the size from there on.
    bool isBatch = graph.shape(x)[0] == Polynomial::symbol("N");
    std::string name = unique("y");
    declare(name + ": [" + (isBatch ? "N" : "...") + ", " + patterns[rank - 3] +
            " = " + valueOf(x).text);
    return name;
  }

  //===--- Steps ----------------------------------------------------------===//

  bool follows(const Step &a, const Step &b) const {
    auto isCall = [](const Step &step) {
      return (step.form == Step::Instance && !step.isTensor()) ||
             step.form == Step::Pipe;
    };
    if (!isCall(a) || !isCall(b) || lone.count(a.weight) ||
        lone.count(b.weight) || a.outs.size() != 1 || b.outs.size() != 1 ||
        !llvm::is_contained(b.ins, a.outs[0]) || uses.at(a.outs[0]) != 1 ||
        b.labels || readsItsInput(a) || readsItsInput(b))
      return false;
    bool isNumbered = !container(a).empty() && container(a) == container(b);
    return (isNumbered && a.ins.size() == 1 && b.ins.size() == 1) ||
           isCopy(a, b);
  }
  /// Whether they are blocks with other weights alone, and their names are one
  /// but for the number.
  bool isCopy(const Step &a, const Step &b) const {
    auto isPlain = [](const Step &step) {
      return step.body && !step.isFrozen && !step.isRecomputed;
    };
    if (!isPlain(a) || !isPlain(b) || formOf(a) != formOf(b) ||
        stem(a) != stem(b))
      return false;
    for (auto [own, other] : llvm::zip_equal(a.ins, b.ins))
      if (own != other && other != a.outs[0])
        return false;
    return true;
  }
  /// Of a composition: the operand of a step that the one before makes.
  static size_t chained(llvm::ArrayRef<Step> run) {
    return run.size() == 1
               ? 0
               : llvm::find(run[1].ins, run[0].outs[0]) - run[1].ins.begin();
  }
  std::string stem(const Step &step) const {
    std::string path = pathIn(body, step, graph);
    return StringRef(path).rtrim("0123456789").rtrim("._").str();
  }
  static bool readsItsInput(const Step &step) {
    return llvm::any_of(step.arguments, [](const StepArgument &each) {
      return each.text.find("%0") != std::string::npos || each.hasSizes;
    });
  }

  llvm::ArrayRef<Step> runFrom(size_t begin) const {
    size_t end = begin + 1;
    while (end < body.steps.size() &&
           follows(body.steps[end - 1], body.steps[end]))
      ++end;
    return llvm::ArrayRef(body.steps).slice(begin, end - begin);
  }
  static std::string keyOf(llvm::ArrayRef<Step> run) {
    std::string key;
    for (const Step &step : run)
      key += step.weight + "|";
    return key;
  }
  /// Weights that are used again, and not by the whole run that they are in.
  void findLone() {
    size_t before;
    do {
      before = lone.size();
      std::map<std::string, std::string> keys;
      for (size_t i = 0; i < body.steps.size();) {
        llvm::ArrayRef<Step> run = runFrom(i);
        std::string key = keyOf(run);
        std::set<StringRef> own;
        for (const Step &step : run)
          if (!step.weight.empty() &&
              (!own.insert(step.weight).second ||
               keys.try_emplace(step.weight, key).first->second != key))
            lone.insert(step.weight);
        i += run.size();
      }
    } while (lone.size() != before);
  }

  size_t writeRun(size_t begin) {
    llvm::ArrayRef<Step> run = runFrom(begin);
    size_t end = begin + run.size();
    const Step &first = run.front(), &last = run.back();
    if (run.size() > 1) {
      int in = first.ins[chained(run)];
      std::string x =
          first.labels ? labelled(first) : valueOf(in).inside(pipeSource(in));
      std::string name = composition(run);
      give(last.outs[0], {x + " |> " + name, Expression::PipeBinding});
      return end;
    }
    writeStep(first);
    return end;
  }
  /// In front of `|>`, arithmetic stands in parentheses and a pipe does not.
  Expression::Binding pipeSource(int value) {
    Expression::Binding binding = valueOf(value).binding;
    return binding == Expression::PipeBinding ? Expression::PipeBinding
                                              : Expression::Atom;
  }

  std::string composition(llvm::ArrayRef<Step> run) {
    std::string key = keyOf(run);
    if (auto known = instances.find(key);
        known != instances.end() &&
        key.find_first_not_of('|') != std::string::npos)
      return known->second;
    std::vector<std::string> parts;
    for (const Step &step : run)
      parts.push_back(code(step, /*bare=*/true, chained(run)));
    parts = withRepeats(parts);
    std::string where = container(run.front());
    if (where.empty())
      where = stem(run.front());
    std::string name = where.empty() ? "layers" : identifier(nameIn(where));
    if (uniqueNames.isGiven(name)) // a later part of the container
      name = identifier(nameIn(pathIn(body, run.front(), graph)));
    name = unique(name);
    while (parts.size() > longestComposition) {
      std::vector<std::string> joined;
      for (size_t i = 0; i < parts.size(); i += longestComposition) {
        joined.push_back(unique(name));
        declare(joined.back() + " = " +
                llvm::join(llvm::ArrayRef(parts).slice(i).take_front(
                               longestComposition),
                           " |> "));
      }
      parts = std::move(joined);
    }
    declare(name + " = " + llvm::join(parts, " |> "));
    instances[key] = name;
    return name;
  }
  /// The last part of a path that is no number, with the numbers behind it.
  static std::string nameIn(StringRef path) {
    llvm::SmallVector<StringRef> parts;
    path.split(parts, '.');
    std::string name;
    for (StringRef part : llvm::reverse(parts)) {
      name = name.empty() ? part.str() : part.str() + "_" + name;
      if (!part.empty() && !llvm::isDigit(part[0]))
        break;
    }
    return name;
  }

  std::string instanceOf(const Step &step) {
    if (!step.weight.empty())
      if (auto known = instances.find(step.weight); known != instances.end())
        return known->second;
    std::string path = pathIn(body, step, graph);
    std::string base = nameIn(path);
    if (step.fn == "Position")
      base = "position";
    if (step.isTensor())
      base = StringRef(step.weight).rsplit('.').second.empty()
                 ? step.weight
                 : StringRef(step.weight).rsplit('.').second.str();
    if (base.empty() || isNumber(base))
      base = StringRef(step.fn).lower();
    std::string name = unique(identifier(base));
    std::string text = code(step);
    if (step.body && step.arguments.empty() && !step.isFrozen &&
        !step.isRecomputed)
      text = step.fn + "()";
    declare(name + " = " + text);
    if (!step.weight.empty())
      instances[step.weight] = name;
    return name;
  }

  void writeStep(const Step &step) {
    if (step.form == Step::Instance && step.isTensor()) {
      values[step.outs[0]] = {instanceOf(step), Expression::Atom};
      return;
    }
    if (step.form == Step::Infix)
      return writeInfix(step);
    if (step.form == Step::Form_)
      return writeForm(step);
    if (step.form == Step::Loop)
      return writeLoop(step);
    std::string x = step.ins.empty() ? "" : step.labels ? labelled(step) : "";
    bool isInstance = step.form == Step::Instance;
    if (isInstance && !step.labels && readsItsInput(step))
      bound(step.ins[0]);
    std::string call =
        isInstance ? instanceOf(step) : code(step, /*bare=*/true);
    if (x.empty())
      x = valueOf(step.ins[0]).inside(pipeSource(step.ins[0]));
    Expression made{x + " |> " + call, Expression::PipeBinding};
    if (step.ins.size() > 1 ||
        (isInstance && step.fn == "Embedding" && isName(x))) {
      std::vector<std::string> all;
      for (int in : step.ins)
        all.push_back(valueOf(in).inside(Expression::Sum));
      made = {call + "(" + llvm::join(all, ", ") + ")", Expression::Atom};
    }
    if (step.outs.size() == 1)
      return give(step.outs[0], std::move(made));
    std::vector<std::string> names;
    bool isThree = step.outs.size() == 3 && step.fn == "split";
    static const char *three[] = {"q", "k", "v"};
    for (size_t i = 0; i < step.outs.size(); ++i)
      names.push_back(unique(isThree ? three[i] : "y"));
    declare(llvm::join(names, ", ") + " = " + made.text);
    for (size_t i = 0; i < names.size(); ++i)
      values[step.outs[i]] = {names[i], Expression::Atom};
  }
  static bool isName(StringRef text) {
    return llvm::all_of(text,
                        [](char c) { return llvm::isAlnum(c) || c == '_'; });
  }

  void writeInfix(const Step &step) {
    if (valueOf(step.ins[0]).text.size() + valueOf(step.ins[1]).text.size() >
        width - 10)
      bound(valueOf(step.ins[0]).text.size() > valueOf(step.ins[1]).text.size()
                ? step.ins[0]
                : step.ins[1]);
    Expression::Binding own = step.fn == "+" || step.fn == "-"
                                  ? Expression::Sum
                                  : Expression::Product;
    auto right = Expression::Binding(step.fn == "+" ? own : own + 1);
    give(step.outs[0], {valueOf(step.ins[0]).inside(own) + " " + step.fn + " " +
                            valueOf(step.ins[1]).inside(right),
                        own});
  }

  void writeLoop(const Step &step) {
    const StepLoop &loop = step.loop;
    auto ins = llvm::ArrayRef(step.ins);
    auto first = ins.take_front(loop.states.size());
    ins = ins.drop_front(first.size());
    // What the body reads from outside has a name.
    for (int in : ins.drop_front(loop.elements.size()))
      bound(in);
    forEachStep(step.inner, [&](const Step &inner) {
      for (const StepArgument &each : inner.arguments)
        textOf(each);
    });
    std::string head = "scan ";
    for (auto [i, element] : llvm::enumerate(loop.elements)) {
      std::string sequence, name = unique("xt");
      if (graph.values[ins[i]].labels[0] == loop.axis) {
        sequence = bound(ins[i]);
      } else {
        sequence = unique("y");
        declare(sequence + ": [" + loop.axis +
                ", ...] = " + valueOf(ins[i]).text);
      }
      head += (i ? ", " : "") + name + " in " + sequence;
      values[element] = {name, Expression::Atom};
    }
    head += " over " + loop.axis;
    std::vector<std::string> names, made;
    for (auto [i, state] : llvm::enumerate(loop.states)) {
      names.push_back(unique("h"));
      head += (i ? ", " : " carry ") + names.back() + " = " +
              valueOf(first[i]).text;
      values[state] = {names.back(), Expression::Atom};
    }
    // What is yielded, at least one sequence, and then the last states.
    size_t sequences = std::max<size_t>(loop.yielded.size(), 1);
    for (size_t i = 0; i < sequences + names.size(); ++i)
      made.push_back(unique("y"));
    lines += indent + llvm::join(made, ", ") + " = " + head + " {\n";
    for (auto [i, out] : llvm::enumerate(step.outs)) {
      bool isState = i < names.size();
      size_t place = isState ? sequences + i : i - names.size();
      values[out] = {made[place], Expression::Atom};
    }
    indent += "  ";
    for (const Step &inner : step.inner)
      writeStep(inner);
    for (auto [name, next] : llvm::zip_equal(names, loop.next))
      declare(name + "' = " + valueOf(next).text);
    std::vector<std::string> yielded;
    for (int each : loop.yielded) {
      auto state = llvm::find(loop.next, each);
      yielded.push_back(state == loop.next.end()
                            ? valueOf(each).text
                            : names[state - loop.next.begin()] + "'");
    }
    if (yielded.empty())
      yielded.push_back(names[0] + "'");
    declare("yield " + llvm::join(yielded, ", "));
    indent.resize(indent.size() - 2);
    lines += indent + "}\n";
  }

  void writeForm(const Step &step) {
    std::vector<FormPiece> pieces = piecesOf(step.fn);
    std::vector<unsigned> counts(step.ins.size());
    for (const FormPiece &each : pieces)
      if (each.kind == '%')
        ++counts[each.number];
    std::vector<std::string> operands(step.ins.size());
    for (size_t i = 0; i < step.ins.size(); ++i)
      if (i == 0 && step.labels)
        operands[i] = labelled(step);
      else if (counts[i] > 1)
        operands[i] = bound(step.ins[i]);
    size_t length = step.fn.size();
    for (int in : step.ins)
      length += valueOf(in).text.size();
    for (size_t i = 0; i < step.ins.size(); ++i)
      if (operands[i].empty() && length > width &&
          valueOf(step.ins[i]).text.size() > 20) {
        length -= valueOf(step.ins[i]).text.size();
        operands[i] = bound(step.ins[i]);
      }
    std::string text;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto &[kind, number, own] = pieces[i];
      if (kind == '#') {
        text += textOf(step.arguments[number]);
      } else if (kind == 0) {
        text += own;
      } else if (!operands[number].empty()) {
        text += operands[number];
      } else {
        // A call's own operands need no parentheses.
        StringRef before = text, after;
        if (i + 1 < pieces.size())
          after = pieces[i + 1].text;
        bool isArgument = (before.ends_with("(") || before.ends_with(", ")) &&
                          (after.starts_with(",") || after.starts_with(")"));
        text +=
            valueOf(step.ins[number])
                .inside(isArgument ? Expression::Comparison : Expression::Atom);
      }
    }
    give(step.outs[0], {text, bindingOf(text)});
  }
  const Graph &graph;
  const StepBody &body;
  bool isNet, isFlat = false;
  const InputNames &inputsOf;
  UniqueNames uniqueNames{"_"};
  std::map<int, unsigned> uses;
  std::map<int, Expression> values;
  std::map<std::string, std::string> instances; ///< names by weight
  std::set<std::string> lone;
  std::string lines, indent = "  ";
  std::vector<std::string> results; ///< names of a net's outputs
};
} // namespace

std::set<StringRef> netc::import::importsOf(llvm::ArrayRef<Step> steps) {
  std::set<StringRef> imports;
  for (const Step &step : steps)
    if (step.form == Step::Instance)
      for (const StandardBlock &block : importableBlocks())
        if (block.name == step.fn)
          imports.insert(block.path);
  return imports;
}

std::string netc::import::importsText(const std::set<StringRef> &imports) {
  std::string text;
  for (StringRef path : imports) {
    path.consume_back(".net");
    text += "import " + llvm::join(llvm::split(path, '/'), ".") + "\n";
  }
  return text + (imports.empty() ? "" : "\n");
}

std::string netc::import::writeBlock(const Graph &graph,
                                     const WrittenBlock &block,
                                     InputNames &inputsOf) {
  BodyWriter writer(graph, *block.body, /*isNet=*/false, block.settings,
                    inputsOf);
  std::vector<std::string> names = writer.inputs();
  std::string list = llvm::join(names, ", ");
  inputsOf[block.name] = std::move(names);
  if (!block.settings.empty())
    list += "; " + llvm::join(block.settings, ", ");
  return "block " + block.name + "(" + list + ") {\n" + writer.write() + "}\n";
}

/// The type of an input. Places need 32 bits, where PyTorch has 64.
static std::string typeOf(const GraphValue &value) {
  std::string type = value.type == "i64"    ? "i32"
                     : value.type == "bool" ? "i8"
                                            : value.type;
  unsigned bits = 0;
  if (!value.isFloat())
    StringRef(type).drop_front().getAsInteger(10, bits);
  return bits < value.bits ? "i" + std::to_string(value.bits) : type;
}

/// `net A(x: f32[N, C = 3])`.
static std::string signature(const Graph &graph, BodyWriter &writer,
                             const StepBody &body, StringRef name) {
  std::vector<std::string> names = writer.inputs(), inputs;
  for (size_t i = 0; i < names.size(); ++i) {
    const GraphValue &value = graph.values[body.ins[i]];
    std::vector<std::string> sizes;
    for (size_t j = 0; j < value.shape.size(); ++j) {
      std::string size = value.shape[j].str();
      sizes.push_back(!isNamed(value.labels[j]) || value.labels[j] == size
                          ? size
                          : value.labels[j] + " = " + size);
    }
    inputs.push_back(names[i] + ": " + typeOf(value) + "[" +
                     llvm::join(sizes, ", ") + "]");
  }
  return "net " + name.str() + "(" + llvm::join(inputs, ", ") + ") {\n";
}

std::string netc::import::writeNet(const Graph &graph, const StepBody &body,
                                   StringRef name, const InputNames &inputsOf) {
  BodyWriter writer(graph, body, /*isNet=*/true, {}, inputsOf);
  std::string head = signature(graph, writer, body, name);
  return head + writer.write() + "}\n";
}

FlatNet netc::import::writeFlat(const Graph &graph,
                                llvm::ArrayRef<Step> steps) {
  StepBody body;
  body.steps.assign(steps.begin(), steps.end());
  body.ins = graph.inputs();
  const InputNames none;
  BodyWriter writer(graph, body, /*isNet=*/true, {}, none);
  return writer.writeFlat(importsText(importsOf(steps)) +
                          signature(graph, writer, body, "Graph_"));
}
