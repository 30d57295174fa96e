# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes a function of JAX as the graph that `netc import` reads, docs/graph.schema.json.

It reads the generic text of StableHLO, which has the function with all of its sizes. From the texts for two batch sizes,
it finds the sizes as polynomials in the batch. The ops keep their names. An op with a body is named with the op in it,
such as `stablehlo.reduce.add`. Functions of JAX that became several ops are recognized. Arguments have PyTorch's names.
"""

import math
import re

import numpy

from .errors import ImportRefused
from .jax_functions import Functions
from .jax_lookups import Lookups
from .known import fixed_axes, known, number_of, same_size
from .number_types import NoType, NumberTypes
from .sizes import NAMES, SIZES, polynomial
from .stablehlo import KINDS, MOST_STEPS, Program, direction, evaluate, named

TYPES = NumberTypes({
    "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8", "ui8": "u8",
    "ui32": "i64", "i1": "bool",
})  # fmt: skip
FLOATS = {"f64", "f32", "f16", "bf16"}
LOOPS = {"while", "cond", "body", "closed_call"}  # scopes of a loop, which is written out
CONTROL = {
    "stablehlo.while": f"a loop is written out that counts to a number of at most {MOST_STEPS}, and this one does not",
    "stablehlo.case": "what it computes depends on data",
    "stablehlo.if": "what it computes depends on data",
}


def export(function, weights, *inputs, name=None):
    """Returns the graph of a function of JAX, an object for JSON.

    Args:
        function: takes the weights and the inputs, as for `jax.jit`.
        weights: the first argument of the function, a tree of arrays or of `jax.ShapeDtypeStruct`.
        inputs: the other arguments. Their values do not matter. The first axis of each is the batch axis.
        name: of the network; by default the name of the function, in upper case.

    Raises:
        ImportRefused: the function's ops depend on the batch size, or the inputs' first axes differ.
    """
    import jax

    texts, named = texts_of(function, weights, *inputs)
    own = getattr(function, "__name__", "")
    own = own[0].upper() + own[1:] if own.isidentifier() and own not in ("apply", "__call__") else "Model"
    return graph(texts, named, name or own, f"JAX {jax.__version__}")


def texts_of(function, weights, *inputs):
    """The generic texts of a function for each of the first two of SIZES as the batch size, and the names of its
    weights."""
    import jax

    def shaped(leaf, examples=None):
        leaf = leaf if hasattr(leaf, "shape") else jax.numpy.asarray(leaf)
        shape = tuple(leaf.shape) if examples is None or not leaf.shape else (examples, *leaf.shape[1:])
        return jax.ShapeDtypeStruct(shape, leaf.dtype)

    firsts = {leaf.shape[0] for leaf in jax.tree_util.tree_leaves(inputs) if getattr(leaf, "shape", ())}
    if len(firsts) > 1:
        raise ImportRefused(
            f"the first axes of the inputs are {', '.join(map(str, sorted(firsts)))}, and the first axis of each is that of the batch; give what has no batch, "
            "such as a table, with the weights"
        )
    named = [".".join(_key(key) for key in path) for path, _ in jax.tree_util.tree_flatten_with_path(weights)[0]]
    texts = []
    limit = jax.config.jax_traceback_in_locations_limit
    jax.config.update("jax_traceback_in_locations_limit", 0)
    try:
        for examples in SIZES[:2]:
            given = [jax.tree_util.tree_map(lambda leaf, count=examples: shaped(leaf, count), each) for each in inputs]
            try:
                lowered = jax.jit(function, keep_unused=True).lower(jax.tree_util.tree_map(shaped, weights), *given)
            except Exception as problem:
                jax.eval_shape(function, weights, *inputs)  # what is wrong for any size is an error of JAX
                why = next(iter(str(problem).splitlines()), "") or type(problem).__name__
                raise ImportRefused(
                    f"the first axis of each input is taken for the batch, and the function takes no batch of {examples}: {why.rstrip('.')}; "
                    "a function of one example is one of a batch by `jax.vmap(function, in_axes=(None, 0))`, and its input has an axis more"
                ) from None
            module = lowered.compiler_ir("stablehlo").operation
            texts.append(module.get_asm(print_generic_op_form=True, enable_debug_info=True))
    finally:
        jax.config.update("jax_traceback_in_locations_limit", limit)
    return texts, named


def _key(key):
    return str(next(getattr(key, part) for part in ("key", "name", "idx") if hasattr(key, part)))


def graph(texts, weights, name, source):
    """Returns the graph of generic texts: for each of the first two of SIZES as the batch size, or one text for any batch.

    Args:
        weights: names of the first arguments of `main`. The others are inputs.
    """
    return _Writer([Program(text) for text in texts], weights).graph(name, source)


class _Writer(Functions, Lookups):
    def __init__(self, samples, names):
        self.samples, self.first = samples, samples[0]
        if len({tuple(op.name for op, *_ in sample.ops) for sample in samples}) > 1:
            raise ImportRefused("the function is another one for another number of examples")
        self.symbols = NAMES[: len(samples) - 1]
        self.ops = [[sample.ops[i] for sample in samples] for i in range(len(self.first.ops))]
        self.makers = {value: i for i, (_, _, results, _) in enumerate(self.first.ops) for value in results}
        self.users = {}
        for i, (_, operands, _, _) in enumerate(self.first.ops):
            for value in operands:
                self.users.setdefault(value, []).append(i)
        self.values = {}  # by number: an array of each sample
        self.alias, self.spread, self.fused = {}, {}, {}
        self.notes = []
        self.names, self.weights, self.known, self.nodes, self.modules, self.open, self.place = {}, {}, {}, [], [], [], ""
        # Flax's other collections, such as running statistics, and integers are state.
        has_collections = any(label.startswith("params.") for label in names)
        for value, label in zip(self.first.arguments, names):
            is_state = has_collections and not label.startswith("params.") or self.first.kinds[value] not in FLOATS
            self.names[value] = label.removeprefix("params.") or "weight"
            self.weights[value] = {**self.tensor(value), **({"state": True} if is_state else {"learns": True})}
        self.inputs = self.first.arguments[len(names) :]
        for value, called in zip(self.inputs, self.first.called[len(names) :]):
            if called.isidentifier() and called not in self.names.values():
                self.names[value] = called
            elif "input" not in self.names.values():
                self.names[value] = "input"

    # Values.

    def shape(self, value):
        return [self.size(sizes) for sizes in zip(*(sample.shapes[value] for sample in self.samples))]

    def polynomial(self, numbers):
        return numbers[0] if not self.symbols else polynomial(numbers, list(self.symbols))

    def size(self, numbers):
        found = self.polynomial(numbers)
        if found is None:
            raise ImportRefused("a size is no polynomial in the number of examples")
        return found

    def real(self, value):
        while value in self.alias:
            value = self.alias[value]
        return value

    def tensor(self, value, shape=None):
        label, kind = self.names.setdefault(value, f"v{value}"), self.first.kinds[value]
        try:
            made = TYPES[kind]
        except NoType as problem:
            raise ImportRefused(f"{problem} ({self.place or label})") from None
        return {"name": label, "type": made, "shape": self.shape(value) if shape is None else shape}

    def number(self, value):
        """The number that a value holds in all elements, for all sizes; else None."""
        value = self.real(value)
        if value not in self.values:
            return None
        held = numpy.concatenate([array.reshape(-1) for array in self.values[value]])
        if not held.size or not numpy.array_equal(held, numpy.broadcast_to(held[0], held.shape), equal_nan=held.dtype.kind == "f"):
            return None
        return float(number_of(held[0])) if held.dtype.kind == "f" else int(held[0])

    def operand(self, value):
        """The name of a value. Writes its node, if that was postponed."""
        value = self.real(value)
        self.recognize(value)
        if value in self.spread:
            source = self.spread[value][0]
            small = self.aligned(value)
            del self.spread[value]
            if source in self.known and not self.first.shapes[source]:
                self.known[value] = {**self.known[source], **self.tensor(value)}
            else:
                self.add("stablehlo.broadcast_in_dim", [small], value)
        return self.tensor(value)["name"]

    def recognize(self, value):
        """Describes a value that depends on sizes alone, or one that is smaller and broadcast to it."""
        if value not in self.values or value in self.known:
            return
        arrays = self.values[value]
        what = self.described(arrays)
        axes = [axis for axis in range(arrays[0].ndim) if any((array != array.take([0], axis)).any() for array in arrays)]
        if (what == {"what": "table"} or what["what"] == "size") and len(axes) < arrays[0].ndim:
            small = [array[tuple(slice(None) if axis in axes else 0 for axis in range(array.ndim))] for array in arrays]
            if self.described(small) != {"what": "table"}:
                source = max(sample.value(list(array.shape), sample.kinds[value]) for sample, array in zip(self.samples, small))
                self.values[source] = small
                self.spread[value] = source, axes, self.place
                del self.values[value]
                return
        self.known[value] = {**self.tensor(value), **what}

    def described(self, arrays):
        found = [known(array, fixed_axes([each.shape for each in arrays])) for array in arrays]
        return found[0] if all(each == found[0] for each in found) else same_size(arrays, self.polynomial) or {"what": "table"}

    def aligned(self, value):
        """The name of the source of a broadcast value, reshaped so that the op broadcasts it: new axes in the middle
        have size 1."""
        source, axes, place = self.spread[value]
        rank, sizes = len(self.first.shapes[value]), self.shape(source)
        wanted = [1] * rank
        for axis, size in zip(axes, sizes):
            wanted[axis] = size
        first = min([*axes, rank]) if axes else rank
        self.place = place
        if wanted[first:] == sizes:
            return self.operand(source)
        made = {**self.tensor(source), "name": f"{self.tensor(value)['name']}.aligned", "shape": wanted[first:]}
        return self.add("stablehlo.reshape", [source], made)

    def add(self, op, ins, out, /, **arguments):
        """Adds a node, and returns the name of its result. `ins` are values or names. `out` is a value, or a tensor
        that the function does not have."""
        ins = [self.operand(each) if isinstance(each, int) else each for each in ins]
        made = out if isinstance(out, dict) else self.tensor(out)
        settings = {key: number_of(value) for key, value in arguments.items()}
        self.nodes.append({"op": op, "in": ins, "with": settings, "out": [made], "module": self.stack(), "line": self.place})
        return made["name"]

    # Modules.

    def stack(self):
        """The scopes around a node, such as `jit(apply)/Model/Dense_0/dot_general`, without functions that are traced."""
        scopes = [each for each in self.place.split("/")[:-1] if each.isidentifier() and each not in LOOPS]
        chain = [".".join(scopes[1 : i + 1]) for i in range(1, len(scopes))]
        kept = 0
        while kept < min(len(chain), len(self.open)) and self.modules[self.open[kept]]["path"] == chain[kept]:
            kept += 1
        del self.open[kept:]
        for path in chain[kept:]:
            self.open.append(len(self.modules))
            kind = re.sub(r"_\d+$", "", path.rpartition(".")[2])
            self.modules.append({"path": path, "call": 1 + sum(each["path"] == path for each in self.modules), "class": kind[0].upper() + kind[1:]})
        return list(self.open)

    # Nodes.

    def graph(self, name, source):
        if not self.first.results:
            raise ImportRefused("the function returns no array")
        self.find_functions()
        needed, stack = set(), list(self.first.results)
        while stack:
            value = stack.pop()
            if value in self.makers and self.makers[value] not in needed:
                needed.add(self.makers[value])
                i = self.makers[value]
                stack += self.fused[i][1] if i in self.fused else self.first.ops[i][1]
        for i in sorted(needed):
            op, _, _, place = self.first.ops[i]
            if op.name in CONTROL:
                raise ImportRefused(f"`{op.name}` ({place}): {CONTROL[op.name]}")
        if any("checkpoint" in self.first.ops[i][3].split("/") for i in needed):
            self.notes.append("StableHLO does not tell what `jax.checkpoint` recomputes; all of it is kept here. `recomputed(Block)` recomputes a block.")
        for i, group in enumerate(self.ops):
            if i in needed and group:
                self.translate(i, group)
        results = [self.operand(value) for value in self.first.results]
        labels = ["y"] if len(results) == 1 else [f"y{i}" for i in range(len(results))]
        read = set(results)
        for node in reversed(self.nodes):
            if any(made["name"] in read for made in node["out"]):
                read.update(node["in"])
        return {
            "netc_graph": 1,
            "name": name,
            "from": source,
            "notes": list(dict.fromkeys(self.notes)),
            "symbols": {symbol: {"min": 2} for symbol in self.symbols},
            "inputs": [self.tensor(value) for value in self.inputs if self.tensor(value)["name"] in read],
            "weights": list(self.weights.values()),
            "known": [each for each in self.known.values() if each["name"] in read],
            "modules": self.modules,
            "nodes": [node for node in self.nodes if any(made["name"] in read for made in node["out"])],
            "outputs": [{"name": label, "value": value} for label, value in zip(labels, results)],
        }

    def maker(self, value, *kinds):
        """The op that makes a value, before broadcasts, reshapes and conversions; None if its kind is not in `kinds`."""
        i = self.makers.get(value)
        while i is not None and self.first.ops[i][0].name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert"):
            if self.first.ops[i][0].name in kinds:
                break
            i = self.makers.get(self.first.ops[i][1][0])
        return self.first.ops[i] if i is not None and self.named(i) in kinds else None

    def named(self, i):
        return named(self.first.ops[i][0])

    def translate(self, i, group):
        op, operands, results, self.place = group[0]
        if i in self.fused:
            name, operands, arguments = self.fused[i]
            if "window" in arguments:
                return self.pool(name, arguments["window"], operands, results[0])
            return self.add(name, operands, results[0], **arguments)
        kind = op.name.split(".")[-1]
        operands = [self.real(each) for each in operands]
        if all(value in self.values for value in operands) and len(results) == 1 and self.evaluate(group, operands, results[0]):
            return None
        if kind == "optimization_barrier":
            self.alias.update(zip(results, operands))
            return None
        own = getattr(self, f"on_{kind}", None)
        if own and op.name.startswith("stablehlo.") and len(results) == 1:
            return own(op, operands, results[0])
        if op.name == "chlo.top_k":
            made = [self.tensor(value) for value in results]
            self.nodes.append({"op": "aten.topk", "in": [self.operand(operands[0])], "with": {"k": op.numbers("k"), "dim": -1, "largest": True}, "out": made, "module": self.stack(), "line": self.place})
            return None
        if op.name == "stablehlo.reduce" and len(results) == 2 and self.extreme(op, operands, results):
            return None
        if len(results) != 1:
            outs = [self.tensor(value) for value in results]
            self.nodes.append({"op": op.name, "in": [self.operand(each) for each in operands], "with": {}, "out": outs, "module": self.stack(), "line": self.place})
            return None
        return self.add(self.named(i), operands, results[0])

    def extreme(self, op, operands, results):
        """Recognizes the largest or least elements of an axis, and their places, among the numbers of the axis."""
        axes = op.numbers("dimensions")
        ((x, _, other, _), body) = ([name for name, *_ in op.bodies[0][0]], op.bodies[0][1])
        first = body[0]
        if len(axes) != 1 or not self.counts(operands[1], axes[0]) or first.name != "stablehlo.compare" or first.operands != [x, other] or direction(first) not in ("GT", "LT"):
            return False
        name, found = ("max", "maximum") if direction(first) == "GT" else ("min", "minimum")
        if not self.starts_at_nothing(found, operands[2]):
            return False
        largest, places = results
        if largest in self.users or largest in self.first.results:
            self.add(f"stablehlo.reduce.{found}", operands[:1], largest, dim=axes, keepdim=False)
        self.add(f"aten.arg{name}", operands[:1], places, dim=axes[0], keepdim=False)
        return True

    def evaluate(self, group, operands, result):
        """Evaluates an op whose operands depend on sizes alone. Returns whether it could."""
        arrays = []
        for place, ((op, *_), sample) in enumerate(zip(group, self.samples)):
            array = evaluate(op, [self.values[value][place] for value in operands], sample.shapes[result], sample.kinds[result])
            if array is None:
                return False
            arrays.append(array)
        self.values[result] = arrays
        return True

    def binary(self, op, operands, result):
        for x, other, key in ((operands[0], operands[1], "other"), (operands[1], operands[0], "self")):
            number = self.number(other)
            if number is None:
                continue
            if op.name == "stablehlo.maximum" and number == 0:
                return self.add("jax.nn.relu", [x], result)
            if op.name in ("stablehlo.maximum", "stablehlo.minimum") and math.isinf(number):
                self.alias[result] = x
                return None
            return self.add(op.name, [x], result, **{key: number})
        for value in operands:
            self.recognize(value)
        full = [value for value in operands if value not in self.spread]
        if len(full) == 1:
            return self.add(op.name, [self.aligned(each) if each in self.spread else each for each in operands], result)
        return self.add(op.name, operands, result)

    on_add = on_subtract = on_multiply = on_divide = on_maximum = on_minimum = binary

    def truth(self, op, operands, result):
        if self.first.kinds[result] != "i1":
            return self.add(op.name, operands, result)
        return self.add(f"aten.logical_{op.name.removeprefix('stablehlo.')}", operands, result)

    on_and = on_or = on_not = on_xor = truth

    def on_clamp(self, op, operands, result):
        low, x, high = operands
        bounds = {"min": self.number(low), "max": self.number(high)}
        if None in bounds.values():
            return self.add(op.name, operands, result)
        return self.add("aten.clamp", [x], result, **bounds)

    def on_power(self, op, operands, result):
        exponent = self.number(operands[1])
        if exponent is None:
            return self.add(op.name, operands, result)
        return self.add(op.name, operands[:1], result, exponent=exponent)

    def on_convert(self, op, operands, result):
        if {self.first.kinds[value] for value in (operands[0], result)} <= FLOATS:  # a run says in which it computes
            self.alias[result] = operands[0]
            return None
        return self.add(op.name, operands, result)

    def on_select(self, op, operands, result):
        other = self.number(operands[2])
        if other is not None and math.isnan(other) and self.asks_integers(operands[0]):  # of indices that are out of range
            self.alias[result] = operands[1]
            return None
        test = self.maker(operands[0], "stablehlo.is_finite")
        if test and self.real(test[1][0]) == operands[1] and other == 0:  # of a largest number, for which infinities are 0
            self.alias[result] = operands[1]
            return None
        if operands[0] in self.values:
            if (chosen := self.number(operands[0])) is not None:
                self.alias[result] = operands[1 if chosen else 2]
                self.notes.append("A `where` whose condition is known, as one on the counter of a loop is, leaves out what it does not take. The function may compute that, too.")
                return None
            return self.add(op.name, operands, result)
        numbers = {key: number for key, value in zip(("self", "other"), operands[1:]) if (number := self.number(value)) is not None}
        kept = [value for key, value in zip(("self", "other"), operands[1:]) if key not in numbers]
        return self.add(op.name, [operands[0], *kept], result, **numbers)

    def on_compare(self, op, operands, result):
        relation, numbers = direction(op).lower(), [self.number(value) for value in operands]
        truth = self.truth_of(operands[0]) if relation == "ne" and numbers[1] == 0 else None
        if truth is not None:
            self.alias[result] = truth
            return None
        if numbers[1] is not None:
            return self.add(f"{op.name}.{relation}", operands[:1], result, other=numbers[1])
        if numbers[0] is not None:
            turned = {"ge": "le", "gt": "lt", "le": "ge", "lt": "gt"}.get(relation, relation)
            return self.add(f"{op.name}.{turned}", operands[1:], result, other=numbers[0])
        return self.add(f"{op.name}.{relation}", operands, result)

    def truth_of(self, value):
        """The condition of which a value has the ones and zeros, as masks of Flax have them; else None."""
        i = self.makers.get(value)
        if i is None or self.first.ops[i][0].name != "stablehlo.convert":
            return None
        source = self.real(self.first.ops[i][1][0])
        return source if self.first.kinds[source] == "i1" else None

    def on_broadcast_in_dim(self, op, operands, result):
        axes, source = op.numbers("broadcast_dimensions"), operands[0]
        if axes != sorted(axes):
            return self.add(f"{op.name} out of order", operands, result)
        if source in self.spread:
            source, inner, _ = self.spread[source]
            axes = [axes[axis] for axis in inner]
        self.spread[result] = source, axes, self.place
        return None

    def on_reshape(self, op, operands, result):
        source, sizes = operands[0], self.shape(operands[0])
        made = self.shape(result)
        if made == sizes:
            self.alias[result] = source
            return None
        # A broadcast follows that stretches axes of size 1, which are inserted here.
        places = [axis for axis, size in enumerate(made) if size != 1]
        if 1 not in sizes and [made[axis] for axis in places] == sizes and source not in self.spread:
            self.spread[result] = source, places, self.place
            return None
        return self.add(op.name, [source], result)

    def on_transpose(self, op, operands, result):
        return self.add(op.name, operands, result, dims=op.numbers("permutation"))

    def on_reverse(self, op, operands, result):
        return self.add("aten.flip", operands, result, dims=op.numbers("dimensions"))

    def on_concatenate(self, op, operands, result):
        parts = [each for each in operands if 0 not in self.first.shapes[each]]
        if len(parts) == 1:
            self.alias[result] = parts[0]
            return None
        return self.add(op.name, parts, result, dim=op.numbers("dimension"))

    def on_slice(self, op, operands, result):
        group = self.ops[self.makers[result]]
        starts, ends, steps = ([one.numbers(key) for one, *_ in group] for key in ("start_indices", "limit_indices", "strides"))
        x, shape, final = operands[0], self.shape(operands[0]), self.shape(result)
        cut = [axis for axis in range(len(shape)) if shape[axis] != final[axis]]
        for axis in cut:
            shape = [*shape[:axis], final[axis], *shape[axis + 1 :]]
            out = result if axis == cut[-1] else {**self.tensor(result), "name": f"{self.tensor(result)['name']}.{axis}", "shape": shape}
            start, end = (self.size([each[axis] for each in bounds]) for bounds in (starts, ends))
            x = self.add(op.name, [x], out, dim=axis, start=start, end=end, step=steps[0][axis])
        if not cut:
            self.alias[result] = x

    def on_pad(self, op, operands, result):
        value, between, shape = self.number(operands[1]), op.numbers("interior_padding"), self.shape(operands[0])
        low, high = (list(op.numbers(f"edge_padding_{end}")) for end in ("low", "high"))
        if value is None or any(isinstance(size, str) for size, count in zip(shape, between) if count):
            return self.add(f"{op.name} between elements", operands, result)
        x, name = operands[0], self.tensor(result)["name"]
        for axis, count in enumerate(between):
            if count:  # rows of an element and what stands behind it, without that behind the last one
                part = lambda step, sizes: {**self.tensor(result), "name": f"{name}.{axis}{step}", "shape": [*shape[:axis], *sizes, *shape[axis + 1 :]]}
                size, rows = shape[axis], [0, 0] * (len(shape) - axis - 1) + [0, count]
                x = self.add("stablehlo.reshape", [x], part("a", [size, 1]))
                x = self.add(op.name, [x], part("b", [size, 1 + count]), pad=rows, mode="constant", value=value)
                shape[axis] = size + (size - 1) * count
                x = self.add("stablehlo.reshape", [x], part("c", [size * (1 + count)]))
                x = self.add("stablehlo.slice", [x], part("", [shape[axis]]), dim=axis, start=0, end=shape[axis], step=1)
        pad = [each for pair in zip(reversed(low), reversed(high)) for each in pair]
        return self.add(op.name, [x], result, pad=pad, mode="constant", value=value)

    def starts_at_nothing(self, name, first):
        """Whether a reduction starts at a number that changes nothing. `name`: of the op in its body."""
        number, kind = self.number(first), self.first.kinds[first]
        least, most = (-math.inf, math.inf) if kind in FLOATS else (0, 1) if kind == "i1" else (numpy.iinfo(KINDS[kind]).min, numpy.iinfo(KINDS[kind]).max)
        return number == {"add": 0, "or": 0, "maximum": least, "minimum": most, "and": most if kind == "i1" else -1, "multiply": 1}.get(name, number)

    def on_reduce(self, op, operands, result):
        if not self.starts_at_nothing(self.named(self.makers[result]).split(".")[-1], operands[1]):
            return self.add(f"{op.name} from a number of its own", operands, result)
        return self.add(self.named(self.makers[result]), operands[:1], result, dim=op.numbers("dimensions"), keepdim=False)

    # Products.

    def added(self, result, axes):
        """The bias that is added to a product along its last `axes` axes, and the sum. (None, product) if there is no
        bias, or if something else reads the product."""
        users = self.users.get(result, [])
        if len(users) != 1 or self.first.ops[users[0]][0].name != "stablehlo.add" or result in self.first.results:
            return None, result
        _, operands, (total,), _ = self.first.ops[users[0]]
        other = next((each for each in operands if each != result), None)
        chain = other
        while chain in self.makers and self.first.ops[self.makers[chain]][0].name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
            chain = self.first.ops[self.makers[chain]][1][0]
        if chain not in self.weights or len(self.users[chain]) != 1 or self.first.shapes[chain] != self.first.shapes[result][-axes:]:
            return None, result
        return chain, total

    def flat(self, weight, shape):
        """Gives a weight the two axes of a Linear. The function may have it with more."""
        self.weights[weight]["shape"] = shape
        return self.names[weight]

    def on_dot_general(self, op, operands, result):
        a, b = operands
        batch = op.numbers("lhs_batching_dimensions"), op.numbers("rhs_batching_dimensions")
        summed = op.numbers("lhs_contracting_dimensions"), op.numbers("rhs_contracting_dimensions")
        ranks = [len(self.first.shapes[value]) for value in operands]
        turned = self.first.ops[self.makers[b]] if b in self.makers else None
        if turned and turned[0].name == "stablehlo.transpose" and turned[1][0] in self.weights and ranks[1] == 2:
            b, summed = turned[1][0], (summed[0], [1 - axis for axis in summed[1]])
        count = len(summed[0])
        is_last = summed[0] == list(range(ranks[0] - count, ranks[0]))
        is_matrix = ranks[1] == 2 and count == 1
        is_first = summed[1] == list(range(count)) and count < ranks[1]
        if b in self.weights and not batch[0] and count and is_last and (is_matrix or (is_first and len(self.users[b]) == 1)):
            return self.layer(a, b, count, summed[1] == [1] and is_matrix, result)
        if a in self.weights and b not in self.weights and not batch[0]:
            return self.swapped(op, a, b, summed, result)
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        left = [next(letters) for _ in range(ranks[0])]
        right = [""] * ranks[1]
        for one, other in zip(batch[0] + summed[0], batch[1] + summed[1]):
            right[other] = left[one]
        right = [each or next(letters) for each in right]
        out = [left[i] for i in batch[0]]
        out += [each for i, each in enumerate(left) if i not in batch[0] + summed[0]]
        out += [each for i, each in enumerate(right) if i not in batch[1] + summed[1]]
        return self.add(op.name, [a, b], result, equation=f"{''.join(left)},{''.join(right)}->{''.join(out)}")

    def swapped(self, op, weight, x, summed, result):
        """Writes a product whose weight is the first operand, as a layer that makes its last axes, and a transpose."""
        rank, kept = len(self.first.shapes[x]), len(self.first.shapes[x]) - len(summed[1])
        shape = self.shape(result)
        front = len(shape) - kept
        made = {**self.tensor(result), "name": f"{self.tensor(result)['name']}.swapped", "shape": [*shape[front:], *shape[:front]]}
        if len(summed[0]) == 1 and summed[1] == [rank - 1] and len(self.first.shapes[weight]) == 2:
            self.add("jax.lax.dot", [x, weight], made, transB=summed[0] == [1])
        else:
            letters = "abcdefghijklmnopqrstuvwxyz"
            left, right = list(letters[:rank]), list(letters[rank : rank + len(self.first.shapes[weight])])
            for one, other in zip(*summed):
                right[one] = left[other]
            out = [each for each in left if each not in right] + [each for each in right if each not in left]
            self.add(op.name, [x, weight], made, equation=f"{''.join(left)},{''.join(right)}->{''.join(out)}")
        return self.add("stablehlo.transpose", [made["name"]], result, dims=[*range(kept, len(shape)), *range(kept)])

    def layer(self, x, weight, count, is_turned, result):
        """Writes a product with the weight of a Linear. If there are several input or output axes, views are around it."""
        sizes = self.first.shapes[weight]
        made = sizes[count:]
        bias, total = (None, result) if is_turned else self.added(result, len(made))
        ins, out = [x, self.operand(weight)], total
        if len(sizes) > 2:
            rows, columns = math.prod(sizes[:count]), math.prod(made)
            ins[1] = self.flat(weight, [rows, columns])
            front = self.shape(x)[: len(self.first.shapes[x]) - count]
            if count > 1:
                ins[0] = self.add("stablehlo.reshape", [x], {**self.tensor(x), "name": f"{self.tensor(result)['name']}.rows", "shape": [*front, rows]})
            if len(made) > 1:
                out = {**self.tensor(total), "name": f"{self.tensor(result)['name']}.flat", "shape": [*front, columns]}
        if bias is not None:
            ins.append(self.flat(bias, [math.prod(made)]))
        name = self.add("jax.lax.dot", ins, out, transB=is_turned)
        if isinstance(out, dict):
            self.add("stablehlo.reshape", [name], total)
        if bias is not None:
            self.skip(total)

    def skip(self, total):
        """Skips the addition of a bias that became part of a layer."""
        self.ops[self.makers[total]] = None

    def on_convolution(self, op, operands, result):
        x, weight = operands
        layout = re.search(r"#stablehlo.conv<\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]>", op.attributes)
        into, kernel, out = ([part.strip() for part in each.split(",")] for each in layout.groups())
        windows = [str(i) for i in range(len(into) - 2)]
        sizes = [self.first.shapes[weight][kernel.index(each)] for each in windows]
        padding = op.numbers("padding") or [[0, 0]] * len(windows)
        name, arguments = op.name, self.windows(op, sizes, padding)
        if arguments is None or op.numbers("batch_group_count") not in ([], 1) or weight not in self.weights or not self.is_shared_by_alike(op, weight):
            return self.add(f"{op.name} of another kind", operands, result)
        own = self.weights[weight]
        is_transposed, cut = "output_padding" in arguments, arguments.pop("cut", None)
        shape = self.shape(weight)
        own["shape"] = [shape[kernel.index(each)] for each in (*("io" if is_transposed else "oi"), *windows)]
        x = self.turned(x, [into.index(each) for each in ("b", "f", *windows)], result)
        if is_transposed:
            name = "jax.lax.conv_transpose"
        elif any(low != high for low, high in padding):
            x, arguments["padding"] = self.padded(x, padding, result), [0] * len(windows)
        bias, total = self.added(result, 1) if out[-1] == "f" else (None, result)
        shape = self.shape(result)
        made = {**self.tensor(result), "name": f"{self.tensor(result)['name']}.conv", "shape": [shape[out.index(each)] for each in ("b", "f", *windows)]}
        whole = {**made, "name": f"{made['name']}.whole", "shape": list(made["shape"])}
        for axis, count in enumerate(cut or ()):
            whole["shape"][2 + axis] += count
        ins = [x["name"], self.names[weight]] + ([self.names[bias]] if bias is not None else [])
        self.add(name, ins, whole if cut else made, groups=op.numbers("feature_group_count") or 1, **arguments)
        if cut:
            self.add("stablehlo.pad", [whole["name"]], made, pad=[each for count in reversed(cut) for each in (0, -count)], mode="constant")
        self.add("stablehlo.transpose", [made["name"]], total, dims=[("b", "f", *windows).index(each) for each in out])
        if bias is not None:
            self.skip(total)

    def is_shared_by_alike(self, op, weight):
        """Whether all that read a weight are such convolutions."""
        users = [self.first.ops[i] for i in self.users[weight]]
        return all((user.name, user.attributes) == (op.name, op.attributes) and operands[1] == weight for user, operands, *_ in users)

    def windows(self, op, sizes, padding):
        """The settings of windows, or None if netc has no such convolution. Dilation of the input means a transposed
        convolution."""
        gaps, stride, dilation = (op.numbers(key) or [1] * len(sizes) for key in ("lhs_dilation", "window_strides", "rhs_dilation"))
        if set(gaps) == {1}:
            return {"stride": stride, "dilation": dilation, "padding": [low for low, _ in padding]}
        cut, extra = [size - 1 - low for size, (low, _) in zip(sizes, padding)], [high - low for low, high in padding]
        if {*stride, *dilation} != {1} or min(cut) < 0 or op.numbers("feature_group_count") not in ([], 1):
            return None
        behind = {"cut": [max(-count, 0) for count in extra]} if min(extra) < 0 else {}
        return {"stride": gaps, "dilation": dilation, "padding": cut, "output_padding": [max(count, 0) for count in extra], **behind}

    def turned(self, x, order, result):
        """Transposes x to the order of netc, with the channels after the batch."""
        shape = self.shape(x)
        made = {**self.tensor(x), "name": f"{self.tensor(result)['name']}.turned", "shape": [shape[axis] for axis in order]}
        self.add("stablehlo.transpose", [x], made, dims=order)
        return made

    def padded(self, x, padding, result):
        shape = list(x["shape"])
        for axis, (low, high) in enumerate(padding):
            shape[2 + axis] += low + high
        made = {**x, "name": f"{self.tensor(result)['name']}.padded", "shape": shape}
        self.add("stablehlo.pad", [x["name"]], made, pad=[each for pair in reversed(padding) for each in pair], mode="constant")
        return made

    def on_reduce_window(self, op, operands, result):
        if not self.starts_at_nothing(self.named(self.makers[result]).split(".")[-1], operands[1]):
            return self.add(f"{op.name} from a number of its own", operands, result)
        if self.cumulated(op, operands, result):
            return None
        return self.pool(self.named(self.makers[result]), op, operands, result)

    def cumulated(self, op, operands, result):
        """Recognizes sums of all elements of an axis up to each one, or from each one on."""
        shape, windows, padding = self.first.shapes[result], op.numbers("window_dimensions"), op.numbers("padding")
        axes = [axis for axis, size in enumerate(windows) if size != 1]
        if not self.named(self.makers[result]).endswith(".add") or len(axes) != 1 or windows[axes[0]] != shape[axes[0]] or self.first.shapes[operands[0]] != shape:
            return False
        (axis,) = axes
        around = padding[axis]
        if sorted(around) != [0, shape[axis] - 1] or {*op.numbers("window_strides"), *op.numbers("base_dilations"), *op.numbers("window_dilations")} - {1}:
            return False
        x, out, sums = operands[0], result, self.tensor(result)
        if around[1]:
            x, out = self.add("aten.flip", [x], {**sums, "name": f"{sums['name']}.turned"}, dims=axes), {**sums, "name": f"{sums['name']}.sums"}
        made = self.add("aten.cumsum", [x], out, dim=axis)
        if around[1]:
            self.add("aten.flip", [made], result, dims=axes)
        return True

    def pool(self, name, op, operands, result):
        rank = len(self.first.shapes[result])
        window, strides, padding = op.numbers("window_dimensions"), op.numbers("window_strides") or [1] * rank, op.numbers("padding") or [[0, 0]] * rank
        dilated = [each for key in ("base_dilations", "window_dilations") for each in op.numbers(key) if each != 1]
        if name.endswith(".add") or dilated or window[0] != 1 or window[-1] != 1:
            return self.add(name if name.endswith(".add") else f"{name} of another kind", operands[:1], result)
        order = [0, rank - 1, *range(1, rank - 1)]
        x, shape = self.turned(operands[0], order, result), self.shape(result)
        made = {**self.tensor(result), "name": f"{self.tensor(result)['name']}.pooled", "shape": [shape[axis] for axis in order]}
        ends = [pair[end] for end in (0, 1) for pair in padding[1:-1]]
        self.add(name, [x["name"]], made, kernel_size=window[1:-1], stride=strides[1:-1], padding=ends)
        return self.add("stablehlo.transpose", [made["name"]], result, dims=[0, *range(2, rank), 1])
