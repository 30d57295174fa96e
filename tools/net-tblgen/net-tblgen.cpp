// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads the ops' ODS entries and writes what TableGen's own back ends do not:
// the cost formulas as C++, the signatures for the front end, names in other
// frameworks, and docs/Ops.md.

#include "mlir/TableGen/Operator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Main.h"
#include "llvm/TableGen/Record.h"

#include <map>

using namespace llvm;
using mlir::tblgen::NamedAttribute;
using mlir::tblgen::NamedTypeConstraint;
using mlir::tblgen::Operator;

namespace {
enum class Action { Costs, Signatures, Foreign, Exports, Docs };

cl::opt<Action> action(
    cl::desc("What to write"),
    cl::values(clEnumValN(Action::Costs, "gen-costs", "cost formulas as C++"),
               clEnumValN(Action::Signatures, "gen-signatures",
                          "signatures of the callable ops as C++"),
               clEnumValN(Action::Foreign, "gen-foreign",
                          "what other frameworks call the ops, as C++"),
               clEnumValN(Action::Exports, "gen-exports",
                          "how ops become those of PyTorch, as C++"),
               clEnumValN(Action::Docs, "gen-docs", "the reference, Markdown")),
    cl::Required);

constexpr StringLiteral kFormulas[] = {"matmul", "other", "transcendental"};

/// The text of a cost formula. An op without one is an error of the build.
StringRef formulaOf(const Operator &op, StringRef field) {
  std::optional<StringRef> text = op.getDef().getValueAsOptionalString(field);
  if (!text)
    PrintFatalError(op.getLoc(), "op `" + op.getOperationName() +
                                     "` has no formula for `" + field + "`");
  return *text;
}

bool isCallable(const Operator &op) {
  return op.getTrait("::netc::LanguageOpInterface::Trait") != nullptr;
}

/// The name of the op in the language.
std::string languageName(const Operator &op) {
  return op.getOperationName().substr(StringRef("net.").size());
}

/// The declared range and default of a setting; null for other attributes.
const Record *settingOf(const NamedAttribute &attribute) {
  const Record &def = attribute.attr.getBaseAttr().getDef();
  return def.isSubClassOf("Net_Setting") ? &def : nullptr;
}

template <typename Visit>
void forEachAttribute(const Operator &op, Visit visit) {
  for (const NamedAttribute &attribute : op.getAttributes())
    if (!attribute.attr.isDerivedAttr())
      visit(attribute);
}

/// Whether `name` occurs in C++ as a whole word that is not a member of an
/// object.
bool isWordOf(StringRef text, StringRef name) {
  return Regex(("(^|[^A-Za-z0-9_.])" + name + "([^A-Za-z0-9_]|$)").str())
      .match(text);
}

bool isUsed(const Operator &op, StringRef name) {
  return any_of(kFormulas, [&](StringRef formula) {
    return isWordOf(formulaOf(op, formula), name);
  });
}

/// Declares a variable for each operand, result and attribute of an op for
/// which `isUsed` holds. `getters` precedes the name of its getter; `operands`,
/// `results` or `attributes` is the function that converts the value.
void declareArguments(const Operator &op, StringRef getters, StringRef operands,
                      StringRef results, StringRef attributes,
                      function_ref<bool(StringRef)> isUsed, raw_ostream &os) {
  auto declare = [&](StringRef name, StringRef wrap) {
    if (isUsed(name))
      os << formatv("  auto {0} = {1}({2}{3}());\n", name, wrap, getters,
                    op.getGetterName(name));
  };
  for (const NamedTypeConstraint &operand : op.getOperands())
    declare(operand.name, operands);
  for (const NamedTypeConstraint &result : op.getResults())
    declare(result.name, results);
  forEachAttribute(op, [&](const NamedAttribute &attribute) {
    declare(attribute.name, attributes);
  });
}

void writeCosts(ArrayRef<Operator> ops, raw_ostream &os) {
  for (const Operator &op : ops) {
    os << formatv("::netc::Cost {0}::getCost() {{\n", op.getCppClassName());
    declareArguments(
        op, "", "::netc::extentOf", "::netc::extentOf", "",
        [&](StringRef name) { return isUsed(op, name); }, os);
    os << "  return {";
    for (StringRef formula : kFormulas)
      os << formatv("::netc::Polynomial({0}){1}", formulaOf(op, formula),
                    formula == "transcendental" ? "" : ", ");
    os << "};\n}\n\n";
    os << formatv("::netc::Autocast {0}::getAutocast() {{\n",
                  op.getCppClassName());
    StringRef autocast = op.getDef().getValueAsString("autocast");
    for (StringRef format : {"Low", "Full", "Loss", "Widest"})
      if (autocast.contains(format))
        os << formatv("  constexpr auto {0} = ::netc::Autocast::{0};\n",
                      format);
    os << formatv("  return {0};\n}\n\n", autocast);
  }
}

StringRef arityOf(const NamedTypeConstraint &operand) {
  return operand.isOptional()   ? "Optional"
         : operand.isVariadic() ? "Variadic"
                                : "Required";
}

void writeSignatures(ArrayRef<Operator> ops, raw_ostream &os) {
  for (const Operator &op : ops) {
    if (!isCallable(op))
      continue;
    std::string name = languageName(op);
    os << formatv("const ::netc::Signature &{0}::getSignature() {{\n"
                  "  static const ::netc::Signature signature = {{\"{1}\", {{",
                  op.getCppClassName(), name);
    for (const NamedTypeConstraint &operand : op.getOperands())
      os << formatv("{{\"{0}\", ::netc::TensorSlot::{1}}, ", operand.name,
                    arityOf(operand));
    os << "}, {";
    forEachAttribute(op, [&](const NamedAttribute &attribute) {
      if (const Record *def = settingOf(attribute))
        os << formatv("{{\"{0}\", ::netc::SettingKind::{1}, \"{2}\", \"{3}\", "
                      "\"{4}\"}, ",
                      attribute.name, def->getValueAsString("settingKind"),
                      def->getValueAsString("fallback"),
                      def->getValueAsString("least"),
                      def->getValueAsString("below"));
    });
    os << "}, {";
    for (const NamedTypeConstraint &result : op.getResults())
      os << formatv("\"{0}\", ", result.name);
    os << "}};\n  return signature;\n}\n\n";
  }
}

/// A row for each name of `foreign`, sorted: `aten.elu alpha=alpha`.
void writeForeign(ArrayRef<Operator> ops, raw_ostream &os) {
  std::map<std::string, std::string> rows;
  for (const Operator &op : ops)
    for (StringRef entry : op.getDef().getValueAsListOfStrings("foreign")) {
      SmallVector<StringRef> words;
      entry.split(words, ' ', -1, /*KeepEmpty=*/false);
      std::string row =
          formatv("{{\"{0}\", \"{1}\", R\"({2})\", {{", words[0],
                  languageName(op), op.getDef().getValueAsString("example"));
      for (StringRef pair : drop_begin(words)) {
        auto [theirs, ours] = pair.split('=');
        // Other settings are computed by the importers.
        if (none_of(op.getAttributes(), [&](const NamedAttribute &attribute) {
              return attribute.name == ours;
            }))
          continue;
        row += formatv("{{\"{0}\", \"{1}\"}, ", theirs, ours);
      }
      if (!rows.try_emplace(words[0].str(), row + "}},\n").second)
        PrintFatalError(op.getLoc(), "`" + words[0] + "` is named twice");
    }
  for (auto &[name, row] : rows)
    os << row;
}

/// A rule for each op that has a name in PyTorch: its `exported`, else the
/// first such name, with its operands, settings and first result.
void writeExports(ArrayRef<Operator> ops, raw_ostream &os) {
  for (const Operator &op : ops) {
    std::string rule = op.getDef().getValueAsString("exported").str();
    auto names = op.getDef().getValueAsListOfStrings("foreign");
    auto name = find_if(
        names, [](StringRef each) { return each.starts_with("aten."); });
    if (rule.empty() && name == names.end())
      continue;
    if (rule.empty()) {
      SmallVector<StringRef> words;
      name->split(words, ' ', -1, /*KeepEmpty=*/false);
      rule =
          formatv("to.write(\"{0}\", to.get(op->getOperands()), {{", words[0]);
      for (StringRef pair : drop_begin(words)) {
        auto [theirs, value] = pair.split('=');
        rule += formatv("{{\"{0}\", to.json({1})}, ", theirs, value);
      }
      bool hasMany = op.getNumResults() && op.getResult(0).isVariadic();
      rule += hasMany ? "}, op->getResults());" : "}, op->getResult(0));";
    }
    os << formatv("{{\"{0}\", [](mlir::Operation *any, GraphWriter &to) {{\n"
                  "  [[maybe_unused]] auto op = cast<{1}>(any);\n",
                  op.getOperationName(), op.getCppClassName());
    declareArguments(
        op, "op.", "to.get", "", "to.plain",
        [&](StringRef name) { return isWordOf(rule, name); }, os);
    os << "  " << rule << "\n}},\n";
  }
}

/// The signature in the language: `conv(x, weight; stride = 1)`.
std::string signatureText(const Operator &op) {
  std::string text = languageName(op) + "(";
  ListSeparator comma;
  raw_string_ostream os(text);
  for (const NamedTypeConstraint &operand : op.getOperands())
    os << comma << operand.name
       << (operand.isOptional()   ? " = none"
           : operand.isVariadic() ? "..."
                                  : "");
  bool first = true;
  forEachAttribute(op, [&](const NamedAttribute &attribute) {
    const Record *def = settingOf(attribute);
    if (!def)
      return;
    os << (first ? "; " : ", ") << attribute.name;
    first = false;
    if (StringRef fallback = def->getValueAsString("fallback");
        !fallback.empty())
      os << " = " << fallback;
  });
  os << ")";
  return text;
}

/// What is called in formulas, as the reference says it.
constexpr std::pair<StringLiteral, StringLiteral> kTerms[] = {
    {"isFloat(getA())", "a is of floating point"},
    {"getA().getDefiningOp<ConstantOp>()", "a is a number"},
    {"getY().getType().getRank() == 0", "y has no axes"},
    {"isContraction()", "products are summed"},
    {"int64_t(getNumOperands())", "operands"},
    {"getPoints()", "points"},
    {"getElementwiseCost()",
     "(a letter is summed ? points : points * (operands - 1))"},
    {"*getMultiplications()", "(exponent - 1)"},
    {"getMultiplications()", "exponent is 1, 2, 3 or 4"},
    {"hasClassNumbers()", "target holds class numbers"},
    {"getRows()", "logits / logits[over]"},
    {"getSums()", "x / x[over]"},
    {"getElements()", "xs"},
    {"getCovered()", "the elements of all windows"},
    {"isOfChannels()", "the moments are of channels"},
    {"flop.getValue()", "flop"},
    {"Polynomial()", "0"},
    {"Polynomial(y)", "y"},
    {"isSet(momentum)", "momentum != 0"},
    {"isSet(weight_decay)", "weight_decay != 0"},
    {"isSet(smoothing)", "smoothing != 0"},
    {" || ", " or "},
    {" && !", " and not "},
    {"0 * y", "0"},
    {"1 * y", "y"},
};

/// `c ? a : b` as `if c then a else b`, inside of parentheses, too.
std::string withChoicesInWords(StringRef text) {
  unsigned depth = 0;
  size_t question = StringRef::npos;
  std::string result;
  for (size_t i = 0, open = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' && depth++ == 0)
      open = i;
    else if (c == ')' && --depth == 0)
      result += "(" + withChoicesInWords(text.slice(open + 1, i)) + ")";
    else if (depth == 0 && c == ':' && question != StringRef::npos)
      return "if " + withChoicesInWords(text.take_front(question).trim()) +
             " then " + withChoicesInWords(text.slice(question + 1, i).trim()) +
             " else " + withChoicesInWords(text.drop_front(i + 1).trim());
    else if (depth == 0 && c == '?')
      question = i;
    else if (depth == 0)
      result += c;
  }
  return result;
}

/// A formula in the terms of the reference. One that calls what these have no
/// word for is an error of the build.
std::string documented(const Operator &op, StringRef field) {
  std::string text = formulaOf(op, field).str();
  for (auto [called, term] : kTerms)
    for (size_t at; (at = text.find(called)) != std::string::npos;)
      text.replace(at, called.size(), term);
  if (Regex("[a-z][A-Z][A-Za-z]*\\(|\\(\\)").match(text))
    PrintFatalError(op.getLoc(), "`" + text + "`, the formula of `" +
                                     op.getOperationName() +
                                     "`, calls what kTerms has no word for");
  return withChoicesInWords(text);
}

void writeDocs(ArrayRef<Operator> ops, raw_ostream &os) {
  os << "# Ops\n\n"
        "Generated by `net-tblgen -gen-docs` from `dialect/*.td`; do not "
        "edit.\n\n"
        "A formula counts the scalar operations of one execution. Each "
        "tensor's "
        "name stands for its number of elements, `x[i]` for the size of its "
        "axis "
        "`i` (from the end if negative), a setting's name for its value. "
        "`points` is the product of the sizes of all letters. "
        "`other` "
        "includes the transcendental operations. `autocast` is the format in "
        "which the op works where a run mixes formats: `Low`, that of "
        "products; "
        "`Full`, f32; `Loss`, f32 under every policy; `Widest`, that of its "
        "widest operand. The backward pass costs what "
        "the "
        "gradient ops cost that a layer's gradient is built of.\n";
  auto section = [&](StringRef title, bool callable) {
    os << "\n## " << title << "\n";
    for (const Operator &op : ops) {
      if (isCallable(op) != callable)
        continue;
      os << "\n### `" << op.getOperationName() << "`\n\n"
         << op.getSummary() << "\n";
      if (callable)
        os << "\n```\n" << signatureText(op) << "\n```\n";
      if (StringRef text = op.hasDescription() ? op.getDescription() : "";
          !text.trim().empty()) {
        os << "\n";
        SmallVector<StringRef> lines;
        text.trim().split(lines, '\n');
        for (StringRef line : lines)
          os << line.trim() << "\n";
      }
      forEachAttribute(op, [&](const NamedAttribute &attribute) {
        const Record *def = settingOf(attribute);
        StringRef least = def ? def->getValueAsString("least") : "";
        StringRef below = def ? def->getValueAsString("below") : "";
        if (!least.empty())
          os << "\n`" << attribute.name << "` is " << least << " or more"
             << (below.empty() ? "" : (", and below " + below).str()) << ".\n";
      });
      if (StringRef example = op.getDef().getValueAsString("example");
          !example.empty())
        os << "\nExample: `" << example << "`\n";
      if (auto names = op.getDef().getValueAsListOfStrings("foreign");
          !names.empty()) {
        os << "\nElsewhere: ";
        ListSeparator comma;
        for (StringRef entry : names)
          os << comma << "`" << entry.split(' ').first << "`";
        os << "\n";
      }
      bool free = true;
      for (StringRef formula : kFormulas)
        free &= formulaOf(op, formula) == "0";
      if (free)
        continue;
      os << "\n| matmul | other | of it transcendental | autocast |\n"
            "|---|---|---|---|\n|";
      for (StringRef formula :
           {"matmul", "other", "transcendental", "autocast"})
        os << " `" << documented(op, formula) << "` |";
      os << "\n";
    }
  };
  section("Ops that a specification calls", true);
  section("Ops that netc makes", false);
}

bool write(raw_ostream &os, RecordKeeper &records) {
  std::vector<Record *> defs = records.getAllDerivedDefinitions("Net_Op");
  llvm::sort(defs, [](const Record *a, const Record *b) {
    return a->getValueAsString("opName") < b->getValueAsString("opName");
  });
  std::vector<Operator> ops(defs.begin(), defs.end());
  if (action != Action::Docs)
    os << "// Generated by net-tblgen; do not edit.\n\n";
  switch (action) {
  case Action::Costs:
    writeCosts(ops, os);
    break;
  case Action::Signatures:
    writeSignatures(ops, os);
    break;
  case Action::Foreign:
    writeForeign(ops, os);
    break;
  case Action::Exports:
    writeExports(ops, os);
    break;
  case Action::Docs:
    writeDocs(ops, os);
    break;
  }
  return false;
}
} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "net-tblgen\n");
  return TableGenMain(argv[0], write);
}
