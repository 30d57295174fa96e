# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Makes an ONNX model of a graph that `netc --emit=graph` writes, docs/graph.schema.json.

The model is for inference: it has no dropout, and batch norms use their running statistics. Free axes stay free. The model
computes sizes that depend on them, and tensors that depend on sizes alone.
"""

import ast
import contextlib
import math
import os
import re

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from .errors import ExportRefused
from .known import read_number
from .onnx_known import add_known
from .onnx_model_ops import BROADCAST, OPS, SAME, broadcast
from .onnx_types import ONNX_TYPES, numpy_type
from .onnx_weights import MOST_BYTES, Weights

OPSET = 20  # the first with Gelu


def convert(graph, weights=None, seed=0):
    """Returns a graph as an `onnx.ModelProto`.

    Args:
        graph: an object of docs/graph.schema.json.
        weights: a folder of npy files, as `--dump` of a program of netc writes them, or arrays by name. Missing weights
            are initialized as the specification says.
        seed: of the initialization.

    Raises:
        ExportRefused: ONNX has no op for one of the graph's ops.
    """
    model = _Model(graph, weights, seed).proto()
    if any(value["type"] == "bf16" for value in graph["inputs"]):
        _check(model)
    return model


def _check(model):
    """Many ops of ONNX are of no bf16."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as problem:
        text = next((line for line in str(problem).splitlines() if "bfloat16" in line), str(problem).splitlines()[0])
        raise ExportRefused(f"ONNX does not have the network in bf16: {text.strip()}") from None


def save(model, path):
    """Writes a model. Its weights go to a file next to it if they are too large for one file."""
    path = os.fspath(path)
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    apart = {"save_as_external_data": True, "location": os.path.basename(path) + ".data"} if size > MOST_BYTES else {}
    onnx.save(model, path, **apart)


