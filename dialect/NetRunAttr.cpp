// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Net.h"

using namespace netc;
using namespace mlir;

/// Calls `visit` with the name and the member of each fact, in printing order.
template <typename Visitor> static void forEachFact(Visitor visit) {
  visit("steps", &RunFacts::steps);
  visit("examples", &RunFacts::examples);
  visit("tokens", &RunFacts::tokens);
  visit("epochs", &RunFacts::epochs);
  visit("batch", &RunFacts::batch);
  visit("accumulate", &RunFacts::accumulate);
  visit("tokens_per_example", &RunFacts::tokensPerExample);
  visit("times", &RunFacts::times);
  visit("inference", &RunFacts::isInference);
  visit("decode", &RunFacts::decode);
  visit("decode_axis", &RunFacts::decodeAxis);
  visit("decode_together", &RunFacts::decodeTogether);
  visit("loss_scale", &RunFacts::lossScale);
  visit("loss_scale_growth", &RunFacts::lossScaleGrowth);
  visit("loss_scale_interval", &RunFacts::lossScaleInterval);
  visit("loss_scale_backoff", &RunFacts::lossScaleBackoff);
  visit("recompute", &RunFacts::recompute);
  visit("recompute_every", &RunFacts::recomputeEvery);
  visit("recompute_together", &RunFacts::recomputeTogether);
  visit("shared", &RunFacts::shared);
  visit("devices", &RunFacts::devices);
  visit("device", &RunFacts::device);
  visit("own_device", &RunFacts::hasOwnDevice);
  visit("device_memory", &RunFacts::deviceMemory);
  visit("device_bandwidth", &RunFacts::deviceBandwidth);
  visit("peak", &RunFacts::peak);
  visit("peak_format", &RunFacts::peakFormat);
  visit("peaks", &RunFacts::peaks);
  visit("precision", &RunFacts::precision);
  visit("utilization", &RunFacts::utilization);
  visit("assumed_utilization", &RunFacts::assumedUtilization);
  visit("took", &RunFacts::took);
  visit("took_device_seconds", &RunFacts::tookDeviceSeconds);
  visit("took_device", &RunFacts::tookDevice);
  visit("took_flop", &RunFacts::tookFlop);
  visit("year", &RunFacts::year);
  visit("trained_by", &RunFacts::trainedBy);
  visit("framework", &RunFacts::framework);
  visit("assumed", &RunFacts::assumptions);
  visit("tuning", &RunFacts::isTuning);
  visit("fma", &RunFacts::fma);
  visit("causal", &RunFacts::causal);
  visit("places", &RunFacts::places);
}

bool RunFacts::operator==(const RunFacts &other) const {
  bool isSame = true;
  forEachFact([&](const char *, auto fact) {
    isSame = isSame && this->*fact == other.*fact;
  });
  return isSame;
}

namespace {
/// A fact is hashed, printed and parsed by its type.
template <typename T> llvm::hash_code hashOf(const T &fact) {
  using llvm::hash_value;
  return hash_value(fact);
}
template <typename T> llvm::hash_code hashOf(const std::vector<T> &list) {
  return llvm::hash_combine_range(list.begin(), list.end());
}
template <typename T>
llvm::hash_code hashOf(const std::map<std::string, T> &map) {
  return llvm::hash_combine_range(map.begin(), map.end());
}

void print(AsmPrinter &printer, const std::string &text) {
  printer.printString(text);
}
void print(AsmPrinter &printer, const Rational &number) { printer << number; }
void print(AsmPrinter &printer, const std::optional<Rational> &number) {
  printer << *number;
}
template <typename Choice>
void print(AsmPrinter &printer, const std::optional<Choice> &choice) {
  printer.printString(stringifyEnum(*choice));
}
void print(AsmPrinter &printer, const std::optional<NumberFormat> &format) {
  printer.printString(traitsOf(*format).name);
}
void print(AsmPrinter &printer, LocationAttr place) {
  printer.printAttribute(place);
}
void print(AsmPrinter &printer, const Assumption &taken) {
  printer << '<';
  llvm::interleaveComma(
      ArrayRef({taken.key, taken.taken, taken.reason, taken.low.str(),
                taken.high.str()}),
      printer, [&](const std::string &text) { printer.printString(text); });
  printer << '>';
}
template <typename T>
void print(AsmPrinter &printer, const std::vector<T> &list) {
  printer << '[';
  llvm::interleaveComma(list, printer,
                        [&](const T &item) { print(printer, item); });
  printer << ']';
}
template <typename T>
void print(AsmPrinter &printer, const std::map<std::string, T> &map) {
  printer << '{';
  llvm::interleaveComma(map, printer, [&](const auto &entry) {
    printer << entry.first << " = ";
    print(printer, entry.second);
  });
  printer << '}';
}

ParseResult parse(AsmParser &parser, std::string &text) {
  return parser.parseString(&text);
}
ParseResult parse(AsmParser &parser, Rational &number) {
  FailureOr<Rational> parsed = FieldParser<Rational>::parse(parser);
  if (succeeded(parsed))
    number = *parsed;
  return ParseResult(parsed);
}
ParseResult parse(AsmParser &parser, std::optional<Rational> &number) {
  return parse(parser, number.emplace());
}
template <typename Choice>
ParseResult parse(AsmParser &parser, std::optional<Choice> &choice) {
  FailureOr<Choice> parsed = FieldParser<Choice>::parse(parser);
  if (succeeded(parsed))
    choice = *parsed;
  return ParseResult(parsed);
}
ParseResult parse(AsmParser &parser, std::optional<NumberFormat> &format) {
  SMLoc at = parser.getCurrentLocation();
  std::string name;
  if (parser.parseString(&name))
    return failure();
  format = parseNumberFormat(name);
  if (!format)
    return parser.emitError(at) << '"' << name << "\" is no number format";
  return success();
}
ParseResult parse(AsmParser &parser, LocationAttr &place) {
  return parser.parseAttribute(place);
}
ParseResult parse(AsmParser &parser, Assumption &taken) {
  auto comma = [&] { return parser.parseComma(); };
  return failure(parser.parseLess() || parse(parser, taken.key) || comma() ||
                 parse(parser, taken.taken) || comma() ||
                 parse(parser, taken.reason) || comma() ||
                 parse(parser, taken.low) || comma() ||
                 parse(parser, taken.high) || parser.parseGreater());
}
template <typename T>
ParseResult parse(AsmParser &parser, std::vector<T> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parse(parser, list.emplace_back());
  });
}
template <typename T>
ParseResult parse(AsmParser &parser, std::map<std::string, T> &map) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        StringRef key;
        return failure(parser.parseKeyword(&key) || parser.parseEqual() ||
                       parse(parser, map[key.str()]));
      });
}
} // namespace

