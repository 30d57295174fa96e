# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops of ONNX that read elements by their places."""

import copy
import math

import numpy
from onnx import helper

from .handlers import Handlers
from .onnx_shapes import refused

OPS = Handlers()


def numbers_read(file, node):
    """The numbers by which rows of a table are read, without ops that only make numbers from the end of negative ones."""
    table, places = node.input
    ops, sources, stack = [], set(), [places]
    while stack:
        at = stack.pop()
        maker = file.producers.get(at)
        if at in file.samples[0].values:
            continue
        if maker is not None and maker.op_type in ("Add", "Cast", "Less", "Mul", "Not", "Sub", "Where"):
            ops.append(id(maker))
            stack += maker.input
        else:
            sources.add(at)
    first, source = file.samples[0], min(sources, default="")
    if not ops or len(sources) != 1 or first.shapes[source] != first.shapes[places] or not file.tensor(source)["type"].startswith(("i", "u")):
        return places
    sample = copy.copy(first)
    sample.values, sample.types, sample.shapes = dict(first.values), dict(first.types), dict(first.shapes)
    numbers = numpy.arange(math.prod(sample.shapes[source])) % sample.shapes[table][0]
    sample.hold(source, numbers.reshape(sample.shapes[source]).astype(helper.tensor_dtype_to_np_dtype(sample.types[source])))
    for each in file.nodes:
        if id(each) in ops:
            sample.hold(each.output[0], sample.evaluate(each, list(each.input))[0])
    return source if (sample.values[places] == sample.values[source]).all() else places


def _reads_all(file, table, places):
    """Whether places, which depend on sizes alone, are all elements in order. Each has a number for each axis."""
    if places not in file.samples[0].values:
        return False
    all_of = lambda shape: numpy.moveaxis(numpy.indices(shape), 0, -1).reshape(-1)
    return all(numpy.array_equal(sample.values[places].reshape(-1), all_of(sample.shapes[table])) for sample in file.samples)


def _reads_axis(file, table, places, axis):
    """Whether places, which depend on sizes alone, are all of an axis in order."""
    if places not in file.samples[0].values:
        return False
    return all(numpy.array_equal(sample.values[places].reshape(-1), numpy.arange(sample.shapes[table][axis])) for sample in file.samples)


@OPS.of("Gather")
def gather(file, graph, node, attributes):
    table, places = node.input
    at = attributes.get("axis", 0)
    if not -file.rank(table) <= at < file.rank(table):
        raise refused(node, f"there is no axis {at}")
    if at == 0 and (table in file.weights or table in file.samples[0].values):
        return graph.add(node, "onnx.Gather", [table, numbers_read(file, node) if table in file.weights else places], [node.output[0]])
    index = file.number(places)
    if index is not None and not file.rank(places):
        return graph.add(node, "onnx.Gather", [table], [node.output[0]], dim=at, index=index)
    if at == 0 and file.rank(table) == 2 and places not in file.samples[0].values:
        return graph.add(node, "aten.index", [table, places], [node.output[0]])
    if _reads_axis(file, table, places, at):  # as PyTorch writes `as_strided`, and what transformers read of a mask
        return graph.add(node, "onnx.Reshape", [table], [node.output[0]])
    if file.rank(places) and places in file.samples[0].values:
        return graph.add(node, "onnx.Gather", [table, places], [node.output[0]], dim=at % file.rank(table))
    raise refused(node, "which places it reads of what is no table of weights depends on data")


@OPS.of("GatherND")
def gather_nd(file, graph, node, attributes):
    """Rows of the first axis, by one number each."""
    table, places = node.input
    if _reads_all(file, table, places):
        return graph.add(node, "onnx.Reshape", [table], [node.output[0]])
    maker = file.producers.get(table)
    while maker is not None and maker.op_type == "Transpose" and list(maker.attribute[0].ints) == sorted(maker.attribute[0].ints):
        table, maker = maker.input[0], file.producers.get(maker.input[0])
    count, shape = file.samples[0].shapes[places][-1], file.shape(table)
    if attributes.get("batch_dims", 0):
        raise refused(node, "its places are others for each example")
    if count == 2 and (own := _of_each(file, table, places)):
        return graph.add(node, "aten.index", [table, own[0], _numbers(file, graph, node, own[1])], [node.output[0]])
    if count != 1:
        return _joined(file, graph, node, table, shape[:count], shape[count:])
    if places not in file.samples[0].values:
        return graph.add(node, "onnx.Gather" if table in file.weights else "aten.index", [table, _numbers(file, graph, node, places)], [node.output[0]])
    name = f"{places}.rows"
    for sample in file.samples:
        sample.hold(name, sample.values[places][..., 0])
    return graph.add(node, "onnx.Gather", [table, name], [node.output[0]], dim=None if table in file.weights else 0)