class _Model:
    def __init__(self, graph, weights, seed):
        self.graph = graph
        self.nodes, self.initializers, self.constants = [], [], {}
        self.outermost = self.nodes  # `nodes` are those of a body while a loop is converted
        self.values = {value["name"]: value for key in ("inputs", "weights", "known") for value in graph[key]}
        self.enter(graph["nodes"])
        self.taken = set(self.values)
        self.at = None  # the node of the graph that is converted
        self.expanded = {}  # name -> the tensor that it repeats, of a shape that broadcasts to its own
        self.scopes = {}  # name -> the nodes in which it is expanded
        self.masks = {}  # what `aten.bernoulli` draws
        self.held = set()  # known tensors that are there as a whole
        self.rows = set()  # numbers of which all are of rows
        self.axes = {}  # symbol -> an input, and its axis of that size
        self.symbols = {}  # symbol -> the value that holds its size
        for value in graph["inputs"]:
            for axis, size in enumerate(value["shape"]):
                if isinstance(size, str) and size.isidentifier():
                    self.axes.setdefault(size, (value["name"], axis))
        self.given = Weights(weights, seed)

    def enter(self, nodes):
        """Enters the values of nodes. Their names differ, also those in the bodies of loops."""
        for node in nodes:
            body = node.get("body", {"inputs": [], "nodes": []})
            self.values.update((value["name"], value) for value in [*node["out"], *body["inputs"]])
            self.enter(body["nodes"])

    def proto(self):
        self.given.check([value["name"] for value in self.graph["weights"]])
        for value in self.graph["weights"]:
            array = self.given.of(value)
            self.initializers.append(numpy_helper.from_array(array, value["name"]) if value["type"] != "bf16" else self.bfloat(array, value["name"]))
        self.convert(self.graph["nodes"])
        names = [None if output["name"] in self.values else self.unique(output["name"]) for output in self.graph["outputs"]]
        outputs = [self.output(output["value"], name or self.unique(output["name"] + "_out")) for output, name in zip(self.graph["outputs"], names)]
        inputs = [self.info(value) for value in self.graph["inputs"]]
        made = helper.make_graph([*self.constants.values(), *self.nodes], self.graph["name"], inputs, outputs, self.initializers)
        opset = helper.make_opsetid("", OPSET)
        producer, _, version = self.graph["from"].partition(" ")
        return helper.make_model(made, opset_imports=[opset], ir_version=helper.find_min_ir_version_for([opset]), producer_name=producer, producer_version=version)

    def convert(self, nodes):
        for node in nodes:
            self.at = node
            name = node["op"]
            handler = OPS.get(re.sub("^aten[.]|[123]d$", "", name))
            outs = [out["name"] for out in node["out"]]
            if name in SAME:
                self.add(SAME[name], [self.whole(each) for each in node["in"]], outs)
            elif name in BROADCAST:
                broadcast(self, BROADCAST[name], node["in"], outs[0], node["with"])
            elif handler:
                handler(self, node["in"], outs, node["with"])
            else:
                self.refuse("ONNX has no such op")

    def body(self, name, body):
        """The body of a loop as a graph, which reads tensors around it by name."""
        at, nodes = self.at, []
        with self.within(nodes):
            self.convert(body["nodes"])
            outputs = [self.output(value, self.unique(f"{value}.out")) for value in body["outputs"]]
        self.at = at
        return helper.make_graph(nodes, name, [self.info(value) for value in body["inputs"]], outputs)

    @contextlib.contextmanager
    def within(self, nodes):
        outer, self.nodes = self.nodes, nodes
        yield
        self.nodes = outer

    def output(self, value, name):
        self.add("Identity", [self.whole(value)], [name])
        return self.info({**self.values[value], "name": name})

    def refuse(self, why):
        if self.at is None:
            raise ExportRefused(why)
        raise ExportRefused(f"`{self.at['op']}` of `{self.at['out'][0]['name']}`, {self.at.get('line', 'of no line')}: {why}")

    @staticmethod
    def bfloat(array, name):
        bits = (array.astype("f4").view("u4") + 0x8000 >> 16).astype("u2")
        return helper.make_tensor(name, TensorProto.BFLOAT16, array.shape, bits.tobytes(), raw=True)

    @staticmethod
    def info(value):
        return helper.make_tensor_value_info(value["name"], ONNX_TYPES[value["type"]], value["shape"])

    def unique(self, name):
        made, count = name, 2
        while made in self.taken:
            made, count = f"{name}_{count}", count + 1
        self.taken.add(made)
        return made

    def add(self, op, ins, outs=1, **attributes):
        """Adds a node. `outs` are names, or the number of results. Returns the name of the first result, or all names
        of several."""
        if isinstance(outs, int):
            near = self.at["out"][0]["name"] if self.at else "sizes"
            outs = [self.unique(f"{near}.{op}") for _ in range(outs)]
        self.nodes.append(helper.make_node(op, ins, outs, name=self.unique("/" + outs[0].replace(".", "/")), **attributes))
        return outs[0] if len(outs) == 1 else outs

    def constant(self, value, kind=None):
        """A constant as a node, since it is no parameter. Equal constants share a node."""
        array = numpy.asarray(value, dtype=kind)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            name = self.unique(f"constant_{len(self.constants)}")
            self.constants[key] = helper.make_node("Constant", [], [name], name=self.unique(f"/{name}"), value=numpy_helper.from_array(array))
        return self.constants[key].output[0]

    def integers(self, values):
        return self.constant(values, "i8")

    def typed(self, value, kind):
        """A constant with a type of netc."""
        if kind == "bf16":
            return self.add("Cast", [self.constant(value, "f4")], to=TensorProto.BFLOAT16)
        return self.constant(value, numpy_type(kind))

    def scalar(self, value, kind):
        return self.typed(read_number(value), kind)

    def shape(self, name):
        return self.values[name]["shape"]

    def whole(self, name):
        """The tensor with its full shape; "" for an operand that is left out."""
        if name is None:
            return ""
        value = self.values[name]
        if name in self.expanded or value.get("what") in ("number", "size"):
            if name not in self.held:
                self.held.add(name)
                with self.within(self.scopes.get(name, self.outermost)):
                    self.add("Expand", [self.small(name), self.sizes(value["shape"])], [name])
            return name
        return self.small(name)

    def small(self, name):
        """The tensor, or a smaller one that broadcasts to it."""
        value = self.values[name]
        if name in self.expanded:
            return self.expanded[name]
        if value.get("what") == "number":
            return self.scalar(value["value"], value["type"])
        if value.get("what") == "size":
            return self.count(value["size"], value["type"])
        if "what" in value and name not in self.held:
            self.held.add(name)
            with self.within(self.outermost):
                add_known(self, value)
        return name

    def expand(self, name, small):
        """Notes that a tensor repeats a smaller one. It is repeated where it is read, if that has to be."""
        self.expanded[name] = small
        self.scopes[name] = self.nodes

    def size(self, size):
        """A list with a size as its only element. The model computes it; a size that is no whole number is rounded up."""
        if isinstance(size, int):
            return self.integers([size])
        if size in self.axes:
            name, axis = self.axes[size]
            if size not in self.symbols:
                self.symbols[size] = self.unique(f"size.{size}")
                with self.within(self.outermost):
                    self.add("Shape", [name], [self.symbols[size]], start=axis, end=axis + 1)
            return self.symbols[size]
        found, below = self.evaluate(ast.parse(size.replace("^", "**"), mode="eval").body)
        return self.quotient(found, below)

    def quotient(self, above, below):
        if below == 1:
            return above
        return self.add("Div", [self.add("Add", [above, self.integers([below - 1])]), self.integers([below])])

    def evaluate(self, tree):
        """The numerator of a polynomial, and its denominator."""
        if isinstance(tree, ast.Constant):
            return self.integers([tree.value]), 1
        if isinstance(tree, ast.Name):
            if tree.id not in self.axes:
                self.refuse(f"no input has an axis of the size `{tree.id}`")
            return self.size(tree.id), 1
        if isinstance(tree, ast.UnaryOp):
            found, below = self.evaluate(tree.operand)
            return self.add("Neg", [found]), below
        if isinstance(tree, ast.Call):
            pairs = [self.evaluate(each) for each in tree.args]
            return self.add("Min", [self.quotient(a, b) for a, b in pairs]), 1
        if isinstance(tree.op, ast.Pow):
            found, below = self.evaluate(tree.left)
            return self.add("Pow", [found, self.integers([tree.right.value])]), below**tree.right.value
        left, below = self.evaluate(tree.left)
        if isinstance(tree.op, ast.Div):
            return left, below * tree.right.value
        right, other = self.evaluate(tree.right)
        if isinstance(tree.op, ast.Mult):
            return self.add("Mul", [left, right]), below * other
        common = math.lcm(below, other)
        left, right = (self.add("Mul", [each, self.integers([common // own])]) if own != common else each for each, own in ((left, below), (right, other)))
        return self.add("Add" if isinstance(tree.op, ast.Add) else "Sub", [left, right]), common

    def sizes(self, sizes):
        if all(isinstance(size, int) for size in sizes):
            return self.integers(sizes)
        return self.add("Concat", [self.size(size) for size in sizes], axis=0) if len(sizes) > 1 else self.size(sizes[0])

    def count(self, size, kind="i64"):
        """A size as a number."""
        if isinstance(size, int):
            return self.typed(size, kind)
        return self.cast(self.add("Squeeze", [self.size(size), self.integers([0])]), "i64", kind)

    def places(self, size, kind="i64"):
        """The positions 0, 1, 2, .. along an axis."""
        if isinstance(size, int):
            return self.constant(numpy.arange(size), numpy_type(kind))
        found = self.add("Range", [self.constant(0, "i8"), self.count(size), self.constant(1, "i8")])
        return found if kind == "i64" else self.add("Cast", [found], to=ONNX_TYPES[kind])

    def existing(self, name, size, goes_in=False):
        """Numbers of rows, of which netc takes those that are of none for nothing: others, which are of rows, and where they are
        the same; None where all of them are. ONNX counts negative ones from the end. `goes_in`: those that go in are of rows."""
        numbers, kind = self.whole(name), self.values[name]["type"]
        if kind not in ("i32", "i64"):
            numbers, kind = self.cast(numbers, kind, "i64"), "i64"
        is_input = any(name == value["name"] for value in self.graph["inputs"])
        if name in self.rows or "what" in self.values[name] or goes_in and is_input:
            return numbers, None
        are = self.are_of(numbers, kind, size)
        return self.add("Where", [are, numbers, self.typed(0, kind)]), are

    def are_of(self, numbers, kind, size):
        """Where numbers are of so many rows or classes."""
        return self.add("And", [self.add("GreaterOrEqual", [numbers, self.typed(0, kind)]), self.add("Less", [numbers, self.count(size, kind)])])

    def only(self, are, rows, kind, outs, features=0):
        """Rows, but zeros where they are none. They have so many axes behind those of `are`."""
        if features:
            are = self.add("Unsqueeze", [are, self.integers(list(range(-features, 0)))])
        return self.add("Where", [are, rows, self.typed(0, kind)], outs)

    def cast(self, name, kind, wanted):
        """The same in another type. netc and PyTorch mix types, and ONNX does not."""
        return name if kind == wanted else self.add("Cast", [name], to=ONNX_TYPES[wanted])
