// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arithmetic and functions of elements.

#include "lib/Import/OpTranslators.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace netc;
using namespace netc::import;
using llvm::StringRef;

void ArithmeticTranslator::addTo(Handlers &handlers) {
  add(handlers, this,
      {
          {"add", &ArithmeticTranslator::binary},
          {"convert", &ArithmeticTranslator::convert},
          {"div", &ArithmeticTranslator::binary},
          {"maximum", &ArithmeticTranslator::binary},
          {"minimum", &ArithmeticTranslator::binary},
          {"mul", &ArithmeticTranslator::binary},
          {"power", &ArithmeticTranslator::power},
          {"relu6", &ArithmeticTranslator::clamp},
          {"sqrt", &ArithmeticTranslator::root},
          {"stop_gradient", &ArithmeticTranslator::stopGradient},
          {"sub", &ArithmeticTranslator::binary},
      });
}

void ArithmeticTranslator::clamp() {
  int x = promoted(node.in(0));
  bool isTanh = node->op == "aten.hardtanh";
  const char *low = isTanh ? "min_val" : "min",
             *high = isTanh ? "max_val" : "max";
  bool hasLow = node.setting(low), hasHigh = node.setting(high);
  if (hasLow && hasHigh && node.real(low, 0) == 0 && node.real(high, 0) == 6) {
    steps.add(Step::Pipe, "relu6", {x});
    return;
  }
  if (hasLow && hasHigh) {
    Step &made = steps.add(Step::Pipe, "clamp", {x});
    made.put("", "least", steps.beside(x, node.numberText(low, 0)));
    made.put("", "most", steps.beside(x, node.numberText(high, 0)));
    return;
  }
  if (node.has(1) != node.has(2) && !hasLow && !hasHigh) {
    node.readAs(node.has(1) ? "aten.maximum" : "aten.minimum");
    return combine("", x, node.in(node.has(1) ? 1 : 2));
  }
  if (!hasLow && !hasHigh)
    node.refuse("its bounds are no numbers");
  Step &made = steps.add(Step::Form_,
                         hasLow ? "maximum(%0, #0)" : "minimum(%0, #0)", {x});
  made.put("", "bound",
           steps.beside(x, node.numberText(hasLow ? low : high, 0)));
}

void ArithmeticTranslator::binary() {
  std::string sign = node.isOp("add")   ? "+"
                     : node.isOp("sub") ? "-"
                     : node.isOp("mul") ? "*"
                     : node.isOp("div") ? "/"
                                        : "";
  double scale = node.real("alpha", 1);
  bool isTurned = node->op == "aten.rsub";
  if (node->ins.size() > 2)
    node.refuse("netc takes it of two tensors");
  if (scale == 1 && (dropout.takes() || gelu.takes()))
    return;
  if (node->ins.size() == 1) {
    bool isSelf = node.setting("self"), isFirst = isSelf || isTurned;
    const char *number = isSelf ? "self" : "other";
    return withNumber(sign, scaled(node.in(0), isFirst ? scale : 1),
                      isFirst || scale == 1
                          ? node.numberText(number, 0)
                          : realText(node.real(number, 0) * scale),
                      isFirst);
  }
  if (scale != 1)
    return combine(sign, node.in(isTurned), scaled(node.in(!isTurned), scale));
  int a = node.in(isTurned), b = node.in(!isTurned);
  if (sign == "+" && (addRows(a, b) || addRows(b, a)))
    return;
  for (auto [x, other, isFirst] :
       {std::make_tuple(b, a, false), std::make_tuple(a, b, true)})
    if (values.what(x) == "number" && shape(other) == shape(node.out()))
      return withNumber(sign, other, node.numberTextOf(x), isFirst);
  if (sign == "+" &&
      (addMask(a, b) || addMask(b, a) || rotary(a, b) || rotary(b, a)))
    return;
  combine(sign, a, b);
}

void ArithmeticTranslator::withNumber(const std::string &sign, int x,
                                      std::string number, bool isFirst) {
  Step &made = steps.add(Step::Form_,
                         sign.empty() ? node.op() + "(%0, #0)"
                         : isFirst    ? "#0 " + sign + " %0"
                                      : "%0 " + sign + " #0",
                         {promoted(x)});
  made.put("", "factor", steps.beside(x, std::move(number)));
}

bool ArithmeticTranslator::addRows(int x, int rows) {
  const StoredValues::Rows *read = steps.stored.findRows(rows);
  if (!read || shape(x) != shape(node.out()))
    return false;
  if (!read->place.empty()) {
    Step &made = steps.add(Step::Form_,
                           "%0 + expand(%1[#0, ...], %0, over = axes(%0)[-1])",
                           {x, read->table});
    made.put("", "row", read->place);
    return true;
  }
  if (steps.maker(read->table))
    return false;
  Step &made = steps.addInstance("Position", x, {read->table});
  made.put("", "length", shape(read->table)[0].str());
  return true;
}

