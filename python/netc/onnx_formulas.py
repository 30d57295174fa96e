# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of ONNX that are several ops in the graph that `netc import` reads."""

import numpy

from .handlers import Handlers
from .onnx_graph_ops import pool, reduce
from .onnx_shapes import refused
from .sizes import plus

OPS = Handlers()
SELU = 1.6732632423543772, 1.0507009873554805  # the slope and the scale of its paper


class _Formula:
    """Adds ops one after the other, each of what the one before it made; the last one makes the result of the node."""

    def __init__(self, file, graph, node):
        self.file, self.graph, self.node, self.at, self.count = file, graph, node, node.input[0], 0

    def then(self, op, *others, shape=None, condition=None, **arguments):
        """`shape`: of what it makes, by default that of its operand."""
        shape = shape or (self.at["shape"] if isinstance(self.at, dict) else self.file.shape(self.at))
        self.count += 1
        made = {**self.file.tensor(self.node.input[0], shape), "name": f"{self.node.output[0]}.{self.count}"}
        self.graph.add(self.node, op, [*([condition] if condition else []), self.at, *others], [made], **arguments)
        self.at = made
        return self

    def power(self, exponent):
        named = {2: "aten.square", 0.5: "aten.sqrt"}.get(exponent)
        return self.then(named) if named else self.then("aten.pow", exponent=exponent)

    def last(self, op, *others, **arguments):
        self.graph.add(self.node, op, [self.at, *others], [self.node.output[0]], **arguments)


@OPS.of("Clip")
def clip(file, graph, node, attributes):
    """A bound that is no number is another operand."""
    given = [*node.input[1:], "", ""][:2]
    numbers = {key: attributes.get(key, file.number(name)) for key, name in zip(("min", "max"), given)}
    clipped, own = _Formula(file, graph, node), [name if number is None else "" for name, number in zip(given, numbers.values())]
    if not any(own):
        return clipped.last("onnx.Clip" if any(number is not None for number in numbers.values()) else "onnx.Identity", **numbers)
    for op, name, key in zip(("onnx.Max", "onnx.Min"), own, numbers):
        clipped = clipped.then(op, name) if name else clipped.then("onnx.Clip", **{key: numbers[key]}) if numbers[key] is not None else clipped
    return clipped.last("onnx.Identity")


@OPS.of("Trilu")
def triangle(file, graph, node, attributes):
    """Elements of a matrix on one side of a diagonal, and zeros elsewhere. netc has those of a square below its diagonal and on it, and
    those above it: the matrix is turned for them, or is a part of a larger square."""
    is_upper, (offset,), shown = attributes.get("upper", 1), file.given(node, attributes, "k", 1) or [0], f"{node.output[0]}.shown"
    *rest, rows, columns = file.shape(node.input[0])
    at, by, part = len(rest), 0, _Formula(file, graph, node)
    turn = lambda height, width: part.then("onnx.Transpose", shape=[*rest, height, width], dims=[*range(at), at + 1, at])
    is_turned = rows == columns and offset != is_upper and (is_upper or offset == -1)
    if is_turned:
        is_upper, offset = 1 - is_upper, -offset
        turn(columns, rows)
    if rows == columns and offset != is_upper:
        by, low, high = abs(offset), max(-offset, 0), max(offset, 0)
        part.then("onnx.Pad", shape=[*rest, plus(rows, by), plus(rows, by)], pad=[low, high, high, low], mode="constant", value=0)
    for sample in file.samples:
        sizes = [size + by for size in sample.shapes[node.input[0]][-2:]]
        sample.hold(shown, (numpy.triu if is_upper else numpy.tril)(numpy.ones(sizes, bool), 0 if by else offset))
    part.then("onnx.Where", condition=shown, other=0)
    if by:
        part.then("onnx.Slice", shape=[*rest, rows, plus(rows, by)], dim=at, start=high, step=1)
        part.then("onnx.Slice", shape=[*rest, rows, rows], dim=at + 1, start=low, step=1)
    if is_turned:
        turn(rows, columns)
    part.last("onnx.Identity")


@OPS.of("Softsign")
def softsign(file, graph, node, _):
    below = _Formula(file, graph, node).then("aten.abs").then("aten.add", other=1)
    graph.add(node, "aten.div", [node.input[0], below.at], [node.output[0]])


@OPS.of("HardSigmoid")
def hard_sigmoid(file, graph, node, attributes):
    slope, start = attributes.get("alpha", 0.2), attributes.get("beta", 0.5)
    if abs(slope - 1 / 6) < 1e-6 and start == 0.5:
        return graph.add(node, "onnx.HardSigmoid", [node.input[0]], [node.output[0]])
    return _Formula(file, graph, node).then("aten.mul", other=slope).then("aten.add", other=start).last("onnx.Clip", min=0, max=1)


@OPS.of("Selu")
def selu(file, graph, node, attributes):
    slope, scale = attributes.get("alpha", SELU[0]), attributes.get("gamma", SELU[1])
    if numpy.allclose((slope, scale), SELU, rtol=1e-6):
        return graph.add(node, "onnx.Selu", [node.input[0]], [node.output[0]])
    return _Formula(file, graph, node).then("onnx.Elu", alpha=slope).last("aten.mul", other=scale)


