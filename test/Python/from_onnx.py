# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: onnx
# RUN: env PYTHONPATH=%source_dir/python %python %s

# What files say in different ways, by opset and exporter, is one graph; what netc cannot know is refused by name.

import math

import numpy
from onnx import TensorProto, helper, numpy_helper

import netc
from netc.onnx_graph import export


def model(nodes, inputs, outputs, weights=(), constants=(), opset=18):
    """`weights`: sizes by name; `constants`: arrays by name."""
    held = [numpy_helper.from_array(numpy.random.rand(*size).astype("f4"), name) for name, size in dict(weights).items()]
    held += [numpy_helper.from_array(numpy.asarray(value), name) for name, value in dict(constants).items()]
    shaped = lambda values: [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in values.items()]
    graph = helper.make_graph(nodes, "Small", shaped(inputs), [helper.make_empty_tensor_value_info(name) for name in outputs], held)
    for out in graph.output:
        out.type.tensor_type.elem_type = TensorProto.FLOAT
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def node(op, ins, outs, **attributes):
    return helper.make_node(op, ins.split(), outs.split(), **attributes)


def only(graph, op):
    found = [each for each in graph["nodes"] if each["op"] == f"onnx.{op}"]
    assert len(found) == 1, graph["nodes"]
    return found[0]


def refused(text, made):
    try:
        netc.from_onnx(made)
    except netc.ImportRefused as problem:
        assert text in str(problem), problem
    else:
        raise AssertionError(f"{text}: it was imported")


# Axes are attributes, or inputs.
axes = numpy.array([1])
old = model([node("ReduceMean", "x", "y", axes=[1], keepdims=0)], {"x": ["N", 8, 4]}, ["y"], opset=13)
new = model([node("ReduceMean", "x axes", "y", keepdims=0)], {"x": ["N", 8, 4]}, ["y"], constants={"axes": axes})
assert export(old)["nodes"] == export(new)["nodes"]
assert only(export(old), "ReduceMean")["with"] == {"dim": [1], "keepdim": False}

# Sizes that are computed: N x T x 6 as (N T) x 6.
flat = [node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Gather", "s one", "t"), node("Mul", "n t", "rows"), node("Unsqueeze", "rows first", "r"), node("Concat", "r six", "p", axis=0), node("Reshape", "x p", "y")]
constants = {"zero": numpy.array(0), "one": numpy.array(1), "first": numpy.array([0]), "six": numpy.array([6])}
graph = export(model(flat, {"x": ["batch", "time", 6]}, ["y"], constants=constants))
assert graph["symbols"] == {"N": {"min": 2}, "T": {"min": 2}} and only(graph, "Reshape")["out"][0]["shape"] == ["N*T", 6]

# Padding that is different at both ends is an op of its own.
same = [node("Conv", "x w", "y", auto_pad="SAME_UPPER", strides=[2, 2])]
graph = export(model(same, {"x": ["N", 3, 8, 8]}, ["y"], {"w": (4, 3, 3, 3)}))
assert only(graph, "Pad")["with"]["pad"] == [0, 1, 0, 1] and only(graph, "Conv")["with"]["padding"] == [0, 0]
assert "Conv(4, 3, stride = 2, bias = false)" in netc.from_onnx(model(same, {"x": ["N", 3, 8, 8]}, ["y"], {"w": (4, 3, 3, 3)}))

# GELU as exporters write it, in both orders.
root, one, half = (numpy.float32(number) for number in (math.sqrt(2), 1, 0.5))
constants = {"root": root, "one": one, "half": half}
head = [node("Div", "x root", "a"), node("Erf", "a", "b"), node("Add", "b one", "c")]
for tail in [node("Mul", "x c", "d"), node("Mul", "d half", "y")], [node("Mul", "x half", "d"), node("Mul", "d c", "y")]:
    graph = export(model([*head, *tail], {"x": ["N", 8]}, ["y"], constants=constants))
    assert only(graph, "Gelu")["in"] == ["x"] and only(graph, "Gelu")["with"] == {"approximate": "none"}
refused("it is not in a GELU", model(head, {"x": ["N", 8]}, ["c"], constants=constants))

# A recurrence in both directions: PyTorch's weights, and the parameters of the file.
lstm = [node("LSTM", "x w r b", "s", hidden_size=4, direction="bidirectional")]
graph = export(model(lstm, {"x": [5, "N", 8]}, ["s"], {"w": (2, 16, 8), "r": (2, 16, 4), "b": (2, 32)}))
assert sum(math.prod(weight["shape"]) for weight in graph["weights"]) == 2 * (16 * 8 + 16 * 4 + 32)
text = netc.from_onnx(model(lstm, {"x": [5, "N", 8]}, ["s"], {"w": (2, 16, 8), "r": (2, 16, 4), "b": (2, 32)}))
assert text.count("LSTM(4, state_bias = true)") == 2
assert netc.estimate(text).networks[0].parameters.total == 2 * (16 * 8 + 16 * 4 + 32)

# Statistics of batch norms are no parameters.
norm = model([node("BatchNormalization", "x a b m v", "y")], {"x": ["N", 4, 8, 8]}, ["y"], {key: (4,) for key in "abmv"})
assert netc.estimate(netc.from_onnx(norm)).networks[0].parameters.total == 8

# What `Constant` nodes hold does not learn, as whole numbers and single numbers; other initializers do.
held = numpy_helper.from_array(numpy.arange(8, dtype="f4"))
shifted = [helper.make_node("Constant", [], ["c"], value=held), node("Add", "x c", "a"), node("Add", "a w", "y")]
assert netc.estimate(netc.from_onnx(model(shifted, {"x": ["N", 8]}, ["y"], {"w": (8,)}))).networks[0].parameters.total == 8

# Comparisons, with a number on either side, and their opposites.
for nodes in [node("Greater", "zero x", "c")], [node("GreaterOrEqual", "x zero", "d"), node("Not", "d", "c")]:
    text = netc.from_onnx(model([*nodes, node("Where", "c x two", "y")], {"x": ["N", 8]}, ["y"], constants={"zero": numpy.float32(0), "two": numpy.float32(2)}))
    assert "where(x < 0, x, 2)" in text, text

# Activations of recurrences are those that netc has.
rnn = lambda *names: model([node("RNN", "x w r", "s", hidden_size=4, activations=list(names))], {"x": [5, "N", 8]}, ["s"], {"w": (1, 4, 8), "r": (1, 4, 4)})
assert "act = relu" in netc.from_onnx(rnn("Relu"))
refused("its activations are Elu", rnn("Elu"))

# A module that is called twice is there twice.
named = [node("Relu", "x", "a"), node("Relu", "a", "y")]
named[0].name, named[1].name = "/body/act/Relu", "/body/act_1/Relu"
assert [each["path"] for each in export(model(named, {"x": ["N", 8]}, ["y"]))["modules"]] == ["body", "body.act", "body.act_1"]

# One square matrix, and its transpose.
turned = [node("MatMul", "x w", "a"), node("Transpose", "w", "t", perm=[1, 0]), node("MatMul", "a t", "y")]
text = netc.from_onnx(model(turned, {"x": ["N", 8]}, ["y"], {"w": (8, 8)}))
assert "y = (x @ w) @ transpose(w)" in text, text
assert netc.estimate(text).networks[0].parameters.total == 64

refused("`onnx.NonZero`: the shape of what it makes depends on data", model([node("NonZero", "x", "y")], {"x": ["N", 8]}, ["y"]))
refused("netc does not know the op `onnx.Asinh`", model([node("Asinh", "x", "y")], {"x": ["N", 8]}, ["y"]))