bool ArithmeticTranslator::addMask(int x, int mask) {
  if (shape(x) != shape(node.out()))
    return false;
  if (std::string kind = values.what(mask); kind == "causal" || kind == "band")
    masks.hide(x, mask, -INFINITY);
  else if (const JointMask *both = masks.find(mask))
    steps.same(masks.hideBoth(x, *both));
  else if (JointMask hidden = masks.hiddenBy(mask); hidden.isCausal) {
    combine("+", x, mask);
    steps.same(masks.hideBoth(steps.intermediate(), hidden));
  } else
    return false;
  return true;
}

int ArithmeticTranslator::scaled(int x, double factor) {
  if (factor == 1)
    return x;
  int product = steps.make("%0 * #0", {promoted(x)}, shape(x));
  steps.last().put("", "scale", realText(factor));
  return product;
}

void ArithmeticTranslator::combine(const std::string &sign, int a, int b) {
  if (values.isFloat(node.out()) || values.isFloat(a) || values.isFloat(b)) {
    a = steps.floated(a);
    b = steps.floated(b);
  }
  if (shape(a) != shape(node.out()) && shape(b) != shape(node.out()))
    a = steps.repeated(a);
  bool wantsFirst = shape(a) == shape(node.out()),
       wantsSecond = shape(b) == shape(node.out());
  if (wantsFirst && wantsSecond) {
    b = steps.unlabelled(b, a);
    a = steps.unlabelled(a, b);
    Step &made = steps.add(Step::Infix, sign, {a, b});
    if (sign.empty()) {
      made.form = Step::Form_;
      made.fn = node.op() + "(%0, %1)";
    }
    values.labels(node.out()) = values.labels(a);
    values.meet(node.out(), b);
    return;
  }
  int full = wantsFirst ? a : b, small = wantsFirst ? b : a;
  // In a Form_, operand 0 is that of the whole shape.
  Step &made = steps.add(Step::Form_, "", {full, small});
  std::string other = steps.expanded(small, 1, "%0", &made);
  std::string left = wantsFirst ? "%0" : other,
              right = wantsFirst ? other : "%0";
  made.fn = sign.empty() ? node.op() + "(" + left + ", " + right + ")"
                         : left + " " + sign + " " + right;
  values.labels(node.out()) = values.labels(full);
}

bool ArithmeticTranslator::rotary(int a, int b) {
  const Step *cosines = steps.maker(a), *sines = steps.maker(b);
  auto isScaled = [&](const Step *step) {
    return step && step->op == "mul" && step->ins.size() == 2 &&
           values.isKnown(step->ins[1]) && shape(step->ins[1]).size() > 1;
  };
  if (!isScaled(cosines) || !isScaled(sines) || shape(a).size() != 4)
    return false;
  int x = cosines->ins[0];
  const Step *turned = steps.maker(sines->ins[0]);
  if (!turned || turned->op != "concat" || turned->ins.size() != 2)
    return false;
  const Step *negated = steps.maker(turned->ins[0]),
             *first = steps.maker(turned->ins[1]);
  const Step *second =
      negated && negated->op == "neg" ? steps.maker(negated->ins[0]) : nullptr;
  if (!first || !second || first->op != "slice" || second->op != "slice" ||
      first->ins[0] != x || second->ins[0] != x)
    return false;
  double theta = values.at(sines->ins[1]).known->value("theta", 10000.0);
  Step &made = steps.add(Step::Pipe, "RoPE", {x});
  made.putReal("theta", theta, 10000);
  return true;
}

/// Functions that are several ops here.
static const std::map<StringRef, StringRef> &functions() {
  static const std::map<StringRef, StringRef> table = {
      {"aten.exp2", "exp(%0 * 0.6931471805599453)"},
      {"aten.expm1", "exp(%0) - 1"},
      {"aten.log10", "log(%0) * 0.4342944819032518"},
      {"aten.log1p", "log(1 + %0)"},
      {"aten.log2", "log(%0) * 1.4426950408889634"},
      {"aten.log_sigmoid", "-softplus(-%0)"},
      {"aten.mish", "%0 * tanh(softplus(%0))"},
      {"aten.reciprocal", "1 / %0"},
      {"onnx.Mish", "%0 * tanh(softplus(%0))"},
      {"onnx.Reciprocal", "1 / %0"},
      {"onnx.Selu", "1.0507009873554805 * elu(%0, alpha = 1.6732632423543772)"},
      {"aten.selu", "1.0507009873554805 * elu(%0, alpha = 1.6732632423543772)"},
      {"aten.square", "%0 * %0"},
      {"aten.tan", "sin(%0) / cos(%0)"},
      {"chlo.square", "%0 * %0"},
      {"stablehlo.exponential_minus_one", "exp(%0) - 1"},
      {"stablehlo.log_plus_one", "log(1 + %0)"},
      {"stablehlo.rsqrt", "1 / sqrt(%0)"},
  };
  return table;
}

