# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads the generic text of StableHLO, where all ops have the form `%2 = "op"(%0, %1) <{attributes}> : (types) ->
types`."""

import ast
import math
import operator
import re

import numpy

from .errors import ImportRefused


class Op:
    """An op of the text, with its bodies."""

    def __init__(self, name, results, operands, attributes, place):
        self.name, self.results, self.operands, self.attributes, self.place = name, results, operands, attributes, place
        self.bodies, self.types = [], []

    def numbers(self, key):
        """An attribute of integers: `array<i64: 1, 2>`, `[1, 2]`, `dense<..>`, or a single one."""
        if found := re.search(rf"\b{key} = array<\w+(?:: ([^>]*))?>", self.attributes):
            return [int(each) for each in (found[1] or "").split(",") if each.strip()]
        if found := re.search(rf"\b{key} = dense<([^>]*)> : tensor<([^>]*)x\w+>", self.attributes):
            return numpy.broadcast_to(numpy.array(ast.literal_eval(found[1] or "[]")), [int(size) for size in found[2].split("x")]).tolist()
        found = re.search(rf"\b{key} = (\[[^\]]*\]|-?\d+)", self.attributes)
        return ast.literal_eval(found[1]) if found else []


OP = re.compile(r'^\s*(?:(%[\w#:, %]+?) = )?"([\w.]+)"\(([^)]*)\)(.*)$')
TYPE = re.compile(r"tensor<(?:([\dx?]*)x)?(\w+(?:<\w+>)?)>")
LOCATION = re.compile(r'loc\((#loc\d*|"(?:[^"\\]|\\.)*"|unknown)')


def _types(text):
    """The shape and element type of each tensor in a signature."""
    return [([int(size) for size in sizes.split("x")] if sizes else [], element) for sizes, element in TYPE.findall(text)]


def _result_types(tail):
    """The types after the arrow in `.. : (tensor<2xf32>) -> tensor<2xf32> loc(#loc3)`."""
    return _types(tail.rpartition(" loc(")[0].rpartition("->")[2])


def _functions(text):
    """The functions by name: their arguments (name, shape, type, and name in Python) and their ops."""
    places = {key: value.strip('"') for key, value in re.findall(r'^(#loc\d*) = loc\(("[^"]*"|unknown)', text, re.M)}
    functions, stack = {}, []
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith("^bb0"):
            found = re.findall(r'(%\w+): (tensor<\w+(?:<\w+>)?>)(?: loc\((#loc\d*|"[^"]*"|unknown)\))?', stripped)
            if stack[-1].bodies[-1:] == [([], [])]:
                stack[-1].bodies.pop()
            stack[-1].bodies.append(([(name, *_types(kind)[0], places.get(place, place.strip('"'))) for name, kind, place in found], []))
        elif stripped == "}, {":
            stack[-1].bodies.append(([], []))
        elif stripped.startswith("})"):
            op = stack.pop()
            op.types = _result_types(stripped)
            if found := LOCATION.search(stripped):
                op.place = places.get(found[1], found[1].strip('"'))
        elif found := OP.match(line):
            results = [] if not found[1] else [found[1]]
            if results and ":" in found[1]:
                base, count = found[1].split(":")
                results = [f"{base}#{i}" for i in range(int(count))]
            location = LOCATION.search(found[4])
            place = places.get(location[1], location[1].strip('"')) if location else ""
            op = Op(found[2], results, [each.strip() for each in found[3].split(",") if each.strip()], found[4], place)
            op.types = _result_types(found[4])
            if stack and stack[-1].name != "builtin.module":
                if not stack[-1].bodies:
                    stack[-1].bodies.append(([], []))
                stack[-1].bodies[-1][1].append(op)
            if op.name == "func.func":
                functions[re.search(r'sym_name = "([^"]*)"', op.attributes)[1]] = op
            if found[4].rstrip().endswith("({"):
                stack.append(op)
    if "main" not in functions:
        raise ImportRefused('this is no generic text of StableHLO with a function `main`: `lowered.compiler_ir("stablehlo")` prints one')
    return {name: op.bodies[0] for name, op in functions.items()}


COMPARISONS = {"EQ": operator.eq, "NE": operator.ne, "GE": operator.ge, "GT": operator.gt, "LE": operator.le, "LT": operator.lt}
# Of whole numbers, by which loops count.
ARITHMETIC = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "negate": operator.neg, "minimum": min, "maximum": max,
    "divide": lambda x, y: int(x / y) if y else -1, "remainder": lambda x, y: int(math.fmod(x, y)) if y else x,
    "clamp": lambda low, x, high: max(low, min(x, high)), "and": operator.and_, "or": operator.or_, "convert": int,
    "select": lambda holds, one, other: one if holds else other,
}  # fmt: skip
WHOLE = {"i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"}
MOST_STEPS = 1024