llvm::hash_code netc::hash_value(const RunFacts &facts) {
  llvm::hash_code code(0);
  forEachFact([&](const char *, auto fact) {
    code = llvm::hash_combine(code, hashOf(facts.*fact));
  });
  return code;
}

/// Why passes cannot rely on the facts; empty if they can.
static std::string faultOf(const RunFacts &facts) {
  std::string fault;
  forEachFact([&](const char *name, auto fact) {
    if constexpr (std::is_same_v<decltype(fact),
                                 RunFacts::Number RunFacts::*>) {
      bool isCount = fact == &RunFacts::recomputeEvery ||
                     fact == &RunFacts::recomputeTogether ||
                     fact == &RunFacts::accumulate;
      const RunFacts::Number &number = facts.*fact;
      bool isRight = !number || (isCount ? number->isInteger() && *number >= 1
                                         : *number >= 0);
      if (!isRight)
        fault = "`" + std::string(name) + "` of a run is " + number->str() +
                (isCount ? ", expected a whole number from 1"
                         : ", expected a number from 0");
    }
  });
  if (facts.hasDynamicLossScale() &&
      !(facts.lossScale && facts.lossScaleGrowth && facts.lossScaleBackoff))
    return "a dynamic scale of the loss lacks its start, growth or backoff";
  return fault;
}

Attribute RunAttr::parse(AsmParser &parser, Type) {
  RunFacts facts;
  SMLoc start = parser.getCurrentLocation();
  auto parseFact = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    std::optional<ParseResult> result;
    forEachFact([&](const char *known, auto fact) {
      if (name != known)
        return;
      if constexpr (std::is_same_v<decltype(fact), bool RunFacts::*>) {
        facts.*fact = true;
        result = success();
      } else {
        result = failure(parser.parseEqual() || ::parse(parser, facts.*fact));
      }
    });
    if (!result)
      return parser.emitError(at) << "a run has no `" << name << "`";
    return *result;
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseFact))
    return {};
  if (std::string fault = faultOf(facts); !fault.empty()) {
    parser.emitError(start) << fault;
    return {};
  }
  return RunAttr::get(parser.getContext(), facts);
}

void RunAttr::print(AsmPrinter &printer) const {
  const RunFacts &facts = getFacts(), nothing;
  StringRef comma;
  printer << '<';
  forEachFact([&](const char *name, auto fact) {
    if (facts.*fact == nothing.*fact)
      return;
    printer << comma << name;
    comma = ", ";
    if constexpr (!std::is_same_v<decltype(fact), bool RunFacts::*>) {
      printer << " = ";
      ::print(printer, facts.*fact);
    }
  });
  printer << '>';
}

const RunFacts *netc::runFactsOf(Operation *op) {
  auto run = op->getAttrOfType<RunAttr>("run");
  return run ? &run.getFacts() : nullptr;
}

Location netc::placeOf(Operation *run, StringRef key) {
  const RunFacts *facts = runFactsOf(run);
  auto found = facts->places.find(key.str());
  return found == facts->places.end() ? run->getLoc() : Location(found->second);
}
