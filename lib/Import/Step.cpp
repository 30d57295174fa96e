// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The arguments of steps.

#include "lib/Import/Step.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;

std::string netc::import::pathIn(const StepBody &body, const Step &step,
                                 const Graph &graph) {
  if (!step.body && step.module < 0)
    return "";
  llvm::StringRef path =
      step.body ? step.body->path : graph.modules[step.module].path;
  auto behind = [&](llvm::StringRef part) -> std::optional<llvm::StringRef> {
    llvm::StringRef rest = path;
    bool isIn = !part.empty() && rest.consume_front(part) &&
                (rest.empty() || rest.starts_with("."));
    return isIn ? std::optional(rest) : std::nullopt;
  };
  for (auto &[element, list] : body.elements)
    if (std::optional<llvm::StringRef> rest = behind(element))
      return list + rest->str();
  std::optional<llvm::StringRef> rest = behind(body.path);
  return rest ? rest->drop_front(!rest->empty()).str() : path.str();
}

void netc::import::forEachStep(llvm::ArrayRef<Step> steps,
                               llvm::function_ref<void(const Step &)> visit) {
  for (const Step &each : steps) {
    forEachStep(each.inner, visit);
    visit(each);
  }
}

std::string netc::import::formOf(const Step &step) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << step.form << step.isFrozen << step.isRecomputed << step.labels << '|'
     << step.fn << '|' << step.ins.size() << '|' << step.outs.size();
  for (const StepArgument &each : step.arguments)
    os << '|' << each.key << '=' << each.text << '=' << each.shown;
  return text;
}

std::string netc::import::listText(llvm::ArrayRef<int64_t> numbers) {
  std::vector<std::string> texts;
  for (int64_t number : numbers)
    texts.push_back(std::to_string(number));
  if (!texts.empty() && llvm::all_equal(texts))
    return texts[0];
  return "[" + llvm::join(texts, ", ") + "]";
}

std::string netc::import::sizesText(llvm::ArrayRef<Polynomial> sizes) {
  std::vector<std::string> texts;
  for (const Polynomial &size : sizes) {
    std::string text = size.str(), spaced;
    for (char c : text)
      spaced += c == '*' ? std::string(" * ") : std::string(1, c);
    texts.push_back(spaced);
  }
  return llvm::join(texts, ", ");
}

std::string netc::import::realText(double value) {
  // The largest number of f32 hides scores, and numbers of the language end
  // before it.
  if (std::abs(value) > 1e38)
    return value > 0 ? "inf" : "-inf";
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return std::to_string(int64_t(value));
  for (int digits = 1; digits < 18; ++digits) {
    char buffer[40];
    snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (strtod(buffer, nullptr) == value)
      return buffer;
  }
  return std::to_string(value);
}

std::vector<std::string>
netc::import::symbolsOf(llvm::ArrayRef<Polynomial> sizes) {
  std::vector<std::string> names;
  for (const Polynomial &size : sizes) {
    std::string text = size.str();
    bool isSymbol = !size.isConstant() && size == Polynomial::symbol(text);
    names.push_back(isSymbol ? text : "");
  }
  return names;
}

std::string netc::import::axesText(llvm::ArrayRef<unsigned> axes,
                                   const std::string &x) {
  std::string all = "axes(" + x + ")";
  std::vector<std::string> texts;
  for (unsigned each : axes)
    texts.push_back(all + "[" + std::to_string(each) + "]");
  if (texts.size() == 1)
    return texts[0];
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1)
      return "[" + llvm::join(texts, ", ") + "]";
  if (axes.empty())
    return "[]";
  return all + "[" + std::to_string(axes.front()) + ".." +
         std::to_string(axes.back() + 1) + "]";
}

std::string netc::import::numberText(const std::string &size) {
  return "sum(ones(" + size + "))";
}

std::string netc::import::partText(const std::string &x, size_t rank,
                                   unsigned at, const std::string &part) {
  if (at == 0)
    return x + "[" + part + (rank > 1 ? ", ...]" : "]");
  std::string form = x + "[..., " + part;
  for (size_t i = at + 1; i < rank; ++i)
    form += ", 0..axes(" + x + ")[" + std::to_string(i) + "]";
  return form + "]";
}

void Step::put(std::string key, std::string name, std::string text,
               std::string byDefault, bool isNumber) {
  arguments.push_back({key, name, text, byDefault, isNumber});
}

void Step::putReal(std::string key, double number, double byDefault) {
  put(key, key, realText(number), realText(byDefault));
}

void Step::putSizes(const Sizes &sizes, std::string name) {
  put("", std::move(name), sizesText(sizes), "", false);
  arguments.back().hasSizes =
      llvm::any_of(sizes, [](auto &size) { return !size.isConstant(); });
}

std::string Step::putPart(const Polynomial &begin, const Polynomial &end) {
  std::string text;
  for (const auto &[name, size] :
       {std::make_pair("start", begin), std::make_pair("end", end)}) {
    text += (text.empty() ? "#" : "..#") + std::to_string(arguments.size());
    put("", name, size.str(), "", size.isConstant());
    arguments.back().hasSizes = !size.isConstant();
  }
  return text;
}
