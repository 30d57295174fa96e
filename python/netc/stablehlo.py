# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads the generic text of StableHLO, where all ops have the form `%2 = "op"(%0, %1) <{attributes}> : (types) ->
types`."""

import ast
import math
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


KINDS = {
    "f64": "f8", "f32": "f4", "f16": "f2", "bf16": "f4", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "ui64": "u8", "ui32": "u4",
    "ui16": "u2", "ui8": "u1", "i1": "?",
}  # fmt: skip
WHOLE = {kind for kind, dtype in KINDS.items() if dtype[0] != "f"}
COMPARISONS = {"EQ": numpy.equal, "NE": numpy.not_equal, "GE": numpy.greater_equal, "GT": numpy.greater, "LE": numpy.less_equal, "LT": numpy.less}


def _divide(x, y):
    if x.dtype.kind == "f":
        return x / y
    quotient = numpy.abs(x) // numpy.maximum(numpy.abs(y), 1) * numpy.sign(x) * numpy.sign(y)
    return numpy.where(y == 0, -1, quotient)


def _remainder(x, y):
    return numpy.fmod(x, y) if x.dtype.kind == "f" else numpy.where(y == 0, x, numpy.fmod(x, numpy.where(y == 0, 1, y)))


ARITHMETIC = {
    "abs": numpy.abs, "add": numpy.add, "and": numpy.bitwise_and, "ceil": numpy.ceil, "clamp": lambda low, x, high: numpy.clip(x, low, high),
    "cosine": numpy.cos, "divide": _divide, "exponential": numpy.exp, "exponential_minus_one": numpy.expm1, "floor": numpy.floor,
    "is_finite": numpy.isfinite, "log": numpy.log, "log_plus_one": numpy.log1p, "maximum": numpy.maximum, "minimum": numpy.minimum,
    "multiply": numpy.multiply, "negate": numpy.negative, "not": numpy.invert, "or": numpy.bitwise_or, "power": numpy.power,
    "remainder": _remainder, "round_nearest_even": numpy.rint, "rsqrt": lambda x: 1 / numpy.sqrt(x), "select": numpy.where,
    "sign": numpy.sign, "sine": numpy.sin, "sqrt": numpy.sqrt, "subtract": numpy.subtract, "tanh": numpy.tanh, "xor": numpy.bitwise_xor,
}  # fmt: skip
MOST_STEPS = 1024
MOST_ELEMENTS = 4096  # of whole numbers by which loops and branches are decided


class Program:
    """All ops of `main`, with calls replaced by the ops of the functions, and loops written out. Values have numbers."""

    def __init__(self, text):
        self.functions, self.ops, self.shapes, self.kinds = _functions(text), [], [], []
        self.held = {}  # arrays of whole numbers, by value
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
            elif op.name == "stablehlo.case" and operands[0] in self.held:  # the branch is known
                number = int(self.held[operands[0]])
                results = self.run(op.bodies[number if 0 <= number < len(op.bodies) else -1][1], dict(names), around)
            elif op.name == "stablehlo.while":
                results = self.steps(op, operands, names, place)
            else:
                results = [self.value(*kind) for kind in op.types]
                self.ops.append((op, operands, results, place))
                self.evaluate(op, operands, results)
            names.update(zip(op.results, results))
        return []

    def steps(self, op, values, names, place):
        """The ops of a loop, as often as it runs. It counts, as `jax.lax.scan` and a `fori_loop` do; else it stays one op."""
        before, first = len(self.ops), values
        (asked, condition), (arguments, body) = op.bodies

        def run(body, arguments):
            return self.run(body, {**names, **{each[0]: value for each, value in zip(arguments, values)}}, place)

        for _ in range(MOST_STEPS + 1):
            goes_on = [self.held.get(each) for each in run(condition, asked)]
            if goes_on == [0]:
                return values
            if goes_on != [1]:
                break
            values = run(body, arguments)
        del self.ops[before:]
        results = [self.value(*kind) for kind in op.types]
        self.ops.append((op, first, results, place))
        return results

    def evaluate(self, op, operands, results):
        """Notes what an op makes of whole numbers that are known."""
        if len(op.types) != 1 or op.types[0][1] not in WHOLE or math.prod(op.types[0][0]) > MOST_ELEMENTS or any(each not in self.held for each in operands):
            return
        if (array := evaluate(op, [self.held[each] for each in operands], *op.types[0])) is not None:
            self.held[results[0]] = array


def named(op):
    """The name of an op, with the name of the op in its body."""
    inner = [each.name for _, body in op.bodies for each in body if each.name != "stablehlo.return"]
    return f"{op.name}.{inner[0].split('.')[-1]}" if op.name in ("stablehlo.reduce", "stablehlo.reduce_window") and len(inner) == 1 else op.name


def evaluate(op, ins, shape, kind):
    """The array of a shape and type that an op makes of arrays; None of an op that is not evaluated."""
    name, dtype = op.name.split(".")[-1], KINDS.get(kind)
    if dtype is None:
        return None
    if name == "constant":
        array = constant(op, shape, dtype)
    elif name == "iota":
        axis = op.numbers("iota_dimension")
        array = numpy.broadcast_to(numpy.arange(shape[axis], dtype=dtype).reshape([-1 if at == axis else 1 for at in range(len(shape))]), shape)
    elif name == "broadcast_in_dim":
        axes = op.numbers("broadcast_dimensions")
        array = numpy.broadcast_to(ins[0].reshape([ins[0].shape[axes.index(at)] if at in axes else 1 for at in range(len(shape))]), shape)
    elif name in ("reshape", "convert"):
        array = ins[0].reshape(shape).astype(dtype)
    elif name == "transpose":
        array = ins[0].transpose(op.numbers("permutation"))
    elif name == "reverse":
        array = numpy.flip(ins[0], op.numbers("dimensions"))
    elif name == "concatenate":
        array = numpy.concatenate(ins, op.numbers("dimension"))
    elif name == "slice":
        bounds = zip(*(op.numbers(key) for key in ("start_indices", "limit_indices", "strides")))
        array = ins[0][tuple(slice(*bound) for bound in bounds)]
    elif name == "dynamic_slice":
        starts = [min(max(int(start), 0), old - size) for start, old, size in zip(ins[1:], ins[0].shape, shape)]
        array = ins[0][tuple(slice(start, start + size) for start, size in zip(starts, shape))]
    elif name == "reduce" and isinstance(ufunc := ARITHMETIC.get(named(op).split(".")[-1]), numpy.ufunc) and ufunc.nin == 2:
        array = ufunc(ins[1], ufunc.reduce(ins[0], tuple(op.numbers("dimensions"))))
    elif name == "compare":
        array = COMPARISONS[direction(op)](*ins)
    elif name in ARITHMETIC:
        with numpy.errstate(all="ignore"):
            array = ARITHMETIC[name](*ins)
    else:
        return None
    return numpy.asarray(array).astype(dtype, copy=False)


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