bool ArithmeticTranslator::isFunction(StringRef op) {
  return functions().count(op);
}

void ArithmeticTranslator::elementwise() {
  if (node->ins.size() != 1 || node->outs.size() != 1)
    node.refuse("netc takes it of one tensor");
  if (auto form = functions().find(node->op); form != functions().end()) {
    node.wantOne("self"); // of a reciprocal
    steps.add(Step::Form_, form->second.str(), {promoted(node.in(0))});
    return;
  }
  // Of `aten.elu`; netc has them as products.
  node.wantOne("scale");
  node.wantOne("input_scale");
  double beta = node.real("beta", 1), threshold = node.real("threshold", 20);
  // Beyond 20, softplus(x) is x in 32 bits.
  if (beta != 1 || (node.isOp("softplus") && threshold < 20)) {
    std::string scaled = beta == 1 ? "%0" : "%0 * #0",
                function = node.op() + "(" + scaled + ")";
    Step &made =
        steps.add(Step::Form_, beta == 1 ? function : function + " / #0",
                  {promoted(node.in(0))});
    if (beta != 1)
      made.put("", "beta", realText(beta));
    if (node.isOp("softplus") && threshold < 20) {
      made.fn = "where(" + scaled + " > #" +
                std::to_string(made.arguments.size()) + ", %0, " + made.fn +
                ")";
      made.put("", "threshold", realText(threshold));
    }
    return;
  }
  Step &made = steps.add(Step::Pipe, node.op(), {promoted(node.in(0))});
  for (auto &[theirs, ours] : node.foreign()->settings)
    if (node.setting(theirs.str().c_str()))
      made.put(ours.str(), ours.str(),
               realText(node.real(theirs.str().c_str(), 0)));
}

void ArithmeticTranslator::convert() {
  int x = node.in(0);
  if (node->op == "aten.type_as")
    node.ignoreOperand(1);
  bool isTruth = values.at(x).type == "bool",
       makesTruth = values.at(node.out()).type == "bool";
  bool isTable = values.what(x) == "table" && values.isFloat(node.out()) &&
                 !values.isFloat(x);
  if (isTable)
    steps.same(steps.floated(x));
  else if (values.isKnown(x) || (isTruth && makesTruth))
    steps.same(x);
  else if (makesTruth)
    steps.add(Step::Form_, "%0 != 0", {x});
  else if (isTruth || (values.isFloat(node.out()) && !values.isFloat(x)))
    values.at(steps.add(Step::Form_, "float(%0)", {x}).outs[0]).type =
        values.isFloat(node.out()) ? values.at(node.out()).type : "f32";
  else
    steps.same(x);
}

void ArithmeticTranslator::stopGradient() {
  if (!values.isFloat(node.in(0)) || values.isKnown(node.in(0)))
    return steps.same(node.in(0));
  steps.add(Step::Pipe, "stop_gradient", {node.in(0)});
}

void ArithmeticTranslator::root() {
  int x = promoted(node.in(0));
  if (node->op == "aten.rsqrt")
    steps.add(Step::Form_, "1 / sqrt(%0)", {x});
  else
    steps.add(Step::Pipe, "sqrt", {x});
}

void ArithmeticTranslator::power() {
  int x = promoted(node.in(0));
  if (node->ins.size() == 2) {
    int logarithm = steps.make("log(%0)", {x}, shape(x));
    values.labels(logarithm) = values.labels(x);
    int exponent = values.another(node.out());
    combine("*", logarithm, promoted(node.in(1)));
    steps.last().outs = {exponent};
    steps.add(Step::Form_, "exp(%0)", {exponent});
    return;
  }
  if (node.setting("self")) {
    Step &made = steps.add(Step::Form_, "exp(%0 * #0)", {x});
    made.put("", "factor", realText(std::log(node.real("self", 1))));
    return;
  }
  if (!node.setting("exponent"))
    node.refuse("it has no exponent");
  Step &made = steps.add(Step::Form_, "%0^#0", {x});
  made.put("", "exponent", realText(node.real("exponent", 1)));
}
