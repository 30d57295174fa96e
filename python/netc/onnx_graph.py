# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes an ONNX model as the graph that `netc import` reads, docs/graph.schema.json.

The ops keep their names. Their attributes and constant inputs become arguments with PyTorch's names, so the opset of the
model makes no difference. Sizes are found by computing with several sizes of the free axes: values that depend on sizes
alone are evaluated, and each size is a polynomial through the results.
"""

import itertools
import math
import os

import numpy
import onnx
import onnx.inliner
from google.protobuf.message import DecodeError
from onnx import helper

from . import onnx_formulas, onnx_graph_ops, onnx_lookups, onnx_loops, onnx_recurrences
from .errors import ImportRefused
from .known import fixed_axes, known, number_of, same_size
from .number_types import NoType
from .onnx_file import File, modules_around
from .onnx_notes import notes
from .onnx_shapes import NoShape, check_nodes, opset_of, refused
from .onnx_types import TYPES
from .sizes import SIZES, SMALL_SIZES

OPS = {**onnx_graph_ops.OPS, **onnx_formulas.OPS, **onnx_lookups.OPS, **onnx_loops.OPS, **onnx_recurrences.OPS}


def export(model, name=None):
    """Returns the graph of a model, an object for JSON.

    Args:
        model: a path, or an `onnx.ModelProto`. Weights in other files are not read.
        name: of the network; by default the name of the graph.

    Raises:
        ImportRefused: the model depends on data, or has shapes that do not follow from its inputs.
    """
    if not isinstance(model, onnx.ModelProto):
        try:
            model = onnx.load(os.fspath(model), load_external_data=False)
        except (OSError, DecodeError) as problem:
            raise ImportRefused(f"`{model}` is no ONNX model that can be read: {problem}") from None
    if model.functions:
        try:
            model = onnx.inliner.inline_local_functions(model)
        except onnx.checker.ValidationError as problem:
            raise ImportRefused(f"the functions of the model are wrong: {problem}") from None
    own = model.graph.name
    name = name or (own if own.isidentifier() and own not in ("main_graph", "torch_jit") else "Model")
    check_nodes(model.graph, opset_of(model))
    # If the shapes do not fit otherwise, the batches of all inputs are one, such as those of an encoder and a decoder, or all
    # axes at the same place, such as those of tokens and their mask.
    problem = None
    for sizes in SIZES, SMALL_SIZES:
        for joined in (-1, 0, math.inf) if len(model.graph.input) > 1 else (-1,):
            try:
                return _Writer(File(model, joined, sizes)).graph(name)
            except ImportRefused as found:
                problem = problem or found
        if not isinstance(problem, NoShape):
            break
    raise problem


class _Writer:
    def __init__(self, file):
        self.file = file
        self.known, self.modules, self.open, self.out = {}, [], [], []
        self.needed = set()  # values
        self.skipped = set()  # nodes that are part of another
        self.drawn = []  # random numbers, which go in
        self.made = {value.name for value in file.inputs}

    def operand(self, name):
        if not name:
            return None
        if name in self.file.weights or name in self.made:
            return name
        if name not in self.file.samples[0].values:
            raise refused(self.file.producers[name], f"`{name}` is read, and netc has its first result alone")
        if name not in self.known:
            arrays = [sample.values[name] for sample in self.file.samples]
            found = [known(array, fixed_axes([each.shape for each in arrays])) for array in arrays]
            what = found[0] if all(each == found[0] for each in found) else same_size(arrays, self.file.polynomial) or {"what": "table"}
            self.known[name] = {**self.file.tensor(name), **what}
        return name

    def graph(self, name):
        made = set(self.file.results)
        for missing in sorted(made - self.file.samples[0].shapes.keys()):
            raise ImportRefused(f"the output `{missing}` is no input, no initializer, and no result of a node")
        stack = list(made)
        while stack:
            at = stack.pop()
            if at not in self.needed:
                self.needed.add(at)
                if at in self.file.producers and at not in self.file.samples[0].values:
                    stack += [each for each in self.reads(self.file.producers[at]) if each]
        self.translate_all(self.file.direct)
        results = [out for out in self.file.results if not self.is_size(out)]
        if not results:
            raise ImportRefused("no output depends on what goes in, but for its sizes")
        plain = ["y"] if len(results) == 1 else [f"y{i}" for i in range(len(results))]
        outputs = [{"name": out if out.isidentifier() else other, "value": self.operand(out)} for out, other in zip(results, plain)]
        read = {each for node in _with_bodies(self.out) for each in node["in"]} | {output["value"] for output in outputs}
        random = ", ".join(f"`{each['name']}`" for each in self.drawn)
        return {
            "netc_graph": 1,
            "name": name,
            "from": f"ONNX, opset {self.file.opset}" + (f", {self.file.model.producer_name} {self.file.model.producer_version}".rstrip() if self.file.model.producer_name else ""),
            "notes": notes(self.file) + [f"The net is without the output `{out}`, which depends on sizes alone." for out in self.file.results if out not in results] + ([f"Random numbers go in as arguments, {random}: no cost depends on them."] if random else []),
            "symbols": {text: {"min": 2} for text in self.file.symbols.values()},
            "inputs": [self.file.tensor(value.name) for value in self.file.inputs if value.name in read] + self.drawn,
            "weights": [{"name": key, "type": TYPES[self.file.types[key]], "shape": list(shape), "learns": True} for key, shape in self.file.weights.items() if not self.file.is_statistic(key)],
            "known": list(self.known.values()),
            "modules": self.modules,
            "nodes": self.out,
            "outputs": outputs,
        }

    def is_size(self, name):
        """Whether it is other numbers for other sizes."""
        values = [sample.values for sample in self.file.samples]
        is_known = name not in self.made and all(name in each for each in values)
        return is_known and len({each[name].shape for each in values}) == 1 and self.file.constant(name) is None

    def reads(self, node):
        """The inputs of a node that are tensors of the graph: no running statistics, and no weights of recurrences, which are
        handled separately."""
        if node.op_type == "BatchNormalization":
            return node.input[:3]
        if node.op_type == "MatMul":
            return [node.input[0], onnx_graph_ops.matrix(self.file, node)[0]]
        if node.op_type == "Gather" and node.input[0] in self.file.weights:
            return [node.input[0], onnx_lookups.numbers_read(self.file, node)]
        return [node.input[0], *node.input[5:]] if node.op_type in onnx_recurrences.OPS else [*node.input, *self.file.made_in(node)]

    def stack(self, node):
        """Positions of the module calls around a node. A call ends when a node outside of it follows."""
        chain = modules_around(node)
        kept = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == self.modules[pair[1]]["path"], zip((path for path, _ in chain), self.open)))
        del self.open[kept:]
        for path, kind in chain[kept:]:
            self.open.append(len(self.modules))
            self.modules.append({"path": path, "call": 1 + sum(each["path"] == path for each in self.modules), "class": kind})
        return list(self.open)

    def add(self, node, op, ins, outs, /, **arguments):
        """Adds a node. `outs` are names, or tensors that the model does not have."""
        ins = [each if isinstance(each, dict) else self.operand(each) for each in ins]
        while ins and ins[-1] is None:
            ins.pop()
        made = [out if isinstance(out, dict) else self.file.tensor(out, self.file.shape(out, node)) for out in outs]
        self.made.update(out["name"] for out in made)
        self.out.append({"op": op, "in": [each["name"] if isinstance(each, dict) else each for each in ins], "with": {k: v for k, v in arguments.items() if v is not None}, "out": made, "module": self.stack(node), "line": node.name})

    def translate_all(self, nodes):
        for node in nodes:
            folded = all(out in self.file.samples[0].values for out in node.output if out)
            if not folded and id(node) not in self.skipped and any(out in self.needed for out in node.output):
                try:
                    self.translate(node)
                except NoType as problem:
                    raise refused(node, str(problem)) from None

    def translate(self, node):
        attributes = {a.name: _attribute(a) for a in node.attribute}
        if node.op_type in OPS:
            return OPS[node.op_type](self.file, self, node, attributes)
        attributes.pop("to", None)
        return self.add(node, f"onnx.{node.op_type}", list(node.input), [out for out in node.output if out], **attributes)


def _with_bodies(nodes):
    for node in nodes:
        yield node
        yield from _with_bodies(node.get("body", {}).get("nodes", []))


def _attribute(attribute):
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return number_of(numpy.float32(value))
    return [v.decode() if isinstance(v, bytes) else number_of(v) for v in value] if hasattr(value, "__len__") else value