@OPS.of("ThresholdedRelu")
def thresholded_relu(file, graph, node, attributes):
    shown = {**file.tensor(node.input[0]), "name": f"{node.output[0]}.shown", "type": "bool"}
    graph.add(node, "onnx.Greater", [node.input[0]], [shown], other=attributes.get("alpha", 1))
    graph.add(node, "onnx.Where", [shown, node.input[0]], [node.output[0]], other=0)


@OPS.of("Max", "Mean", "Min", "Sum")
def several(file, graph, node, _):
    """Of several tensors, which broadcast, two by two."""
    op = f"onnx.{node.op_type}" if node.op_type in ("Max", "Min") else "onnx.Add"
    out = node.output[0]
    if len(node.input) == 1:
        return graph.add(node, "onnx.Identity", [node.input[0]], [out])
    at = node.input[0]
    whole = {**file.tensor(out), "name": f"{out}.sum"}
    for i, other in enumerate(node.input[1:]):
        is_last = i + 2 == len(node.input) and node.op_type != "Mean"
        made = out if is_last else {**whole, "name": f"{out}.{i}"}
        graph.add(node, op, [at, other], [made])
        at = made
    if node.op_type == "Mean":
        graph.add(node, "aten.div", [at], [out], other=len(node.input))
    return None


@OPS.of("ReduceSumSquare")
def reduce_sum_square(file, graph, node, attributes):
    square = _Formula(file, graph, node).power(2)
    reduce(file, graph, node, attributes, x=square.at, op="ReduceSum")


@OPS.of("ReduceLogSum")
def reduce_log_sum(file, graph, node, attributes):
    whole = {**file.tensor(node.output[0]), "name": f"{node.output[0]}.sum"}
    reduce(file, graph, node, attributes, op="ReduceSum", out=whole)
    graph.add(node, "aten.log", [whole], [node.output[0]])


@OPS.of("LpPool")
def lp_pool(file, graph, node, attributes):
    """The root of a sum of powers, which is an average times the number of elements."""
    order, count = attributes.get("p", 2), int(numpy.prod(attributes["kernel_shape"]))
    if attributes.get("ceil_mode"):
        raise refused(node, "its last windows may be partly outside")
    powers = _Formula(file, graph, node)
    powers = powers.power(2) if order == 2 else powers.then("aten.abs").power(order)
    mean = {**file.tensor(node.output[0]), "name": f"{node.output[0]}.mean"}
    pool(file, graph, node, attributes, x=powers.at, op="AveragePool", out=mean)
    powers.at = mean
    powers.then("aten.mul", other=count).power(1 / order).last("onnx.Identity")


@OPS.of("LRN")
def local_response_norm(file, graph, node, attributes):
    """Divides by a power of the mean square of the channels around each one."""
    x, size = node.input[0], attributes["size"]
    batch, channels, *rest = file.shape(x)
    if len(rest) > 2:
        raise refused(node, "it is of more than two axes beside channels")
    low, high = (size - 1) // 2, size // 2
    below = _Formula(file, graph, node).power(2).then("aten.view", shape=[batch, 1, channels, *rest])
    below.then("onnx.Pad", shape=[batch, 1, plus(channels, low + high), *rest], pad=[0, 0] * len(rest) + [low, high], mode="constant")
    flat = [1] * len(rest)
    below.then("onnx.AveragePool", shape=[batch, 1, channels, *rest], kernel_size=[size, *flat], stride=[1, *flat], padding=[0, *[0] * len(rest)], ceil_mode=False)
    below.then("aten.view", shape=[batch, channels, *rest]).then("aten.mul", other=attributes.get("alpha", 1e-4)).then("aten.add", other=attributes.get("bias", 1.0))
    below.power(attributes.get("beta", 0.75))
    graph.add(node, "aten.div", [x, below.at], [node.output[0]])


@OPS.of("OneHot")
def one_hot(file, graph, node, attributes):
    x, _, chosen = node.input
    values, shape = file.constant(chosen), file.shape(node.output[0])
    if values is None or list(values) != [0, 1]:
        raise refused(node, "netc has ones among zeros")
    at = attributes.get("axis", -1) % len(shape)
    numbers, column = f"{node.output[0]}.numbers", {**file.tensor(x, [*shape[:at], 1, *shape[at + 1 :]]), "name": f"{node.output[0]}.column"}
    for sample in file.samples:
        count = sample.shapes[node.output[0]][at]
        sample.hold(numbers, numpy.arange(count, dtype=numpy.int64).reshape(-1, *[1] * (len(shape) - at - 1)))
    shown = {**file.tensor(node.output[0]), "name": f"{node.output[0]}.shown", "type": "bool"}
    graph.add(node, "aten.view", [x], [column])
    graph.add(node, "onnx.Equal", [column, numbers], [shown])
    graph.add(node, "onnx.Cast", [shown], [node.output[0]])
