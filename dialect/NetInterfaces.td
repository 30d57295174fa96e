// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NET_INTERFACES_TD
#define NET_INTERFACES_TD

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::netc";
  let description = [{
    What one execution of the op costs.Implemented by the formulas in the
        op's ODS entry;
    ops that hold a region cost nothing themselves.
  }];
  let methods = [
    InterfaceMethod<
        "Arithmetic operations of one execution, exact in the free axes.",
        "::netc::Cost", "getCost">,
    InterfaceMethod<"In which format the op works where a run mixes formats.",
                    "::netc::Autocast", "getAutocast">,
    InterfaceMethod<[{
                      Elements of an operand that one execution reads,
                          or changes in place; none stands
      for all of them.
                    }],
                    "std::optional<::netc::Polynomial>", "getTouched",
                    (ins "unsigned"
                     : $operand),
                    "", "return std::nullopt;">
  ];
}

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::netc";
  let description =
      [{Builds the ops that carry a gradient from the results to the
            operands.What the backward pass costs is what these ops cost.}];
  let methods = [
    InterfaceMethod<[{
                      Reads the gradients of the results from `gradients`,
                          and sets that of every operand that `gradients.wants`
                              .At least one result has a gradient
                              .An op with a body replaces itself if it has more
                                  to hand on.Fails,
                          with an error on the op, where no gradient exists.
                    }],
                    "::llvm::LogicalResult", "buildGradient",
                    (ins "::netc::Gradients &"
                     : $gradients)>,
    InterfaceMethod<[{
      Calls `flow(from, to)` for each value and those computed from it in one iteration of
      the op: by default each operand and each result.
                    }],
                    "void", "forEachFlow",
                    (ins
                     "::llvm::function_ref<void(::mlir::Value, ::mlir::Value)>"
                     : $flow),
                    "", [{ return ::netc::flowThrough($_op, flow); }]>
  ];
}

def LanguageOpInterface : OpInterface<"LanguageOpInterface"> {
  let cppNamespace = "::netc";
  let description = [{
    An op that a specification can call by name.The front end knows no
    op: it reads the signature,
    fills the settings,
    and asks where each axis of a result comes from in order to label it.
  }];
  let methods = [
    StaticInterfaceMethod<
        "Tensors, settings and results, as the language sees them.",
        "const ::netc::Signature &", "getSignature">,
    InterfaceMethod<[{
                      The operand axes that `axis` of result `result` continues,
                          so that it keeps the label of the first that has one; none for an axis that the op makes. By default a
      result continues the first operand, axis by axis, where ranks agree.
                    }],
                    "::llvm::SmallVector<::netc::AxisSource>", "getAxisSources",
                    (ins "unsigned"
                     : $result, "unsigned"
                     : $axis),
                    "", [{ return ::netc::sameAxis($_op, result, axis); }]>
  ];
}

def IndexOpInterface : OpInterface<"IndexOpInterface"> {
  let cppNamespace = "::netc";
  let description = [{
    An op whose integers are places along an axis: rows of a table, or classes.
  }];
  let methods = [InterfaceMethod<"How many places there are. Any other integer is of nothing.",
                                 "::netc::Polynomial", "getIndexBound">];
}

def UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::netc";
  let description = [{An op that moves a parameter along its gradient.}];
  let methods = [InterfaceMethod<"How many tensors of the parameter's shape "
                                 "the op keeps from step to step.",
                                 "unsigned", "getNumStates">];
}

#endif // NET_INTERFACES_TD
