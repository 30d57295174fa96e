# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What an ONNX model tells of its values: weights, constants, types, and shapes as polynomials in free axes."""

import ast
import itertools
import math
import re

import onnx
from onnx import TensorProto, numpy_helper

from .errors import ImportRefused
from .known import are_frequencies, number_of
from .onnx_shapes import Sample, integer, opset_of, refused, said_of
from .onnx_types import TYPES
from .sizes import NAMES, SIZES, polynomial

# Ops of which one number may follow from several sizes.
COMPUTING = set("Add And Cast Ceil Clip Div Equal Floor Greater GreaterOrEqual Identity Less LessOrEqual Max Min Mod Mul Not Or ReduceMax ReduceMin Sub Where Xor".split())
FLOATS = {TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}


def _rank(name, place, is_turned):
    """Whether a free axis is that of the batch, by its name: 0 if it is, 1 if that is not told, and 2 if it is that of a sequence.
    `is_turned`: a recurrence reads its input, sequences first."""
    if "batch" in name.lower():
        return 0
    return 2 if re.search("seq|time|frame|len", name.lower()) or is_turned and place == 0 else 1


class File:
    """A model, and what follows from it."""

    def __init__(self, model, joined, sizes=SIZES):
        """`joined`: the axes of inputs up to this one are the same in all inputs. `sizes`: two of each free axis."""
        graph = model.graph
        self.model, self.opsets, self.nodes = model, model.opset_import, list(graph.node)
        self.sizes = sizes
        self.results = [output.name for output in graph.output]
        self.opset = opset_of(model)
        self.constants, self.types, self.shapes = {}, {}, {}
        self.weights, self.held = {}, {}
        # A number is a constant, but for the bias of one feature, the slope of a PRelu, and in files of netc, which have constants as nodes.
        dims = {tensor.name: tensor.dims for tensor in graph.initializer}
        layers = [node for node in graph.node if node.op_type in ("Conv", "ConvTranspose", "Gemm") and 1 in dims.get(node.input[1], ()) or node.op_type == "PRelu"]
        learned = {name for node in layers for name in node.input[1:3]}
        learned |= _biases_of_one(graph, dims)
        learned |= {node.input[0] for node in graph.node if node.op_type == "Reshape" and node.output[0] in learned}
        places = {"Resize": 1, "Upsample": 1, "OneHot": 2}  # from which on the inputs of an op are settings
        settings = {name for node in graph.node if node.op_type in places for name in node.input[places[node.op_type] :]}
        self.limits = {}  # notes about sizes for which the model does something else
        for tensor in _initializers(graph):
            if tensor.name in self.types:
                raise ImportRefused(f"the model has two initializers `{tensor.name}`")
            self.types[tensor.name], self.shapes[tensor.name] = tensor.data_type, tuple(tensor.dims)
            if tensor.data_type in FLOATS and tensor.name not in settings and (math.prod(tensor.dims) > 1 or tensor.name in learned or model.producer_name == "netc") and not _is_constant(tensor):
                self.weights[tensor.name] = tuple(tensor.dims)
                self.held[tensor.name] = tensor
            elif tensor.data_location == TensorProto.EXTERNAL:
                raise ImportRefused(f"the values of `{tensor.name}` are in another file; load the model with `onnx.load`")
            else:
                self.constants[tensor.name] = array_of(tensor)
        self.inputs = [value for value in graph.input if value.name not in self.types]
        places, ranks = {}, {}  # of free axes: where the first input that has them has them
        turned = {node.input[0] for node in graph.node if node.op_type in ("LSTM", "GRU", "RNN") and not integer(node, "layout", 0)}
        for value in self.inputs:
            if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
                raise ImportRefused(f"the input `{value.name}` has no shape")
            self.types[value.name] = value.type.tensor_type.elem_type
            for i, size in enumerate(value.type.tensor_type.shape.dim):
                if size.dim_value <= 0:
                    size.dim_param = size.dim_param or f"{value.name}.{i}"
                    places.setdefault(size.dim_param, i)
                    if value.name in turned and i == 0 and "batch" in size.dim_param.lower():
                        raise ImportRefused(f"a recurrence reads `{value.name}` with the steps first, and the model calls this axis `{size.dim_param}`; give it another name")
                    ranks.setdefault(size.dim_param, _rank(size.dim_param, i, value.name in turned))
        groups = [place if place <= joined else name for name, place in places.items()]
        distinct = list(dict.fromkeys(groups))
        if len(distinct) > 3:
            raise ImportRefused("the model has more than three free axes")
        distinct.sort(key=lambda group: min(ranks[name] for name, own in zip(places, groups) if own == group))
        self.free = NAMES[min(ranks.values(), default=0) == 2 :][: len(distinct)]
        names = dict(zip(distinct, self.free))
        self.symbols = {name: names[each] for name, each in zip(places, groups)}
        self.samples = self.take_samples()
        self.nodes, self.direct, self.bodies = self.samples[0].nodes, self.samples[0].direct, self.samples[0].bodies
        if any([n.output for n in sample.nodes] != [n.output for n in self.nodes] for sample in self.samples):
            raise ImportRefused("`onnx.If`: which branch it takes depends on sizes")
        self.producers = {out: node for node in self.nodes for out in node.output if out}
        for node, condition in self.samples[0].branches:
            if self.depends_on_sizes(condition):
                self.limit(node, f"which branch it takes depends on free sizes, and this is the one for {self.sampled()}")
        for node in self.nodes:
            value = self.samples[0].values.get(node.output[0])
            if node.op_type in ("Clip", "Max", "Min") and value is not None and value.size == 1 and any(self.depends_on_sizes(each) for each in node.input if each):
                self.limit(node, f"it compares free sizes with others, and this is what it gives for {self.sampled()}")
        self.users = {}
        for node in self.nodes:
            for name in [*node.input, *self.made_in(node)]:
                self.users.setdefault(name, []).append(node)

    def sampled(self):
        """The sizes of free axes that samples have."""
        return " and ".join(f"{name} = {self.sizes[2 * i]} and {self.sizes[2 * i + 1]}" for i, name in enumerate(self.free))

    def limit(self, node, what):
        """Notes for which sizes a model does what the graph says."""
        self.limits.setdefault(f"{said_of(node, what)}.")

    def depends_on_sizes(self, name):
        """Whether a value that is the same for all samples may be another one for other sizes of free axes."""
        stack, seen = [name], {""}
        while stack:
            each = stack.pop()
            if each in seen:
                continue
            if self.constant(each) is None:
                return True
            seen.add(each)
            node = self.producers.get(each)
            if node is not None and node.op_type in COMPUTING:
                stack += node.input
        return False

    def made_in(self, node):
        """What the body of a loop makes."""
        body, _ = self.bodies.get(node.output[0], (None, None))
        return [each.name for each in body.output] if body else []

    def take_samples(self):
        samples = []
        for several in itertools.product((0, 1), repeat=len(self.free)):
            sizes = {name: self.sizes[2 * i + up] for i, (name, up) in enumerate(zip(self.free, several))}
            samples.append(Sample(self, {symbol: sizes[name] for symbol, name in self.symbols.items()}))
        return samples

    def polynomial(self, numbers):
        return polynomial(numbers, self.free, self.sizes)

    def size(self, node, numbers):
        found = self.polynomial(numbers)
        if found is None:
            raise refused(node, "a size of it is no polynomial in free axes")
        return found

    def shape(self, name, node=None):
        shapes = [sample.shapes[name] for sample in self.samples]
        return [self.size(node or self.producers.get(name), numbers) for numbers in zip(*shapes)]

    def constant(self, name):
        """The value with this name if it depends on no size; else None."""
        if not name or name not in self.samples[0].values:
            return None
        values = [sample.values[name] for sample in self.samples]
        return values[0] if all(v.shape == values[0].shape and (v == values[0]).all() for v in values) else None

    def number(self, name):
        value = self.constant(name)
        return number_of(value.reshape(-1)[0]) if value is not None and value.size == 1 else None

    def tensor(self, name, shape=None):
        return {"name": name, "type": TYPES[self.samples[0].types[name]], "shape": self.shape(name) if shape is None else shape}

    def given(self, node, attributes, key, place):
        """Integers that older opsets have as an attribute, and newer ones as an input. Refuses those that depend on
        sizes. None if they are missing."""
        found = self.by_sample(node, attributes, key, place)
        if any(each != found[0] for each in found):
            raise refused(node, f"`{key}` depends on sizes")
        return found[0]

    def by_sample(self, node, attributes, key, place):
        """The integers of `given` for each sample."""
        if key in attributes or place >= len(node.input) or not node.input[place]:
            return [attributes.get(key)] * len(self.samples)
        if node.input[place] not in self.samples[0].values:
            raise refused(node, f"`{key}` depends on data")
        return [[int(each) for each in sample.values[node.input[place]].reshape(-1)] for sample in self.samples]

    def holds(self, name, number):
        """Whether a value has this number in all elements. Weights are excluded, since they learn."""
        return name in self.samples[0].values and name not in self.weights and all((sample.values[name] == number).all() for sample in self.samples)

    def is_read(self, name):
        return name in self.users or name in self.results

    def readers(self, name):
        """The nodes that read a weight, also under another name, but as running statistics, which are no parameters."""
        as_weight = lambda node: name in (node.input[:3] if node.op_type == "BatchNormalization" else node.input)
        ends = lambda node: node.op_type == "Identity" and node.output[0] in self.users and not self.readers(node.output[0])
        return [node for node in self.users.get(name, []) if as_weight(node) and not ends(node)]

    def is_statistic(self, name):
        return name in self.users and not self.readers(name) and name not in self.results

    def rank(self, name):
        return len(self.samples[0].shapes[name])

    def count(self, name):
        return math.prod(self.samples[0].shapes[name])

    def values(self, name):
        """The elements of an initializer that may learn; None if they are not in this file."""
        tensor = self.held.get(name)
        return None if tensor is None or tensor.data_location == TensorProto.EXTERNAL else array_of(tensor)