def _of_each(file, table, places):
    """0, 1, 2, .. along the first axis of a table, and the places in it that are read, one for each; None if it is not so."""
    maker = file.producers.get(places)
    if maker is None or maker.op_type != "Concat" or len(maker.input) != 2 or file.rank(places) != 2:
        return None
    rows, own = maker.input
    name = f"{places}.rows"
    for sample in file.samples:
        held = sample.values.get(rows)
        if held is None or not numpy.array_equal(held, numpy.arange(sample.shapes[table][0])[:, None]):
            return None
        sample.hold(name, held[:, 0])
    return name, own


def _joined(file, graph, node, table, sizes, rest):
    """Places of several axes, as those of the product of these axes."""
    places = file.constant(node.input[1])
    if places is None or places.ndim != 2 or any(isinstance(size, str) for size in sizes):
        raise refused(node, "netc reads places of one axis, or fixed ones of several")
    flat = {**file.tensor(table, [math.prod(sizes), *rest]), "name": f"{node.output[0]}.flat"}
    name = f"{node.output[0]}.places"
    for sample in file.samples:
        sample.hold(name, numpy.ravel_multi_index(tuple((places % sizes).T), sizes))
    graph.add(node, "aten.view", [table], [flat])
    graph.add(node, "onnx.Gather", [flat, name], [node.output[0]], dim=0)


def _numbers(file, graph, node, places):
    """Places without their last axis, of size 1."""
    flat = {**file.tensor(places, file.shape(places)[:-1]), "name": f"{node.output[0]}.places"}
    graph.add(node, "aten.view", [places], [flat])
    return flat


def _filled(file, name):
    """A tensor; one of the same number in all elements, which scatters alone read, learns nothing."""
    values = file.values(name) if name in file.weights else None
    if values is None or (values != values.flat[0]).any() or any("Scatter" not in user.op_type for user in file.users[name]):
        return name
    file.weights.pop(name)
    for sample in file.samples:
        sample.hold(name, values)
    return name


@OPS.of("ScatterND")
def scatter_nd(file, graph, node, attributes):
    """Rows that are added to others, by one number each, or that replace those from one to another."""
    x, rows = (_filled(file, name) for name in (node.input[0], node.input[2]))
    places = node.input[1]
    held = file.constant(places)
    if attributes.get("reduction", "none") == "none" and held is not None and held.shape[1:] == (1,) and (held == held[0] + numpy.arange(len(held))[:, None]).all():
        return graph.add(node, "aten.slice_scatter", [x, rows], [node.output[0]], dim=0, start=int(held[0, 0]), end=int(held[-1, 0]) + 1, step=1)
    if attributes.get("reduction", "none") != "add" or file.rank(places) != 2 or file.samples[0].shapes[places][1] != 1:
        raise refused(node, "netc adds rows along the first axis")
    graph.add(node, "aten.index_add", [x, _numbers(file, graph, node, places), rows], [node.output[0]], dim=0)


@OPS.of("ScatterElements")
def scatter_elements(file, graph, node, attributes):
    """Rows that are added to others, by one number each, which is repeated for their elements; one place of an axis that is
    replaced; or elements of the last axis, by their places."""
    x, rows = (_filled(file, name) for name in (node.input[0], node.input[2]))
    places = node.input[1]
    rank, found = file.rank(x), [sample.values.get(places) for sample in file.samples]
    at = attributes.get("axis", 0) % rank
    if attributes.get("reduction", "none") == "none":
        is_one = all(each is not None and (each == found[0].flat[0]).all() for each in found)
        part = [1 if axis == at else size for axis, size in enumerate(file.shape(x))]
        if is_one and file.shape(places) == part:
            start = int(found[0].flat[0])
            return graph.add(node, "aten.slice_scatter", [x, rows], [node.output[0]], dim=at, start=start, end=start + 1, step=1)
        if at == rank - 1 and found[0] is None:
            ones = file.holds(rows, 1)
            return graph.add(node, "aten.scatter", [x, places] if ones else [x, places, rows], [node.output[0]], dim=at, value=1 if ones else None)
    maker = file.producers.get(places)
    if maker is None or maker.op_type != "Expand" or file.samples[0].shapes[maker.input[0]][1:] != (1,) or attributes.get("reduction", "none") != "add" or attributes.get("axis", 0):
        raise refused(node, "netc adds rows along the first axis")
    graph.add(node, "aten.index_add", [x, _numbers(file, graph, node, maker.input[0]), rows], [node.output[0]], dim=0)


@OPS.of("GatherElements")
def gather_elements(file, graph, node, attributes):
    graph.add(node, "onnx.GatherElements", list(node.input), [node.output[0]], dim=attributes.get("axis", 0))