class Program:
    """All ops of `main`, with calls replaced by the ops of the functions, and loops written out. Values have numbers."""

    def __init__(self, text):
        self.functions, self.ops, self.shapes, self.kinds = _functions(text), [], [], []
        self.numbers = {}  # of values that are one
        arguments, body = self.functions["main"]
        self.arguments = [self.value(shape, kind) for _, shape, kind, _ in arguments]
        self.called = [called for *_, called in arguments]
        self.results = self.run(body, {each[0]: value for each, value in zip(arguments, self.arguments)}, "")

    def value(self, shape, kind):
        self.shapes.append(shape)
        self.kinds.append(kind)
        return len(self.shapes) - 1

    def run(self, body, names, around):
        for op in body:
            operands = [names[each] for each in op.operands]
            place = op.place if not around or op.place.startswith(around.split("/")[0]) else f"{around}/{op.place}"
            if op.name in ("func.return", "stablehlo.return"):
                return operands
            if op.name == "func.call":
                arguments, inner = self.functions[re.search(r'callee = @("[^"]*"|[\w.$]+)', op.attributes)[1].strip('"')]
                results = self.run(inner, {each[0]: value for each, value in zip(arguments, operands)}, place)
            elif op.name == "stablehlo.case" and operands[0] in self.numbers:  # the branch is known
                number = self.numbers[operands[0]]
                results = self.run(op.bodies[number if 0 <= number < len(op.bodies) else -1][1], dict(names), around)
            elif op.name == "stablehlo.while":
                results = self.steps(op, operands, names, place)
            else:
                results = [self.value(*kind) for kind in op.types]
                self.ops.append((op, operands, results, place))
                number = self.evaluate(op, operands)
                if number is not None:
                    self.numbers[results[0]] = number
            names.update(zip(op.results, results))
        return []

    def steps(self, op, values, names, place):
        """The ops of a loop, as often as it runs. It counts, as `jax.lax.scan` and a `fori_loop` do; else it stays one op."""
        before, first = len(self.ops), values
        (asked, condition), (arguments, body) = op.bodies

        def run(body, arguments):
            return self.run(body, {**names, **{each[0]: value for each, value in zip(arguments, values)}}, place)

        for _ in range(MOST_STEPS + 1):
            goes_on = [self.numbers.get(each) for each in run(condition, asked)]
            if goes_on == [0]:
                return values
            if goes_on != [1]:
                break
            values = run(body, arguments)
        del self.ops[before:]
        results = [self.value(*kind) for kind in op.types]
        self.ops.append((op, first, results, place))
        return results

    def evaluate(self, op, operands):
        """The number that an op makes of numbers, or None."""
        kind = op.name.removeprefix("stablehlo.")
        if len(op.types) != 1 or op.types[0][0] or op.types[0][1] not in WHOLE:
            return None
        if kind == "constant":
            return int(constant(op, [], "i8"))
        numbers = [self.numbers.get(each) for each in operands]
        function = COMPARISONS[direction(op)] if kind == "compare" else ARITHMETIC.get(kind)
        if kind == "not":
            function = operator.not_ if op.types[0][1] == "i1" else operator.invert
        return None if None in numbers or function is None else int(function(*numbers))


def direction(op):
    """The direction of a comparison, such as `GE`."""
    return re.search(r"comparison_direction (\w+)", op.attributes)[1]


def _held(bits, kind, dtype):
    """An array from its bytes. numpy has no bf16, which is the upper half of an f32."""
    return (numpy.frombuffer(bits, "<u2").astype("<u4") << 16).view("f4") if kind == "bf16" else numpy.frombuffer(bits, dtype)


def constant(op, shape, dtype):
    """The value of a constant as an array."""
    text, kind = re.search(r"value = dense<(.*?)> : tensor", op.attributes)[1], op.types[0][1]
    if text.startswith('"0x'):
        bits = bytes.fromhex(text[3:-1])
        raw = numpy.unpackbits(numpy.frombuffer(bits, "u1"), bitorder="little") if kind == "i1" else _held(bits, kind, dtype)
        return raw[: math.prod(shape)].reshape(shape).astype(dtype) if kind == "i1" or raw.size > 1 else numpy.broadcast_to(raw[0], shape)
    if text.startswith("0x"):
        bits = bytes.fromhex(text[2:])
        return numpy.broadcast_to(_held(bits[::-1], kind, f"f{len(bits)}")[0], shape)
    values = ast.literal_eval(text.replace("true", "True").replace("false", "False") or "[]")
    return numpy.broadcast_to(numpy.array(values, dtype=dtype), shape)