def modules_around(node):
    """The paths and classes of the modules around a node."""
    scopes, classes = ({p.key: p.value for p in node.metadata_props}.get(f"pkg.torch.onnx.{key}") for key in ("name_scopes", "class_hierarchy"))
    if scopes and classes:
        pairs = list(zip(ast.literal_eval(scopes), ast.literal_eval(classes)))[:-1]
        return [(path, kind.split(".")[-1]) for path, kind in pairs if path]
    # `/layer1/layer1.0/conv1/Conv`. In a second call of a module, the name is `/relu_1/Relu`.
    parts, path, chain = node.name.strip("/").split("/")[:-1], "", []
    for part in parts:
        local = part.split(".")[-1] if part.startswith(path.rsplit(".", 1)[-1] + ".") else part
        path = f"{path}.{local}" if path else local
        chain.append((path, re.sub(r"[\d.]+", "", part.split(".")[0]).strip("_").title().replace("_", "") or "Module"))
    return chain


def _initializers(graph):
    """Those of a graph and of the branches in it."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _initializers(attribute.g)


def _biases_of_one(graph, dims):
    """What is added to products of one feature. `dims`: of the initializers."""
    weights = {name for name, sizes in dims.items() if len(sizes) == 2 and 1 in sizes}
    weights |= {node.output[0] for node in graph.node if node.op_type == "Transpose" and node.input[0] in weights}
    products = {node.output[0] for node in graph.node if node.op_type == "MatMul" and node.input[1] in weights}
    return {name for node in graph.node if node.op_type == "Add" and products & set(node.input) for name in node.input if list(dims.get(name, ())) == [1]}


def array_of(tensor):
    """The elements of an initializer that are in the file."""
    try:
        return numpy_helper.to_array(tensor)
    except (KeyError, TypeError, ValueError):
        raise ImportRefused(f"the values of `{tensor.name}` are not those of its type and sizes") from None


def _is_constant(tensor):
    """Whether a tensor does not learn, since it has the frequencies of positions, or hides scores."""
    if tensor.data_location == TensorProto.EXTERNAL:
        return False
    values = array_of(tensor)
    if are_frequencies(values):
        return True
    least = values.min(initial=0)
    if least > -100:
        return False
    shows = values == 0
    return least == -math.inf or shows.any() and (shows | (values == least)).all()
